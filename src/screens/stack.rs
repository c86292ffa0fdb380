//! Front of the program: a stack of screens, and at most one dialog over it. Header, body and mouse go by these two; keys,
//! footer and palette ask `App::focus`, which joins them.

use crate::dialogs::dialog::{Dialog, Prompt, PromptPurpose};
use crate::screens::adjudication::state::Adjudication;
use crate::screens::compare::state::CompareCursor;
use crate::screens::dashboard::state::DashboardCursor;
use crate::screens::insights::state::InsightCursor;
use crate::screens::kind::ScreenKind;
use crate::screens::live::state::Live;
use crate::screens::rerun::state::Attempt;
use crate::screens::run::state::{LostSearch, RecordView};
use crate::screens::side_by_side::state::SideBySide;
use crate::widgets::keymap::{Context, Key};
use crate::widgets::list::List;

/// State that screens keep while they are closed.
#[derive(Clone, Debug, Default)]
pub struct ScreenMemory {
    /// Cursor of the groups of the comparison.
    pub compare: CompareCursor,
    /// Cursor of the dashboard.
    pub dashboard: DashboardCursor,
    /// The items on which reviewers disagree.
    pub adjudication: Adjudication,
    /// Cursor among the charts of all records.
    pub insights: InsightCursor,
    /// True if the parts that two records side by side have in common are shown too.
    pub shows_same: bool,
}

/// Screen over the table, with what it holds. What outlives it, such as the cursor of the comparison, is [`ScreenMemory`].
#[derive(Debug)]
pub enum Screen {
    /// The open record: as a run, as an answer, or as JSON.
    Record(Box<RecordView>),
    /// A re-run of a step or an answer.
    Rerun(Box<Attempt>),
    /// A run that is being made.
    Live(Box<Live>),
    /// Two records side by side.
    SideBySide(Box<SideBySide>),
    /// A screen that is worked out from all records.
    OfAll(ScreenKind),
}

impl Screen {
    /// Returns its kind.
    pub fn kind(&self) -> ScreenKind {
        match self {
            Self::Record(view) => view.kind(),
            Self::Rerun(_) => ScreenKind::Rerun,
            Self::Live(_) => ScreenKind::Live,
            Self::SideBySide(_) => ScreenKind::SideBySide,
            Self::OfAll(kind) => *kind,
        }
    }
}

/// The screens, one over the other, and the dialog over them. The table is always the lowest, so it is not named.
#[derive(Debug, Default)]
pub struct Screens {
    stack: Vec<Screen>,
    /// The dialog over them.
    pub dialog: Option<Dialog>,
    /// Cursor of the dialog, and its first line on screen.
    pub scroll: List,
    /// The record that is being read, and the screen it is for. What is opened meanwhile takes its place.
    pub opening: Option<(usize, ScreenKind)>,
    /// The beginning of a chord.
    pub typed: Vec<Key>,
}

impl Screens {
    /// Returns the kind of the one in front.
    pub fn top(&self) -> ScreenKind {
        self.stack.last().map(Screen::kind).unwrap_or_default()
    }

    /// Returns the kind of the highest one that shows the open record, or the table.
    pub fn of_record(&self) -> ScreenKind {
        self.stack.iter().rev().map(Screen::kind).find(|kind| kind.is_of_record()).unwrap_or_default()
    }

    /// Lists the kinds of all, from the table upwards.
    pub(crate) fn kinds(&self) -> Vec<ScreenKind> {
        [ScreenKind::Table].into_iter().chain(self.stack.iter().map(Screen::kind)).collect()
    }

    /// Counts the screens over the table.
    pub(crate) fn len(&self) -> usize {
        self.stack.len()
    }

    /// Tells whether it is somewhere in the stack.
    pub fn holds(&self, kind: ScreenKind) -> bool {
        kind == ScreenKind::Table || self.stack.iter().any(|screen| screen.kind() == kind)
    }

    /// Lays a screen over the others. Each is there at most once: one that is there already is gone back to, and
    /// replaced.
    pub fn push(&mut self, screen: Screen) {
        if let Some(at) = self.stack.iter().position(|other| other.kind() == screen.kind()) {
            self.stack.truncate(at);
        }
        self.stack.push(screen);
    }

    /// Lays a screen over the others. Drops a pending open, so that it cannot replace this screen.
    pub(crate) fn open(&mut self, screen: Screen) {
        self.opening = None;
        self.push(screen);
    }

    /// Opens a dialog. Drops a pending open, so that it cannot replace this dialog.
    pub(crate) fn open_dialog(&mut self, dialog: Dialog) {
        self.opening = None;
        self.typed.clear();
        (self.dialog, self.scroll) = (Some(dialog), List::default());
    }

    /// Asks for a text, from what was typed before.
    pub(crate) fn open_prompt(&mut self, purpose: PromptPurpose, text: String) {
        self.open_dialog(Dialog::Prompt(Prompt::new(purpose, text)));
    }

    /// Asks for a text, and proposes one.
    pub(crate) fn propose(&mut self, purpose: PromptPurpose, text: String) {
        let proposed = !text.is_empty();
        self.open_dialog(Dialog::Prompt(Prompt { proposed, ..Prompt::new(purpose, text) }));
    }

    /// Shows the JSON of the record in front, where the cursor is; `false`: it is shown already.
    pub(crate) fn turn_json(&mut self) -> bool {
        let Some(Screen::Record(view)) = self.top_screen_mut() else { return true };
        if view.json {
            return false;
        }
        let pointer = view.pointer();
        view.show_in_json(&pointer);
        self.show_json();
        true
    }

    /// Shows the open record as JSON.
    pub(crate) fn show_json(&mut self) {
        self.opening = None;
        self.record_mut().into_iter().for_each(|view| view.json = true);
    }

    /// Returns the one in front, but for the table.
    pub fn top_screen(&self) -> Option<&Screen> {
        self.stack.last()
    }

    /// Returns the one in front, but for the table, to be changed.
    pub fn top_screen_mut(&mut self) -> Option<&mut Screen> {
        self.stack.last_mut()
    }

    /// Takes the one in front away.
    pub fn pop(&mut self) -> Option<Screen> {
        self.stack.pop()
    }

    /// Takes away everything over the table.
    pub fn clear(&mut self) {
        self.stack.clear();
    }

    /// Shows another record in place of the open one; what lies over that stays.
    pub(crate) fn show_record(&mut self, view: RecordView) {
        self.stack.retain(|screen| !screen.kind().is_of_record());
        self.stack.insert(0, Screen::Record(Box::new(view)));
    }

    /// Returns the open record.
    pub fn record(&self) -> Option<&RecordView> {
        self.stack.iter().find_map(|screen| if let Screen::Record(view) = screen { Some(&**view) } else { None })
    }

    /// Returns the open record, for changes to its view.
    pub fn record_mut(&mut self) -> Option<&mut RecordView> {
        self.stack
            .iter_mut()
            .find_map(|screen| if let Screen::Record(view) = screen { Some(&mut **view) } else { None })
    }

    /// Returns the open record, if its number is that of the record in the list.
    pub(crate) fn placed(&self) -> Option<&RecordView> {
        self.record().filter(|view| view.lost.is_none())
    }

    /// Tells whether the open record is not found again yet after its file was replaced.
    pub(crate) fn is_looked_for(&self) -> bool {
        self.record().and_then(|view| view.lost.as_ref()).is_some_and(|lost| lost.search != LostSearch::Failed)
    }

    /// Returns the re-run.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.stack.iter().find_map(|screen| if let Screen::Rerun(attempt) = screen { Some(&**attempt) } else { None })
    }

    /// Returns the re-run, to be continued.
    pub(crate) fn attempt_mut(&mut self) -> Option<&mut Attempt> {
        self.stack
            .iter_mut()
            .find_map(|screen| if let Screen::Rerun(attempt) = screen { Some(&mut **attempt) } else { None })
    }

    /// Returns the run that is being made.
    pub fn live(&self) -> Option<&Live> {
        self.stack.iter().find_map(|screen| if let Screen::Live(live) = screen { Some(&**live) } else { None })
    }

    /// Returns the run that is being made, to be continued.
    pub(crate) fn live_mut(&mut self) -> Option<&mut Live> {
        self.stack.iter_mut().find_map(|screen| if let Screen::Live(live) = screen { Some(&mut **live) } else { None })
    }

    /// Returns the two records side by side.
    pub(crate) fn side_by_side(&self) -> Option<&SideBySide> {
        self.stack.iter().find_map(|screen| if let Screen::SideBySide(sides) = screen { Some(&**sides) } else { None })
    }

    /// Returns the two records side by side, for changes to their view.
    pub(crate) fn side_by_side_mut(&mut self) -> Option<&mut SideBySide> {
        self.stack
            .iter_mut()
            .find_map(|screen| if let Screen::SideBySide(sides) = screen { Some(&mut **sides) } else { None })
    }
}

/// Part of the screen that is in front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Focus {
    /// A screen.
    Screen(ScreenKind),
    /// The labels of a failed item, below a screen that shows it.
    Labels(ScreenKind),
    /// The labels of a verdict between reviewers.
    Decision,
    /// A dialog.
    Dialog(Context),
}

impl Focus {
    /// Lists the contexts in which its keys are looked up, the nearest first.
    pub fn contexts(self) -> Vec<Context> {
        match self {
            Self::Screen(screen) if screen.is_judged_on() => vec![screen.context(), Context::Review, Context::Anywhere],
            Self::Screen(screen) => vec![screen.context(), Context::Anywhere],
            Self::Labels(screen) => vec![Context::Labels, screen.context(), Context::Review, Context::Anywhere],
            Self::Decision => vec![Context::Decision, Context::Anywhere],
            Self::Dialog(context) if context.takes_text() => vec![context],
            Self::Dialog(context) => vec![context, Context::Anywhere],
        }
    }
}
