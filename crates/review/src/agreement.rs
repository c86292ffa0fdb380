//! Agreement of reviewers, blind: over the items that at least two of them judged, on the same content.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;

use super::event::{Event, Text, Verdict};
use super::fold::{ItemReviews, Reviews};
use super::join::{Joined, gone_phrase};
use super::labels::{LabelSets, name_for_people};
use stepscope_base::canonical::Digest;
use stepscope_base::json::write::{AnySink, Object, Style};
use stepscope_base::shown;
use stepscope_base::text::{Shown, columns};
use stepscope_record::finding::counted;
use stepscope_record::statistics::{FEW, cohen, fleiss};

/// Maximum number of reviewers that are compared pair by pair.
pub(super) const MAX_PAIRED: usize = 12;

/// Name of what is measured of every group.
const PASS_OR_FAIL: &str = "pass or fail";

/// Name of the kappa of two.
const COHEN: &str = "Cohen's kappa";

/// One judged item: who said what.
type Votes = BTreeMap<Text, Vote>;

/// Verdict of one reviewer on an item.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Vote {
    fails: bool,
    /// The names of the labels.
    labels: BTreeSet<(Text, Text)>,
}

/// Agreement on one question.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measure {
    /// Items.
    pub items: u64,
    /// Number of items on which all said the same.
    pub agreed: u64,
    /// Number of items on which a reviewer said yes: it fails, it has the label.
    pub named: u64,
    /// Cohen's kappa of two, Fleiss' of more; `None`: too few items, or not defined.
    pub kappa: Option<f64>,
}

/// Agreement of some reviewers.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Ids of the reviewers.
    pub reviewers: Vec<Text>,
    /// Pass against fail.
    pub verdict: Measure,
    /// Measure of each label that one of them gave: given or not.
    pub labels: Vec<(Text, Measure)>,
}

/// Agreement of the reviewers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Agreement {
    /// Number of items that each reviewer judged, pass or fail.
    pub judged: BTreeMap<Text, u64>,
    /// Number of items that at least two judged.
    pub overlap: u64,
    /// Items that were not the same for those who judged them: left out.
    pub unlike: u64,
    /// Number of verdicts on what a record does not hold any more: left out.
    pub stale: u64,
    /// Number of items of records that are gone: left out.
    pub gone: u64,
    /// Agreement of all reviewers, over the items that all of them judged; `None`: there is only one reviewer.
    pub all: Option<Group>,
    /// Agreement of each pair, if there are more than two.
    pub pairs: Vec<Group>,
    /// No labels were written down: those that are offered have their names.
    is_offered: bool,
}

impl Agreement {
    /// Measures the agreement on the records that are here.
    pub fn of(reviews: &Reviews, joined: &Joined<'_>) -> Self {
        let sets = reviews.label_sets();
        let mut agreement = Self { gone: joined.gone.len() as u64, is_offered: sets.is_empty(), ..Self::default() };
        let (mut votes_of, mut seen) = (Vec::new(), HashSet::default());
        for item in &joined.items {
            let mut reviewed = item.reviewed;
            // Without its record an item is known by what all saw, in whatever file.
            let content = only_content(reviewed).filter(|_| item.summary.is_none());
            if let Some(content) = &content {
                let item = reviewed.item();
                if !seen.insert((item.name(), item.side, *content)) {
                    continue;
                }
                reviewed = reviewed.at(Some(content));
            }
            agreement.stale += judged(reviewed).filter(|event| !reviewed.is_fresh(event)).count() as u64;
            match votes(reviewed, &sets) {
                Some(votes) => {
                    for reviewer in votes.keys() {
                        *agreement.judged.entry(reviewer.clone()).or_default() += 1;
                    }
                    if votes.len() > 1 {
                        agreement.overlap += 1;
                        votes_of.push(votes);
                    }
                }
                None => agreement.unlike += 1,
            }
        }
        let reviewers: Vec<Text> = agreement.judged.keys().cloned().collect();
        if reviewers.len() > 1 {
            agreement.all = Some(Group::of(&reviewers, &votes_of));
        }
        if (3..=MAX_PAIRED).contains(&reviewers.len()) {
            for (n, one) in reviewers.iter().enumerate() {
                for other in reviewers.iter().skip(n + 1) {
                    agreement.pairs.push(Group::of(&[one.clone(), other.clone()], &votes_of));
                }
            }
        }
        agreement
    }

    /// Writes it as lines of text. [`measured`] tells the columns of a measure apart.
    pub fn lines(&self) -> Vec<Shown> {
        let mut lines: Vec<Shown> =
            self.judged.iter().map(|(who, items)| shown!("{} reviewed {items}", who.line())).collect();
        lines.push(shown!("overlap {}", self.overlap));
        if self.unlike > 0 {
            lines.push(shown!("{} changed between two reviews (left out)", counted(self.unlike as usize, "item")));
        }
        if self.stale > 0 {
            lines.push(shown!("{} on changed records (left out)", counted(self.stale as usize, "verdict")));
        }
        lines.extend(gone_phrase(self.gone as usize));
        let groups = || self.all.iter().chain(&self.pairs);
        let names = groups().flat_map(|group| group.labels.iter().map(|(label, _)| self.name_of(label)));
        let width = names.map(|name| columns(name.as_str())).max().unwrap_or(0).max(PASS_OR_FAIL.len());
        for group in groups() {
            lines.push(Shown::default());
            lines.extend(self.lines_of(group, width));
        }
        lines
    }

    fn name_of(&self, label: &Text) -> Shown {
        name_for_people(label, self.is_offered)
    }

    fn lines_of(&self, group: &Group, width: usize) -> Vec<Shown> {
        let names: Vec<String> = group.reviewers.iter().map(|who| who.line().into_string()).collect();
        let two = group.reviewers.len() == 2;
        let (all, kappa) = if two { ("both", COHEN) } else { ("all", "Fleiss' kappa") };
        let measured = |name: &Shown, measure: &Measure| {
            let gap = " ".repeat(width.saturating_sub(columns(name.as_str())));
            shown!("  {name}{gap}  {}", measure.phrase(kappa))
        };
        let mut lines = vec![shown!("{}: {all} reviewed {}", names.join(", "), group.verdict.items)];
        lines.push(measured(&Shown::own(PASS_OR_FAIL), &group.verdict));
        lines.extend(group.labels.iter().map(|(label, measure)| measured(&self.name_of(label), measure)));
        lines
    }

    /// Writes it as one JSON object on a line.
    pub fn write_json(&self, out: &mut AnySink) {
        Style::ASCII.line(out, |object| {
            object.objects("judged", &self.judged, |(who, items), object| {
                object.put("reviewer", who);
                object.put("items", *items);
            });
            object.put("overlap", self.overlap);
            object.put("unlike", self.unlike);
            object.put("stale", self.stale);
            object.put("gone", self.gone);
            object.objects("groups", self.all.iter().chain(&self.pairs), |group, object| {
                object.put("reviewers", &group.reviewers);
                object.object("verdict", |object| group.verdict.write(object));
                object.objects("labels", &group.labels, |(label, measure), object| {
                    object.put("label", label);
                    measure.write(object);
                });
            });
        });
    }
}

/// Lists the verdicts that may be votes: deferring or skipping is none.
fn judged(reviewed: ItemReviews<'_>) -> impl Iterator<Item = Event> {
    reviewed.verdicts().into_iter().filter(|event| event.verdict.is_some_and(Verdict::judges))
}

/// Finds the content that all who judged an item saw; `None`: there are several, or nobody knows.
fn only_content(reviewed: ItemReviews<'_>) -> Option<Digest> {
    let mut contents = judged(reviewed).map(|event| event.seen.content_sha256);
    let first = contents.next()??;
    contents.all(|other| other == Some(first)).then_some(first)
}

/// Collects the votes on an item as it is; `None`: they were not about the same content.
fn votes(reviewed: ItemReviews<'_>, sets: &LabelSets<'_>) -> Option<Votes> {
    let (verdicts, stale): (Vec<Event>, Vec<Event>) = judged(reviewed).partition(|event| reviewed.is_fresh(event));
    let seen = verdicts.iter().chain(stale.iter().filter(|_| verdicts.len() < 2));
    let contents: BTreeSet<_> = seen.filter_map(|event| event.seen.content_sha256).collect();
    let vote = |event: Event| {
        let labels = event.labels.iter().flat_map(|label| sets.resolve(label)).map(|label| (label.set, label.name));
        let labels = labels.collect();
        (event.reviewer.id, Vote { fails: event.verdict == Some(Verdict::Fail), labels })
    };
    (contents.len() < 2).then(|| verdicts.into_iter().map(vote).collect())
}

impl Group {
    fn of(reviewers: &[Text], items: &[Votes]) -> Self {
        let shared: Vec<Vec<&Vote>> = items
            .iter()
            .map(|votes| reviewers.iter().filter_map(|who| votes.get(who)).collect::<Vec<_>>())
            .filter(|votes| votes.len() == reviewers.len())
            .collect();
        let labels: BTreeSet<&(Text, Text)> = shared.iter().flatten().flat_map(|vote| &vote.labels).collect();
        Self {
            reviewers: reviewers.to_vec(),
            verdict: measure(&shared, |vote| vote.fails),
            labels: labels
                .into_iter()
                .map(|label| (label.1.clone(), measure(&shared, |vote| vote.labels.contains(label))))
                .collect(),
        }
    }
}

/// Splits a line of [`Agreement::lines`] into what is measured and the measure; `None`: it measures nothing.
pub fn measured(line: &Shown) -> Option<(&str, &str)> {
    let (name, measure) = line.as_str().strip_prefix("  ")?.rsplit_once("  ")?;
    Some((name.trim_end(), measure))
}

fn measure(items: &[Vec<&Vote>], says: impl Fn(&Vote) -> bool) -> Measure {
    Measure::of(&items.iter().map(|votes| votes.iter().map(|vote| says(vote)).collect()).collect::<Vec<_>>())
}

impl Measure {
    /// Measures the answers to one question, one list per item: what each reviewer said, yes or no.
    pub(super) fn of(answers: &[Vec<bool>]) -> Self {
        let yes = |votes: &[bool]| votes.iter().filter(|vote| **vote).count();
        let agreed = answers.iter().filter(|votes| [0, votes.len()].contains(&yes(votes))).count() as u64;
        let named = answers.iter().filter(|votes| yes(votes) > 0).count() as u64;
        let items = answers.len() as u64;
        let pair = |votes: &Vec<bool>| match votes.as_slice() {
            [one, other] => Some((usize::from(*one), usize::from(*other))),
            _ => None,
        };
        let kappa = match answers.iter().map(pair).collect::<Option<Vec<_>>>() {
            _ if items < FEW => None,
            Some(pairs) => cohen(&pairs, 2),
            None => fleiss(&answers.iter().map(|votes| counts(yes(votes), votes.len())).collect::<Vec<_>>()),
        };
        Self { items, agreed, named, kappa }
    }

    /// Describes it for people: `90 % agree (38 of 42), used on 7, Cohen's kappa 0.72`.
    fn phrase(&self, name: &'static str) -> Shown {
        shown!("{}, used on {}{}", self.share(), self.named, self.kappa_named(name))
    }

    /// Describes the agreement of two, pass or fail: `90 % agree (38 of 42)`, `Cohen's kappa 0.72`.
    pub(super) fn phrases_of_two(&self) -> [Shown; 2] {
        [self.share(), self.kappa_phrase(COHEN)]
    }

    fn share(&self) -> Shown {
        let Self { items, agreed, .. } = self;
        if *items < FEW {
            return shown!("{agreed} of {items} agree");
        }
        let share = 100.0 * *agreed as f64 / *items as f64;
        shown!("{share:.0} % agree ({agreed} of {items})")
    }

    fn kappa_named(&self, name: &'static str) -> Shown {
        let kappa = self.kappa_phrase(name);
        if self.items < FEW { shown!(" ({kappa})") } else { shown!(", {kappa}") }
    }

    fn kappa_phrase(&self, name: &'static str) -> Shown {
        match self.kappa {
            _ if self.items < FEW => shown!("kappa from {FEW} items"),
            // Rounded to nothing it has no sign.
            Some(kappa) => shown!("{name} {:.2}", (kappa * 100.0).round() / 100.0 + 0.0),
            None => shown!("{name} undefined (all the same)"),
        }
    }

    fn write(&self, object: &mut Object<'_>) {
        object.put("items", self.items);
        object.put("agreed", self.agreed);
        object.put("named", self.named);
        object.put("kappa", self.kappa.unwrap_or(f64::NAN));
    }
}

fn counts(yes: usize, all: usize) -> Vec<u64> {
    vec![yes as u64, all.saturating_sub(yes) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Reviewer;
    use crate::join::Index;
    use crate::testing::{item, label};

    /// The agreement on all items.
    fn measured(reviews: &Reviews) -> Agreement {
        Agreement::of(reviews, &Index::of(&[]).join(reviews))
    }

    /// Verdicts as words: one text per reviewer, one letter per item; `F` fails with the label, `f` without, `.` none.
    fn reviews(who: &[(&str, &str)]) -> Reviews {
        let mut reviews = Reviews::default();
        for (reviewer, votes) in who {
            let reviewer = Reviewer::person((*reviewer).to_owned());
            for (n, vote) in votes.chars().enumerate().filter(|(_, vote)| *vote != '.') {
                let verdict = match vote {
                    'p' => Verdict::Pass,
                    'd' => Verdict::Defer,
                    _ => Verdict::Fail,
                };
                let mut event = Event::verdict(reviewer.clone(), item(&n.to_string()), verdict);
                event.event_id = format!("{:?}-{n}", reviewer.id).into();
                if vote == 'F' {
                    event.labels = vec![label("slip")];
                }
                reviews.push(event);
            }
        }
        reviews
    }

    #[test]
    fn two_are_measured_by_cohen_over_what_both_judged() {
        let ada = "ppppppppppppffFFpFpfp..dp";
        let bob = "pppppppppppfffFfpFpfpppp.";
        let agreement = measured(&reviews(&[("ada", ada), ("bob", bob)]));
        let group = agreement.all.unwrap();
        assert_eq!((agreement.overlap, group.verdict.items, group.verdict.agreed), (21, 21, 20));
        // sklearn.metrics.cohen_kappa_score of the same votes.
        assert!((group.verdict.kappa.unwrap() - 0.888_888_888_888_888_8).abs() < 1e-12, "{group:?}");
        assert!((group.labels[0].1.kappa.unwrap() - 0.774_193_548_387_096_8).abs() < 1e-12, "{group:?}");
        assert_eq!((group.labels[0].1.named, agreement.pairs.len()), (3, 0));
    }

    #[test]
    fn under_twenty_items_are_counted_only() {
        let agreement = measured(&reviews(&[("ada", "ppppppppppppppppppf"), ("bob", "ppppppppppppppppppp")]));
        let group = agreement.all.as_ref().unwrap();
        assert_eq!(group.verdict, Measure { items: 19, agreed: 18, named: 1, kappa: None });
        let lines: Vec<String> = agreement.lines().into_iter().map(Shown::into_string).collect();
        assert!(lines.iter().any(|line| line.contains("18 of 19 agree, used on 1 (kappa from 20 items)")));
    }

    #[test]
    fn three_are_measured_by_fleiss_over_what_all_judged() {
        let votes =
            [("ada", "pppppppppppppfffffFFp"), ("bob", "ppppppppppppffffffFFf"), ("eve", "ppppppppppppppffffFF.")];
        let agreement = measured(&reviews(&votes));
        let group = agreement.all.as_ref().unwrap();
        assert_eq!((group.verdict.items, group.verdict.agreed, agreement.pairs.len()), (20, 18, 3));
        // statsmodels.stats.inter_rater.fleiss_kappa of the same votes.
        assert!((group.verdict.kappa.unwrap() - 0.853_479_853_479_853_2).abs() < 1e-9, "{group:?}");
        assert!((group.labels[0].1.kappa.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(measured(&reviews(&[("ada", "ppf")])).all, None);
    }

    #[test]
    fn what_was_not_the_same_for_both_is_left_out() {
        let mut both = reviews(&[("ada", "p")]);
        let mut event = both.events().next().unwrap();
        (event.event_id, event.reviewer.id) = ("x".into(), "bob".into());
        event.seen.content_sha256 = Some(Digest::of_bytes(b"1"));
        both.push(event.clone());
        assert_eq!((measured(&both).overlap, measured(&both).unlike), (1, 0), "unknown is no difference");
        (event.event_id, event.reviewer.id) = ("y".into(), "eve".into());
        event.seen.content_sha256 = Some(Digest::of_bytes(b"2"));
        both.push(event);
        assert_eq!((measured(&both).overlap, measured(&both).unlike), (0, 1));
    }

    #[test]
    fn one_content_under_two_names_is_one_item_and_what_is_stale_is_no_vote() {
        let case = stepscope_judge::case::Case::read(
            br#"{"id": "0", "question": "?", "state": {"final_answer": "1"}}"#.as_slice(),
        );
        let record = crate::summary::Summary::of(&case.view(), &[], Some("runs.jsonl".into()), 0);
        let records = [record.clone()];
        let mut both = reviews(&[("ada", "p"), ("eve", "f")]);
        let mut events = both.events().collect::<Vec<_>>();
        for (event, file) in events.iter_mut().zip(["runs.jsonl", "copy.jsonl"]) {
            event.item.as_mut().unwrap().dataset = Some(file.into());
            event.seen = record.seen();
        }
        both = Reviews::default();
        for event in &events {
            both.push(event.clone());
        }
        let of_records = |reviews: &Reviews| Agreement::of(reviews, &Index::of(&records).join(reviews));
        for agreement in [measured(&both), of_records(&both)] {
            assert_eq!((agreement.overlap, agreement.judged.values().sum::<u64>(), agreement.stale), (1, 2, 0));
        }
        let mut changed = Reviews::default();
        for event in &mut events {
            event.seen.content_sha256 = Some(Digest::of_bytes(b"other"));
            event.item.as_mut().unwrap().dataset = Some("runs.jsonl".into());
            changed.push(event.clone());
        }
        let agreement = of_records(&changed);
        assert_eq!((agreement.overlap, agreement.judged.len(), agreement.stale), (0, 0, 2));
        assert_eq!(measured(&changed).overlap, 1, "without the record nobody knows");
    }
}
