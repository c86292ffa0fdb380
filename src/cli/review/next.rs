//! `stepscope review next`: the record that is to be judged next, for people who use no screen.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use foldhash::HashMap;

use crate::cli::codes::CLEAN;
use crate::cli::codes::FOUND;
use crate::cli::filtered::{FilterArgs, Verdicts};
use crate::cli::options::ListFormat;
use crate::cli::options::threads;
use crate::cli::out::Colour;
use crate::cli::out::Out;
use crate::cli::peer_args::PeerArgs;
use crate::cli::review::logs::Where;
use crate::cli::review::logs::Who;
use crate::cli::show;
use stepscope_base::guard::lock;
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::{shell_option, shell_word};
use stepscope_io::pipeline::check::{SourceCounts, read_through};
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::pipeline::summaries::summary_of;
use stepscope_judge::row::RowFacts;
use stepscope_record::RecordKind;
use stepscope_record::finding::grouped;
use stepscope_record::rule_id::QueueClass;
use stepscope_review::event::{ItemRef, LabelDefinition, ReviewerKind, Text, Verdict};
use stepscope_review::fold::Reviews;
use stepscope_review::queue::{Assignment, Queue};
use stepscope_review::summary::Summary;
use stepscope_review::verdict_state::VerdictState;

/// `stepscope review next`.
#[derive(Args, Clone, Debug)]
pub struct NextArgs {
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    filter: FilterArgs,
    /// Shuffle the queue (seeded)
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Shuffle it so that records come twice as early where a verdict tells most (seeded)
    #[arg(long, value_name = "SEED", conflicts_with_all = ["shuffle", "assign", "filter"])]
    sample: Option<u64>,
    #[command(flatten)]
    peers: PeerArgs,
    /// Review only one of several equal parts, for example 1/3: every reviewer takes another
    #[arg(long, value_name = "PART", value_parser = crate::cli::options::assignment)]
    assign: Option<Assignment>,
    /// Print its id alone
    #[arg(long, conflicts_with = "format")]
    ids: bool,
    /// How to print: the record as `show` prints it and how to judge it, or an object
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    color: Colour,
}

/// Position of a record in the queue: records that were put off come last.
type Place = (bool, (u8, u64), (usize, u64));

/// Progress of the queue, and its first record that is open.
#[derive(Default)]
struct QueueScan {
    /// Number of records of each class, and of those that are open.
    classes: [(u64, u64); QueueClass::ALL.len()],
    first: Option<UnreviewedRecord>,
    /// Hashes of the names of all records, and whether several have each.
    names: HashMap<u64, bool>,
}

/// A record that is not reviewed yet.
struct UnreviewedRecord {
    place: Place,
    class: QueueClass,
    summary: Summary,
    /// The record as it is printed.
    page: Vec<u8>,
    path: Option<PathBuf>,
    /// How chance chose it, to be kept with the verdict.
    drawn: Option<Text>,
}

/// Returns the hash of the name of an item: its id, else its position.
fn name_hash(item: &ItemRef) -> u64 {
    let name = (item.id.as_ref(), item.row_index.filter(|_| item.id.is_none()));
    foldhash::quality::FixedState::default().hash_one(name)
}

impl QueueScan {
    fn note(&mut self, item: &ItemRef) {
        self.names.entry(name_hash(item)).and_modify(|is_shared| *is_shared = true).or_insert(false);
    }

    /// Tells whether several records have the name of this one.
    fn is_shared(&self, item: &ItemRef) -> bool {
        self.names.get(&name_hash(item)) == Some(&true)
    }
}

pub(super) fn run(next: &NextArgs, side: &Arc<SideData>, out: &mut Out) -> Option<u8> {
    if next.place.files.is_empty() {
        out.complain(&Shown::own("pass the record file whose queue is asked for"));
        return None;
    }
    let filter = out.given(next.filter.read(side.types(), Verdicts::Known))?;
    let contents = next.place.quiet_contents(out)?;
    let (reviews, sets, me) = (&contents.reviews, contents.reviews.label_sets().for_people(), next.who.reviewer());
    let side = &out.given(next.peers.read(side, out))?;
    let queue = next.queue();
    let (look, is_text) = (out.look(next.color), !next.ids && next.format == ListFormat::Text);
    let starts = starts(next, &queue, side, out)?;
    let records = next.place.passing(side);
    let found = Mutex::new(QueueScan::default());
    let outcome = read_through(side.inputs(&next.place.files()), threads(None), side, |case, input| {
        let row = RowFacts::unchecked(0, 0).checked(case, case.findings(), case.baseline());
        let index = usize::try_from(case.origin().index).unwrap_or(usize::MAX);
        let start = starts.get(&case.origin().source).copied().unwrap_or_default();
        let mut summary = summary_of(case, input, case.findings(), |item| reviews.names(item));
        lock(&found).note(&summary.item);
        let Some(key) = queue.key(index.saturating_add(start), &row) else { return };
        let reviewed = records.find(reviews, &summary);
        let blind = |reviewed| VerdictState::blind(reviewed, &me, &sets, |_| false);
        let judged = reviewed.map(blind).unwrap_or_default();
        if filter.as_ref().is_some_and(|filter| !filter.takes_judged(case, &judged)) {
            return;
        }
        let class = row.queue_class();
        let place = (judged.mine == Some(Verdict::Defer), key, (case.origin().source, case.origin().offset));
        let mut found = lock(&found);
        if let Some((all, open)) = found.classes.get_mut(class as usize) {
            (*all, *open) = (*all + 1, *open + u64::from(!judged.is_done()));
        }
        if !judged.is_done() && found.first.as_ref().is_none_or(|first| place < first.place) {
            summary.take_question(case);
            // Worked out only of what somebody reviewed.
            summary.take_content(case);
            let page = if is_text { show::record(case, &look) } else { Vec::new() };
            let path = input.path().map(Path::to_owned);
            let drawn = queue.drawn(&row).filter(|_| filter.is_none());
            found.first = Some(UnreviewedRecord { place, class, summary, page, path, drawn });
        }
    });
    out.complain_of(outcome.unread().map(Shown::from));
    if !outcome.failures.is_empty() {
        return None;
    }
    let mut scan = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (first, classes) = (scan.first.take(), scan.classes);
    let (all, open) = classes.iter().fold((0, 0), |(all, open), class| (all + class.0, open + class.1));
    let Some(first) = first else {
        let records = if all == 1 { "record" } else { "records" };
        out.complain(&match all {
            0 => Shown::own("no record is in this queue"),
            _ => shown!("queue done: {all} of {all} {records} reviewed by {}", me.id.line().cut(40)),
        });
        return Some(FOUND);
    };
    let class = first.class;
    let of_class = classes.get(class as usize).copied().unwrap_or_default();
    let is_shared = scan.is_shared(&first.summary.item);
    let place = QueuePlace { class, of_class, of_queue: (all, open) };
    match (next.ids, next.format) {
        (true, _) => out.exact(&first.summary.item.name().line()),
        (false, ListFormat::Jsonl) => out.write(&place.json(&first, is_shared, reviews)),
        (false, ListFormat::Text) => {
            out.line(&place.phrase());
            out.line(&Shown::default());
            out.styled(&first.page);
            how_to_judge(next, &first, is_shared, reviews, out);
        }
    }
    Some(CLEAN)
}

/// Counts for each file the records before its first. They are numbered over all files, as on the screen, so that
/// parts do not overlap; where the numbers decide nothing, or there is one file, no file is read for it.
fn starts(next: &NextArgs, queue: &Queue, side: &Arc<SideData>, out: &mut Out) -> Option<BTreeMap<usize, usize>> {
    let files = &next.place.files();
    let is_one = files.len() == 1 && files.iter().all(|file| !file.is_dir());
    if is_one || queue.assigned.is_none() && queue.shuffle.is_none() {
        return Some(BTreeMap::new());
    }
    if files.iter().any(|file| file.as_os_str() == "-") {
        out.complain(&Shown::own("cannot number records of several files before `-` was read; pass files"));
        return None;
    }
    let counted = read_through(side.inputs(files), threads(None), side, |_, _| {});
    let mut all = 0;
    let start = |(source, counts): (&usize, &SourceCounts)| {
        let start = all;
        all += usize::try_from(counts.counts.records).unwrap_or(usize::MAX);
        (*source, start)
    };
    Some(counted.sources.iter().map(start).collect())
}

/// Position of the record in the queue.
struct QueuePlace {
    class: QueueClass,
    /// Number of records of its class, and of those that are open.
    of_class: (u64, u64),
    of_queue: (u64, u64),
}

impl QueuePlace {
    fn phrase(&self) -> Shown {
        let number = |n: u64| grouped(usize::try_from(n).unwrap_or(usize::MAX));
        let ((class, open_class), (all, open)) = (self.of_class, self.of_queue);
        let (open_class, class) = (number(open_class), number(class));
        let done = number(all.saturating_sub(open));
        shown!("{}: {open_class} of {class} left; {done} of {} reviewed", self.class.phrase(), number(all))
    }

    /// `is_shared`: several records have the name of this one.
    fn json(&self, record: &UnreviewedRecord, is_shared: bool, reviews: &Reviews) -> Vec<u8> {
        let (mut out, summary) = (Vec::new(), &record.summary);
        Style::ASCII.line(&mut out, |object| {
            object.maybe("id", summary.item.id.as_ref());
            object.maybe("row_index", summary.item.row_index);
            object.maybe("sha256", is_shared.then(|| summary.content.to_string()));
            object.maybe("dataset", summary.item.dataset.as_ref());
            object.maybe("drawn", record.drawn.as_ref());
            object.put("class", self.class.word());
            object.put("class_left", self.of_class.1).put("class_records", self.of_class.0);
            object.put("left", self.of_queue.1).put("records", self.of_queue.0);
            object.maybe("question", summary.question.as_ref().map(Shown::as_str));
            object.maybe("answer", summary.answer.as_ref());
            object.list("findings", summary.findings.iter().map(|rule| rule.word()));
            object.list("labels", labels_for(reviews, summary).iter().map(|label| &label.id));
        });
        out
    }
}

/// Lists the labels for a record, those of its kind first.
fn labels_for(reviews: &Reviews, summary: &Summary) -> Vec<LabelDefinition> {
    reviews.label_sets().given_from().offered_for(summary.kind == RecordKind::Typed)
}

/// Prints the command that judges the record, ready to be changed. `is_shared`: several records have its name.
fn how_to_judge(next: &NextArgs, first: &UnreviewedRecord, is_shared: bool, reviews: &Reviews, out: &mut Out) {
    let labels = labels_for(reviews, &first.summary);
    let width = labels.iter().map(|label| label.id.line().as_str().chars().count()).max().unwrap_or(0);
    out.line(&Shown::own("Labels"));
    for label in &labels {
        let guideline = label.guideline.as_ref().unwrap_or(&label.name);
        out.line(&shown!("  {:width$}  {}", label.id.line(), guideline.line()));
    }
    let label = labels.first().map(|label| label.id.line()).unwrap_or_default();
    let add = next.add_command(first, is_shared);
    out.line(&shown!("\nReview it, then ask for the next:"));
    if let Some(id) = first.summary.item.id.as_ref().filter(|id| !is_shown_as_it_is(id)) {
        let mut line = Vec::new();
        Style::ASCII.line(&mut line, |object| {
            object.put("id", id);
            object.maybe("sha256", is_shared.then(|| first.summary.content.to_string()));
            object.put("verdict", Verdict::Pass.word());
            object.maybe("drawn", first.drawn.as_ref());
        });
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        out.line(&shown!("  printf '%s\\n' {} | {add}", shell_word(&line)));
        return;
    }
    out.line(&shown!("  {add} --verdict pass"));
    out.line(&shown!("  {add} --verdict fail --label {label} --note '...'"));
}

/// Tells whether an id that is copied from the screen is the id.
fn is_shown_as_it_is(id: &Text) -> bool {
    id.line().as_str().as_bytes() == id.bytes()
}

impl NextArgs {
    /// The order in which records are looked at.
    fn queue(&self) -> Queue {
        let shuffle = self.shuffle.or(self.sample);
        Queue { shuffle, sampled: self.sample.is_some(), assigned: self.assign, ..Queue::default() }
    }

    /// Formats the command that judges this very record as this reviewer, in the review log that this queue looks at.
    fn add_command(&self, first: &UnreviewedRecord, is_shared: bool) -> Shown {
        let path = |path: &Path| shell_word(Shown::path(path).as_str());
        let mut words = vec!["stepscope review add".to_owned()];
        let Where { files, reviews, .. } = &self.place;
        // Without a named log each file has its own.
        let holds =
            |file: &&PathBuf| reviews.is_empty() && first.path.as_ref().is_some_and(|path| path.starts_with(file));
        match files.iter().find(holds) {
            Some(file) => words.push(path(file)),
            None => words.extend(files.iter().map(|file| path(file))),
        }
        words.extend(self.place.tables.words());
        // Of several the first is written.
        words.extend(reviews.first().map(|log| format!("--reviews {}", path(log))));
        let item = &first.summary.item;
        // An id that is not shown as it is goes into a line.
        if item.id.as_ref().is_none_or(is_shown_as_it_is) {
            words.push(match &item.id {
                Some(id) => shell_option("--id", id.line().as_str()),
                None => format!("--row {}", item.row_index.unwrap_or(0)),
            });
            words.extend(is_shared.then(|| format!("--sha256 {}", first.summary.content)));
            words.extend(first.drawn.as_ref().map(|drawn| format!("--drawn {}", drawn.line())));
        }
        words.extend(self.who.reviewer.as_ref().map(|who| shell_option("--reviewer", who)));
        let kind = self.who.reviewer_kind;
        words.extend((kind != ReviewerKind::Person).then(|| format!("--reviewer-kind {}", kind.word())));
        shown!("{}", words.join(" "))
    }
}
