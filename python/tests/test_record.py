"""The recorder around evoproc's own runner, and around any function."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import io
import json
import multiprocessing
import os
import pickle
import statistics
import subprocess
import threading
import time
import unittest
import warnings
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from unittest import mock
from uuid import UUID

import support
from support import QUESTION, InFolder, lines, needs_evoproc, procedure

import stepscope
from stepscope import record

if support.has("evoproc_procedures"):
    from evoproc_procedures.builders import create_and_validate_procedure_structured
    from evoproc_procedures.pipelines import run_full_procedure_structured
    from evoproc_procedures.runners import run_steps_stateful_minimal as run_steps
    from evoproc_procedures.schemas import get_schema

    def run(query, proc=None, question=QUESTION, **more):
        return run_steps(proc or procedure(), question, get_schema("gsm"), "stub", query_fn=query, **more)


def shown(path) -> str:
    done = subprocess.run([stepscope.program(), "show", path, "--state"], capture_output=True, text=True, check=True)
    return done.stdout


@needs_evoproc
class OfARunner(InFolder):
    def test_a_run_is_a_line_with_every_value_recorded(self):
        query = record(support.model, self.path)
        self.assertEqual(run(query), run(support.model), "the same result with and without")
        (run_record,) = lines(self.path)
        self.assertEqual(run_record["state"]["final_answer_numerical"], 5)
        trace = run_record["trace"]
        self.assertEqual(trace["answer_schema"], "gsm")
        self.assertEqual([call["step_id"] for call in trace["steps"]], [1, 2, 3])
        self.assertEqual(trace["steps"][1]["inputs"], {"had": 2, "bought": 3})
        self.assertEqual(trace["steps"][1]["outputs"], {"total": 5})
        first = trace["steps"][0]
        self.assertTrue(first["prompt"].startswith("Extract both numbers.\n# Inputs (JSON)"))
        self.assertEqual((first["model"], first["seed"], first["schema"]["required"]), ("stub", 1234, ["had", "bought"]))
        self.assertGreaterEqual(first["duration_ms"], 0)
        text = shown(self.path)
        self.assertIn("[recorded]", text)
        for badge in ("reconstructed", "ambiguous", "missing", "unavailable", "not run"):
            self.assertNotIn(f"[{badge}]", text)
        (checked,) = stepscope.check(self.path)
        self.assertEqual((checked["kind"], checked["findings"]), ("procedural", []))

    def test_it_follows_the_schema_of_a_run_trace(self):
        query = record(support.model, self.path)
        run(query)
        with self.assertRaises(ValueError):
            run(record(lambda *_: "no JSON", self.path))
        if not support.has("jsonschema"):
            self.skipTest("jsonschema is not installed")
        import jsonschema

        schema = subprocess.run([stepscope.program(), "schema", "trace"], capture_output=True, check=True).stdout
        for each in lines(self.path):
            jsonschema.validate(each, json.loads(schema))

    def test_errors_end_the_run_in_upstreams_words(self):
        def missing_key(prompt, model, fmt=None, seed=None):
            return json.dumps({"had": 2})

        def refused(prompt, model, fmt=None, seed=None):
            raise ConnectionError("nobody listens")

        unresolved = procedure()
        unresolved["steps"][1]["inputs"].append(support.field("nowhere"))
        cases = [
            (lambda *_: "I think it is 5", procedure(), 1),
            (lambda *_: "[1, 2]", procedure(), 1),
            (lambda *_: "7", procedure(), 1),
            (lambda *_: None, procedure(), 1),
            (missing_key, procedure(), 1),
            (refused, procedure(), 1),
            (support.model, unresolved, 1),
        ]
        for number, (query, proc, calls) in enumerate(cases):
            with self.subTest(number):
                path = self.folder / f"{number}.jsonl"
                with self.assertRaises(Exception) as plain:
                    run(query, proc)
                with self.assertRaises(type(plain.exception)) as recorded:
                    run(record(query, path), proc)
                self.assertEqual(str(recorded.exception), str(plain.exception))
                (line,) = lines(path)
                self.assertEqual(line["status"], "error")
                self.assertEqual((line["error_type"], line["error"]), (type(plain.exception).__name__, str(plain.exception)))
                self.assertEqual(len(line["trace"]["steps"]), calls)
                self.assertEqual(line["trace"]["procedure"], proc)

    def test_a_missing_key_may_be_allowed(self):
        query = record(lambda *_: json.dumps({"had": 2, "bought": 3, "total": 5, "final_answer": "5"}), self.path)
        state = run(query, strict_missing=False)
        (line,) = lines(self.path)
        self.assertEqual((line["status"], line["state"]), ("ok", state))

    def test_what_asks_again_is_several_calls_of_one_step(self):
        tries = iter(["no", "nor this"])

        @functools.wraps(support.model)
        def stubborn(prompt, model, fmt=None, seed=1234):
            return next(tries, None) or support.model(prompt, model, fmt, seed)

        query = record(stubborn, self.path)

        def patient(prompt, model, fmt=None, seed=1234):
            for seed in range(5):
                reply = query(prompt, model, fmt, seed)
                if reply.startswith("{"):
                    return reply
            raise AssertionError

        run(patient)
        (line,) = lines(self.path)
        calls = line["trace"]["steps"]
        self.assertEqual([(call["step_index"], call.get("attempt")) for call in calls], [(0, None), (0, 2), (0, 3), (1, None), (2, None)])
        self.assertEqual([call["seed"] for call in calls], [0, 1, 2, 0, 0])
        self.assertIn("Non-JSON", calls[0]["error"])
        self.assertEqual(line["status"], "ok")

    def test_a_runner_can_be_wrapped_itself(self):
        recorded = record(run_steps, self.path)
        state = recorded(procedure(), QUESTION, get_schema("gsm"), "stub", query_fn=support.model)
        self.assertEqual(state, run(support.model))
        with self.assertRaises(ValueError):
            recorded(procedure(), QUESTION, get_schema("gsm"), "stub", query_fn=lambda *_: "")
        with self.assertRaises(TypeError):
            recorded(procedure())
        first, second = lines(self.path)
        self.assertEqual((first["status"], len(first["trace"]["steps"])), ("ok", 3))
        self.assertEqual((second["status"], second["error_type"]), ("error", "ValueError"))

    def test_a_runner_of_ones_own_is_followed_by_its_prompts(self):
        from evoproc_procedures.prompts import create_execution_prompt

        def own(proc, problem_text, query_fn):
            state = {"problem_text": problem_text}
            for each in proc["steps"]:
                keys = [out["name"] for out in each["output"]]
                inputs = {one["name"]: state[one["name"]] for one in each["inputs"]}
                schema = {"properties": {key: {} for key in keys}}
                prompt = create_execution_prompt(inputs, each["stepDescription"], schema, keys)
                state.update(json.loads(query_fn(prompt, "stub", schema, 7)))
            return state

        state = record(own, self.path)(procedure(), QUESTION, support.model)
        (line,) = lines(self.path)
        self.assertEqual(line["state"], state)
        self.assertEqual([call["step_id"] for call in line["trace"]["steps"]], [1, 2, 3])
        self.assertEqual(line["trace"]["steps"][1]["outputs"], {"total": 5})
        self.assertNotIn("[reconstructed]", shown(self.path))

    def test_calls_that_made_the_procedure_belong_to_its_run(self):
        broken = procedure()
        broken["steps"][0]["inputs"] = []
        replies = iter([json.dumps(broken), json.dumps(procedure())])

        def query(prompt, model, fmt=None, seed=None):
            return next(replies) if "NameDescription" in json.dumps(fmt) else support.model(prompt, model, fmt, seed)

        query = record(query, self.path)
        made = create_and_validate_procedure_structured(0, QUESTION, model="stub", query_fn=query)
        self.assertEqual(made, procedure())
        self.assertEqual(lines(self.path), [], "the run is to come")
        run(query, made)
        (line,) = lines(self.path)
        self.assertEqual([call["purpose"] for call in line["trace"]["making"]], ["create", "repair"])
        self.assertEqual(len(line["trace"]["steps"]), 3)

    def test_the_whole_pipeline_is_one_run(self):
        def query(prompt, model, fmt=None, seed=None):
            return json.dumps(procedure()) if "NameDescription" in json.dumps(fmt) else support.model(prompt, model, fmt)

        asked = record(query, self.path)
        steps = lambda proc, question, schema, model, printed: run_steps(proc, question, schema, model, query_fn=asked)  # noqa: E731
        proc, state = run_full_procedure_structured(
            0, QUESTION, model="stub", query_fn=asked, run_steps_fn=steps, answer_schema=get_schema("gsm")
        )
        (line,) = lines(self.path)
        self.assertEqual((line["procedure"], line["state"]), (proc, state))
        self.assertEqual(len(line["trace"]["making"]), 1)

    def test_a_block_says_what_else_is_known(self):
        query = record(support.model, self.folder / "elsewhere.jsonl")
        with record(self.path, id=7, gold_answer="2 + 3 = 5\n#### 1,005", dataset="apples") as about:
            run(query)
            about.fitness = 1.25
        (line,) = lines(self.path)
        self.assertEqual((line["id"], line["gold_num"], line["correct"], line["fitness"]), (7, 1005.0, False, 1.25))
        self.assertEqual((line["dataset"], line["question"], line["mode"]), ("apples", QUESTION, "procedural"))
        self.assertEqual(lines(self.folder / "elsewhere.jsonl"), [])

    def test_runs_of_a_block_are_a_line_each(self):
        for query in (record(support.model, self.path), None):
            self.path.unlink(missing_ok=True)
            with record(self.path, dataset="apples") as about:
                for question in ("one", "two", "three"):
                    run(query or about.wrap(support.model), question=question)
                asked = about.wrap(support.model)
                run(asked, question="four")
                run(asked, question="five")
            found = [(line["question"], line["status"], line["dataset"], len(line["trace"]["steps"])) for line in lines(self.path)]
            self.assertEqual(found, [(each, "ok", "apples", 3) for each in ("one", "two", "three", "four", "five")])

    def test_a_block_keeps_the_error(self):
        with self.assertRaises(ZeroDivisionError), record(self.path, question=QUESTION) as about:
            about.wrap(support.model)("p", "stub", {"properties": {"total": {}}})
            raise ZeroDivisionError("after a call")
        (line,) = lines(self.path)
        self.assertEqual((line["error_type"], len(line["trace"]["steps"])), ("ZeroDivisionError", 1))

    def test_a_direct_prompt_is_a_baseline(self):
        with record(self.path, question=QUESTION, gold_num=5) as about:
            about.wrap(support.model)("Solve this", "stub", get_schema("gsm"), 1)
        (line,) = lines(self.path)
        self.assertEqual((line["mode"], line["pred_num"], line["correct"]), ("baseline", 5, True))
        self.assertEqual(stepscope.check(self.path)[0]["kind"], "baseline")

    def test_threads_do_not_mix_their_runs(self):
        query = record(support.model, self.path)

        def one(n):
            return run(query, question=f"question {n}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(one, range(64)))
        found = lines(self.path)
        self.assertEqual({line["question"] for line in found}, {f"question {n}" for n in range(64)})
        for line in found:
            self.assertEqual(line["trace"]["steps"][0]["inputs"], {"problem_text": line["question"]})

    def test_processes_share_a_file(self):
        query = record(support.model, self.path)
        run(query)
        for method in ("fork", "spawn"):
            context = multiprocessing.get_context(method)
            workers = [context.Process(target=_runs, args=(query, 20)) for _ in range(3)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                for worker in workers:
                    worker.start()
            for worker in workers:
                worker.join()
                self.assertEqual(worker.exitcode, 0)
        self.assertEqual(len(lines(self.path)), 121)

    def test_upstreams_ollama_functions_tell_their_tokens(self):
        if not support.has("ollama"):
            self.skipTest("ollama is not installed")

        from evoproc_procedures import ollama as backend

        def generate(model, prompt, format=None, options=None):
            return {"response": support.model(prompt, model, format), "prompt_eval_count": 40, "eval_count": 9}

        query = record(backend.query, self.path)
        with mock.patch("ollama.generate", generate):
            state = run(query)
            self.assertEqual(state, run(backend.query))
        (line,) = lines(self.path)
        call = line["trace"]["steps"][0]
        self.assertEqual(call["usage"], {"prompt_tokens": 40, "completion_tokens": 9})
        self.assertEqual((call["backend"], call["endpoint"], call["temperature"]), ("ollama", "/api/generate", 1))

    def test_overhead_is_under_a_millisecond_of_work_a_call(self):
        proc, schema = procedure(), get_schema("gsm")
        query = record(support.model, self.path)

        def seconds(asked, runs=50):
            begin = time.process_time()
            for _ in range(runs):
                run_steps(proc, QUESTION, schema, "stub", query_fn=asked)
            return (time.process_time() - begin) / (runs * 3)

        seconds(query, 3)
        overhead = statistics.median(seconds(query) - seconds(support.model) for _ in range(7))
        self.assertLess(overhead, 0.001)


def _runs(query, count):
    for n in range(count):
        run(query, question=f"question {n}")


@record("unused.jsonl")
def at_module_level(prompt):
    return prompt


class OfAnyFunction(InFolder):
    def test_a_decorated_function_writes_its_calls(self):
        @record(self.path)
        def ask(messages, *, model="m", temperature=0.5):
            """Asks."""
            stepscope.usage(11, 2, backend="openai")
            return {"choices": [{"message": {"content": "five"}}], "usage": {"prompt_tokens": 10}}

        reply = ask([{"role": "user", "content": "2 + 3?"}])
        self.assertEqual(reply["choices"][0]["message"]["content"], "five")
        self.assertEqual(ask.__doc__, "Asks.")
        (line,) = lines(self.path)
        self.assertEqual(line["response"], "five")
        self.assertEqual((line["model"], line["temperature"], line["backend"]), ("m", 0.5, "openai"))
        self.assertEqual(line["usage"], {"prompt_tokens": 11, "completion_tokens": 2})
        self.assertEqual(stepscope.check(self.path)[0]["kind"], "call")

    def test_arguments_that_are_not_sent_are_not_recorded(self):
        class Omit:
            pass

        class NotGiven:
            def __bool__(self):
                return False

        omit, not_given = Omit(), NotGiven()

        def create(*, input=omit, prompt=omit, model="m", seed=omit, temperature=not_given, response_format=None, max_output_tokens=...):
            return "five"

        ask = record(create, self.path)
        ask(input="2 + 3?")
        ask(input="2 + 3?", prompt=None, seed=7, temperature=0, max_output_tokens=9)
        first, second = lines(self.path)
        self.assertEqual((first["prompt"], first["schema"]), ("2 + 3?", None))
        self.assertTrue({"seed", "temperature", "max_tokens"}.isdisjoint(first))
        self.assertEqual([second[name] for name in ("prompt", "seed", "temperature", "max_tokens")], ["2 + 3?", 7, 0, 9])

    def test_every_choice_of_a_completion_is_recorded(self):
        add = {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
        messages = [{"content": "five"}, {"content": None, "tool_calls": [add]}, {"content": "six", "reasoning": "hm"}]
        choices = [{"index": n, "message": message} for n, message in enumerate(messages)]
        record(lambda prompt, n: {"choices": choices}, self.path)("2 + 3?", n=3)
        (line,) = lines(self.path)
        self.assertEqual(line["response"], "five")
        called = {"response": "", "tool_calls": [{"id": "1", "name": "add", "arguments": {}}]}
        self.assertEqual(line["choices"], [called, {"response": "six", "reasoning": "hm"}])

    def test_arguments_of_the_usual_clients_are_found_where_they_are(self):
        schema = {"type": "object"}

        def ask(messages=None, input=None, **more):
            return "five"

        record(ask, self.path)(input="2 + 3?", instructions="Be short.", text={"format": schema})
        record(ask, self.path)([], system="Be short.", output_config={"format": schema}, options={"seed": 7})
        record(ask, self.path)("2 + 3?", options={"temperature": 0, "num_predict": 9, "seed": None}, text="more")
        first, second, third = lines(self.path)
        self.assertEqual([(line["system"], line["schema"]) for line in (first, second)], [("Be short.", schema)] * 2)
        self.assertEqual((second["seed"], third["temperature"], third["max_tokens"]), (7, 0, 9))
        self.assertTrue({"seed", "system"}.isdisjoint(third))
        self.assertIsNone(third["schema"])

    def test_no_key_is_recorded(self):
        @dataclasses.dataclass
        class Client:
            api_key: str

            @record(self.path)
            def ask(self, what, k=5):
                raise ConnectionError("Illegal header value b'Bearer 51cret-51cret', GET http://h/?key=51cret-51cret&a=1")

        client = Client("51cret")
        with self.assertRaisesRegex(ConnectionError, "Bearer 51cret"):
            client.ask("2 + 3?")
        with self.assertRaises(ValueError), record(self.path):
            raise ValueError("no such key: sk-51cret-51cret")
        record(lambda model, prompt, **more: "five", self.path)(client, "2 + 3?", extra_headers={"a": "51cret"}, extra_body=client)
        record(lambda client, api_key, what: "five", self.path)(client, "51cret", what="2 + 3?")
        self.assertNotIn("51cret", self.path.read_text())
        found = lines(self.path)
        self.assertEqual([line.get("prompt") for line in found], ["2 + 3?", None, "2 + 3?", "2 + 3?"])
        self.assertEqual([line.get("model") for line in found], [None] * 4)
        self.assertIn("value b'Bearer [key]', GET http://h/?key=[key]&a=1", found[0]["error"])

    def test_a_call_without_a_prompt(self):
        record(lambda: "five", self.path)()
        self.assertEqual([(line["prompt"], line["response"]) for line in lines(self.path)], [(None, "five")])
        self.assertEqual(stepscope.check(self.path)[0]["kind"], "call")

    def test_the_text_of_a_reply_is_all_of_its_text(self):
        hm, one, two = {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "2 + "}, {"type": "text", "text": "3"}
        reasoning = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
        as_message = {"type": "message", "content": [{"type": "output_text", "text": "2 + "}, {"type": "output_text", "text": "3"}]}
        cached = {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": None, "output_tokens": 2}
        for reply in (
            {"content": [hm, one, two], "usage": cached},
            {"content": [one, two], "role": "assistant", "usage": {"input_tokens": 7, "output_tokens": 2}},
            {"output": [reasoning, as_message], "usage": {"input_tokens": 7, "output_tokens": 2}},
            {"choices": [{"message": {"content": [one, two]}}], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
            {"choices": [{"message": {"content": None, "refusal": "2 + 3"}}], "prompt_eval_count": 7, "eval_count": 2},
            {"role": "assistant", "content": "2 + 3", "prompt_eval_count": 7, "eval_count": 2},
        ):
            for shape in (reply, json.loads(json.dumps(reply), object_hook=lambda members: SimpleNamespace(**members))):
                with self.subTest(shape):
                    self.path.unlink(missing_ok=True)
                    record(lambda prompt: shape, self.path)("a")
                    (line,) = lines(self.path)
                    self.assertEqual(line["response"], "2 + 3")
                    self.assertEqual(line["usage"], {"prompt_tokens": 7, "completion_tokens": 2})

    def test_what_a_model_thought_and_the_tools_that_it_called_are_kept(self):
        add = {"name": "add", "arguments": '{"n": 2}'}
        so, calls = "so:", [{"id": "1", "name": "add", "arguments": {"n": 2}}]
        for reply in (
            {"choices": [{"message": {"content": so, "reasoning_content": "hm", "tool_calls": [{"id": "1", "type": "function", "function": add}]}}]},
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": so}, {"type": "tool_use", "id": "1", "name": "add", "input": {"n": 2}}]},
            {"output": [{"type": "reasoning", "summary": [{"text": "hm"}]}, {"type": "message", "content": [{"text": so}]}, {"type": "function_call", "id": "f", "call_id": "1", **add}]},
            {"message": {"content": so, "thinking": "hm", "tool_calls": [{"id": "1", "function": {"name": "add", "arguments": {"n": 2}}}]}},
        ):
            with self.subTest(reply):
                self.path.unlink(missing_ok=True)
                record(lambda prompt: reply, self.path)("a")
                with record(self.path) as run:
                    run.wrap(lambda prompt: reply)("a")
                call, line = lines(self.path)
                (step,) = line["trace"]["steps"]
                self.assertEqual((call["response"], call["reasoning"], call["tool_calls"]), (so, "hm", calls))
                self.assertEqual((step["raw"], step["reasoning"], step["tool_calls"]), (so, "hm", calls))
        self.path.unlink()
        record(lambda prompt: {"choices": [{"message": {"content": None, "function_call": add}}]}, self.path)("a")
        (line,) = lines(self.path)
        self.assertEqual((line["response"], line["tool_calls"]), ("", [{"name": "add", "arguments": {"n": 2}}]))

    def test_a_reply_without_a_text_is_kept_whole(self):
        ask = record(lambda prompt: prompt, self.path)
        kept = [{"content": "a", "score": 1}, {"content": [{"type": "tool_use", "input": {"a": 1}}]}, {"output": [1]}, [1, {"text": "b"}]]
        for reply in kept:
            ask(reply)
        self.assertEqual([json.loads(line["response"]) for line in lines(self.path)], kept)

    def test_methods_and_coroutines_too(self):
        path = self.path

        class Client:
            @record(path)
            def ask(self, prompt):
                return prompt.upper()

        @record(path)
        async def later(prompt):
            await asyncio.sleep(0)
            if prompt == "bad":
                raise ValueError("no")
            return prompt

        async def both():
            return await asyncio.gather(later("x"), later("bad"), return_exceptions=True)

        class Upper:
            def __call__(self, prompt):
                return prompt.upper()

        class Others:
            again = record(Client().ask, path)
            bound = record(Upper().__call__, path)
            static = record(path)(staticmethod(lambda prompt: prompt.upper()))
            called = record(Upper(), path)
            own = classmethod(record(path)(lambda owner, prompt: prompt.upper()))

        others = Others()
        self.assertEqual([others.again("a"), others.bound("b"), others.static("s"), others.called("c"), others.own("o"), Others.static("t")], list("ABSCOT"))
        path.unlink()
        self.assertEqual(Client().ask("a"), "A")
        self.assertIsInstance(asyncio.run(both())[1], ValueError)
        found = lines(path)
        self.assertEqual(sorted((line["prompt"], line["error"]) for line in found), [("a", None), ("bad", "ValueError: no"), ("x", None)])

    def test_it_is_the_function_in_everything_else(self):
        class Model:
            calls = 0

            def __call__(self, prompt):
                self.calls += 1
                return "x"

        query = record(Model(), self.path)
        query("a")
        self.assertEqual(query.calls, 1)
        query.calls = 5
        query("b")
        self.assertEqual(query.calls, 6)
        again = pickle.loads(pickle.dumps(record(support.model, self.path)))
        again("p", "m")
        self.assertIs(pickle.loads(pickle.dumps(at_module_level)), at_module_level)
        self.assertEqual(len(lines(self.path)), 3)

    def test_what_json_cannot_hold_is_written_all_the_same(self):
        ask = record(lambda prompt: prompt, self.path)
        loop = []
        loop.append(loop)
        for odd in ("\ud800 half", "\0\x1b[2J\u2028", {1, 2}, {("a", 1): object()}, float("nan"), loop, b"\xff"):
            ask(odd)
        self.assertEqual(len(lines(self.path)), 7)
        self.assertEqual(len(stepscope.check(self.path)), 7)

    def test_values_of_other_kinds_are_written_as_what_comes_closest(self):
        @dataclasses.dataclass
        class Data:
            when: datetime
            lock: object

        class Color(Enum):
            RED = "red"

        class Array:
            def tolist(self):
                return [[1.5, 2]]

        class Model:
            @classmethod
            def model_json_schema(cls):
                return {"type": "object"}

            def model_dump(self):
                return {"price": Decimal("1.10"), "where": Path("a/b"), "color": Color.RED}

        class Broken(Model):
            def model_dump(self):
                raise RuntimeError("not built")

            def __repr__(self):
                raise RuntimeError("nor this")

        class Dates:
            """As NumPy has them, one or several."""

            __module__ = "numpy"
            dtype = SimpleNamespace(kind="M")

            def __init__(self, texts):
                self.texts = texts

            def astype(self, kind):
                return SimpleNamespace(tolist=lambda: self.texts)

        class Series:
            def __init__(self, index, values):
                self.index, self.values = index, values

            def to_list(self):
                return self.values

            def to_dict(self):
                return dict(zip(self.index, self.values))

        class Frame:
            columns = ["a"]

            def to_dict(self, orient="dict"):
                return [{"a": 1}, {"a": 2}] if orient == "records" else {"a": {0: 1, 1: 2}}

        ask = record(lambda prompt: prompt, self.path)
        data = Data(datetime(2024, 1, 2, tzinfo=timezone.utc), Broken())
        for odd, told in (
            (data, {"when": "2024-01-02T00:00:00+00:00", "lock": "<Broken>"}),
            (Array(), [[1.5, 2]]),
            (Model(), {"price": "1.10", "where": "a/b", "color": "red"}),
            (Model, {"type": "object"}),
            ([Broken()], ["<Broken>"]),
            (memoryview(b"ab"), "ab"),
            (Dates("2026-11-28T10:00"), "2026-11-28T10:00"),
            (Dates([["2026-11-28", "NaT"]]), [["2026-11-28", None]]),
            (Series([0, 1], ["x", Dates("NaT")]), ["x", None]),
            (Series(["a", "b"], [1, 2]), {"a": 1, "b": 2}),
            (Frame(), [{"a": 1}, {"a": 2}]),
            (deque([UUID(int=1), Fraction(1, 3)]), ["00000000-0000-0000-0000-000000000001", "1/3"]),
            ({(1, 2): Decimal("0.1")}, {"(1, 2)": "0.1"}),
            (16**5000, hex(16**5000)),
        ):
            with self.subTest(odd if not isinstance(odd, int) else "int"):
                self.path.unlink(missing_ok=True)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    ask(odd)
                (line,) = lines(self.path)
                self.assertEqual(json.loads(line["response"]), told)

    def test_values_of_the_usual_libraries(self):
        rows = [{"a": 1, "t": datetime(2026, 11, 28, 10)}, {"a": 2, "t": None}]
        told = [{"a": 1, "t": "2026-11-28T10:00:00"}, {"a": 2, "t": None}]
        values = []
        if support.has("numpy"):
            import numpy

            values += [(numpy.datetime64("2026-11-28T10:00"), "2026-11-28T10:00"), (numpy.datetime64("NaT"), None)]
            values += [(numpy.array(["2026-11-28", "NaT"], "datetime64[ns]"), ["2026-11-28T00:00:00.000000000", None])]
            values += [(numpy.float64(1.5), 1.5), (numpy.arange(2), [0, 1])]
        if support.has("pandas"):
            import pandas

            frame = pandas.DataFrame(rows)
            values += [(frame, told), (frame["t"], [row["t"] for row in told]), (frame.iloc[0], told[0])]
            values += [(frame.index, [0, 1]), (pandas.NA, None)]
        if support.has("polars"):
            import polars

            frame = polars.DataFrame(rows)
            values += [(frame, told), (frame["t"], [row["t"] for row in told])]
        if support.has("pyarrow"):
            import pyarrow

            table = pyarrow.Table.from_pylist(rows)
            values += [(table, told), (table.to_batches()[0], told), (table["a"], [1, 2]), (table["a"][0], 1)]
        for value, expected in values:
            with self.subTest(value=value):
                self.path.unlink(missing_ok=True)
                with record(self.path) as about:
                    about.state = {"value": value}
                (line,) = lines(self.path)
                self.assertEqual(line["state"], {"value": expected})

    def test_what_holds_itself_twice_is_written_once(self):
        loop = {}
        loop["a"] = loop["b"] = loop
        record(lambda prompt: prompt, self.path)(loop)
        (line,) = lines(self.path)
        self.assertEqual(json.loads(line["response"]), {"a": "<class 'dict'>", "b": "<class 'dict'>"})

    def test_an_object_that_says_nothing_of_itself_is_no_reply(self):
        for reply in (object(), OSError("x"), lambda: 1, mock.Mock()):
            self.path.unlink(missing_ok=True)
            record(lambda prompt: reply, self.path)("a")
            (line,) = lines(self.path)
            self.assertIsNone(line["response"])
            self.assertEqual(line["reply_type"], f"{type(reply).__module__}.{type(reply).__qualname__}")
        self.assertEqual(stepscope.check(self.path)[0]["kind"], "call")

    def test_an_error_without_words_is_the_error_all_the_same(self):
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no words")

        def refuse(prompt):
            raise Mute

        with self.assertRaises(Mute):
            record(refuse, self.path)("a")
        with self.assertRaises(Mute), record(self.path, question="a") as run:
            run.wrap(refuse)("a")
        call, line = lines(self.path)
        self.assertEqual((call["error"], line["error_type"], line["error"]), ("Mute: ", "Mute", ""))

    def test_a_path_that_cannot_be_written_fails_before_anything_is_asked(self):
        for taken in (self.folder, self.folder / "file" / "runs.jsonl"):
            (self.folder / "file").write_text("")
            for begin in (lambda: record(support.model, taken), lambda: record(taken), lambda: stepscope.start(taken)):
                with self.assertRaises(OSError):
                    begin()
        ask = record(lambda prompt: "fine", self.folder / "new" / "folder" / "calls.jsonl")
        ask("x")
        self.assertEqual(len(lines(self.folder / "new" / "folder" / "calls.jsonl")), 1)

    def lost(self):
        """A function that is recorded to where nothing can be written any more."""
        ask = record(lambda prompt: "fine", self.path)
        self.path.mkdir()
        return ask

    def test_a_file_that_cannot_be_written_later_is_a_warning_at_the_line_of_the_user(self):
        ask = self.lost()
        with self.assertWarns(RuntimeWarning) as warned:
            self.assertEqual(ask("x"), "fine")
        self.assertEqual(warned.filename, __file__)

    def test_where_warnings_are_errors_it_is_told_all_the_same(self):
        ask = self.lost()
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as told:
            warnings.simplefilter("error")
            self.assertEqual([ask("x"), ask("y")], ["fine"] * 2)
        self.assertEqual(told.getvalue().count("stepscope cannot record"), 1)

    def test_a_file_that_is_taken_away_is_begun_again(self):
        ask = record(lambda prompt: prompt, self.path)
        ask("one")
        self.path.unlink()
        ask("two")
        self.assertEqual([line["prompt"] for line in lines(self.path)], ["two"])

    def test_calls_of_a_block_from_other_threads_are_its_own(self):
        with record(self.path, question=QUESTION) as about:
            ask = about.wrap(lambda prompt: prompt)
            threads = [threading.Thread(target=ask, args=(str(n),)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        (line,) = lines(self.path)
        self.assertEqual(sorted(call["prompt"] for call in line["trace"]["steps"]), list("0123"))

    def test_a_call_in_another_thread_than_its_block_is_told(self):
        ask = record(lambda prompt: prompt, self.path)

        def asked_in(block):
            self.path.unlink(missing_ok=True)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                block()
            self.assertLessEqual({each.category for each in told}, {RuntimeWarning})
            *calls, line = lines(self.path)
            kept = [call["prompt"] for call in line["trace"]["steps"]]
            return [call.get("prompt") for call in calls], kept, line.get("error_type"), ["run.wrap" in str(each.message) for each in told]

        def threads(asking):
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(asking, "ab"))

        def block(wrapped=False, here=False, to_thread=False):
            with record(self.path) as about:
                if here:
                    ask("here")
                if to_thread:
                    asyncio.run(asyncio.to_thread(ask, "a"))
                else:
                    threads(about.wrap(ask) if wrapped else ask)

        calls, kept, error, told = asked_in(block)
        self.assertEqual((sorted(calls), kept, error, told), (["a", "b"], [], "Unrecorded", [True]))
        calls, kept, error, told = asked_in(lambda: block(here=True))
        self.assertEqual((sorted(calls), kept, error, told), (["a", "b"], ["here"], None, [True]))
        calls, kept, error, told = asked_in(lambda: block(wrapped=True))
        self.assertEqual((calls, sorted(kept), error, told), ([], ["a", "b"], None, []))
        self.assertEqual(asked_in(lambda: block(to_thread=True)), ([], ["a"], None, []))

        def own_blocks():
            def one(prompt):
                with record(self.path):
                    ask(prompt)

            threads(one)
            ask("last")
            block(here=True, wrapped=True)

        self.assertEqual(asked_in(own_blocks)[3], [], "each has its own")

    def test_a_recorded_function_is_recorded_once_in_its_block(self):
        class Client:
            @record(self.folder / "other.jsonl")
            def ask(self, prompt):
                return prompt

        @record(self.folder / "other.jsonl")
        async def later(prompt):
            return prompt

        ask = record(lambda prompt: prompt, self.path)
        with record(self.path, question=QUESTION) as about:
            for asking in (ask, functools.partial(ask), Client().ask, about.wrap(ask), record(Client().ask, self.path)):
                self.assertEqual(about.wrap(asking)("same thread"), "same thread")
                thread = threading.Thread(target=about.wrap(asking), args=("another",))
                thread.start()
                thread.join()
            self.assertEqual(asyncio.run(about.wrap(later)("awaited")), "awaited")
        (line,) = lines(self.path)
        asked = [(call["prompt"], call["step_index"], call.get("attempt")) for call in line["trace"]["steps"]]
        prompts = ["same thread", "another"] * 5 + ["awaited"]
        self.assertEqual(asked, [(prompt, n, None) for n, prompt in enumerate(prompts)])
        self.assertFalse((self.folder / "other.jsonl").exists())

    @needs_evoproc
    def test_a_runner_with_a_query_that_is_recorded_twice(self):
        query = record(support.model, self.path)
        for inside in (lambda call: call(), lambda call: ThreadPoolExecutor(1).submit(call).result()):
            self.path.unlink(missing_ok=True)
            with record(self.path, gold_answer="#### 5") as about:
                inside(lambda about=about: run(about.wrap(query)))
            (line,) = lines(self.path)
            self.assertEqual([(call["step_index"], call.get("attempt")) for call in line["trace"]["steps"]], [(0, None), (1, None), (2, None)])
            self.assertTrue(line["correct"])

    def test_what_a_block_says_is_kept_however_it_ends(self):
        for proc in (None, procedure()):
            for error in (None, ValueError("late")):
                self.path.unlink(missing_ok=True)
                with contextlib.suppress(ValueError), record(self.path, question=QUESTION) as about:
                    about.procedure, about.state, about.fitness = proc, {"total": 5}, 0.9
                    about.fields["note"] = "n"
                    if error:
                        raise error
                (line,) = lines(self.path)
                self.assertEqual((line["state"], line["fitness"], line["note"]), ({"total": 5}, 0.9, "n"))
                self.assertEqual(line.get("error"), None if error is None else "late")

    def test_blocks_of_one_recording_at_the_same_time(self):
        recording = record(self.path)

        async def block(number):
            with recording as run:
                run.question = str(number)
                for _ in range(number):
                    await asyncio.sleep(0)
                run.wrap(lambda prompt: prompt)(str(number))

        async def blocks():
            await asyncio.gather(*map(block, (5, 1, 3)))

        asyncio.run(blocks())
        self.assertEqual([(line["question"], line["raw"]) for line in lines(self.path)], [(each, each) for each in "135"])

    def test_a_block_that_another_task_leaves(self):
        async def pieces():
            with record(self.path, question="a"):
                yield 1

        async def main():
            opened = pieces()
            await opened.__anext__()
            with record(self.path, question="b"):
                await asyncio.create_task(opened.aclose())

        asyncio.run(main())
        self.assertEqual([line["question"] for line in lines(self.path)], ["a", "b"])

    def test_a_call_that_ends_as_its_block_does_is_not_lost(self):
        with record(self.path, question="a") as run:
            ask = run.wrap(lambda prompt: run._finish() or prompt)
            ask("late")
        line, call = lines(self.path)
        self.assertEqual((line["trace"]["steps"], call["response"], call["run_id"]), ([], "late", line["id"]))

    def test_it_says_what_it_takes(self):
        for wrong in (lambda: record(support.model), lambda: record(3, self.path), lambda: record(support.model, self.path, id=1)):
            with self.assertRaises(TypeError):
                wrong()


class OfAnswers(InFolder):
    def test_an_answer_is_a_trace(self):
        reply = json.dumps({"answer_found": True, "confidence": 0.9, "extraction_method": "verbatim", "items": [{"text": "USD 250", "spans": [{"line_start": 0, "line_end": 0, "quote": "USD 250"}]}]})
        stepscope.record_answer(
            self.path, question="What is the deductible?", raw=reply, pages=[1], document=["Deductible: USD 250"], schema="TextAnswer"
        )
        stepscope.record_answer(self.path, question="And then?", raw="I do not know")
        first, second = lines(self.path)
        self.assertEqual(first["answer"], json.loads(reply))
        self.assertEqual(first["retrieved_pages"], [{"page_num": 1}])
        self.assertEqual(second["answer_text"], "I do not know")
        good, bad = stepscope.check(self.path)
        as_tool = {"content": [{"type": "tool_use", "id": "t", "name": "answer", "input": json.loads(reply)}]}
        third = stepscope.record_answer(self.path, question="What is it?", raw=as_tool)
        self.assertEqual(third["answer"], json.loads(reply))
        self.assertEqual((good["kind"], good["grounded"]), ("typed", {"items": 1, "of": 1}))
        self.assertIn("answer/json_invalid", [finding["rule"] for finding in bad["findings"]])

    def test_a_document_is_found_from_the_file_of_answers(self):
        answer = {"answer_found": True, "items": [{"text": "USD 250", "spans": [{"line_start": 0, "line_end": 0, "quote": "USD 250"}]}]}
        (self.folder / "answers" / "docs").mkdir(parents=True)
        for place in ("answers/docs/policy.txt", "answers/..policy.txt", "outside.txt"):
            (self.folder / place).write_text("Deductible: USD 250\n")
        os.symlink(self.folder / "answers", self.folder / "link")
        os.symlink(self.folder / "answers" / "docs", self.folder / "answers" / "linked")
        os.symlink(self.folder / "outside.txt", self.folder / "answers" / "outside.txt")

        def grounded(path, document):
            record = stepscope.record_answer(path, question="How much?", answer=answer, document=document, schema="TextAnswer")
            found = stepscope.check(path)[-1]["grounded"]
            Path(path).unlink()
            return record["document"].get("path"), found

        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        all_found = {"items": 1, "of": 1}
        for path, document, place in (
            ("answers/a.jsonl", "answers/docs/policy.txt", "docs/policy.txt"),
            ("answers/a.jsonl", self.folder / "answers" / "docs" / "policy.txt", "docs/policy.txt"),
            ("answers/a.jsonl", "docs/policy.txt", "docs/policy.txt"),
            ("answers/a.jsonl", "answers/..policy.txt", "..policy.txt"),
            ("link/a.jsonl", "answers/docs/policy.txt", "docs/policy.txt"),
            ("answers/a.jsonl", "answers/linked/policy.txt", "docs/policy.txt"),
            ("a.jsonl", "outside.txt", "outside.txt"),
        ):
            self.assertEqual(grounded(path, document), (place, all_found))
        for document in ("outside.txt", self.folder / "outside.txt", "answers/../outside.txt", "answers/outside.txt"):
            with self.assertRaisesRegex(ValueError, r"document '.*outside\.txt' .*folder of 'answers/a\.jsonl'"):
                grounded("answers/a.jsonl", document)
        self.assertFalse(Path("answers/a.jsonl").exists())

        class Table:
            columns = ["page_num", "line_num", "text"]

            def to_dicts(self):
                return [{"page_num": 1, "line_num": 1, "text": "Deductible: USD 250"}]

        self.assertEqual(grounded("a.jsonl", Table()), (None, all_found))
        self.assertEqual(stepscope.record_answer("a.jsonl", question="", pages=Table())["retrieved_pages"], Table().to_dicts())

        class Columns:
            columns = ["text"]

        with self.assertRaisesRegex(TypeError, "table that does not tell its rows"):
            stepscope.record_answer("a.jsonl", question="", document=Columns())


if __name__ == "__main__":
    unittest.main()
