//! The labels of a final verdict: giving and taking them, by their keys or from the list.

use ratatui::layout::Rect;

use crate::app::across::Across;
use crate::screens::adjudication::draw;
use crate::screens::adjudication::state;
use crate::screens::adjudication::state::Adjudication;
use crate::widgets::keymap::Keymap;
use stepscope_review::event::Text;

/// Gives or takes the label of the number that was typed; `Err`: there is none.
pub(crate) fn give_nth(
    area: Rect,
    across: &Across,
    adjudication: &mut Adjudication,
    keymap: &Keymap,
    count: Option<usize>,
) -> Result<(), &'static str> {
    let (Some(judged), Some(label)) = (&across.judged, count.and_then(|n| n.checked_sub(1))) else {
        return Ok(());
    };
    let order = adjudication.case(judged).map(|case| state::in_order(judged, case));
    let keyed = order.filter(|_| label < state::offered(judged).len());
    let label = keyed.and_then(|order| order.get(label).copied()).ok_or("no such label")?;
    toggle_shown(area, across, adjudication, keymap, label);
    Ok(())
}

/// Gives or takes a label that was looked for.
pub(crate) fn toggle(area: Rect, across: &Across, adjudication: &mut Adjudication, keymap: &Keymap, id: &Text) {
    let labels = across.judged.as_ref().map(|judged| judged.labels.as_slice()).unwrap_or_default();
    if let Some(label) = labels.iter().position(|(label, _)| label.id == *id) {
        toggle_shown(area, across, adjudication, keymap, label);
    }
}

/// Gives or takes a label, and keeps it on screen: a key does not change what is out of view.
fn toggle_shown(area: Rect, across: &Across, adjudication: &mut Adjudication, keymap: &Keymap, label: usize) {
    adjudication.toggle(label);
    if let Some((row, room)) = draw::label_place(area, across, adjudication, keymap, label) {
        let top = &mut adjudication.top;
        *top = (*top).clamp((row + 1).saturating_sub(room), row);
    }
}
