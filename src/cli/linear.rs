//! `--linear`: reading and reviewing line by line, for screen readers, slow links and terminals that cannot place text.
//! The record is told fault first; numbered choices follow, and each prompt is one line.

use std::io::{BufRead, IsTerminal as _, stdin};
use std::sync::Arc;

use crate::cli::codes::{CLEAN, FAILED};
use crate::cli::options::threads;
use crate::cli::out::{Colour, Out};
use crate::cli::peer_args::with_peers;
use crate::cli::review::by_line::{GivenVerdict, LineReview};
use crate::cli::screen::ScreenArgs;
use stepscope_base::guard::{FAULT, guarded};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::Folders;
use stepscope_io::config::types;
use stepscope_io::config::verifiers::judge;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::source::input::{samples, unreadable};
use stepscope_judge::hide::Hide;
use stepscope_record::finding::{Finding, counted};
use stepscope_report::text::Look;
use stepscope_report::whole::{self, RecordPart};
use stepscope_review::event::Verdict;

use asked::{Prompts, Said};
use records::{LineRecord, Records};

mod asked;
mod records;

/// Number of steps that are read out at once; more are asked for one by one.
const MAX_STEPS: usize = 200;

/// What can be chosen at a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LineChoice {
    NextWrong,
    Next,
    Previous,
    GoTo,
    Findings,
    Steps,
    Step,
    Place,
    Review,
    Pass,
    Fail,
    Defer,
    Skip,
    Note,
    Undo,
    Quit,
}

impl LineChoice {
    const fn word(self) -> &'static str {
        match self {
            Self::NextWrong => "next wrong record",
            Self::Next => "next record",
            Self::Previous => "previous record",
            Self::GoTo => "go to a record",
            Self::Findings => "findings",
            Self::Steps => "steps",
            Self::Step => "one step with its state",
            Self::Place => "where it is",
            Self::Review => "review",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Defer => "defer",
            Self::Skip => "skip",
            Self::Note => "note",
            Self::Undo => "undo",
            Self::Quit => "quit",
        }
    }
}

/// Reads line by line what the screen would show; returns the exit code.
pub fn run(screen: &ScreenArgs, out: &mut Out) -> Result<u8, Shown> {
    let paths = screen.answers.with(&screen.paths);
    if paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Shown::own("with --linear standard input holds what you choose; pass the records as a file"));
    }
    if screen.reviewing.repeat > 0.0 {
        return Err(Shown::own("--repeat needs the screen"));
    }
    let missing = unreadable(&paths);
    for failure in &missing {
        out.complain(&failure.into());
    }
    if !missing.is_empty() && missing.len() == paths.len() {
        return Ok(FAILED);
    }
    let inputs = if paths.is_empty() { samples() } else { screen.answers.expand(&screen.paths)? };
    let hide = Hide::of(screen.reviewing.hide.iter().copied());
    let records = Records::read(inputs, &side_data(screen, out)?, screen.filter.as_deref(), hide)?;
    if records.is_empty() {
        return Err(Shown::own(if screen.filter.is_some() { "no record fits --filter" } else { "no records" }));
    }
    let stdin = stdin();
    let mut reading = Reading {
        look: out.look(Colour::Never),
        prompts: Prompts::new(stdin.lock(), stdin.is_terminal()),
        records,
        at: 0,
        review: None,
        screen,
    };
    let done = reading.go(out)?;
    Ok(if missing.is_empty() { done } else { FAILED })
}

/// Gathers what helps to judge the records.
fn side_data(screen: &ScreenArgs, out: &Out) -> Result<Arc<SideData>, Shown> {
    let config = Folders::find(screen.config_dir.as_deref()).config;
    let types = types::read_all(config.as_deref(), screen.schemas.as_deref())?;
    let judge = screen.judge.wanted().map(|wanted| judge(&wanted, &screen.judge.field)).transpose()?;
    let threads = threads(None);
    let side = SideData::knowing(Arc::new(types)).with_columns(screen.answers.tables.map()?);
    let side = side.with_baseline(screen.baseline.clone(), threads).judged_by(judge);
    if screen.peers.is_empty() { Ok(Arc::new(side)) } else { with_peers(side, &screen.peers, threads, out) }
}

/// A person who reads, at a record.
struct Reading<'s, R> {
    look: Look,
    prompts: Prompts<R>,
    records: Records,
    /// Place of the record in front, from 0.
    at: usize,
    review: Option<LineReview>,
    screen: &'s ScreenArgs,
}

impl<R: BufRead> Reading<'_, R> {
    /// Reads until the person has enough; returns the exit code.
    fn go(&mut self, out: &mut Out) -> Result<u8, Shown> {
        out.line(&self.records.told());
        out.line(&Shown::own("Type a number or a word and Enter. ? lists the choices, q quits."));
        if let Some(id) = &self.screen.id {
            self.at =
                self.records.of_id(id).ok_or_else(|| shown!("no record has the id {}", Shown::line(id.as_bytes())))?;
        }
        if self.screen.reviewing.begins() {
            self.begin_review(out)?;
        }
        let mut is_new = true;
        loop {
            let Some(record) = guarded(|| self.front(std::mem::take(&mut is_new), out)).transpose()? else {
                out.complain(&shown!("Record {} of {}: {FAULT}", self.at + 1, self.records.len()));
                if self.at + 1 == self.records.len() {
                    return Ok(FAILED);
                }
                (self.at, is_new) = (self.at + 1, true);
                continue;
            };
            let choices = self.choices(&record);
            let words: Vec<&str> = choices.iter().map(|choice| choice.word()).collect();
            let chosen = match self.prompts.choose("Choice", &words, out) {
                Said::Choice(n) => choices.get(n).copied(),
                Said::Ended => Some(LineChoice::Quit),
                Said::Unclear => None,
            };
            if out.is_closed() {
                return Ok(CLEAN);
            }
            match chosen {
                Some(LineChoice::Quit) => {
                    return Ok(if self.review.as_ref().is_some_and(LineReview::has_failed) { FAILED } else { CLEAN });
                }
                Some(choice) => match guarded(|| self.act(choice, &record, out)).transpose()? {
                    Some(is_other) => is_new = is_other,
                    None => out.complain(&Shown::own(FAULT)),
                },
                None => {}
            }
        }
    }

    /// Opens the record in front, and tells it if it is new.
    fn front(&self, is_new: bool, out: &mut Out) -> Result<LineRecord, Shown> {
        let record = self.records.open(self.at)?;
        if is_new {
            self.tell(&record, out);
            if let Some(step) = self.screen.step.filter(|_| self.screen.id.is_some()) {
                self.tell_step(&record, step, out);
            }
        }
        Ok(record)
    }

    /// Lists what can be chosen at a record, the likeliest first.
    fn choices(&self, record: &LineRecord) -> Vec<LineChoice> {
        use LineChoice as C;
        let mut choices = Vec::new();
        if let Some(review) = &self.review {
            choices.extend([C::Pass, C::Fail, C::Defer, C::Skip, C::Note]);
            choices.extend(review.can_undo().then_some(C::Undo));
        }
        let view = record.case.view();
        choices.extend((!view.findings().is_empty()).then_some(C::Findings));
        choices.extend((record.steps() > 0).then_some([C::Steps, C::Step]).into_iter().flatten());
        choices.extend(self.records.next_wrong(self.at).map(|_| C::NextWrong));
        choices.extend((self.at + 1 < self.records.len()).then_some(C::Next));
        choices.extend((self.at > 0).then_some(C::Previous));
        choices.extend((self.records.len() > 1).then_some(C::GoTo));
        choices.push(C::Place);
        choices.extend(self.review.is_none().then_some(C::Review));
        choices.push(C::Quit);
        choices
    }

    /// Does what was chosen; tells whether another record is in front then.
    fn act(&mut self, choice: LineChoice, record: &LineRecord, out: &mut Out) -> Result<bool, Shown> {
        let before = self.at;
        match choice {
            LineChoice::NextWrong => self.at = self.records.next_wrong(self.at).unwrap_or(self.at),
            LineChoice::Next => self.at = (self.at + 1).min(self.records.len() - 1),
            LineChoice::Previous => self.at = self.at.saturating_sub(1),
            LineChoice::GoTo => {
                let asked = shown!("Record (1 to {})", self.records.len());
                self.at = self.prompts.number(&asked, self.records.len(), out).map_or(self.at, |number| number - 1);
            }
            LineChoice::Findings => Self::tell_findings(record, out),
            LineChoice::Steps => {
                (1..=record.steps().min(MAX_STEPS)).for_each(|step| self.tell_part(record, step, false, out))
            }
            LineChoice::Step => {
                let asked = shown!("Step (1 to {})", record.steps());
                if let Some(step) = self.prompts.number(&asked, record.steps(), out) {
                    self.tell_step(record, step, out);
                }
            }
            LineChoice::Place => out.line(&record.place()),
            LineChoice::Review => {
                self.begin_review(out)?;
                return Ok(true);
            }
            LineChoice::Pass => self.judge(Verdict::Pass, record, out),
            LineChoice::Fail => self.judge(Verdict::Fail, record, out),
            LineChoice::Defer => self.judge(Verdict::Defer, record, out),
            LineChoice::Skip => self.judge(Verdict::Skip, record, out),
            LineChoice::Note => {
                let note = self.prompts.text("Note (Enter alone: none)", out);
                if let (Some(note), Some(review)) = (note, &mut self.review) {
                    review.note(record.summary(), self.records.hide(), note, out);
                }
            }
            LineChoice::Undo => {
                let item = self.review.as_mut().and_then(|review| review.undo(out));
                self.at = item.and_then(|item| self.records.of_item(&item)).unwrap_or(self.at);
            }
            LineChoice::Quit => {}
        }
        Ok(self.at != before)
    }

    /// Begins a review, in the order that the options say.
    fn begin_review(&mut self, out: &mut Out) -> Result<(), Shown> {
        let review = {
            let options = &self.screen.reviewing;
            LineReview::open(&self.screen.paths, &options.reviews, options.who.reviewer(), out)?
        };
        if let Some(queue) = self.screen.reviewing.order() {
            self.records.queue(&queue);
            if self.records.is_empty() {
                return Err(Shown::own("no record is in this queue"));
            }
            self.at = 0;
        }
        out.line(&review.greeting());
        self.review = Some(review);
        if self.screen.id.is_none() && !self.is_open(self.at) {
            self.next_open(out);
        }
        Ok(())
    }

    /// Gives a verdict and goes on to the next record without one.
    fn judge(&mut self, verdict: Verdict, record: &LineRecord, out: &mut Out) {
        let Some(review) = &mut self.review else { return };
        let mut given = GivenVerdict { verdict, labels: Vec::new(), note: None, drawn: None };
        if verdict == Verdict::Fail {
            let labels = review.labels(record.is_answer());
            let names: Vec<String> = labels.iter().map(|label| label.name.line().into_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let Some(chosen) = self.prompts.several("Labels (numbers between blanks, Enter alone: none)", &names, out)
            else {
                return out.line(&Shown::own("Not saved"));
            };
            given.labels = chosen.iter().filter_map(|n| Some(labels.get(*n)?.id.clone())).collect();
            given.note = self.prompts.text("Note (Enter alone: none)", out);
        }
        given.drawn = self
            .screen
            .reviewing
            .order()
            .filter(|_| self.screen.filter.is_none())
            .and_then(|queue| queue.drawn(&record.row));
        if review.judge(record.summary(), self.records.hide(), &given, out) {
            self.next_open(out);
        }
    }

    /// Tells whether a record needs a verdict yet.
    fn is_open(&self, at: usize) -> bool {
        let Some(review) = &self.review else { return true };
        guarded(|| self.records.open(at).is_ok_and(|record| !review.is_done(record.summary()))) == Some(true)
    }

    /// Goes to the next record without a verdict, from the beginning again where there is none behind this one.
    fn next_open(&mut self, out: &mut Out) {
        let count = self.records.len();
        match (1..=count).map(|by| (self.at + by) % count).find(|at| self.is_open(*at)) {
            Some(at) => self.at = at,
            None => out.line(&shown!("Queue done: {} reviewed", counted(count, "record"))),
        }
    }

    /// Tells a record: which one, whether it is right, the question, the answer, and where to fix it.
    fn tell(&self, record: &LineRecord, out: &mut Out) {
        out.line(&shown!("\nRecord {} of {}", self.at + 1, self.records.len()));
        if let Some(routed) = record.case.view().routed().filter(|_| !self.records.hide().hides_route()) {
            let why = routed.triggers.iter().find(|trigger| trigger.route == routed.route);
            let why = why.map_or_else(|| Shown::own(routed.route.phrase()), |trigger| trigger.why.line());
            out.line(&shown!("{}: {why}", routed.route.word()));
        }
        if let Some(said) = self.review.as_ref().and_then(|review| review.said_of(record.summary())) {
            out.line(&said);
        }
        let part = RecordPart { brief: true, hide: self.records.hide(), ..RecordPart::default() };
        out.styled(&whole::record(part, &record.case.view(), &self.look, false, usize::MAX).out);
        if record.case.view().record.is_none() {
            return Self::tell_findings(record, out);
        }
        let counts = [(record.case.view().findings().len(), "finding"), (record.steps(), "step")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        out.line(&Shown::listed(counts.map(|(count, what)| shown!("{}", counted(count, what))), usize::MAX));
    }

    /// Tells what was found, a line each.
    fn tell_findings(record: &LineRecord, out: &mut Out) {
        let view = record.case.view();
        let line = |(n, finding): (usize, &Finding)| {
            let help = finding.help.map_or_else(Shown::default, |help| shown!(" {help}"));
            let message = finding.message.line();
            shown!("{}. {}, {}: {message}{help}", n + 1, finding.severity, finding.rule)
        };
        view.findings().iter().enumerate().map(line).for_each(|line| out.line(&line));
    }

    /// Tells a step with the global state before and after it.
    fn tell_step(&self, record: &LineRecord, step: usize, out: &mut Out) {
        self.tell_part(record, step, true, out);
    }

    fn tell_part(&self, record: &LineRecord, step: usize, state: bool, out: &mut Out) {
        let part = RecordPart { step: Some(step), state, ..RecordPart::default() };
        let told = whole::record(part, &record.case.view(), &self.look, false, usize::MAX);
        out.styled(&told.out);
        told.refused.iter().for_each(|why| out.line(why));
    }
}
