#!/usr/bin/env python3
"""Structured answers in pairs, written by others: a right one should ship, its wrong twin should not.

  benches/pairs.py                        # benches/pairs/pairs.jsonl and benches/pairs/texts.jsonl
  benches/pairs.py --misses               # tell what was accused or shipped wrongly

A pair is a document, a question, and two or more answers over it that differ in a value, a flag or a quote. The second file
holds answer texts next to an expected answer: is it the same? They are asked as a baseline's answer and as a chain's.
Python's standard library only.
"""
import argparse, collections, json, os, subprocess, tempfile

from outside import checked, share

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = {"confidence": 0.9, "caveats": [], "answer_found": True, "complete_answer_found": True, "context_completeness_weak": 0.95,
         "context_structured": True, "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": False,
         "suggested_clarification": None}
SCHEMAS = {"amount": "AmountAnswer", "date": "DateAnswer", "boolean": "BooleanAnswer", "text": "TextAnswer", "table": "TableAnswer",
           "address": "AddressAnswer", "person": "PersonNameAnswer"}


def written(item):
    """An item in the published form: a date as ISO text, a table with headers, an amount that is no money as XXX."""
    made = dict(item)
    if isinstance(made.get("date"), dict):
        parts = [made["date"].get(part) for part in ("year", "month", "day")]
        iso = "-".join(f"{part:04}" if at == 0 else f"{part:02}" for at, part in enumerate(parts) if part is not None)
        made["date"] = {"iso": iso, "original": iso}
    if isinstance(made.get("table"), dict):
        made["table"] = {"headers": made["table"]["columns"], "rows": made["table"]["rows"]}
    if isinstance(made.get("amount"), dict):
        made["amount"] = made["amount"] | {"currency": made["amount"].get("currency") or "XXX"}
    if "person" in made:
        made = {"person_name": made.pop("person")} | made
    return made


def trace(pair, items, name, flags):
    """An answer trace of items over the document of a pair."""
    lines = [{"page_num": 1, "line_num": at, "text": text} for at, text in enumerate(pair["lines"], 1)]
    answer = {"extraction_method": pair.get("method", "verbatim")} | FLAGS | flags | {"items": [written(item) for item in items]}
    shape = {"person": "person_name"}.get(pair["shape"], pair["shape"])
    return {"format": "stepscope.answer_trace", "version": 1, "id": name, "question": pair["question"], "schema": SCHEMAS.get(pair["shape"]),
            "parsed_question": {"original_question": pair["question"], "expected_answer_shape": shape},
            "document": {"lines": lines}, "retrieved_pages": [{"page_num": 1, "rank": 1}], "answer": answer}


def severe(said):
    return [one for one in said["findings"] if one["severity"] in ("fatal", "repairable", "warning")]


def ships(said):
    return (said.get("route") or {}).get("name") == "ship" and not severe(said)


def told(said):
    return [(said.get("route") or {}).get("name")] + [f"{one['rule']}: {one['message']}" for one in severe(said)]


def pairs(program, rows, keep, misses):
    records, of = [], []
    for pair in rows:
        conflicting = {"conflicting_evidence": True} if pair.get("conflicting") else {}
        records.append(trace(pair, pair["right"], pair["id"], conflicting))
        of.append((pair, True))
        for at, items in enumerate(pair["wrong"]):
            records.append(trace(pair, items, f"{pair['id']}-wrong-{at}", pair.get("flags") or {}))
            of.append((pair, False))
    said = checked(program, records, keep)
    by_pair, kinds = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0, 0, 0])
    for (pair, is_right), one in zip(of, said):
        # A flagged conflict need not ship; it may not be accused.
        fine = ships(one) if is_right and not pair.get("conflicting") else not severe(one) if is_right else not ships(one)
        by_pair[pair["id"]].append(fine)
        count = kinds[pair["kind"]]
        count[0 if is_right else 2] += fine
        count[1 if is_right else 3] += 1
        if not fine and misses:
            print("    ", pair["id"], pair["kind"], "right, but" if is_right else "wrong, but", *told(one))
            if not is_right:
                print("        ", pair.get("note"))
    print(f"pairs told apart: {share(sum(all(fine) for fine in by_pair.values()), len(rows))}")
    print(f"  right answers ship: {share(sum(one[0] for one in kinds.values()), sum(one[1] for one in kinds.values()))};"
          f" wrong ones do not: {share(sum(one[2] for one in kinds.values()), sum(one[3] for one in kinds.values()))}")
    for kind, (right, of_right, wrong, of_wrong) in sorted(kinds.items()):
        print(f"    {kind:24} right {right:2} of {of_right:2}   wrong {wrong:2} of {of_wrong:2}")


def baseline(row):
    return {"id": row["id"], "question": row["question"], "gold_answer": f"Worked out.\n#### {row['expected'].removeprefix('####').strip()}",
            "status": "ok", "mode": "baseline", "pred_answer": row["answer"], "state": {"final_answer": row["answer"]}}


def chain(row):
    return {"id": row["id"], "question": row["question"], "steps": ["We work it out."], "answer": row["answer"],
            "expected_answer": row["expected"].removeprefix("####").strip()}


def texts(program, rows, misses):
    for title, make in (("baseline", baseline), ("chain", chain)):
        records = [make(row) for row in rows]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.write("".join(json.dumps(one) + "\n" for one in records))
            file.flush()
            grade = {}
            for word, expr in (("right", "correct:true"), ("wrong", "correct:false")):
                done = subprocess.run([program, "check", file.name, "--format", "jsonl", "--fail-on", "never", "--filter", expr,
                                       "--fields", "id"], capture_output=True, text=True, check=False)
                grade.update({json.loads(line)["id"]: word for line in done.stdout.splitlines()})
        counts = collections.Counter()
        for row in rows:
            got, want = grade.get(row["id"], "open"), "right" if row["same"] else "wrong"
            verdict = "read" if got == want else "open" if got == "open" else "wrong"
            counts[verdict] += 1
            if verdict != "read" and misses:
                print("    ", title, row["id"], f"{row['answer']!r} for {row['expected']!r} is {want}, said {got}")
        print(f"answer texts as a {title}: read rightly {share(counts['read'], len(rows))}, open {counts['open']}, wrong verdicts {counts['wrong']}")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--folder", default=os.path.join(HERE, "pairs"), help="where pairs.jsonl and texts.jsonl lie")
    parser.add_argument("--records", help="keep what was checked in this file")
    parser.add_argument("--misses", action="store_true", help="tell what was accused or shipped wrongly")
    options = parser.parse_args()
    for name, measure in (("pairs", lambda rows: pairs(options.program, rows, options.records, options.misses)),
                          ("texts", lambda rows: texts(options.program, rows, options.misses))):
        path = os.path.join(options.folder, f"{name}.jsonl")
        if os.path.exists(path):
            measure(rows_of(path))


if __name__ == "__main__":
    main()
