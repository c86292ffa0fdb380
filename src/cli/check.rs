//! `stepscope check`: what is wrong with records, at the exact key.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::reporter::Reporter;
use self::reviewed::Reviewed;
use super::filtered::Verdicts;
use super::tables::Tables;
use super::values::MAX_SCHEMA;
use crate::cli::check::options::Check;
use crate::cli::check::options::FormatArg;
use crate::cli::codes::CLEAN;
use crate::cli::codes::FAILED;
use crate::cli::codes::FOUND;
use crate::cli::options::threads;
use crate::cli::out::Out;
use crate::cli::peer_args::with_peers;
use stepscope_base::schema::{NEWEST, Schema};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::check::{CheckOptions, CheckOutcome, SourceCounts, check};
use stepscope_io::pipeline::room::LEFT_OUT;
use stepscope_io::pipeline::side_data::{SideData, Surroundings};
use stepscope_io::source::input::Expand;
use stepscope_io::source::open::read_small;
use stepscope_judge::rules::answer::schema_named;
use stepscope_record::finding::{Severity, grouped};
use stepscope_record::{AnswerSchema, PublishedSchema};
use stepscope_report::jsonl;
use stepscope_report::jsonl::LineShape;
use stepscope_report::tables::CHECKED;
use stepscope_report::{ReportFormat, Totals};

mod expect;
mod figures;
mod merge;
pub(super) mod options;
mod reporter;
mod reviewed;

/// Maximum size of the findings that wait until a record is understood, in bytes.
const MAX_HELD: usize = 1 << 20;
/// Number of duplicate ids that are named.
const NAMED: usize = 3;

pub(super) fn run(options: &Check, side: &Arc<SideData>, out: &mut Out) -> Result<u8, Shown> {
    if let Some(journal) = &options.expect {
        return Ok(expect::run(options, journal, side, out));
    }
    let reviewed = match options.reviewed.then(|| Reviewed::read(options, side, out)) {
        None => None,
        Some(Some(reviewed)) => Some(reviewed),
        Some(None) => return Ok(FAILED),
    };
    let schema = options.schema.as_deref().or(options.answer_schema.as_deref()).map(answer_schema).transpose()?;
    if let Some(SchemaChoice::Own(schema, name)) = &schema
        && schema.draft() != NEWEST
    {
        out.complain(&shown!("{name} names {} of JSON Schema and is read as that", schema.draft()));
    }
    if options.merge {
        return Ok(merge::run(options, out));
    }
    let shape = line_shape(options)?;
    let side = side_of(options, side, out)?;
    let filtered = options.filter.read(side.types(), Verdicts::Unknown)?;
    let reporter = Reporter::new(options, shape, reviewed, filtered, out);
    let inputs = options.answers.expand(&options.paths)?;
    let parquet = options.format == FormatArg::Parquet;
    let mut tables = Tables::begin(options.out.as_deref(), (parquet, &options.shape), CHECKED, &options.paths)?;
    let mut outcome = check_all(options, inputs, (&side, schema.as_ref()), &reporter, tables.as_mut(), out);
    let said = reporter.end(options, &mut outcome, side.models(), out);
    let code = finish(options, &outcome, &said, out);
    if let Some(baseline) = &options.baseline {
        if outcome.counts.records > 0 && !reporter.is_joined() {
            out.complain(&shown!(
                "{}: no baseline answer has the id or the question of a record",
                Shown::path(baseline)
            ));
        }
        if !reporter.judges && options.filter.filter.is_none() {
            out.complain(&Shown::own("--baseline tells where to fix; add --summary or --format jsonl to see it"));
        }
    }
    if !options.peers.is_empty() && outcome.counts.records > 0 && !reporter.has_peers() {
        out.complain(&shown!("{}: no other run has the question of a record", first_of(&options.peers)));
    }
    if let Some(tables) = tables {
        tables.end(out)?;
    }
    Ok(code)
}

/// Reads what helps to judge: the answers of a baseline, and the runs that are peers, those of the baseline among them.
fn side_of(options: &Check, side: &Arc<SideData>, out: &mut Out) -> Result<Arc<SideData>, Shown> {
    let threads = threads(options.jobs);
    let side = &options.answers.tables.known(side)?;
    let own = match &options.baseline {
        None if options.peers.is_empty() => return Ok(side.clone()),
        None => side.settings_alone(),
        Some(baseline) => side.settings_alone().read(baseline, threads)?,
    };
    with_peers(own, &options.peers, threads, out)
}

/// `a.jsonl and 2 more`
fn first_of(paths: &[PathBuf]) -> Shown {
    match paths {
        [] => Shown::default(),
        [one] => Shown::path(one),
        [first, more @ ..] => shown!("{} and {} more", Shown::path(first), more.len()),
    }
}

/// Reads which parts of JSON objects are asked for; options that do not go together are refused.
fn line_shape(options: &Check) -> Result<LineShape, Shown> {
    let format = options.format();
    let shape = options.shape.shape(&jsonl::fields().collect::<Vec<_>>())?;
    if options.shape.is_given() && (format != ReportFormat::Jsonl || options.summary) {
        return Err(Shown::own("--fields and --with-record shape JSON objects; add --format jsonl"));
    }
    if options.summary && !matches!(format, ReportFormat::Text | ReportFormat::Jsonl) {
        return Err(Shown::own("--summary prints text or jsonl; use --format text or --format jsonl"));
    }
    Ok(shape)
}

/// Checks all inputs and prints, or puts into the tables, what the reporter says of each record.
fn check_all(
    options: &Check,
    inputs: Expand,
    (side, schema): (&Arc<SideData>, Option<&SchemaChoice>),
    reporter: &Reporter<'_>,
    mut tables: Option<&mut Tables>,
    out: &mut Out,
) -> CheckOutcome {
    let format = options.format();
    let mut begin = Vec::new();
    format.begin(&mut begin);
    out.write(&begin);
    // A program that reads along gets a line for each record, and nobody tells it of ids.
    let is_filter = format == ReportFormat::Jsonl && !options.summary;
    let manner = CheckOptions { left_out: if is_filter { LEFT_OUT } else { b"" }, compares_ids: !is_filter };
    let mut any = false;
    // Of a file that nobody understands one sentence is said at the end, not one a line.
    let mut held = Some(Vec::new()).filter(|_| options.refuses_unknown() && tables.is_none() && is_for_people(format));
    let outcome = check(
        inputs,
        threads(options.jobs),
        &Surroundings {
            side: side.clone(),
            schema: schema.map(SchemaChoice::schema).filter(|_| options.answer_schema.is_none()),
            state_schema: schema.map(SchemaChoice::schema).filter(|_| options.answer_schema.is_some()),
            takes_not_finite: options.no_finite_check,
            ..Surroundings::default()
        },
        Some(manner),
        |case, input, out| reporter.record(case, input, out),
        |bytes, counts| {
            if let Some(waiting) = &mut held
                && (counts.records == 0 || counts.is_not_understood())
                && waiting.len() + bytes.len() <= MAX_HELD
            {
                waiting.extend_from_slice(bytes);
                return Ok(());
            }
            let waited = held.take().map(|waiting| [waiting.as_slice(), bytes].concat());
            let bytes = waited.as_deref().unwrap_or(bytes);
            if let Some(tables) = &mut tables {
                return tables.take(bytes);
            }
            let bytes = if any { bytes } else { format.first(bytes) };
            print(format, bytes, out);
            any |= !bytes.is_empty();
            if out.is_closed() { Err(Error::from(ErrorKind::BrokenPipe)) } else { Ok(()) }
        },
    );
    if let Some(waiting) = held.filter(|_| not_understood(options, &outcome).is_empty()) {
        print(format, &waiting, out);
    }
    outcome
}

/// Prints a part of the report, as the terminal can show it where that is what reads it.
fn print(format: ReportFormat, bytes: &[u8], out: &mut Out) {
    if matches!(format, ReportFormat::Text | ReportFormat::Short) {
        out.styled(bytes);
    } else {
        out.write(bytes);
    }
}

/// Lists the sources of which no record was understood, if they count: those that were named, or all there are. One
/// broken record alone has its own finding.
fn not_understood<'o>(options: &Check, outcome: &'o CheckOutcome) -> Vec<&'o SourceCounts> {
    let is_foreign = |source: &&SourceCounts| {
        source.counts.is_not_understood() && (source.counts.records > 1 || source.counts.unknown > 0)
    };
    let sources = || outcome.sources.values().filter(|_| options.refuses_unknown());
    let are_all = sources().all(|source| is_foreign(&source) || source.counts.records == 0);
    let is_named =
        |source: &SourceCounts| source.is_piped || options.paths.iter().any(|path| Shown::path(path) == source.name);
    sources().filter(is_foreign).filter(|source| are_all || is_named(source)).collect()
}

/// Says that no record of a source was understood, and what helps.
fn foreign(source: &SourceCounts) -> Shown {
    let (records, broken) = (source.counts.records, source.counts.broken);
    let what = match (records, records == broken) {
        (_, true) => shown!("none of its {records} lines is JSON"),
        (1, _) => Shown::own("its record has no known format"),
        _ => shown!("none of its {records} records has a known format"),
    };
    let rows = if records > broken { ", stepscope map --try how to read rows of another program" } else { "" };
    shown!("cannot check {}: {what}; --allow-unknown says what each is{rows}", source.name)
}

const fn is_for_people(format: ReportFormat) -> bool {
    matches!(format, ReportFormat::Text | ReportFormat::Short | ReportFormat::Github | ReportFormat::Markdown)
}

/// Says that there are no records, and what was passed over that could hold some.
pub(super) fn no_records(outcome: &CheckOutcome) -> Shown {
    let pages = (outcome.pages > 0).then(|| Shown::own("a report page is read if you pass it yourself"));
    let links = (outcome.links > 0).then(|| Shown::own("links are followed if you pass them yourself"));
    let hidden = (outcome.hidden > 0).then(|| Shown::own("hidden files are read if you pass them yourself"));
    let sentence = Shown::own("no file begins with records");
    [pages, links, hidden].into_iter().flatten().fold(sentence, |all, more| all.and("; ").join(&more))
}

/// Prints the end of the report and returns the exit code. `said`: further text for the last line.
fn finish(options: &Check, outcome: &CheckOutcome, said: &Shown, out: &mut Out) -> u8 {
    let (format, counts) = (options.format(), &outcome.counts);
    let summary = Totals { records: counts.records, findings: counts.findings };
    let mut end = Vec::new();
    format.end(&mut end);
    out.write(&end);
    out.flush();
    out.complain_of(outcome.notes.iter().map(|(name, note)| shown!("{name}: {note}")));
    out.complain_of(outcome.unread().map(Shown::from));
    if counts.unprinted > 0 {
        out.complain(&shown!(
            "findings of {} more records not printed: the output would exceed {} times the input",
            grouped(counts.unprinted as usize),
            stepscope_io::pipeline::check::MAX_OUTPUT
        ));
    }
    if counts.faults > 0 {
        out.complain(&shown!("{} records could not be checked: internal error, please report it", counts.faults));
    }
    let sources = outcome.sources.values();
    let empty = || sources.clone().filter(|source| source.is_empty() && !(options.allow_empty && source.is_blank()));
    out.complain_of(empty().map(|source| shown!("cannot check {}: it holds no complete record", source.name)));
    let is_piped = options.paths.iter().all(|path| path.as_os_str() == "-") && !options.answers.docintel;
    let unread = outcome.unread().count();
    let is_expected = out.is_closed() || is_piped || options.allow_empty;
    let nothing = outcome.sources.is_empty() && unread == 0 && !is_expected;
    if nothing {
        out.complain(&shown!("nothing to check: {}", no_records(outcome)));
    }
    let foreign_sources = not_understood(options, outcome);
    out.complain_of(foreign_sources.iter().take(NAMED).map(|source| foreign(source)));
    if foreign_sources.len() > NAMED {
        out.complain(&shown!("and {} more files of no known format", foreign_sources.len() - NAMED));
    }
    // Engines have empty partitions, in files too.
    let failed = (nothing && options.fails_on(Some(Severity::Fatal)))
        || empty().next().is_some()
        || unread > 0
        || !foreign_sources.is_empty()
        || counts.faults > 0;
    // "Nothing found" is no news of what nobody could read.
    let understood = foreign_sources.len() < outcome.sources.len() || foreign_sources.is_empty();
    if (counts.records > 0 && understood) || !failed {
        let line = summary.line().join(said).join(&rest(outcome));
        let mut total = Vec::new();
        format.total(&line, &mut total);
        out.write(&total);
        match format {
            ReportFormat::Text => out.line(&line),
            ReportFormat::Short if !out.is_closed() => out.complain(&line),
            // Formats for programs have no last line; what could not be read is said beside them.
            _ if counts.skips.cut.is_some() || counts.skips.nul > 0 || counts.skips.commas > 0 => {
                out.complain(&counts.skips.phrase(counts.records));
            }
            _ => {}
        }
    }
    if failed {
        FAILED
    } else if options.fails_on(worst(outcome)) || (counts.skips.nul > 0 && options.fails_on(Some(Severity::Warning))) {
        FOUND
    } else {
        CLEAN
    }
}

fn worst(outcome: &CheckOutcome) -> Option<Severity> {
    let counted = Severity::ALL.into_iter().zip(outcome.counts.findings);
    counted.filter(|(_, count)| *count > 0).map(|(severity, _)| severity).min()
}

/// Describes what was passed over, and duplicate ids.
fn rest(outcome: &CheckOutcome) -> Shown {
    let mut rest = Shown::default();
    match outcome.unread().count() {
        0 => {}
        1 => rest = Shown::own("; 1 file could not be read"),
        n => rest = shown!("; {n} files could not be read"),
    }
    if outcome.counts.skips.total() > 0 {
        rest = rest.and("; ").join(&outcome.counts.skips.phrase(outcome.counts.records));
    }
    if outcome.passed_over > 0 {
        // Of most of them no more was looked at.
        let files = if outcome.passed_over == 1 { "file does" } else { "files do" };
        rest = rest.join(&shown!("; {} other {files} not begin with records", outcome.passed_over));
    }
    if outcome.links > 0 {
        let links = if outcome.links == 1 { "link" } else { "links" };
        rest = rest.join(&shown!("; {} {links} not followed", outcome.links));
    }
    if outcome.hidden > 0 {
        let names = if outcome.hidden == 1 { "hidden file or folder" } else { "hidden files and folders" };
        rest = rest.join(&shown!("; {} {names} left out", outcome.hidden));
    }
    if !outcome.duplicates.is_empty() {
        // Of several files each line says whose it is.
        let file = |source| match outcome.sources.get(source) {
            Some(source) if outcome.sources.len() > 1 => shown!("{} ", source.name),
            _ => Shown::default(),
        };
        let named = outcome.duplicates.iter().map(|twice| match (file(&twice.source), twice.first, twice.line) {
            (file, first, line) if first == line => shown!("{file}line {line} has an id twice"),
            (file, first, line) => shown!("{file}line {line} has the id of line {first}"),
        });
        let named = Shown::listed(named, NAMED);
        let records = if outcome.duplicates.len() == 1 { "record repeats" } else { "records repeat" };
        rest = rest.join(&shown!("; {} {records} an id: {named}", outcome.duplicates.len()));
    }
    rest
}

/// Schema that `--schema` or `--answer-schema` names.
enum SchemaChoice {
    Published(PublishedSchema),
    /// The schema of a file, and the file.
    Own(Box<Schema>, Shown),
}

impl SchemaChoice {
    fn schema(&self) -> &Schema {
        match self {
            Self::Published(named) => schema_named(*named),
            Self::Own(schema, _) => schema,
        }
    }
}

fn answer_schema(name: &str) -> Result<SchemaChoice, Shown> {
    if let Some(schema) = AnswerSchema::named(name) {
        return Ok(SchemaChoice::Published(schema));
    }
    let path = Path::new(name);
    let fail = |why: &Shown| {
        shown!(
            "cannot use the schema {}: {why}; use general, bool, gsm, gsm@1.0, arc or a JSON Schema file",
            Shown::path(path)
        )
    };
    let text = read_small(path, MAX_SCHEMA, "cannot read").map_err(|failure| fail(&failure.source))?;
    let schema = Schema::compile_as_declared(&text).map_err(|failure| fail(&shown!("{failure}")))?;
    Ok(SchemaChoice::Own(Box::new(schema), Shown::path(path)))
}
