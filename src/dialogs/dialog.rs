//! Dialogs: what lies over a screen and takes the keys until it is closed. There is at most one, so one cursor does for
//! all of them: `Screens::scroll`.

use tui_input::Input as Line;

use crate::app::review::ReviewDialog;
use crate::dialogs::derivation::Tree;
use crate::dialogs::editor::Editor;
use crate::dialogs::export::ExportForm;
use crate::dialogs::palette::Palette;
use crate::dialogs::repair::state::Repairing;
use crate::screens::rerun::state::Field;
use crate::screens::side_by_side::making::Fixes;
use crate::widgets::keymap::Context;
use stepscope_base::text::Shown;
use stepscope_table::filter::{Completion, FilterError};

/// A dialog with what it holds.
#[derive(Debug)]
pub enum Dialog {
    /// The help.
    Help,
    /// The palette of actions, with what was typed.
    Palette(Palette),
    /// A line of text is being typed.
    Prompt(Prompt),
    /// A text in full.
    Popup(Popup),
    /// The derivation of a computed value.
    Derivation(Tree),
    /// The rewards of the open record by stage.
    Rewards,
    /// The document's table of contents.
    Contents,
    /// The named views of the table.
    Views,
    /// The forms of an export.
    Export,
    /// A question about a verdict.
    Review(ReviewDialog),
    /// A repair of a procedure by a model.
    Repair(Box<Repairing>),
    /// A text is being typed.
    Editor(Box<Editor>),
    /// The fixes of a procedure that need no model.
    Fixes(Box<Fixes>),
    /// A question: is the text that was typed in this dialog to be dropped?
    Drop(Box<Dialog>),
}

impl Dialog {
    /// The context in which its keys are looked up.
    pub(crate) const fn context(&self) -> Context {
        match self {
            Self::Help | Self::Popup(_) | Self::Rewards => Context::Window,
            Self::Palette(_) => Context::Palette,
            Self::Prompt(_) | Self::Review(ReviewDialog::Line { .. }) => Context::Line,
            Self::Derivation(_) => Context::Derivation,
            Self::Contents => Context::Contents,
            Self::Views => Context::Views,
            Self::Export => Context::Export,
            Self::Review(ReviewDialog::Labels { .. }) => Context::LabelList,
            Self::Review(ReviewDialog::Confirm { .. }) => Context::Confirm,
            Self::Repair(_) => Context::Repair,
            Self::Editor(_) => Context::Editor,
            Self::Fixes(_) => Context::Fixes,
            Self::Drop(_) => Context::Drop,
        }
    }

    /// The word in the first line that names it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Palette(_) => "palette",
            Self::Prompt(prompt) => match prompt.purpose {
                PromptPurpose::Filter => "filter",
                PromptPurpose::Find => "find",
                PromptPurpose::Columns => "columns",
                PromptPurpose::ViewName => "view",
                PromptPurpose::Field(_) => "setting",
                PromptPurpose::Breakpoint => "breakpoint",
                PromptPurpose::SaveRun => "save",
                PromptPurpose::Export | PromptPurpose::ExportAs(_) => "export",
            },
            Self::Popup(_) => "text",
            Self::Derivation(_) => "derivation",
            Self::Rewards => "reward",
            Self::Contents => "contents",
            Self::Views => "views",
            Self::Export => "export",
            Self::Review(ReviewDialog::Line { .. }) => "verdict",
            Self::Review(ReviewDialog::Labels { .. } | ReviewDialog::Confirm { .. }) => "labels",
            Self::Repair(_) | Self::Fixes(_) => "repair",
            Self::Editor(_) => "edit",
            Self::Drop(_) => "drop?",
        }
    }

    /// Itself, or the one that is asked about.
    pub fn own(&self) -> &Self {
        match self {
            Self::Drop(dialog) => dialog.own(),
            dialog => dialog,
        }
    }

    /// Itself, or the one that is asked about.
    pub(crate) fn own_mut(&mut self) -> &mut Self {
        match self {
            Self::Drop(dialog) => dialog.own_mut(),
            dialog => dialog,
        }
    }

    /// The line that is being typed.
    pub fn line_mut(&mut self) -> Option<&mut Line> {
        match self {
            Self::Prompt(prompt) => Some(&mut prompt.line),
            Self::Palette(palette) => Some(&mut palette.line),
            Self::Review(ReviewDialog::Line { line, .. } | ReviewDialog::Labels { line, .. }) => Some(line),
            _ => None,
        }
    }

    /// Tells whether its text is a proposal, which what is typed replaces.
    pub(crate) const fn is_proposed(&self) -> bool {
        match self {
            Self::Prompt(prompt) => prompt.proposed,
            Self::Review(ReviewDialog::Line { proposed, .. }) => *proposed,
            _ => false,
        }
    }

    /// Tells whether only a key closes it: it holds typed text, or a call runs in it.
    pub(crate) fn is_held(&self) -> bool {
        self.is_typed_in() || matches!(self, Self::Repair(repair) if !repair.machine.is_over)
    }

    /// Tells whether it holds typed text that is nowhere else. The name of an action is quickly typed again.
    pub fn is_typed_in(&self) -> bool {
        match self {
            Self::Prompt(prompt) => prompt.line.value() != prompt.from,
            Self::Review(ReviewDialog::Line { line, from, .. }) => line.value() != from,
            Self::Review(ReviewDialog::Labels { line, .. }) => !line.value().is_empty(),
            Self::Editor(editor) => editor.is_changed(),
            Self::Drop(dialog) => dialog.is_typed_in(),
            _ => false,
        }
    }
}

/// The purpose of a typed line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromptPurpose {
    /// Hides records.
    Filter,
    /// Looks for text.
    Find,
    /// Chooses the columns of the table.
    Columns,
    /// Names a view.
    ViewName,
    /// Says how a model is asked.
    Field(Field),
    /// Names a breakpoint of a run that is being made.
    Breakpoint,
    /// Names the file that a created run is appended to.
    SaveRun,
    /// Names a new file.
    Export,
    /// Names the file of an export in this form.
    ExportAs(ExportForm),
}

/// A line of text that is being typed.
#[derive(Debug)]
pub struct Prompt {
    /// Purpose of the prompt.
    pub purpose: PromptPurpose,
    /// The text and its cursor.
    pub line: Line,
    /// The text that it began with.
    pub from: String,
    /// True if that is a proposal: the first letter replaces it.
    pub proposed: bool,
    /// Fault of the filter as typed so far.
    pub error: Option<FilterError>,
    /// Words that could complete the text at the cursor.
    pub completions: Vec<Completion>,
    /// The chosen one.
    pub chosen: Option<usize>,
    /// Number of an earlier filter on the line, from the last one, and what was typed before.
    pub(crate) earlier: Option<(usize, String)>,
    /// Number of records that the filter takes as typed so far.
    pub(crate) count: Option<FilterCount>,
}

impl Prompt {
    /// Begins with a text.
    pub(crate) fn new(purpose: PromptPurpose, text: String) -> Self {
        Self {
            purpose,
            line: Line::new(text.clone()),
            from: text,
            proposed: false,
            error: None,
            completions: Vec::new(),
            chosen: None,
            earlier: None,
            count: None,
        }
    }
}

/// Number of records that a filter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FilterCount {
    /// Number of records that it certainly takes.
    pub sure: usize,
    /// Records whose text has to be read first.
    pub rest: Rest,
    /// Number of all records.
    pub all: usize,
}

/// Records of which only their text tells whether a filter takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    /// None, or all were read.
    None,
    /// Number of records that Enter reads.
    Unread(usize),
    /// Records that are being read.
    Searching,
}

/// A text in full.
#[derive(Debug)]
pub struct Popup {
    /// The heading.
    pub title: Shown,
    /// The text.
    pub text: Shown,
}
