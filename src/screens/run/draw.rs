//! Draws the run screen.

use ratatui::buffer::Buffer;

use crate::screens::run::state::{RecordView, RunPane};
use crate::screens::run::{findings, question, step, steps, timeline, variables};
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::look::{Look, Spans, severity_role};
use crate::widgets::sign;
use crate::widgets::theme::Role;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_record::state::Ran;

pub(crate) fn draw(view: &RecordView, buf: &mut Buffer, look: Look<'_>) {
    for (pane, place, look) in view.areas.on_screen(view.pane, look) {
        match pane {
            RunPane::Question => question::draw(view, place, buf, look),
            RunPane::Worked => question::draw_worked(view, place, buf, look),
            RunPane::Steps => steps::draw(view, place, buf, look),
            RunPane::Step => step::draw(view, place, buf, look),
            RunPane::Call => step::draw_call(view, place, buf, look),
            RunPane::Timeline => timeline::draw(view, place, buf, look),
            RunPane::State => variables::draw(view, place, buf, look),
            RunPane::Findings => findings::draw(view, place, buf, look),
        }
    }
}

/// Explains what is under the cursor, in one sentence.
pub(crate) fn explain(view: &RecordView, keymap: &Keymap) -> Shown {
    let step = || view.step().and_then(|step| view.opened.steps.get(step));
    match view.pane {
        RunPane::State => variables::explain(view, keymap),
        RunPane::Findings => {
            view.opened.notes.get(view.findings.at).map_or(Shown::own("No findings"), findings::explain)
        }
        RunPane::Worked => Shown::own("The expected answer as the data set works it out (gold)"),
        RunPane::Question => {
            shown!(
                "{}",
                keymap.keyed("Numbers carry the mark of the variable that uses them; <left> and <right> walk them")
            )
        }
        RunPane::Steps | RunPane::Step | RunPane::Call | RunPane::Timeline => match step() {
            Some(step) if step.failed => shown!("{} the run ended with an error in this step", sign::WRONG),
            Some(step) if step.ran == Ran::No => shown!("{} not run: the run ended before this step", sign::NOT_RUN),
            Some(step) if step.ran == Ran::Unknown => Shown::own(steps::UNAVAILABLE),
            Some(_) if view.opened.where_to_fix.as_ref().is_some_and(|fix| fix.step == view.step()) => {
                shown!("{} step to fix: the run went wrong here", sign::WRONG)
            }
            Some(step) => match step.worst {
                Some(severity) => {
                    let key = keymap.key_of(Action::NextFinding);
                    shown!("{} {} about this step; {key} walks the findings", severity.glyph(), severity.word())
                }
                None if step.is_confirmed => {
                    shown!("{} what this step wrote was recomputed, and agrees", sign::CORRECT)
                }
                None => shown!("{} no finding about this step; nothing of it was recomputed", sign::RAN),
            },
            None => Shown::own("Before step 1 only the question is known"),
        },
    }
}

/// Describes what the cursor is on.
pub(crate) fn describe(view: &RecordView, look: Look<'_>) -> Spans {
    match view.pane {
        RunPane::Timeline => timeline::describe(view, look),
        RunPane::State => vec![look.span(variables::describe(view), Role::Dim)],
        RunPane::Findings => {
            let Some(note) = view.opened.notes.get(view.findings.at) else { return Vec::new() };
            let help = note.help.map(|help| look.span(format!("  {help}"), Role::Dim));
            let place = look.span(format!("{}  ", note.pointer.text().line()), Role::Faint);
            let message = look.span(note.message.as_str(), severity_role(note.severity));
            [place, message].into_iter().chain(help).collect()
        }
        RunPane::Steps | RunPane::Step | RunPane::Call => vec![match view.opened.surprise {
            Some(surprise) => look.span(format!("⚑ {}", surprise.meaning()), Role::Warning),
            None => look.span(view.detail.text.as_str().replace('\n', " "), Role::Dim),
        }],
        RunPane::Question | RunPane::Worked => {
            let fitness = view.opened.fitness.as_ref();
            fitness.map(|fitness| look.span(format!("fitness {fitness}"), Role::Dim)).into_iter().collect()
        }
    }
}
