#!/usr/bin/env python3
"""Makes notice.jsonl: what a very small model answered to questions about a notice of a few lines.

    python make_notice.py URL MODEL      # an OpenAI-style server, and the model that it serves

The pool and its notice are made up; the answers are not. Each is the first reply of the model, asked by
`stepscope rerun` with its usual settings, and unchanged. The prompt shows three answers to other questions, as a
model of this size does not find the form of an answer by itself; it stands in the record, so that a re-run sends it again.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STEPSCOPE = os.environ.get("STEPSCOPE", os.path.join(HERE, "..", "target", "release", "stepscope"))
DOCUMENT = "notice.document.json"
NOTICE = """Alder Street Pool
A locker costs EUR 1.
A day ticket costs EUR 6.50.
A ticket for a child costs EUR 3.
A towel costs EUR 2.
Dogs are not allowed.
Shoes are not allowed.
The pool is 25 metres long.
Last entry is at 20:15.""".split("\n")


def amount(value):
    return {"value": value, "currency": "EUR"}


# Question, type of the answer, the right answer, and the line that says it.
LOCKER = ("What does a locker cost?", "amount", amount(1), 1)
TICKET = ("What does a day ticket cost?", "amount", amount(6.5), 2)
CHILD = ("What does a ticket for a child cost?", "amount", amount(3), 3)
TOWEL = ("What does a towel cost?", "amount", amount(2), 4)
DOGS = ("Are dogs allowed?", "boolean", False, 5)
SHOES = ("Are shoes allowed?", "boolean", False, 6)
LENGTH = ("How long is the pool?", "text", "25 metres", 7)
ENTRY = ("When is the last entry?", "text", "20:15", 8)
# What is asked, and the answers that its prompt shows.
ASKED = [
    (LOCKER, [TOWEL, CHILD, TICKET]),
    (TOWEL, [LOCKER, CHILD, TICKET]),
    (SHOES, [LOCKER, TOWEL, DOGS]),
    (DOGS, [LOCKER, TOWEL, SHOES]),
    (LENGTH, [TOWEL, DOGS, ENTRY]),
]


def answer(kind, value, line):
    return {
        "extraction_method": "verbatim", "confidence": 0.9, "caveats": [], "answer_found": True,
        "complete_answer_found": True, "context_completeness_weak": 1, "context_structured": True,
        "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": False,
        "suggested_clarification": None,
        "items": [{kind: value, "spans": [{"line_start": line, "line_end": line, "quote": NOTICE[line]}]}],
    }


def prompt(asked, shown):
    lines = "\n".join(f"[{n}] {text}" for n, text in enumerate(NOTICE))
    shown = "".join(f"Question: {question}\nReply:\n{json.dumps(answer(*rest))}\n\n" for question, *rest in shown)
    return ("Answer each question from the numbered lines. Reply with JSON and quote the line that answers.\n\n"
            f"{lines}\n\n{shown}Question: {asked[0]}\nReply:\n")


def trace(asked, shown):
    question, kind, _, _ = asked
    words = [word for word in re.findall(r"[a-z]{4,}", question.lower()) if word not in ("what", "does", "when")]
    return {
        "format": "stepscope.answer_trace", "version": 1, "id": "pool-" + words[0], "doc_id": "pool/notice",
        "question": question,
        "parsed_question": {
            "original_question": question,
            "keywords": [{"text": word, "weight": 1.0, "source": "direct", "is_regex": False} for word in words],
            "expected_answer_shape": kind, "retrieval": {"main_query": " ".join(words), "scope": "default"},
            "generation": {"original_question": question, "format_constraint": {}},
        },
        "schema": kind.capitalize() + "Answer", "document": {"path": DOCUMENT},
        "retrieved_pages": [{"page_num": 1, "rank": 1, "score": 1.0, "match_count": len(words)}],
        "prompt": prompt(asked, shown),
    }


def first_reply(record, url, model):
    """The record with the answer that the model gives to it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "asked.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        with open(os.path.join(folder, DOCUMENT), "w", encoding="utf-8") as file:
            file.write(document())
        command = [STEPSCOPE, "rerun", path, "--line", "1", "--url", url, "--backend", "openai", "--model", model, "--quiet"]
        made = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
    call = made["trace"]["steps"][0]
    said = {key: made[key] for key in ("answer", "answer_text") if key in made}
    meta = {
        "schema_used": record["schema"],
        "raw_response": {
            "model": model,
            "output": [{"type": "message", "role": "assistant",
                        "content": [{"type": "output_text", "text": call["raw"]}]}],
            "usage": {"input_tokens": call["usage"]["prompt_tokens"], "output_tokens": call["usage"]["completion_tokens"]},
        },
        "temperature": call["temperature"], "seed": call["seed"],
    }
    return {**record, **said, "meta": meta, "model": model, "created_at": made["created_at"]}


def document():
    lines = [json.dumps({"page_num": 1, "line_num": n, "text": text}) for n, text in enumerate(NOTICE, 1)]
    return '{"lines": [\n' + ",\n".join(lines) + "\n]}\n"


def main():
    url, model = sys.argv[1:]
    with open(os.path.join(HERE, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(document())
    with open(os.path.join(HERE, "notice.jsonl"), "w", encoding="utf-8") as file:
        for asked, shown in ASKED:
            file.write(json.dumps(first_reply(trace(asked, shown), url, model)) + "\n")


if __name__ == "__main__":
    main()
