"""make_creations.py --seed N --count M RELEASE FOLDER > creations.jsonl : one release's part of whole creations.

FOLDER holds that release's package, as `pip download --no-deps evoproc-procedures==RELEASE` unpacked gives it; needs
`pip install evoproc==1.0.0`. Each line: a question, examples, an answer schema, the seed, the creation prompt with the
examples, and what upstream's own `run_full_procedure_structured` asks of a scripted model: for every call the prompt,
the schema, the seed and the reply; then the procedure and the final state, or upstream's error. With
`--repairs` the first reply is a bad plan of its own, and what follows repairs it, or does not.
"""

import argparse
import hashlib
import importlib
import json
import random
import sys

WORDS = ["apples", "48", "3.5", "%", "%s %d", "{}", "{item}", "{0!r}", "{{x}}", "'", '"', "\\", "\n", "\n\n# Task\n", "\t", "é", "漢字",
         "🍎", "\u2028", "\x00", "\x1b[31m", "\ufeff", "</think>", "```json", "a's", "$1,200", "½", "\r\n", "\u202e", "'''", '"""', "\\n",
         "\ud800", "\udc00", "\ud83c\udf4e", " ", "how many?", "# Example (hint)", "\x7f", "\x85", "x" * 300]
FIXED = ["", " ", "\n", "{", "}", "%", "'", '"', "\\", "漢" * 700, "Natalia sold clips to 48 friends in April.", "\ud800", "{item}{example}",
         "a\x00b", "x " * 9000]
EXAMPLES = [None, None, None, "", "An example.", "line\nline\n", "{not} %s 'a' \"b\"", "漢\ud800", "# Task\nanother"]


def question(r, n):
    if n < len(FIXED):
        return FIXED[n]
    return r.choice(["", " "]).join(r.choice(WORDS) for _ in range(r.randint(1, 12)))


def field(name, description="d"):
    return {"name": name, "description": description}


def good(r):
    count = r.randint(1, 4)
    names = [f"v{n}" for n in range(1, count)] + ["final_answer"]
    return {"NameDescription": r.choice(["n", "漢 'x' \"y\"", ""]), "steps": [
        {"id": n + 1, "inputs": [field(names[n - 1] if n else "problem_text", r.choice(["d", "", "é\n"]))],
         "stepDescription": r.choice(["Do it", "漢\n", "{x} %s"]), "output": [field(name)]} for n, name in enumerate(names)]}


def spoil(r, plan):
    """One more mistake in a plan."""
    steps = plan.get("steps")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        return plan
    step = r.choice(steps)
    odd = r.choice([None, 5, "x", [], {}, True, 1.5])
    fields = r.choice(["inputs", "output"])
    mistake = r.randrange(16)
    if mistake == 0:
        step["inputs"] = [field("gone"), field(r.choice(["gone", "v1", "é"]))]
    elif mistake == 1:
        step["output"] = [field(r.choice(["v1", "x'y", "漢", "unused"])), field(r.choice(["final_answer", "b"]))]
    elif mistake == 2:
        steps[-1]["output"] = r.choice([[], [field("total")], [field("final_answer"), field("more")]])
    elif mistake == 3:
        steps[0]["inputs"] = r.choice([[], [field("x")], [field("problem_text"), field("x")]])
    elif mistake == 4:
        step.pop(r.choice(list(step)), None) if step else None
    elif mistake == 5:
        step["id"] = r.choice([0, "1", "x", 1.5, True, None, 10**30, -1])
    elif mistake == 6:
        step[fields] = odd
    elif mistake == 7:
        step[fields] = [odd, field("y")]
    elif mistake == 8:
        for one in steps:
            for entry in [*one.get("inputs", []), *one.get("output", [])] if isinstance(one.get("output"), list) else []:
                entry.pop("description", None) if isinstance(entry, dict) else None
    elif mistake == 9:
        plan.pop("NameDescription", None)
    elif mistake == 10:
        plan["NameDescription"] = odd
    elif mistake == 11:
        step["stepDescription"] = odd
    elif mistake == 12:
        steps.append(json.loads(json.dumps(step)))
    elif mistake == 13:
        step["step_description"] = step.pop("stepDescription", "s")
    elif mistake == 14:
        step["outputs"] = step.pop("output", [])
    else:
        plan["extra"] = odd
    return plan


def bad(r):
    if r.random() < 0.25:
        return r.choice([None, [], 5, "text", {}, {"steps": []}, {"NameDescription": "n", "steps": []}, {"name_description": "n", "steps": []}, [good(r)], True, float("nan"),
                         {"NameDescription": "n", "steps": None}, {"procedure": good(r)}])
    plan = good(r)
    for _ in range(r.randint(1, 3)):
        plan = spoil(r, plan)
    return plan


def broken(r):
    text = json.dumps(good(r))
    return r.choice(["", "nope", "```json\n" + text + "\n```", "Here's the answer: " + text, text[:-1] + ",}", text[:-3],
                     "<think>so</think>" + text, text + text])


def dumped(r, value):
    text = json.dumps(value, ensure_ascii=r.random() < 0.5, indent=r.choice([None, None, 2]))
    return text if all(ord(c) < 0xD800 or ord(c) > 0xDFFF for c in text) else json.dumps(value)


def values(r, schema):
    return {key: r.choice([1, 2.5, "x", "漢", True]) for key in schema["properties"] if r.random() < 0.98}


def case(r, n, package, repairs, release):
    prompts, pipelines, schemas, runners = (importlib.import_module(f"evoproc_procedures.{name}")
                                            for name in ("prompts", "pipelines", "schemas", "runners"))
    text, examples, task = question(r, n), r.choice(EXAMPLES), r.choice(["general", "bool", "gsm", "arc"])
    # Two halves of a character next to each other are one in JSON.
    text = json.loads(json.dumps(text))
    made = {"n": n, "release": release, "question": text, "examples": examples, "task": task, "seed": r.choice([1234, 7, None]), "calls": []}
    prompt = prompts.create_procedure_prompt(text, examples)
    made["prompt_sha256"] = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
    if n < 24 and len(prompt) < 20000:
        made["prompt"] = prompt
    # How the script goes: after so many calls a good plan comes.
    after = r.choice([1, 1, 2, 3, 9, 10, 11, 99]) if repairs else r.choice([0, 0, 0, 1])

    def query(prompt, model, schema, seed):
        number = len(made["calls"])
        if repairs and number == n < 2:
            raw = '{"NameDescription": "n", "steps": []}'
        elif "$defs" not in schema:
            raw = dumped(r, values(r, schema))
        elif number >= after:
            raw = dumped(r, good(r))
        elif number and r.random() < 0.3 or r.random() < 0.1:
            raw = broken(r)
        else:
            raw = dumped(r, bad(r))
        digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        made["calls"].append({"prompt_sha256": digest, "schema": json.dumps(schema, ensure_ascii=False), "seed": seed, "raw": raw})
        return raw

    def run_steps(procedure, problem_text, answer_schema, model, print_diagnostics):
        return runners.run_steps_stateful_minimal(procedure, problem_text, answer_schema, model, query_fn=query, seed=made["seed"])

    try:
        procedure, state = pipelines.run_full_procedure_structured(
            0, text, model="m", query_fn=query, run_steps_fn=run_steps, answer_schema=schemas.get_schema(task), seed=made["seed"])
        made["procedure_text"], made["state_text"] = json.dumps(procedure), json.dumps(state)
    except Exception as error:
        made["error"], made["message"] = type(error).__name__, str(error)
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("release")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--repairs", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.folder)
    r = random.Random(arguments.seed)
    for n in range(arguments.count):
        print(json.dumps(case(r, n, arguments.folder, arguments.repairs, arguments.release)))


main()
