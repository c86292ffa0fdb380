use super::*;
use stepscope_judge::case::Case;
use stepscope_review::event::{Reviewer, Verdict};

fn summary(text: &str) -> Summary {
    let case = Case::read(text.as_bytes());
    let view = case.view();
    Summary::of(&view, view.findings(), None, 0)
}

/// Adds a person's verdict on a record; `more` completes it.
fn say(reviews: &mut Reviews, who: &str, summary: &Summary, verdict: Verdict, more: impl FnOnce(&mut Event)) {
    let mut event = Event::verdict(Reviewer::person(who.to_owned()), summary.item.clone(), verdict);
    event.event_id = format!("e{}", reviews.len()).into();
    event.seen = summary.seen();
    more(&mut event);
    reviews.push(event);
}

/// A run of a question: `id`, question, answer (gold is 5), and what the record says of it.
fn run(id: &str, question: &str, answer: f64, correct: bool) -> Summary {
    summary(&format!(
        r#"{{"id": {id}, "question": "{question}", "gold_num": 5.0, "mode": "baseline",
        "state": {{"final_answer_numerical": {answer}}}, "pred_num": {answer}, "correct": {correct}}}"#
    ))
}

fn error(id: &str) -> Summary {
    summary(&format!(r#"{{"id": {id}, "question": "q{id}", "procedure": null, "status": "error", "error": "x"}}"#))
}

fn pairs(join: &Join) -> Vec<(Option<usize>, Option<usize>, &'static str)> {
    join.pairs.iter().map(|pair| (pair.a, pair.b, pair.by.word())).collect()
}

#[test]
fn records_are_joined_by_id_else_by_question_never_by_position() {
    let a = [
        run("1", "one", 5.0, true),
        run("2", "two", 5.0, true),
        run("\"x\"", "three", 5.0, true),
        run("9", "nine", 1.0, false),
    ];
    let b = [
        run("\"y\"", "three ", 5.0, true),
        run("\"2\"", "two", 5.0, true),
        run("1", "one!", 5.0, true),
        run("7", "seven", 5.0, true),
    ];
    let join = Join::of(&a, &b);
    let expected = [
        (Some(0), Some(2), "id"),
        (Some(1), Some(1), "id"),
        (Some(2), Some(0), "question"),
        (Some(3), None, "alone"),
        (None, Some(3), "alone"),
    ];
    assert_eq!((pairs(&join).as_slice(), join.unlike), (expected.as_slice(), 1));
}

#[test]
fn of_an_id_that_stands_twice_the_first_counts() {
    let a = [run("1", "one", 5.0, true), run("1", "one", 6.0, false), run("2", "two", 5.0, true)];
    let b = [run("2", "two", 5.0, true), run("1", "one", 5.0, true), run("2", "two", 6.0, false)];
    let join = Join::of(&a, &b);
    assert_eq!(pairs(&join), [(Some(0), Some(1), "id"), (Some(2), Some(0), "id")]);
    let mut first = join.clone();
    let is_one = |one: &Summary| one.item.id == Some("1".into());
    first.retain([&a, &b], [&is_one, &is_one]);
    assert_eq!((pairs(&first), first.twice_a, first.twice_b), (vec![(Some(0), Some(1), "id")], vec![1], vec![]));
    assert_eq!((join.twice_a, join.twice_b), (vec![1], vec![2]));
}

#[test]
fn records_whose_question_repeats_are_not_paired() {
    let unnamed = |question: &str, answer: f64| {
        summary(&format!(
            r#"{{"question": "{question}", "mode": "baseline", "gold_num": 5, "state": {{}}, "pred_num": {answer}}}"#
        ))
    };
    let a = [unnamed("?", 5.0), unnamed("?", 6.0), unnamed("!", 5.0), unnamed("...", 6.0), unnamed("...", 6.0)];
    let b = [unnamed("!", 5.0), unnamed("?", 6.0), unnamed("?", 5.0)];
    let join = Join::of(&a, &b);
    let expected = [
        (Some(0), None, "repeated"),
        (Some(1), None, "repeated"),
        (Some(2), Some(0), "question"),
        (Some(3), None, "alone"),
        (Some(4), None, "alone"),
        (None, Some(1), "repeated"),
        (None, Some(2), "repeated"),
    ];
    assert_eq!(pairs(&join), expected);
    let counts = column(&a, &b, &Reviews::default(), Basis::Recorded);
    assert_eq!((counts.cells, counts.p), ([1, 0, 0, 0, 6], 1.0));
    assert_eq!((counts.a, counts.b), (Share { hits: 2, of: 5 }, Share { hits: 2, of: 3 }), "each run by itself");
    let none = Reviews::default();
    let side = |summaries| Side { summaries, reviews: &none, strict: false };
    assert!(judge(&join, side(&a), side(&b)).iter().all(|item| !item.is_regression() && !item.may_be_regression()));
}

#[test]
fn a_question_about_another_document_is_another_item() {
    let trace = |document: &str, id: &str| {
        summary(&format!(
            r#"{{"format": "stepscope.answer_trace", "id": "{id}", "doc_id": "{document}", "question": "?",
            "answer": {{"items": []}}}}"#
        ))
    };
    let a = [trace("lark", "x"), trace("other", "x")];
    let join = Join::of(&a, &[trace("other", "x")]);
    assert_eq!(pairs(&join), [(Some(0), None, "alone"), (Some(1), Some(0), "id")]);
    assert!(join.twice_a.is_empty());
    let join = Join::of(&a, &[trace("other", "y")]);
    assert_eq!(pairs(&join), [(Some(0), None, "alone"), (Some(1), Some(0), "question")]);
}

fn column(a: &[Summary], b: &[Summary], reviews: &Reviews, basis: Basis) -> BasisCounts {
    let none = Reviews::default();
    let join = Join::of(a, b);
    BasisCounts::of(
        &judge(
            &join,
            Side { summaries: a, reviews, strict: false },
            Side { summaries: b, reviews: &none, strict: false },
        ),
        basis,
    )
}

#[test]
fn every_item_is_in_one_of_five_cells_on_each_basis() {
    let q = |n: u32, answer, correct| run(&n.to_string(), &format!("q{n}"), answer, correct);
    let a = [
        q(1, 5.0, true),
        q(2, 5.0, true),
        q(3, 6.0, false),
        q(4, 6.0, false),
        error("5"),
        q(6, 5.0, true),
        q(7, 8.0, false),
    ];
    let b = [
        q(1, 5.0, true),
        q(2, 6.0, false),
        q(3, 5.0, true),
        q(4, 7.0, false),
        q(5, 5.0, true),
        q(8, 5.0, true),
        q(7, 8.0, false),
    ];
    let mut reviews = Reviews::default();
    let recorded = column(&a, &b, &reviews, Basis::Recorded);
    assert_eq!((recorded.cells, recorded.left_out), ([1, 1, 1, 2, 3], 0));
    assert_eq!((recorded.a, recorded.b), (Share { hits: 3, of: 6 }, Share { hits: 4, of: 7 }));
    assert_eq!(column(&a, &b, &reviews, Basis::GoldAdjusted), recorded, "without reviews nothing changes");

    // A person passes what was recorded wrong, and disputes the gold answers of two others.
    say(&mut reviews, "ada", &a[2], Verdict::Pass, |_| {});
    say(&mut reviews, "ada", &a[3], Verdict::Fail, |event| event.gold_status = Some(GoldStatus::Suspect));
    say(&mut reviews, "ada", &a[6], Verdict::Pass, |event| {
        (event.gold_status, event.correction) = (Some(GoldStatus::Wrong), Some("8".into()));
    });
    let reviewed = column(&a, &b, &reviews, Basis::Reviewed);
    assert_eq!((reviewed.cells, reviewed.a, reviewed.b), ([2, 2, 0, 1, 3], Share { hits: 5, of: 6 }, recorded.b));
    let adjusted = column(&a, &b, &reviews, Basis::GoldAdjusted);
    assert_eq!((adjusted.cells, adjusted.left_out), ([3, 1, 0, 0, 3], 1));
    assert_eq!((adjusted.a, adjusted.b), (Share { hits: 5, of: 5 }, Share { hits: 5, of: 6 }));
}

#[test]
fn a_stale_verdict_does_not_count() {
    let (old, new, b) = ([run("1", "q", 6.0, false)], [run("1", "q", 7.0, false)], [run("1", "q", 5.0, true)]);
    let mut reviews = Reviews::default();
    say(&mut reviews, "ada", &old[0], Verdict::Pass, |event| event.gold_status = Some(GoldStatus::Wrong));
    assert_eq!(column(&old, &b, &reviews, Basis::Reviewed).cells, [1, 0, 0, 0, 0]);
    assert_eq!(column(&new, &b, &reviews, Basis::Reviewed).cells, [0, 0, 1, 0, 0]);
    assert_eq!(column(&new, &b, &reviews, Basis::GoldAdjusted).left_out, 0);
}

#[test]
fn what_the_baseline_has_right_and_the_run_has_not_is_a_regression() {
    let none = Reviews::default();
    let a = [run("1", "q1", 6.0, false), error("2"), run("4", "q4", 5.0, true), run("5", "q5", 6.0, false)];
    let b = [
        run("1", "q1", 5.0, true),
        run("2", "q2", 5.0, true),
        run("3", "q3", 5.0, true),
        run("4", "q4", 6.0, false),
        run("5", "q5", 6.0, false),
    ];
    let join = Join::of(&a, &b);
    let regressions = |reviews: &Reviews| -> Vec<bool> {
        let items = judge(
            &join,
            Side { summaries: &a, reviews, strict: false },
            Side { summaries: &b, reviews: &none, strict: false },
        );
        items.iter().map(ComparedItem::is_regression).collect()
    };
    assert_eq!(regressions(&none), [true, true, false, false, true]);
    let mut reviews = Reviews::default();
    say(&mut reviews, "ada", &a[0], Verdict::Fail, |event| event.gold_status = Some(GoldStatus::Wrong));
    assert_eq!(regressions(&reviews), [false, true, false, false, true], "not by a gold answer that is disputed");
}

#[test]
fn a_verdict_that_names_no_run_is_not_the_baselines() {
    let (a, b) = ([run("1", "q", 6.0, false)], [run("1", "q", 6.0, false)]);
    let mut reviews = Reviews::default();
    say(&mut reviews, "ada", &a[0], Verdict::Pass, |event| event.seen.content_sha256 = None);
    let join = Join::of(&a, &b);
    let right = |strict| {
        let b = Side { summaries: &b, reviews: &reviews, strict };
        judge(&join, Side { summaries: &a, reviews: &reviews, strict: false }, b)[0].right(Basis::Reviewed)
    };
    assert_eq!((right(false), right(true)), ((Some(true), Some(true)), (Some(true), Some(false))));
}
