//! `stepscope repair`: mends a procedure, with a model as upstream does it, or without one.

use std::path::PathBuf;

use super::ask::{Ask, Asked, Sampling};
use super::pick::Pick;
use super::{CLEAN, FAILED, FOUND, Out, UNANSWERED};
use crate::domain::finding::Finding;
use crate::domain::fork::Executed;
use crate::domain::fork::round::failed;
use crate::domain::formats;
use crate::domain::json::{Tape, Value};
use crate::domain::pyload::loads;
use crate::domain::repair::{MAX_TRIES, diagnostics, fix_all, fixes, pretty, prompt, schema};
use crate::domain::rerun::parts;
use crate::domain::text::{Shown, Untrusted};
use crate::io::append::{Content, append_line};
use crate::io::input::expand;
use crate::shown;

/// What is appended to the file that `--out` names.
const PROCEDURES: Content = Content {
    what: "procedures",
    suffix: ".procedures.jsonl",
    option: "--out",
    is_like: |head| memchr::memmem::find(head, b"\"steps\"").is_some(),
    durable: true,
};

/// `stepscope repair`.
#[derive(clap::Args, Clone, Debug)]
pub struct Repair {
    /// The file (or folder) that holds the procedure, or a record with one
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    pick: Pick,
    /// Ask nobody: apply the fixes that need no model
    #[arg(long)]
    without_model: bool,
    /// Only list the fixes that need no model
    #[arg(long, conflicts_with = "without_model")]
    list: bool,
    /// How often the model is asked at most
    #[arg(long, value_name = "N", default_value_t = MAX_TRIES)]
    tries: u32,
    /// Also append the procedure on one line to this file, safely on the disk when this program says so
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    ask: Ask,
}

pub(super) fn run(options: &Repair, out: &mut Out) -> u8 {
    match repaired(options, out) {
        Ok(code) => code,
        Err(sentence) => {
            out.complain(&sentence);
            FAILED
        }
    }
}

fn repaired(options: &Repair, out: &mut Out) -> Result<u8, Shown> {
    let picked = options.pick.find(expand(&options.paths))?;
    picked.check_out(options.out.as_deref())?;
    let mut tape = Tape::default();
    let record = tape.parse(&picked.text).map(formats::read);
    let procedure = record.as_ref().and_then(|record| record.procedure.or(Some(record.root)));
    let procedure = procedure.ok_or_else(|| shown!("the record at {} cannot be read", picked.place))?.raw().to_vec();
    let before = diagnostics(&procedure);
    if options.list {
        for fix in fixes(&procedure) {
            out.line(&shown!("{} (diagnostics {} -> {})", fix.title, fix.before, fix.after));
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
        with_model(options, procedure, out)?
    };
    if let Some(why) = unanswered {
        out.complain(&why);
        return Ok(UNANSWERED);
    }
    let left = diagnostics(&after);
    out.write(&pretty(&after));
    out.write(b"\n");
    out.flush();
    if let Some(path) = &options.out {
        append_line(path, PROCEDURES, &crate::domain::compose::one_line(&after))
            .map_err(|failure| shown!("{failure}"))?;
        out.complain(&shown!("saved in {}", Shown::path(path)));
    }
    out.complain(&shown!("diagnostics {} -> {}", before.len(), left.len()));
    for finding in &left {
        out.complain(&finding.message.line());
    }
    Ok(if left.is_empty() { CLEAN } else { FOUND })
}

/// Asks as upstream does: what is no JSON changes nothing, and it is asked again. The procedure, or why the server gave
/// none.
fn with_model(options: &Repair, mut procedure: Vec<u8>, out: &Out) -> Result<(Vec<u8>, Option<Shown>), Shown> {
    let asked = options.ask.prepare(None)?;
    for attempt in 1..=options.tries {
        let found = diagnostics(&procedure);
        if found.is_empty() {
            break;
        }
        match attempted(options, &asked, &procedure, &found, out) {
            Err(why) => return Ok((procedure, Some(why))),
            Ok(None) => out.complain(&shown!("attempt {attempt}: the reply is not JSON")),
            Ok(Some(reply)) => {
                let left = diagnostics(&reply).len();
                out.complain(&shown!("attempt {attempt}: diagnostics {} -> {left}", found.len()));
                procedure = reply;
            }
        }
    }
    Ok((procedure, None))
}

fn attempted(
    options: &Repair,
    asked: &Asked,
    procedure: &[u8],
    found: &[Finding],
    out: &Out,
) -> Result<Option<Vec<u8>>, Shown> {
    let mut tape = Tape::default();
    let value: Value<'_> = tape.parse(procedure).ok_or(Shown::own("the procedure is not JSON"))?;
    let prompt: Untrusted<'static> = prompt(value, found);
    let call = options.sampling.repairs().call(&asked.model, prompt, Some(schema()), 0);
    let reply = asked.call(call, &mut Executed::default(), out);
    if let Some(why) = failed(&reply) {
        return Err(why);
    }
    let json = reply.content.get(parts(&reply.content).json).unwrap_or_default();
    Ok(loads(&mut Tape::default(), json).is_ok().then(|| json.to_vec()))
}
