#!/usr/bin/env python3
"""Measures `stepscope check` on public data sets of solutions that people judged, and prints the tables of docs/evaluation.md.

  git clone --bare https://github.com/WHGTyen/BIG-Bench-Mistake /tmp/mistake
  git clone --bare https://github.com/openai/grade-school-math /tmp/gsm8k
  git clone --bare https://github.com/ljxzs-jjlzs/ProcessBench /tmp/process
  benches/outside.py /tmp/mistake /tmp/gsm8k /tmp/process
  benches/outside.py /tmp/gsm8k --records /tmp/records      # keeps what was checked
  benches/outside.py /tmp/mistake --misses                  # and tells what was missed

Clones may be bare or not; what a clone holds tells which set it is. ProcessBench needs the worked answers of the GSM8K
clone. The program is given the records as people have them: question, steps or solution as text, worked answer. Nothing
is read or converted here that the program does not read itself.
Python's standard library only; nothing is downloaded and nothing is written but with --records.
"""
import argparse, collections, json, os, re, subprocess, sys

MISTAKE, GSM8K, PROCESS = "multistep_arithmetic.jsonl", "grade_school_math/data/", "code/dataset/gsm8k.json"


def read(clone, path):
    """A file of a clone, bare or not; None where the clone lacks it."""
    plain = os.path.join(clone, path)
    if os.path.isfile(plain):
        with open(plain, encoding="utf-8") as file:
            return file.read()
    shown = subprocess.run(["git", f"--git-dir={clone}", "show", f"HEAD:{path}"], capture_output=True)
    return shown.stdout.decode() if shown.returncode == 0 else None


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]


WORKED = "ground_truth_solution"


def without_answer(record):
    """The same record, its worked answer hidden."""
    return {key: value for key, value in record.items() if key != WORKED}


def options_for_gsm8k(doc, part, records):
    """The options of a script that makes records of its own from the worked answers of GSM8K."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", help="a clone of openai/grade-school-math, bare or not")
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--part", default=part, choices=["test", "train"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--records", help=records)
    parser.add_argument("--misses", action="store_true", help="tell what was missed")
    return parser


def checked(program, records, keep):
    """What `stepscope check` says of records, in their order."""
    text = "".join(json.dumps(one) + "\n" for one in records)
    if keep:
        with open(keep, "w", encoding="utf-8") as file:
            file.write(text)
    command = [program, "check", "-", "--format", "jsonl", "--fail-on", "never"]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(records), "an answer for every record"
    return said


def loud(said, rule):
    """Findings of a rule that are more than notes."""
    return [one for one in said["findings"] if one["rule"] == rule and one["severity"] != "note"]


def step_of(finding):
    """The step, from 1, of the list of steps that a finding points into."""
    found = re.match(r"/steps/(\d+)", finding["pointer"])
    return int(found[1]) + 1 if found else 0


def share(hits, of):
    return f"{hits} of {of} ({100 * hits / max(of, 1):.1f} %)"


def confidences(title, pairs):
    """How often a verdict was right, by what it says of itself."""
    by = collections.defaultdict(list)
    for word, hit in pairs:
        by[word].append(hit)
    told = ", ".join(f"{word} {share(sum(by[word]), len(by[word]))}" for word in ("sure", "likely", "unsure") if by[word])
    print(f"  {title}: {told}")


# ------------------------------------------------------------------------------------------- BIG-Bench Mistake

def mistake_record(at, row):
    """A trace of thoughts: `Let's calculate A = (1 + 2) = 3.` The expected answer stays out."""
    return {"id": f"mistake-{at}", "input": row["input"], "steps": row["steps"], "answer": row["answer"]}


def mistake(program, text, keep, misses):
    rows = lines(text)
    records = [mistake_record(at, row) for at, row in enumerate(rows)]
    hits, wrong, table = 0, 0, []
    for row, made, said in zip(rows, records, checked(program, records, keep)):
        slips = [step_of(one) for one in loud(said, "run/recompute")]
        found = min(slips) - 1 if slips else None
        hit = found == row["mistake_index"]
        hits += hit
        if row["mistake_index"] is not None:
            wrong += hit
        if not hit:
            table.append((made["id"], row["mistake_index"], found, row["steps"]))
    erring = sum(row["mistake_index"] is not None for row in rows)
    print("BIG-Bench Mistake, multistep arithmetic, the answer hidden")
    print(f"  first wrong step, or that there is none, by run/recompute: {share(hits, len(rows))}")
    print(f"  of the traces with a wrong step: {share(wrong, erring)}")
    print("  published: GPT-4 44.0 %, GPT-4-Turbo 43.3 % (Tyen et al. 2024)")
    for miss in table if misses else []:
        print("   ", *miss)


# ------------------------------------------------------------------------------------------------------ GSM8K

MARK = re.compile(r"<<([^<>]*)>>")
MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


def worked_answer(text):
    """A worked answer in the form of the GSM8K files."""
    return re.sub(r"\nA:", "\n####", text)


def gsm8k(program, text, keep, misses):
    rows, records, right = lines(text), [], []
    for at, row in enumerate(rows):
        for model in MODELS:
            records.append({"id": f"{at}-{model}", "question": row["question"], "solution": row[model]["solution"],
                            WORKED: worked_answer(row["ground_truth"])})
            right.append(row[model]["is_correct"])
    said = checked(program, records, keep)
    wrong = [(made, one) for made, one, is_right in zip(records, said, right) if not is_right]
    sound = [(made, one) for made, one, is_right in zip(records, said, right) if is_right]
    blamed = [(made, one) for made, one in wrong if one["triage"]["fix"] == "gold"]
    alarms = [(made, one) for made, one in sound if loud(one, "run/recompute")]
    # The same right solutions with the answer hidden: nothing may be said of them but by chance.
    hidden = [without_answer(made) for made, _ in sound]
    blind = [(made, one) for made, one in zip(hidden, checked(program, hidden, None)) if loud(one, "run/recompute")]
    notes = [made for made, one in sound if any(one["rule"] == "run/recompute" for one in one["findings"])]
    print("GSM8K, example solutions of four models")
    print(f"  the right answer is blamed: {share(len(blamed), len(wrong))} of the wrong solutions")
    print(f"  run/recompute above a note: {share(len(alarms), len(sound))} of the right solutions;"
          f" with the answer hidden {share(len(blind), len(sound))}; as a note {len(notes)}")
    fixes = collections.Counter(f"{one['triage']['fix']} {one['triage']['confidence']}" for _, one in wrong)
    print("  wrong solutions:", ", ".join(f"{fix} {count}" for fix, count in fixes.most_common()))
    for made, one in blamed + alarms + blind if misses else []:
        why = " | ".join(argument["text"] for argument in one["triage"]["why"][:2])
        finding = " | ".join(finding["message"] for finding in loud(one, "run/recompute"))
        print("   ", made["id"], one["triage"]["fix"], one["triage"]["confidence"], why, "||", finding)


# ----------------------------------------------------------------------------------------------- ProcessBench

def place(said):
    """The first bad step, from 0: where to fix, or a wrong equation of a run that is right by luck; -1: none."""
    slips = [step_of(one) for one in said["findings"] if one["rule"] == "run/recompute"]
    return (said["triage"]["step"] or min(slips, default=0)) - 1


def process(program, text, worked, keep, misses):
    rows = json.loads(text)
    squeezed = lambda text: re.sub(r"\W+", "", text).lower()
    gold = {squeezed(row["question"]): row["answer"] for row in worked}
    records = []
    for row in rows:
        own = gold.get(squeezed(row["problem"]))
        made = {"id": row["id"], "problem": row["problem"], "steps": row["steps"]}
        records.append(made | ({WORKED: own} if own else {}))
    known = sum(WORKED in made for made in records)
    erring = [row["label"] >= 0 for row in rows]
    print(f"ProcessBench, GSM8K part ({known} of {len(rows)} worked answers found)")
    for title, hide in (("worked answer known", False), ("worked answer hidden", True)):
        shown = records
        if hide:
            shown = [without_answer(made) for made in records]
        said = checked(program, shown, keep and keep + ("-hidden" if hide else ""))
        located = [place(one) for one in said]
        found = sum(at == row["label"] for at, row, errs in zip(located, rows, erring) if errs)
        quiet = sum(at == -1 for at, errs in zip(located, erring) if not errs)
        a, b = found / sum(erring), quiet / (len(rows) - sum(erring))
        print(f"  {title}: first wrong step located {share(found, sum(erring))},"
              f" right ones left alone {share(quiet, len(rows) - sum(erring))}, F1 {200 * a * b / (a + b or 1):.1f}")
        confidences("  first wrong step, by confidence", [(one["triage"]["confidence"], at == row["label"])
                    for one, at, row in zip(said, located, rows) if at >= 0])
        if misses and not hide:
            for one, at, row in zip(said, located, rows):
                if at != row["label"]:
                    why = " | ".join(argument["text"] for argument in one["triage"]["why"][:2])
                    print("   ", row["id"], "label", row["label"], "found", at, one["triage"]["fix"],
                          one["triage"]["confidence"], why)
    print("  published, F1: GPT-4o 79.2, Llama-3.3-70B 82.9, Math-Shepherd-7B 47.9 (Zheng et al. 2024)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", help="clones of the data sets, bare or not")
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--records", help="a folder for the records that were checked")
    parser.add_argument("--misses", action="store_true", help="tell what was missed")
    options = parser.parse_args()
    keep = lambda name: os.path.join(options.records, name) if options.records else None
    if options.records:
        os.makedirs(options.records, exist_ok=True)
    questions, measured = [], 0
    for clone in options.clones:
        for part in ("train", "test"):
            questions += lines(read(clone, f"{GSM8K}{part}.jsonl") or "")
    for clone in options.clones:
        text = read(clone, MISTAKE)
        if text:
            mistake(options.program, text, keep("mistake.jsonl"), options.misses)
        solutions = read(clone, f"{GSM8K}example_model_solutions.jsonl")
        if solutions:
            gsm8k(options.program, solutions, keep("gsm8k.jsonl"), options.misses)
        steps = read(clone, PROCESS)
        if steps:
            process(options.program, steps, questions, keep("process.jsonl"), options.misses)
        measured += bool(text or solutions or steps)
    if measured == 0:
        sys.exit("None of these clones holds a data set that is known here.")


if __name__ == "__main__":
    main()
