"""Cases for tests/it/parity.rs: mutated procedures and answers, and what upstream says of them.

    python make_cases.py procedures --seed 1 --count 400 > procedures.jsonl
    python make_cases.py answers --seed 1 --count 400 > answers.jsonl
    python make_cases.py schemas --seed 1 --count 400 > schemas.jsonl

Needs upstream (PyPI: evoproc 1.0.0, evoproc-procedures 1.2.0, with pydantic 2.14.3 and jsonschema 4.26.0). The same
seed gives the same cases. One case a line, in the shape of `tests/fixtures/oracle`; `text` is what upstream read.
The fixtures in tests/fixtures/parity were made with the commands above (seed 1, then gzip -9n).
For a long comparison put all three into a folder, with another seed and a count of tens of thousands, and run
`STEPSCOPE_PARITY_CASES=folder cargo test --release --test it parity::`.
"""

import argparse
import copy
import json
import random

from evoproc.models import Procedure
from evoproc.scorers import StructuralHygieneScorer
from evoproc.validators import validate_procedure_structured
from evoproc_procedures.schemas import get_schema, validate_answer
from jsonschema import Draft202012Validator
from pydantic import ValidationError

# Values that Python's reader, pydantic or repr treat in their own way.
ODD = [
    None, True, False, 0, 1, -1, 2, 10**30, -(10**30), 2**63, 2**63 - 1, 1.0, 1.5, -0.0, 0.0, 1e-7, 1e16, 1e30, 1e18, 9.3e18,
    9223372036854774784.0, 5e-324, float("nan"), float("inf"), float("-inf"), "", "x", "1", " ", [], {}, [1], [[]], {"a": 1},
    [{"name": "v"}], {"name": "v", "description": "d"}, ["problem_text"], "problem_text", "final_answer", "é", "\ud800",
    "it's", 'say "hi"', 'both \' and "', "back\\slash", "new\nline", "\x00\x1f\x7f\x80\x9f\xa0\xad", "\u200b\u2028\ue000",
    "\U0001f600\U000e0001\U0010ffff", [1, 2.0, {"k": True, "n": None}], {"nan": float("nan")}, "\u0378\u1fff\ufdd0",
]
ID_PARTS = ["0", "1", "9", "00", "_", "__", ".", ".0", ".00", "+", "-", " ", "\t", "\n", "\xa0", "\u2003", "\x85", "\x1c", "e", "x",
            "１", "10", "123456789", "9" * 20, "\ud800", "\x00", "\u200b", ",", "9" * 4299, "9" * 4300, "0" * 4300, "0.0", "1_0"]
NAMES = ["a", "b", "c", "total", "count", "problem_text", "final_answer", "", "A", "é", "z'", 'q"', "both'\"", "\ud800", "\udfff",
         "tab\t", "\u200b", "\x00", "\U0001f600", "x y", "Z", "10", "9", "problem_text ", "Final_answer", "\x7f", "\u00ad", "a\\b"]
TEXTS = ["Extract the numbers", "already done", "GATHER all", "Add them", "İdentify", "Parse", "identif y", "", "Sum up", "READ",
         "\read", "compute"]


def rnd_field(rng):
    return {"name": rng.choice(NAMES if rng.random() < 0.5 else NAMES[:7]), "description": rng.choice(TEXTS)}


def rnd_procedure(rng):
    """Mostly well formed: a chain of steps, each reading what was written before, with slips."""
    n = rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 12]) if rng.random() < 0.98 else rng.randint(13, 60)
    made, steps = ["problem_text"], []
    for i in range(n):
        names = [rng.choice(made) for _ in range(rng.choice([1, 1, 1, 2, 3]))] if i else ["problem_text"]
        if rng.random() < 0.1:
            names.append(rng.choice(NAMES))
        if i == n - 1 and rng.random() < 0.9:
            outs = ["final_answer"]
        else:
            outs = [rng.choice([f"v{i}_{k}", f"v{i}_{k}", f"v{i}_{k}", rng.choice(NAMES)]) for k in range(rng.choice([1, 1, 2, 3]))]
        if rng.random() < 0.05:
            outs.append(rng.choice(outs + names))
        made += outs
        steps.append({
            "id": i + 1,
            "inputs": [{"name": v, "description": "d"} for v in names],
            "stepDescription": rng.choice(TEXTS),
            "output": [{"name": v, "description": "d"} for v in outs],
        })
    return {"NameDescription": rng.choice(["n", "Add", ""]), "steps": steps}


def rnd_id(rng):
    if rng.random() < 0.4:
        return rng.choice(ODD)
    if rng.random() < 0.2:
        return rng.choice([rng.uniform(-3, 9), float(rng.randint(-2, 2**62)), rng.randint(-2, 99), rng.uniform(-1, 1) * 10.0 ** rng.randint(-9, 25)])
    return "".join(rng.choice(ID_PARTS[:-6] if rng.random() < 0.97 else ID_PARTS) for _ in range(rng.randint(1, 5)))


def containers(value, found=None):
    """Every object and list in a value."""
    found = [] if found is None else found
    if isinstance(value, (dict, list)) and value:
        found.append(value)
        for child in list(value.values()) if isinstance(value, dict) else value:
            containers(child, found)
    return found


def mutate(rng, p):
    kind = rng.choice(["value", "drop", "rename", "id", "ids", "extra", "snake", "both", "swap", "dup", "name", "field", "steps", "first", "last", "shape"])
    steps = p.get("steps") if isinstance(p, dict) else None
    dicts = [s for s in steps if isinstance(s, dict)] if isinstance(steps, list) else []
    if kind == "value":
        box = rng.choice(containers(p) or [[0]])
        key = rng.choice(list(box)) if isinstance(box, dict) else rng.randrange(len(box))
        box[key] = copy.deepcopy(rng.choice(ODD))
    elif kind == "drop":
        box = rng.choice(containers(p) or [[0]])
        key = rng.choice(list(box)) if isinstance(box, dict) else rng.randrange(len(box))
        del box[key]
    elif kind == "rename" and dicts:
        step = rng.choice(dicts)
        for old, new in rng.sample([("output", "outputs"), ("stepDescription", "step_description"), ("id", "ID"), ("inputs", "input")], 2):
            if old in step:
                step[new] = step.pop(old)
    elif kind == "id" and dicts:
        rng.choice(dicts)["id"] = rnd_id(rng)
    elif kind == "ids":
        for step in dicts:
            step["id"] = rnd_id(rng)
    elif kind == "extra":
        box = rng.choice([b for b in containers(p) if isinstance(b, dict)] or [{}])
        box[rng.choice(NAMES + ["steps", "id", "name", "outputs", "name_description"])] = copy.deepcopy(rng.choice(ODD))
    elif kind == "snake":
        for box in [p] + dicts if isinstance(p, dict) else dicts:
            for old, new in [("output", "outputs"), ("stepDescription", "step_description"), ("NameDescription", "name_description")]:
                if old in box and rng.random() < 0.8:
                    box[new] = box.pop(old)
    elif kind == "both":
        for box in [p] + dicts if isinstance(p, dict) else dicts:
            for old, new in [("output", "outputs"), ("stepDescription", "step_description"), ("NameDescription", "name_description")]:
                if old in box and rng.random() < 0.4:
                    box[new] = copy.deepcopy(rng.choice([box[old], rng.choice(ODD), [rnd_field(rng)], "text"]))
                    if rng.random() < 0.4:
                        box[old] = copy.deepcopy(rng.choice(ODD))
    elif kind == "swap" and isinstance(steps, list):
        rng.shuffle(steps)
    elif kind == "dup" and isinstance(steps, list) and steps:
        steps.insert(rng.randrange(len(steps) + 1), copy.deepcopy(rng.choice(steps)))
    elif kind == "name":
        fields = [b for b in containers(p) if isinstance(b, dict) and "name" in b]
        if fields:
            rng.choice(fields)["name"] = rng.choice(NAMES)
    elif kind == "field" and dicts:
        box = rng.choice(dicts).get(rng.choice(["inputs", "output", "outputs"]))
        if isinstance(box, list):
            for _ in range(rng.randint(1, 4)):
                box.insert(rng.randrange(len(box) + 1), rnd_field(rng) if rng.random() < 0.8 else copy.deepcopy(rng.choice(ODD)))
    elif kind == "steps" and isinstance(p, dict):
        p["steps"] = copy.deepcopy(rng.choice(ODD))
    elif kind == "first" and dicts:
        dicts[0]["inputs"] = [rnd_field(rng) for _ in range(rng.randint(0, 2))]
    elif kind == "last" and dicts:
        dicts[-1]["output"] = [rnd_field(rng) for _ in range(rng.randint(0, 2))] + rng.choice([[], [{"name": "final_answer", "description": "d"}]])
    elif kind == "shape" and rng.random() < 0.2:
        return copy.deepcopy(rng.choice(ODD))
    return p


def dump(rng, value):
    """JSON text as people have it: any order, repeated keys, escapes that need none."""
    def shuffled(v):
        if isinstance(v, dict):
            items = [(k, shuffled(x)) for k, x in v.items()]
            if rng.random() < 0.3:
                rng.shuffle(items)
            return dict(items)
        return [shuffled(x) for x in v] if isinstance(v, list) else v

    if rng.random() < 0.3:
        value = shuffled(value)
    ascii_only = rng.random() < 0.7
    text = json.dumps(value, ensure_ascii=ascii_only, indent=rng.choice([None, None, 2]))
    if not ascii_only and any(0xD800 <= ord(c) < 0xE000 for c in text):
        text = json.dumps(value)
    if rng.random() < 0.05:
        text = text.replace("1.0", rng.choice(["1E0", "1.00", "10e-1", "1e400", "-0"]), 1)
    if rng.random() < 0.05:
        key = rng.choice(['"id"', '"name"', '"output"', '"steps"', '"inputs"', '"final_answer"', '"confidence"'])
        text = text.replace(key, rng.choice([key + ': null, ' + key, key + ': "1", ' + key, '"' + "\\u%04x" % ord(key[1]) + key[2:]]), 1)
    try:
        json.loads(text)
    except ValueError:  # a replacement hit a value instead of a key
        return json.dumps(value)
    return text


def score(p):
    try:
        return {"ok": StructuralHygieneScorer(validate_procedure_structured).score_proc(p)}
    except Exception as error:  # noqa: BLE001: whatever it raises, there is no score
        return {"error": type(error).__name__}


def procedures(rng, count):
    for n in range(count):
        p = rnd_procedure(rng)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 5])):
            p = mutate(rng, p)
        text = dump(rng, p)
        p = json.loads(text)
        try:
            normalized = Procedure.model_validate(p).model_dump(by_alias=True)
        except ValidationError:
            normalized = None
        yield {"n": f"own {n}", "text": text, "diagnostics": validate_procedure_structured(copy.deepcopy(p)), "normalized": normalized, "score": score(p)}


KEYS = ["final_answer", "final_answer_numerical", "final_answer_bool", "confidence", "choice_rationale", "units", "extra", "", "Z", "a", "é", "9", "10", "quote'", 'd"', "\ud800", "\U0001f600", "\n"]
GOOD = {"final_answer": "A", "final_answer_numerical": 5, "final_answer_bool": True, "confidence": 0.5, "choice_rationale": "because"}
NEAR = [0.9999999999999999, 1.0000000000000002, 1.1, -0.1, -1e-320, "5", "E", "A", "x" * 1000, "x" * 1001, "é" * 1000, "é" * 1001, "\U0001f600" * 1001, "\ud800" * 1000, 1e400, -(10**25), 3]


def own_keys(schema, state):
    """The answer in a state: upstream's last step merges only what its schema names."""
    names = schema.get("properties", {})
    return {k: v for k, v in state.items() if k in names} if isinstance(state, dict) else state


def answers(rng, count):
    for n in range(count):
        name = rng.choice(["general", "bool", "gsm", "gsm", "arc"])
        properties = get_schema(name)["properties"]
        value = {k: GOOD[k] for k in properties if rng.random() < 0.9}
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            key = rng.choice(list(properties) if rng.random() < 0.6 else KEYS)
            value[key] = copy.deepcopy(rng.choice(ODD + NEAR))
        if rng.random() < 0.03:
            value = rng.choice([[value], *ODD])
        text = dump(rng, value)
        yield {"n": f"own {n}", "schema": name, "check_finite_number": True, "text": text, "message": validate_answer(json.loads(text), get_schema(name)),
               "own_keys": validate_answer(own_keys(get_schema(name), json.loads(text)), get_schema(name))}


LITERALS = ["A", "B", 1, 1.0, True, 0, False, None, 2.5, [1], [True], {"a": 1}, "é", "it's", 10**20, 1e22]
PATTERNS = ["^a", "b$", "^[A-D]$", "\\d+", "^\\w+\\Z", "[$]", "a|b$", "^$", "é+", "(?i)X"]
NESTED = ["items", "prefixItems", "contains", "properties", "patternProperties", "additionalProperties", "propertyNames",
          "dependentSchemas", "allOf", "anyOf", "oneOf", "not", "if"]


def rnd_limit(rng):
    return rng.choice([0, 1, 2, 3, 2.5, -1, 0.1, 10**20, 1.0, 0.0])


def rnd_schema(rng, depth):
    """A schema of a few keywords in any order, valid under the meta-schema of draft 2020-12."""
    if rng.random() < 0.06:
        return rng.choice([True, False, {}])
    sub = lambda: rnd_schema(rng, depth - 1)  # noqa: E731
    keys = rng.sample(KEYS[:9] + ["b"], 3)
    makers = {
        "type": lambda: rng.choice(["string", "number", "integer", "boolean", "null", "array", "object", ["string", "null"], ["integer", "array", "object"]]),
        "enum": lambda: rng.sample(LITERALS, 3),
        "const": lambda: rng.choice(LITERALS),
        "minimum": lambda: rnd_limit(rng), "maximum": lambda: rnd_limit(rng),
        "exclusiveMinimum": lambda: rnd_limit(rng), "exclusiveMaximum": lambda: rnd_limit(rng),
        "multipleOf": lambda: rng.choice([1, 2, 3, 0.1, 0.5, 2.5, 1e-7, 1.0]),
        "minLength": lambda: rng.randint(0, 3), "maxLength": lambda: rng.randint(0, 3),
        "minItems": lambda: rng.randint(0, 3), "maxItems": lambda: rng.randint(0, 3),
        "minProperties": lambda: rng.randint(0, 3), "maxProperties": lambda: rng.randint(0, 3),
        "pattern": lambda: rng.choice(PATTERNS), "uniqueItems": lambda: rng.random() < 0.8,
        "required": lambda: keys[:2], "dependentRequired": lambda: {keys[0]: keys[1:]},
        "format": lambda: "date", "title": lambda: "t", "x-own": lambda: 1,
        "items": sub, "prefixItems": lambda: [sub() for _ in range(rng.randint(1, 2))], "contains": sub,
        "minContains": lambda: rng.randint(0, 2), "maxContains": lambda: rng.randint(0, 2),
        "properties": lambda: {k: sub() for k in keys}, "patternProperties": lambda: {p: sub() for p in rng.sample(PATTERNS, 2)},
        "additionalProperties": lambda: rng.choice([False, False, True, sub()]), "propertyNames": sub,
        "dependentSchemas": lambda: {keys[0]: sub()},
        "allOf": lambda: [sub(), sub()], "anyOf": lambda: [sub(), sub()], "oneOf": lambda: [sub(), sub(), sub()], "not": sub,
        "if": sub, "then": sub, "else": sub, "$ref": lambda: "#/$defs/" + rng.choice(["d0", "d~1~0"]),
    }
    names = [name for name in makers if depth > 0 or name not in NESTED + ["then", "else", "$ref"]]
    return {name: makers[name]() for name in rng.sample(names, rng.choice([1, 1, 2, 3, 4, 6]))}


def rnd_instance(rng, depth=2):
    kind = rng.random()
    if depth and kind < 0.4:
        return {rng.choice(KEYS[:9] + ["b"]): rnd_instance(rng, depth - 1) for _ in range(rng.randint(0, 4))}
    if depth and kind < 0.55:
        return [rnd_instance(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    return copy.deepcopy(rng.choice(LITERALS + ODD + ["a", "ab", "b\n", "12", "", 3, 0.3, -1, 6, 2**70, 1e300, 7.5]))


def is_fixed(schema, instance):
    """Whether the first error does not hang on the order of a Python set, and Python gives an answer at all."""
    try:
        errors = list(Draft202012Validator(schema).iter_errors(instance))
    except Exception:  # noqa: BLE001: int(nan), recursion and the like
        return False
    return len(errors) < 2 or "additionalProperties" not in list(errors[0].absolute_schema_path)[:-1]


def schemas(rng, count):
    n = 0
    while n < count:
        schema = rnd_schema(rng, 2)
        if isinstance(schema, dict):
            schema["$defs"] = {"d0": rnd_schema(rng, 0), "d/~": rnd_schema(rng, 1)}
            if rng.random() < 0.5:
                schema["type"] = "object"
        else:
            continue
        for _ in range(3):
            text = dump(rng, rnd_instance(rng))
            own = own_keys(schema, json.loads(text))
            if is_fixed(schema, json.loads(text)) and is_fixed(schema, own):
                message, view = (validate_answer(value, schema, check_finite_number=False) for value in (json.loads(text), own))
                yield {"n": f"own {n}", "schema": json.dumps(schema), "text": text, "message": message, "own_keys": view}
                n += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["procedures", "answers", "schemas"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    args = parser.parse_args()
    make = {"procedures": procedures, "answers": answers, "schemas": schemas}[args.what]
    for case in make(random.Random(args.seed), args.count):
        print(json.dumps(case))


if __name__ == "__main__":
    main()
