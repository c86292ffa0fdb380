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
        with self.assertWarnsRegex(RuntimeWarning, "missing.txt: no such file"):
            found = stepscope.check(self.path)
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
            frame = report._repr_html_()
            self.assertTrue(frame.startswith("<iframe srcdoc=") and frame.count("<") == 2, frame[:200])
            self.assertNotIn("allow-", frame, "the page runs nothing")
            self.assertTrue(report.html.lower().startswith("<!doctype html>"))
            self.assertNotIn("<script>alert", report.html)
            self.assertNotIn("\x1b", report.html + str(report))
        self.assertIn("w1", str(stepscope.show(self.path, id="w1")))
        with self.assertRaises(stepscope.StepscopeError):
            str(stepscope.show(self.path, line=9))

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
        self.assertIn("<td>step_run</td>", found._repr_html_())
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
