//! `stepscope show`: one record as plain text.

use std::path::PathBuf;

use crate::cli::export::RedactArgs;
use crate::cli::filtered::FilterArgs;
use crate::cli::links::LinkWhen;
use crate::cli::options::AnswerArgs;
use crate::cli::out::Colour;
use crate::cli::peer_args::PeerArgs;
use crate::cli::pick::Pick;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};
use stepscope_io::pipeline::side_data::SideData;

use super::filtered::Verdicts;
use super::links::Links;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::options::threads;
use crate::cli::out::Out;
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::check::{MAX_OUTPUT, read_through};
use stepscope_io::pipeline::room::room_of;
use stepscope_judge::case::CaseView;
use stepscope_judge::hide::Hide;
use stepscope_judge::texts::question;
use stepscope_record::finding::grouped;
use stepscope_redact::Redaction;
use stepscope_report::page::Cleaner;
use stepscope_report::text::Look;
use stepscope_report::whole;
use stepscope_report::whole::{RecordPart, RecordText};

/// Print one record: question, steps, values, findings
#[derive(clap::Args, Clone, Debug)]
#[command(override_usage = "stepscope show [OPTIONS] <PATH>...\n       stepscope show [OPTIONS] --docintel [PATH]...")]
pub struct Show {
    /// File or folder with the record
    #[arg(value_name = "PATH", required_unless_present = "docintel")]
    pub paths: Vec<PathBuf>,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    #[command(flatten)]
    pick: Pick,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    peers: PeerArgs,
    /// Only this step, counted from 1: what it reads, does and writes
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Print the exact prompt that evoproc sends for the step
    #[arg(long, requires = "step")]
    pub prompt: bool,
    /// Also print the global state before and after each step
    #[arg(long)]
    pub state: bool,
    #[command(flatten)]
    redact: RedactArgs,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
    /// Links from places to their files (OSC 8)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = LinkWhen::Auto)]
    pub(crate) links: LinkWhen,
}

/// Number of other records that are named.
const NAMED: usize = 5;
/// Maximum length of their questions, in characters.
const QUESTION: usize = 60;

/// Position of a record among all: its source, and its first byte there.
type RecordPlace = (usize, u64);

/// Records that were asked for: the page of the first, and the places of some of the others.
#[derive(Default)]
struct Found {
    count: u64,
    /// Places of the first ones, by their position.
    places: BTreeMap<RecordPlace, Shown>,
    page: Option<(RecordPlace, RecordText)>,
}

impl Found {
    /// Counts a record; tells whether it is the first so far.
    fn note(&mut self, at: RecordPlace, place: Shown) -> bool {
        self.count += 1;
        self.places.insert(at, place);
        if self.places.len() > NAMED + 1 {
            self.places.pop_last();
        }
        self.comes_first(at)
    }

    fn comes_first(&self, at: RecordPlace) -> bool {
        self.page.as_ref().is_none_or(|(other, _)| at < *other)
    }
}

pub(super) fn run(show: &Show, side: &Arc<SideData>, out: &mut Out) -> Result<u8, Shown> {
    let side = &show.peers.read(side, out)?;
    let look = out.look(show.color);
    let links = Links::wanted(show.links, show.color, out);
    let terminal = out.is_terminal();
    let found = Mutex::new(Found::default());
    let inputs = show.pick.part_of(show.answers.expand(&show.paths)?);
    let filter = show.filter.read(side.types(), Verdicts::Unknown)?;
    let cleaner = Cleaner { hide: Hide::default(), redaction: show.redact.read()?, passages: true };
    let takes = |case: &CaseView<'_>| filter.as_ref().is_none_or(|filter| filter.takes(case, case.findings()));
    // The same pipeline as `check`: a large file is searched on all cores. The rules look at what is printed alone.
    let outcome = read_through(inputs, threads(None), side, |case, input| {
        let at = (case.origin().source, case.origin().offset);
        if show.pick.wants(case) && takes(case) && lock(&found).note(at, place_of(case, &cleaner.redaction)) {
            let linking = links.as_ref().map(|links| look.linking(links.file(input)));
            let part = RecordPart { step: show.step, prompt: show.prompt, state: show.state, ..RecordPart::default() };
            let print = |case: &CaseView<'_>| {
                whole::record(part, case, linking.as_ref().unwrap_or(&look), terminal, room(case))
            };
            let page = if cleaner.redaction.is_empty() { print(case) } else { print(&cleaner.record(case).view()) };
            let mut found = lock(&found);
            if found.comes_first(at) {
                found.page = Some((at, page));
            }
        }
    });
    out.complain_of(outcome.unread().map(Shown::from));
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Some((first, page)) = found.page else {
        if outcome.counts.records == 0 && outcome.unread().next().is_some() {
            return Ok(FAILED);
        }
        return Err(match &filter {
            Some(_) => {
                let were = if outcome.counts.records == 1 { "was" } else { "were" };
                shown!("no record fits --filter; {} {were} read", grouped(outcome.counts.records as usize))
            }
            None => show.pick.none(outcome.counts.records),
        });
    };
    if show.prompt && !terminal {
        out.write(&page.out);
    } else {
        out.styled(&page.out);
    }
    if let Some(refused) = &page.refused {
        out.complain(refused);
    }
    let others = found.count - 1;
    if others > 0 {
        out.flush();
        let records = if others == 1 { "record" } else { "records" };
        let what = match (&show.pick.id, &filter) {
            (Some(_), _) => "with this id",
            (None, Some(_)) => "fit; select with --id or --line",
            (None, None) => "not shown; select with --id or --line",
        };
        out.complain(&shown!("{} more {records} {what}:", grouped(others as usize)));
        let named = found.places.range((Bound::Excluded(first), Bound::Unbounded)).take(NAMED);
        out.complain_of(named.map(|(_, place)| shown!("  {place}")));
        if others > NAMED as u64 {
            out.complain(&shown!("  and {} more", grouped(others as usize - NAMED)));
        }
    }
    Ok(if page.refused.is_none() && outcome.unread().next().is_none() { CLEAN } else { FAILED })
}

/// Formats the place of a record, and its question.
fn place_of(case: &CaseView<'_>, redaction: &Redaction) -> Shown {
    let clean = |text: Shown| Shown::line(&redaction.text(text.as_str().as_bytes()));
    let place = clean(case.place_name());
    match case.record.as_ref().and_then(question) {
        Some(question) => shown!("{place}  {}", clean(question).cut(QUESTION)),
        None => place,
    }
}

/// Formats a whole record.
pub(super) fn record(case: &CaseView<'_>, look: &Look) -> Vec<u8> {
    whole::record(RecordPart::default(), case, look, false, room(case)).out
}

/// Room for the steps: what is printed of steps of a few bytes would be far longer than the record.
fn room(case: &CaseView<'_>) -> usize {
    room_of(case.record.as_ref().map_or(0, |record| record.root.raw().len()), MAX_OUTPUT)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::pick::Pick;
    use stepscope_io::source::input::expand;
    use stepscope_judge::rules::counted;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        show: Show,
    }

    #[test]
    fn the_rules_look_at_the_record_that_is_shown_and_at_no_other() {
        const MARK: &str = "is only this one looked at";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let record =
            |n: usize| format!("{{\"id\": \"r{n}\", \"question\": \"{MARK}?\", \"procedure\": {{\"steps\": []}}}}\n");
        std::fs::write(&path, (0..40).map(record).collect::<String>()).unwrap();
        counted::watch(MARK);
        for (runs, words) in [(1, ["--id", "r7"]), (2, ["--line", "9"])] {
            let arguments =
                [std::ffi::OsStr::new("show"), path.as_os_str()].into_iter().chain(words.map(std::ffi::OsStr::new));
            // What is printed is dropped with `out`.
            let code = run(&Line::try_parse_from(arguments).unwrap().show, &Arc::default(), &mut Out::new());
            assert_eq!((code, counted::runs(MARK)), (Ok(CLEAN), runs));
        }
        let pick = Pick { id: Some("r7".to_owned()), line: None };
        assert!(pick.find(expand(&[path]), &Arc::default()).is_ok_and(|picked| picked.place.as_str().ends_with(":8")));
        assert_eq!(counted::runs(MARK), 2, "who picks a record asks for no findings");
    }
}
