"""make_runs.py --seed N --count M > runs.jsonl : procedures run by upstream's own runner with scripted replies.

Needs `pip install evoproc==1.0.0 evoproc-procedures==1.2.0`. Each line: the procedure's text, the question, the answer
schema, and for every call the prompt, the schema, the seed and the reply; then the final state, or upstream's error.
"""

import argparse
import json
import random

from evoproc_procedures.runners import run_steps_stateful_minimal
from evoproc_procedures.schemas import get_schema

VALUES = [0, 1, -1, 2.5, 1e16, 1e-7, 1e22, -0.0, float("nan"), float("inf"), 10**30, True, False, None, "", "x", " y ",
          "\ud800", "é漢🍎", "a\nb", "\u2028", "\x00\x1f\x7f", "</script>", '{"json": 1}', [], {}, [1, [2, {"a": None}]],
          {"b": 1, "a": [True]}, 123456789012345678901234567890, "1e5", "\ufeff"]
NAMES = ["a", "b", "c", "total", "final_answer", "problem_text", "é", "a'b", 'q"x', "new\nline", " sp ", "漢字", "x1", "x2",
         "\ud83c\udf4e"]
BROKEN = ["", "[", "{", "nope", "```json\n{}\n```", '{"a": 1,}', "{'a': 1}", '{"a": "\\q"}', '{"a": "\\u12"}', "1 2",
          "\ufeff{}", '{"a": "x\ty"}', "[1,]", '{"a":1 "b":2}', '{"a" 1}', '{"a":', '"abc', "NaNN", "-", "1.e",
          '{"é": 1}\n}', '["\\ud800\\u12"]', "tru", '{"a":01}']
NO_OBJECTS = [5, 2.5, None, True, "text", "xa b c total", ["a", "b"], [], ["z"], "", [["a"]], float("nan")]
QUESTIONS = ["plain", "", "é漢🍎", "two\nlines\n", " sp ", 'quote " \\', "\x00\x7f\x1b[31m", "\ufeffx"]


def field(r, name):
    made = {"name": name}
    if r.random() < 0.8:
        odd = ["", "d", "trail  ", "with \x1f", "multi\nline", 5, None, 1.5, True, "漢"]
        made["description"] = r.choice(odd) if r.random() < 0.3 else "desc " + name
    return made


def reply(r, keys):
    chance = r.random()
    if chance < 0.03:
        return r.choice(BROKEN)
    if chance < 0.06:
        return json.dumps(r.choice(NO_OBJECTS))
    keys = list(keys)
    r.shuffle(keys)
    made = {key: r.choice(VALUES) for key in keys if r.random() < 0.97}
    if r.random() < 0.2:
        made["extra"] = r.choice(VALUES)
    text = json.dumps(made, ensure_ascii=r.random() < 0.5, indent=r.choice([None, None, 1, 2]))
    if r.random() < 0.1:
        text = "  \n" + text + "\n\t "
    if r.random() < 0.05 and made:
        text = text[:-1] + ", " + json.dumps(list(made)[0]) + ": 7}"
    return text


def step(r, position, count, available):
    inputs = [r.choice(available) if r.random() < 0.96 else r.choice(NAMES) for _ in range(r.randint(0, 3))]
    outputs = [r.choice(NAMES) for _ in range(r.randint(0 if r.random() < 0.1 else 1, 3))]
    available += outputs
    made = {
        "id": r.choice([count, float(count), str(count), None, 0, True, count + 1]) if r.random() < 0.1 else position + 1,
        "inputs": [field(r, name) for name in inputs],
        "stepDescription": r.choice(["Do it", "", "multi\nline", "漢 \ud800", 7, "ok", "z"]),
        "output": [field(r, name) for name in outputs],
    }
    if r.random() < 0.05:
        del made["id"]
    if r.random() < 0.05:
        made["step_description"] = "snake"
    if r.random() < 0.05:
        del made["stepDescription"]
    if r.random() < 0.04:
        made["inputs"] = None
    if r.random() < 0.04:
        made["output"] = r.choice([None, []])
    return made


def procedure(r):
    count = r.randint(1, 5)
    available = ["problem_text"]
    made = {"NameDescription": "n", "steps": [step(r, position, count, available) for position in range(count)]}
    odd = {0: None, 2: {}, 4: [7]}
    chance = r.randrange(100)
    if chance in odd:
        made["steps"] = odd[chance]
    elif chance == 1:
        made = [made]
    elif chance == 3:
        del made["steps"]
    return made


def case(r, n):
    text = json.dumps(procedure(r), ensure_ascii=r.random() < 0.5)
    if any(0xD800 <= ord(c) < 0xE000 for c in text):
        text = json.dumps(json.loads(text))
    made = {"n": n, "text": text, "answer_schema": r.choice(["general", "bool", "gsm", "arc"]),
            "strict_missing": r.random() < 0.7, "problem_text": r.choice(QUESTIONS), "calls": []}

    def query(prompt, model, schema, seed):
        raw = reply(r, schema["properties"])
        made["calls"].append({"prompt": prompt, "schema": schema, "seed": seed, "raw": raw})
        return raw

    try:
        state = run_steps_stateful_minimal(json.loads(text), made["problem_text"], get_schema(made["answer_schema"]), "m",
                                           query_fn=query, strict_missing=made["strict_missing"])
        made["state_text"] = json.dumps(state, ensure_ascii=False)
    except Exception as error:
        made["error"], made["message"] = type(error).__name__, str(error)
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=120)
    arguments = parser.parse_args()
    r = random.Random(arguments.seed)
    for n in range(arguments.count):
        print(json.dumps(case(r, n)))


main()
