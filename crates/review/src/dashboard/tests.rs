use super::*;
use crate::disagreement::disagreements;
use crate::event::EventKind;
use crate::stats::Stats;
use crate::summary::Summary;
use crate::testing;
use crate::testing::label;
use stepscope_judge::case::Case;

fn summary(id: usize, fix: Fix) -> Summary {
    let text = format!(r#"{{"id": "i{id}", "question": "q{id}", "gold_num": 5.0, "mode": "baseline", "state": {{}}}}"#);
    let case = Case::read(text.as_bytes());
    let view = case.view();
    Summary { fix: Some(fix), ..Summary::of(&view, view.findings(), Some("a.jsonl".into()), id as u64) }
}

fn say(
    reviews: &mut Reviews,
    who: &str,
    summary: &Summary,
    verdict: Verdict,
    labels: &[&str],
    more: impl FnOnce(&mut Event),
) {
    testing::say(reviews, who, summary, verdict, |event| {
        event.labels = labels.iter().map(|id| label(id)).collect();
        more(event);
    });
}

fn find<'b>(boards: &'b Dashboard, title: &str, name: &str) -> &'b DashboardLine {
    let board = boards.boards.iter().find(|board| board.title.contains(title)).unwrap();
    board.lines.iter().find(|line| line.name.as_str() == name).unwrap_or_else(|| panic!("{name} in {board:?}"))
}

fn behind<'b>(boards: &'b Dashboard, line: &DashboardLine, column: usize) -> &'b [usize] {
    &boards.sets[&line.cells[column].as_ref().unwrap().set]
}

#[test]
fn every_number_is_that_of_the_statistics_and_knows_its_records() {
    let summaries: Vec<Summary> = (0..6).map(|n| summary(n, if n < 4 { Fix::StepRun } else { Fix::None })).collect();
    let mut reviews = Reviews::default();
    let at = |event: &mut Event, target: &'static str, step, variable: Option<&'static str>, day: &'static str| {
        event.fix_target = Some(target.into());
        event.first_bad_step = step;
        event.variable = variable.map(Text::from);
        event.times.decided = Some(format!("2026-11-{day}T10:00:00Z").into());
        event.findings = Some(vec!["run/recompute".into()]);
    };
    say(&mut reviews, "ada", &summaries[0], Verdict::Fail, &["slip"], |e| at(e, "step_run", Some(3), Some("x"), "19"));
    say(&mut reviews, "ada", &summaries[1], Verdict::Fail, &["slip", "a, \"b\" c"], |e| {
        at(e, "step_run", Some(3), None, "20");
    });
    say(&mut reviews, "ada", &summaries[2], Verdict::Fail, &[], |e| at(e, "gold", None, None, "20"));
    say(&mut reviews, "ada", &summaries[3], Verdict::Pass, &[], |e| at(e, "none", None, None, "20"));
    say(&mut reviews, "ada", &summary(77, Fix::None), Verdict::Fail, &["slip"], |_| {});
    let boards = Dashboard::of(&reviews, &summaries, &[Some(2), Some(3), None, None, None, None]);
    assert_eq!((boards.judged, boards.gone, boards.elsewhere), (4, 1, 0));

    assert_eq!(behind(&boards, find(&boards, "Reviews", "fail"), 0), [0, 1, 2]);
    let fix = find(&boards, "fix: reviewers", "step_run");
    assert_eq!((fix.depth, behind(&boards, fix, 0)), (0, &[0, 1][..]));
    let step = find(&boards, "fix: reviewers", "step 3");
    assert_eq!((step.depth, behind(&boards, step, 0)), (1, &[0, 1][..]));
    assert_eq!(behind(&boards, find(&boards, "fix: reviewers", "x"), 0), [0]);
    assert_eq!(behind(&boards, find(&boards, "automatic", "step 2"), 0), [0]);
    assert_eq!(behind(&boards, find(&boards, "automatic", "step_run"), 0), [0, 1, 2, 3]);

    let slip = find(&boards, "Labels", "slip");
    assert_eq!(slip.cells.iter().map(|cell| cell.as_ref().map_or(0, |cell| cell.count)).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(behind(&boards, slip, 2), [1]);
    let odd = find(&boards, "Labels", "a, \"b\" c").cells[0].as_ref().unwrap();
    assert_eq!(odd.set, "board:label/a___b__c");

    // Without the item that is no record here, the statistics of the shell say the same.
    let index = Index::of(&summaries);
    let stats = Stats::of(&reviews, &index.join(&reviews));
    let rule = find(&boards, "Rule precision", "run/recompute");
    assert_eq!((behind(&boards, rule, 0), behind(&boards, rule, 1)), (&[0, 1, 2][..], &[3][..]));
    assert_eq!(rule.tail.as_str(), stats.rules[&"run/recompute".into()].phrase());
    let triage = find(&boards, "Where-to-fix accuracy", "step_run");
    assert_eq!((triage.tail.as_str(), behind(&boards, triage, 1)), (stats.triage.phrase().as_str(), &[2][..]));
}

#[test]
fn names_that_look_the_same_stay_apart() {
    let summaries = [summary(0, Fix::StepRun), summary(1, Fix::StepRun)];
    let mut reviews = Reviews::default();
    say(&mut reviews, "ada", &summaries[0], Verdict::Fail, &["a b"], |_| {});
    say(&mut reviews, "ada", &summaries[1], Verdict::Fail, &["a_b"], |_| {});
    let boards = Dashboard::of(&reviews, &summaries, &[]);
    assert_eq!(behind(&boards, find(&boards, "Labels", "a b"), 0), [0]);
    assert_eq!(behind(&boards, find(&boards, "Labels", "a_b"), 0), [1]);
}

#[test]
fn who_disagrees_is_shown_until_somebody_decides() {
    let summaries: Vec<Summary> = (0..4).map(|n| summary(n, Fix::None)).collect();
    let mut reviews = Reviews::default();
    for (who, verdicts) in
        [("ada", [Verdict::Fail; 4]), ("bob", [Verdict::Fail, Verdict::Pass, Verdict::Fail, Verdict::Skip])]
    {
        for (n, verdict) in verdicts.into_iter().enumerate() {
            let labels = [if n == 2 && who == "bob" { "plan" } else { "slip" }];
            let labels = &labels[usize::from(verdict != Verdict::Fail)..];
            say(&mut reviews, who, &summaries[n], verdict, labels, |_| {});
        }
    }
    let found = disagreements(&reviews, &summaries);
    let what: Vec<_> =
        found.iter().map(|dispute| (dispute.record, dispute.labels_only, dispute.voices.len())).collect();
    assert_eq!(what, [(1, false, 2), (2, true, 2)]);
    say(&mut reviews, "eve", &summaries[1], Verdict::Pass, &[], |event| {
        event.kind = EventKind::Adjudicate;
    });
    assert_eq!(disagreements(&reviews, &summaries).len(), 1);
}

#[test]
fn two_reviewers_are_a_matrix_that_agrees_with_the_agreement() {
    let summaries: Vec<Summary> = (0..24).map(|n| summary(n, Fix::None)).collect();
    let mut reviews = Reviews::default();
    let verdict = |fails: bool| if fails { Verdict::Fail } else { Verdict::Pass };
    for (n, summary) in summaries.iter().enumerate() {
        say(&mut reviews, "bob", summary, verdict(n % 3 == 0), &[], |e| e.times.decided = Some("2026-11-20".into()));
        say(&mut reviews, "ada", summary, verdict(n % 4 == 0), &[], |_| {});
    }
    let boards = Dashboard::of(&reviews, &summaries, &[]);
    let pair = find(&boards, "Agreement by pair of reviewers", "A passes");
    assert!(find(&boards, "Agreement by pair of reviewers", "A ada, B bob").cells.is_empty(), "a name has no figures");
    let fails = find(&boards, "Agreement by pair of reviewers", "A fails");
    assert_eq!(behind(&boards, fails, 1), [0, 12]);
    assert_eq!(behind(&boards, fails, 0), [4, 8, 16, 20]);
    assert_eq!(behind(&boards, pair, 1), [3, 6, 9, 15, 18, 21]);
    assert_eq!(behind(&boards, pair, 0).len(), 12);
    let index = Index::of(&summaries);
    let all = crate::agreement::Agreement::of(&reviews, &index.join(&reviews)).all.unwrap();
    let (agreed, kappa) = (all.verdict.agreed, all.verdict.kappa.unwrap());
    assert!(pair.tail.as_str().contains(&format!("{agreed} of 24")), "{}", pair.tail);
    assert_eq!(fails.tail.as_str(), format!("Cohen's kappa {kappa:.2}"));
    let few = Dashboard::of(&reviews, &summaries[..19], &[]);
    let tail = |name: &str| find(&few, "Agreement by pair of reviewers", name).tail.as_str().to_owned();
    assert_eq!((tail("A passes"), tail("A fails")), ("11 of 19 agree".into(), "kappa from 20 items".into()));
    assert_eq!(behind(&boards, find(&boards, "Pace", "bob"), 2).len(), 24, "under the day");
}

#[test]
fn the_most_frequent_labels_sum_up() {
    let summaries: Vec<Summary> = (0..4).map(|n| summary(n, Fix::None)).collect();
    let mut reviews = Reviews::default();
    for (n, summary) in summaries.iter().enumerate() {
        say(&mut reviews, "ada", summary, Verdict::Fail, &[if n == 3 { "plan" } else { "slip" }], |_| {});
    }
    let boards = Dashboard::of(&reviews, &summaries, &[]);
    let share = |label| find(&boards, "Labels", label).tail.as_str().trim().to_owned();
    assert_eq!([share("slip"), share("plan")], ["75 % cumulative", "100 % cumulative"]);
}

#[test]
fn hours_days_and_months_are_columns() {
    let heads = |times: &[&str]| {
        let times: Vec<String> = times.iter().map(|time| (*time).to_owned()).collect();
        let found = TimeColumns::of(&times.iter());
        found.columns.iter().map(|time| found.head(time)).collect::<Vec<_>>()
    };
    assert_eq!(heads(&["2026-11-20T09:10:00Z", "2026-11-20T13:00:00Z"]), ["09:00", "13:00"]);
    assert_eq!(heads(&["2026-11-20T09:10:00Z", "", "2026-11-21T13:00:00Z"]), ["no date", "11-20", "11-21"]);
    let many: Vec<String> = (1..29).map(|day| format!("2026-{:02}-{day:02}T", 1 + day / 14)).collect();
    assert_eq!(heads(&many.iter().map(String::as_str).collect::<Vec<_>>()), ["2026-01", "2026-02", "2026-03"]);
    assert_eq!(heads(&["漢字漢字漢字"]), ["漢字漢字漢字"]);
}
