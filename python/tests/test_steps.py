"""Steps that a program names itself, runs over several cells, and runners that are not evoproc's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import support
from support import QUESTION, InFolder, lines, procedure

import stepscope
from stepscope import record


def said(reply):
    return lambda prompt, model="m", fmt=None, seed=None: reply


class OfSteps(InFolder):
    def run_of(self):
        (line,) = lines(self.path)
        return line

    def findings(self, **more):
        return [finding["rule"] for one in stepscope.check(self.path) for finding in one["findings"]]

    def test_a_step_has_a_name_what_it_reads_and_what_it_writes(self):
        ask = record(said('{"total": 3}'), self.folder / "calls.jsonl")
        with record(self.path, question="How many mails?", gold_answer="#### 3", id="one") as run:
            with run.step("extract", reads={"mail": "three mails"}) as step:
                step.writes(total=json.loads(ask("How many?"))["total"])
            with run.step("state", reads={"total": 3}) as step:
                step.writes({"final_answer": "3"}, final_answer_numerical=3)
        line = self.run_of()
        first, second = line["trace"]["steps"]
        self.assertEqual((first["name"], first["inputs"], first["outputs"]), ("extract", {"mail": "three mails"}, {"total": 3}))
        self.assertEqual((first["prompt"], first["raw"], first["model"]), ("How many?", '{"total": 3}', "m"))
        self.assertEqual((second["name"], second["inputs"]), ("state", {"total": 3}))
        self.assertEqual(line["state"], {"total": 3, "final_answer": "3", "final_answer_numerical": 3})
        self.assertEqual((line["mode"], line["correct"]), ("procedural", True))
        self.assertEqual(lines(self.folder / "calls.jsonl"), [])
        (checked,) = stepscope.check(self.path)
        self.assertEqual((checked["kind"], checked["findings"], checked["triage"]["fix"]), ("procedural", [], "none"))
        text = str(stepscope.show(self.path))
        for shown in ('mail  "three mails"  [recorded]', "total  3  [recorded]"):
            self.assertIn(shown, text)
        self.assertNotIn("inferred", text)

    def test_every_call_of_a_step_is_of_it_and_the_last_one_has_what_it_wrote(self):
        ask = record(said("hm"), self.folder / "calls.jsonl")
        with record(self.path, question="?") as run:
            with run.step("think", reads={"a": 1}) as step:
                ask("one")
                ask("two")
                step.writes(b=2)
            ask("three")
        calls = self.run_of()["trace"]["steps"]
        told = [(call["step_index"], call.get("name"), call["prompt"], call["outputs"]) for call in calls]
        self.assertEqual(told, [(0, "think", "one", None), (0, "think", "two", {"b": 2}), (1, None, "three", None)])
        self.assertEqual(self.findings(), [])

    def test_a_value_that_the_program_made_of_the_reply_is_no_change_of_the_record(self):
        ask = record(said('{"total": "3 mails"}'), self.folder / "calls.jsonl")
        with record(self.path, question="?") as run, run.step("extract") as step:
            ask("How many?")
            step.writes(total=3)
        call, end = self.run_of()["trace"]["steps"]
        self.assertEqual((call["outputs"], end["outputs"], call["step_index"]), (None, {"total": 3}, end["step_index"]))
        self.assertEqual(self.findings(), [])
        for reply in ('```json\n{"total": "four"}\n```', 'It is {"total": 4}.', '{"of": {"total": 4}}', '{"total": "3"}', '{"total": 3.0}', "3 mails", '{"total"'):
            self.path.unlink()
            with record(self.path, question="?") as run, run.step("extract") as step:
                run.wrap(said(reply))("How many?")
                step.writes(total=3)
            self.assertEqual([rule for rule in self.findings() if rule != "run/reply_cut"], [], reply)

    def test_steps_in_steps_come_in_the_order_of_their_ends(self):
        with record(self.path, question="?") as run:
            with run.step("outer", reads={"a": 1}) as outer:
                with run.step("inner", reads={"a": 1}) as inner:
                    inner.writes(x=1)
                outer.reads(x=1)
                outer.writes(x=2)
        steps = self.run_of()["trace"]["steps"]
        self.assertEqual([(step["name"], step["step_index"]) for step in steps], [("inner", 0), ("outer", 1)])
        self.assertEqual((steps[1]["inputs"], self.run_of()["state"]), ({"a": 1, "x": 1}, {"x": 2}))
        self.assertEqual(self.findings(), [])

    def test_who_writes_last_stands_last(self):
        ask = record(said("hm"), self.folder / "calls.jsonl")
        with record(self.path, question="?") as run, run.step("outer") as outer:
            ask("one")
            with run.step("inner") as inner:
                ask("two")
                inner.writes(x=1)
            outer.writes(x=2)
        told = [(step["name"], step.get("prompt"), step["outputs"]) for step in self.run_of()["trace"]["steps"]]
        self.assertEqual(told, [("outer", "one", None), ("inner", "two", {"x": 1}), ("outer", None, {"x": 2})])
        self.assertEqual((self.run_of()["state"], self.findings()), ({"x": 2}, []))

    def test_an_error_in_a_step_is_its_own(self):
        ask = record(said("hm"), self.folder / "calls.jsonl")
        with self.assertRaises(ValueError), record(self.path, question="?") as run:
            with self.assertRaises(KeyError), run.step("first"):
                raise KeyError("a")
            with run.step("second") as step:
                step.writes(a=1)
                ask("one")
                raise ValueError("sk-51cret-51cret-51cret is no number")
        line = self.run_of()
        self.assertEqual([step["error"] for step in line["trace"]["steps"]], ["KeyError: 'a'", "ValueError: [key] is no number"])
        self.assertEqual((line["status"], line["error_type"], line["state"]), ("error", "ValueError", {"a": 1}))
        self.assertEqual(stepscope.check(self.path)[0]["kind"], "error")

    def test_tasks_have_steps_of_their_own(self):
        @record(self.folder / "calls.jsonl")
        async def ask(prompt):
            await asyncio.sleep(0)
            return prompt

        async def one(run, n):
            async with run.step(f"task {n}", reads={"n": n}) as step:
                await asyncio.sleep(0)
                step.writes({f"v{n}": await ask(str(n))})
                await asyncio.to_thread(record(said("x"), self.folder / "calls.jsonl"), f"thread of {n}")

        async def main():
            with record(self.path, question="?") as run:
                await asyncio.gather(*(one(run, n) for n in range(8)))

        asyncio.run(main())
        calls = self.run_of()["trace"]["steps"]
        self.assertEqual(len(calls), 16)
        for call in calls:
            self.assertEqual(call["name"].split()[-1], call["prompt"].split()[-1])
            self.assertEqual(call["inputs"], {"n": int(call["prompt"].split()[-1])})
        self.assertEqual(self.run_of()["state"], {f"v{n}": str(n) for n in range(8)})

    def test_threads_are_in_a_step_through_what_it_wraps(self):
        def one(run, n):
            with run.step(f"thread {n}") as step:
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(step.wrap(said("x")), [str(n)] * 3))
                step.writes({f"v{n}": n})

        with record(self.path, question="?") as run:
            threads = [threading.Thread(target=one, args=(run, n)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        calls = self.run_of()["trace"]["steps"]
        self.assertEqual(len(calls), 12)
        for call in calls:
            self.assertEqual(call["name"], f"thread {call['prompt']}")

    def test_a_step_after_its_run_is_told(self):
        with record(self.path, question="?") as run:
            step = run.step("late")
            with run.step("in time"):
                pass
        with self.assertWarnsRegex(RuntimeWarning, "'late'") as warned, step:
            pass
        self.assertEqual(warned.filename, __file__)
        for name, reads in (({"a": 1}, None), ("a", ["b"])):
            with self.assertRaises(TypeError):
                run.step(name, reads)
        with self.assertRaisesRegex(RuntimeError, "has ended"), step:
            pass

    def test_values_of_libraries_are_compared_as_they_are_read(self):
        class Array(list):
            def __eq__(self, other):
                raise ValueError("ambiguous")

        ask = record(said('{"total": [1, 2]}'), self.folder / "calls.jsonl")
        with record(self.path, question="?") as run, run.step("extract") as step:
            ask("How many?")
            step.writes(total=Array([1, 2]))
        (call,) = self.run_of()["trace"]["steps"]
        self.assertEqual(call["outputs"], {"total": [1, 2]})

    @support.needs_evoproc
    def test_a_runner_of_evoprocs_in_a_step_keeps_its_own(self):
        from evoproc_procedures.runners import run_steps_stateful_minimal
        from evoproc_procedures.schemas import get_schema

        query = record(support.model, self.folder / "calls.jsonl")
        with record(self.path) as run, run.step("solve", reads={"problem_text": QUESTION}) as step:
            state = run_steps_stateful_minimal(procedure(), QUESTION, get_schema("gsm"), "m", query_fn=query)
            step.writes(answer=state["final_answer"])
        calls = self.run_of()["trace"]["steps"]
        self.assertEqual([(call["step_index"], call["step_id"]) for call in calls], [(0, 1), (1, 2), (2, 3), (3, None)])
        self.assertEqual((calls[3]["name"], self.run_of()["state"]["total"]), ("solve", 5))
        self.assertEqual(self.findings(), [])

    def test_a_killed_run_keeps_its_steps(self):
        script = f"""
import os, signal, sys
sys.path.insert(0, {str(support.ROOT / "python")!r})
import stepscope
with stepscope.record({str(self.path)!r}, question="?") as run:
    with run.step("first", reads={{"a": 1}}) as step:
        run.wrap(lambda prompt: "x")("one")
        step.writes(b=2)
    with run.step("second"):
        os.kill(os.getpid(), signal.SIGKILL)
"""
        subprocess.run([sys.executable, "-c", script], check=False)
        line = support.wait_for(lambda: lines(self.path))[0]
        self.assertEqual(line["error_type"], "Killed")
        steps = line["trace"]["steps"]
        self.assertEqual([(step["name"], step["outputs"]) for step in steps], [("first", None), ("first", {"b": 2})])
        self.assertEqual(stepscope.check(self.path)[0]["kind"], "error")

    def test_steps_and_runs_say_what_they_are(self):
        recording = record(self.path, question="How many? " * 100)
        with recording as run, run.step("extract", reads={"a": "long" * 1000}) as step:
            step.writes(b=1)
        self.assertEqual(repr(step), "<Step 'extract': reads ['a'], writes ['b']>")
        self.assertIn(str(self.path), repr(recording))
        self.assertLess(len(repr(run)), 400)
        self.assertRegex(repr(run), r": 1 call, recorded to .*runs\.jsonl, line 1>$")

    def test_it_follows_the_schema_of_a_run_trace(self):
        if not support.has("jsonschema"):
            self.skipTest("jsonschema is not installed")
        import jsonschema

        ask = record(said("x"), self.folder / "calls.jsonl")
        with record(self.path, question="?") as run, run.step("one"):
            for n in range(3):
                ask([{"role": "user", "content": str(m)} for m in range(n + 1)])
        schema = subprocess.run([stepscope.program(), "schema", "trace"], capture_output=True, check=True).stdout
        jsonschema.validate(self.run_of(), json.loads(schema))


    def test_the_program_shows_their_names(self):
        schema = subprocess.run([stepscope.program(), "schema", "trace"], capture_output=True, check=True).stdout
        if b'"messages_from"' not in schema:
            self.skipTest("an earlier program")
        with record(self.path, question="?") as run:
            with contextlib.suppress(KeyError), run.step("look up"):
                raise KeyError("a")
            with run.step("answer", reads={"a": 1}) as step:
                step.writes(b=2)
        text = str(stepscope.show(self.path))
        self.assertIn("  failed\n  look up\n", text)
        self.assertIn("\n  answer\n", text)
        self.assertIn("look up</p>", stepscope.show(self.path).html)


class OfMessages(InFolder):
    def whole(self, calls):
        """All messages of each call, as the references say."""
        known = {}
        for call in calls:
            said = json.loads(call["prompt"])
            from_ = call.get("messages_from")
            known[call["call"]] = [*known[from_["call"]][: from_["count"]], *said] if from_ else said
        return list(known.values())

    def test_messages_are_written_once_a_run(self):
        ask = record(said("fine"), self.folder / "calls.jsonl")
        messages, asked = [{"role": "system", "content": "Be short."}], []
        with record(self.path, question="?") as run, run.step("talk"):
            for n in range(100):
                messages.append({"role": "user", "content": f"{n} " + "x" * 2000})
                ask(messages)
                asked.append(list(messages))
                messages.append({"role": "assistant", "content": "fine"})
        (line,) = lines(self.path)
        self.assertLess(self.path.stat().st_size, 400_000)
        self.assertEqual(self.whole(line["trace"]["steps"]), asked)
        self.assertEqual([finding for one in stepscope.check(self.path) for finding in one["findings"]], [])

    def test_talks_side_by_side_and_repeats_are_told_apart(self):
        ask = record(said("fine"), self.folder / "calls.jsonl")
        one, other = [{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]
        asked = [one, other, one, [*one, *other], [*other, *one], [*one, *other, *one]]
        with record(self.path, question="?"):
            for messages in asked:
                ask(messages)
        self.assertEqual(self.whole(lines(self.path)[0]["trace"]["steps"]), asked)

    def test_calls_that_made_a_procedure_keep_their_messages(self):
        ask = record(said(json.dumps(procedure())), self.folder / "calls.jsonl")
        messages = [{"role": "user", "content": "Make a procedure"}]
        query = record(support.model, self.folder / "calls.jsonl")
        with record(self.path, question=QUESTION) as run:
            ask(messages)
            ask([*messages, {"role": "user", "content": "A better one"}])
            run.procedure = procedure()
            own_runner(procedure(), QUESTION, {}, "m", query_fn=query)
        (line,) = lines(self.path)
        made = line["trace"]["making"]
        self.assertEqual([len(json.loads(call["prompt"])) for call in made], [1, 2])
        self.assertNotIn("messages_from", made[1])
        self.assertEqual([call["step_id"] for call in line["trace"]["steps"]], [1, 2, 3])

    def test_a_line_that_nobody_reads_is_told(self):
        with mock.patch("stepscope._run._LONGEST", 1000), self.assertWarnsRegex(RuntimeWarning, "several runs"):
            with record(self.path, question="?" * 1000) as run:
                run.state = {}


def own_runner(proc, problem_text, answer_schema, model, *, query_fn):
    """A runner with a prompt of its own."""
    state = {"problem_text": problem_text}
    for step in proc["steps"]:
        fmt = {"type": "object", "properties": {field["name"]: {} for field in step["output"]}}
        inputs = {field["name"]: state[field["name"]] for field in step["inputs"]}
        state.update(json.loads(query_fn(f"Do {step['stepDescription']} with {json.dumps(inputs)}", model, fmt, 1)))
    return state


class OfARunnerOfOnesOwn(InFolder):
    def steps(self):
        (line,) = lines(self.path)
        self.assertEqual((line["status"], line["trace"].get("making")), ("ok", None))
        return line["trace"]["steps"]

    def check(self, is_told=True):
        steps = self.steps()
        self.assertEqual([(step["step_index"], step["step_id"]) for step in steps], [(0, 1), (1, 2), (2, 3)])
        self.assertEqual(steps[1]["outputs"], {"total": 5})
        self.assertEqual(steps[1]["inputs"], {"had": 2, "bought": 3} if is_told else None)
        text = str(stepscope.show(self.path))
        self.assertIn("total  5  [recorded]", text)
        self.assertEqual(stepscope.check(self.path)[0]["findings"], [])

    def test_its_calls_are_steps(self):
        record(own_runner, self.path)(procedure(), QUESTION, {}, "m", query_fn=support.model)
        self.check()

    def test_and_in_a_block_that_knows_the_procedure(self):
        query = record(support.model, self.folder / "calls.jsonl")
        with record(self.path, procedure=procedure(), question=QUESTION):
            own_runner(procedure(), QUESTION, {}, "m", query_fn=query)
        self.check()
        self.assertEqual(lines(self.path)[0]["state"]["total"], 5)

    def test_a_prompt_without_a_schema_is_of_the_next_step_and_one_that_is_asked_again_of_the_same(self):
        replies = iter(["no JSON", '{"had": 2, "bought": 3}', '{"total": 5}', '{"final_answer": "5"}'])
        ask = record(lambda prompt: next(replies), self.folder / "calls.jsonl")
        with record(self.path, procedure=procedure(), question=QUESTION):
            for prompt in ("one", "one", "two", "three"):
                ask(prompt)
        steps = self.steps()
        self.assertEqual([step["step_index"] for step in steps], [0, 0, 1, 2])
        self.assertEqual([step.get("attempt") for step in steps], [None, 2, None, None])
        self.assertEqual(stepscope.check(self.path)[0]["findings"], [])

    def test_what_the_function_says_of_its_step_counts(self):
        @record(self.folder / "calls.jsonl")
        def ask(prompt):
            stepscope.usage(step_id=2, inputs={"had": 2, "bought": 3}, outputs={"total": 5})
            return "five"

        with record(self.path, procedure=procedure(), question=QUESTION):
            ask("Add them")
        (step,) = self.steps()
        self.assertEqual((step["step_index"], step["outputs"], step["inputs"]), (1, {"total": 5}, {"had": 2, "bought": 3}))

    def test_a_function_may_name_its_step(self):
        @record(self.folder / "calls.jsonl")
        def ask(prompt):
            stepscope.usage(name="add", inputs={"a": 2}, outputs={"total": 5})
            return "five"

        with record(self.path, question=QUESTION):
            ask("Add them")
        (step,) = self.steps()
        self.assertEqual((step["name"], step["inputs"], step["outputs"]), ("add", {"a": 2}, {"total": 5}))
        self.assertEqual(lines(self.path)[0]["state"], {"total": 5})

    def test_named_steps_are_those_of_the_procedure(self):
        with record(self.path, procedure=procedure(), question=QUESTION) as run:
            with run.step(1, reads={"problem_text": QUESTION}) as step:
                step.writes(had=2, bought=3)
            with run.step("Add had and bought.", reads={"had": 2, "bought": 3}) as step:
                step.writes(total=5)
            with run.step("the end", reads={"total": 5}) as step:
                step.writes(final_answer="5")
        self.check()


class OfStarts(InFolder):
    def test_a_run_may_last_over_several_cells(self):
        ask = record(said("fine"), self.folder / "calls.jsonl")
        cells = []
        run = stepscope.start(self.path, question="?", id="nb")
        # Each cell has a context and may have a thread of its own.
        for n in range(3):
            cells.append(threading.Thread(target=lambda n=n: ask(str(n))))
            cells[-1].start()
            cells[-1].join()
        with run.step("last", reads={"a": 1}) as step:
            step.writes(b=2)
        self.assertIn("open", repr(run))
        run.end()
        run.end()
        ask("outside")
        (line,) = lines(self.path)
        self.assertEqual((line["id"], line["status"], line["state"]), ("nb", "ok", {"b": 2}))
        self.assertEqual([call.get("prompt") for call in line["trace"]["steps"]], ["0", "1", "2", None])
        self.assertEqual([call["prompt"] for call in lines(self.folder / "calls.jsonl")], ["outside"])
        self.assertEqual(stepscope.check(self.path)[0]["findings"], [])

    def test_it_ends_with_a_state_or_an_error(self):
        stepscope.start(self.path, question="?").end(state={"final_answer": "5"})
        stepscope.start(self.path, question="?").end(error=ValueError("no"))
        first, second = lines(self.path)
        self.assertEqual((first["pred_answer"], second["error"]), ("5", "no"))

    def test_a_cell_that_runs_again_begins_another_run(self):
        with self.assertWarns(RuntimeWarning) as warned:
            for _ in range(2):
                run = stepscope.start(self.path, question="?")
                with run.step("a") as step:
                    step.writes(a=1)
        self.assertEqual(warned.filename, __file__)
        run.end()
        first, second = lines(self.path)
        self.assertEqual((first["error_type"], second["status"]), ("Interrupted", "ok"))

    def test_a_block_in_it_is_a_run_of_its_own(self):
        ask = record(said("fine"), self.folder / "calls.jsonl")
        run = stepscope.start(self.path, id=1)
        with record(self.path, id=2), warnings.catch_warnings():
            warnings.simplefilter("error")
            ask("inside")
        ask("outside")
        run.end()
        self.assertEqual([(line["id"], line["trace"]["steps"][0]["prompt"]) for line in lines(self.path)], [(2, "inside"), (1, "outside")])

    def test_one_that_nobody_ends_is_written_at_the_end_of_the_process(self):
        script = f"""
import sys
sys.path.insert(0, {str(support.ROOT / "python")!r})
import stepscope
run = stepscope.start({str(self.path)!r}, question="?")
stepscope.record(lambda prompt: "x", {str(self.path)!r})("one")
"""
        subprocess.run([sys.executable, "-c", script], check=True)
        (line,) = lines(self.path)
        self.assertEqual(line["trace"]["steps"][0]["prompt"], "one")

    def test_misspelt_fields_are_told(self):
        for begin in (lambda: record(self.path, gold_anwser="1"), lambda: stepscope.start(self.path, gold_anwser="1").end(state={})):
            with self.assertWarnsRegex(RuntimeWarning, "gold_answer") as warned:
                begin()
            self.assertEqual(warned.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            record(self.path, dataset="apples", gold_answer="1")


if __name__ == "__main__":
    unittest.main()
