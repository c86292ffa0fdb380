"""The fixture `stepscope_run`, in a run of pytest by itself."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT

HAS_PYTEST = importlib.util.find_spec("pytest") is not None
TESTS = '''
def test_right(stepscope_run):
    with stepscope_run(question="2 apples and 3?", gold_answer="5") as run:
        run.state = {"final_answer": "5"}

def test_wrong(stepscope_run):
    with stepscope_run(question="2 apples and 3?", gold_answer="5", id="a1") as run:
        ask = run.wrap(lambda prompt: "6, says key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789")
        run.state = {"final_answer": ask("2 apples and 3?")[:1]}

def test_found(stepscope_run):
    with stepscope_run(question="2 apples and 3?", procedure={"steps": 7}) as run:
        run.state = {"final_answer": "5"}

def test_passed_over(stepscope_run):
    with stepscope_run(question="2 apples and 3?", gold_answer="5", answer_is_judged=False) as run:
        run.state = {"final_answer": "6"}
    with stepscope_run(question="2 apples and 3?", procedure={"steps": 7}, fails_on="never") as run:
        run.state = {"final_answer": "5"}

def test_no_answer_is_expected(stepscope_run):
    with stepscope_run(question="2 apples and 3?") as run:
        run.state = {"final_answer": "6"}

def test_own_assertion(stepscope_run):
    with stepscope_run(question="2 apples and 3?") as run:
        run.state = {"final_answer": "6"}
    assert run.state["final_answer"] == "5"

def test_error_of_the_block(stepscope_run):
    with stepscope_run(question="2 apples and 3?"):
        raise ZeroDivisionError

def test_unused(stepscope_run):
    assert stepscope_run(fails_on="note")

def test_word(stepscope_run):
    stepscope_run(fails_on="error")
'''


@unittest.skipUnless(HAS_PYTEST, "pytest is not installed")
class Fixture(unittest.TestCase):
    said = ""
    pages: dict[str, str] = {}

    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "test_model.py").write_text(TESTS)
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--stepscope-pages=pages"]
            environment = dict(os.environ)
            if not os.environ.get("STEPSCOPE_INSTALLED"):
                command += ["-p", "stepscope.pytest_plugin"]
                environment["PYTHONPATH"] = str(ROOT / "python")
                # One that is installed too would name the option twice.
                environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            cls.said = done.stdout + done.stderr
            cls.pages = {each.name: each.read_text("utf-8") for each in (Path(folder) / "pages").glob("*")}

    def test_what_fails_and_what_passes(self) -> None:
        failed = set(re.findall(r"^FAILED test_model\.py::(\w+)", self.said, re.M))
        names = {"test_wrong", "test_found", "test_own_assertion", "test_error_of_the_block", "test_word"}
        self.assertEqual(failed, names, self.said)
        self.assertIn("5 failed, 4 passed", self.said)

    def test_a_failure_says_what_was_found(self) -> None:
        self.assertIn("the expected answer is 5; where to fix: unknown", self.said)
        self.assertIn("The answer is 6, expected 5", self.said)
        self.assertRegex(self.said, r"fatal\[procedure/\w+\] ")
        self.assertIn("fails_on is one of fatal, repairable, warning, note and never, not 'error'", self.said)

    def test_a_failure_has_its_page(self) -> None:
        expected = {"wrong", "found", "own_assertion", "error_of_the_block"}
        self.assertEqual(set(self.pages), {f"test_model.py-test_{name}-1.html" for name in expected}, self.said)
        self.assertEqual(len(re.findall(r"^page: .*\.html$", self.said, re.M)), len(expected))
        page = self.pages["test_model.py-test_wrong-1.html"]
        self.assertIn("2 apples and 3?", page)
        self.assertNotIn("sk-proj-abcdef", page)


if __name__ == "__main__":
    unittest.main()
