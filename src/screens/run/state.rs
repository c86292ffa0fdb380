//! The run screen's state: which step, which pane, which variable. It owns its changes; `update` only routes to it.

use std::collections::HashMap;

use ratatui::layout::Rect;

use crate::app::open_record::OpenRecord;
use crate::app::sought::Sought;
use crate::dialogs::derivation::Tree;
use crate::screens::answer::state::{AnswerPane, AnswerView};
use crate::screens::json::state::Outline;
use crate::screens::kind::ScreenKind;
use crate::screens::run::edits::Edits;
use crate::screens::run::find::{Find, Hit, match_end, matching_nodes};
use crate::screens::run::pane::{Opens, RunPane};
use crate::widgets::keymap::{Action, Keymap, Reason};
use crate::widgets::layout::{inner_height, inner_width};
use crate::widgets::list::{List, Move, scroll};
use crate::widgets::panes::Areas;
use crate::widgets::{panes, prose};
use stepscope_base::json::Pointer;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::Document;
use stepscope_judge::recompute::standing::ToRecomputed;
use stepscope_judge::triage::Fix;
use stepscope_present::notes::Note;
use stepscope_present::steps::Detail;
use stepscope_present::variables::ShownValue;
use stepscope_present::variables::{VariableRow, WriteRow};
use stepscope_record::RecordKind;
use stepscope_record::finding::Severity;
use stepscope_record::procedure::FINAL_ANSWER;
use stepscope_record::state::Badge;
use stepscope_record::state::Influence;
use stepscope_record::state::Moment;

/// Lines below the findings from which on the place of one is shown.
const MIN_EXCERPT: usize = 10;
/// Steps whose prompts and replies are looked through.
const MAX_CALLS: usize = 500;
/// More lines than any text has.
const ENDLESS: usize = usize::MAX / 2;
/// The wrong value's way is followed among so many variables.
const MAX_FOLLOWED: usize = 500;

stepscope_base::words! {
    /// Tabs of the step pane.
    #[derive(Default)]
    pub enum Tab {
        /// The values that it reads and writes.
        #[default]
        Data = "data",
        /// The prompt.
        Prompt = "prompt",
        /// The schema that was asked for.
        Schema = "schema",
        /// The reply as it came.
        Reply = "reply",
    }
}

/// Places of the texts that may be with the step or with its prompt, true for the step, and the room for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WithStep {
    /// The reply.
    pub reply: bool,
    /// The step as the procedure writes it.
    pub written: bool,
    /// The step as the procedure writes it is in few lines.
    pub dense: bool,
    /// Most lines of each value that the step reads or writes.
    pub value_lines: usize,
}

/// An open record whose file was replaced meanwhile.
#[derive(Debug)]
pub(crate) struct LostRecord {
    /// Hash of its text.
    pub(crate) hash: String,
    /// Its source: that of the file next to which its forks are kept.
    pub(crate) source: usize,
    /// State of the search for it.
    pub(crate) search: LostSearch,
}

/// Search for a record whose file was replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LostSearch {
    /// To be done, once all records are there.
    Due,
    /// Under way.
    Running,
    /// None of the records was it.
    Failed,
}

/// The open record and everything about how it is looked at.
#[derive(Debug)]
pub struct RecordView {
    /// The record.
    pub opened: OpenRecord,
    /// The record as it has to be found again, where its file was replaced: until then its number means nothing.
    pub(crate) lost: Option<LostRecord>,
    /// Number of steps that have run at the moment that is shown; 0 is the start.
    pub moment: Moment,
    /// The pane that has the keys.
    pub pane: RunPane,
    /// True if that pane fills the screen.
    pub maximised: bool,
    /// Areas of the panes, as they were laid out last.
    pub(crate) areas: Areas<RunPane>,
    /// The place of the texts that two panes share, as they were laid out last.
    pub(crate) with_step: WithStep,
    /// Places of the panes of step and call that this was chosen for; `None`: it has to be chosen anew.
    pub(crate) shared_for: Option<[Rect; 2]>,
    /// Cursor of the variables.
    pub variables: List,
    /// Cursor of the findings.
    pub findings: List,
    /// Cursors of the other panes, and the first line of each on screen.
    lists: HashMap<RunPane, List>,
    /// Derivation of the value that the finding under the cursor is about, else of the step to fix.
    pub(crate) derivation: Option<Tree>,
    /// The place of the finding under the cursor in the record, its number and width: worked out once.
    pub(crate) excerpt: Vec<Shown>,
    excerpted: Option<(usize, usize)>,
    /// Subject of the derivation: variable and step.
    derived: Option<(usize, usize)>,
    /// The wrong value's way to the answer.
    pub(crate) wrong: WrongPath,
    /// The peer whose values come first, by position.
    pub(crate) peer: usize,
    /// Tab that the step pane shows.
    pub tab: Tab,
    /// The current step in full.
    pub detail: Detail,
    /// The other end of the difference.
    pub anchor: Option<Moment>,
    /// Influences on the chosen variable, while the state pane has the keys.
    pub influence: Option<Influence>,
    /// The quantity of the question that the cursor is on, while the question has the keys.
    pub quantity: Option<usize>,
    /// The byte of the question that is to be brought on screen.
    question_moved: Option<usize>,
    /// Structured answer, if the record is one.
    pub answer: Option<AnswerView>,
    /// Pending edits: variable values and a prompt.
    pub edits: Edits,
    /// Name of the execution: `rec`, or `r1` and so on for a fork.
    pub execution: String,
    /// The record as JSON.
    pub outline: Outline,
    /// True if it is shown as JSON.
    pub json: bool,
    /// The search in it.
    pub find: Find,
    /// Width, and the number of lines that a record that is not JSON takes in it.
    raw_lines: Option<(usize, usize)>,
}

/// Path of a wrong value, from the step to fix to the answer: variables and the steps that wrote them wrong.
#[derive(Debug, Default)]
pub(crate) struct WrongPath(Vec<(usize, usize)>);

impl WrongPath {
    /// Follows the step to fix of a run to the answer, where that step is known.
    fn of(opened: &OpenRecord) -> Self {
        let Some(first) = opened.where_to_fix.as_ref().and_then(|verdict| verdict.step) else { return Self::default() };
        if opened.correct == Some(true) || opened.variables.len() > MAX_FOLLOWED {
            return Self::default();
        }
        let to_answer = opened
            .variables
            .iter()
            .position(|row| row.name.as_str() == FINAL_ANSWER)
            .map(|answer| opened.influence(answer));
        let mut wrong: Vec<(usize, usize)> = Vec::new();
        for step in first..opened.steps.len() {
            let reads_wrong = wrong.iter().any(|(variable, _)| {
                opened.variables.get(*variable).is_some_and(|row| row.readers.binary_search(&step).is_ok())
            });
            if step != first && !reads_wrong {
                continue;
            }
            for (variable, row) in opened.variables.iter().enumerate() {
                let leads = to_answer.as_ref().is_none_or(|influence| influence.has_variable(variable));
                let ends = row.name.as_str().starts_with(FINAL_ANSWER);
                let writes = row.writes.iter().any(|write| write.step == Some(step) && write.value.is_some());
                if writes && (leads || ends) {
                    wrong.push((variable, step));
                }
            }
        }
        Self(wrong)
    }

    /// Returns the step from which on a variable is wrong.
    pub(crate) fn since(&self, variable: usize) -> Option<usize> {
        self.0.iter().find(|(other, _)| *other == variable).map(|(_, step)| *step)
    }
}

impl RecordView {
    /// Looks at a record where it went wrong, else at its end, where the answer is.
    pub fn new(mut opened: OpenRecord) -> Self {
        let (structured, route) = (opened.content.structured.take(), opened.route);
        let answer = structured.map(|structured| AnswerView::new(*structured, &opened.notes, route));
        let steps = opened.steps.len();
        let outline = opened.root().map(Outline::new).unwrap_or_default();
        let mut view = Self {
            moment: opened.opening,
            opened,
            lost: None,
            pane: RunPane::Steps,
            maximised: false,
            areas: Areas::default(),
            with_step: WithStep::USUAL,
            shared_for: None,
            variables: List::default(),
            findings: List::default(),
            lists: HashMap::new(),
            derivation: None,
            excerpt: Vec::new(),
            excerpted: None,
            derived: None,
            wrong: WrongPath::default(),
            peer: 0,
            tab: Tab::Data,
            detail: Detail::default(),
            anchor: None,
            influence: None,
            quantity: None,
            question_moved: None,
            answer,
            edits: Edits::default(),
            execution: String::new(),
            outline,
            json: false,
            find: Find::default(),
            raw_lines: None,
        };
        view.json = view.own_kind() == ScreenKind::Json;
        if steps == 0 {
            view.pane = match view.own_kind() {
                ScreenKind::Run if view.opened.conversation.is_long() => RunPane::Messages,
                ScreenKind::Run => RunPane::Step,
                _ => RunPane::State,
            };
        }
        view.variables.at = view.answer_variable();
        view.wrong = WrongPath::of(&view.opened);
        view.begin_at_fault();
        view.refresh();
        view
    }

    /// Returns the kind of screen that it is on.
    pub fn kind(&self) -> ScreenKind {
        if self.json { ScreenKind::Json } else { self.own_kind() }
    }

    /// Returns the screen that its kind of record has besides its JSON.
    pub fn own_kind(&self) -> ScreenKind {
        match self.opened.kind {
            RecordKind::Typed => ScreenKind::Answer,
            RecordKind::Answer | RecordKind::Broken | RecordKind::Unknown => ScreenKind::Json,
            _ => ScreenKind::Run,
        }
    }

    /// Returns the document that a structured answer cites.
    pub(crate) fn document(&self) -> Option<&Document> {
        self.answer.as_ref()?.shown.document.as_deref()
    }

    /// Returns the variable that everything leads to.
    fn answer_variable(&self) -> usize {
        let variables = &self.opened.variables;
        let named = variables.iter().position(|row| row.name.as_str() == FINAL_ANSWER);
        named.unwrap_or_else(|| variables.len().saturating_sub(1))
    }

    /// Returns the prompt that was edited for the current step.
    pub(crate) fn edited_prompt(&self) -> Option<&Untrusted<'static>> {
        self.edits.prompt.as_ref().filter(|(step, _)| Some(*step) == self.step()).map(|(_, prompt)| prompt)
    }

    /// Returns the step that is asked next: the current one, or the one before which values were edited.
    pub(crate) fn step_to_ask(&self) -> Option<usize> {
        if self.edits.values.is_empty() { self.step() } else { Some(self.edits.step) }
    }

    /// Returns the position of the current step; `None` at the start.
    pub fn step(&self) -> Option<usize> {
        self.moment.0.checked_sub(1)
    }

    /// Goes to a moment.
    pub fn go_to_moment(&mut self, moment: usize) {
        let before = std::mem::replace(&mut self.moment, Moment(moment.min(self.opened.steps.len())));
        self.mark_step();
        self.show_step_from_its_beginning();
        if self.moment != before {
            self.refresh_detail();
        }
        // What can influence a variable is the same at every moment.
        if self.pane != RunPane::State {
            self.influence = None;
        }
    }

    /// Puts the cursor of the steps on the current one.
    fn mark_step(&mut self) {
        self.list_mut(RunPane::Steps).at = self.moment.0.saturating_sub(1);
        self.mark_messages();
    }

    /// Puts the cursor of the messages on the reply of the current step, else on the last message of it.
    fn mark_messages(&mut self) {
        let step = self.step().unwrap_or(0);
        let last = self.opened.conversation.messages.iter().rposition(|message| message.step == step);
        self.list_mut(RunPane::Messages).at = last.unwrap_or(0);
    }

    fn show_step_from_its_beginning(&mut self) {
        for pane in [RunPane::Step, RunPane::Call] {
            self.list_mut(pane).top = 0;
        }
    }

    /// Goes to a moment step by step: the cursor of the state pane moves to what the step writes, unless that pane has
    /// the keys.
    pub(crate) fn walk_to(&mut self, moment: usize) {
        self.go_to_moment(moment);
        if self.pane != RunPane::State {
            let written = self.detail.writes.first().or_else(|| self.detail.reads.first());
            self.variables.at = written.map_or(0, |value| value.variable);
        }
    }

    /// Puts the cursors on what the record opens at: the finding that names the step, and the value that is wrong there.
    fn begin_at_fault(&mut self) {
        self.mark_step();
        let Some(step) =
            self.step().filter(|_| self.moment != self.opened.end() || self.opened.step_to_fix().is_some())
        else {
            return;
        };
        let names = |note: &Note| note.step == Some(step);
        self.findings.at = self.opened.notes.iter().position(names).unwrap_or(0);
        let writes = |row: &VariableRow| row.writes.iter().any(|write| write.step == Some(step));
        let of_track = self.opened.tracks.get(step).and_then(Option::as_ref).map(|track| &track.name);
        let variables = &self.opened.variables;
        let written = variables.iter().position(|row| Some(&row.name) == of_track && writes(row));
        if let Some(variable) = written.or_else(|| variables.iter().position(writes)) {
            self.variables.at = variable;
        }
    }

    /// Returns the step whose run is to be fixed: running it again may do that.
    pub(crate) fn step_to_rerun(&self) -> Option<usize> {
        let verdict = self.opened.where_to_fix.as_ref()?;
        verdict.step.filter(|_| verdict.fix == Fix::StepRun)
    }

    /// Checks whether there is a step to walk to; `Err`: why not.
    pub(crate) fn may_walk(&self, steps: isize) -> Result<(), Reason> {
        let next = self.moment.0.saturating_add_signed(steps).min(self.opened.steps.len());
        match (next == self.moment.0, steps > 0) {
            (false, _) => Ok(()),
            (true, true) => Err("this is the last step"),
            (true, false) => Err("this is the start, before step 1"),
        }
    }

    /// Walks some steps on or back; an error says why the moment is the same as before.
    pub(crate) fn walk_by(&mut self, steps: isize) -> Result<(), Reason> {
        self.may_walk(steps)?;
        self.walk_to(self.moment.0.saturating_add_signed(steps));
        Ok(())
    }

    /// Goes to a step by its position.
    pub(crate) fn go_to_step(&mut self, step: usize) {
        self.go_to_moment(step + 1);
    }

    pub(crate) fn refresh(&mut self) {
        self.refresh_detail();
        self.refresh_influence();
    }

    fn refresh_detail(&mut self) {
        let creation = || self.opened.prepared.creation.clone();
        self.detail = self.step().map_or_else(creation, |step| self.opened.detail(step));
        self.shared_for = None;
    }

    fn refresh_influence(&mut self) {
        self.influence = (self.pane == RunPane::State && self.opened.has_steps() && !self.opened.variables.is_empty())
            .then(|| self.opened.influence(self.variables.at));
    }

    /// Gives the keys to a pane.
    pub fn focus(&mut self, pane: RunPane) {
        self.pane = pane;
        self.refresh_influence();
    }

    /// Returns the cursor of a pane, and the first line of it on screen.
    pub(crate) fn list(&self, pane: RunPane) -> List {
        match pane {
            RunPane::State => self.variables,
            RunPane::Findings => self.findings,
            other => self.lists.get(&other).copied().unwrap_or_default(),
        }
    }

    pub(crate) fn list_mut(&mut self, pane: RunPane) -> &mut List {
        match pane {
            RunPane::State => &mut self.variables,
            RunPane::Findings => &mut self.findings,
            other => self.lists.entry(other).or_default(),
        }
    }

    /// Scrolls a pane. How long its text is only its layout knows, which keeps it on screen.
    pub(crate) fn scroll_pane(&mut self, pane: RunPane, movement: Move) {
        let height = self.areas.height(pane);
        scroll(&mut self.list_mut(pane).top, movement, ENDLESS, height);
    }

    /// Walks in a list of the steps.
    pub(crate) fn walk_in_list(&mut self, pane: RunPane, movement: Move) {
        let (steps, height) = (self.opened.steps.len(), self.areas.height(pane));
        let list = self.list_mut(pane);
        list.go(movement, steps, height);
        let at = list.at;
        if self.opened.has_steps() {
            self.walk_to(at + 1);
        }
    }

    /// Moves the cursor of the variables.
    pub(crate) fn walk_variables(&mut self, pane: RunPane, movement: Move) {
        // One line of the pane is its heading.
        self.variables.go(movement, self.opened.variables.len(), self.areas.height(pane).saturating_sub(1));
        self.refresh_influence();
    }

    /// Moves the cursor of the findings.
    pub(crate) fn walk_findings(&mut self, pane: RunPane, movement: Move) {
        self.findings.go(movement, self.opened.notes.len(), self.areas.height(pane));
    }

    /// Moves the cursor of the messages, and goes to the step of the one that it is on.
    pub(crate) fn walk_messages(&mut self, pane: RunPane, movement: Move) {
        let (count, height) = (self.opened.conversation.messages.len(), self.areas.height(pane));
        self.list_mut(pane).go(movement, count, height);
        self.show_message();
    }

    /// Goes to the step of the message under the cursor.
    pub(crate) fn show_message(&mut self) {
        let list = self.list(RunPane::Messages);
        let step = self.opened.conversation.messages.get(list.at).map(|message| message.step);
        if let Some(step) = step.filter(|_| self.opened.has_steps()) {
            self.walk_to(step + 1);
            *self.list_mut(RunPane::Messages) = list;
        }
    }

    /// Walks the steps by `Left` and `Right`.
    pub(crate) fn step_sideways(&mut self, by: isize) -> Result<Option<Shown>, Reason> {
        if self.opened.has_steps() {
            self.walk_by(by)?;
        }
        Ok(None)
    }

    /// Turns the tabs of the step by `Left` and `Right`.
    pub(crate) fn walk_tabs(&mut self, by: isize) -> Result<Option<Shown>, Reason> {
        self.turn_to_tab(panes::turn(&Tab::ALL, self.tab, by));
        Ok(None)
    }

    /// Walks the quantities of the question by `Left` and `Right`, and says what the next one is.
    pub(crate) fn walk_quantities(&mut self, by: isize) -> Result<Option<Shown>, Reason> {
        self.next_quantity(by);
        Ok(self.quantity_sentence())
    }

    /// Chooses the peer so many further, in front of the others; the first press only shows the chosen one.
    pub(crate) fn next_peer(&mut self, by: isize) {
        let is_there = self.pane == RunPane::Peers;
        self.focus(RunPane::Peers);
        let by = if is_there { by } else { by - by.signum() };
        self.turn_peers(by);
    }

    fn turn_peers(&mut self, by: isize) {
        let count = self.opened.peers.as_ref().map_or(0, |peers| peers.names().len());
        if count > 0 {
            self.peer = panes::turn_to(Some(self.peer.min(count - 1)), by, count);
        }
    }

    /// Walks the peers by `Left` and `Right`.
    pub(crate) fn walk_peers(&mut self, by: isize) -> Result<Option<Shown>, Reason> {
        self.turn_peers(by);
        Ok(None)
    }

    /// Returns what every peer has in the place of each value of the step, with a title.
    pub(crate) fn text_of_peers(&self) -> Option<(Shown, Shown)> {
        let (peers, step) = (self.opened.peers.as_ref()?, self.step()?);
        let mut lines = Vec::new();
        let answer = peers.answer().filter(|_| step + 1 == self.opened.steps.len());
        for value in peers.values_of(step).iter().chain(answer) {
            let formula = value.formula.as_ref().map_or_else(Shown::default, |formula| shown!(" as {formula}"));
            lines.push(shown!("{}{formula}", value.shown()).into_string());
            for (name, counterpart) in peers.names().iter().zip(&value.counterparts) {
                lines.push(shown!("  {} {name}: {}", counterpart.sign(), value.phrase(*counterpart)).into_string());
            }
        }
        Some((shown!("step {} and its peers", step + 1), shown!("{}", lines.join("\n"))))
    }

    /// Shows the step of a list in full.
    pub(crate) fn go_into_step(&mut self) -> Opens {
        self.focus(RunPane::Step);
        Opens::Nothing
    }

    /// Opens the place of the finding under the cursor.
    pub(crate) fn open_finding(&mut self) -> Opens {
        self.show_finding();
        Opens::Json
    }

    /// Opens the derivation of the chosen variable, else its value.
    pub(crate) fn open_variable(&mut self) -> Opens {
        let value = || self.chosen_variable().map(|(title, text)| Opens::Text(title, text));
        self.chosen_derivation().map(Opens::Derivation).or_else(value).unwrap_or(Opens::Nothing)
    }

    /// Counts the lines that the question takes.
    pub(crate) fn question_lines(&self, width: usize) -> usize {
        prose::wrap(self.opened.question_text().as_str(), width).len()
    }

    /// Counts the lines that a record that is not JSON takes; once per width, since every key asks.
    pub(crate) fn raw_lines(&mut self, width: usize, count: impl Fn(&Self, usize) -> usize) -> usize {
        if let Some((_, lines)) = self.raw_lines.filter(|(known, _)| *known == width) {
            return lines;
        }
        let lines = count(self, width);
        self.raw_lines = Some((width, lines));
        lines
    }

    /// Works out again what belongs to the finding under the cursor, where the pane is now.
    pub(crate) fn refresh_finding(&mut self) {
        self.refresh_derivation();
        self.refresh_excerpt();
    }

    /// Keeps the lines of the question on screen, and brings there what is to be; a hidden pane keeps its place.
    pub(crate) fn settle_question(&mut self, area: Rect) {
        let (width, height) = (inner_width(area), inner_height(area));
        if height == 0 {
            return;
        }
        if let Some(byte) = self.question_moved.take() {
            let lines = prose::wrap(self.opened.question_text().as_str(), width);
            let line = lines.partition_point(|line| line.end <= byte);
            let list = self.list_mut(RunPane::Question);
            list.top = list.top.clamp((line + 1).saturating_sub(height), line);
        }
        // Fewer lines on a wider screen.
        let list = self.list(RunPane::Question).in_text(height, || self.question_lines(width));
        *self.list_mut(RunPane::Question) = list;
    }

    /// Scrolls the question in its pane.
    pub(crate) fn scroll_question(&mut self, movement: Move, area: Rect) {
        let lines = self.question_lines(inner_width(area));
        scroll(&mut self.list_mut(RunPane::Question).top, movement, lines, inner_height(area));
    }

    /// Shows a tab of the step pane from its beginning.
    pub(crate) fn turn_to_tab(&mut self, tab: Tab) {
        self.tab = tab;
        self.list_mut(RunPane::Step).top = 0;
    }

    /// Goes to the next quantity of the question, and to the variable that uses it.
    pub(crate) fn next_quantity(&mut self, by: isize) {
        let count = self.opened.computed.marks.len();
        if count > 0 {
            self.choose_quantity(panes::turn_to(self.quantity, by, count));
        }
    }

    /// Lights a quantity of the question and the first variable that took it up.
    pub(crate) fn choose_quantity(&mut self, quantity: usize) {
        self.quantity = Some(quantity);
        let Some(mark) = self.opened.computed.marks.get(quantity) else { return };
        self.question_moved = Some(mark.range.start);
        if let Some(&variable) = mark.variables.first() {
            self.choose_variable(variable);
        }
    }

    /// Moves the cursor of the lifelines to a variable.
    pub fn choose_variable(&mut self, variable: usize) {
        self.variables.at = variable;
        self.refresh_influence();
    }

    /// Lists the variables that use the chosen quantity.
    pub(crate) fn lit_variables(&self) -> &[usize] {
        let mark =
            self.quantity.filter(|_| self.pane == RunPane::Question).and_then(|n| self.opened.computed.marks.get(n));
        mark.map(|mark| mark.variables.as_slice()).unwrap_or_default()
    }

    /// Describes the chosen quantity, in a sentence.
    pub(crate) fn quantity_sentence(&self) -> Option<Shown> {
        let quantity = self.quantity?;
        let mark = self.opened.computed.marks.get(quantity)?;
        let names: Vec<&str> = mark
            .variables
            .iter()
            .filter_map(|variable| self.opened.variables.get(*variable))
            .map(|row| row.name.as_str())
            .collect();
        let taken = match names.as_slice() {
            [] if !self.opened.has_steps() => String::new(),
            [] => "; used by no variable".to_owned(),
            names => format!("; used by {}", names.join(", ")),
        };
        let words = self.opened.computed.words(quantity)?;
        let count = self.opened.computed.marks.len();
        Some(shown!("{}/{count}  “{words}”: {}{taken}", quantity + 1, mark.meaning))
    }

    /// Lists the quantities that are lit: the one under the cursor, else those of the chosen variable.
    pub(crate) fn lit_quantities(&self) -> Vec<usize> {
        match (self.pane, self.quantity) {
            (RunPane::Question, Some(quantity)) => vec![quantity],
            _ => self.opened.computed.taken.get(self.variables.at).cloned().unwrap_or_default(),
        }
    }

    /// Goes to the next finding, and to the step and variable it is about.
    pub(crate) fn next_finding(&mut self, by: isize) {
        let count = self.opened.notes.len();
        if count == 0 {
            return;
        }
        // The first press shows the finding under the cursor; only the next one moves on.
        let visited = self.pane == RunPane::Findings;
        let by = if visited { by } else { by - by.signum() };
        self.findings.at = panes::turn_to(Some(self.findings.at), by, count);
        self.pane = RunPane::Findings;
        self.show_finding();
    }

    /// Goes to the step and the variable that the finding under the cursor is about.
    pub(crate) fn show_finding(&mut self) {
        let Some(note) = self.opened.notes.get(self.findings.at) else { return };
        let (step, variable, pointer) = (note.step, note.variable, note.pointer.clone());
        if let Some(variable) = variable {
            self.variables.at = variable;
        }
        match step {
            Some(step) => self.go_to_step(step),
            None => self.refresh_influence(),
        }
        self.show_in_json(&pointer);
    }

    /// Moves the JSON view to the finding that the record opens at, if it has one.
    pub(crate) fn show_fault_in_json(&mut self) {
        if let Some(pointer) = self.opened.notes.get(self.findings.at).map(|note| note.pointer.clone()) {
            self.show_in_json(&pointer);
        }
    }

    /// Moves the JSON view to a place.
    pub(crate) fn show_in_json(&mut self, pointer: &Pointer) {
        if let Some(root) = self.opened.root() {
            self.outline.go_to(root, pointer);
        }
    }

    /// Returns the variable that `w` and `W` are about: the chosen one, else the first that the step reads.
    fn subject_variable(&self) -> Option<(usize, &VariableRow)> {
        let variable = match self.pane {
            RunPane::State | RunPane::Findings => self.variables.at,
            _ => self.detail.reads.first().or_else(|| self.detail.writes.first())?.variable,
        };
        Some((variable, self.opened.variables.get(variable)?))
    }

    /// Goes to a variable and a step, if they were found.
    pub(crate) fn go_to_found(&mut self, found: Result<(usize, usize), Reason>) -> Result<(), Reason> {
        let (variable, step) = found?;
        self.variables.at = variable;
        self.go_to_step(step);
        Ok(())
    }

    /// Returns the variable that `w` is about, and the step that writes it; of several the one that holds now, or the
    /// next.
    pub fn writer(&self) -> Result<(usize, usize), Reason> {
        let (variable, row) = self.subject_variable().ok_or("no variable selected")?;
        let holding =
            self.opened.write_at(variable, Moment(self.moment.0.saturating_sub(1))).and_then(|write| write.step);
        let step = holding.or_else(|| row.writes.iter().find_map(|write| write.step));
        let step = step.ok_or("no known writer")?;
        if self.step() == Some(step) {
            return Err("You are at the step that writes it");
        }
        Ok((variable, step))
    }

    /// Returns the variable that `W` is about, and the next step that reads it, from the last to the first.
    pub fn reader(&self) -> Result<(usize, usize), Reason> {
        let (variable, row) = self.subject_variable().ok_or("no variable selected")?;
        let here = self.moment.0;
        let next = row.readers.iter().copied().find(|&reader| reader + 1 > here);
        let step = next.or(row.readers.first().copied()).ok_or("read by no step")?;
        if self.step() == Some(step) {
            return Err("no other step reads it");
        }
        Ok((variable, step))
    }

    /// Turns the diff on or off; its other end is the moment before this step.
    pub(crate) fn toggle_difference(&mut self) {
        if self.anchor.take().is_none() {
            self.anchor = Some(Moment(self.moment.0.saturating_sub(1)));
            self.focus(RunPane::State);
        }
    }

    /// Counts the findings, by severity.
    pub fn counts(&self) -> [usize; 4] {
        Severity::ALL.map(|severity| self.opened.count(severity))
    }

    /// Returns the place of the current step in the record.
    pub(crate) fn pointer_of_step(&self) -> Option<Pointer> {
        self.opened.steps.get(self.step()?).map(|row| row.pointer.clone())
    }

    /// Returns the current step as a text, with a title.
    pub(crate) fn text_of_step(&self) -> Option<(Shown, Shown)> {
        Some((Shown::own("step"), self.detail.text.clone()))
    }

    /// Returns the value of the chosen variable at this moment, else its last one.
    pub(crate) fn chosen_value(&self) -> Option<&ShownValue> {
        let held = self.opened.write_at(self.variables.at, self.moment).and_then(|write| write.value.as_ref());
        held.or_else(|| self.opened.variables.get(self.variables.at)?.writes.last()?.value.as_ref())
    }

    /// Returns the chosen variable with its whole value.
    pub(crate) fn chosen_variable(&self) -> Option<(Shown, Shown)> {
        let name = self.opened.variables.get(self.variables.at)?.name.clone();
        let value = self.chosen_value()?;
        let whole = value.pointer.as_ref().and_then(|pointer| self.opened.value_at(pointer));
        Some((name, whole.unwrap_or_else(|| value.line.clone())))
    }

    /// Derives the computed value of the chosen variable, where one was worked out.
    pub fn chosen_derivation(&self) -> Option<Tree> {
        let (title, held) = self.chosen_variable().filter(|_| self.pane == RunPane::State)?;
        let write = self.opened.write_at(self.variables.at, self.moment)?;
        let derivation = self.opened.derivation(self.variables.at, write.step?)?;
        let held = (write.badge, Shown::line(held.as_str().as_bytes()));
        Some(Tree::of(title, held, &derivation, &self.opened))
    }

    /// Returns the derivation of the chosen variable where its pane has the keys, else of the value that the
    /// findings are about.
    pub(crate) fn derivation_here(&self) -> Option<Tree> {
        self.chosen_derivation().or_else(|| self.derivation.clone())
    }

    /// Tells whether there is such a derivation.
    pub(crate) fn can_prove(&self) -> bool {
        self.derivation.is_some() || self.chosen_derivation().is_some()
    }

    /// Returns the variable and step whose derivation belongs to the finding under the cursor, else to the step to fix.
    fn to_prove(&self) -> Option<(usize, usize)> {
        let is_computed = |place: &(usize, usize)| self.opened.computed.value_of(place.0, Some(place.1)).is_some();
        let note = self.opened.notes.get(self.findings.at);
        let own = note.and_then(|note| Some((note.variable?, note.step?))).filter(is_computed);
        let at = note.and_then(|note| note.step).or_else(|| self.opened.where_to_fix.as_ref()?.step)?;
        let differs = |place: &(usize, usize)| {
            let computed = self.opened.computed.value_of(place.0, Some(place.1));
            computed.is_some_and(|computed| computed.standing.relation == ToRecomputed::Differs)
        };
        let written = || (0..self.opened.variables.len().min(2_000)).map(|variable| (variable, at));
        own.or_else(|| written().find(differs)).or_else(|| written().find(is_computed))
    }

    /// Works out the derivation again where the finding under the cursor is about another value than before.
    fn refresh_derivation(&mut self) {
        let wanted = self.to_prove();
        if wanted == self.derived {
            return;
        }
        self.derived = wanted;
        self.derivation = wanted.and_then(|(variable, step)| {
            let row = self.opened.variables.get(variable)?;
            let write = row.writes.iter().find(|write| write.step == Some(step));
            let held = write.map_or((Badge::Missing, Shown::own("nothing")), |write| {
                (write.badge, write.value.as_ref().map_or(Shown::own("nothing"), |value| value.line.clone()))
            });
            let derivation = self.opened.derivation(variable, step)?;
            Some(Tree::of(row.name.clone(), held, &derivation, &self.opened))
        });
    }

    /// Finds the place of the finding under the cursor, where the pane has room for it.
    fn refresh_excerpt(&mut self) {
        let width = self.areas.width(RunPane::Findings);
        let is_roomy = self.areas.height(RunPane::Findings) > self.opened.notes.len() + MIN_EXCERPT;
        let note = self.opened.notes.get(self.findings.at).filter(|_| is_roomy);
        let wanted = note.map(|_| (self.findings.at, width));
        if wanted != self.excerpted {
            self.excerpted = wanted;
            self.excerpt = note.map(|note| self.opened.excerpt(note, width)).unwrap_or_default();
        }
    }

    /// Lists the prompts or the replies of the steps that hold a text.
    fn hits_in_calls(&self, tab: Tab, is_match: impl Fn(&str) -> bool) -> Vec<Hit> {
        let text = |detail: Detail| if tab == Tab::Prompt { detail.prompt } else { detail.reply };
        let holds = |step: &usize| text(self.opened.detail(*step)).is_some_and(|text| is_match(text.as_str()));
        (0..self.opened.steps.len().min(MAX_CALLS)).filter(holds).map(|step| Hit::Call(step, tab)).collect()
    }

    /// Lists every place on this screen that holds a text, in reading order.
    pub fn hits(&self, is_match: impl Fn(&str) -> bool) -> Vec<Hit> {
        let in_question = match_end(self.opened.question_text().as_str(), &is_match);
        let mut hits: Vec<Hit> = in_question.map(Hit::Question).into_iter().collect();
        hits.extend(self.answer.iter().flat_map(|answer| answer.hits(&is_match)));
        let steps = self.opened.steps.iter().enumerate();
        hits.extend(steps.filter(|(_, row)| is_match(row.text.as_str())).map(|(n, _)| Hit::Step(n)));
        // An answer is no run: its variables have no pane.
        let variables = self.opened.variables.iter().filter(|_| self.answer.is_none());
        for (n, row) in variables.enumerate() {
            let values = row.writes.iter().filter_map(|write| write.value.as_ref());
            let mut texts =
                values.map(|value| value.line.as_str()).chain([row.name.as_str(), row.description.as_str()]);
            if texts.any(&is_match) {
                hits.push(Hit::Variable(n));
            }
        }
        let notes = self.opened.notes.iter().enumerate();
        hits.extend(notes.filter(|(_, note)| is_match(note.message.as_str())).map(|(n, _)| Hit::Finding(n)));
        hits.extend(self.hits_in_calls(Tab::Reply, is_match));
        hits
    }

    /// Looks for a text, on the screen and in the JSON.
    pub(crate) fn look_for(&mut self, typed: &str, sought: &Sought) {
        let is_match = |text: &str| sought.is_in(text);
        let hits = if sought.in_prompts { self.hits_in_calls(Tab::Prompt, is_match) } else { self.hits(is_match) };
        let nodes = self.opened.root().map(|root| matching_nodes(root, is_match)).unwrap_or_default();
        self.find = Find { typed: typed.to_owned(), hits, nodes, at: None, shown: Some(sought.shown.clone()) };
    }

    /// Tells whether a text was looked for, found or not.
    pub fn has_searched(&self) -> bool {
        !self.find.typed.is_empty()
    }

    /// Goes to a place that was found, so many further, and tells which it is; `Err`: nothing was found.
    pub fn find_by(&mut self, by: isize, keymap: &Keymap) -> Result<Shown, Shown> {
        let count = if self.json { self.find.nodes.len() } else { self.find.hits.len() };
        if count == 0 {
            let typed = Shown::line(self.find.typed.as_bytes());
            return Err(match self.find.nodes.len() {
                0 => shown!("No match for \"{typed}\""),
                // Prompts, replies and other fields stand in the JSON alone.
                more => shown!(
                    "Not on this screen; {more} matches in JSON ({}, {})",
                    keymap.key_of(Action::Json),
                    keymap.key_of(Action::FindNext)
                ),
            });
        }
        let before = self.find.at.filter(|(screen, _)| *screen == self.kind()).map(|(_, at)| at);
        let at = panes::turn_to(before, by, count);
        self.find.at = Some((self.kind(), at));
        if !self.json {
            if let Some(hit) = self.find.hits.get(at).copied() {
                self.visit(hit);
            }
        } else if let Some((root, node)) = self.opened.root().zip(self.find.nodes.get(at)) {
            self.outline.go_to_index(root, *node);
        }
        Ok(shown!("{} of {count}", at + 1))
    }

    /// Goes to a place that was found.
    pub(crate) fn visit(&mut self, hit: Hit) {
        match hit {
            Hit::Question(end) => self.visit_question(end),
            Hit::Step(step) => {
                self.pane = RunPane::Steps;
                self.go_to_step(step);
            }
            Hit::Variable(variable) => {
                if let Some(moment) = self.moment_of_match(variable) {
                    self.go_to_moment(moment);
                }
                self.variables.at = variable;
                self.focus(RunPane::State);
            }
            Hit::Finding(finding) => self.visit_finding(finding),
            Hit::Call(step, tab) => self.visit_call(step, tab),
            Hit::Item(_) | Hit::Line(_) => {
                if let Some(answer) = &mut self.answer {
                    answer.visit(hit);
                }
            }
        }
    }

    /// Returns the moment since which a variable has a value that was searched for, or any; `None`: it has one on screen.
    fn moment_of_match(&self, variable: usize) -> Option<usize> {
        let sought = self.find.shown.as_ref()?;
        let is_match = |write: &&WriteRow| {
            write.value.as_ref().is_some_and(|value| sought.is_match(value.line.as_str().as_bytes()))
        };
        let held = self.opened.write_at(variable, self.moment);
        if held.as_ref().is_some_and(is_match) {
            return None;
        }
        let writes = &self.opened.variables.get(variable)?.writes;
        let first = writes.first().filter(|_| held.is_none());
        writes.iter().find(is_match).or(first).map(|write| write.from.0)
    }

    fn visit_question(&mut self, end: usize) {
        self.question_moved = end.checked_sub(1);
        match &mut self.answer {
            Some(answer) => answer.pane = AnswerPane::Question,
            None => self.focus(RunPane::Question),
        }
    }

    fn visit_finding(&mut self, finding: usize) {
        self.findings.at = finding;
        if let Some(answer) = &mut self.answer {
            answer.go_to_note(finding);
        } else {
            self.pane = RunPane::Findings;
            self.show_finding();
        }
    }

    fn visit_call(&mut self, step: usize, tab: Tab) {
        self.go_to_step(step);
        self.turn_to_tab(tab);
        self.focus(if self.areas.of(RunPane::Call).height > 0 { RunPane::Call } else { RunPane::Step });
    }
}
