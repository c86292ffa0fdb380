"""Cases for tests/it/verify.rs: patterns, BLEU scores and verdicts, and what Python says of them.

    python make_verdicts.py patterns --seed 1 --count 1500 > patterns.jsonl
    python make_verdicts.py bleu --seed 1 --count 600 > bleu.jsonl
    python make_verdicts.py verdicts --seed 1 --count 800 > verdicts.jsonl
    python make_verdicts.py words --seed 1 --count 700 --suite JSON-Schema-Test-Suite > words.jsonl

Needs Python 3.11, sacrebleu 2.6.0 and jsonschema 4.26.0; `words` also a checkout of the official JSON Schema test suite,
of which it takes that many cases, chosen by the seed (0: all). The same seed gives the same cases. One case a line. The
fixtures in tests/fixtures/parity were made with the commands above (seed 1, then gzip -9n). For a long comparison put
the files into a folder, with another seed and a larger count, and run
`STEPSCOPE_PARITY_CASES=folder cargo test --release --test it verify::`.
"""

import argparse
import json
import random
import re
import signal
import warnings
from pathlib import Path

import jsonschema
from sacrebleu import corpus_bleu, sentence_bleu

warnings.simplefilter("ignore")

PATTERNS = [
    r"Final answer:\s*(\d+)", r"^\d{4}-\d{2}-\d{2}$", r"(?i)yes|no", r"^(?=.*\d)(?=.*[a-z]).{4,12}$", r"(\w+) \1", r"(?P<q>['\"]).*?(?P=q)",
    r"\A\s*\{.*\}\s*\Z", r"(?s)<a>.*</a>", r"(?m)^- .+$", r"a$", r"a$\n", r"(?<!\d)\d{2}(?!\d)", r"\bcaf\u00e9\b", r"[^\W\d_]+", r"[a&&b]+", r"[[:alpha:]]",
    r"x{,2}", r"x{,}", r"x{2", r"{", r"}", r"]", r"[]a]", r"[^]a]", r"[a\-z]", r"[\d-]", r"(?x) a b # c", r"(?i:A)b", r"(?-i:a)", r"(a)?(?(1)b|c)", r"a++b",
    r"(?>a|ab)c", r"\101", r"\x41", r"\0", r"(?#note)a", r"(?a)\w+$", r"\d+", r"\s+$", r".", r"(?i)k", r"(?i)i", r"(?i)\u00df", r"\Bb", r"()*", r"(a|b)*?c", r"(?:)",
    r"(?<=a+)b", r"(a", r"a)", r"*a", r"a**", r"\q", r"[b-a]", r"(?i", r"a(?i)b", r"\2", r"(?P<1>a)", r"(?P<n>a)(?P<n>b)", r"x{3,2}", "[", "\\", r"(?z)",
]
LETTERS = list("aabbcAB01_ -\n.{}kKsß") + ["é", "\u0301", "İ", "ı", "\u017f", "\U0001f600", "\u212a", "\u0938", "\u094d", "\u200d", "\u2028", "\x1c", "ẞ", "'", "'"]
TEXTS = ["Final answer: 42", "2026-01-31\n", "YES", "abc1", "the the", "say 'x' now", " {\"a\": 1}\n", "<a>\n</a>", "x\n- y\nz", "a\n", "a\nb", "a 12 b", "caf\u00e9 au lait", "cafe\u0301"]


class TooLong(Exception):
    pass


def stop(*_):
    raise TooLong


def atom(pick, depth, groups):
    draw = pick.random()
    if draw < 0.4 or depth == 0:
        return re.escape(pick.choice("aabbcAB01_-k \u00e9s"))
    if draw < 0.48:
        parts = ["a", "b", "-", "\\]", "&&", "a-c", "0-9", "!-~", "\\d", "\\w", "\\S", "\\W"]
        return "[" + pick.choice(["", "", "^"]) + "".join(pick.choice(parts) for _ in range(pick.randint(1, 3))) + "]"
    if draw < 0.6:
        return pick.choice(["\\d", "\\w", "\\s", "\\W", "\\S", "\\D", "."])
    if draw < 0.68:
        return pick.choice(["^", "$", "\\b", "\\B", "\\A", "\\Z", "$"])
    if draw < 0.76:
        groups[0] += 1
        return "(" + branches(pick, depth - 1, groups) + ")"
    if draw < 0.84:
        return pick.choice(["(?:", "(?i:", "(?m:", "(?s:", "(?a:", "(?>"]) + branches(pick, depth - 1, groups) + ")"
    if draw < 0.9:
        return pick.choice(["(?=", "(?!"]) + branches(pick, depth - 1, groups) + ")"
    if draw < 0.94:
        return pick.choice(["(?<=", "(?<!"]) + pick.choice(["a", "ab", "\\s", "^", "\\b", "[^a]"]) + ")"
    if groups[0] == 0:
        return "a"
    group = pick.randint(1, groups[0])
    return pick.choice([f"\\{group}", f"(?({group})a|b)", f"(?({group})a)"])


def sequence(pick, depth, groups):
    out = ""
    for _ in range(pick.randint(0 if pick.random() < 0.1 else 1, 3)):
        out += atom(pick, depth, groups)
        if pick.random() < 0.3:
            out += pick.choice(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "{0}"]) + pick.choice(["", "", "", "?", "+"])
    return out


def branches(pick, depth, groups):
    return "|".join(sequence(pick, depth, groups) for _ in range(pick.choice([1, 1, 1, 2, 3])))


def letters(pick, least, most):
    return "".join(pick.choice(LETTERS) for _ in range(pick.randint(least, most)))


def pattern_case(pick, number):
    if number < len(PATTERNS) * 4:
        pattern = PATTERNS[number % len(PATTERNS)]
    else:
        pattern = pick.choice(["", "", "(?i)", "(?m)", "(?s)", "(?a)", "(?x)"]) + branches(pick, 3, [0])
    text = pick.choice(TEXTS) if pick.random() < 0.4 else letters(pick, 1, 10) + pick.choice(["", "", "\n"])
    case = {"pattern": pattern, "text": text}
    try:
        signal.setitimer(signal.ITIMER_REAL, 1)
        compiled = re.compile(pattern)
        found = compiled.search(text)
        case |= {"search": found and found.start(), "full": compiled.fullmatch(text) is not None}
    except re.error:
        case["refused"] = True
    except TooLong:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return case


WORDS = (
    "the cat sat on a mat . , ! ? the The cat, mat. 1,000 1.5 3.14 10-12 2-1 e-mail U.S. 'tis it's \"so\" (yes) [no] {ok} a/b a&b "
    "&amp; &lt;b&gt; &quot;hi&quot; &amp;lt; <skipped> $5 50% #1 a_b a*b x=y ... -- caf\u00e9 na\u00efve \u4f60\u597d \u4e16\u754c\u3002 \u65e5\u672c\u8a9e "
    "\U0001f600 \u00bfqu\u00e9? \u2014 \u201cq\u201d \u0661\u0662 \u00bd \u0939\u093f\u0928\u094d\u0926\u0940 I'm 1. .5 5, ,5 -\n \n \t \xa0 \u3000 \x1c \u2028 \x85 \u200b"
).split(" ")


def sentence(pick, least, most):
    return pick.choice([" ", " ", " ", "", "  "]).join(pick.choice(WORDS) for _ in range(pick.randint(least, most)))


def mutated(pick, text):
    words = text.split(" ")
    for _ in range(pick.randint(0, 4)):
        at = pick.randrange(len(words) + 1)
        words[at : at + pick.randint(0, 2)] = [pick.choice(WORDS)] * pick.randint(0, 2)
    return " ".join(words)


def bleu_case(pick, _):
    references = [sentence(pick, 0, 14) for _ in range(pick.choice([1, 1, 1, 2, 3]))]
    draw = pick.random()
    if draw < 0.6:
        text = mutated(pick, pick.choice(references))
    elif draw < 0.8:
        text = sentence(pick, 0, 5)
    else:
        text = pick.choice(references)
    if not text:
        return None
    sentence_score = sentence_bleu(text, references).score
    corpus_score = corpus_bleu([text], [[reference] for reference in references]).score
    return {"text": text, "references": references, "sentence": sentence_score, "corpus": corpus_score}


SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]},
    {"type": "object", "required": ["x"], "additionalProperties": False, "properties": {"x": {"type": "number", "minimum": 0}}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": True},
    {"enum": [1, "a", None, True]}, {"const": 1}, {"type": "string", "pattern": "^(?=.*a)\\w+$", "maxLength": 5}, {"type": "string", "format": "date"},
    {"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1}]}, {"not": {"type": "null"}}, {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False}}}, {"multipleOf": 0.5}, {},
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "integer"}], "additionalItems": False},
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"$ref": "#/definitions/n", "type": "string"}}, "definitions": {"n": {"type": "number"}}},
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "dependencies": {"x": ["name"]}},
    {"$schema": "http://json-schema.org/draft-07/schema", "if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"maxProperties": 1}},
    {"$schema": "http://json-schema.org/draft-06/schema#", "if": {"type": "integer"}, "then": {"minimum": 2}, "contains": {"const": 1}, "minContains": 2},
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 1, "exclusiveMinimum": True},
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": ["object", "array"], "const": 1},
    {"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "array", "items": [{"type": "integer"}], "contains": {"const": 1}, "minContains": 2},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "dependentRequired": {"x": ["name"]}, "unevaluatedProperties": False, "properties": {"x": {}}},
    {"$schema": "https://example.com/own-schema", "type": "object", "prefixItems": [{"type": "integer"}]},
    {"definitions": {"n": {"type": "integer"}}, "properties": {"x": {"$ref": "#/definitions/n"}}, "propertyNames": {"maxLength": 3}},
    {"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
]
VALUES = [
    "{}", '{"name": "A"}', '{"name": "A", "age": 3}', '{"name": 1, "age": 3.0}', '{"age": "3"}', '{"x": 1}', '{"x": 1.0, "name": "b"}', '{"x": -1}', '{"x": "1"}', '{"x": 1, "y": 2}',
    "[]", "[1]", "[1, 2]", "[1, 1]", "[1, 1.0]", "[1, true]", '["a"]', "1", "1.0", "2", "0", "true", "null", '"a"', '"ba"', '"abcdef"', '"a\\n"', '"2026-01-01"', "0.5", "0.3",
    "NaN", "-Infinity", "1e400", "12345678901234567890123", '{"x": 1, "x": "a"}', '{"a": "t"}', '{"a": 1}', '{"xy": "a"}', '{"name": "\\ud800"}', '"\\u00e9"', "{'a': 1}", '{"a": 1,}',
    "{", '{"a"', '{"a": }', "[1 2]", "01", "1.", ".5", "+1", "-", "tru", '"a', '"a\nb"', '"\\q"', "// c\n1", "\ufeff1", "", " ", "Sure! 1", "1 2", '{"a": "b\tc"}', "1" * 4301,
]
WRAPS = [
    "{}", "{}", "{}", " \n{}\t", "```json\n{}\n```", "```\n{}\n```", "```json\n{}```", "```json {}```", "```json\n{}", "```{}\n```", "\u00a0```json\r\n{}\r\n```\u2003", "Here:\n```json\n{}\n```",
    "```json\n{}\n```\nDone.", "```json\n\n  {}  \n\n```  ", "~~~\n{}\n~~~", "``` \u2028{}\u2028```", "\x1c{}\x1d", "```json\n```json\n{}\n```\n```", "```", "```\n```", "\ufeff{}",
]


def unwrapped(text):
    """The text that is read as JSON: stripped, and without a fence that begins it."""
    text = text.strip()
    lines = text.splitlines()
    if text.startswith("```") and len(lines) > 1:
        text = "\n".join(lines[1:]).rstrip()
        text = text.removesuffix("```").strip()
    return text


def judged(spec, text):
    """Success, reward, details and error of one verifier."""
    kind = spec["verifier"]
    if kind.startswith("json"):
        inner = unwrapped(text)
        if not (inner if kind == "json_schema" else text.strip()):
            return False, 0.0, "Empty response", "empty_response"
        try:
            value = json.loads(inner)
        except json.JSONDecodeError as why:
            return False, 0.0, f"Invalid JSON: {why}", "invalid_json"
        if kind == "json_structure":
            return True, 1.0, f"Valid JSON ({type(value).__name__})", None
        if not spec["schema"]:
            return True, 1.0, "No schema configured; valid JSON.", None
        try:
            jsonschema.validate(value, spec["schema"])
        except jsonschema.ValidationError as why:
            reward = 0.5 if spec.get("partial_credit", True) else 0.0
            return False, reward, f"Schema validation failed: {why.message}", "schema_invalid"
        return True, 1.0, "JSON valid + schema-compliant", None
    if kind == "regex_format":
        if not text:
            return False, 0.0, "Empty response", "empty_response"
        pattern, full = re.compile(spec["pattern"]), spec.get("full_match", False)
        found = (pattern.fullmatch if full else pattern.search)(text)
        if found:
            details = f"Full match against /{pattern.pattern}/" if full else f"Matched at offset {found.start()}"
            return True, 1.0, details, None
        partial = pattern.search(text) if full and spec.get("partial_credit", False) else None
        if partial:
            return False, 0.5, f"Pattern found at offset {partial.start()} but not full-match", "partial_match"
        return False, 0.0, f"No match for /{pattern.pattern}/", "no_match"
    if not text:
        return False, 0.0, "Empty candidate", "empty_response"
    # As the reference calls it: all four orders count, however short the text is.
    score = corpus_bleu([text], [[reference] for reference in spec["references"]]).score
    score, threshold = min(1.0, max(0.0, score / 100)), spec.get("threshold", 0.3)
    return score >= threshold, score, f"BLEU = {score:.4f} (threshold {threshold:.2f})", None


EXCEPTION = "Verification exception"


def concluded(chosen, text):
    """What is recorded of a verifier or a chain, exceptions of the reference's own included."""
    stages = chosen.get("stages")
    reward, said = 0.0, []
    try:
        if stages is None:
            return judged(chosen, text)
        for number, stage in enumerate(stages, 1):
            success, own, details, error = judged(stage, text)
            if not success:
                return False, reward, f"Stage {number} failed: {details}", error
            reward += own * stage.get("weight", 1.0 / len(stages))
            said.append(f"Stage {number}: {details}")
        return True, reward, "; ".join(said), None
    except ValueError as why:
        if "integer string conversion" not in str(why):
            raise
        return False, 0.0, EXCEPTION, str(why)


def spec(pick):
    draw = pick.random()
    if draw < 0.25:
        return {"verifier": "json_structure"}
    if draw < 0.7:
        return {"verifier": "json_schema", "schema": pick.choice(SCHEMAS)} | pick.choice([{}, {"partial_credit": False}])
    if draw < 0.9:
        chosen = {"verifier": "regex_format", "pattern": pick.choice(["a", r"\d+", r"^\{", r"(?s).*\}$", r"```json\n.*\n```", r"[^{]*"])}
        return chosen | pick.choice([{}, {"full_match": True}, {"full_match": True, "partial_credit": True}, {"partial_credit": True}])
    return {"verifier": "bleu", "references": ['{"name": "A"}', "[1, 2]"]} | pick.choice([{}, {"threshold": 0.9}, {"threshold": 0.0}])


def verdict_case(pick, number):
    try:
        return verdict(pick, number)
    except (OverflowError, ValueError):
        return None  # jsonschema itself ends in an exception where a number is not finite.


def verdict(pick, _):
    text = pick.choice(WRAPS).replace("{}", pick.choice(VALUES))
    if pick.random() < 0.7:
        chosen = spec(pick)
    else:
        stages = [spec(pick) for _ in range(pick.randint(1, 3))]
        if pick.random() < 0.5:
            stages = [stage | {"weight": pick.choice([0.1, 0.2, 0.25, 0.5, 1.0, 1, 0])} for stage in stages]
        chosen = {"stages": stages}
    success, reward, details, error = concluded(chosen, text)
    return {"verifier": chosen, "text": text, "success": success, "reward": reward, "details": details, "error": error}


DRAFTS = {
    "draft4": jsonschema.Draft4Validator, "draft6": jsonschema.Draft6Validator, "draft7": jsonschema.Draft7Validator,
    "draft2019-09": jsonschema.Draft201909Validator, "draft2020-12": jsonschema.Draft202012Validator,
}


def word_cases(suite):
    """Every instance of the official suite, in its own draft, with the words of its best match and of its first error."""
    for folder, draft in DRAFTS.items():
        for path in sorted((suite / "tests" / folder).glob("*.json")):
            for group in json.loads(path.read_text("utf-8")):
                schema = group["schema"]
                if isinstance(schema, dict) and "$schema" not in schema:
                    schema = {"$schema": draft.META_SCHEMA["$schema"], **schema}
                for test in group["tests"]:
                    try:
                        errors = list(draft(schema).iter_errors(test["data"]))
                        best = jsonschema.exceptions.best_match(draft(schema).iter_errors(test["data"]))
                    except Exception:
                        continue  # Mostly a reference to a file of the suite, which nothing fetches here.
                    yield {
                        "draft": folder, "file": path.stem, "schema": json.dumps(schema), "text": json.dumps(test["data"]),
                        "best": best and best.message, "first": errors[0].message if errors else None,
                    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["patterns", "bleu", "verdicts", "words"])
    parser.add_argument("--suite", type=Path, help="a checkout of the JSON Schema test suite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    if options.what == "words":
        cases = list(word_cases(options.suite))
        if options.count:
            cases = random.Random(options.seed).sample(cases, options.count)
        for case in cases:
            print(json.dumps(case))
        return
    make = {"patterns": pattern_case, "bleu": bleu_case, "verdicts": verdict_case}[options.what]
    signal.signal(signal.SIGALRM, stop)
    pick = random.Random(options.seed)
    for number in range(options.count):
        case = make(pick, number)
        if case is not None:
            print(json.dumps(case))


if __name__ == "__main__":
    main()
