#!/usr/bin/env python3
"""Measures `stepscope check` on public data sets of solutions that people judged, and prints the tables of docs/evaluation.md.

  git clone --bare https://github.com/WHGTyen/BIG-Bench-Mistake /tmp/mistake
  git clone --bare https://github.com/openai/grade-school-math /tmp/gsm8k
  git clone --bare https://github.com/ljxzs-jjlzs/ProcessBench /tmp/process
  benches/outside.py /tmp/mistake /tmp/gsm8k /tmp/process
  benches/outside.py /tmp/gsm8k --records /tmp/records      # keeps what was checked
  benches/outside.py /tmp/mistake --misses                  # and tells what was missed

Clones may be bare or not; what a clone holds tells which set it is. ProcessBench needs the worked answers of the GSM8K
clone. Every solution becomes a run record: each of its lines a step, and the number of the line the value of that step.
Python's standard library only; nothing is downloaded and nothing is written but with --records.
"""
import argparse, collections, json, os, re, subprocess, sys

MISTAKE, GSM8K, PROCESS = "multistep_arithmetic.jsonl", "grade_school_math/data/", "code/dataset/gsm8k.json"
NUMBER = re.compile(r"(?<![\w.])-?\$?\d[\d,]*(?:\.\d+)?|(?<![\w.])\.\d+")


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


def number(text):
    """The number that a text of digits says; whole where it is whole."""
    value = float(text.replace(",", "").replace("$", ""))
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def record(name, question, steps, answer, gold=None):
    """A run record. A step is a text, the names it reads, the name it writes, and what it wrote there."""
    field = lambda name: {"name": name, "description": ""}
    planned, state = [], {"problem_text": question}
    for at, (text, reads, writes, value) in enumerate(steps):
        planned.append({"id": at + 1, "inputs": [field(name) for name in reads or ["problem_text"]],
                        "stepDescription": text, "output": [field(writes)]})
        state[writes] = value
    last = steps[-1][2]
    planned.append({"id": len(steps) + 1, "inputs": [field(last)], "stepDescription": f"State {last} as the final answer.",
                    "output": [field("final_answer")]})
    state |= {"final_answer": f"The answer is {answer}." if answer is not None else "There is no answer.", "confidence": 0.9}
    if answer is not None:
        state["final_answer_numerical"] = answer
    made = {"id": name, "question": question, "status": "ok", "mode": "procedural",
            "procedure": {"NameDescription": "A worked solution", "steps": planned}, "state": state, "pred_num": answer}
    return made | ({"gold_answer": gold[0], "gold_num": gold[1]} if gold else {})


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


def step_of(record, finding):
    """The step, from 1, whose value a finding points at."""
    name = finding["pointer"].rsplit("/", 1)[-1]
    names = {"final_answer_numerical": "final_answer", "pred_num": "final_answer"}
    writes = [step["output"][0]["name"] for step in record["procedure"]["steps"]]
    return writes.index(names.get(name, name)) + 1


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
    """A trace of thoughts: `Let's calculate A = (1 + 2) = 3.` is a step that writes part_a."""
    expression = row["input"].removesuffix("=").strip()
    steps, known = [("Read the expression, and write it with a letter for each part.", [], "parts", row["steps"][0])], {}
    for thought in row["steps"][1:]:
        thought = thought.split(" So the answer is")[0]
        sides = [side.strip().rstrip(".") for side in re.sub(r"^.*?(calculate|equation is) ", "", thought).split("=")]
        letter = sides.pop(0) if re.fullmatch("[A-Z]", sides[0]) else None
        reads = [known[word] for word in dict.fromkeys(re.findall("[A-Z]", sides[0])) if word in known]
        plan = re.sub("[A-Z]", lambda word: known.get(word[0], word[0]), sides[0])
        writes = f"part_{letter.lower()}" if letter else "result"
        numbers = re.findall(r"-?\d+(?:\.\d+)?", sides[-1].replace("- ", "-"))
        steps.append((f"Compute {writes} = {plan}.", reads, writes, number(numbers[-1]) if numbers else sides[-1]))
        if letter:
            known[letter] = writes
    return record(f"mistake-{at}", f"What is {expression}?", steps, number(row["answer"]))


def mistake(program, text, keep, misses):
    rows = lines(text)
    records = [mistake_record(at, row) for at, row in enumerate(rows)]
    hits, wrong, table = 0, 0, []
    for row, made, said in zip(rows, records, checked(program, records, keep)):
        slips = [step_of(made, one) for one in loud(said, "run/recompute")]
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


def gold_of(worked):
    """A worked answer in the form of the GSM8K files, and its number."""
    text = re.sub(r"\nA:", "\n####", worked)
    return text, number(text.rsplit("####", 1)[1].strip())


def chain(name, question, thoughts, answer, gold, result):
    """Lines of reasoning as steps: a line reads the earlier values that occur in it, and writes its own result."""
    steps, values = [], {}
    for at, line in enumerate(thoughts):
        text = MARK.sub("", line).strip()
        value = result(line)
        said = {number(one) for one in NUMBER.findall(text)}
        reads = [name for name, known in values.items() if known in said]
        writes = f"value_{at + 1}"
        steps.append((text, reads, writes, text if value is None else value))
        if value is not None:
            values[writes] = value
    return record(name, question, steps, answer, gold)


def marked(line):
    """What the last calculator mark of a line gives."""
    for mark in reversed(MARK.findall(line)):
        result = mark.rsplit("=", 1)[-1].strip()
        if NUMBER.fullmatch(result):
            return number(result)
    return None


def gsm8k(program, text, keep, misses):
    rows, records, right = lines(text), [], []
    for at, row in enumerate(rows):
        gold = gold_of(row["ground_truth"])
        for model in MODELS:
            lines_, answer = row[model]["solution"], None
            if "\nA:" in lines_:
                lines_, said = lines_.rsplit("\nA:", 1)
                found = NUMBER.findall(said)
                answer = number(found[0]) if found else None
            thoughts = [line for line in lines_.splitlines() if line.strip()]
            records.append(chain(f"{at}-{model}", row["question"], thoughts or ["Nothing."], answer, gold, marked))
            right.append(row[model]["is_correct"])
    said = checked(program, records, keep)
    wrong = [(made, one) for made, one, is_right in zip(records, said, right) if not is_right]
    sound = [(made, one) for made, one, is_right in zip(records, said, right) if is_right]
    blamed = [(made, one) for made, one in wrong if one["triage"]["fix"] == "gold"]
    alarms = [(made, one) for made, one in sound if loud(one, "run/recompute")]
    # The same right solutions with the answer hidden: nothing may be said of them but by chance.
    hidden = [{key: value for key, value in made.items() if key not in ("gold_answer", "gold_num")} for made, _ in sound]
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

def plain(text):
    """LaTeX as plain signs."""
    text = re.sub(r"\\(?:d|t)?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", text)
    text = re.sub(r"\\(?:text|mathrm|boxed|textbf)\{([^{}]*)\}", r"\1", text)
    for sign, by in ((r"\times", "×"), (r"\cdot", "·"), (r"\div", "÷"), (r"\%", "%"), (r"\$", "$"), ("\\\\", " ")):
        text = text.replace(sign, by)
    return re.sub(r"\\[()\[\]]|\\[,;! ]|\\(?:left|right|quad)\b", " ", text).replace("**", "")


def last_number(text):
    """The result of the last equation of a step, else its last number."""
    results = re.findall(r"=\s*(-?[$€£]?\s?\d[\d,]*(?:\.\d+)?)", text)
    found = [results[-1]] if results else NUMBER.findall(text)
    return number(found[-1].replace(" ", "").replace("€", "").replace("£", "").rstrip(",")) if found else None


def place(made, said):
    """The first bad step, from 0: where to fix, or a wrong equation of a run that is right by luck; -1: none."""
    slips = [step_of(made, one) for one in said["findings"] if one["rule"] == "run/equation"]
    return (said["triage"]["step"] or min(slips, default=0)) - 1


def process(program, text, worked, keep, misses):
    rows = json.loads(text)
    squeezed = lambda text: re.sub(r"\W+", "", text).lower()
    gold = {squeezed(row["question"]): gold_of(row["answer"]) for row in worked}
    records, known = [], 0
    for row in rows:
        own = gold.get(squeezed(row["problem"]))
        known += own is not None
        steps = [plain(step) for step in row["steps"]]
        answers = [re.search(r"\\boxed\{([^{}]*)", step) for step in row["steps"]]
        boxed = [NUMBER.findall(plain(found[1])) for found in answers if found]
        answer = number(boxed[-1][0]) if boxed and boxed[-1] else last_number(steps[-1])
        records.append(chain(row["id"], row["problem"], steps, answer, own, last_number))
    erring = [row["label"] >= 0 for row in rows]
    print(f"ProcessBench, GSM8K part ({known} of {len(rows)} worked answers found)")
    for title, hide in (("worked answer known", False), ("worked answer hidden", True)):
        shown = records
        if hide:
            shown = [{key: value for key, value in made.items() if key not in ("gold_answer", "gold_num")} for made in records]
        said = checked(program, shown, keep and keep + ("-hidden" if hide else ""))
        located = [place(made, one) for made, one in zip(shown, said)]
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
