//! The clock of a call that runs: how long it takes, and when it is sent again while its server is busy.

use std::time::{Duration, Instant};

use stepscope_execution::call::RunEvent;

/// Interval at which the clock advances.
const TICK: Duration = Duration::from_millis(200);

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallClock {
    /// Time at which the call was first heard of, and the present time.
    times: Option<(Instant, Instant)>,
    /// Time on the clock at which the one call that runs is sent again.
    retry_at: Option<Duration>,
}

impl CallClock {
    /// Advances to the present time.
    pub fn pass(&mut self, now: Instant) {
        self.times.get_or_insert((now, now)).1 = now;
    }

    /// Takes in what was heard of the call.
    pub fn hear(&mut self, event: &RunEvent) {
        self.retry_at = match event {
            RunEvent::Waiting { delay, .. } => Some(self.elapsed() + *delay),
            _ => None,
        };
    }

    /// Tells whether something was heard of the call.
    pub fn has_begun(&self) -> bool {
        self.times.is_some()
    }

    /// Returns the time at which it is to advance.
    pub fn wake_at(&self) -> Option<Instant> {
        self.times.map(|(_, at)| at + TICK)
    }

    /// Measures the time since its beginning.
    pub fn elapsed(&self) -> Duration {
        self.times.map_or(Duration::ZERO, |(began, at)| at.saturating_duration_since(began))
    }

    /// Measures the time until the call is sent again; `None`: its server is not busy.
    pub fn retrying_in(&self) -> Option<Duration> {
        Some(self.retry_at?.saturating_sub(self.elapsed()))
    }
}
