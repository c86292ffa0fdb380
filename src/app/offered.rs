//! Keys in footer, palette and sentences: the actions that are offered here, and the names of their keys.

use crate::app::review::{self, ReviewDialog};
use crate::app::state::App;
use crate::app::views::{self, Views};
use crate::dialogs::dialog::Dialog;
use crate::dialogs::palette::{Palette, PaletteRow};
use crate::screens::adjudication;
use crate::screens::answer::state::AnswerPane;
use crate::screens::kind::ScreenKind;
use crate::screens::live::state::{Live, LiveStage};
use crate::screens::rerun::state::Stage;
use crate::screens::stack::Focus;
use crate::screens::stack::Screens;
use crate::screens::table::state::Table;
use crate::widgets::command::{self, Fit};
use crate::widgets::keymap::{Action, BINDINGS, Binding, Context, Keymap};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::views::NamedView;

/// Hints of the keys of labels, by how many are on screen.
const LABEL_HINTS: [&str; review::LABEL_KEYS] =
    ["label", "… 2 label", "… 3 label", "… 4 label", "… 5 label", "… 6 label", "… 7 label", "… 8 label", "… 9 label"];

impl App {
    /// The rows of the footer: what works here, the most useful first.
    pub fn hints(&self) -> Vec<&'static Binding> {
        let front = self.focus();
        let mut rows: Vec<&'static Binding> = Vec::new();
        for context in front.contexts() {
            for binding in Keymap::rows(context) {
                let is_named = rows.iter().any(|row| row.action == binding.action);
                // The key of the screen in front only closes it again, as back does.
                let is_here = binding.action.def().opens == Some(self.screens.top());
                let is_shown = !self.hint_of(binding).is_empty()
                    && !is_named
                    && !is_here
                    && key_name(&self.keymap, self.screens.dialog.as_ref(), front, binding).is_some();
                if is_shown && self.allowed_at(front, binding.action).is_ok() {
                    rows.push(binding);
                }
            }
        }
        rows
    }

    /// The hint of a row, by what it does here.
    pub(crate) fn hint_of(&self, binding: &Binding) -> &'static str {
        let stage = self.screens.attempt().map(|attempt| attempt.stage);
        let pane = self.screens.record().and_then(|view| view.answer.as_ref()).map(|answer| answer.pane);
        match (binding.context, binding.action) {
            (Context::Rerun, Action::Open) if matches!(stage, Some(Stage::Choosing | Stage::Several)) => "select",
            // Nothing runs that could be cancelled: back says where it leads.
            (Context::Rerun, Action::Escape) if !matches!(stage, Some(Stage::Asking | Stage::Judging)) => "",
            (Context::Live, Action::Open) => match self.screens.live().map(|live| live.stage) {
                Some(LiveStage::Preview) => binding.hint,
                Some(LiveStage::Over) => "open run",
                _ => "",
            },
            (Context::Live, Action::Escape) if !self.screens.live().is_some_and(Live::is_running) => "",
            (Context::Rerun, Action::Open) if self.models.replays() => "replay or edit",
            // The status line names it while the step to fix is offered.
            (Context::Rerun, Action::Rerun) if matches!(stage, Some(Stage::Choosing | Stage::Preview)) => "",
            (_, Action::Back) if self.focus() == Focus::Screen(ScreenKind::Table) => "quit",
            (Context::LabelList, Action::Open) => match &self.screens.dialog {
                Some(dialog @ Dialog::Review(ReviewDialog::Labels { .. })) => review::ask::word_of_open(
                    dialog,
                    &review::ask::labels_that_fit(&self.screens, &self.across, &self.review, &self.store, &self.table),
                ),
                _ => binding.hint,
            },
            (Context::Labels | Context::Decision, Action::GiveLabel) => {
                let shown = match binding.context {
                    Context::Labels => {
                        let labels = review::ask::offered(&self.review, &self.store, &self.table);
                        review::strip::label_lines(&self.review, &labels, &self.keymap, self.size.width).1
                    }
                    _ => self.across.judged.as_ref().map_or(0, |judged| adjudication::state::offered(judged).len()),
                };
                shown.checked_sub(1).and_then(|last| LABEL_HINTS.get(last)).copied().unwrap_or(binding.hint)
            }
            // With a verdict on a part its record stays.
            (Context::Labels, Action::SaveFail) if self.review.draft.part.is_some() => "save",
            (Context::Answer, Action::Open) if matches!(pane, Some(AnswerPane::Checks | AnswerPane::Question)) => {
                "open"
            }
            _ => binding.hint,
        }
    }

    /// The actions of the palette that fit what was typed, best first, each with its row in the table of keys.
    pub(crate) fn palette_rows(&self, palette: &Palette) -> Vec<PaletteRow> {
        let typed = palette.line.value();
        let mut seen = Vec::new();
        let mut is_new = |action: Action| {
            let is_new = !seen.contains(&action);
            seen.push(action);
            is_new
        };
        let front = self.focus_below_dialog();
        let rows: Vec<&'static Binding> = front.contexts().into_iter().flat_map(Keymap::rows).collect();
        let mut rows: Vec<&'static Binding> = rows
            .into_iter()
            .filter(|binding| {
                is_new(binding.action)
                    && !matches!(binding.action, Action::Palette | Action::Escape | Action::GiveLabel)
            })
            .collect();
        // What the pane is for comes first, and what cannot be done now last.
        let own = actions_of_pane(&self.screens);
        rows.sort_by_cached_key(|binding| match self.allowed_at(front, binding.action) {
            Ok(()) => own.iter().position(|action| *action == binding.action).unwrap_or(own.len()),
            Err(_) => own.len() + 1,
        });
        // Disabled actions are listed with the reason.
        let others = ScreenKind::ALL.into_iter().filter(|_| !typed.is_empty()).map(ScreenKind::context);
        let elsewhere = others.flat_map(Keymap::rows).filter(|binding| is_new(binding.action));
        let fitting = rows.into_iter().chain(elsewhere);
        let ranked = fitting.filter_map(|binding| {
            Some(PaletteRow { binding, fit: command::fit_in(typed, binding, palette.in_help)?, named: None })
        });
        let mut ranked: Vec<PaletteRow> = ranked.collect();
        ranked.extend(named_rows(&self.views, &self.table, typed, ranked.is_empty()));
        ranked.sort_by_key(|row| row.fit);
        ranked
    }
}

/// The first key of a row that does what the row says, with this in front: what is nearer may have taken the others.
pub fn key_name(keymap: &Keymap, dialog: Option<&Dialog>, front: Focus, binding: &Binding) -> Option<String> {
    let is_large = matches!(dialog, Some(Dialog::Editor(editor)) if editor.is_large);
    let mut names = keymap.names_in(binding, &front.contexts()).into_iter();
    // In a text of several lines the key breaks the line.
    names.find(|name| !(is_large && binding.context == Context::Editor && name == "Enter"))
}

/// The rows of the commands that take a name: of the views whose names begin so, of a name that is none where nothing
/// else fits, and of a new one.
fn named_rows(views: &Views, table: &Table, typed: &str, is_only: bool) -> Vec<PaletteRow> {
    let row = |action: Action, fit: Fit, name: &str, meaning: Shown| {
        let binding = BINDINGS.iter().find(|binding| binding.action == action)?;
        Some(PaletteRow { binding, fit, named: Some((name.to_owned(), meaning)) })
    };
    let of_view = |view: &NamedView, fit: Fit| row(Action::View, fit, &view.name, views::description(view));
    match command::naming(typed) {
        Some((Action::SaveView, name)) => {
            let before = views.list.iter().find(|view| view.name == name);
            let meaning = match before {
                Some(before) => shown!("replaces {}", views::description(before)),
                None => shown!("keeps {}", views::description(&views::view_of(table, name))),
            };
            row(Action::SaveView, Fit::Whole, name, meaning).into_iter().collect()
        }
        Some((_, name)) => {
            let fit = |view: &NamedView| if view.name == name { Fit::Whole } else { Fit::Beginning };
            let found: Vec<_> = views.beginning(name).filter_map(|view| of_view(view, fit(view))).collect();
            let unknown = || row(Action::View, Fit::Whole, name, Shown::own("no view is called so"));
            if found.is_empty() && is_only { unknown().into_iter().collect() } else { found }
        }
        None if typed.trim() == Action::View.word() => {
            views.list.iter().filter_map(|view| of_view(view, Fit::Words)).collect()
        }
        None => Vec::new(),
    }
}

/// Lists what the pane that has the keys is for.
fn actions_of_pane(screens: &Screens) -> &'static [Action] {
    let Some(view) = screens.record() else { return &[] };
    match screens.top() {
        ScreenKind::Run => view.pane.def().actions,
        ScreenKind::Answer => view.answer.as_ref().map_or(&[], |answer| answer.pane.actions()),
        _ => &[],
    }
}
