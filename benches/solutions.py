#!/usr/bin/env python3
"""Solutions of real models to the test questions of GSM8K, as chains of thought: how often a right one is accused, and
how often the right answer is blamed for a wrong one.

  benches/solutions.py CLONE              # a clone of qtli/GSM-Plus, bare or not
  benches/solutions.py CLONE --misses     # tell what was accused

The records are what a person has: the question, the solution as one text, and the worked answer. Grade and expected answer
are GSM8K's own: a solution is right if the number it ends with is the expected one. Nothing is downloaded.
"""
import argparse, collections, json, re

from outside import checked, lines, read, share

MODELS = ("gpt4", "gpt-3.5-turbo", "abel_70b", "metamath_70b", "metamath_7b")
FOLDER = "results/gsm8k_results/"
NUMBER = re.compile(r"-?\$?\d[\d,]*(?:\.\d+)?")


def value(text):
    found = NUMBER.findall(text)
    return float(found[-1].replace(",", "").replace("$", "")) if found else None


def answer_of(solution):
    """The number that a solution ends with: behind `####`, or in its last line with a number."""
    marked = re.findall(r"####\s*(.*)", solution)
    for text in marked[-1:] + solution.strip().splitlines()[::-1]:
        if value(text) is not None:
            return value(text)
    return None


def rows(clone, model, worked):
    text = read(clone, f"{FOLDER}{model}.json")
    if text is None:
        return
    try:
        found = json.loads(text)
    except ValueError:
        found = lines(text)
    for at, row in enumerate(found):
        question, answer = worked[at] if at < len(worked) else (None, None)
        question = row.get("question") or question
        answer = row["answer"] if isinstance(row.get("answer"), str) else answer
        solution = row.get("model_prediction") or row.get("completion") or ""
        if question and answer and solution.strip():
            yield {"id": f"{model}-{at}", "question": question, "solution": solution.strip(), "ground_truth_solution": answer}


def accusations(said):
    found = [f"{one['severity']} {one['rule']}: {one['message']}" for one in said["findings"]
             if one["severity"] != "note" and one["rule"].startswith("run/")]
    triage = said.get("triage") or {}
    if triage.get("fix") not in (None, "none", "unknown") and triage.get("confidence") != "unsure":
        found.append(f"fix {triage['fix']} {triage.get('step')} {triage['confidence']}: " + " | ".join(one["text"] for one in triage["why"][:2]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", help="a clone of qtli/GSM-Plus, bare or not")
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--records", help="keep what was checked in this file")
    parser.add_argument("--misses", action="store_true", help="tell what was accused")
    options = parser.parse_args()
    worked = [(row["question"], row["answer"]) for row in json.loads(read(options.clone, f"{FOLDER}gpt4.json") or "[]")]
    records = [row for model in MODELS for row in rows(options.clone, model, worked)]
    is_right = [answer_of(row["solution"]) == value(row["ground_truth_solution"].split("####")[-1]) for row in records]
    right = [row for row, fits in zip(records, is_right) if fits]
    wrong = [row for row, fits in zip(records, is_right) if not fits]
    print(f"GSM8K, solutions of {len(MODELS)} models: {len(right)} right, {len(wrong)} wrong")
    for title, hide in (("with the worked answer", False), ("answer hidden", True)):
        shown = [{key: one for key, one in row.items() if not hide or key != "ground_truth_solution"} for row in right]
        said = checked(options.program, shown, options.records and not hide and options.records)
        accused = [(row["id"], accusations(one)) for row, one in zip(shown, said) if accusations(one)]
        print(f"  right ones accused, {title}: {share(len(accused), len(right))}")
        for name, found in accused if options.misses else []:
            print("    ", name, *found, sep="\n       ")
    said = checked(options.program, wrong, None)
    fixes = collections.Counter(f"{one['triage']['fix']} {one['triage']['confidence']}" for one in said if one.get("triage"))
    print("  wrong ones: the right answer is blamed", share(sum(one["triage"]["fix"] == "gold" for one in said if one.get("triage")), len(wrong)))
    print("   ", ", ".join(f"{fix} {count}" for fix, count in fixes.most_common()))


if __name__ == "__main__":
    main()
