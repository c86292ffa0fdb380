#!/usr/bin/env python3
"""Words the steps of known problems in many ways, plants at most one fault, and counts what `stepscope check` says of it.

  benches/wordings.py --seed 1
  benches/wordings.py --seed 1 --most 12000 --misses       # more runs, and what was missed or wrongly accused

`wordings.jsonl` has a problem a line: the question, the values to extract, and the steps, each with its formula and with
several wordings of it. Values are drawn, the steps worded in words or in signs and carried out exactly. Then nothing is
changed, or one thing is: a number misread, a wrong result in one step, another operation in the plan, a wrong copy at the
end. What was changed says where to fix. Python's standard library only.
"""
import argparse, collections, json, math, os, random, re
from fractions import Fraction

from outside import checked, confidences, share

HERE = os.path.dirname(os.path.abspath(__file__))
PERCENT = ("20", "20 %", "0.2")
STYLES = ("words", "words", "words", "signs", "assigned")
FAULTS = ("right", "right, no answer known", "misread", "slip", "slip, no answer known", "plan", "copy")
ENDINGS = ("State the final answer.", "Report the inputs.", "Return {name} as the final answer.", "The final answer is {name}.")


def percentages(problem):
    return {name for step in problem["steps"] for name in re.findall(r"share\((\w+)\)", step["formula"])}


def worked_out(formula, values, written):
    """The exact value of a formula; a share is written as a number, as a percentage or as a fraction of one."""
    parts = {name: value if written.get(name) == "0.2" else value / 100 for name, value in values.items()}
    exact = re.sub(r"share\((\w+)\)", r"shares['\1']", formula)
    exact = re.sub(r"(?<![\w.'])(\d+(?:\.\d+)?)(?![\w.'])", r"Fraction('\1')", exact)
    known = {"__builtins__": {}, "Fraction": Fraction, "shares": parts}
    known |= {name: lambda value, to=to: Fraction(to(value)) for name, to in (("ceil", math.ceil), ("floor", math.floor))}
    return eval(exact, known, dict(values))


def in_signs(formula, written):
    return re.sub(r"share\((\w+)\)", lambda name: name[1] if written[name[1]] == "0.2" else f"({name[1]} / 100)", formula)


def plain(value):
    return int(value) if value.denominator == 1 else float(value)


def reads(formula):
    return [name for name in dict.fromkeys(re.findall(r"[a-z_]\w*", formula)) if name not in ("share", "ceil", "floor")]


def text_of(step, formula, style, written, rng):
    signs = in_signs(formula, written)
    if style == "words":
        text = rng.choice(step["wordings"])
        is_odd = any(written.get(name) == "0.2" for name in reads(formula)) and re.search("percent|%", text)
        return f"Compute {step['output']} = {signs}." if is_odd else text
    return f"Set {step['output']} to {signs}." if style == "assigned" else f"Compute {step['output']} = {signs}."


def other_operation(step, rng):
    """The step with another operation, in its formula and in its text; None where it joins no two names."""
    found = re.fullmatch(r"(\w+) ([-+*/]) (\w+)", step["formula"])
    if not found or not (found[1][0].isalpha() and found[3][0].isalpha()):
        return None
    a, sign, b = found.groups()
    new = rng.choice([one for one in "+-*/" if one != sign])
    texts = {"+": f"Add {a} and {b}.", "-": f"Subtract {b} from {a}.", "*": f"Multiply {a} by {b}.", "/": f"Divide {a} by {b}."}
    return {**step, "formula": f"{a} {new} {b}", "wordings": [texts[new]]}


def attempt(name, problem, fault, rng):
    """A run and the truth of it: where to fix, and in which step; None where these numbers cannot show the fault."""
    written = {one: rng.choice(PERCENT) for one in percentages(problem)}
    given = {one: Fraction(str(rng.choice(about["choices"]))) for one, about in problem["values"].items()}
    question = problem["question"].format(**{one: plain(value) for one, value in given.items()})
    given = {one: value / 100 if written.get(one) == "0.2" else value for one, value in given.items()}
    right = dict(given)
    for step in problem["steps"]:
        right[step["output"]] = worked_out(step["formula"], right, written)
    expected = right[problem["steps"][-1]["output"]]
    steps, values, truth = list(problem["steps"]), dict(given), ("none", None)
    if fault == "misread":
        one = rng.choice(list(given))
        values[one] = rng.choice([given[one] + 1, given[one] + 3, given[one] * 10])
        truth = ("step_run", 1)
    at = rng.randrange(len(steps))
    if fault == "plan":
        changed = other_operation(steps[at], rng)
        if changed is None:
            return None
        steps[at], truth = changed, ("procedure", None)
    for n, step in enumerate(steps):
        values[step["output"]] = worked_out(step["formula"], values, written)
        if fault.startswith("slip") and n == at:
            values[step["output"]] += rng.choice([1, -1, 10, 3, 7, 20])
            truth = ("step_run", n + 2)
    answer = values[steps[-1]["output"]]
    if fault == "copy":
        answer = rng.choice([values[one] for one in values] + [answer + 1, answer * 10])
        truth = ("step_run", len(steps) + 2)
    # What has to be rounded is another question.
    is_plain = all((value * 100).denominator == 1 for value in [*values.values(), expected])
    if not is_plain or (truth[0] != "none" and answer == expected):
        return None
    style = rng.choice(STYLES)
    shown = lambda one: f"{plain(values[one])}%" if written.get(one) == "20 %" else plain(values[one])
    describe = {one: about["description"] for one, about in problem["values"].items()}
    describe |= {step["output"]: step["description"] for step in steps}
    field = lambda one: {"name": one, "description": describe[one]}
    planned = [{"id": 1, "inputs": [{"name": "problem_text", "description": "Full text of the problem."}],
                "stepDescription": "Extract the facts from the problem.", "output": [field(one) for one in given]}]
    for n, step in enumerate(steps):
        planned.append({"id": n + 2, "inputs": [field(one) for one in reads(step["formula"])],
                        "stepDescription": text_of(step, step["formula"], style, written, rng),
                        "output": [field(step["output"])]})
    last = steps[-1]["output"]
    planned.append({"id": len(steps) + 2, "inputs": [field(last)], "stepDescription": rng.choice(ENDINGS).format(name=last),
                    "output": [{"name": "final_answer", "description": "The final answer."}]})
    state = {"problem_text": question} | {one: shown(one) for one in values}
    state |= {"final_answer": f"The answer is {plain(answer)}.", "final_answer_numerical": plain(answer), "confidence": 0.9}
    made = {"id": name, "question": question, "status": "ok", "mode": "procedural",
            "procedure": {"NameDescription": "Solve the problem", "steps": planned}, "state": state, "pred_num": plain(answer)}
    if "no answer" not in fault:
        made |= {"gold_answer": f"#### {plain(expected)}", "gold_num": plain(expected), "correct": answer == expected}
    return made, truth


def accused(said):
    """Findings above a note about what a step did."""
    about = [one for one in said["findings"] if one["rule"].startswith("run/") and one["severity"] != "note"]
    return about or said["triage"]["fix"] not in ("none", "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=4000, help="number of runs")
    parser.add_argument("--records", help="keep what was checked in this file")
    parser.add_argument("--misses", action="store_true", help="tell what was missed")
    options = parser.parse_args()
    with open(os.path.join(HERE, "wordings.jsonl"), encoding="utf-8") as file:
        problems = [json.loads(line) for line in file]
    rng, runs = random.Random(options.seed), []
    while len(runs) < options.most:
        fault = FAULTS[len(runs) % len(FAULTS)]
        found = attempt(f"run-{len(runs)}", rng.choice(problems), fault, rng)
        runs += [(fault, *found)] if found else []
    said = checked(options.program, [made for _, made, _ in runs], options.records)
    counts, words, wrong = collections.Counter(), [], []
    for (fault, made, (fix, step)), one in zip(runs, said):
        place = one["triage"]["fix"], one["triage"]["step"]
        if fix == "none":
            hit = not accused(one)
        else:
            hit = place[0] == fix and (step is None or place[1] is None or place[1] == step)
        unknown = fix != "none" and place[0] == "unknown"
        counts[fault, "right" if hit else "unknown" if unknown else "wrong"] += 1
        if fix != "none" and not unknown:
            words.append((one["triage"]["confidence"], hit))
        if not hit:
            wrong.append((fault, made, (fix, step), one))
    print(f"{len(runs)} runs of {len(problems)} problems, seed {options.seed}\n")
    for fault in FAULTS:
        right, unknown = counts[fault, "right"], counts[fault, "unknown"]
        of = right + unknown + counts[fault, "wrong"]
        told = "left alone" if fault.startswith("right") else "placed"
        print(f"{fault:24} {told} {share(right, of)}" + (f", called unknown {unknown}" if unknown else ""))
    confidences("place to fix, by confidence", words)
    for fault, made, truth, one in wrong if options.misses else []:
        print(f"\n{made['id']} {fault}: wanted {truth}, got {one['triage']['fix']} {one['triage']['step']} {one['triage']['confidence']}")
        for step in made["procedure"]["steps"]:
            names = [name["name"] for name in step["output"]]
            print("   ", step["id"], step["stepDescription"], "->", ", ".join(f"{name}={made['state'].get(name)}" for name in names))
        for finding in one["findings"]:
            print("   ", finding["severity"], finding["rule"], finding["message"])


if __name__ == "__main__":
    main()
