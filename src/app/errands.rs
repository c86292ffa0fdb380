//! Does the errands of the desk: each on a thread of its own, for it may read whole files.

use std::sync::Arc;

use crate::app::across::{Errand, News, RecordHandle};
use crate::app::effects::FAILED;
use crate::app::open_record::OpenRecord;
use crate::screens::side_by_side::making::{Fixes, Make};
use crate::screens::side_by_side::state::{Against, SideBySide, Unkept};
use stepscope_base::guard::guarded;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_core::table::row::RowFacts;
use stepscope_io::failure::Failure;
use stepscope_io::pipeline::compare::compare;
use stepscope_io::pipeline::dashboard;
use stepscope_io::pipeline::side_data::SideData;

/// Does one; waits for it.
pub(crate) fn run(errand: Errand, side: &Arc<SideData>) -> News {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    match errand {
        Errand::Compare(id, wanted) => {
            let failed = || Err(Failure::own("cannot compare with", &Shown::path(&wanted.baseline), FAILED));
            News::Compared(id, guarded(|| compare(&wanted, threads)).unwrap_or_else(failed))
        }
        Errand::Judge(id, wanted) => {
            let failed = || Err(Failure::own("cannot read the reviews of", &Shown::own("these records"), FAILED));
            News::Judged(id, guarded(|| dashboard::read(&wanted, threads, side)).unwrap_or_else(failed))
        }
        Errand::Sides(record, handles, against) => {
            let [a, b] = *handles;
            let failed = || Err(Failure::own("cannot open a record of", &a.name, FAILED));
            let done = guarded(|| sides(&a, &b, against, side)).unwrap_or_else(failed);
            News::Sides(record, done.map(|sides| Box::new(SideBySide { record, ..sides })))
        }
        Errand::Make(handle, make) => {
            let failed = || Err(Shown::own(FAILED));
            let made = guarded(|| made(&handle, &make, side)).unwrap_or_else(failed);
            News::Made(handle.record, made.map(Box::new))
        }
        Errand::Fixes(handle) => {
            let failed = || Err(Shown::own(FAILED));
            let found = guarded(|| Fixes::of(&opened(&handle, side).map_err(|failure| shown!("{failure}"))?));
            News::Fixes(handle.record, found.unwrap_or_else(failed).map(Box::new))
        }
    }
}

fn sides(a: &RecordHandle, b: &RecordHandle, against: Against, side: &Arc<SideData>) -> Result<SideBySide, Failure> {
    let names = [a.name.clone(), b.name.clone()];
    // A baseline has no baseline.
    let own = Arc::default();
    let other = if against == Against::Baseline { &own } else { side };
    Ok(SideBySide::of(names, against, &opened(a, side)?, &opened(b, other)?))
}

fn made(handle: &RecordHandle, make: &Make, side: &Arc<SideData>) -> Result<SideBySide, Shown> {
    let parent = opened(handle, side).map_err(|failure| shown!("{failure}"))?;
    let line = make.line(&parent)?;
    let row = RowFacts::unchecked(0, line.len() as u64);
    let fork = OpenRecord::new(handle.record, 1, &row, line.clone(), handle.reading.around(side));
    let names = [handle.name.clone(), shown!("{}, not kept yet", make.title())];
    let sides = SideBySide::of(names, Against::Parent, &parent, &fork);
    let (procedure, sides) = match make {
        Make::Repair { procedure, done } => (Some(procedure.clone()), sides.about(done.clone())),
        _ => (None, sides),
    };
    Ok(SideBySide {
        record: handle.record,
        fork: Some(Unkept { line, procedure, is_edit: matches!(make, Make::Edit { .. }) }),
        ..sides
    })
}

fn opened(handle: &RecordHandle, side: &Arc<SideData>) -> Result<OpenRecord, Failure> {
    let text = handle.reading.read()?;
    let line = handle.reading.line()?;
    Ok(OpenRecord::new(handle.record, line, &handle.row, text, handle.reading.around(side)))
}
