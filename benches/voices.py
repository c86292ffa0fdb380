#!/usr/bin/env python3
"""Runs in the words of others: what `stepscope check` and `rerun --exact` say of wordings that the authors of the readers
did not write.

  benches/voices.py                       # all files of benches/voices
  benches/voices.py --file PATH --misses  # a file or folder, and what was missed or wrongly accused

Five voices (terse, chatty, formal, symbolic, odd) wrote runs, faults and chains of thought; `benches/voices/README.md` has
their format. A fault changes one thing in a run; this program carries out the rest by the formulas that the writer gave. Each
run is checked with a worked answer, with the number alone, and with the answer hidden. Python's standard library only.
"""
import argparse, collections, glob, json, math, os, subprocess, sys, tempfile
from datetime import date, timedelta
from fractions import Fraction

from outside import checked, confidences, share

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"abs": abs, "min": min, "max": max, "sum": sum, "round": round, "len": len, "int": int, "float": float, "str": str,
         "sorted": sorted, "floor": math.floor, "ceil": math.ceil, "sqrt": math.sqrt, "pi": math.pi, "gcd": math.gcd,
         "lcm": math.lcm, "factorial": math.factorial, "set": set, "list": list, "range": range, "Fraction": Fraction,
         "date": date, "timedelta": timedelta, "divmod": divmod, "map": map, "any": any, "all": all,
         "enumerate": enumerate, "zip": zip, "__builtins__": {}}
PLACES = {"slip": "step_run", "misread": "step_run", "copy": "step_run", "lost": "step_run", "plan": "procedure"}
KNOWN = ("worked", "number", "hidden")


def plain(value):
    """A value as JSON holds it."""
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, float):
        value = round(value, 9)
        return int(value) if value == int(value) and abs(value) < 1e15 else value
    return value


def is_near(a, b):
    """Whether two values are the same, as exactly as the second is written."""
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return a == b
    decimals = len(repr(b).partition(".")[2]) if isinstance(b, float) else 0
    return abs(a - b) <= max(1e-6, 0.51 * 10.0 ** -decimals if decimals else 1e-6)


def carried_out(run, fault=None):
    """The values that the run writes, step by step, and its answer; a fault goes on from where it happened."""
    state, values = {}, []
    for at, step in enumerate(run["steps"], 1):
        wrote = dict(step["writes"])
        own = fault if fault and fault.get("step") == at else None
        formula = own["py"] if own and own["fault"] == "plan" else step.get("py")
        if fault and formula and wrote:
            (name, right), = wrote.items()
            try:
                value = plain(eval(formula, NAMES, {key: state[key] for key in step["reads"] if key in state}))
            except (TypeError, ValueError, KeyError, ZeroDivisionError, NameError):
                return None
            wrote = {name: right if is_near(value, right) else value}
        if own and own["fault"] in ("slip", "lucky") and wrote:
            wrote = {name: own["says"] for name in wrote}
        if own and own["fault"] == "misread":
            wrote[own["name"]] = own["says"]
        state.update(wrote)
        values.append(wrote)
    return state, values


def last_value(run):
    """The variable that the answer states."""
    return next((name for name in reversed(run["steps"][-1]["reads"]) if name != "problem_text"), None)


def answer_of(run, state, fault):
    """The number and the text of the answer; `None`: the fault changes nothing in it."""
    number, text = run["answer"].get("number"), run["answer"]["text"]
    if fault is None or fault["fault"] == "lost":
        return number, text
    if fault["fault"] == "copy":
        number = fault["says"]
    elif fault["fault"] == "lucky":
        number = fault.get("answer", number)
        return number, text
    else:
        number = state.get(last_value(run))
    return (number, f"The answer is {number}.") if isinstance(number, (int, float)) and number is not True else None


def record(run, known, fault=None, name=None):
    """The record of a run, as evoproc writes it; `None` where a fault has no effect on the answer."""
    done = carried_out(run, fault)
    found = done and answer_of(run, done[0], fault)
    if found is None:
        return None
    (state, values), (number, text) = done, found
    if fault and fault["fault"] in ("slip", "misread", "plan", "copy") and is_near(number, run.get("gold")):
        return None
    planned, held = [], {"problem_text": run["question"]}
    for at, (step, wrote) in enumerate(zip(run["steps"], values), 1):
        told = step.get("about", {})
        is_other = fault and fault["fault"] == "plan" and fault["step"] == at
        outputs = [{"name": key, "description": "" if is_other else told.get(key, key)} for key in step["writes"]]
        if at == len(run["steps"]) and not outputs:
            outputs = [{"name": "final_answer", "description": "The final answer."}]
        inputs = [{"name": key, "description": next((one["about"][key] for one in run["steps"] if key in one.get("about", {})), key)}
                  for key in step["reads"]]
        planned.append({"id": at, "inputs": inputs, "stepDescription": fault["do"] if is_other else step["do"], "output": outputs})
        held.update(wrote)
    if planned[-1]["output"][0]["name"] != "final_answer":
        planned.append({"id": len(planned) + 1, "inputs": [{"name": key, "description": key} for key in list(run["steps"][-1]["writes"])[:1]],
                        "stepDescription": "State the final answer.", "output": [{"name": "final_answer", "description": "The final answer."}]})
    if fault and fault["fault"] == "lost":
        lost = fault["as"]
        value = held.pop(fault["name"], None)
        if isinstance(lost, str) and lost.startswith("renamed:"):
            held[lost.removeprefix("renamed:")] = value
        elif lost == "NaN":
            held[fault["name"]] = float("nan")
        elif lost != "absent":
            held[fault["name"]] = lost
    held |= {"final_answer": text, "confidence": 0.9}
    if number is not None:
        held["final_answer_numerical"] = number
    made = {"id": name or run["id"], "question": run["question"], "status": "ok", "mode": "procedural",
            "procedure": {"NameDescription": run.get("kind", "plan"), "steps": planned}, "state": held,
            "pred_answer": text, "pred_num": number}
    gold = run.get("gold")
    if known != "hidden" and gold is not None:
        worked = run.get("worked") if known == "worked" else None
        made["gold_answer"] = worked or f"#### {gold}"
        if isinstance(gold, (int, float)):
            made["gold_num"] = gold
    return made


def chain(row, known):
    made = {"id": row["id"], "question": row["question"], "steps": row["steps"], "answer": row["answer"]}
    return made | ({} if known == "hidden" or row.get("gold") is None else {"expected_answer": str(row["gold"])})


def loud(said):
    """What accuses a step, above a note."""
    found = [one for one in said["findings"] if one["severity"] != "note" and one["rule"].startswith(("run/", "quantity/"))]
    triage = said.get("triage") or {}
    return [f"{one['rule']}: {one['message']}" for one in found] + (
        [f"fix {triage['fix']} step {triage.get('step')} {triage['confidence']}: "
         + " | ".join(one["text"] for one in triage["why"][:2])] if triage.get("fix") not in (None, "none", "unknown") else [])


def exact_values(program, made, truth):
    """The wrong values that `rerun --exact` writes."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(made) + "\n")
        done = subprocess.run([program, "rerun", path, "--line", "1", "--exact", "--quiet"],
                              capture_output=True, text=True)
    try:
        state = json.loads(done.stdout)["state"]
    except (ValueError, KeyError):
        return None
    for name, right in truth.items():
        value = state.get(name)
        if name in made["state"] and isinstance(value, (int, float)) and isinstance(right, (int, float)) and not is_near(value, right):
            wrong.append((name, value, right))
    return wrong


def rows_of(paths):
    for path in (one for path in paths for one in (sorted(glob.glob(f"{path}/*.jsonl")) if os.path.isdir(path) else [path])):
        with open(path, encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.strip())


def readings(runs, said):
    """How often each class of reading gives what a right run wrote, and how many calculations were not read."""
    classes, calculations, read = collections.defaultdict(collections.Counter), 0, 0
    for run, one in zip(runs, said):
        steps = {at for at, step in enumerate(run["steps"], 1) if step.get("py")}
        found = one.get("readings") or []
        calculations += len(steps)
        read += len(steps & {reading["step"] for reading in found})
        for reading in found:
            classes[reading["reading"]][reading["agrees"]] += 1
    print(f"  calculations read, answer hidden: {share(read, calculations)}; of each class, right:")
    for name, counts in sorted(classes.items(), key=lambda row: -sum(row[1].values())):
        print(f"    {name:17} {share(counts[True], sum(counts.values()))}")


def right_runs(program, runs, keep, misses):
    print(f"right runs: {len(runs)}")
    for known in KNOWN:
        records = [record(run, known) for run in runs]
        said = checked(program, records, keep and f"{keep}.{known}.jsonl")
        accused = [(made, loud(one)) for made, one in zip(records, said) if loud(one)]
        print(f"  accused above a note, {known:7} {share(len(accused), len(runs))}")
        for made, found in accused if misses else []:
            print("     ", made["id"], known, *found, sep="\n        ")
    readings(runs, said)
    wrong = []
    for run in runs:
        truth = {name: value for step in run["steps"] for name, value in step["writes"].items()}
        found = exact_values(program, record(run, "hidden"), truth)
        wrong += [(run["id"], *one) for one in found or []][:1]
    print(f"  runs in which rerun --exact writes a wrong value: {share(len(wrong), len(runs))}")
    for one in wrong if misses else []:
        print("     ", *one)
    return wrong


def faults(program, runs, planted, keep, misses):
    by_id = {run["id"]: run for run in runs}
    words = []
    for known in KNOWN:
        made = [(fault, record(by_id[fault["base"]], known, fault, fault["id"])) for fault in planted if fault["base"] in by_id]
        made = [(fault, one) for fault, one in made if one is not None]
        counts, of, named_right, named = collections.Counter(), collections.Counter(), 0, 0
        plan_blamed = step_faults = 0
        for (fault, one), said in zip(made, checked(program, [one for _, one in made], keep and f"{keep}.faults.{known}.jsonl")):
            triage, kind = said.get("triage") or {}, fault["fault"]
            place = triage.get("fix"), triage.get("step")
            if kind == "lucky":
                hit = triage.get("fix") not in (None, "unknown") and triage.get("step") == fault["step"] or "luck" in json.dumps(said)
                counts[kind, "right" if hit else "silent"] += 1
                of[kind] += 1
                continue
            wanted = PLACES[kind], None if kind == "plan" else fault["step"]
            is_named = place[0] not in (None, "none", "unknown")
            hit = is_named and place[0] == wanted[0] and (wanted[1] is None or place[1] == wanted[1])
            of[kind] += 1
            named += is_named
            named_right += hit
            counts[kind, "right" if hit else "wrong" if is_named else "silent"] += 1
            if kind != "plan":
                step_faults += 1
                plan_blamed += place[0] == "procedure"
            if is_named:
                words.append((triage["confidence"], hit))
            if not hit and misses:
                print("     ", known, fault["id"], kind, "step", fault["step"], "got", *place, triage.get("confidence"))
                for argument in triage.get("why", [])[:3]:
                    print("          ", argument["text"])
                print("          ", *[f"{n}: {step['stepDescription']}" for n, step in enumerate(one["procedure"]["steps"], 1)], sep="\n           ")
        print(f"faults, answer {known}: {len(made)}; of the places named right {share(named_right, named)};"
              f" rightly named {share(named_right, sum(of.values()) - of['lucky'])};"
              f" plan blamed for a step {share(plan_blamed, step_faults)}")
        for kind in sorted(of):
            print(f"    {kind:8} right {counts[kind, 'right']:3}  wrong {counts[kind, 'wrong']:3}  silent {counts[kind, 'silent']:3}")
    confidences("place to fix, by confidence", words)


def chains(program, rows, keep, misses):
    for known in ("number", "hidden"):
        made = [chain(row, known) for row in rows]
        counts = collections.Counter()
        for row, said in zip(rows, checked(program, made, keep and f"{keep}.chains.{known}.jsonl")):
            triage = said.get("triage") or {}
            if row["right"]:
                found = loud(said)
                counts["accused" if found else "left alone"] += 1
                if found and misses:
                    print("     ", known, row["id"], *found, sep="\n        ")
            else:
                step = triage.get("step") if triage.get("fix") not in (None, "none", "unknown") else None
                counts["right" if step == row["wrong_step"] else "wrong" if step else "silent"] += 1
                if step not in (None, row["wrong_step"]) and misses:
                    print("     ", known, row["id"], "wanted", row["wrong_step"], "got", step, triage.get("confidence"),
                          *[one["text"] for one in triage["why"][:2]])
        print(f"chains, answer {known}: right ones accused {counts['accused']} of {counts['accused'] + counts['left alone']};"
              f" first wrong step right {counts['right']}, wrong {counts['wrong']}, silent {counts['silent']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--file", action="append", help="a file or folder of written runs, in place of benches/voices")
    parser.add_argument("--records", help="keep what was checked in files that begin so")
    parser.add_argument("--misses", action="store_true", help="tell what was missed or wrongly accused")
    options = parser.parse_args()
    rows = list(rows_of(options.file or [os.path.join(HERE, "voices")]))
    if not rows:
        sys.exit("no written runs")
    by_form = collections.defaultdict(list)
    for row in rows:
        by_form[row["form"]].append(row)
    right_runs(options.program, by_form["run"], options.records, options.misses)
    faults(options.program, by_form["run"], by_form["fault"], options.records, options.misses)
    chains(options.program, by_form["chain"], options.records, options.misses)


if __name__ == "__main__":
    main()
