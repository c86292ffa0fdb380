//! stub
use super::failure::Failure;
use super::reading::Reading;
use super::store::Store;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
/// p
pub type Plan = Vec<(u32, Reading)>;
/// r
#[derive(Debug)]
pub struct Running(Arc<AtomicBool>);
impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
/// f
#[derive(Debug)]
pub enum Found {
    /// s
    Some(Vec<u32>),
    /// a
    All,
    /// f
    Failed(Failure),
}
impl Store {
    /// p
    pub fn plan(&self, from: usize) -> Plan {
        (from..self.len()).filter_map(|n| Some((n as u32, self.reading(n)?))).collect()
    }
}
/// s
pub fn start(
    plan: Plan,
    fits: impl Fn(&[u8]) -> bool + Send + 'static,
    report: impl Fn(Found) -> bool + Send + 'static,
) -> Running {
    let flag = Arc::new(AtomicBool::new(false));
    let stop = flag.clone();
    std::thread::spawn(move || {
        for (n, r) in plan {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            match r.read() {
                Ok(t) if fits(&t) => {
                    if !report(Found::Some(vec![n])) {
                        return;
                    }
                }
                Ok(_) => {}
                Err(f) => {
                    report(Found::Failed(f));
                    return;
                }
            }
        }
        report(Found::All);
    });
    Running(flag)
}
