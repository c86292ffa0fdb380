#!/usr/bin/env python3
"""Answers of TAT-QA that were computed, as typed answers that cite their parts.

  git clone --bare https://github.com/NExTplusplus/TAT-QA /tmp/tatqa
  benches/tatqa.py /tmp/tatqa                                  # uses target/release/stepscope
  benches/tatqa.py /tmp/tatqa --split test                     # the test set, with its published answers

`records(text)` makes them of the file `dataset_raw/tatqa_dataset_dev.json` of a clone of NExTplusplus/TAT-QA (MIT). A
document is the table, one line per row, and the paragraphs, one line each. The parts are the numbers of the published
derivation, each cited in the row or paragraph that holds it. Answers whose derivation cites fewer than two numbers that
stand in the document cannot be cited and are counted as not reproduced. `corrupted(record, how)` changes one digit of
the value, or its scale. `copied(text)` makes records of answers that copy one place, with the row or paragraph as their
quote: all of them are right, so none should be accused. `measure(said_of, text)` prints the table; `said_of` is what checks
records. Python's standard library only; nothing is downloaded and nothing is written.
"""
import argparse, copy, json, os, random, re, subprocess

SPLITS = {"dev": "dataset_raw/tatqa_dataset_dev.json", "test": "dataset_raw/tatqa_dataset_test_gold.json"}
PATH = SPLITS["dev"]
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
RULE = "answer/computed_differs"


def digits(text):
    return text.replace(",", "").lstrip("0") or "0"


def lines_of(entry):
    """The rows and paragraphs, each with its numbers as they stand in cells or sentences."""
    rows = [" | ".join(cell.strip() for cell in row) for row in entry["table"]["table"]]
    cells = [row for row in entry["table"]["table"]]
    texts = [paragraph["text"] for paragraph in sorted(entry["paragraphs"], key=lambda one: one["order"])]
    return rows, cells, texts


def citation(part, rows, cells, texts, used):
    """Where a number of the derivation stands: a span, or None. A place is taken once while there are others."""
    found = []
    for at, row in enumerate(cells):
        for n, cell in enumerate(row):
            if any(digits(number) == digits(part) for number in NUMBER.findall(cell)):
                found.append((at, n, {"line_start": at, "line_end": at, "quote": cell.strip()}))
    for at, text in enumerate(texts):
        for match in NUMBER.finditer(text):
            if digits(match.group().rstrip(",")) == digits(part):
                span = {"line_start": len(rows) + at, "line_end": len(rows) + at, "quote": match.group().rstrip(",")}
                found.append((len(rows) + at, match.start(), span))
    fresh = [one for one in found if one[:2] not in used]
    if not (fresh or found):
        return None
    chosen = (fresh or found)[0]
    used.add(chosen[:2])
    return chosen[2]


def records(text):
    """One record per derivation; None where its parts cannot be cited."""
    made = []
    for entry in json.loads(text):
        rows, cells, texts = lines_of(entry)
        numbered = [{"page_num": 1, "line_num": n + 1, "text": line} for n, line in enumerate(rows + texts)]
        for question in entry["questions"]:
            if question["answer_type"] != "arithmetic" or not question["derivation"]:
                continue
            used, spans = set(), []
            parts = list(dict.fromkeys(digits(part) for part in NUMBER.findall(question["derivation"])))
            for part in parts:
                span = citation(part, rows, cells, texts, used)
                if span:
                    spans.append(span)
            try:
                value = float(str(question["answer"]).replace(",", ""))
            except ValueError:
                value = None
            if value is None or len(spans) < 2:
                made.append(None)
                continue
            value = int(value) if value == int(value) else value
            item = {"amount": {"value": value, "currency": "USD", "unit": question["scale"] or None}, "spans": spans}
            made.append({"format": "stepscope.answer_trace", "version": 1, "id": question["uid"], "question": question["question"],
                         "document": {"lines": numbered}, "answer": {"extraction_method": "computed", "answer_found": True,
                         "complete_answer_found": True, "conflicting_evidence": False, "items": [item]}})
    return made


AMOUNT = re.compile(r"\(?(\$?) ?\(?(\d[\d,]*(?:\.\d+)?)\)?( ?%)?( million| thousand| billion)?")


def copied(text):
    """One record for each answer that copies one cell or a part of one paragraph, and no other place could be meant."""
    made = []
    for entry in json.loads(text):
        rows, cells, texts = lines_of(entry)
        lines = rows + texts
        numbered = [{"page_num": 1, "line_num": n + 1, "text": line} for n, line in enumerate(lines)]
        for question in entry["questions"]:
            answers = question["answer"] if isinstance(question["answer"], list) else [question["answer"]]
            items = [copy_of(str(answer).strip(), question, cells, lines, len(rows)) for answer in answers]
            if question["answer_type"] not in ("span", "multi-span") or not items or None in items:
                continue
            made.append({"format": "stepscope.answer_trace", "version": 1, "id": question["uid"], "question": question["question"],
                         "document": {"lines": numbered}, "retrieved_pages": [{"page_num": 1, "rank": 1}],
                         "answer": {"extraction_method": "verbatim", "confidence": 0.9, "caveats": [], "answer_found": True,
                         "complete_answer_found": True, "context_completeness_weak": 0.95, "context_structured": True,
                         "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": False,
                         "suggested_clarification": None, "items": items}})
    return made


def copy_of(answer, question, cells, lines, first_text):
    if question["answer_from"] == "table":
        places = [n for n, row in enumerate(cells) for cell in row if cell.strip() == answer]
    else:
        among = [int(n) - 1 + first_text for n in question.get("rel_paragraphs", [])] or range(first_text, len(lines))
        # A number is found whole, with the scale that it has there.
        places = [n for n in among if re.search(rf"(?<![\d.,]){re.escape(answer)}(?![\d%]|[.,]\d| ?(?:million|thousand|billion|%))", lines[n])]
    if len(places) != 1:
        return None
    number = AMOUNT.fullmatch(answer)
    span = {"line_start": places[0], "line_end": places[0], "quote": lines[places[0]]}
    if not number or re.fullmatch(r"(?:19|20)\d\d", answer):
        return {"text": answer, "spans": [span]}
    value = float(number[2].replace(",", "")) * (-1 if "(" in answer else 1)
    unit = "%" if number[3] else (number[4] or "").strip() or None
    return {"amount": {"value": int(value) if value == int(value) else value, "currency": "USD" if number[1] else "XXX", "unit": unit},
            "spans": [span]}


def accused(said):
    """Tells whether an answer does not ship, or has a finding above a note."""
    return (said.get("route") or {}).get("name") != "ship" or any(f["severity"] != "note" for f in said["findings"])


def corrupted(record, how, dice):
    """The record with one digit of its value changed, or its scale."""
    record = copy.deepcopy(record)
    amount = record["answer"]["items"][0]["amount"]
    if how == "scale":
        amount["value"] = amount["value"] * 1000
        return record
    written = f"{amount['value']}"
    places = [n for n, sign in enumerate(written) if sign.isdigit()]
    # The first digits carry the value; a last one may be rounding.
    place = dice.choice(places[:max(1, len(places) - 1)])
    other = dice.choice([digit for digit in "123456789" if digit != written[place]])
    changed = written[:place] + other + written[place + 1:]
    amount["value"] = float(changed) if "." in changed else int(changed)
    return record


def measure(said_of, text, split="dev"):
    made = records(text)
    known = [record for record in made if record]
    dice = random.Random(1)
    speaks = lambda said, least: [any(f["rule"] == RULE and (least == "note" or f["severity"] == "warning") for f in one["findings"])
                                  for one in said]
    own = speaks(said_of(known), "note")
    reproduced = own.count(False)
    print(f"TAT-QA {split}, computed answers: {len(made)} derivations, {len(known)} with cited parts")
    print(f"  reproduced                    {reproduced} of {len(made)} ({100 * reproduced / len(made):.1f} %)")
    for how in ("digit", "scale"):
        said = said_of([corrupted(record, how, dice) for record in known])
        noticed = speaks(said, "note").count(True)
        grave = speaks(said, "warning").count(True)
        print(f"  a corrupted {how:5} noticed       {noticed} of {len(known)} ({100 * noticed / len(known):.1f} %), {grave} of them as a slip")
    copies = copied(text)
    wrongly = [record["id"] for record, one in zip(copies, said_of(copies)) if accused(one)]
    print(f"TAT-QA {split}, copied answers: {len(copies)} right ones")
    print(f"  accused                       {len(wrongly)} of {len(copies)} ({100 * len(wrongly) / len(copies):.1f} %)")
    return [record["id"] for record, one in zip(known, own) if one] + wrongly


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", help="a clone of the data set, bare or not")
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--split", choices=SPLITS, default="dev")
    parser.add_argument("--misses", action="store_true", help="tell what was not reproduced, and what was accused")
    options = parser.parse_args()
    plain = os.path.join(options.clone, SPLITS[options.split])
    if os.path.isfile(plain):
        with open(plain, encoding="utf-8") as file:
            text = file.read()
    else:
        shown = ["git", f"--git-dir={options.clone}", "show", f"HEAD:{SPLITS[options.split]}"]
        text = subprocess.run(shown, stdout=subprocess.PIPE, check=True).stdout.decode()

    def said_of(made):
        command = [options.program, "check", "-", "--format", "jsonl", "--fail-on", "never"]
        lines = "".join(json.dumps(one) + "\n" for one in made)
        done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    missed = measure(said_of, text, options.split)
    if options.misses:
        print("\n".join(f"  {name}" for name in missed))


if __name__ == "__main__":
    main()
