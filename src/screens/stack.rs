//! What is in front: a stack of screens, and at most one dialog over it. `App::front` alone says what is drawn last
//! and gets the keys; header, body, footer, keys, mouse and `Esc` ask it.

use crate::app::state::App;
use crate::dialogs::dialog::DialogKind;
use crate::widgets::keymap::Context;

/// A screen: what fills the space between the first line and the last two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Screen {
    /// The table of records; it lies below all others.
    #[default]
    Table,
    /// One run.
    Run,
    /// One structured answer with its citations.
    Evidence,
    /// One record as JSON.
    Json,
    /// A re-run of a step or an answer.
    Rerun,
    /// The comparison with a baseline.
    Matrix,
    /// Two records side by side.
    Versus,
    /// The dashboard of the reviews.
    Boards,
    /// The items on which reviewers disagree.
    Disputes,
}

impl Screen {
    /// All, each once.
    pub const ALL: [Self; 9] = [
        Self::Table,
        Self::Run,
        Self::Evidence,
        Self::Json,
        Self::Rerun,
        Self::Matrix,
        Self::Versus,
        Self::Boards,
        Self::Disputes,
    ];

    /// The context in which its keys are looked up.
    pub const fn context(self) -> Context {
        match self {
            Self::Table => Context::Table,
            Self::Run => Context::Run,
            Self::Evidence => Context::Evidence,
            Self::Json => Context::Json,
            Self::Rerun => Context::Rerun,
            Self::Matrix => Context::Matrix,
            Self::Versus => Context::Versus,
            Self::Boards => Context::Boards,
            Self::Disputes => Context::Disputes,
        }
    }

    /// The word in the first line that names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Run => "run",
            Self::Evidence => "answer",
            Self::Json => "json",
            Self::Rerun => "re-run",
            Self::Matrix => "matrix",
            Self::Versus => "side by side",
            Self::Boards => "boards",
            Self::Disputes => "adjudication",
        }
    }

    /// It shows one record of the table, which stays open below what lies over it.
    pub const fn is_of_record(self) -> bool {
        matches!(self, Self::Run | Self::Evidence | Self::Json | Self::Rerun)
    }

    /// It shows the record itself, or its row: verdicts are given there.
    pub(crate) const fn is_judged_on(self) -> bool {
        matches!(self, Self::Table | Self::Run | Self::Evidence | Self::Json)
    }

    /// It is worked out from all records together.
    pub const fn is_of_all(self) -> bool {
        matches!(self, Self::Matrix | Self::Boards | Self::Disputes)
    }
}

/// The screens, one over the other; the table is always the lowest.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Screens(Vec<Screen>);

impl Screens {
    /// The one in front.
    pub fn top(&self) -> Screen {
        self.0.last().copied().unwrap_or_default()
    }

    /// The one below it; below the table there is the table.
    pub fn below(&self) -> Screen {
        self.0.iter().rev().nth(1).copied().unwrap_or_default()
    }

    /// The highest one that shows the open record, or the table.
    pub(crate) fn of_record(&self) -> Screen {
        self.0.iter().rev().copied().find(|screen| screen.is_of_record()).unwrap_or_default()
    }

    /// Whether it is somewhere in the stack.
    pub fn holds(&self, screen: Screen) -> bool {
        screen == Screen::Table || self.0.contains(&screen)
    }

    /// Lays a screen over the others. Each is there at most once: one that is there already is what is gone back to.
    pub fn push(&mut self, screen: Screen) {
        if !self.go_back_to(screen) {
            self.0.push(screen);
        }
    }

    /// Takes the one in front away.
    pub fn pop(&mut self) -> Screen {
        self.0.pop().unwrap_or_default()
    }

    /// Takes away everything over a screen; `false`: it is not there.
    pub fn go_back_to(&mut self, screen: Screen) -> bool {
        let at = match screen {
            Screen::Table => Some(0),
            _ => self.0.iter().position(|other| *other == screen).map(|at| at + 1),
        };
        if let Some(at) = at {
            self.0.truncate(at);
        }
        at.is_some()
    }

    /// The screens of another record in place of those of the open one; what lies over them stays.
    pub(crate) fn show_record(&mut self, screens: &[Screen]) {
        self.0.retain(|screen| !screen.is_of_record());
        self.0.splice(0..0, screens.iter().copied());
    }
}

/// What is in front.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Front {
    /// A screen.
    Screen(Screen),
    /// The labels of a failed item, below a screen that shows it.
    Labels(Screen),
    /// The labels of a verdict between reviewers.
    Decision,
    /// A dialog.
    Dialog(DialogKind),
}

impl Front {
    /// The contexts in which its keys are looked up, the nearest first.
    pub fn contexts(self) -> Vec<Context> {
        match self {
            Self::Screen(screen) if screen.is_judged_on() => vec![screen.context(), Context::Review, Context::Anywhere],
            Self::Screen(screen) => vec![screen.context(), Context::Anywhere],
            Self::Labels(screen) => vec![Context::Labels, screen.context(), Context::Review, Context::Anywhere],
            Self::Decision => vec![Context::Decision, Context::Anywhere],
            Self::Dialog(kind) if kind.takes_text() => vec![kind.context()],
            Self::Dialog(kind) => vec![kind.context(), Context::Anywhere],
        }
    }
}

impl App {
    /// What is in front.
    pub fn front(&self) -> Front {
        self.dialog.as_ref().map_or_else(|| self.base(), |dialog| Front::Dialog(dialog.kind()))
    }

    /// What is in front but for a dialog.
    pub fn base(&self) -> Front {
        match self.screens.top() {
            Screen::Disputes if self.desk.disputes.choosing.is_some() => Front::Decision,
            screen if screen.is_judged_on() && self.review.draft.choosing => Front::Labels(screen),
            screen => Front::Screen(screen),
        }
    }

    /// The screen in front; a dialog may lie over it.
    pub fn screen(&self) -> Screen {
        self.screens.top()
    }
}
