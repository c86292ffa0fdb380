//! Verdicts and what belongs to them: given, changed, taken back and given again.

use crate::app::review::{Draft, NO_VERDICT, Review};
use crate::screens::stack::Screens;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::panes::turn;
use crate::widgets::sign;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::hide::Hide;
use stepscope_judge::triage::Fix;
use stepscope_review::event::{
    Anchor, AnswerPart, Event, EventKind, GoldStatus, LabelDefinition, LabelRef, LabelSet, Text, Verdict,
};
use stepscope_review::fold::is_fresh;
use unicode_width::UnicodeWidthStr as _;

/// Largest number of labels in a set.
const MAX_LABELS: usize = 1_000;
/// Neither of the choices.
const NO_OPINION: &str = "no opinion";

/// The sign of a verdict.
pub(crate) const fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => sign::PASSED,
        Verdict::Fail => sign::REJECTED,
        Verdict::Defer => sign::DEFERRED,
        Verdict::Skip => sign::SKIPPED,
    }
}

/// All choices of a key that goes round, the present one in brackets.
fn choices(words: &[&str], now: &str) -> String {
    let word = |word: &&str| if *word == now { format!("[{word}]") } else { (*word).to_owned() };
    words.iter().map(word).collect::<Vec<_>>().join(" · ")
}

impl Review {
    // Saying.

    /// Says something that is to be saved, and returns its id.
    pub(crate) fn save(&mut self, event: Event) -> Text {
        let event = self.say(event);
        let id = event.event_id.clone();
        self.said.push(event);
        id
    }

    /// Says something of what is in front.
    pub(crate) fn say_event(&mut self, event: Event) {
        self.save(event);
        self.leaving = None;
        self.count_since_new_label();
    }

    /// Writes the labels down if they are only offered so far, before the first is given.
    fn write_offered(&mut self) {
        if self.labels_are_offered() {
            self.say_label_set(self.label_set());
        }
    }

    fn say_label_set(&mut self, set: LabelSet) {
        let event = Event::new(EventKind::LabelSet, self.me.clone());
        self.say_event(Event { label_set: Some(Box::new(set)), ..event });
    }

    /// Writes down the set that these labels are from.
    pub(crate) fn write_label_set(&mut self, labels: &[LabelRef]) {
        if !labels.is_empty() {
            self.write_offered();
        }
    }

    /// Writes down a new version of the labels. What is only offered is written down first, so that it has a history.
    pub(crate) fn new_label_set(&mut self, mut set: LabelSet) {
        self.write_offered();
        set.labels.truncate(MAX_LABELS);
        self.say_label_set(set);
    }

    // Verdicts.

    /// Begins the draft with the earlier verdict, unless something was begun already.
    pub(crate) fn take_up(&mut self) {
        let again = self.target.as_ref().is_some_and(|target| target.again);
        if self.draft.is_empty() && !again {
            self.draft = self.verdict().map(|event| Draft::of(&event)).unwrap_or_default();
        }
    }

    /// Begins to choose the labels of a failed record.
    pub(crate) fn begin_fail(&mut self) {
        if !self.draft.choosing {
            self.take_up();
            self.draft.choosing = true;
        }
        self.drafts_changed = true;
    }

    /// Gives the target a verdict with its draft; `drawn`: how chance chose it. Returns the name of the record and the
    /// labels.
    pub(crate) fn give(&mut self, verdict: Verdict, drawn: Option<Text>) -> Option<(Shown, Vec<LabelRef>)> {
        self.take_up();
        let mut draft = std::mem::take(&mut self.draft);
        if verdict != Verdict::Fail {
            draft.labels.clear();
            draft.step = None;
        }
        self.write_label_set(&draft.labels);
        let labels = draft.labels.clone();
        let mut event = self.verdict_event(verdict, draft)?;
        event.drawn = drawn;
        let name = self.title_of(&event);
        self.count_item();
        self.say_event(event);
        // What is repeated is judged now: where nothing comes after it, another key changes this verdict, and the strip
        // has it.
        if let Some(target) = &mut self.target {
            target.again = false;
        }
        self.drafts_changed = true;
        Some((name, labels))
    }

    /// A verdict on the target, in place of my earlier one.
    fn verdict_event(&self, verdict: Verdict, draft: Draft) -> Option<Event> {
        let mut event = self.event(EventKind::Verdict)?;
        draft.fill(&mut event);
        event.verdict = Some(verdict);
        let target = self.target.as_ref()?;
        let (item, content) = (&target.summary.item, &target.summary.content);
        let earlier = self.find(item, content);
        if let Some(earlier) = earlier.and_then(|reviewed| reviewed.verdict_of(&self.me.id)) {
            event.supersedes = Some(earlier.event_id.clone());
            // A changed verdict is not a repeat.
            if !target.again && is_fresh(&earlier, Some(content)) {
                event.times.shown.clone_from(&earlier.times.shown);
            }
        }
        Some(event)
    }

    /// Finds the verdict that a change belongs to at once, and when its record was shown.
    fn given_now(&self) -> Option<(Verdict, Option<Text>)> {
        let again = self.target.as_ref().is_some_and(|target| target.again);
        let given = self.verdict().and_then(|event| Some((event.verdict?, event.times.shown.clone())));
        given.filter(|_| !self.draft.choosing && !again)
    }

    /// Changes what belongs to a verdict, and returns the sentence that fits into so many columns: of a verdict that was
    /// given the change is saved at once, else it goes with the next.
    pub(crate) fn amend(&mut self, what: Shown, width: u16) -> Shown {
        self.drafts_changed = true;
        let Some((verdict, shown)) = self.given_now() else {
            // What is cut there would say "saved"; the strip has the draft.
            let whole = shown!("{what}; saved with your verdict");
            return if whole.as_str().width() < usize::from(width) { whole } else { what };
        };
        let draft = std::mem::take(&mut self.draft);
        self.write_label_set(&draft.labels);
        if let Some(mut event) = self.verdict_event(verdict, draft) {
            // It belongs to the look that gave the verdict: it is no second one.
            event.times.shown = shown;
            self.say_event(event);
        }
        what
    }

    /// A key has turned to the next choice: it is set already, no other key has to confirm it.
    fn turned(&mut self, subject: &str, key: &str, choices: &str, width: u16) -> Shown {
        let set = if self.given_now().is_some() { " set" } else { "" };
        self.amend(shown!("{subject}{set} ({key} next): {choices}"), width)
    }

    /// Turns to the next opinion of the expected answer.
    pub(crate) fn turn_gold(&mut self, key: &str, width: u16) -> Shown {
        self.take_up();
        let round = [Some(GoldStatus::Suspect), Some(GoldStatus::Wrong), Some(GoldStatus::Ok), None];
        let next = turn(&round, self.draft.gold, 1);
        self.draft.gold = next;
        let words = round.map(|gold| gold.map_or(NO_OPINION, GoldStatus::phrase));
        let choices = choices(&words, next.map_or(NO_OPINION, GoldStatus::phrase));
        self.turned("Expected answer", key, &choices, width)
    }

    /// Turns to the next place to fix, from the one that is proposed.
    pub(crate) fn turn_fix(&mut self, key: &str, width: u16) -> Shown {
        self.take_up();
        let proposed = self.target.as_ref().and_then(|target| target.summary.fix);
        let order = [Fix::StepRun, Fix::Procedure, Fix::Gold];
        let first = proposed.filter(|fix| order.contains(fix)).unwrap_or(Fix::StepRun);
        let at = order.iter().position(|fix| *fix == first).unwrap_or(0);
        let round: Vec<Fix> = order.iter().cycle().skip(at).take(order.len()).copied().collect();
        let now = self.draft.target.as_ref();
        let place = round.iter().position(|fix| now.is_some_and(|target| *target == fix.word()));
        let next = if now.is_none() { Some(first) } else { place.and_then(|n| round.get(n + 1).copied()) };
        self.draft.target = next.map(|fix| Text::from(fix.word()));
        let words: Vec<&str> = round.iter().map(|fix| fix.phrase()).chain([NO_OPINION]).collect();
        self.turned("Fix", key, &choices(&words, next.map_or(NO_OPINION, Fix::phrase)), width)
    }

    /// Shows what is hidden of the target, which is logged; returns its number and what that was.
    pub(crate) fn reveal_target(&mut self) -> Option<(usize, Hide)> {
        let mut event = self.event(EventKind::Reveal)?;
        let target = self.target.as_ref()?;
        let (record, hidden) = (target.record, target.hidden);
        event.revealed = hidden.words();
        self.reveal(record);
        self.say_event(event);
        Some((record, hidden))
    }

    /// Gives or takes a label.
    pub(crate) fn toggle(&mut self, label: &LabelDefinition) {
        let (sets, set) = (self.label_sets(), self.label_set());
        let mut labels = self.draft.labels.clone();
        let before = labels.len();
        labels.retain(|given| !sets.is_now(given, &set, &label.id));
        if labels.len() == before {
            labels.push(set.refer(&label.id));
        }
        self.draft.labels = labels;
        self.drafts_changed = true;
    }

    // Parts of an answer.

    /// Begins to choose the labels of a part that failed.
    pub(crate) fn begin_part(&mut self, part: AnswerPart) {
        let labels = self.part_labels(part);
        let draft = Draft { choosing: true, part: Some(part), labels, ..Draft::default() };
        self.beneath = std::mem::replace(&mut self.draft, draft);
        self.beneath.choosing = false;
    }

    /// Gives a part of the open answer, which stays in front, a verdict; returns the sentence that says so.
    pub(crate) fn judge_part(
        &mut self,
        (part, verdict): (AnswerPart, Verdict),
        labels: Vec<LabelRef>,
        screens: &Screens,
        keymap: &Keymap,
    ) -> Option<Shown> {
        self.write_label_set(&labels);
        let mut event = self.event(EventKind::Note)?;
        let answer = screens.record().and_then(|view| view.answer.as_ref());
        let pointer = answer.and_then(|answer| answer.pointer_of(part));
        event.anchors = pointer.map(|pointer| Anchor::Pointer(pointer.text())).into_iter().collect();
        (event.part, event.verdict, event.labels) = (Some(part), Some(verdict), labels);
        self.say_event(event);
        self.drafts_changed = true;
        let undo = keymap.key_of(Action::Undo);
        Some(shown!("{} {}: {} · {undo} undo", glyph(verdict), verdict.word(), part.phrase()))
    }

    // Undo.

    /// Takes back what was said last; returns it in a few words, with the last of its events.
    pub(crate) fn undo(&mut self) -> Option<(Shown, Event)> {
        let mut events = self.to_undo();
        let what = match events.as_slice() {
            [event] => self.what_of(event),
            events => shown!("{} of {} records", events.last()?.verdict.map_or("label", Verdict::word), events.len()),
        };
        let ids = events.iter().map(|event| self.save(Event::undo(self.me.clone(), event))).collect();
        self.undone.push(ids);
        let last = events.pop()?;
        self.repeat_again(last.times.shown.as_ref());
        self.same = Err(NO_VERDICT);
        Some((what, last))
    }

    /// Gives again what was taken back last; returns its record.
    pub(crate) fn redo(&mut self) -> Option<usize> {
        let undos = self.pop_undone();
        for undo in &undos {
            self.save(Event::undo(self.me.clone(), undo));
        }
        self.record_of(undos.first()?)
    }

    /// Phrases an event in a few words.
    fn what_of(&self, event: &Event) -> Shown {
        let item = self.title_of(event);
        if let (Some(part), Some(verdict)) = (event.part, event.verdict) {
            return shown!("{} {}", verdict.word(), part.phrase());
        }
        match (event.kind, event.verdict) {
            (EventKind::LabelSet, _) => Shown::own("label change"),
            (EventKind::Note, _) => shown!("note on {item}"),
            (_, Some(verdict)) => shown!("{} {item}", verdict.word()),
            _ => item,
        }
    }
}
