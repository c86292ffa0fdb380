#!/usr/bin/env python3
"""Measures what `stepscope check --peers` finds without any expected answer, and prints the table of docs/evaluation.md.

  git clone --bare https://github.com/ljxzs-jjlzs/ProcessBench /tmp/process
  git clone --bare https://github.com/qtli/GSM-Plus /tmp/gsm-plus
  benches/peers.py /tmp/process /tmp/gsm-plus
  benches/peers.py /tmp/process /tmp/gsm-plus --half 1      # the questions that the rules were not made with
  benches/peers.py /tmp/process /tmp/gsm-plus --misses      # and tells what was missed

Clones may be bare or not. The records are the GSM8K part of ProcessBench as people have them: question and steps, no answer
and no solution. The peers are solutions of other models to the same questions, from GSM-Plus: question and text. A step is
located where it is the first one that people labelled as wrong; a right record is left alone where no step is named.
Python's standard library only; nothing is downloaded and nothing is written but with --records.
"""
import argparse, collections, hashlib, json, os, re, subprocess, sys, tempfile

from outside import PROCESS, confidences, lines, place, read, share

SOLUTIONS = "results/gsm8k_results/"
INSTRUCTION = re.compile(r"### Instruction:\n(.*?)\n\n### Response", re.S)
# Each row of the table: the files that are peers at once.
TABLE = [
    [],
    ["metamath_7b"],
    ["gpt-3.5-turbo"],
    ["metamath_70b"],
    ["gpt4"],
    ["metamath_7b", "gpt-3.5-turbo"],
    ["metamath_13b", "gpt-3.5-turbo"],
    ["metamath_7b", "metamath_70b"],
    ["metamath_70b", "gpt-3.5-turbo"],
    ["metamath_7b", "gpt-3.5-turbo", "metamath_70b"],
]


def squeezed(text):
    return re.sub(r"\W+", "", text).lower()


def half_of(question):
    """Half of the questions that a question belongs to: 0 was looked at, 1 was not."""
    return int(hashlib.md5(("s" + squeezed(question)).encode()).hexdigest(), 16) // 7 % 2


def solutions(clone, model, questions):
    """The solutions of a model as records, each under the question as the other set spells it."""
    text = read(clone, f"{SOLUTIONS}{model}.json")
    if text is None:
        sys.exit(f"The clone of GSM-Plus holds no solutions of {model}.")
    records = []
    for row in json.loads(text):
        question = row.get("question") or INSTRUCTION.search(row["input"])[1]
        solution = row.get("model_prediction") or row.get("completion") or ""
        records.append({"question": questions.get(squeezed(question), question), "solution": solution})
    return records


def write(path, records):
    with open(path, "w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def checked(program, path, peers):
    command = [program, "check", path, "--format", "jsonl", "--fail-on", "never"]
    done = subprocess.run(command + (["--peers", *peers] if peers else []), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("process", help="a clone of ljxzs-jjlzs/ProcessBench")
    parser.add_argument("solutions", help="a clone of qtli/GSM-Plus")
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--half", type=int, choices=[0, 1], help="only this half of the questions")
    parser.add_argument("--peers", nargs="+", action="append", help="only these models, once for each row")
    parser.add_argument("--records", help="a folder for the records that were checked")
    parser.add_argument("--misses", action="store_true", help="tell what was missed")
    options = parser.parse_args()
    text = read(options.process, PROCESS)
    if text is None:
        sys.exit("The first clone does not hold ProcessBench.")
    rows = [row for row in json.loads(text) if options.half in (None, half_of(row["problem"]))]
    questions = {squeezed(row["problem"]): row["problem"] for row in rows}
    with tempfile.TemporaryDirectory() as kept:
        folder = options.records or kept
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "process.jsonl")
        write(path, [{"id": row["id"], "problem": row["problem"], "steps": row["steps"]} for row in rows])
        table = options.peers or TABLE
        files = {model: os.path.join(folder, f"{model}.jsonl") for models in table for model in models}
        for model, file in files.items():
            write(file, solutions(options.solutions, model, questions))
        wrong = [row["label"] >= 0 for row in rows]
        print(f"ProcessBench, GSM8K part, {len(rows)} records without any answer, {sum(wrong)} of them wrong")
        for models in table:
            said = checked(options.program, path, [files[model] for model in models])
            assert len(said) == len(rows), "an answer for every record"
            located = [place(one) for one in said]
            found = sum(at == row["label"] for at, row, errs in zip(located, rows, wrong) if errs)
            quiet = sum(at == -1 for at, errs in zip(located, wrong) if not errs)
            a, b = found / max(sum(wrong), 1), quiet / max(len(rows) - sum(wrong), 1)
            print(f"  {len(models)} {' + '.join(models) or 'peers'}: first wrong step located {share(found, sum(wrong))},"
                  f" right ones left alone {share(quiet, len(rows) - sum(wrong))}, F1 {200 * a * b / (a + b or 1):.1f}")
            named = [(one["triage"]["confidence"], at == row["label"])
                     for one, at, row in zip(said, located, rows) if at >= 0]
            confidences("  first wrong step, by confidence", named)
            standings = collections.Counter((one.get("peers") or {}).get("standing", "none") for one in said)
            print("     ", ", ".join(f"{standing} {count}" for standing, count in standings.most_common()))
            for one, at, row in zip(said, located, rows) if options.misses else []:
                if at != row["label"]:
                    print("   ", row["id"], "label", row["label"], "found", at, one["triage"]["why"][0]["text"])


if __name__ == "__main__":
    main()
