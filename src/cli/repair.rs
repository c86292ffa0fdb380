//! `stepscope repair`: repairs a procedure, with a model as evoproc does it, or without one.

use std::path::PathBuf;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;

use crate::cli::ask::{Request, Sampling, Sending};
use crate::cli::codes::{CLEAN, FOUND, UNANSWERED};
use crate::cli::out::Out;
use crate::cli::pick::Pick;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_execution::machine::Question;
use stepscope_execution::repair::model::{ModelRepair, request};
use stepscope_execution::repair::{MAX_TRIES, diagnostics, fix_all, fixes, pretty};
use stepscope_execution::replay::NoReplay;
use stepscope_io::log::{Content, append_line};
use stepscope_io::source::input::expand;
use stepscope_record::finding::counted;

/// Content that is appended to the file that `--out` names.
const PROCEDURES: Content = Content {
    what: "procedures",
    suffix: ".procedures.jsonl",
    option: "--out",
    is_like: |head| memchr::memmem::find(head, b"\"steps\"").is_some(),
    durable: true,
    longest: usize::MAX,
    largest: u64::MAX,
};

/// Repair a procedure, with or without a model
///
/// With a model: evoproc's repair prompt, until its validator finds nothing. Exit code: 0 no errors left, 1 some left, 2 something could not be done, 3 the server failed.
#[derive(clap::Args, Clone, Debug)]
pub struct Repair {
    /// File or folder with the procedure, or a record that holds one
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pick: Pick,
    /// No model: apply the safe fixes
    #[arg(long)]
    without_model: bool,
    /// List the fixes that need no model
    #[arg(long, conflicts_with = "without_model")]
    list: bool,
    /// Maximum attempts
    #[arg(long, value_name = "N", default_value_t = MAX_TRIES)]
    tries: u32,
    /// Also append the procedure to this file, as one line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    ask: Sending,
}

pub(super) fn run(options: &Repair, side: &Arc<SideData>, out: &mut Out) -> Result<u8, Shown> {
    options.ask.check()?;
    let picked = options.pick.find(expand(&options.paths), side)?;
    picked.check_out(options.out.as_deref(), "--out")?;
    out.complain_of(options.pick.took_first(&picked).into_iter());
    let case = picked.case.view();
    let record = case.record.as_ref().ok_or_else(|| shown!("the record at {} cannot be read", picked.place))?;
    let procedure = record.procedure.ok_or_else(|| shown!("the record at {} has no procedure", picked.place))?;
    if !case.excess().is_empty() {
        return Err(shown!("{}", NoReplay::TooLarge));
    }
    let procedure = procedure.raw().to_vec();
    let before = diagnostics(&procedure);
    if options.list {
        let fixes = fixes(&procedure);
        for fix in &fixes {
            out.line(&shown!("{} (errors {} -> {})", fix.title, fix.before, fix.after));
        }
        if fixes.is_empty() {
            out.complain(&shown!("no fixes for the procedure at {}: {}", picked.place, errors_of(before.total())));
        }
        return Ok(if before.is_empty() { CLEAN } else { FOUND });
    }
    let (after, unanswered) = if before.is_empty() {
        (procedure, None)
    } else if options.without_model {
        let (fixed, done) = fix_all(&procedure);
        for title in &done {
            out.complain(title);
        }
        (fixed, None)
    } else {
        with_model(options, procedure, picked.files.clone(), out)?
    };
    if let Some(Unanswered { why, code }) = unanswered {
        out.complain(&why);
        return Ok(code);
    }
    let left = diagnostics(&after);
    out.write(&pretty(&after));
    out.write(b"\n");
    out.flush();
    if let Some(path) = &options.out {
        append_line(path, PROCEDURES, &stepscope_base::json::write::one_line(&after).0)?;
        out.complain(&shown!("saved in {}", Shown::path(path)));
    }
    out.complain(&shown!("errors {} -> {}", before.total(), left.total()));
    for finding in &left {
        out.complain(&finding.message.line());
    }
    Ok(if left.is_empty() { CLEAN } else { FOUND })
}

/// Tells why no fix is listed.
fn errors_of(errors: usize) -> Shown {
    if errors == 0 { Shown::own("it has no errors") } else { shown!("{} left to a model", counted(errors, "error")) }
}

/// End of a repair to which no reply came.
struct Unanswered {
    why: Shown,
    code: u8,
}

/// Asks a model as upstream does: a reply that is no JSON changes nothing, and the model is asked for another. Returns
/// the procedure, and how it ended if no reply came.
fn with_model(
    options: &Repair,
    procedure: Vec<u8>,
    files: Vec<Shown>,
    out: &mut Out,
) -> Result<(Vec<u8>, Option<Unanswered>), Shown> {
    let sampling = options.sampling.repairs();
    let request = Request {
        what: shown!("the procedure, at most {} times", options.tries),
        question: &Question::of(request(&procedure)?),
        sampling: &sampling,
        files,
        known: None,
    };
    let server = options.ask.prepare(&request, out)?;
    let mut repair = ModelRepair::new(procedure, options.tries);
    let signalled = server.drive(&mut repair, &sampling, 1, out, |repair, _, out| {
        if let (None, Some(said)) = (&repair.failed, repair.outcomes.last()) {
            out.complain(said);
        }
    });
    let unanswered = repair.failed.map(|why| Unanswered { why, code: signalled.unwrap_or(UNANSWERED) });
    repair.refused.map_or(Ok((repair.procedure, unanswered)), Err)
}
