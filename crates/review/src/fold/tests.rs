use super::*;
use crate::event::{GoldStatus, LabelDefinition, LabelRef, LabelSet, Reviewer};
use crate::testing::item;

fn who(id: &str) -> Reviewer {
    Reviewer::person(id.to_owned())
}

/// Events with ids `e0`, `e1`, ... in their order.
#[derive(Default)]
struct Script(Vec<Event>);

impl Script {
    fn push(&mut self, mut event: Event) -> Event {
        event.event_id = format!("e{}", self.0.len()).into();
        self.0.push(event.clone());
        event
    }

    fn judge(&mut self, reviewer: &str, id: &str, verdict: Verdict) -> Event {
        self.push(Event::verdict(who(reviewer), item(id), verdict))
    }

    fn undo(&mut self, reviewer: &str, of: &Event) -> Event {
        self.push(Event::undo(who(reviewer), of))
    }

    fn fold(&self) -> Reviews {
        fold(&self.0)
    }
}

fn fold(events: &[Event]) -> Reviews {
    let mut reviews = Reviews::default();
    for event in events {
        reviews.push(event.clone());
    }
    reviews
}

fn outcome(reviews: &Reviews, id: &str) -> Outcome {
    reviews.find(&item(id), None).map_or(Outcome::Open, ItemReviews::outcome)
}

#[test]
fn the_last_verdict_of_a_reviewer_counts_whatever_the_clock_says() {
    let mut script = Script::default();
    for (verdict, time) in [(Verdict::Fail, "2036-01-01T00:00:00Z"), (Verdict::Pass, "2016-01-01T00:00:00Z")] {
        let mut event = Event::verdict(who("ada"), item("a"), verdict);
        event.times.decided = Some(time.into());
        script.push(event);
    }
    assert_eq!(outcome(&script.fold(), "a"), Outcome::Pass);
}

#[test]
fn undo_and_redo_append() {
    let mut script = Script::default();
    let fail = script.judge("ada", "a", Verdict::Fail);
    let pass = script.judge("ada", "a", Verdict::Pass);
    let mut seen = vec![outcome(&script.fold(), "a")];
    let undo = script.undo("ada", &pass);
    seen.push(outcome(&script.fold(), "a"));
    script.undo("ada", &undo);
    seen.push(outcome(&script.fold(), "a"));
    script.undo("ada", &pass);
    seen.push(outcome(&script.fold(), "a"));
    script.undo("ada", &fail);
    seen.push(outcome(&script.fold(), "a"));
    assert_eq!(seen, [Outcome::Pass, Outcome::Fail, Outcome::Pass, Outcome::Fail, Outcome::Open]);
}

#[test]
fn only_what_one_said_oneself_is_undone() {
    let mut script = Script::default();
    let fail = script.judge("ada", "a", Verdict::Fail);
    script.undo("bob", &fail);
    let reviews = script.fold();
    assert_eq!((outcome(&reviews, "a"), reviews.counts.idle_undos), (Outcome::Fail, 1));
}

#[test]
fn undos_of_undos_end() {
    let mut script = Script::default();
    let mut last = script.judge("ada", "a", Verdict::Fail);
    for n in 1..=10 {
        last = script.undo("ada", &last);
        let expected = if n % 2 == 1 { Outcome::Open } else { Outcome::Fail };
        assert_eq!(outcome(&script.fold(), "a"), expected, "{n} undos");
    }
    // Undos that undo each other in a circle, and themselves.
    let mut circle = Script::default();
    let target = circle.judge("ada", "a", Verdict::Pass);
    for (own, other) in [(1, 2), (2, 3), (3, 1), (4, 4)] {
        let mut undo = Event::undo(who("ada"), &target);
        undo.supersedes = Some(format!("e{other}").into());
        undo.event_id = format!("e{own}").into();
        circle.0.push(undo);
    }
    assert_eq!(outcome(&circle.fold(), "a"), Outcome::Pass);
    let mut long = Script::default();
    let mut last = long.judge("ada", "a", Verdict::Fail);
    for _ in 0..20_000 {
        last = long.undo("ada", &last);
    }
    let started = std::time::Instant::now();
    long.fold();
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn files_put_together_in_any_order_give_the_same() {
    let (mut ada, mut bob) = (Script::default(), Script::default());
    let first = ada.judge("ada", "a", Verdict::Fail);
    ada.push(Event { supersedes: Some(first.event_id), ..Event::verdict(who("ada"), item("a"), Verdict::Pass) });
    let wrong = ada.judge("ada", "b", Verdict::Pass);
    ada.undo("ada", &wrong);
    bob.judge("bob", "a", Verdict::Pass);
    bob.judge("bob", "b", Verdict::Fail);
    for event in &mut bob.0 {
        event.event_id = Text::from(format!("bob-{}", event.event_id.utf8().unwrap()));
    }
    let state = |events: &[Event]| (outcome(&fold(events), "a"), outcome(&fold(events), "b"));
    let expected = (Outcome::Pass, Outcome::Fail);
    assert_eq!(state(&[ada.0.clone(), bob.0.clone()].concat()), expected);
    assert_eq!(state(&[bob.0.clone(), ada.0.clone()].concat()), expected);
    assert_eq!(state(&[ada.0.clone(), bob.0.clone(), ada.0.clone()].concat()), expected);
    let mut backwards = [ada.0.clone(), bob.0.clone()].concat();
    backwards.reverse();
    assert_eq!(state(&backwards), expected, "what took the place of another is known, and so is what was undone");
    let twice = fold(&[ada.0.clone(), ada.0.clone()].concat());
    assert_eq!((twice.len(), twice.counts.duplicates), (4, 4));
}

#[test]
fn two_reviewers_are_both_kept_and_an_adjudication_decides() {
    let mut script = Script::default();
    let one = script.judge("ada", "a", Verdict::Fail);
    let two = script.judge("bob", "a", Verdict::Pass);
    let reviews = script.fold();
    assert_eq!(outcome(&reviews, "a"), Outcome::Disputed);
    let reviewed = reviews.find(&item("a"), None).unwrap();
    assert_eq!(reviewed.verdicts(), [one.clone(), two.clone()]);
    assert_eq!(reviewed.verdict_of(&"bob".into()), Some(two.clone()));
    let mut decision = Event::verdict(who("eve"), item("a"), Verdict::Pass);
    decision.kind = EventKind::Adjudicate;
    decision.adjudicates = vec![one.event_id, two.event_id];
    let decision = script.push(decision);
    assert_eq!(outcome(&script.fold(), "a"), Outcome::Pass);
    script.undo("eve", &decision);
    assert_eq!(outcome(&script.fold(), "a"), Outcome::Disputed);
}

#[test]
fn a_verdict_on_other_content_is_stale() {
    let (old, new) = (Digest::of_bytes(b"old"), Digest::of_bytes(b"new"));
    let mut script = Script::default();
    let mut event = Event::verdict(who("ada"), item("a"), Verdict::Fail);
    event.seen.content_sha256 = Some(old);
    event.gold_status = Some(GoldStatus::Wrong);
    script.push(event);
    let reviews = script.fold();
    let reviewed = reviews.find(&item("a"), Some(&new)).unwrap();
    let then = reviewed.at(Some(&old));
    assert_eq!((then.outcome(), reviewed.at(None).outcome()), (Outcome::Fail, Outcome::Fail));
    assert_eq!(reviewed.outcome(), Outcome::Stale);
    assert_eq!((then.disputes_gold(), reviewed.disputes_gold()), (true, false));
    script.judge("bob", "a", Verdict::Pass);
    assert_eq!(script.fold().find(&item("a"), Some(&new)).unwrap().outcome(), Outcome::Pass);
}

#[test]
fn items_are_found_by_file_then_without_then_by_content() {
    let text = |text: &str| Some(Text::from(text.to_owned()));
    let at = |dataset: &str, id: &str| ItemRef { dataset: text(dataset), id: text(id), ..ItemRef::default() };
    let content = Digest::of_bytes(b"x");
    let mut script = Script::default();
    let mut event = Event::verdict(who("ada"), at("runs.jsonl", "a"), Verdict::Fail);
    event.seen.content_sha256 = Some(content);
    script.push(event);
    script.push(Event::verdict(who("ada"), at("other.jsonl", "a"), Verdict::Pass));
    script.push(Event::verdict(who("ada"), item("b"), Verdict::Skip));
    script.push(Event::verdict(who("ada"), ItemRef { row_index: Some(3), ..ItemRef::default() }, Verdict::Defer));
    let reviews = script.fold();
    let found = |item: &ItemRef, content: Option<&Digest>| reviews.find(item, content).map(ItemReviews::outcome);
    assert_eq!(found(&at("runs.jsonl", "a"), None), Some(Outcome::Fail));
    assert_eq!(found(&at("other.jsonl", "a"), None), Some(Outcome::Pass));
    assert_eq!(found(&at("renamed.jsonl", "a"), Some(&content)), Some(Outcome::Fail));
    assert_eq!(found(&at("renamed.jsonl", "a"), Some(&Digest::of_bytes(b"y"))), None);
    assert_eq!(found(&at("any.jsonl", "b"), None), Some(Outcome::Skip));
    assert_eq!(found(&ItemRef { row_index: Some(3), ..ItemRef::default() }, None), Some(Outcome::Defer));
    assert_eq!(reviews.items().count(), 4);
}

#[test]
fn a_draft_lives_until_the_next_word() {
    let mut script = Script::default();
    let draft = |note: &str| {
        let mut event = Event::new(EventKind::Note, who("ada"));
        event.item = Some(item("a"));
        (event.note, event.draft) = (Some(Text::from(note.to_owned())), true);
        event
    };
    script.push(draft("the s"));
    let later = script.push(draft("the sum is"));
    let of = |script: &Script| {
        let reviews = script.fold();
        reviews.find(&item("a"), None).unwrap().draft(&"ada".into())
    };
    assert_eq!(of(&script), Some(later));
    assert_eq!(outcome(&script.fold(), "a"), Outcome::Open);
    script.judge("bob", "a", Verdict::Pass);
    assert!(of(&script).is_some(), "of another reviewer");
    script.push(Event { draft: false, ..draft("the sum is off") });
    assert_eq!(of(&script), None);
    assert_eq!(script.fold().find(&item("a"), None).unwrap().notes().count(), 1);
}

#[test]
fn reveals_are_kept_by_reviewer() {
    let mut script = Script::default();
    let mut event = Event::new(EventKind::Reveal, who("ada"));
    (event.item, event.revealed) = (Some(item("a")), vec!["gold".into()]);
    script.push(event);
    let reviews = script.fold();
    let reviewed = reviews.find(&item("a"), None).unwrap();
    let revealed = |event: Event| (event.reviewer.id, event.revealed);
    let revealed: Vec<_> = reviewed.of_kind(EventKind::Reveal).map(revealed).collect();
    assert_eq!(revealed, [(Text::from("ada"), vec![Text::from("gold")])]);
}

#[test]
fn label_sets_hold_until_they_are_undone() {
    let set = |version, mapping| LabelSet {
        id: "default".into(),
        version,
        labels: vec![LabelDefinition { id: "slip".into(), name: "slip".into(), ..LabelDefinition::default() }],
        mapping,
    };
    let mut script = Script::default();
    let with = |set| Event { label_set: Some(Box::new(set)), ..Event::new(EventKind::LabelSet, who("ada")) };
    script.push(with(set(1, vec![])));
    let merge = script.push(with(set(2, vec![("sum".into(), vec!["slip".into()])])));
    let old = LabelRef { id: "sum".into(), set: "default".into(), version: 1 };
    let id = |script: &Script| script.fold().label_sets().resolve(&old)[0].id.clone();
    assert_eq!(id(&script), Text::from("slip"));
    script.undo("ada", &merge);
    assert_eq!(id(&script), Text::from("sum"));
}

#[test]
fn what_was_said_of_this_very_content_counts_before_what_was_said_of_another() {
    let [one, two, three] = ["one", "two", "three"].map(|text| Digest::of_bytes(text.as_bytes()));
    let mut script = Script::default();
    let mut say = |verdict, content, item: ItemRef| {
        let mut event = Event::verdict(who("ada"), item, verdict);
        event.seen.content_sha256 = Some(content);
        script.push(event);
    };
    // Two records of one id in one file, the second judged later.
    say(Verdict::Pass, one, ItemRef { row_index: Some(0), ..item("a") });
    say(Verdict::Fail, two, ItemRef { row_index: Some(1), ..item("a") });
    let reviews = script.fold();
    let outcome = |content| reviews.find(&item("a"), content).unwrap().outcome();
    assert_eq!((outcome(Some(&one)), outcome(Some(&two))), (Outcome::Pass, Outcome::Fail));
    assert_eq!((outcome(Some(&three)), outcome(None)), (Outcome::Stale, Outcome::Fail));
    assert_eq!(reviews.find(&item("a"), Some(&three)).unwrap().in_later_run().outcome(), Outcome::Fail);
}

#[test]
fn the_very_same_content_is_one_record_in_whatever_file_and_order() {
    let at = |dataset: &str| ItemRef { dataset: Some(Text::from(dataset.to_owned())), ..item("a") };
    let (same, other) = (Digest::of_bytes(b"same"), Digest::of_bytes(b"other"));
    let events = [
        ("ada", "runs.jsonl", Verdict::Pass, same),
        ("eve", "copy.jsonl", Verdict::Fail, same),
        ("bob", "copy.jsonl", Verdict::Fail, other),
        ("ada", "copy.jsonl", Verdict::Fail, other),
    ];
    let mut script = Script::default();
    for (reviewer, file, verdict, content) in events {
        let mut event = Event::verdict(who(reviewer), at(file), verdict);
        event.seen.content_sha256 = Some(content);
        script.push(event);
    }
    let backwards: Vec<Event> = script.0.iter().rev().cloned().collect();
    for reviews in [script.fold(), fold(&backwards)] {
        let said = |file: &str, content| {
            let reviewed = reviews.find(&at(file), content).unwrap();
            let mut said: Vec<_> = reviewed.fresh().iter().map(|e| (e.reviewer.id.clone(), e.verdict)).collect();
            said.sort();
            said
        };
        let (pass, fail) = (Some(Verdict::Pass), Some(Verdict::Fail));
        assert_eq!(said("runs.jsonl", Some(&same)), [("ada".into(), pass), ("eve".into(), fail)]);
        assert_eq!(said("copy.jsonl", Some(&other)), [("ada".into(), fail), ("bob".into(), fail)]);
        assert_eq!(said("runs.jsonl", None), [("ada".into(), pass)], "of another content nothing is known");
        assert_eq!(reviews.items().count(), 2);
    }
}
