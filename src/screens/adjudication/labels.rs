//! The labels of a final verdict: giving and taking them, by their keys or from the list.

use crate::app::state::App;
use crate::screens::adjudication::draw;
use crate::screens::adjudication::state;
use stepscope_base::text::Shown;
use stepscope_review::event::Text;

/// Gives or takes the label of the number that was typed.
pub(crate) fn give_nth(app: &mut App) {
    let (Some(judged), Some(label)) = (app.across.judged.clone(), app.count.and_then(|n| n.checked_sub(1))) else {
        return;
    };
    let order = app.kept.adjudication.case(&judged).map(|case| state::in_order(&judged, case));
    let keyed = order.filter(|_| label < state::offered(&judged).len());
    if let Some(label) = keyed.and_then(|order| order.get(label).copied()) {
        toggle_shown(app, label);
    } else {
        app.status.say(Shown::own("no such label"));
    }
}

/// Gives or takes a label that was looked for.
pub(crate) fn toggle(app: &mut App, id: &Text) {
    let labels = app.across.judged.as_ref().map(|judged| judged.labels.as_slice()).unwrap_or_default();
    if let Some(label) = labels.iter().position(|(label, _)| label.id == *id) {
        toggle_shown(app, label);
    }
}

/// Gives or takes a label, and keeps it on screen: a key does not change what is out of view.
fn toggle_shown(app: &mut App, label: usize) {
    app.kept.adjudication.toggle(label);
    if let Some((row, room)) = draw::label_place(app, label) {
        let top = &mut app.kept.adjudication.top;
        *top = (*top).clamp((row + 1).saturating_sub(room), row);
    }
}
