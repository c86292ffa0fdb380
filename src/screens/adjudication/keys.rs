//! The keys and clicks of the adjudication.

use ratatui::layout::Position;

use crate::app::across::Across;
use crate::app::across::{self};
use crate::app::log::Log;
use crate::app::log::What;
use crate::app::msg::Effects;
use crate::app::review::Review;
use crate::app::review::ReviewDialog;
use crate::app::review::order::count_progress;
use crate::app::review::{self, LabelPurpose};
use crate::app::state::App;
use crate::app::status_line::StatusLine;
use crate::dialogs::dialog::{Dialog, Popup};
use crate::screens::adjudication::draw;
use crate::screens::adjudication::labels;
use crate::screens::adjudication::state;
use crate::screens::adjudication::state::Adjudication;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Reason, need};
use crate::widgets::list::{Move, scroll};
use stepscope_base::text::Shown;
use stepscope_io::log::journal::ONE_LOG;
use stepscope_io::source::beneath::Place;
use stepscope_review::event::{Event, EventKind, LabelRef, LabelSet, Reviewer, Verdict};

pub(crate) fn allowed(
    across: &Across,
    adjudication: &Adjudication,
    review: &Review,
    screens: &Screens,
    action: Action,
) -> Result<(), Reason> {
    match action {
        Action::NextPane => Ok(()),
        Action::Open | Action::DecidePass | Action::DecideFail => {
            if action == Action::Open {
                across::keys::may_show_filtered(screens)?;
            } else if review.is_on() && !review.reviewing {
                review::may::may_review(review)?;
            }
            let any = across.judged.as_ref().is_some_and(|judged| adjudication.case(judged).is_some());
            need(any, "nothing to decide")
        }
        // A verdict that was given elsewhere is not undone where it is not seen.
        Action::Undo => review::may::may_review(review).and_then(|()| {
            need(review.undoes_decision(), "no final verdict to undo; <back> leads to the other verdicts")
        }),
        Action::Redo => review::may::may_review(review).and_then(|()| {
            need(review.redoes_decision(), "no final verdict to redo; <back> leads to the other verdicts")
        }),
        _ => need(action.is_plain(), across::keys::NOT_HERE),
    }
}

pub(crate) fn act(app: &mut App, action: Action) -> Option<Effects> {
    let chosen = app.kept.adjudication.choosing.as_ref();
    match action {
        Action::Open if chosen.is_some() => {
            let chosen = app.kept.adjudication.choosing.take().unwrap_or_default();
            return Some(decide(app, Verdict::Fail, &chosen));
        }
        Action::Escape | Action::Back if chosen.is_some() => app.kept.adjudication.choosing = None,
        Action::GiveLabel => {
            let (area, count) = (app.area(), app.count);
            let given = labels::give_nth(area, &app.across, &mut app.kept.adjudication, &app.keymap, count);
            return Some(given.map_or_else(|why| app.status.say(Shown::own(why)), |()| Vec::new()));
        }
        Action::FindLabel => {
            let labels = ReviewDialog::labels(LabelPurpose::Decide);
            app.screens.open_dialog(Dialog::Review(labels));
        }
        Action::NextPane => show_agreement(&app.across, &mut app.screens, &mut app.status),
        Action::Open => return Some(open_case(app)),
        Action::DecidePass | Action::DecideFail if warns(&app.across, &mut app.kept.adjudication) => {
            return Some(app.status.say(app.keymap.shown(OWN)));
        }
        Action::DecidePass => return Some(decide(app, Verdict::Pass, &[])),
        Action::DecideFail => app.kept.adjudication.choosing = Some(Vec::new()),
        _ => return None,
    }
    Some(Vec::new())
}

/// Said before a person decides between their own verdict and another.
const OWN: &str = "One of these verdicts is yours: leave it to another adjudicator, or press the key again";

/// Tells whether it is yet to be said that the person's own verdict is one of those to decide between, and notes that.
fn warns(across: &Across, adjudication: &mut Adjudication) -> bool {
    let case = across.judged.as_ref().and_then(|judged| adjudication.case(judged));
    let own = case.filter(|case| state::is_own(case, across.reviewer.as_ref()));
    let item = own.map(|case| case.summary.item.clone());
    let is_new = item.is_some() && adjudication.warned != item;
    adjudication.warned = item.or(adjudication.warned.take());
    is_new
}

/// Moves the cursor, or scrolls by pages through the verdicts on the item.
pub(crate) fn go(app: &mut App, movement: Move) {
    let cases = app.across.judged.as_ref().map_or(0, |judged| judged.cases.len());
    let (lines, room) = draw::size(app);
    let height = draw::height(app.area(), &app.across, &app.kept.adjudication, &app.keymap);
    let adjudication = &mut app.kept.adjudication;
    let before = adjudication.list.at;
    if matches!(movement, Move::HalfPages(_) | Move::Pages(_)) {
        scroll(&mut adjudication.top, movement, lines, room);
    } else {
        adjudication.list.go(movement, cases, height);
    }
    if adjudication.list.at != before {
        (adjudication.top, adjudication.choosing) = (0, None);
    }
    adjudication.top = adjudication.top.min(lines.saturating_sub(room));
}

/// Brings the cursor where the mouse is; where it is already, opens.
pub(crate) fn click(app: &mut App, at: Position) -> Option<Action> {
    let row = draw::row_of(app.area(), &app.across, &app.kept.adjudication, &app.keymap, at)?;
    let again = app.kept.adjudication.list.at == row;
    go(app, Move::To(row));
    again.then_some(Action::Open)
}

/// Opens the record that reviewers disagree about.
fn open_case(app: &mut App) -> Effects {
    let case = app.across.judged.as_ref().and_then(|judged| app.kept.adjudication.case(judged));
    let record = case.and_then(|case| app.store.position(case.address.0, case.address.1));
    let Some(record) = record else {
        return app.status.say(Shown::own("this record was deleted"));
    };
    let mut effects = app.back_to_table();
    app.table.list.at = app.table.row_of(record);
    effects.extend(app.request(record, ScreenKind::Run));
    effects
}

fn decide(app: &mut App, verdict: Verdict, chosen: &[usize]) -> Effects {
    app.kept.adjudication.choosing = None;
    let Some(judged) = app.across.judged.clone() else { return Vec::new() };
    let Some(case) = app.kept.adjudication.case(&judged) else { return Vec::new() };
    let (Some(journal), Some(reviewer)) = (app.across.journals.own(), app.across.reviewer.clone()) else {
        app.status.fail(Shown::own(ONE_LOG));
        return Vec::new();
    };
    let labels: Vec<LabelRef> = chosen.iter().filter_map(|label| Some(judged.labels.get(*label)?.0.clone())).collect();
    let label_set = judged.offered.as_ref().filter(|_| !labels.is_empty());
    let mut effects = write_label_set(&mut app.log, &mut app.review, &journal, &reviewer, label_set);
    let mut event = state::decide(case, reviewer, verdict, labels);
    let same = |earlier: &Event| {
        (&earlier.item, earlier.verdict, &earlier.labels) == (&event.item, event.verdict, &event.labels)
    };
    if let Some(earlier) = app.log.take_decision(same) {
        event.event_id = earlier.event_id;
    }
    // It holds at once, so that undo takes back this one and not the one before.
    let event = app.review.say(event);
    count_progress(&mut app.review, &app.store, &mut app.table, &app.forks.tree);
    effects.extend(app.log.event(journal, What::Decision(Box::new(event))));
    effects
}

/// Writes down the labels that are only offered, before the first of them is given.
fn write_label_set(
    log: &mut Log,
    review: &mut Review,
    journal: &Place,
    reviewer: &Reviewer,
    offered: Option<&LabelSet>,
) -> Effects {
    let Some(offered) = offered else { return Vec::new() };
    if log.events().any(|(event, _)| event.kind == EventKind::LabelSet) {
        // It is on its way already.
        return Vec::new();
    }
    let mut event = Event::new(EventKind::LabelSet, reviewer.clone());
    event.label_set = Some(Box::new(offered.clone()));
    (review.clock.stamp)(&mut event);
    log.event(journal.clone(), What::Verdict(Box::new(event))).into_iter().collect()
}

fn show_agreement(across: &Across, screens: &mut Screens, status: &mut StatusLine) {
    let Some(judged) = across.judged.as_ref().filter(|judged| !judged.agreement.is_empty()) else {
        status.say(Shown::own("no reviews yet"));
        return;
    };
    let text = judged.agreement.iter().cloned().reduce(|text, line| text.and("\n").join(&line)).unwrap_or_default();
    screens.open_dialog(Dialog::Popup(Popup { title: Shown::own("Agreement"), text }));
}
