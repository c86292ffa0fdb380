use std::sync::Arc;

use super::departure::{Departure, DepartureKind, PeerValues, departure};
use super::reading::{given, track};
use crate::aligned::{AlignedBy, AlignedCounts, AlignedRun, Counterpart};
use crate::case::{Case, CaseView, Context};
use crate::peer::opinion::PeerStanding;
use crate::peer::{Peer, Soundness};
use crate::row::RowFacts;
use crate::triage::{Confidence, Fix};
use stepscope_base::text::Untrusted;
use stepscope_record::Record;
use stepscope_record::finding::Severity;
use stepscope_record::rule_id::RuleId;

const QUESTION: &str = "Ann has 3 bags of 4 pens each and buys 5 more. She gives 2 pens away. How many has she?";

/// What stands around a run: its peers, and the source that it comes from.
#[derive(Debug)]
struct Beside {
    peers: Vec<Arc<Peer>>,
    source: String,
}

impl Context for Beside {
    fn peers(&self, case: &CaseView<'_>) -> Vec<Arc<Peer>> {
        self.peers.iter().filter(|peer| !peer.is(case.text())).cloned().collect()
    }

    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        Untrusted::from(self.source.as_str())
    }
}

fn chain(steps: &[&str], rest: &str) -> String {
    let steps: Vec<String> = steps.iter().map(|step| format!("\"{step}\"")).collect();
    format!(r#"{{"question": "{QUESTION}", "steps": [{}]{rest}}}"#, steps.join(", "))
}

/// Reads runs, each from a source of its own.
fn peers(runs: &[String]) -> Vec<Arc<Peer>> {
    let of = |(at, run): (usize, &String)| {
        let around = Beside { peers: Vec::new(), source: format!("{}.jsonl", ["a", "b", "c", "d"][at]) };
        let case = Case::around(run.clone().into_bytes(), Arc::new(around));
        Arc::new(case.view().as_peer().expect("a run"))
    };
    runs.iter().enumerate().map(of).collect()
}

fn beside<T>(run: &str, others: &[String], then: impl FnOnce(&CaseView<'_>) -> T) -> T {
    let around = Beside { peers: peers(others), source: "run.jsonl".to_owned() };
    let case = Case::around(run.as_bytes().to_vec(), Arc::new(around));
    then(&case.view())
}

/// What `run/peers` says of a run.
fn said(run: &str, others: &[String]) -> Option<String> {
    beside(run, others, |case| {
        let mut found = case.findings().iter().filter(|finding| finding.rule == RuleId::Peers);
        let first = found.next();
        assert!(found.next().is_none() && first.is_none_or(|finding| finding.severity == Severity::Note));
        first.map(|finding| finding.message.line().into_string())
    })
}

fn right() -> String {
    chain(&["3 * 4 = 12 pens.", "12 + 5 = 17.", "17 - 2 = 15. The answer is 15."], "")
}

fn also_right() -> String {
    chain(&["She buys 5 and gives 2 away: 5 - 2 = 3.", "With 3 * 4 = 12 that is 12 + 3 = 15. The answer is 15."], "")
}

fn wrong() -> String {
    chain(&["3 + 4 = 7 pens.", "7 + 5 = 12.", "12 - 2 = 10. The answer is 10."], "")
}

#[test]
fn the_first_value_that_no_peer_has_is_named_with_who_has_what() {
    let told = said(&wrong(), &[right(), also_right()]).unwrap();
    assert_eq!(
        told,
        "Step 1 gives 7 as 3 + 4; 2 of 2 peers give 12 from the same numbers. The run answers 10; of its 2 peers 2 \
         (a.jsonl:0, b.jsonl:0) answer 15."
    );
    beside(&wrong(), &[right(), also_right()], |case| {
        let triage = case.triage().unwrap();
        assert_eq!((triage.fix, triage.step, triage.confidence), (Fix::Procedure, Some(0), Confidence::Unsure));
        let finding = case.findings().iter().find(|finding| finding.rule == RuleId::Peers).unwrap();
        assert_eq!(finding.place().pointer().text(), "/steps/0");
        let opinion = case.peer_opinion().unwrap();
        assert_eq!((opinion.of, opinion.agree, opinion.standing), (2, 0, PeerStanding::Against));
    });
}

#[test]
fn agreement_counts_answers_and_values_on_the_way() {
    let of = |run: &str, others: &[String]| {
        let mut found = None;
        beside(run, others, |case| {
            let row = RowFacts::of(case, true);
            let opinion = case.peer_opinion().map(|opinion| (opinion.agreement, opinion.values));
            found = opinion.map(|opinion| (row.peers(), row.shared_values(), opinion));
        });
        found
    };
    let (peers, values, opinion) = of(&right(), &[also_right(), wrong()]).unwrap();
    // Of 12 and 17 on the way one peer has 12, the other 12 as well.
    assert_eq!((peers, opinion), (Some([1, 2]), (Some(0.5), Some(0.5))));
    assert_eq!(values, Some(0.5));
    let (peers, _, (agreement, values)) = of(&wrong(), &[right(), also_right()]).unwrap();
    assert_eq!((peers, agreement, values), (Some([0, 2]), Some(0.0), Some(0.5)));
    // Neither the run nor its peers say what cannot be read.
    let silent = chain(&["3 * 4 = 12 pens.", "Then some."], "");
    let (peers, _, (agreement, _)) = of(&silent, &[right()]).unwrap();
    assert_eq!((peers, agreement), (None, None));
    assert!(of(&right(), &[]).is_none());
}

#[test]
fn nothing_is_said_of_a_run_that_a_peer_confirms_nor_of_one_without_peers() {
    assert_eq!(said(&wrong(), &[]), None);
    assert_eq!(said(&right(), &[also_right(), wrong()]), None);
    assert_eq!(said(&also_right(), &[right()]), None);
}

#[test]
fn peers_that_contradict_themselves_have_no_voice() {
    let slipping = chain(&["3 * 4 = 13 pens.", "13 + 5 = 18.", "18 - 2 = 16. The answer is 16."], "");
    let giving_up = chain(&["3 * 4 = 12 pens.", "There is not enough information. The answer is 16."], "");
    let soundness = |run: &String| peers(std::slice::from_ref(run))[0].soundness;
    assert_eq!([&slipping, &giving_up].map(soundness), [Soundness::Unsound; 2]);
    assert_eq!(soundness(&right()), Soundness::Sound);
    let told = said(&right(), &[slipping, giving_up]).unwrap();
    assert!(told.ends_with("Nothing follows: each of them is doubtful by itself."), "{told}");
}

#[test]
fn peers_that_differ_among_themselves_name_no_step() {
    let other = chain(&["3 * 4 = 12 pens.", "12 * 5 = 60.", "60 - 2 = 58. The answer is 58."], "");
    let third = chain(&["3 * 4 = 12 pens.", "12 + 5 = 17.", "17 + 2 = 19. The answer is 19."], "");
    beside(&right(), &[other, third], |case| {
        assert_eq!(case.peer_opinion().unwrap().standing, PeerStanding::Split);
        let triage = case.triage().unwrap();
        assert_eq!((triage.fix, triage.step, triage.confidence), (Fix::Unknown, None, Confidence::Unsure));
        let finding = case.findings().iter().find(|finding| finding.rule == RuleId::Peers).unwrap();
        assert_eq!(finding.place().pointer().text(), "/question");
    });
}

#[test]
fn hours_and_minutes_are_one_answer() {
    let hours = chain(&["3 * 4 = 12.", "12 - 2 = 10. The answer is 10 hours."], "");
    let minutes = chain(&["3 * 4 = 12.", "12 - 2 = 10.", "10 * 60 = 600. The answer is 600 minutes."], "");
    assert_eq!(said(&hours, &[minutes]), None);
}

#[test]
fn a_second_run_of_one_maker_counts_less() {
    let named = |run: String, model: &str| run.replacen('{', &format!(r#"{{"model": "{model}", "#), 1);
    let one = [named(right(), "small"), named(also_right(), "small")];
    let two = [named(right(), "small"), named(also_right(), "large")];
    let makers = |runs: &[String]| {
        let peers = peers(runs);
        peers[0].maker == peers[1].maker
    };
    assert!(makers(&one) && !makers(&two));
    let expecting = chain(&["3 * 4 = 12 pens.", "12 + 2 = 14. The answer is 14."], r#", "expected_answer": 14"#);
    let is_suspect =
        |others: &[String]| said(&expecting, others).is_some_and(|told| told.contains("none the expected 14"));
    assert_eq!([is_suspect(&one), is_suspect(&two)], [false, true]);
}

#[test]
fn an_expected_answer_that_no_peer_gives_is_suspect() {
    let run =
        chain(&["3 * 4 = 12 pens.", "12 + 5 = 17.", "17 - 2 = 15. The answer is 15."], r#", "expected_answer": 14"#);
    let told = said(&run, &[right().replace("17.", "17 pens."), also_right()]).unwrap();
    assert_eq!(
        told,
        "2 of 2 peers (a.jsonl:0, b.jsonl:0) answer 15, none the expected 14. So does the run. The expected answer may be \
         wrong."
    );
    // One that gives it is enough to leave it alone.
    let fits = chain(&["3 * 4 = 12 pens.", "12 + 2 = 14. The answer is 14."], "");
    assert!(
        said(&run, &[right(), also_right(), fits]).is_none_or(|told| !told.contains("expected answer may be wrong"))
    );
}

fn leaves(run: &str, others: &[String]) -> Departure {
    let others = peers(others);
    let held: Vec<PeerValues<'_>> = others.iter().map(|peer| PeerValues::of(&peer.track)).collect();
    let case = Case::read(run.as_bytes().to_vec());
    let view = case.view();
    departure(&track(&view), &given(&view), &held)
}

#[test]
fn another_order_of_the_same_parts_is_no_departure() {
    // 12 + 3 is 3 * 4 + 5 − 2 in another order, and so is what remains of it.
    assert_eq!(leaves(&also_right(), &[right()]).kind, DepartureKind::Answer);
    let at_once = chain(&["3 * 4 + 5 = 17 pens.", "17 - 2 = 15. The answer is 15."], "");
    assert_eq!(leaves(&at_once, &[right()]).kind, DepartureKind::Answer);
}

#[test]
fn a_value_from_other_numbers_is_another_value() {
    let other = chain(&["3 * 4 = 12 pens.", "5 * 2 + 7 = 17.", "17 - 2 = 15. The answer is 15."], "");
    let left = leaves(&other, &[right()]);
    assert_eq!(left.step, 1);
    assert!(!matches!(left.kind, DepartureKind::Answer), "{left:?}");
    let worked_out = chain(&["3 * 4 = 12 pens.", "12 - 7 = 5.", "5 + 10 = 15. The answer is 15."], "");
    let left = leaves(&worked_out, &[right()]);
    assert_eq!(left.step, 1);
    assert!(matches!(left.kind, DepartureKind::WorkedOut(..)), "{left:?}");
}

#[test]
fn what_contradicts_its_own_signs_is_left_to_its_rule() {
    let slipping = chain(&["3 * 4 = 13 pens.", "13 + 5 = 18.", "18 - 2 = 16. The answer is 16."], "");
    assert_eq!(leaves(&slipping, &[right()]), Departure { step: 0, kind: DepartureKind::Slip });
    assert_eq!(said(&slipping, &[right(), also_right()]), None);
}

fn run(rate: i64, total: i64, answer: i64) -> String {
    format!(
        r#"{{"id": 1, "question": "A pen costs 4 dollars. What do 6 pens cost?", "mode": "procedural", "procedure":
        {{"NameDescription": "x", "steps": [
        {{"id": 1, "inputs": [{{"name": "problem_text", "description": ""}}], "stepDescription": "Extract the price and the number of pens.",
          "output": [{{"name": "price", "description": "price"}}, {{"name": "pens", "description": "number of pens"}}]}},
        {{"id": 2, "inputs": [{{"name": "price", "description": ""}}, {{"name": "pens", "description": ""}}],
          "stepDescription": "Work the total out.", "output": [{{"name": "total", "description": "total"}}]}},
        {{"id": 3, "inputs": [{{"name": "total", "description": ""}}], "stepDescription": "State the total.",
          "output": [{{"name": "final_answer", "description": ""}}]}}]}},
        "state": {{"problem_text": "A pen costs 4 dollars. What do 6 pens cost?", "price": {rate}, "pens": 6, "total": {total},
        "final_answer": "It is {answer}.", "final_answer_numerical": {answer}}}}}"#
    )
}

#[test]
fn variables_of_one_procedure_are_aligned_by_their_names() {
    let sample = |id: u32, run: String| run.replacen("\"id\": 1", &format!("\"id\": {id}"), 1);
    let others: Vec<String> = (2..5).map(|id| sample(id, run(4, 24, 24))).collect();
    let told = said(&run(5, 30, 30), &others).unwrap();
    assert!(
        told.starts_with("Step 1 gives price = 5; 3 of 3 peers have 4. The run answers 30; of its 3 peers 3 ("),
        "{told}"
    );
    beside(&run(5, 30, 30), &others, |case| {
        let triage = case.triage().unwrap();
        assert_eq!((triage.fix, triage.step), (Fix::StepRun, Some(0)));
        assert_ne!(triage.confidence, Confidence::Sure);
        assert_eq!(case.peer_opinion().unwrap().leaves, Some(0));
    });
    // The right one beside its like, and among wrong ones that agree on nothing.
    assert_eq!(said(&run(4, 24, 24), &others), None);
    let astray = [run(5, 30, 30), run(6, 36, 36)].map(|run| sample(9, run));
    beside(&run(4, 24, 24), &astray, |case| assert_eq!(case.triage().unwrap().step, None));
}

/// The signs of each value of each step, as the screen draws them: one a peer.
fn signs(aligned: &AlignedRun) -> Vec<Vec<String>> {
    let of = |counterparts: &[Counterpart]| counterparts.iter().map(|one| one.sign()).collect::<String>();
    aligned.steps.iter().map(|step| step.iter().map(|value| of(&value.counterparts)).collect()).collect()
}

fn aligned<T>(run: &str, others: &[String], then: impl FnOnce(&AlignedRun) -> T) -> T {
    beside(run, others, |case| then(&AlignedRun::of(case).expect("it has peers")))
}

#[test]
fn values_are_put_next_to_what_peers_have_in_their_place() {
    aligned(&wrong(), &[right(), also_right()], |aligned| {
        assert_eq!(aligned.peers.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["a.jsonl:0", "b.jsonl:0"]);
        // 7 as 3 + 4: both have 12 of just these numbers, and it is another 12 than that of 7 + 5. The answers are 15.
        assert_eq!(signs(aligned), [["≠≠"], ["≈≈"], ["≠≠"]]);
        let first = &aligned.steps[0][0];
        let Counterpart::Other { step, by, .. } = first.counterparts[1] else { panic!("{first:?}") };
        assert_eq!((step, by), (Some(1), AlignedBy::Operands));
        assert_eq!(first.phrase(first.counterparts[1]).as_str(), "12 in step 2, from the same numbers");
        let last = &aligned.steps[2][0];
        assert_eq!(last.phrase(last.counterparts[0]).as_str(), "15 in step 3, as its answer");
        assert_eq!((first.counts().other, first.counts().of, first.counts().is_split), (2, 2, false));
    });
}

#[test]
fn the_same_parts_in_one_calculation_are_neither_the_same_value_nor_another() {
    let one_by_one = chain(&["She gets 4 + 5 = 9.", "9 + 12 = 21. The answer is 21."], "");
    let at_once = chain(&["12 + 4 + 5 = 21. The answer is 21."], "");
    aligned(&one_by_one, &[at_once], |aligned| {
        assert_eq!(signs(aligned), [["⊂"], ["="]]);
        let value = &aligned.steps[0][0];
        assert_eq!(value.counts(), AlignedCounts { of: 1, ..Default::default() });
    });
}

#[test]
fn the_same_number_from_other_numbers_is_not_called_the_same_value() {
    let other = chain(&["3 * 4 = 12 pens.", "20 - 8 = 12.", "12 + 3 = 15. The answer is 15."], "");
    aligned(&other, &[right()], |aligned| {
        assert_eq!(signs(aligned)[1], ["≈"]);
        let value = &aligned.steps[1][0];
        assert_eq!(value.counts().same, 0);
        assert_eq!(value.phrase(value.counterparts[0]).as_str(), "the same number in step 1, from other numbers");
    });
}

#[test]
fn what_is_not_found_is_missing_and_what_is_not_tried_is_neither() {
    let other = chain(&["3 * 4 = 12 pens.", "12 + 21 = 33.", "33 - 18 = 15. The answer is 15."], "");
    aligned(&other, &[right()], |aligned| assert_eq!(signs(aligned), [["="], ["□"], ["≈"]]));
    // Of a peer that tells no number on its way only the answer is known.
    let silent = format!(
        r#"{{"question": "{QUESTION}", "mode": "baseline", "state": {{"final_answer_numerical": 10}}, "pred_num": 10}}"#
    );
    aligned(&right(), std::slice::from_ref(&silent), |aligned| {
        assert_eq!(signs(aligned), [[" "], [" "], ["≠"]]);
        let unread = &aligned.steps[0][0];
        assert_eq!(unread.phrase(unread.counterparts[0]).as_str(), "not compared: no value of it could be read");
        assert_eq!(unread.counts().of, 0);
        let answer = aligned.answer.as_ref().unwrap();
        assert_eq!(answer.phrase(answer.counterparts[0]).as_str(), "10, as its answer");
    });
    // A number of the question is had by everybody who read it.
    let back = chain(&["3 * 4 = 12 pens.", "12 - 7 = 5.", "5 + 10 = 15. The answer is 15."], "");
    aligned(&back, &[right()], |aligned| {
        assert_eq!(signs(aligned), [["="], [" "], ["≈"]]);
        let given = &aligned.steps[1][0];
        assert_eq!(given.phrase(given.counterparts[0]).as_str(), "not compared: a number of the question");
    });
}

#[test]
fn peers_without_an_answer_are_not_called_different() {
    let silent = chain(&["3 * 4 = 12 pens.", "Then some."], "");
    aligned(&wrong(), &[silent], |aligned| {
        assert_eq!(signs(aligned), [["≠"], ["≈"], ["□"]]);
        assert_eq!(aligned.answer.as_ref().unwrap().counterparts, [Counterpart::Unread]);
    });
}

#[test]
fn answers_in_other_units_are_said_to_be_the_same() {
    let hours = chain(&["3 * 4 = 12.", "12 - 2 = 10. The answer is 10 hours."], "");
    let minutes = chain(&["3 * 4 = 12.", "12 - 2 = 10.", "10 * 60 = 600. The answer is 600 minutes."], "");
    aligned(&hours, &[minutes], |aligned| {
        let answer = aligned.answer.as_ref().unwrap();
        assert_eq!(answer.phrase(answer.counterparts[0]).as_str(), "600 in step 3, the same in other units");
        assert_eq!((answer.counts().same, answer.counts().other, answer.counterparts[0].sign()), (1, 0, "="));
    });
}

#[test]
fn variables_are_compared_in_runs_of_one_procedure_alone() {
    let sample = |id: u32, run: String| run.replacen("\"id\": 1", &format!("\"id\": {id}"), 1);
    let same = sample(2, run(4, 24, 24));
    aligned(&run(5, 30, 30), std::slice::from_ref(&same), |aligned| {
        assert_eq!(signs(aligned), vec![vec!["≠", "="], vec!["≠"], vec!["≠"]]);
        let price = &aligned.steps[0][0];
        assert_eq!(price.shown().as_str(), "price = 5");
        assert_eq!(price.phrase(price.counterparts[0]).as_str(), "4 in step 1, in the same variable");
    });
    // In another plan the name may mean something else.
    let plan = same.replace("Work the total out.", "Work the total of all pens out.");
    aligned(&run(5, 30, 30), &[plan], |aligned| {
        let price = &aligned.steps[0][0];
        assert_eq!(price.counterparts, [Counterpart::Missing]);
        let answers = &aligned.steps[2][0];
        assert_eq!(answers.phrase(answers.counterparts[0]).as_str(), "24 in step 2, as its answer");
    });
}

#[test]
fn peers_that_differ_among_themselves_are_counted_as_split() {
    let other = chain(&["3 * 4 = 12 pens.", "12 * 5 = 60.", "60 - 2 = 58. The answer is 58."], "");
    let third = chain(&["3 * 4 = 12 pens.", "12 + 5 = 17.", "17 + 2 = 19. The answer is 19."], "");
    aligned(&right(), &[other, third], |aligned| {
        assert_eq!(signs(aligned), [["=="], ["≠="], ["≠≠"]]);
        let split = |step: usize| aligned.steps[step][0].counts().is_split;
        assert_eq!([split(0), split(1), split(2)], [false, true, true]);
        assert_eq!(aligned.steps[1][0].counts().other, 1);
    });
}

#[test]
fn a_step_that_peers_share_is_not_where_a_run_leaves_them() {
    // They answer 24, and the run gives that with another price, which all of them have too.
    let sample = |id: u32, run: String| run.replacen("\"id\": 1", &format!("\"id\": {id}"), 1);
    let others = [2, 3].map(|id| sample(id, run(5, 24, 24)));
    beside(&run(5, 30, 30), &others, |case| {
        let (opinion, aligned) = (case.peer_opinion().unwrap(), AlignedRun::of(case).unwrap());
        assert_eq!(aligned.steps[0][0].counts().same, 2);
        assert_ne!(opinion.leaves, Some(0), "{opinion:?}");
    });
}
