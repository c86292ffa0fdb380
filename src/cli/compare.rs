//! `stepscope compare`: two runs of the same questions.

use std::path::PathBuf;
use std::sync::Arc;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::system::named;

use clap::Args;

use crate::cli::check::no_records;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::filtered::{FilterArgs, Filtered, Verdicts};
use crate::cli::options::AnswerArgs;
use crate::cli::options::ListFormat;
use crate::cli::options::TableArgs;
use crate::cli::options::threads;
use crate::cli::out::Out;
use crate::cli::review::logs::Who;
use crate::cli::review::logs::counted;
use crate::cli::review::logs::summaries;
use crate::cli::screen::Reviewing;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_compare::difference::RecordDifference;
use stepscope_compare::print::{ComparedRuns, difference, write_difference};
use stepscope_compare::{Basis, By, Cell, ComparedItem, Join, Side, judge};
use stepscope_io::log::journal::found_beside;
use stepscope_io::pipeline::summaries::read_again;
use stepscope_io::source::page::reviews_of;
use stepscope_record::finding;
use stepscope_record::finding::grouped;
use stepscope_review::fold::Reviews;
use stepscope_review::join::Index;
use stepscope_review::summary::Summary;
use stepscope_review::verdict_state::VerdictState;

/// Maximum width of an id in a line of text; a longer one is cut.
const MAX_WIDTH: usize = 40;

/// Compare two runs of the same questions (joined by id, else by question)
///
/// B is the baseline: an item that is correct in B and wrong, failed or missing in A is a regression. Exit code: 0, 1
/// with --fail-on-regression and a regression, 2 something could not be read, or with --fail-on-regression regressions
/// cannot be ruled out: nothing was compared, a line is cut off, or A has records without a grade.
#[derive(Args, Clone, Debug)]
pub struct Compare {
    /// Run: file or folder
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Baseline: file or folder
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Review log of both [default: A.reviews.jsonl and B.reviews.jsonl]
    #[arg(long, value_name = "PATH")]
    reviews: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Also list the items of these cells: both, `only_a`, `only_b`, none, missing
    #[arg(long, value_name = "CELL", value_delimiter = ',', value_parser = cell)]
    cell: Vec<Cell>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Also count failures by cause: in A, in B, gone since B, new in A, moved from one cause to another
    #[arg(long, conflicts_with = "id")]
    causes: bool,
    /// Diff the two records of this id: fields, variables, first step that differs
    #[arg(long, value_name = "ID", conflicts_with_all = ["cell", "fail_on_regression", "filter"])]
    id: Option<String>,
    /// Exit 1 when an item is correct in the baseline and not in the run
    #[arg(long)]
    fail_on_regression: bool,
    #[command(flatten)]
    tables: TableArgs,
    /// Open the comparison on the screen
    #[arg(long, conflicts_with_all = ["format", "cell", "filter", "id", "fail_on_regression", "causes"])]
    screen: bool,
}

impl Compare {
    /// Tells whether the comparison is to be opened on the screen.
    pub(super) const fn on_screen(&self) -> bool {
        self.screen
    }

    /// Returns the arguments that open the screen.
    pub(super) fn screen(self) -> super::ScreenArgs {
        super::ScreenArgs {
            paths: vec![self.a],
            baseline: Some(self.b),
            reviewing: Reviewing { reviews: self.reviews, ..Reviewing::default() },
            answers: AnswerArgs { tables: self.tables, ..AnswerArgs::default() },
            compare: true,
            ..super::ScreenArgs::default()
        }
    }
}

fn cell(word: &str) -> Result<Cell, &'static str> {
    Cell::from_word(word).ok_or("use both, only_a, only_b, none or missing")
}

pub(super) fn run(options: &Compare, side: &Arc<SideData>, out: &mut Out) -> u8 {
    compare(options, side, out).unwrap_or(FAILED)
}

/// The two runs as they were read.
struct ReadRuns {
    summaries: [Vec<Summary>; 2],
    reviews: (Reviews, Reviews),
    filters: [Option<Filtered>; 2],
    /// True if the last line of a file is cut off.
    is_cut: bool,
    /// Number of records that could not be read.
    unread: u64,
}

/// Compares the two runs. `None`: this was not possible, and the reason was printed.
fn compare(options: &Compare, known: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    let known = &out.given(options.tables.known(known))?;
    let runs = read(options, known, out)?;
    let [summaries_a, summaries_b] = &runs.summaries;
    let mut join = Join::of(summaries_a, summaries_b);
    let all = join.pairs.len();
    keep_fitting(&runs, &mut join, out)?;
    if let Some(id) = &options.id {
        return one(options, id, &join, [summaries_a, summaries_b], known, out);
    }
    let side = |summaries, reviews, strict| Side { summaries, reviews, strict };
    let a = side(summaries_a, &runs.reviews.0, false);
    let b = side(summaries_b, &runs.reviews.1, !options.reviews.is_empty());
    let items = judge(&join, a, b);
    print(options, &ComparedRuns { join: &join, items: &items, a, b }, all, out);
    if !options.fail_on_regression {
        return Some(CLEAN);
    }
    gate(&items, &runs, out)
}

/// Reads both runs and what is said of them.
fn read(options: &Compare, known: &Arc<SideData>, out: &mut Out) -> Option<ReadRuns> {
    let reviews = reviews(options, out)?;
    let filter = |_| out.given(options.filter.read(known.types(), Verdicts::Known));
    let filters = [filter(&options.a)?, filter(&options.b)?];
    let [filter_a, filter_b] = &filters;
    let sides = [(&options.a, &reviews.0, filter_a), (&options.b, &reviews.1, filter_b)];
    let [a, b] = sides.map(|(path, reviews, filter)| {
        summaries(std::slice::from_ref(path), reviews, known, out, |summary, case| {
            if !options.cell.is_empty() || matches!(options.format, ListFormat::Jsonl) {
                summary.take_question(case);
            }
            if options.causes {
                summary.take_cause(case);
            }
            if let Some(filter) = filter {
                filter.note(case);
            }
        })
    });
    let [a, b] = [a?, b?];
    for (name, side) in [(&options.a, &a), (&options.b, &b)] {
        // "0 records" would read as if somebody had looked.
        if side.outcome.sources.is_empty() && name.is_dir() {
            out.complain(&shown!("nothing to compare in {}: {}", Shown::path(name), no_records(&side.outcome)));
            return None;
        }
    }
    let is_cut = [&a, &b].iter().any(|side| side.outcome.counts.skips.cut.is_some());
    let unread = [&a, &b].iter().map(|side| side.outcome.counts.broken).sum();
    Some(ReadRuns { summaries: [a.summaries, b.summaries], reviews, filters, is_cut, unread })
}

/// Leaves out the items that do not fit the filter. `None`: none fits.
fn keep_fitting(runs: &ReadRuns, join: &mut Join, out: &Out) -> Option<()> {
    let [Some(of_a), Some(of_b)] = &runs.filters else { return Some(()) };
    let all = join.pairs.len();
    let [summaries_a, summaries_b] = &runs.summaries;
    let [index_a, index_b] = [summaries_a, summaries_b].map(|summaries| Index::of(summaries));
    let fits: [&dyn Fn(&Summary) -> bool; 2] =
        [&|one| takes(of_a, one, &index_a, &runs.reviews.0), &|one| takes(of_b, one, &index_b, &runs.reviews.1)];
    join.retain([summaries_a, summaries_b], fits);
    if join.pairs.is_empty() {
        out.complain(&shown!("no item fits --filter; {} were compared", grouped(all)));
        return None;
    }
    Some(())
}

/// Prints the comparison; `all`: the number of items before the filter.
fn print(options: &Compare, comparison: &ComparedRuns<'_>, all: usize, out: &mut Out) {
    let listed = |item: &&ComparedItem| match item.cell(Basis::GoldAdjusted) {
        Some(cell) => options.cell.contains(&cell),
        None => false,
    };
    match options.format {
        ListFormat::Jsonl => {
            let mut json = Vec::new();
            for item in comparison.items.iter().filter(|item| options.cell.is_empty() || listed(item)) {
                comparison.write_item(item, &mut json);
                out.write(&json);
                json.clear();
            }
            let names = [&options.a, &options.b].map(|path| named(path));
            comparison.write_summary(names.each_ref(), &mut json);
            if options.causes {
                comparison.write_causes(&mut json);
            }
            out.write(&json);
        }
        ListFormat::Text => {
            if let Some(filter) = &options.filter.filter {
                let (filter, fitting) = (Shown::line(filter.as_bytes()), grouped(comparison.join.pairs.len()));
                out.line(&shown!("filter {filter}: {fitting} of {}", finding::counted(all, "item")));
            }
            for line in comparison.board([&Shown::path(&options.a), &Shown::path(&options.b)]) {
                out.line(&line);
            }
            let causes = if options.causes { comparison.causes() } else { Vec::new() };
            for (n, line) in causes.iter().enumerate() {
                if n == 0 {
                    out.line(&Shown::default());
                }
                out.line(line);
            }
            for (n, item) in comparison.items.iter().filter(listed).enumerate() {
                if n == 0 {
                    out.line(&Shown::default());
                }
                out.line(&comparison.line(item, MAX_WIDTH));
            }
        }
    }
    out.flush();
}

/// Returns the exit code of a check for regressions. `None`: it cannot be told whether there is one.
fn gate(items: &[ComparedItem], runs: &ReadRuns, out: &Out) -> Option<u8> {
    if let Some(why) = incomparable(items) {
        out.complain(&shown!("cannot check for regressions: {why}"));
        return None;
    }
    let regressions = items.iter().filter(|item| item.is_regression()).count();
    if regressions > 0 {
        let word = if regressions == 1 { "regression" } else { "regressions" };
        out.complain(&shown!("{regressions} {word}: correct in B, not in A"));
        return Some(FOUND);
    }
    if let Some(why) = unseen(items, runs.unread, runs.is_cut) {
        out.complain(&shown!("cannot check for regressions: {why}"));
        return None;
    }
    Some(CLEAN)
}

fn takes(filter: &Filtered, summary: &Summary, index: &Index<'_>, reviews: &Reviews) -> bool {
    let (me, sets) = (Who::default().reviewer(), reviews.label_sets().for_people());
    let judged =
        index.find(reviews, summary).map(|reviewed| VerdictState::of(reviewed, &me, &sets)).unwrap_or_default();
    filter.took(summary, &judged)
}

/// Reason that records with the same question are not paired.
const REPEATED: &str =
    "questions repeat, and no id says which record of A belongs to which of B. Give the records ids.";

/// Explains why "no regression" would say nothing: no item is in both runs, or none is known to be right or wrong in B.
fn incomparable(items: &[ComparedItem]) -> Option<&'static str> {
    let is_paired = |item: &&ComparedItem| matches!(item.pair.by, By::Id | By::Question);
    let mut both = items.iter().filter(is_paired).peekable();
    if both.peek().is_none() {
        if items.iter().any(|item| item.pair.by == By::Repeated) {
            return Some(REPEATED);
        }
        return Some("no record of A matches one of B, by id or by question. Compare runs of the same questions.");
    }
    let decided = both.any(|item| !item.left_out && item.right(Basis::GoldAdjusted).1.is_some());
    (!decided).then_some("no shared item says whether B is correct. B needs expected answers, verdicts or `correct`.")
}

/// Explains why a regression may be there that was not seen.
fn unseen(items: &[ComparedItem], unread: u64, is_cut: bool) -> Option<Shown> {
    let repeated = || items.iter().filter(|item| item.pair.by == By::Repeated);
    let judged = |item: &ComparedItem| item.right(Basis::GoldAdjusted);
    let may_be = repeated().any(|item| item.pair.a.is_some() && judged(item).0 != Some(true))
        && repeated().any(|item| judged(item).1 == Some(true));
    if may_be {
        return Some(Shown::own(REPEATED));
    }
    match items.iter().filter(|item| item.may_be_regression()).count() {
        0 if unread > 0 => Some(shown!("{} could not be read.", finding::counted(unread as usize, "record"))),
        0 => is_cut.then(|| Shown::own("the last line of a file is cut off.")),
        n => Some(shown!("{n} correct in B and not graded in A. A needs expected answers, verdicts or `correct`.")),
    }
}

/// Reads the reviews of both runs.
fn reviews(options: &Compare, out: &Out) -> Option<(Reviews, Reviews)> {
    if !options.reviews.is_empty() {
        let both = counted(&options.reviews, &[], out)?.reviews;
        return Some((both.clone(), both));
    }
    let own = |path: &PathBuf| {
        if found_beside(path).is_none() && reviews_of(path).is_empty() {
            return Some(Reviews::default());
        }
        Some(counted(&[], std::slice::from_ref(path), out)?.reviews)
    };
    Some((own(&options.a)?, own(&options.b)?))
}

/// Prints the differences between the two records of an id.
fn one(
    options: &Compare,
    id: &str,
    join: &Join,
    [a, b]: [&[Summary]; 2],
    known: &Arc<SideData>,
    out: &mut Out,
) -> Option<u8> {
    let has = |summaries: &[Summary], at: Option<usize>| {
        let id_of = at.and_then(|at| summaries.get(at)).and_then(|summary| summary.item.id.as_ref());
        id_of.is_some_and(|own| *own == id)
    };
    let of_id = || join.pairs.iter().filter(|pair| has(a, pair.a) || has(b, pair.b));
    let Some(pair) = of_id().find(|pair| pair.a.is_some() && pair.b.is_some()).or_else(|| of_id().next()) else {
        out.complain(&shown!("no record has the id \"{}\"", Shown::line(id.as_bytes())));
        return None;
    };
    let (Some(a), Some(b)) = (pair.a.and_then(|at| a.get(at)), pair.b.and_then(|at| b.get(at))) else {
        if pair.by == By::Repeated {
            out.complain(&shown!("the record {} has no partner: {REPEATED}", Shown::line(id.as_bytes())));
            return None;
        }
        let side = if pair.a.is_some() { "A" } else { "B" };
        out.complain(&shown!("the record {} is only in {side}", Shown::line(id.as_bytes())));
        return None;
    };
    let again = |path, summary| read_again(path, summary, threads(None), known);
    let (one, other) = (again(&options.a, a), again(&options.b, b));
    let (one, other) = (one.view(), other.view());
    let Some(found) = RecordDifference::of(&one, &other) else {
        out.complain(&Shown::own("one of the two records is not readable as JSON; `stepscope check` says where"));
        return None;
    };
    if options.format == ListFormat::Jsonl {
        let mut json = Vec::new();
        write_difference(&found, &mut json);
        out.write(&json);
    } else {
        for (name, path, summary) in [("A", &options.a, a), ("B", &options.b, b)] {
            out.line(&shown!("{name}  {}:{}", Shown::path(path), summary.origin.line));
        }
        for line in difference(&found) {
            out.line(&line);
        }
    }
    Some(CLEAN)
}

#[cfg(debug_assertions)]
#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::sync::{Arc, Mutex};

    use clap::Parser;

    use super::{CLEAN, Compare, Out, run};
    use crate::cli::review::{self, ReviewCommand};
    use stepscope_base::shown;
    use stepscope_io::log::append_line;
    use stepscope_io::log::journal::{REVIEWS, line, stamp};
    use stepscope_io::pipeline::baseline::Baseline;
    use stepscope_io::pipeline::compare::{BaselineRuns, CompareRequest, Journals, compare};
    use stepscope_io::pipeline::load::load_unchecked;
    use stepscope_io::pipeline::side_data::SideData;
    use stepscope_io::pipeline::snapshot::Snapshot;
    use stepscope_io::pipeline::summaries::read_checked;
    use stepscope_io::source::column_map::ColumnMap;
    use stepscope_io::source::input::expand;
    use stepscope_judge::rules::counted;
    use stepscope_review::event::{Event, EventKind, ItemRef, Reviewer, Verdict};

    #[derive(Parser)]
    enum Line {
        Compare(Compare),
        #[command(subcommand)]
        Review(ReviewCommand),
    }

    #[test]
    fn commands_that_ask_for_no_findings_run_no_rules() {
        const MARK: &str = "nobody asks what is wrong with this one";
        counted::watch(MARK);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, right) in [("a.jsonl", false), ("b.jsonl", true)] {
            let record = |n: usize| {
                format!(
                    r#"{{"id": {n}, "question": "{MARK} {n}?", "gold_num": 3, "procedure": {{"steps": []}}, "state": {{"final_answer_numerical": {}}}, "correct": {right}}}"#,
                    if right { 3 } else { 4 }
                ) + "\n"
            };
            std::fs::write(path(name), (0..20).map(record).collect::<String>()).unwrap();
        }
        let mut event = Event::new(EventKind::Verdict, Reviewer::person("r"));
        let dataset = Some("a.jsonl".into());
        event.item = Some(ItemRef { dataset, id: Some("3".into()), row_index: Some(3), side: None });
        event.verdict = Some(Verdict::Fail);
        stamp(&mut event);
        append_line(path("a.jsonl.reviews.jsonl").as_path(), REVIEWS, &line(&event)).unwrap();
        let command = |words: &[&str]| {
            let place = |word: &&str| {
                if word.ends_with("jsonl") && *word != "jsonl" { path(word).into() } else { OsString::from(word) }
            };
            let arguments = std::iter::once(OsString::from("stepscope")).chain(words.iter().map(place));
            // What is printed is dropped with `out`.
            let mut out = Out::new();
            let code = match Line::try_parse_from(arguments).unwrap() {
                Line::Compare(compare) => run(&compare, &Arc::default(), &mut out),
                Line::Review(asked) => review::run(&asked, &Arc::default(), &mut out),
            };
            assert_eq!(code, CLEAN, "{words:?}");
        };
        let commands: [&[&str]; 8] = [
            &["compare", "a.jsonl", "b.jsonl"],
            &["compare", "a.jsonl", "b.jsonl", "--format", "jsonl"],
            &["compare", "a.jsonl", "b.jsonl", "--id", "3"],
            &["review", "list", "a.jsonl"],
            &["review", "list", "--regenerate", "--ids", "a.jsonl"],
            &["review", "export", "a.jsonl"],
            &["review", "export", "--failed", "a.jsonl"],
            &["review", "stats", "a.jsonl"],
        ];
        for words in commands {
            command(words);
            assert_eq!(counted::runs(MARK), 0, "{words:?}");
        }
        assert_eq!(Baseline::read(expand(&[path("b.jsonl")]), 2).unwrap().len(), 20);
        let (sender, events) = std::sync::mpsc::channel();
        let (mut store, loading) =
            load_unchecked(expand(&[path("a.jsonl")]), 1, move |event| sender.send(event).is_ok());
        let _loader = loading.go_on().unwrap();
        store.settle(&events);
        let wanted = CompareRequest {
            run: Snapshot::of(&store),
            name: shown!("a"),
            baseline: BaselineRuns::Path(path("b.jsonl")),
            document: None,
            columns: ColumnMap::default(),
            journals: Journals::default(),
        };
        let told = Mutex::new(Vec::new());
        let compared = compare(&wanted, 1, |percent| told.lock().unwrap().push(percent)).unwrap();
        assert_eq!((compared.records, compared.regressions), ([20, 20], 20));
        assert_eq!(told.into_inner().unwrap(), [50, 100], "how much of both is read");
        assert_eq!(counted::runs(MARK), 0);
        // A request for the reason is answered.
        let (paths, side) = ([path("a.jsonl")], Arc::<SideData>::default());
        let summaries = read_checked(&paths, expand(&paths), 2, &side.around()).summaries;
        assert!(counted::runs(MARK) == 20 && summaries.iter().all(|summary| !summary.findings.is_empty()));
        command(&["review", "add", "a.jsonl", "--id", "5", "--verdict", "fail"]);
        assert_eq!(counted::runs(MARK), 21, "the one that is judged");
    }
}
