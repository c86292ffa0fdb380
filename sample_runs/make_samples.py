#!/usr/bin/env python3
"""Makes the sample runs in this folder.

Needs Python 3.10+ with evoproc 1.0.0 and evoproc-procedures 1.2.0, and an
OpenAI-style server that can constrain a reply to a JSON schema:

    python make_samples.py --url http://127.0.0.1:8080

It reads questions.jsonl and writes word_problems.jsonl and baseline.jsonl.
The steps are executed by evoproc-procedures' own runner; this script only
passes the prompts to the server and writes down what was sent and received.

    python make_samples.py --by-hand

needs no server: it computes id, gold_num, steps, fitness, pred_answer, pred_num
and correct in by_hand.jsonl again.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone

from evoproc.scorers import StructuralHygieneScorer
from evoproc.validators import validate_procedure_structured
from evoproc_procedures.models import Procedure
from evoproc_procedures.prompts import create_direct_prompt, create_procedure_prompt
from evoproc_procedures.runners import run_steps_stateful_minimal
from evoproc_procedures.schemas import get_schema

HERE = os.path.dirname(os.path.abspath(__file__))
ENDPOINT = "/v1/chat/completions"
SALT = "stepscope-sample-runs-v1"
GSM = get_schema("gsm")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SCHEMA_ROWS = 5  # only the first rows carry the schema of each step; it also stands in the prompt
BASELINE_LEFT_OUT = {9, 40}  # on purpose: two files seldom hold the same rows


# ---------------------------------------------------------------- grading, as the notebooks do it
def run_id(question, answer):
    return hashlib.blake2b((SALT + question + "\x1e" + answer).encode("utf-8"), digest_size=16).hexdigest()


def last_number(text):
    """The last number in a text. A thousands comma cuts it: '1,080' gives 80.0."""
    found = NUMBER.findall(text or "")
    return float(found[-1]) if found else None


def is_correct(pred, gold):
    return pred is not None and gold is not None and abs(pred - gold) <= 1e-6


def prediction(state):
    answer = state.get("final_answer")
    answer = None if answer is None else str(answer)
    num = state.get("final_answer_numerical")
    if num is None:
        num = last_number(answer)
    return answer, num


def fitness_of(procedure):
    try:
        return StructuralHygieneScorer(validate_procedure_structured).score_proc(procedure)
    except Exception:  # odd shapes make the scorer raise
        return None


def parse_baseline(raw):
    """A JSON object, else the span from the first { to the last }, else the text itself."""
    text = raw.strip()
    for part in (text, text[text.find("{"):text.rfind("}") + 1]):
        try:
            value = json.loads(part)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {"final_answer": text}


def now():
    return datetime.now(timezone.utc)


# ---------------------------------------------------------------- the server
class Server:
    def __init__(self, args):
        self.args = args

    def call(self, prompt, model, schema, seed, max_tokens):
        body = {
            "model": model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.args.temperature,
            "seed": seed,
            "max_tokens": max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "output", "strict": True, "schema": schema},
            },
        }
        if self.args.no_prompt_cache:
            body["cache_prompt"] = False
        request = urllib.request.Request(
            self.args.url.rstrip("/") + ENDPOINT,
            data=json.dumps(body).encode("utf-8"),
            headers={"Content-Type": "application/json"},
        )
        started, t0 = now(), time.monotonic()
        with urllib.request.urlopen(request, timeout=self.args.timeout) as response:
            answer = json.load(response)
        usage = answer.get("usage") or {}
        return {
            "raw": answer["choices"][0]["message"]["content"],
            "finish_reason": answer["choices"][0].get("finish_reason"),
            "model": model,
            "backend": "openai",
            "endpoint": ENDPOINT,
            "seed": seed,
            "temperature": self.args.temperature,
            "max_tokens": max_tokens,
            "usage": {k: usage.get(k) for k in ("prompt_tokens", "completion_tokens")},
            "started_utc": started.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "duration_ms": round((time.monotonic() - t0) * 1000.0, 1),
        }


class Recorder:
    """A query_fn for the runner: one call per step, written down as a trace step."""

    def __init__(self, server, procedure, question, with_schema):
        self.server, self.with_schema = server, with_schema
        self.todo = list(procedure.get("steps", []))
        self.count = len(self.todo)
        self.state = {"problem_text": question}
        self.steps = []

    def _head(self, step):
        names = [str(f.get("name")) for f in step.get("inputs") or [] if "name" in f]
        return {
            "step_index": len(self.steps),
            "step_id": step.get("id"),
            "is_final": step.get("id") == self.count,
            "inputs": {n: self.state[n] for n in names if n in self.state},
        }

    def query(self, prompt, model, fmt, seed):
        step = self.todo[len(self.steps)]
        row = self._head(step)
        assert json.dumps(row["inputs"], ensure_ascii=False, indent=2) in prompt
        reply = self.server.call(prompt, model, fmt, seed, self.server.args.max_tokens)
        row["prompt"] = prompt
        if self.with_schema:
            row["schema"] = fmt
        raw = reply.pop("raw")
        reply.pop("finish_reason")
        row.update(raw=raw, outputs={}, error=None, **reply)
        try:
            parsed = json.loads(raw)
            row["outputs"] = {n: parsed[n] for n in fmt["properties"] if n in parsed}
            self.state.update(row["outputs"])
        except (ValueError, TypeError):
            pass  # the runner raises, and run() writes the error down
        self.steps.append(row)
        return raw

    def failed(self, message):
        """The runner raised: the error belongs to the last call, or to a step that never got to one."""
        if self.steps and f"step id={self.steps[-1]['step_id']}" in message and "Unresolvable" not in message:
            self.steps[-1]["error"] = message
        elif len(self.steps) < self.count:
            step = self.todo[len(self.steps)]
            self.steps.append({**self._head(step), "prompt": None, "raw": None, "outputs": {}, "error": message})


# ---------------------------------------------------------------- one run
def run(server, index, item):
    args, question, gold = server.args, item["question"], item["gold_answer"]
    head = {
        "id": run_id(question, gold),
        "row_index": index,
        "question": question,
        "gold_answer": gold,
        "gold_num": last_number(gold),
    }
    trace = {"format": "stepscope.run_trace", "version": 1, "answer_schema": "gsm",
             "procedure_by": item["procedure_by"], "steps": []}
    procedure, recorder = item.get("procedure"), None
    try:
        if procedure is None:
            prompt = create_procedure_prompt(question)
            trace["creation"] = {"prompt": prompt, **server.call(
                prompt, args.model, Procedure.model_json_schema(), args.seed, args.plan_tokens)}
            procedure = json.loads(trace["creation"]["raw"])
        recorder = Recorder(server, procedure, question, index < SCHEMA_ROWS)
        state = run_steps_stateful_minimal(
            procedure, question, GSM, args.model, query_fn=recorder.query, seed=args.seed)
        assert state == recorder.state
    except (RuntimeError, ValueError) as e:  # what upstream raises; json.JSONDecodeError is a ValueError
        if recorder is not None:
            recorder.failed(str(e))
            trace["steps"] = recorder.steps
            trace["procedure"] = procedure
        return {**head, "procedure": None, "status": "error", "error_type": type(e).__name__,
                "error": str(e), "timestamp_utc": now().isoformat(), "trace": trace}
    trace["steps"] = recorder.steps
    answer, num = prediction(state)
    return {**head, "status": "ok", "mode": "procedural", "procedure": procedure,
            "fitness": fitness_of(procedure), "steps": len(procedure["steps"]), "state": state,
            "pred_answer": answer, "pred_num": num,
            "correct": is_correct(num, head["gold_num"]), "trace": trace}


def run_baseline(server, index, item):
    args, question, gold = server.args, item["question"], item["gold_answer"]
    raw = server.call(create_direct_prompt(question), args.model, GSM, args.seed, args.max_tokens)["raw"]
    state = parse_baseline(raw)
    answer, num = prediction(state)
    gold_num, num = last_number(gold), None if num is None else float(num)
    return {"id": run_id(question, gold), "row_index": index, "question": question, "gold_answer": gold,
            "gold_num": gold_num, "status": "ok", "mode": "baseline", "state": state,
            "pred_answer": answer, "pred_num": num, "correct": is_correct(num, gold_num), "raw": raw}


# ---------------------------------------------------------------- runs written by hand
def by_hand(folder):
    path = os.path.join(folder, "by_hand.jsonl")
    rows = read(path)
    for row in rows:
        row["id"] = run_id(row["question"], row["gold_answer"])
        row["gold_num"] = last_number(row["gold_answer"])
        if row["status"] == "ok":
            row["fitness"] = fitness_of(row["procedure"])
            row["steps"] = len(row["procedure"]["steps"])
            row["pred_answer"], row["pred_num"] = prediction(row["state"])
            row["correct"] = is_correct(row["pred_num"], row["gold_num"])
    write(path, rows)


# ---------------------------------------------------------------- files
def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def write(path, rows):
    with open(path + ".part", "w", encoding="utf-8") as f:
        for row in rows:
            f.write(json.dumps(row, ensure_ascii=False) + "\n")
    os.replace(path + ".part", path)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--url", help="base address of an OpenAI-style server, such as http://127.0.0.1:8080")
    p.add_argument("--model", default="smollm2:135m")
    p.add_argument("--seed", type=int, default=1234)
    p.add_argument("--temperature", type=float, default=1.0)
    p.add_argument("--max-tokens", type=int, default=300, help="for a step or a baseline answer")
    p.add_argument("--plan-tokens", type=int, default=900, help="for a procedure that the model writes")
    p.add_argument("--no-prompt-cache", action="store_true",
                   help="send cache_prompt false (llama.cpp): the same seed then gives the same reply again")
    p.add_argument("--timeout", type=float, default=600.0)
    p.add_argument("--questions", default=os.path.join(HERE, "questions.jsonl"))
    p.add_argument("--out", default=HERE, help="folder to write to")
    p.add_argument("--limit", type=int, help="only the first N questions")
    p.add_argument("--by-hand", action="store_true", help="compute the fields of by_hand.jsonl again, and stop")
    args = p.parse_args()
    if args.by_hand:
        by_hand(args.out)
        return
    if not args.url:
        p.error("--url is needed")
    server, questions = Server(args), read(args.questions)[:args.limit]
    runs, baseline = [], []
    for index, item in enumerate(questions):
        row = run(server, index, item)
        runs.append(row)
        if index not in BASELINE_LEFT_OUT:
            baseline.append(run_baseline(server, index, item))
        print(f"{index + 1}/{len(questions)} {row['status']} "
              f"{row.get('correct', row.get('error'))}: {item['question'][:60]}", file=sys.stderr, flush=True)
    write(os.path.join(args.out, "word_problems.jsonl"), runs)
    write(os.path.join(args.out, "baseline.jsonl"), baseline)


if __name__ == "__main__":
    main()
