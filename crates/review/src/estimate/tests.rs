use super::*;
use crate::event::{Event, Reviewer, Text, Verdict};
use crate::fold::Reviews;
use crate::join::Index;
use crate::queue::Queue;
use crate::summary::Summary;
use stepscope_judge::case::Case;
use stepscope_judge::row::RowFacts;

/// A record, graded or not.
fn record(at: usize, correct: Option<bool>) -> Summary {
    let correct = correct.map_or_else(String::new, |correct| format!(r#", "correct": {correct}"#));
    let text = format!(r#"{{"id": "{at}", "question": "q{at}", "mode": "baseline", "pred_answer": "{at}"{correct}}}"#);
    let case = Case::read(text.as_bytes());
    let view = case.view();
    let mut summary = Summary::of(&view, view.findings(), Some("runs.jsonl".into()), at as u64);
    summary.take_signal(&view);
    summary
}

/// Records of which each third is graded right, graded wrong, and not graded.
fn records(count: usize) -> Vec<Summary> {
    (0..count).map(|at| record(at, [Some(true), Some(false), None][at % 3])).collect()
}

fn verdict(summary: &Summary, passes: bool, drawn: Option<Draw>) -> Event {
    let verdict = if passes { Verdict::Pass } else { Verdict::Fail };
    Event {
        event_id: Text::from(format!("{:?} {drawn:?}", summary.item.id)),
        seen: summary.seen(),
        drawn: drawn.map(Draw::text),
        ..Event::verdict(Reviewer::person("ada"), summary.item.clone(), verdict)
    }
}

/// Positions of records in the order of a queue.
fn order(records: &[Summary], seed: u64, sampled: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    let sooner = |at: usize| sampled && !records[at].signal.unwrap().is_doubtful();
    let place = |at: usize| drawn_number(seed, at) * if sooner(at) { 2.0 } else { 1.0 };
    order.sort_by(|a, b| place(*a).total_cmp(&place(*b)));
    order
}

fn draw(records: &[Summary], at: usize, seed: u64, sampled: bool) -> Draw {
    if sampled { Draw::sampled(seed, records[at].signal.unwrap()) } else { Draw { seed, from: DrawnFrom::All } }
}

fn accuracy(records: &[Summary], events: impl IntoIterator<Item = Event>) -> Accuracy {
    let mut reviews = Reviews::default();
    events.into_iter().for_each(|event| _ = reviews.push(event));
    Index::of(records).join(&reviews).accuracy()
}

fn stated(accuracy: Accuracy) -> Estimate {
    match accuracy {
        Accuracy::Stated(estimate) => estimate,
        other => panic!("{other:?}"),
    }
}

/// Truth: of the graded ones nearly all are as graded, of the others half pass.
fn passes(at: usize) -> bool {
    match at % 3 {
        0 => at % 10 != 9,
        1 => at % 10 == 1,
        _ => at.is_multiple_of(2),
    }
}

#[test]
fn a_signal_is_what_a_record_tells_without_a_person() {
    let of = |text: &str| {
        let case = Case::read(text.as_bytes());
        let view = case.view();
        Signal::of(&RowFacts::of(&view, true))
    };
    assert_eq!(of("{"), Signal::Failed);
    assert_eq!(of(r#"{"id": 1, "mode": "baseline", "pred_answer": "4", "correct": false}"#), Signal::Wrong);
    assert_eq!(of(r#"{"id": 1, "mode": "baseline", "pred_answer": "4", "correct": true}"#), Signal::Right);
    assert_eq!(of(r#"{"question": "2 and 2?", "steps": ["2 + 2 = 4. The answer is 4."]}"#), Signal::Quiet);
    assert_eq!(of(r#"{"question": "2 and 2?", "steps": ["2 + 2 = 5. The answer is 5."]}"#), Signal::Accused);
    assert!(Signal::ALL.is_sorted_by(|a, b| a.guess() <= b.guess()), "neighbours are alike");
    for draw in [Draw { seed: 7, from: DrawnFrom::All }, Draw::sampled(u64::MAX, Signal::Quiet)] {
        assert_eq!(Draw::parse(&draw.text()), Some(draw));
    }
    for text in ["", "7", "7:some", "x:all", ":all"] {
        assert_eq!(Draw::parse(&text.into()), None, "{text}");
    }
}

#[test]
fn the_row_and_the_record_have_one_signal_and_one_number() {
    let records = records(30);
    let queue = Queue { shuffle: Some(7), sampled: true, ..Queue::default() };
    let row = |at: usize| {
        let correct = [r#", "correct": true"#, r#", "correct": false"#, ""][at % 3];
        let text = format!(r#"{{"id": "{at}", "question": "q", "mode": "baseline", "pred_answer": "1"{correct}}}"#);
        let case = Case::read(text.into_bytes());
        RowFacts::of(&case.view(), true)
    };
    let mut keyed: Vec<usize> = (0..30).collect();
    keyed.sort_by_key(|at| queue.key(*at, &row(*at)));
    assert_eq!(keyed, order(&records, 7, true));
    for at in 0..30 {
        assert_eq!(queue.drawn(&row(at)), Some(draw(&records, at, 7, true).text()));
    }
    let part = Queue { clean_share: Some(0.5), ..queue };
    assert_eq!((part.drawn(&row(0)), Queue::default().drawn(&row(0))), (None, None), "of a part nothing follows");
}

#[test]
fn strata_are_averaged_and_weighed() {
    let stratum = |records, verdicts, passed, usual: f64| Stratum { records, verdicts, passed, guess: usual * records };
    // As benches/review.py calculates it.
    let (share, half) = share_of(&[stratum(500.0, 20.0, 1.0, 0.08), stratum(500.0, 40.0, 38.0, 0.97)]);
    assert!((share - 0.5).abs() < 1e-12 && (half - 0.060_608_0).abs() < 1e-6, "{share} {half}");
    assert_eq!(share_of(&[stratum(4.0, 4.0, 3.0, 0.5)]), (0.75, 0.0));
    // Two verdicts are joined with the neighbour that is more like them.
    let all = [stratum(50.0, 9.0, 1.0, 0.1), stratum(50.0, 2.0, 2.0, 0.9), stratum(50.0, 9.0, 9.0, 0.95)];
    let joined = with_enough(all.to_vec()).unwrap();
    assert_eq!(joined.iter().map(|one| one.verdicts).collect::<Vec<_>>(), [9.0, 11.0]);
    assert!(with_enough(vec![stratum(50.0, 3.0, 1.0, 0.1)]).is_none());
    assert_eq!(with_enough(Vec::new()).unwrap().len(), 0);
    for (freedom, quantile) in [(4.0, 2.776), (10.0, 2.228), (30.0, 2.042), (1e9, 1.960)] {
        assert!((student(freedom) - quantile).abs() < 0.05, "{freedom}");
    }
}

#[test]
fn nothing_is_stated_of_verdicts_that_people_chose() {
    let records = records(300);
    let chosen = |count: usize| (0..count).map(|at| verdict(&records[at], passes(at), None)).collect::<Vec<_>>();
    assert_eq!(accuracy(&records, chosen(0)), Accuracy::Unknown);
    assert_eq!(accuracy(&records, chosen(200)), Accuracy::Chosen);
    // Of all records it is no estimate.
    let all = stated(accuracy(&records, chosen(300)));
    assert_eq!((all.half, all.records), (0.0, 300));
    let right = (0..300).filter(|at| passes(*at)).count() as f64;
    assert!((all.share - right / 300.0).abs() < 1e-12);
    assert!(all.phrase().as_str().ends_with("all 300 records are judged"), "{}", all.phrase());
}

#[test]
fn records_count_in_the_order_in_which_they_were_drawn() {
    let records = records(300);
    for sampled in [false, true] {
        let order = order(&records, 7, sampled);
        let drawn = |at: usize| verdict(&records[at], passes(at), Some(draw(&records, at, 7, sampled)));
        let first = || order.iter().take(100).map(|at| drawn(*at)).collect::<Vec<_>>();
        let estimate = stated(accuracy(&records, first()));
        assert_eq!((estimate.verdicts(), estimate.left_out, estimate.put_off), (100, 0, 0));
        // What was chosen far down the order changes nothing but the count of what is left out.
        let chosen = order.iter().skip(150).take(50).map(|at| verdict(&records[*at], false, None));
        let with_chosen = stated(accuracy(&records, first().into_iter().chain(chosen)));
        assert_eq!((with_chosen.share, with_chosen.half, with_chosen.left_out), (estimate.share, estimate.half, 50));
        // Nor does what was drawn behind an open record; where that leaves too few, nothing is stated.
        let mut open = first();
        open.remove(0);
        assert!(matches!(accuracy(&records, open), Accuracy::TooFew(count) if count < 60));
        // A record on the way that somebody chose before it was drawn counts: it would have been drawn.
        let mut earlier = first();
        earlier[10].drawn = None;
        assert_eq!(stated(accuracy(&records, earlier)), estimate);
        // What was put off may be either.
        let mut put_off = first();
        put_off[10].verdict = Some(Verdict::Skip);
        let wider = stated(accuracy(&records, put_off));
        assert_eq!((wider.verdicts(), wider.put_off), (99, 1));
        let ([low, high], [lower, higher]) = (estimate.ends(), wider.ends());
        assert!(lower <= low + 1e-9 && higher >= high - 1e-9 && higher - lower > high - low);
    }
}

#[test]
fn records_drawn_by_other_signals_give_no_figure() {
    let records = records(300);
    let order = order(&records, 7, true);
    let drawn = |at: &usize| verdict(&records[*at], passes(*at), Some(draw(&records, *at, 7, true)));
    let events: Vec<Event> = order.iter().take(100).map(drawn).collect();
    let mut changed = records.clone();
    changed[order[0]].signal =
        Some(if changed[order[0]].signal == Some(Signal::Quiet) { Signal::Right } else { Signal::Quiet });
    assert_eq!(accuracy(&changed, events.clone()), Accuracy::OtherSignals);
    let sentence = accuracy(&changed, events).phrase().unwrap();
    assert!(sentence.as_str().starts_with("not stated: the signals are not those of the draw"), "{sentence}");
}

#[test]
fn few_verdicts_and_many_say_what_they_are() {
    let records = records(600);
    let order = order(&records, 3, true);
    let of = |count: usize| {
        let drawn = |at: &usize| verdict(&records[*at], passes(*at), Some(draw(&records, *at, 3, true)));
        accuracy(&records, order.iter().take(count).map(drawn))
    };
    let few = of(59).phrase().unwrap();
    assert_eq!(few.as_str(), "not stated yet: 59 verdicts in the order drawn, at least 60 are needed");
    let part = Accuracy::TooFew(70).phrase().unwrap();
    assert_eq!(part.as_str(), "not stated yet: 70 verdicts in the order drawn, fewer than 4 on a part of the records");
    let some = stated(of(96));
    let phrase = some.phrase().into_string();
    assert!(phrase.contains(" from 96 verdicts; ") && phrase.contains(" more for ± "), "{phrase}");
    // The verdicts that are said to be missing are about as many as are missing.
    let (more, half) = some.more.unwrap();
    let then = stated(of(96 + more));
    assert!((0.75..1.15).contains(&(then.half / half)), "{} {half}", then.half);
    let mut line = Vec::new();
    stepscope_base::json::write::Style::ASCII.line(&mut line, |object| of(96).write("accuracy", object));
    let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!((&line["accuracy"]["verdicts"], &line["accuracy"]["records"]), (&96.into(), &600.into()));
}

/// What an interval of 95 % promises, for records whose signals are good, and for records whose signals are worthless.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let records = records(500);
    for is_worthless in [false, true] {
        let is_right = |at: usize| if is_worthless { at * 7 % 10 < 7 } else { passes(at) };
        let truth = (0..500).filter(|at| is_right(*at)).count() as f64 / 500.0;
        for sampled in [false, true] {
            let mut held = 0;
            for seed in 0..400 {
                let order = order(&records, seed, sampled);
                let drawn =
                    |at: &usize| verdict(&records[*at], is_right(*at), Some(draw(&records, *at, seed, sampled)));
                let estimate = stated(accuracy(&records, order.iter().take(100).map(drawn)));
                held += usize::from((estimate.share - truth).abs() <= estimate.half);
            }
            // 95 % of 400 are 380, give or take 9.
            assert!((364..=396).contains(&held), "{held} of 400, {is_worthless} {sampled}");
        }
    }
}
