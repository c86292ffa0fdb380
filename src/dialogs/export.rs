//! Choice of what to export of the screen or its record, in a window: the last choice is under the cursor.

use ratatui::layout::Rect;

use crate::widgets::layout;
use crate::widgets::look::Look;
use crate::widgets::prose::{hanging, pad};
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around};

const WIDTH: u16 = 78;

stepscope_base::words! {
    /// A form in which something is exported, by the end of its file's name.
    #[derive(Default)]
    pub enum ExportForm {
        /// A report page of the record.
        #[default]
        Page = "html",
        /// The record for an issue.
        Markdown = "md",
        /// A picture of the screen.
        Picture = "svg",
        /// A picture of the pane that has the keys.
        PanePicture = "pane.svg",
        /// The screen as a recording.
        Recording = "cast",
    }
}

impl ExportForm {
    /// Tells whether it is made from the record, not from the screen.
    pub(crate) const fn is_of_record(self) -> bool {
        matches!(self, Self::Page | Self::Markdown)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Page => "Report page",
            Self::Markdown => "Markdown",
            Self::Picture => "Picture",
            Self::PanePicture => "Pane",
            Self::Recording => "Recording",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Page => "of this record; stepscope opens it again at this step",
            Self::Markdown => "of this record, for an issue",
            Self::Picture => "of this screen, SVG, light and dark in one file",
            Self::PanePicture => "picture of the focused pane",
            Self::Recording => "of this screen, for asciinema players",
        }
    }
}

/// Options of the last export.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExportChoice {
    /// Form of the export.
    pub form: ExportForm,
    /// True if text that looks private is taken out of pages and Markdown.
    pub redacts: bool,
    /// Folder to write to, with its last slash.
    pub folder: String,
    /// Form of the export under way (`None`: a procedure) and the file that was typed: the prompt comes back where it
    /// cannot be written.
    pub asked: Option<(Option<ExportForm>, String)>,
    /// True if verdicts of others were left out of the page under way: they are not told yet.
    pub withheld: bool,
}

impl ExportChoice {
    /// Returns the row of the last form.
    pub(crate) fn row(&self) -> usize {
        ExportForm::ALL.iter().position(|form| *form == self.form).unwrap_or(0)
    }
}

/// The forms that can be chosen; the last line says what becomes of what looks private.
pub(crate) fn window<'a>(choice: &ExportChoice, area: Rect, look: Look<'a>) -> Window<'a> {
    let title = vec![
        look.span("Export", Role::Title),
        look.keyed("  <open> asks where, <fold> redacts, <escape> closes", Role::Faint),
    ];
    let redacts = if choice.redacts { "what looks private is taken out" } else { "refused if something looks private" };
    let foot = format!("keys, e-mail addresses, home folders: {redacts}");
    let foot = hanging(
        vec![look.span("  ", Role::Dim)],
        &foot,
        look.style(Role::Dim),
        &[],
        Some(layout::inner_width(around(0, area, WIDTH))),
    );
    let forms = ExportForm::ALL;
    let line = move |n: usize| {
        let Some(form) = forms.get(n) else { return Vec::new() };
        vec![look.span(pad(form.title(), 14), Role::Text), look.span(form.help(), Role::Dim)]
    };
    let place = around(forms.len() + foot.len(), area, WIDTH);
    Window { foot, has_cursor: true, ..Window::new(place, title, forms.len(), line) }
}
