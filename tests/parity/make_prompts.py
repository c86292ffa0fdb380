"""Cases for tests/it/prompts.rs: odd procedures, odd replies, and the prompts that upstream makes of them.

    python make_prompts.py --seed 1 --count 150 | gzip -9n > ../fixtures/parity/prompts.jsonl.gz

Needs upstream (PyPI: evoproc 1.0.0, evoproc-procedures 1.2.0). One case a line, in the shape of
tests/fixtures/oracle/runs.jsonl.gz. Lone surrogates stand in the lines as escapes.
"""

import argparse
import json
import random

from evoproc_procedures.runners import run_steps_stateful_minimal
from evoproc_procedures.schemas import get_schema, list_schemas

NAMES = ["a", "b", "c", "total", "é", "x y", 'q"', "\ud800", "", "problem_text", "final_answer", "tab\t", "\U0001f600",
         5, 1.0, 1e16, -0.0, True, None, 10**25, float("nan"), float("inf")]
VALUES = [0, -0.0, 1, 1.0, 1e16, 1e-5, 0.0001, 123456789.123456789, 1e22, 5e-324, 2**70, float("nan"), float("inf"),
          float("-inf"), True, False, None, "", "é\u2028\u007f\x01\b\f\n\r\t\"\\/", "\ud83d", "\udc00\ud800", "\U0001f600",
          [], {}, [[]], [{}], {"k": [1, {"z": None}], "": "x"}, [1, [2, [3, []]]], "# Inputs (JSON)"]
TEXTS = ["Do it", "", None, 0, False, "two\nlines", "é \ud800", 7, 1.5, True, "   "]
DESCRIPTIONS = ["what", "", None, 3, 2.50, False, "ends in blanks \t\x1f\u3000\x85", "\n", "é", float("nan")]


def field(rng):
    item = {"name": rng.choice(NAMES[:12] if rng.random() < 0.7 else NAMES)}
    if rng.random() < 0.8:
        item["description"] = rng.choice(DESCRIPTIONS)
    if rng.random() < 0.05:
        del item["name"]
    return item


def step(rng, position, count, known):
    made = {"id": position + 1 if rng.random() < 0.8 else rng.choice([count, float(count), True, "3", None, count + 1])}
    inputs = []
    for _ in range(rng.randrange(4)):
        inputs.append({"name": rng.choice(sorted(known, key=repr)), "description": "d"} if rng.random() < 0.97 else field(rng))
    if rng.random() < 0.95:
        made["inputs"] = inputs
    made[rng.choice(["stepDescription"] * 6 + ["step_description"])] = rng.choice(TEXTS)
    if rng.random() < 0.2:
        made["step_description"] = rng.choice(TEXTS)
    outputs = [field(rng) for _ in range(rng.randrange(4))]
    made[rng.choice(["output"] * 9 + ["outputs"])] = outputs if rng.random() < 0.95 else None
    for item in made.get("output") or []:
        if "name" in item:
            known.add(str(item["name"]))
    return made


def case(rng, n):
    count = rng.randrange(1, 6)
    known = {"problem_text"}
    proc = {"NameDescription": "n", "steps": [step(rng, at, count, known) for at in range(count)]}
    schema = rng.choice(list(list_schemas()))
    calls = []

    def answer(prompt, model, fmt, seed):
        reply = {key: rng.choice(VALUES) for key in fmt["properties"]}
        if rng.random() < 0.3:
            reply["extra"] = 1
        raw = json.dumps(reply, ensure_ascii=rng.random() < 0.5)
        if "\\" not in raw and rng.random() < 0.3 and len(reply) > 0:
            key = next(iter(reply))
            raw = raw[:-1] + ", " + json.dumps(key) + ": 2.50}"
        calls.append({"prompt": prompt, "schema_text": json.dumps(fmt, ensure_ascii=False, indent=2), "raw": raw})
        return raw

    text = rng.choice(["2 + 3?", "é \"quoted\" \\ \n", "\ud800 lone", ""])
    result = {"n": n, "text": json.dumps(proc), "answer_schema": schema, "problem_text": text, "calls": calls}
    try:
        run_steps_stateful_minimal(proc, text, get_schema(schema), "m", query_fn=answer)
    except Exception as error:  # the message is the result
        result["error"] = type(error).__name__
        result["message"] = str(error)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    for n in range(options.count):
        print(json.dumps(case(rng, n)))
