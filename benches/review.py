#!/usr/bin/env python3
"""Measures how often the interval of `stepscope review stats` holds the truth, and how many verdicts it saves.

  git clone --bare https://github.com/openai/grade-school-math /tmp/gsm8k
  git clone --bare https://github.com/qtli/GSM-Plus /tmp/gsm-plus
  benches/review.py /tmp/gsm8k /tmp/gsm-plus                  # the six models that the estimator was not made with
  benches/review.py /tmp/gsm8k /tmp/gsm-plus --made-with      # those that it was made with
  benches/review.py /tmp/gsm8k /tmp/gsm-plus --peers 0        # without peers: the records' own signals alone

Clones may be bare or not. Each record is a GSM8K test question with a model's solution, without any expected answer; the
other models are its peers. A review is simulated a thousand times for each model: records in the order of
`--sample SEED` (or `--shuffle SEED`), each judged by GSM8K's own answer. The estimate is made here by the same formula as
in `crates/review/src/estimate.rs`, and `--verify N` has the program make N of them for each model from a review log, and
compares. "of random" is the number of verdicts over those that plain random sampling needs for an interval as wide.
Python's standard library only; nothing is downloaded.
"""
import argparse, json, math, multiprocessing, os, re, subprocess, sys, tempfile

from outside import PROCESS, lines, read
from peers import INSTRUCTION, SOLUTIONS, squeezed, write
from solutions import answer_of, value

# The estimator was made with the first six, and measured with the others.
MADE_WITH = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification", "abel_13b", "metamath_13b"]
# Read later: programs, of which the final number alone is a record.
READ_LAST = ["tora_7b", "tora_13b"]
# Solutions of many models, judged step by step: a record is right if every step is.
JUDGED = "process"
MEASURED = ["gpt4", "gpt-3.5-turbo", "abel_70b", "metamath_70b", "metamath_7b", "abel_7b"]
EXAMPLES = "grade_school_math/data/example_model_solutions.jsonl"
Z = 1.959963984540054
MIN_OF_SIGNAL, PRIOR = 4, 1.0
# Signals from mostly wrong to mostly right, with the share that usually passes.
GUESS = {
    "failed": 0.05, "wrong": 0.05, "against": 0.08, "no_peer": 0.25, "accused": 0.25, "few_peers": 0.5, "unsure": 0.5,
    "half_of_peers": 0.75, "quiet": 0.75, "most_peers": 0.92, "right": 0.95, "all_peers": 0.97,
}
# Of these few verdicts are drawn: the signals say what they are.
CLEAR = ("failed", "wrong", "most_peers", "right", "all_peers")
ORDER = 1
MASK = (1 << 64) - 1


def draw(seed, record):
    """The number of a record in a queue: splitmix64, as in crates/review/src/queue.rs."""
    x = seed ^ (ORDER << 56)
    x = (x + (record + 1) * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return ((x ^ (x >> 31)) >> 11) / 2**53


def signal(said):
    """What the program says of a record without a person."""
    if said["kind"] in ("error", "broken"):
        return "failed"
    if said["correct"] is not None:
        return "right" if said["correct"] else "wrong"
    accused = (said.get("triage") or {}).get("fix") in ("step_run", "procedure", "gold")
    peers = said.get("peers")
    if peers and "agreement" in peers:
        agree, of = peers["agree"], sum(len(answer["peers"]) for answer in peers["answers"])
        if agree == 0:
            return "against" if accused else "no_peer"
        if agree == of:
            return "all_peers"
        if 3 * agree < of:
            return "against" if accused else "few_peers"
        return "half_of_peers" if 3 * agree < 2 * of else "most_peers"
    return "accused" if accused else "quiet"


def part_of(name, sampled):
    return "all" if not sampled else "clear" if name in CLEAR else "doubtful"


def with_enough(strata):
    """Strata joined with the neighbour that usually passes as often until each has enough verdicts; None: none has."""
    strata = [list(one) for one in strata]
    lacks = lambda one: one[1] < min(MIN_OF_SIGNAL, one[0])
    usual = lambda at: strata[at][3] / strata[at][0]
    while any(map(lacks, strata)):
        at = min((at for at, one in enumerate(strata) if lacks(one)), key=lambda at: strata[at][1])
        sides = [side for side in (at - 1, at + 1) if 0 <= side < len(strata)]
        if not sides:
            return None
        nearest = min(sides, key=lambda side: abs(usual(side) - usual(at)))
        first, second = sorted((at, nearest))
        strata[first] = [a + b for a, b in zip(strata[first], strata[second])]
        del strata[second]
    return strata


def student(freedom):
    """The quantile of Student's distribution for an interval of 95 %, by the first terms of its expansion."""
    n = max(freedom, 4.0)
    return Z + (Z**3 + Z) / (4 * n) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * n * n)


def estimate(records, chosen, sampled):
    """The share that passes and half the width of its interval; None: too few verdicts."""
    strata = []
    for part in ("all", "doubtful", "clear"):
        of_part = []
        for name, guess in GUESS.items():
            if part_of(name, sampled) == part and records.get(name):
                verdicts = chosen.get(name, [])
                of_part.append([records[name], len(verdicts), sum(verdicts), records[name] * guess])
        found = with_enough(of_part)
        if found is None:
            return None
        strata += found
    whole = sum(one[0] for one in strata)
    share = sum(one[0] * one[2] / one[1] for one in strata) / whole
    variance = of_parts = 0
    for count, verdicts, passed, guess in strata:
        usual = (passed + PRIOR * guess / count) / (verdicts + PRIOR)
        own = count * count * (1 - verdicts / count) * usual * (1 - usual) / max(verdicts - 1, 1)
        variance, of_parts = variance + own, of_parts + own * own / max(verdicts - 1, 1)
    return share, student(variance * variance / of_parts) * math.sqrt(variance) / whole if variance else 0.0


def reviewed(task):
    """Simulates reviews of one model's records with so many verdicts."""
    signals, truth, verdicts, sampled, seeds = task
    records = {name: signals.count(name) for name in set(signals)}
    parts = [part_of(name, sampled) for name in signals]
    real = sum(truth) / len(truth)
    held, widths, stated = 0, 0.0, 0
    for seed in seeds:
        place = lambda at: draw(seed, at) * (2 if parts[at] == "clear" else 1)
        chosen = {}
        for at in sorted(range(len(truth)), key=place)[:verdicts]:
            chosen.setdefault(signals[at], []).append(truth[at])
        said = estimate(records, chosen, sampled)
        if said:
            stated += 1
            held += abs(said[0] - real) <= said[1]
            widths += said[1]
    half = widths / max(stated, 1)
    spread = real * (1 - real)
    random = spread / ((half / Z) ** 2 + spread / len(truth))
    return real, stated, held / max(stated, 1), half, verdicts / random


def solutions(gsm8k, plus):
    """Every model's solutions, one for each question, with whether they are right."""
    worked = [(row["question"], value(row["answer"].split("####")[-1]))
              for row in json.loads(read(plus, f"{SOLUTIONS}gpt4.json"))]
    found = {}
    examples = {squeezed(row["question"]): row for row in lines(read(gsm8k, EXAMPLES))}
    for model in MADE_WITH + MEASURED + READ_LAST:
        text = read(plus, f"{SOLUTIONS}{model}.json" + ("l" if model in READ_LAST else ""))
        if text is None:
            rows = [examples[squeezed(question)][model]["solution"].replace("\nA: ", "\n#### ") for question, _ in worked]
        elif model in READ_LAST:
            given = {squeezed(row["question"]): str((row["pred"] or [""])[-1]) for row in lines(text)}
            rows = [given[squeezed(question)] for question, _ in worked]
        else:
            rows = [row.get("model_prediction") or row.get("completion") or "" for row in json.loads(text)]
        field = "pred_answer" if model in READ_LAST else "solution"
        records = [{"id": f"{model}-{at}", "question": question, field: solution.strip()}
                   for at, ((question, _), solution) in enumerate(zip(worked, rows))]
        right = [answer_of(record[field]) == answer for record, (_, answer) in zip(records, worked)]
        kept = [(record, is_right) for record, is_right in zip(records, right) if record[field]]
        found[model] = ([record for record, _ in kept], [is_right for _, is_right in kept])
    return found


def judged_steps(process, plus):
    """The GSM8K part of ProcessBench, with whether people found no wrong step."""
    spelled = {squeezed(row["question"]): row["question"] for row in json.loads(read(plus, f"{SOLUTIONS}gpt4.json"))}
    rows = json.loads(read(process, PROCESS))
    records = [{"id": row["id"], "question": spelled.get(squeezed(row["problem"]), row["problem"]), "steps": row["steps"]}
               for row in rows]
    return records, [row["label"] < 0 for row in rows]


def verify(program, path, peers, log, task, seed):
    """Has the program estimate from a review log; says how far it is from what was estimated here."""
    signals, truth, verdicts, sampled = task
    parts = [part_of(name, sampled) for name in signals]
    order = sorted(range(len(truth)), key=lambda at: draw(seed, at) * (2 if parts[at] == "clear" else 1))[:verdicts]
    with open(path, encoding="utf-8") as file:
        ids = [json.loads(line)["id"] for line in file]
    said = [{"id": ids[at], "verdict": "pass" if truth[at] else "fail", "drawn": f"{seed}:{parts[at]}"} for at in order]
    run = lambda command, text: subprocess.run(
        [program, "review", command, path, "--reviews", log, "--reviewer", "bench"] if command == "add" else
        [program, "review", command, path, "--reviews", log, "--format", "jsonl", *(["--peers", *peers] if peers else [])],
        input=text, stdout=subprocess.PIPE, check=True).stdout
    run("add", "".join(json.dumps(one) + "\n" for one in said).encode())
    stated = json.loads(run("stats", b""))["accuracy"]
    chosen = {}
    for at in order:
        chosen.setdefault(signals[at], []).append(truth[at])
    here = estimate({name: signals.count(name) for name in set(signals)}, chosen, sampled)
    if here is None or "share" not in stated:
        return 0.0 if here is None and "share" not in stated else math.inf
    return max(abs(stated["share"] - here[0]), abs(stated["high"] - min(here[0] + here[1], 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gsm8k", help="a clone of openai/grade-school-math")
    parser.add_argument("plus", help="a clone of qtli/GSM-Plus")
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--made-with", action="store_true", help="the models that the estimator was made with")
    parser.add_argument("--read-last", action="store_true", help="two more models, which answer by programs")
    parser.add_argument("--process", help="a clone of ljxzs-jjlzs/ProcessBench: its GSM8K part alone")
    parser.add_argument("--peers", type=int, default=5, help="so many of the other models are peers")
    parser.add_argument("--verdicts", type=int, nargs="+", default=[60, 100, 200])
    parser.add_argument("--reviews", type=int, default=1000)
    parser.add_argument("--shuffle", action="store_true", help="plain random order, in place of --sample")
    parser.add_argument("--verify", type=int, default=0, help="compare so many estimates for each model with the program's")
    options = parser.parse_args()
    models = MADE_WITH if options.made_with else READ_LAST if options.read_last else MEASURED
    found = solutions(options.gsm8k, options.plus)
    if options.process:
        models, found[JUDGED] = [JUDGED], judged_steps(options.process, options.plus)
    circle = models + MEASURED if options.read_last or options.process else models
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool() as pool:
        path = lambda model: os.path.join(folder, f"{model}.jsonl")
        for model in circle:
            write(path(model), found[model][0])
        signals, others = {}, {}
        for at, model in enumerate(models):
            others[model] = [path(circle[(at + n) % len(circle)]) for n in range(1, options.peers + 1)]
            command = [options.program, "check", path(model), "--format", "jsonl", "--fail-on", "never"]
            command += ["--peers", *others[model]] if others[model] else []
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            signals[model] = [signal(json.loads(line)) for line in done.stdout.splitlines()]
        for verdicts in options.verdicts:
            seeds = range(1, options.reviews + 1)
            tasks = [(signals[model], found[model][1], verdicts, not options.shuffle, seeds) for model in models]
            print(f"{verdicts} verdicts, {options.reviews} reviews each, {options.peers} peers:")
            for model, (real, stated, held, half, random) in zip(models, pool.map(reviewed, tasks)):
                print(f"  {model:18} {100 * real:5.1f} % right; interval ± {100 * half:.1f}, holds it in {100 * held:.1f} %,"
                      f" verdicts {random:.2f} of random" + ("" if stated == options.reviews else f"; {stated} stated"))
        for model in models:
            for seed in range(1, options.verify + 1):
                task = (signals[model], found[model][1], options.verdicts[0], not options.shuffle)
                log = os.path.join(folder, f"{model}-{seed}.reviews.jsonl")
                off = verify(options.program, path(model), others[model], log, task, seed)
                assert off < 1e-9, (model, seed, off)
        if options.verify:
            print(f"The program gives the same: {options.verify} reviews of each model.")


if __name__ == "__main__":
    main()
