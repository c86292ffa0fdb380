#!/usr/bin/env python3
"""Plants one wrong result in worked answers of GSM8K, as chains of thought, and counts what `stepscope check` finds of it,
and what it accuses in the answers as they are.

  git clone --bare https://github.com/openai/grade-school-math /tmp/gsm8k
  benches/chains.py /tmp/gsm8k --seed 7
  benches/chains.py /tmp/gsm8k --seed 7 --misses       # and tells what was missed, and what was accused

Each line of an answer is a step. The calculator marks (`<<5*4=20>>`) say where a result stands; they are taken out, or
kept. What is accused in an answer as it is may really be wrong: some answers of the set are. Python's standard library only.
"""
import random, re

from outside import GSM8K, MARK, checked, lines, options_for_gsm8k, read, share

RESULT = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")


def chain(name, row, text, marks):
    body, gold = text.rsplit("####", 1)
    steps = [line if marks else MARK.sub("", line) for line in body.split("\n") if line.strip()]
    return {"id": name, "question": row["question"], "steps": steps, "expected_answer": gold.strip()}


def wrong(result, rng):
    """Another result as a person or a model gets it: off by a little, or by a power of ten."""
    value = float(result.replace(",", ""))
    other = rng.choice([one for one in (value + 1, value - 1, value + 10, value * 10, value + 5) if one > 0])
    return f"{other:g}" if other < 1e6 else f"{other:.0f}"


def planted(row, rng):
    """The answer with one result changed, and the number of the step, from 0; None where no result can be changed."""
    places = []
    for mark in MARK.finditer(row["answer"]):
        result = RESULT.match(row["answer"], mark.end())
        if result and result[0].replace(",", "") == mark[1].rpartition("=")[2].replace(",", "").replace("$", ""):
            places.append((mark, result))
    if not places:
        return None
    mark, result = rng.choice(places)
    text = row["answer"][:result.start()] + wrong(result[0], rng) + row["answer"][result.end():]
    before = row["answer"][:mark.start()].split("\n")[:-1]
    return text, sum(1 for line in before if line.strip())


def accused(said):
    """The steps, from 0, in which a calculation is said to be wrong."""
    found = [one["pointer"].split("/") for one in said["findings"] if one["rule"] == "run/recompute"]
    return {int(pointer[2]) for pointer in found if pointer[1] == "steps"}


def main():
    parser = options_for_gsm8k(__doc__, "train", "a file for the records with a wrong result")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rows = lines(read(options.clone, f"{GSM8K}{options.part}.jsonl"))
    for marks in (False, True):
        right = [chain(at, row, row["answer"], marks) for at, row in enumerate(rows)]
        told = [(one, accused(said)) for one, said in zip(right, checked(options.program, right, None))]
        told = [(one, steps) for one, steps in told if steps]
        print(f"as they are, {'with' if marks else 'without'} marks: {share(len(told), len(right))} accused")
        for one, steps in told if options.misses else []:
            print(f"    {one['id']}: {[one['steps'][step] for step in sorted(steps)]}")
    cases = [(at, row, case) for at, row in enumerate(rows) if (case := planted(row, rng))]
    made = [chain(at, row, text, False) for at, row, (text, _) in cases]
    said = checked(options.program, made, options.records)
    found = [step in accused(one) for one, (_, _, (_, step)) in zip(said, cases)]
    print(f"with one wrong result, seed {options.seed}: {share(sum(found), len(found))} found in its step")
    for one, (_, _, (_, step)), hit in zip(made, cases, found) if options.misses else []:
        if not hit:
            print(f"    {one['id']}: {one['steps'][step]}")


if __name__ == "__main__":
    main()
