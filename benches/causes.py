#!/usr/bin/env python3
"""Measures how well the cause that `stepscope check` gives a failed run groups runs by what was done to them.

  git clone --bare https://github.com/openai/grade-school-math /tmp/gsm8k
  benches/causes.py /tmp/gsm8k --seed 1            # --misses prints what each kind of fault was called

The faults are those of faults.py: twelve kinds in seven families, of runs that know their worked answer. The adjusted
Rand index of the groups is 1 where they are the families (or the kinds), and 0 for groups by chance. Python's standard
library only.
"""
import collections, math, random

from faults import FAULTS, WORDINGS, gold_as, planted, questions_of
from outside import checked, options_for_gsm8k

FAMILIES = {
    "misread": "reading", "usual": "reading", "exchanged": "reading",
    "slip": "calculation", "operator slip": "calculation", "swapped slip": "calculation",
    "copied wrong": "copy", "operator": "plan", "swapped": "plan",
    "stops early": "end", "missed": "quantity", "gold": "gold",
}


def adjusted_rand(pairs):
    """How far two ways to group the same things agree, chance taken out."""
    two = lambda counts: sum(math.comb(count, 2) for count in counts.values())
    both, first, second = (collections.Counter(each) for each in (pairs, [one for one, _ in pairs], [other for _, other in pairs]))
    by_chance = two(first) * two(second) / max(math.comb(len(pairs), 2), 1)
    most = (two(first) + two(second)) / 2
    return (two(both) - by_chance) / (most - by_chance) if most != by_chance else 1.0


def main():
    parser = options_for_gsm8k(__doc__, "test", "a file for the records that were checked")
    parser.add_argument("--most", type=int, default=500, help="so many questions")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    questions = questions_of(options, rng)
    kinds, records = [], []
    for question in questions[:options.most]:
        for wording in WORDINGS:
            fault = rng.choice(FAULTS)
            case = planted(question, fault, wording, rng)
            if case and fault != "none":
                style = rng.choice(["marked", "unmarked", "typographic"])
                kinds.append((fault, wording))
                records.append(gold_as(style, case[0]) | {"id": f"{len(records)}"})
    said = checked(options.program, records, options.records)
    causes = [one.get("cause") or "none" for one in said]
    families = adjusted_rand([(cause, FAMILIES[fault]) for cause, (fault, _) in zip(causes, kinds)])
    by_kind = adjusted_rand([(cause, fault) for cause, (fault, _) in zip(causes, kinds)])
    print(f"{len(records)} runs with a fault, seed {options.seed}: {len(set(causes))} causes")
    print(f"  adjusted Rand index against families {families:.3f}, against kinds {by_kind:.3f}")
    if options.misses:
        for fault in FAULTS[1:]:
            of = collections.Counter(cause for cause, (own, _) in zip(causes, kinds) if own == fault)
            print(f"  {fault:14}", ", ".join(f"{cause} {count}" for cause, count in of.most_common()))


if __name__ == "__main__":
    main()
