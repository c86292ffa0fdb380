//! Counts over all reviews: outcomes, labels, where to fix, expected answers, and how often the rules and the judged
//! place to fix were right.

use std::collections::{BTreeMap, BTreeSet};

use super::estimate::Accuracy;
use super::event::{AnswerPart, Event, GoldStatus, Text, Verdict};
use super::fold::{ItemReviews, Outcome, Reviews};
use super::join::{Joined, JoinedItem, gone_phrase};
use super::labels::{LabelSets, name_for_people};
use crate::summary::Summary;
use stepscope_base::json::write::{AnySink, Object, Style};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_judge::triage::Fix;
use stepscope_record::finding::counted;
use stepscope_record::statistics::wilson;

/// Share of the items for which a statement is right, among those to which it applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// Number of items for which it is right.
    pub hits: u64,
    /// Number of items to which it applies.
    pub of: u64,
}

/// Counts over all verdicts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    /// Items by what they are counted as.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Verdicts of each reviewer that hold.
    pub reviewers: BTreeMap<Text, u64>,
    /// Failed items by label, as it is called today.
    pub labels: BTreeMap<Text, u64>,
    /// Failed items by where to fix them, the step and the label.
    pub fixes: BTreeMap<(Text, Option<u64>), u64>,
    /// Items by the judgment of their expected answer.
    pub gold: BTreeMap<GoldStatus, u64>,
    /// Share of failed items among the judged ones where each rule spoke.
    pub rules: BTreeMap<Text, Share>,
    /// Accuracy of the place to fix.
    pub triage: Share,
    /// Share of the same verdict among those that a reviewer gave again on the same content.
    pub repeats: Share,
    /// Median time that a reviewer took for an item, in milliseconds.
    pub median_ms: Option<u64>,
    /// Notes without a verdict.
    pub notes: u64,
    /// Verdicts on parts of answers; the items that they belong to are counted by their own.
    pub parts: BTreeMap<Verdict, u64>,
    /// Failed parts of answers by label, as it is called today.
    pub part_labels: BTreeMap<Text, u64>,
    /// Number of items of records that are gone: left out.
    pub gone: u64,
    /// Share of all records that pass, as far as the verdicts tell.
    accuracy: Accuracy,
    /// No labels were written down: those that are offered have their names.
    is_offered: bool,
}

impl Stats {
    /// Counts what was said of the records that are here.
    pub fn of(reviews: &Reviews, joined: &Joined<'_>) -> Self {
        let sets = reviews.label_sets();
        let mut stats = Self { gone: joined.gone.len() as u64, is_offered: sets.is_empty(), ..Self::default() };
        stats.accuracy = joined.accuracy();
        let mut times = Vec::new();
        for &JoinedItem { reviewed, summary, .. } in &joined.items {
            stats.item(reviewed, summary, &sets);
            times.extend(reviewed.verdicts().iter().filter_map(|event| event.times.active_ms));
        }
        times.sort_unstable();
        stats.median_ms = times.get(times.len() / 2).copied();
        stats
    }

    fn item(&mut self, reviewed: ItemReviews<'_>, summary: Option<&Summary>, sets: &LabelSets<'_>) {
        let outcome = reviewed.outcome();
        *self.outcomes.entry(outcome).or_default() += 1;
        self.notes += reviewed.notes().count() as u64;
        for event in reviewed.verdicts() {
            *self.reviewers.entry(event.reviewer.id.clone()).or_default() += 1;
        }
        self.count_repeats(reviewed);
        self.count_parts(reviewed, sets);
        let fresh = reviewed.fresh();
        if let Some(status) = reviewed.gold() {
            *self.gold.entry(status).or_default() += 1;
        }
        if matches!(outcome, Outcome::Pass | Outcome::Fail) {
            self.count_rules(&fresh, outcome == Outcome::Fail);
        }
        if outcome == Outcome::Fail {
            self.count_failed(&fresh, summary, sets);
        }
    }

    fn count_failed(&mut self, fresh: &[Event], summary: Option<&Summary>, sets: &LabelSets<'_>) {
        let failed = || fresh.iter().filter(|event| event.verdict == Some(Verdict::Fail));
        let names: BTreeSet<Text> = sets.resolve_all(failed()).into_iter().map(|label| label.name).collect();
        for name in names {
            *self.labels.entry(name).or_default() += 1;
        }
        let Some((event, target)) = failed().find_map(|event| Some((event, event.fix_target.as_ref()?))) else {
            return;
        };
        *self.fixes.entry((target.clone(), event.first_bad_step)).or_default() += 1;
        if let Some(fix) =
            summary.and_then(|summary| summary.fix).filter(|fix| !matches!(fix, Fix::None | Fix::Unknown))
        {
            self.triage.of += 1;
            self.triage.hits += u64::from(*target == fix.word());
        }
    }

    fn count_parts(&mut self, reviewed: ItemReviews<'_>, sets: &LabelSets<'_>) {
        let mut failed: BTreeSet<(AnswerPart, Text)> = BTreeSet::new();
        for (part, event) in reviewed.parts().filter(|(_, event)| reviewed.is_fresh(event)) {
            let Some(verdict) = event.verdict else { continue };
            *self.parts.entry(verdict).or_default() += 1;
            if verdict == Verdict::Fail {
                failed.extend(sets.resolve_all([&event]).into_iter().map(|label| (part, label.name)));
            }
        }
        for (_, label) in failed {
            *self.part_labels.entry(label).or_default() += 1;
        }
    }

    fn count_rules(&mut self, fresh: &[Event], fails: bool) {
        let rules: BTreeSet<&Text> = fresh.iter().filter_map(|event| event.findings.as_ref()).flatten().collect();
        for rule in rules {
            let share = self.rules.entry(rule.clone()).or_default();
            share.of += 1;
            share.hits += u64::from(fails);
        }
    }

    /// Counts verdicts that were given again: they show how far a reviewer agrees with themselves.
    fn count_repeats(&mut self, reviewed: ItemReviews<'_>) {
        for looks in reviewed.looks().values() {
            // What was given without being shown, by a program, is no other look but a change.
            let looks = || looks.iter().filter(|event| event.times.shown.is_some());
            for (earlier, later) in looks().zip(looks().skip(1)) {
                let both = earlier.verdict.zip(later.verdict).is_some_and(|(a, b)| a.judges() && b.judges());
                if both && earlier.seen.content_sha256 == later.seen.content_sha256 {
                    self.repeats.of += 1;
                    self.repeats.hits += u64::from(earlier.verdict == later.verdict);
                }
            }
        }
    }

    /// Writes them as lines of text.
    pub fn lines(&self) -> Vec<Shown> {
        let outcomes: Vec<String> =
            self.outcomes.iter().map(|(outcome, items)| format!("{items} {}", outcome.word())).collect();
        let colon = if outcomes.is_empty() { "" } else { ": " };
        let items = counted(self.outcomes.values().sum::<u64>() as usize, "item");
        let mut lines = vec![shown!("{items}{colon}{}", outcomes.join(", "))];
        lines.extend(gone_phrase(self.gone as usize));
        lines.extend(self.accuracy.phrase().map(|phrase| shown!("accuracy {phrase}")));
        let mut board = |title: &'static str, rows: Vec<(Shown, String)>| {
            if !rows.is_empty() {
                lines.push(Shown::default());
                lines.push(Shown::own(title));
                lines.extend(rows.iter().map(|(name, row)| shown!("  {:32} {row}", name.clone().cut(32))));
            }
        };
        let counts = |counts: &BTreeMap<Text, u64>| most(counts.iter().map(|(name, n)| (name.line(), *n)));
        board("verdicts by reviewer", counts(&self.reviewers));
        let labels = |counts: &BTreeMap<Text, u64>| {
            most(counts.iter().map(|(name, n)| (name_for_people(name, self.is_offered), *n)))
        };
        board("failed by label", labels(&self.labels));
        let parts = self.parts.iter().map(|(verdict, n)| (Shown::own(verdict.word()), n.to_string()));
        board("verdicts on parts of answers", parts.collect());
        board("failed parts by label", labels(&self.part_labels));
        let place = |((target, step), n): (&(Text, Option<u64>), &u64)| match step {
            Some(step) => (shown!("{}, step {step}", Fix::phrase_of(target)), *n),
            None => (Fix::phrase_of(target), *n),
        };
        board("failed by where to fix", most(self.fixes.iter().map(place)));
        board("expected answers", most(self.gold.iter().map(|(status, n)| (Shown::own(status.word()), *n))));
        board("rule precision", self.rules.iter().map(|(rule, share)| (rule.line(), share.phrase())).collect());
        for (title, share) in [("where-to-fix accuracy", self.triage), ("self-agreement", self.repeats)] {
            if share.of > 0 {
                lines.push(Shown::default());
                lines.push(shown!("{title}: {}", share.phrase()));
            }
        }
        if let Some(ms) = self.median_ms {
            lines.push(shown!("median time per item: {:.1} s", ms as f64 / 1000.0));
        }
        lines
    }

    /// Writes them as one JSON object on a line.
    pub fn write_json(&self, out: &mut AnySink) {
        Style::ASCII.line(out, |object| {
            object.object("outcomes", |object| {
                for outcome in Outcome::ALL {
                    object.put(outcome.word(), self.outcomes.get(&outcome).copied().unwrap_or(0));
                }
            });
            let counts = [("reviewers", &self.reviewers), ("labels", &self.labels), ("part_labels", &self.part_labels)];
            for (key, counts) in counts {
                object.objects(key, counts, |(name, items), object| {
                    object.put("name", name);
                    object.put("items", *items);
                });
            }
            object.objects("fixes", &self.fixes, |((target, step), items), object| {
                object.put("fix_target", target);
                object.maybe("first_bad_step", *step);
                object.put("items", *items);
            });
            object.object("parts", |object| {
                for verdict in Verdict::ALL {
                    object.put(verdict.word(), self.parts.get(&verdict).copied().unwrap_or(0));
                }
            });
            object.object("gold", |object| {
                for status in GoldStatus::ALL {
                    object.put(status.word(), self.gold.get(&status).copied().unwrap_or(0));
                }
            });
            object.objects("rules", &self.rules, |(rule, share), object| {
                object.put("rule", rule);
                share.write(object);
            });
            self.accuracy.write("accuracy", object);
            object.object("triage", |object| self.triage.write(object));
            object.object("repeats", |object| self.repeats.write(object));
            object.maybe("median_active_ms", self.median_ms);
            object.put("notes", self.notes);
            object.put("gone", self.gone);
        });
    }
}

impl Share {
    /// Describes the share: `83.3 % [78.4, 87.3]  229 of 275`, with Wilson's interval of 95 %.
    pub fn phrase(self) -> String {
        let Some((low, high)) = wilson(self.hits, self.of) else { return "none".to_owned() };
        let share = 100.0 * self.hits as f64 / self.of as f64;
        format!("{share:5.1} % [{:.1}, {:.1}]  {} of {}", 100.0 * low, 100.0 * high, self.hits, self.of)
    }

    /// Returns the lower end of its interval, itself, and the upper end; `None`: of none.
    pub fn interval(self) -> Option<[f64; 3]> {
        let (low, high) = wilson(self.hits, self.of)?;
        Some([low, self.hits as f64 / self.of as f64, high])
    }

    /// Writes the members of a JSON object.
    pub fn write(self, object: &mut Object<'_>) {
        object.put("hits", self.hits);
        object.put("of", self.of);
        if let Some((low, high)) = wilson(self.hits, self.of) {
            object.put("share", self.hits as f64 / self.of as f64);
            object.put("low", low);
            object.put("high", high);
        }
    }
}

/// Sorts counts, the most frequent first.
fn most(counts: impl Iterator<Item = (Shown, u64)>) -> Vec<(Shown, String)> {
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(name, count)| (name, count.to_string())).collect()
}

/// Tells whether an item is to be run again: it fails, and the expected answer is not to blame.
pub fn is_to_be_run_again(reviewed: ItemReviews<'_>) -> bool {
    let gold = |event: &Event| event.fix_target.as_ref().is_some_and(|target| *target == Fix::Gold.word());
    reviewed.outcome() == Outcome::Fail && !reviewed.disputes_gold() && !reviewed.fresh().iter().any(gold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Reviewer;
    use crate::testing::{item, label};
    use stepscope_base::canonical::Digest;
    use stepscope_judge::case::Case;

    fn event(n: usize, id: &str, verdict: Verdict) -> Event {
        Event { event_id: format!("e{n}").into(), ..Event::verdict(Reviewer::person("ada"), item(id), verdict) }
    }

    fn summary(content: &[u8], fix: Fix) -> Summary {
        let case = Case::read(b"{}");
        let view = case.view();
        Summary { content: Digest::of_bytes(content), fix: Some(fix), ..Summary::of(&view, &[], None, 0) }
    }

    /// All items, as if they had one and the same record.
    fn joined<'a>(reviews: &'a Reviews, summary: Option<&'a Summary>) -> Joined<'a> {
        let content = summary.map(|summary| &summary.content);
        let items = reviews.items().map(|item| JoinedItem { reviewed: item.at(content), at: None, summary });
        Joined { items: items.collect(), ..Joined::default() }
    }

    #[test]
    fn everything_that_is_fresh_is_counted_once() {
        let mut reviews = Reviews::default();
        let now = summary(b"now", Fix::StepRun);
        let mut failed = event(1, "a", Verdict::Fail);
        failed.labels = vec![label("slip"), label("slip"), label("unit")];
        failed.fix_target = Some("step_run".into());
        failed.first_bad_step = Some(3);
        failed.findings = Some(vec!["run/recompute".into(), "run/unevaluated".into()]);
        failed.times.active_ms = Some(12_000);
        failed.seen.content_sha256 = Some(now.content);
        let mut passed = event(2, "b", Verdict::Pass);
        passed.findings = Some(vec!["run/recompute".into()]);
        let mut gold = event(3, "c", Verdict::Fail);
        gold.gold_status = Some(GoldStatus::Wrong);
        let mut stale = event(4, "d", Verdict::Fail);
        stale.seen.content_sha256 = Some(Digest::of_bytes(b"old"));
        stale.labels = vec![label("slip")];
        passed.times.shown = Some("9:00".into());
        let mut again = Event { event_id: "e5".into(), ..passed.clone() };
        again.times.shown = Some("9:30".into());
        for event in [failed, passed, gold, stale, again, event(6, "e", Verdict::Defer)] {
            reviews.push(event);
        }
        let stats = Stats::of(&reviews, &joined(&reviews, Some(&now)));
        let outcomes: Vec<_> = stats.outcomes.iter().map(|(outcome, n)| (outcome.word(), *n)).collect();
        assert_eq!(outcomes, [("pass", 1), ("fail", 2), ("defer", 1), ("stale", 1)]);
        assert_eq!(stats.labels, BTreeMap::from([("slip".into(), 1), ("unit".into(), 1)]));
        assert_eq!(stats.fixes, BTreeMap::from([(("step_run".into(), Some(3)), 1)]));
        assert_eq!(stats.gold, BTreeMap::from([(GoldStatus::Wrong, 1)]));
        assert_eq!(stats.rules.get(&"run/recompute".into()), Some(&Share { hits: 1, of: 2 }));
        assert_eq!((stats.triage, stats.repeats), (Share { hits: 1, of: 1 }, Share { hits: 1, of: 1 }));
        assert_eq!(stats.median_ms, Some(12_000));
        let again = |id: &str| is_to_be_run_again(reviews.find(&item(id), Some(&now.content)).unwrap());
        assert_eq!(["a", "b", "c", "d", "e"].map(again), [true, false, false, false, false]);
        let lines: Vec<String> = stats.lines().into_iter().map(Shown::into_string).collect();
        assert_eq!(lines[0], "5 items: 1 pass, 2 fail, 1 defer, 1 stale");
        assert!(lines.iter().any(|line| line.contains("50.0 % [9.5, 90.5]  1 of 2")), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("  model output, step 3 ")), "{lines:?}");
        let mut out = Vec::new();
        stats.write_json(&mut out);
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&json["outcomes"]["fail"], &json["rules"][0]["of"]), (&2.into(), &2.into()));
    }

    #[test]
    fn only_another_look_is_judged_again() {
        let look = |n: usize, id: &str, verdict, shown: &'static str| {
            let mut event = event(n, id, verdict);
            event.times.shown = Some(shown.into()).filter(|_| !shown.is_empty());
            event
        };
        let batch = [
            look(1, "a", Verdict::Fail, ""),
            look(2, "b", Verdict::Pass, ""),
            look(3, "a", Verdict::Pass, ""),
            look(4, "c", Verdict::Fail, "9:00"),
            look(5, "c", Verdict::Fail, "9:00"),
        ];
        let repeats = |events: &mut dyn Iterator<Item = &Event>| {
            let mut reviews = Reviews::default();
            events.for_each(|event| _ = reviews.push(event.clone()));
            Stats::of(&reviews, &joined(&reviews, None)).repeats
        };
        let none = Share::default();
        assert_eq!(repeats(&mut batch.iter()), none, "a is changed without a look, c has a word added");
        for stop in 0..=batch.len() {
            assert_eq!(repeats(&mut batch.iter().take(stop).chain(&batch)), none, "sent again after {stop}");
        }
        let later = look(6, "c", Verdict::Fail, "9:30");
        assert_eq!(repeats(&mut batch.iter().chain([&later])), Share { hits: 1, of: 1 });
    }
}
