//! Does the errands of the desk: each on a thread of its own, for it may read whole files.

use crate::domain::text::Shown;
use crate::io::beside::Beside;
use crate::io::compare::compare;
use crate::io::failure::Failure;
use crate::io::guard::guarded;
use crate::tui::desk::versus::Versus;
use crate::tui::desk::{Errand, News, Seat};
use crate::tui::model::Opened;

/// What is said where this program panicked on somebody's data.
const FAILED: &str = "stepscope itself failed on it; please report this";

/// Does one; waits for it.
pub fn run(errand: Errand, beside: &Beside) -> News {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    match errand {
        Errand::Compare(id, wanted) => {
            let failed = || Err(Failure::own("cannot compare with", &Shown::path(&wanted.baseline), FAILED));
            News::Compared(id, guarded(|| compare(&wanted, threads)).unwrap_or_else(failed))
        }
        Errand::Sides(seats) => {
            let [a, b] = *seats;
            let failed = || Err(Failure::own("cannot open a record of", &a.name, FAILED));
            News::Sides(a.record, guarded(|| sides(&a, &b, beside)).unwrap_or_else(failed))
        }
    }
}

fn sides(a: &Seat, b: &Seat, beside: &Beside) -> Result<Box<Versus>, Failure> {
    let names = [a.name.clone(), b.name.clone()];
    Ok(Box::new(Versus::of(names, &opened(a, beside)?, &opened(b, &Beside::default())?)))
}

fn opened(seat: &Seat, beside: &Beside) -> Result<Opened, Failure> {
    let text = seat.reading.read()?;
    let line = seat.reading.line()?;
    Ok(Opened::new(seat.record, line, &seat.row, text, beside, |typed| seat.reading.document(typed)))
}
