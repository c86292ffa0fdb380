"""Checks, rewards, reports and tables from Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
from types import SimpleNamespace

import support
from support import InFolder, procedure

import stepscope

UNUSED = procedure()
UNUSED["steps"][0]["output"].append(support.field("spare"))
WRONG = {
    "id": "w1",
    "question": support.QUESTION,
    "gold_answer": "2 + 3 = 5\n#### 5",
    "gold_num": 5.0,
    "status": "ok",
    "mode": "procedural",
    "procedure": procedure(),
    "state": {**{"problem_text": support.QUESTION}, **support.VALUES, "total": 6, "final_answer": "6", "final_answer_numerical": 6},
    "pred_num": 6,
    "correct": False,
}


def procedure_run(number):
    return {**WRONG, "id": f"r{number}", "row_index": number}


class OfRecords(InFolder):
    def test_dicts_lines_files_and_one_record_give_the_same(self):
        records = [procedure(), UNUSED, WRONG]
        self.path.write_text("".join(json.dumps(one) + "\n" for one in records))

        def told(found):
            # Where labels stand in the bytes depends on blanks.
            drop = lambda finding: {key: value for key, value in finding.items() if key != "labels"}  # noqa: E731
            kept = [{key: value for key, value in one.items() if key != "source"} for one in found]
            return [{**one, "findings": [drop(finding) for finding in one["findings"]]} for one in kept]

        from_file = told(stepscope.check(self.path))
        self.assertEqual(told(stepscope.check(records)), from_file)
        self.assertEqual(told(stepscope.check(json.dumps(one, indent=1) for one in records)), from_file)
        self.assertEqual(told(stepscope.check(json.dumps(one).encode() + b"\r\n" for one in records)), from_file)
        self.assertEqual(told(stepscope.check(UNUSED))[0]["findings"], from_file[1]["findings"])
        self.assertEqual([one["rule"] for one in from_file[1]["findings"]], ["procedure/unused"])
        self.assertEqual((from_file[2]["triage"]["fix"], from_file[2]["triage"]["step"]), ("step_run", 2))

    def test_nothing_gives_nothing(self):
        self.assertEqual(stepscope.check([]), [])
        self.assertEqual(stepscope.rewards([], verifier="json_structure"), [])

    def test_many_records_come_one_after_the_other_and_one_may_stop(self):
        def without_end():
            while True:
                yield procedure()

        found = stepscope.stream(without_end())
        self.assertEqual([next(found)["index"] for _ in range(3)], [0, 1, 2])
        found.close()

    def test_whoever_interrupts_does_not_wait_for_more(self):
        class Interrupt(BaseException):
            pass

        def interrupt(*_):
            raise Interrupt

        def slow():
            yield procedure()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            more.wait(60)

        more = threading.Event()
        self.addCleanup(more.set)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        begin = time.monotonic()
        with self.assertRaises(Interrupt):
            stepscope.check(slow())
        self.assertLess(time.monotonic() - begin, 30)

    def test_faults_of_the_iterable_and_of_the_program_are_told(self):
        def failing():
            yield procedure()
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            stepscope.check(failing())
        with self.assertRaisesRegex(stepscope.StepscopeError, "no such file"):
            stepscope.check(self.folder / "nowhere.jsonl")

    def test_what_could_be_read_is_told_though_something_could_not(self):
        answers = [{"format": "stepscope.answer_trace", "version": 1, "id": n, "question": "How much?", "document": {"path": name}} for n, name in enumerate(["there.txt", "missing.txt"])]
        (self.folder / "there.txt").write_text("USD 250\n")
        for answer in answers:
            answer["answer"] = {"answer_found": True, "items": [{"text": "USD 250", "spans": [{"line_start": 0, "line_end": 0, "quote": "USD 250"}]}]}
        self.path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        with self.assertWarnsRegex(RuntimeWarning, "missing.txt: no such file") as warned:
            found = stepscope.check(self.path)
        self.assertEqual(warned.filename, __file__)
        self.assertEqual([one["id"] for one in found], [0, 1])
        for ask in (lambda: list(stepscope.stream(self.path)), lambda: stepscope.save(self.path, self.folder / "out.jsonl")):
            with self.assertRaisesRegex(stepscope.StepscopeError, "no such file") as failed:
                ask()
            self.assertEqual(failed.exception.code, 2)
        self.assertFalse((self.folder / "out.jsonl").exists())

    def test_a_table_that_cannot_be_written_is_refused(self):
        class Frame(list):
            columns = ["id", "question"]

        for ask in (stepscope.check, stepscope.to_frame, lambda table: stepscope.rewards(table, verifier="json_structure")):
            with self.assertRaisesRegex(TypeError, r"Frame is a table that cannot be written as Parquet .*JSON lines"):
                ask(Frame(["id", "question"]))
        columns = {"columns": 2, "question": support.QUESTION}
        self.assertEqual(len(stepscope.check(columns)), 1, "a record may have a key of that name")

    def test_rows_of_pandas_are_told_without_what_is_missing(self):
        class Rows:
            def __init__(self, rows):
                self.rows = rows

            def to_dict(self, orient):
                return self.rows

        class Frame(Rows):
            """Of columns that Parquet has no type for."""

            __module__ = "pandas"
            columns, index = ["id", "question", "pred_num"], SimpleNamespace(names=[None])

            def isna(self):
                return Rows([{key: value != value for key, value in row.items()} for row in self.rows])

        rows = [{"id": 1, "question": "How many?", "pred_num": float("nan")}, {"id": "b", "question": "How many?", "pred_num": 2}]
        first, second = stepscope.check(Frame(rows), with_record=True)
        self.assertEqual((first["record"], second["record"]), ({"id": 1, "question": "How many?"}, rows[1]))
        self.assertNotIn("record/not_finite", [finding["rule"] for finding in first["findings"]])

    def test_tables_of_the_usual_libraries_give_what_their_records_give(self):
        records = [procedure_run(n) for n in range(4)] + [{**WRONG, "mode": "baseline", "procedure": None, "only_here": 1}]
        records[1]["state"] = {**records[1]["state"], "total": "six"}  # another type in one row
        records[0]["state"] = {**records[0]["state"], "deep": [{"a": 1}, {"b": None}]}
        alike = [record for n, record in enumerate(records) if n != 1]

        def told(found):
            return [(one["id"], one["triage"]["fix"], [finding["rule"] for finding in one["findings"]]) for one in found]

        tables = []
        if support.has("pandas"):
            import pandas

            for each in (records, alike):
                frame = pandas.DataFrame(each)
                tables += [(frame, each), (frame.set_index("id"), each), (frame[frame["gold_num"] > 0], each)]
        if support.has("polars"):
            import polars

            frame = polars.DataFrame(alike, infer_schema_length=None)
            tables += [(frame, alike), (frame.lazy(), alike)]
        if support.has("pyarrow"):
            import pyarrow

            table = pyarrow.Table.from_pylist(alike)
            tables += [(table, alike), (table.to_batches()[0], alike)]
            rows = [batch.num_rows for batch in stepscope.batches(table)]
            self.assertEqual(sum(rows), len(alike))
        for table, each in tables:
            with self.subTest(type(table).__module__):
                self.assertEqual(told(stepscope.check(table)), told(stepscope.check(each)))
                stepscope.save(table, self.path)
                self.assertEqual(len(self.path.read_bytes().splitlines()), len(each))

    def test_what_is_kept_can_be_named(self):
        (found,) = stepscope.check([WRONG], fields=["id", "triage.fix"], with_record=True)
        self.assertEqual((found["id"], found["triage"], found["record"]), ("w1", {"fix": "step_run"}, WRONG))

    def test_rewards(self):
        samples = [{"completion": "Answer: 5"}, {"completion": "five"}, {"no": 1}]
        found = stepscope.rewards(samples, verifier="regex_format", pattern=r"Answer: \d+")
        self.assertEqual([one["reward"] for one in found], [1.0, 0.0, None])

    def test_a_report_is_text_and_html(self):
        hostile = {**WRONG, "question": "<script>alert(1)</script>\x1b[2J"}
        for report in (stepscope.show(hostile), self.written(hostile)):
            self.assertIn("w1", str(report))
            card = report._repr_html_()
            self.assertNotIn("<script", card)
            self.assertNotIn("\x1b", card)
            frame = card.split("</summary>")[1].split("</details>")[0]
            self.assertTrue(frame.startswith("<iframe srcdoc=") and frame.count("<") == 2, frame[:200])
            self.assertIn('" title="report" sandbox loading="lazy">', frame, "the page runs nothing")
            self.assertTrue(report.html.lower().startswith("<!doctype html>"))
            self.assertNotIn("<script>alert", report.html)
            self.assertNotIn("\x1b", report.html + str(report))
        self.assertIn("w1", str(stepscope.show(self.path, id="w1")))
        for missing in ({"line": 9}, {"id": "nobody"}):
            with self.assertRaises(stepscope.StepscopeError):
                stepscope.show(self.path, **missing)
        with self.assertRaisesRegex(stepscope.StepscopeError, "no such file"):
            stepscope.show(self.folder / "nowhere.jsonl")
        with self.assertRaisesRegex(TypeError, "not list"):
            stepscope.show([WRONG])
        long = stepscope.show({**WRONG, "question": "long " * 10_000})
        self.assertLess(len(repr(long)), 25_000)
        self.assertGreater(len(str(long)), 25_000)

    def test_what_looks_private_is_shown_to_oneself_and_not_sent(self):
        report = stepscope.show({**WRONG, "question": "Write to ann@example.org"})
        self.assertIn("ann@example.org", report._repr_html_())
        with self.assertRaisesRegex(stepscope.StepscopeError, "e-mail.*\n.*Nothing was written"):
            report.html

    def written(self, one):
        self.path.write_text(json.dumps(one) + "\n")
        return stepscope.show(self.path)

    def test_tables(self):
        found = stepscope.check([procedure(), UNUSED, WRONG])
        tried = 0
        for library in ("pandas", "polars"):
            if not support.has(library):
                continue
            tried += 1
            frame = found.to_frame(library)
            self.assertEqual(list(frame["fix"])[2], "step_run")
            self.assertEqual(list(frame["repairable"]), [0, 1, 0])
            self.assertEqual(len(stepscope.to_frame([], library)), 0)
        if not tried:
            with self.assertRaisesRegex(ImportError, "pandas or polars"):
                found.to_frame()
        with self.assertRaises(ValueError):
            found.to_frame("excel")

    def test_the_screen_needs_a_terminal(self):
        with self.assertRaisesRegex(stepscope.StepscopeError, "terminal"):
            stepscope.open(self.path)


class WhatIsGiven(InFolder):
    def setUp(self):
        super().setUp()
        self.paths = [self.folder / f"{name}.jsonl" for name in "ab"]
        for path in self.paths:
            path.write_text(json.dumps({**WRONG, "id": path.stem}) + "\n")

    def ids(self, *given, **options):
        return [found["id"] for found in stepscope.check(*given, **options)]

    def test_several_paths_patterns_and_lists_of_paths_are_paths(self):
        one, other = self.paths
        texts = [str(path) for path in self.paths]
        for given in (
            (one, other), (str(one), other), (texts,), (self.paths,), ((str(one), other),), (self.folder / "*.jsonl",),
            (f"{self.folder}/*.jsonl",), (f"{self.folder}/**/?.jsonl",), ([f"{self.folder}/[ab].jsonl"],),
            (self.folder.glob("?.jsonl"),), (iter(texts),), (self.folder,),
        ):  # fmt: skip
            with self.subTest(given):
                self.assertEqual(sorted(self.ids(*given)), ["a", "b"])
        self.assertEqual(len(list(stepscope.stream(one, other))), 2)
        odd = self.folder / "a[1].jsonl"
        odd.write_text(one.read_text())
        self.assertEqual(self.ids(odd), ["a"], "a file of that name is that file")

    def test_parts_may_be_several_too(self):
        parts = stepscope.parts(*self.paths)
        self.assertEqual(self.ids(*parts), ["a", "b"])
        self.assertEqual(self.ids(parts), ["a", "b"])

    def test_what_is_neither_a_file_nor_a_record_is_refused(self):
        for given, words in (
            ((["nowhere.jsonl", str(self.paths[0])],), "'nowhere.jsonl' is neither a file nor a record"),
            ((["Answer: 3"],), "'Answer: 3' is neither a file nor a record"),
            ((iter(["Answer: 3"]),), "neither a file nor a record"),
            (([self.paths[0], WRONG],), "not both in one"),
            ((None,), "not None"), ((5,), "not int"), ((b"{}",), "not bytes"), ((), "check takes paths"),
            ((self.paths[0], WRONG), "pass records as one list"), ((json.dumps(WRONG),), "in a list"),
        ):  # fmt: skip
            with self.subTest(given), self.assertRaisesRegex(TypeError, words):
                stepscope.check(*given)
        with self.assertRaisesRegex(stepscope.StepscopeError, r"\*\.nothing"):
            stepscope.check(self.folder / "*.nothing")
        for ask in (stepscope.to_frame, lambda given: stepscope.save(given, self.path), stepscope.stream):
            with self.assertRaises(TypeError):
                ask(["nowhere.jsonl"])

    def test_a_broken_line_among_records_is_a_finding(self):
        found = stepscope.check([json.dumps(WRONG), "no JSON", "", "// a comment"])
        self.assertEqual([one["kind"] for one in found][:2], ["procedural", "broken"])
        with self.paths[0].open() as file:
            self.assertEqual(self.ids(file), ["a"])

    def test_options_are_told_before_anything_is_read(self):
        for options, kind, words in (
            ({"fields": "sha256"}, TypeError, r"fields=\['sha256'\]"), ({"jobs": -1}, ValueError, "at least 1"),
            ({"jobs": "2"}, ValueError, "at least 1"), ({"schema": 5}, TypeError, "a dict or a class"),
            ({"columns": "a=b"}, TypeError, "a dict"), ({"filtr": "x"}, TypeError, "filtr"),
        ):  # fmt: skip
            for ask in (stepscope.check, stepscope.stream):
                with self.subTest(options), self.assertRaisesRegex(kind, words):
                    ask(self.paths[0], **options)
            with self.assertRaises(kind):
                stepscope.save(self.paths[0], self.path, **options) if "filtr" not in options else stepscope.check(WRONG, **options)

    def test_a_schema_may_be_a_dict_a_class_or_a_file(self):
        class Answer:
            @classmethod
            def model_json_schema(cls):
                return schema

        schema = {"type": "object", "properties": {"team": {"type": "string"}}, "required": ["team"]}
        file = self.folder / "schema.json"
        file.write_text(json.dumps(schema))
        for given in (schema, Answer, file, str(file)):
            right, wrong = stepscope.check([{"team": "a"}, {"team": 5}], schema=given)
            self.assertEqual((right["findings"], [finding["rule"] for finding in wrong["findings"]]), ([], ["answer/schema"]))
        run = {**WRONG, "procedure": None, "mode": "baseline", "state": {"team": 5}}
        (found,) = stepscope.check(run, answer_schema=schema)
        self.assertIn("answer/schema", [finding["rule"] for finding in found["findings"]])
        if support.has("pydantic"):
            import pydantic

            made = pydantic.create_model("Made", team=(str, ...))
            self.assertEqual(len(stepscope.check({"team": 5}, schema=made)[0]["findings"]), 1)

    @unittest.skipUnless(support.has("pyarrow"), "pyarrow is not installed")
    def test_batches_take_the_same_and_arrays_with_whatever_is_in_them(self):
        import pyarrow

        def ids(*given):
            return [identity for batch in stepscope.batches(*given) for identity in batch.column("id").to_pylist()]

        self.assertEqual(ids(*self.paths), ["a", "b"])
        self.assertEqual(ids(self.paths), ["a", "b"])
        for given in ([pyarrow.array(["no JSON", json.dumps(WRONG)])], iter(["no JSON", json.dumps(WRONG)])):
            self.assertEqual(ids(given), [None, "w1"])
        with self.assertRaisesRegex(TypeError, "not None"):
            stepscope.batches(None)

    def test_records_can_be_chosen(self):
        self.assertEqual(self.ids(self.folder, filter="id:a"), ["a"])


class Rewards(InFolder):
    def scored(self, *given, **options):
        return [one["reward"] for one in stepscope.rewards(*given, **options)]

    def test_texts_are_completions(self):
        options = {"verifier": "regex_format", "pattern": r"Answer: \d+"}
        self.assertEqual(self.scored(["Answer: 5", "five"], **options), [1.0, 0.0])
        messages = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": "Answer: 5"}]]
        self.assertEqual(self.scored(messages, **options), [1.0])
        self.path.write_text('{"completion": "Answer: 5"}\n')
        self.assertEqual(self.scored(self.path, **options), [1.0])
        self.assertEqual(self.scored([self.path], **options), [1.0])
        self.assertEqual(self.scored([str(self.path)], **options), [1.0])
        with self.assertRaisesRegex(TypeError, "not both"):
            stepscope.rewards(["Answer: 5", {"completion": "five"}], **options)

    def test_schemas_and_references_may_be_values(self):
        schema = {"type": "object", "required": ["answer"]}
        texts = ['{"answer": 1}', '{"other": 1}', "no"]
        self.assertEqual(self.scored(texts, verifier="json_schema", schema=schema), [1.0, 0.5, 0.0])
        self.assertEqual(self.scored(texts, verifier="json_schema", schema=schema, partial_credit=False), [1.0, 0.0, 0.0])
        same = "the cat is on the mat today"
        self.assertEqual(self.scored([same], verifier="bleu", references=[same, "another one"]), [1.0])
        self.assertEqual(self.scored([same], verifier="bleu", reference=same), [1.0])

    def test_where_nothing_can_be_scored_it_is_an_error(self):
        with self.assertRaisesRegex(stepscope.StepscopeError, "no completion could be scored"):
            stepscope.rewards([{"no": 1}, {"no": 2}], verifier="json_structure")
        with self.assertRaises(TypeError):
            stepscope.rewards(["x"], verifer="json_structure")


class OfResults(InFolder):
    def setUp(self):
        super().setUp()
        right = {**WRONG, "id": "r1", "state": {**WRONG["state"], **support.VALUES}, "pred_num": 5, "correct": True}
        self.path.write_text("".join(json.dumps(one) + "\n" for one in (WRONG, right)))
        self.found = stepscope.check(self.path)

    def test_slices_and_what_is_filtered_are_results(self):
        for some in (self.found[:1], self.found.filter(lambda one: one["id"] == "w1"), (self.found + [])[:1], self.found.copy()[:1]):
            self.assertIsInstance(some, stepscope.CheckedRecords)
            self.assertEqual(some[0]["id"], "w1")
        self.assertEqual(self.found[0]["id"], "w1")

    def test_a_list_of_results_is_not_checked_again(self):
        wrong = [one for one in self.found if one["triage"]["fix"] != "none"]
        stepscope.save(wrong, self.folder / "out.jsonl")
        self.assertEqual(support.lines(self.folder / "out.jsonl"), wrong)
        for ask in (stepscope.check, stepscope.stream, lambda given: stepscope.rewards(given, verifier="json_structure")):
            for given in (wrong, wrong[0], self.found, iter(wrong)):
                with self.assertRaisesRegex(TypeError, "what a check gave"):
                    ask(given)

    def test_results_go_to_other_processes(self):
        import pickle

        for found in (self.found, stepscope.check([WRONG])):
            there = pickle.loads(pickle.dumps(found))
            self.assertEqual((type(there), there), (stepscope.CheckedRecords, found))

    def test_some_fields_of_results_are_results_too(self):
        some = [dict(one) for one in stepscope.check(self.path, fields=["id", "triage.fix"])]
        with self.assertRaisesRegex(TypeError, "what a check gave"):
            stepscope.check(some)
        for library in self.frames():
            self.assertEqual(list(stepscope.to_frame(some, library)["fix"]), ["step_run", "none"])

    def test_the_record_of_a_result_is_shown(self):
        self.assertIn("r1", str(stepscope.show(self.found[1])))
        (one,) = stepscope.check([WRONG], with_record=True)
        self.assertIn("w1", str(stepscope.show(one)))
        (one,) = stepscope.check([WRONG])
        with self.assertRaisesRegex(stepscope.StepscopeError, "with_record=True"):
            stepscope.show(one)

    def test_it_is_printed_in_few_words(self):
        many = stepscope.check([{**WRONG, "id": "x" * 1000, "n": n} for n in range(300)], with_record=True)
        self.assertLess(len(repr(many)), 3000)
        self.assertIn("300 records: 300 wrong; to fix: model output 300", repr(many))
        self.assertIn("and 290 more", repr(many))
        self.assertEqual(repr(stepscope.check([])), "<CheckedRecords: 0 records>")
        self.assertEqual(list(many), many, "it is a list in everything else")

    def frames(self):
        for library in ("pandas", "polars"):
            if support.has(library):
                with self.subTest(library):
                    yield library

    def test_a_table_has_the_same_columns_and_types_whatever_is_in_it(self):
        given = (self.found, self.found[1:], self.found[:0], [], stepscope.check([{"a": 1}]), self.path, [procedure()])
        for library in self.frames():
            kinds = [{name: str(kind) for name, kind in zip(frame.columns, frame.dtypes)} for frame in (stepscope.to_frame(each, library) for each in given)]
            self.assertEqual(kinds, [kinds[0]] * len(kinds))
            self.assertEqual((kinds[0]["step"], kinds[0]["ms"]), ("Int64", "Float64"))
            for column in ("correct", "answer", "expected", "confidence", "triage_confidence", "model", "tokens", "ms"):
                self.assertIn(column, kinds[0])
        if support.has("polars"):
            import polars

            frames = [stepscope.to_frame(each, "polars") for each in given]
            self.assertEqual(len(polars.concat(frames)), sum(map(len, frames)))

    def test_a_table_says_what_records_say_of_answers(self):
        lists = [one for one in self.found]
        (with_record, _) = stepscope.check(self.path, with_record=True)
        for library in self.frames():
            for given, count in ((self.found, 2), (self.found[:1], 1), (lists, 2), (self.path, 2), ([WRONG], 1), (stepscope.check([WRONG]), 1), ([with_record], 1)):
                frame = stepscope.to_frame(given, library)
                row = {name: list(frame[name])[0] for name in frame.columns}
                self.assertEqual(len(frame), count)
                self.assertEqual((row["correct"], row["answer"], row["expected"], row["confidence"]), (False, "6", "5", 0.9))
                self.assertEqual((row["fix"], row["step"], row["recovered"]), ("step_run", 2, 5.0))
            self.assertEqual(list(stepscope.to_frame(self.found, library)["correct"]), [False, True])

    def test_a_table_says_what_calls_cost(self):
        usage = {"prompt_tokens": 7, "completion_tokens": 2}
        call = {"step_index": 0, "usage": usage, "duration_ms": 1.5, "model": "m"}
        run = {**WRONG, "trace": {"format": "stepscope.run_trace", "version": 1, "steps": [call, {**call, "step_index": 1}]}}
        alone = {"id": 1, "prompt": "?", "response": "x", "usage": usage, "duration_ms": 3, "model": "n"}
        for library in self.frames():
            frame = stepscope.to_frame([run, alone], library)
            self.assertEqual([list(frame[name]) for name in ("tokens", "ms", "model")], [[18, 9], [3.0, 3.0], ["m", "n"]])


class TheNames(unittest.TestCase):
    def test_a_star_import_keeps_the_builtins(self):
        import builtins

        names: dict[str, object] = {}
        exec("from stepscope import *", names)
        self.assertEqual([name for name in stepscope.__all__ if hasattr(builtins, name)], [])
        self.assertIs(names["__builtins__"]["open"] if isinstance(names["__builtins__"], dict) else open, open)
        self.assertTrue(callable(stepscope.open))

    @unittest.skipUnless(support.has("mypy"), "mypy is not installed")
    def test_a_wrong_call_is_found_before_it_runs(self):
        from mypy import api

        right = """
            @stepscope.record("x.jsonl")
            def ask(prompt: str) -> str:
                return prompt
            answer: str = ask("a")
            other: str = stepscope.record(ask, "x.jsonl")("a")
            with stepscope.record("x.jsonl", question="?") as run, run.step("a", reads={"a": 1}) as step:
                step.writes(b=2)
            stepscope.check("a", "b", filter="x", jobs=2)[1:].to_frame()
            stepscope.rewards(["a"], verifier="json_schema", schema={"type": "object"})
            stepscope.save("a", "b", with_record=True)
            code: int = stepscope.open("a")
        """
        wrong = """
            ask(5)
            number: int = ask("a")
            stepscope.check("a", filtr=1)
            stepscope.check("a", jobs="x")
            stepscope.rewards(["a"], verifer="x")
            stepscope.save("a", "b", feilds=[])
            stepscope.record("x.jsonl", question=5)
            stepscope.start("x.jsonl").step(None)
            stepscope.check("a").to_frame("excel")
            stepscope.check(None)
        """
        lines = [line[12:] for line in ("import stepscope\n" + right + wrong).splitlines()]
        lines[0] = "import stepscope"
        with unittest.mock.patch.dict(os.environ, MYPYPATH=str(support.ROOT / "python")):
            told, _, _ = api.run(["--strict", "--no-incremental", "--cache-dir", os.devnull, "-c", "\n".join(lines)])
        found = sorted(int(line.split(":")[1]) for line in told.splitlines() if line.startswith("<string>:") and ": error:" in line)
        first = lines.index("ask(5)") + 1
        self.assertEqual(sorted(set(found)), list(range(first, first + 10)), told)


class TheProgram(InFolder):
    def test_the_module_is_the_program(self):
        environment = {**os.environ}
        if not os.environ.get("STEPSCOPE_INSTALLED"):
            environment["PYTHONPATH"] = str(support.ROOT / "python")
        command = [sys.executable, "-m", "stepscope"]
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, env=environment, check=True)
        self.assertRegex(done.stdout, r"^stepscope \d+\.\d+\.\d+\n$")
        done = subprocess.run([*command, "check", "-"], input=b"{}[", capture_output=True, env=environment)
        self.assertNotEqual(done.returncode, 0)

    @unittest.skipUnless(os.environ.get("STEPSCOPE_INSTALLED"), "not installed from a wheel")
    def test_the_wheel_is_whole(self):
        import sysconfig
        from importlib import metadata, resources

        self.assertEqual(os.path.dirname(stepscope.program()), sysconfig.get_path("scripts"))
        self.assertTrue(resources.files("stepscope").joinpath("py.typed").is_file())
        self.assertEqual(metadata.version("stepscope"), stepscope.__version__)
        self.assertEqual([need for need in metadata.requires("stepscope") or [] if "extra" not in need], [])


if __name__ == "__main__":
    unittest.main()
