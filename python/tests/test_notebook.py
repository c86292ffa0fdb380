"""What notebooks draw, and the commands as functions with tables."""

from __future__ import annotations

import collections
import contextlib
import glob
import io
import itertools
import json
import os
import re
import unittest
import unittest.mock
from html.parser import HTMLParser

import support
from support import ROOT, InFolder, procedure
from test_check import UNUSED, WRONG

import stepscope
from stepscope import _overview, _progress

RUNS = ROOT / "sample_runs/word_problems.jsonl"
BASELINE = ROOT / "sample_runs/baseline.jsonl"
HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e"
RIGHT = {**WRONG, "id": "r1", "state": {**WRONG["state"], **support.VALUES}, "pred_num": 5, "correct": True}
FAILED = {"id": "f1", "question": support.QUESTION, "status": "error", "error_type": "RuntimeError", "error": "boom", "mode": "procedural", "procedure": None}
MAP = 'name = "rows of mine"\nmatch = ["$.ask"]\n[record]\nid = "$.key"\nquestion = "$.ask"\npred_answer = "$.said"\ngold_answer = "$.truth"\nmode = "baseline"\nstatus = "ok"\n'


class _Tables(HTMLParser):
    """The rows of all tables, as texts of their cells; an element that is not closed, or is not known here, is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        assert tag in "style div p table thead tbody tr th td span ol li details summary iframe".split(), tag
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


def rows(drawn):
    return _Tables(drawn._repr_html_()).rows


class Cards(InFolder):
    def test_a_card_has_verdict_steps_with_the_wrong_value_and_findings(self):
        html = stepscope.show(WRONG)._repr_html_()
        card = html.split("<details>")[0]
        self.assertRegex(card, r'class="stepscope card bad"')
        self.assertRegex(card, r"✗ Wrong: answered 6, expected 5")
        self.assertIn("Fix: model output, step 2", card)
        drawn = _Tables(html).rows
        steps = {row[0]: row for row in drawn if row[0] in ("1", "2", "3")}
        self.assertEqual(steps["2"][1:], ["✗ step to fix", "Add had and bought.", "total = 6 ✗ should be 5"])
        self.assertEqual(steps["1"][3], "had = 2, bought = 3")
        marked = re.findall(r'<td class="mark">(.*?)</td>', card)
        self.assertEqual(len(marked), 2, "the sum, and the answer that it became")
        self.assertIn(["▲ warning", "Step 2 should calculate 2 + 3 = 5 but wrote 6.", "run/recompute"], drawn)
        right = stepscope.show(RIGHT)._repr_html_()
        self.assertIn('class="stepscope card good"', right)
        self.assertNotIn('class="mark"', right)

    def test_an_answer_has_its_parts(self):
        html = stepscope.show(ROOT / "sample_runs/policy.jsonl")._repr_html_()
        drawn = _Tables(html).rows
        self.assertIn(["answer", "", ""], drawn)
        self.assertTrue([row for row in drawn if "grounded" in row[1]])

    def test_it_is_bounded_whatever_the_record_holds(self):
        steps = [support.step(n + 1, ["problem_text"], f"Do {HOSTILE} {n} " + "long " * 200, [f"v{n}"]) for n in range(200)]
        many = {**WRONG, "question": HOSTILE + " long" * 10_000, "procedure": {**procedure(), "steps": steps}}
        many["state"] = {f"v{n}": HOSTILE + "x" * 5000 for n in range(200)}
        html = stepscope.show(many)._repr_html_()
        card, page = html.split("<details>")
        self.assertLess(len(card), 60_000)
        self.assertIn("Step 200", card.replace('<td class="number">200</td>', "Step 200"), "the one to fix")
        self.assertIn("and 176 more steps (1 to 176), not shown here", card)
        self.assertNotIn("<script", html)
        for each in ("\x1b", "\u202e"):
            self.assertNotIn(each, html)
        _Tables(html)

    def test_colours_go_with_the_notebook(self):
        sheet = stepscope.show(WRONG)._repr_html_().split("</style>")[0]
        light, dark = (dict(re.findall(r"--(\w+):(#\w+)", part)) for part in re.findall(r"\{(--bad[^}]*)\}", sheet))
        self.assertEqual(light.keys(), dark.keys())
        for scheme, ground in ((light, "#ffffff"), (dark, "#1e1e1e")):
            for name, colour in scheme.items():
                self.assertGreater(contrast(colour, ground), 4.5, (name, ground))
        self.assertIn("body[data-jp-theme-light=false] .stepscope", sheet)
        self.assertNotIn("prefers-color-scheme", sheet, "the notebook says what it is, not the system")


def contrast(one, other):
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour):
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722)))

    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Overviews(InFolder):
    def test_counts_are_those_of_the_program(self):
        words = {"right": "correct"}
        files = [path for place in ("sample_runs", "tests/fixtures") for path in sorted(glob.glob(f"{ROOT}/{place}/*.jsonl"))]
        self.assertGreater(len(files), 5)
        for path in files:
            with self.subTest(os.path.basename(path)), contextlib.suppress(stepscope.StepscopeError):
                counted = collections.Counter(map(_overview.outcome, stepscope.check(path)._drawn_rows()))
                bars = [each for each in stepscope.summary(path).charts if each["chart"] == "Outcome"]
                self.assertEqual(
                    {words.get(name, name): count for name, count in counted.items()},
                    {each["name"]: each["count"] for each in bars},
                )

    def test_what_needs_a_look_comes_first_with_question_and_answer(self):
        found = stepscope.check([procedure(), UNUSED, RIGHT, FAILED, WRONG])
        self.assertIn("5 records: 1 right, 1 wrong, 1 failed, 2 not graded; to fix: ", found._repr_html_())
        _, *drawn = rows(found)
        self.assertEqual(
            drawn[0], ["✗ wrong", support.QUESTION, "6", "5", "model output, step 2", "run/recompute", "record 4"]
        )
        self.assertEqual([row[-1] for row in drawn], ["record 4", "record 3", "record 1", "record 0", "record 2"])
        self.assertIn("Ann has 2 apples and buys 3. How many apples ha…  6, expected 5  model output, step 2", repr(found))

    def test_a_number_that_is_not_the_answer_is_told(self):
        state = {**WRONG["state"], "final_answer": "5"}
        found = stepscope.check([{**WRONG, "state": state, "pred_answer": "5"}])
        self.assertEqual(rows(found)[1][2], "5 (number 6)")

    def test_texts_of_records_are_shown_as_texts(self):
        found = stepscope.check([{**WRONG, "id": HOSTILE, "question": HOSTILE, "state": {**WRONG["state"], "final_answer": HOSTILE}}])
        for text in (repr(found), found._repr_html_()):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\u202e", text)
            self.assertNotIn("<script", text.replace(repr(found), ""))
        self.assertIn("␛[2J⟨U+202E⟩", rows(found)[1][1])

    def test_records_are_looked_at_once_and_what_is_gone_is_left_out(self):
        self.path.write_text("".join(json.dumps(each) + "\n" for each in (WRONG, RIGHT)))
        found = stepscope.check(self.path)
        self.assertEqual(rows(found)[1][1], support.QUESTION)
        self.path.unlink()
        self.assertEqual(rows(found[:1])[1][-1], "runs.jsonl:1", "of what was looked up already")
        self.assertEqual(rows(found)[1][1], support.QUESTION)
        again = stepscope.CheckedRecords(found)
        self.assertEqual(rows(again)[1][:2], ["✗ wrong", ""])
        passing = stepscope.check(iter([WRONG]))
        self.assertEqual(rows(passing)[1][:2], ["✗ wrong", ""], "an iterator is read once")

    def test_answers_have_routes(self):
        found = stepscope.check(ROOT / "sample_runs/policy.jsonl")
        counts = collections.Counter(each["route"]["name"] for each in found)
        self.assertIn(f"; route: {', '.join(f'{name} {count}' for name, count in counts.most_common())}>", repr(found))
        self.assertEqual(rows(found)[1][4], "reject")

    def test_many_are_cut(self):
        many = stepscope.check([{**WRONG, "n": n} for n in range(80)])
        self.assertEqual(len(rows(many)), 1 + _overview.MOST_DRAWN)
        self.assertIn("and 30 more", many._repr_html_())


class Frames(InFolder):
    def setUp(self):
        super().setUp()
        if not (support.has("pandas") or support.has("polars")):
            self.skipTest("neither pandas nor polars is installed")

    def test_a_row_per_finding(self):
        found = stepscope.check(RUNS)
        frame = found.to_frame(per="finding")
        count = sum(len(each["findings"]) for each in found)
        self.assertEqual(len(frame), count)
        pairs = list(zip(frame["line"], frame["rule"]))
        self.assertEqual(pairs, [(each["line"], finding["rule"]) for each in found for finding in each["findings"]])
        at = [list(frame["rule"]).index("run/recompute")]
        pointer, step = (list(frame[name])[at[0]] for name in ("pointer", "step"))
        self.assertEqual(step, int(pointer.split("/")[3]) + 1)
        empty = stepscope.to_frame([], per="finding")
        self.assertEqual([str(kind) for kind in empty.dtypes], [str(kind) for kind in frame.dtypes])
        with self.assertRaisesRegex(ValueError, "per is"):
            found.to_frame(per="step")

    @unittest.skipUnless(support.has("pyarrow"), "pyarrow is not installed")
    def test_it_is_the_table_that_the_program_writes(self):
        import subprocess

        import pyarrow.parquet

        command = [stepscope.program(), "check", str(RUNS), "--format", "parquet", "--out", str(self.folder), "--fail-on", "never"]
        subprocess.run(command, check=True, capture_output=True)
        table = pyarrow.parquet.read_table(self.folder / "findings.parquet").to_pylist()
        frame = stepscope.check(RUNS).to_frame("polars" if support.has("polars") else "pandas", per="finding")
        records = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.astype(object).where(frame.notna(), None).to_dict("records")
        self.assertEqual([list(each) for each in records[:1]], [list(each) for each in table[:1]])

        def plain(row):
            return {name: json.loads(value) if name == "details" and value else value for name, value in row.items() if name != "id"}

        self.assertEqual([plain(each) for each in records], [plain(each) for each in table])

    def test_records_are_told_apart_from_options_of_results(self):
        found = stepscope.check([WRONG])
        with self.assertRaisesRegex(TypeError, "results already: filter"):
            stepscope.to_frame(found, filter="correct:false")
        with self.assertRaisesRegex(TypeError, "leave out fields"):
            stepscope.to_frame([WRONG], fields=["id"])
        self.assertEqual(list(stepscope.to_frame([WRONG, RIGHT], filter="correct:true")["id"]), ["r1"])
        self.assertEqual(list(stepscope.to_frame([WRONG])["question"]), [support.QUESTION])


class Commands(InFolder):
    def setUp(self):
        super().setUp()
        self.path.write_text("".join(json.dumps(each) + "\n" for each in (WRONG, RIGHT, FAILED)))

    def test_a_summary_counts(self):
        counted = stepscope.summary(self.path)
        self.assertEqual([(each["fix"], each["runs"]) for each in counted.fixes if each["fix"] == "step_run"], [("step_run", 1)])
        outcomes = {each["name"]: each["count"] for each in counted.charts if each["chart"] == "Outcome"}
        self.assertEqual(outcomes, {"correct": 1, "wrong": 1, "failed": 1})
        self.assertIn(["correct", "", "1", "correct:true"], rows(counted))
        self.assertRegex(repr(counted), r"Outcome\n  correct +1 +correct:true\n")
        if support.has("pandas") or support.has("polars"):
            frame = counted.to_frame()
            self.assertEqual(len(frame), len(counted.charts))
            self.assertIn("ece", frame.columns)
        self.assertEqual(stepscope.summary([WRONG], filter="correct:true").charts, [])
        self.assertEqual(stepscope.summary([])._repr_html_().count("<table"), 0)
        with self.assertRaisesRegex(TypeError, "leave out fields"):
            stepscope.summary(self.path, fields=["id"])

    def test_two_runs_are_compared(self):
        new, old = [{**WRONG, "id": "q1"}, RIGHT, {**RIGHT, "id": "x"}], [{**RIGHT, "id": "q1"}, RIGHT]
        compared = stepscope.compare(new, old)
        self.assertEqual([each["id"] for each in compared.regressions], ["q1"])
        self.assertEqual(compared.summary["gold_adjusted"]["only_b"], 1)
        self.assertIn("1 regression: correct in B, not in A", repr(compared))
        self.assertIn("Ann has 2 apples and buys 3. How many apples has she now?  A 6, B 5", repr(compared))
        self.assertIn([support.QUESTION, "6", "5", "5", "A line 1, B line 1"], rows(compared))
        if support.has("pandas") or support.has("polars"):
            frame = compared.to_frame()
            self.assertEqual(sorted(zip(frame["id"], frame["cell"])), [("q1", "only_b"), ("r1", "both"), ("x", "missing")])
        self.assertIn("no regression found", repr(stepscope.compare(self.path, self.path)))
        self.assertEqual(len(stepscope.compare(new, old, filter="correct:true").items), 2)
        other = self.folder / "other.jsonl"
        other.write_text("")
        with self.assertRaisesRegex(TypeError, "one file or folder"):
            stepscope.compare([self.path, other], self.path)
        with self.assertRaisesRegex(stepscope.StepscopeError, "no such file"):
            stepscope.compare(self.path, self.folder / "nowhere.jsonl")

    def test_verdicts_are_saved_and_listed(self):
        reviews = stepscope.review(self.path, reviewer="ada")
        self.assertEqual((list(reviews), rows(reviews)), ([], []))
        self.assertIn(reviews.next()["id"], ("f1", "w1"))
        reviews.add("w1", "fail", labels=["arithmetic_slip"], note=f"step 2 {HOSTILE}", first_bad_step=2).add("r1", "pass")
        self.assertEqual({each["id"]: each["outcome"] for each in reviews}, {"w1": "fail", "r1": "pass"})
        self.assertIn("fail  w1  arithmetic_slip", repr(reviews))
        self.assertNotIn("<script", reviews._repr_html_())
        log = self.folder / "runs.jsonl.reviews.jsonl"
        self.assertEqual([each["reviewer"]["id"] for each in support.lines(log) if each.get("kind") == "verdict"], ["ada", "ada"])
        if support.has("pandas") or support.has("polars"):
            self.assertEqual(sorted(reviews.to_frame()["outcome"]), ["fail", "pass"])
        reviews.add("f1", "defer").add("f1", "fail")
        self.assertIsNone(reviews.next(), "all are reviewed")
        with self.assertRaisesRegex(stepscope.StepscopeError, "unknown label"):
            reviews.add("w1", "fail", labels=["nonsense"])
        with self.assertRaisesRegex(TypeError, "labels is a list"):
            reviews.add("w1", "fail", labels="wrong_plan")
        with self.assertRaisesRegex(stepscope.StepscopeError, "nobody"):
            reviews.add("nobody", "pass")
        other = self.folder / "log.jsonl"
        stepscope.review(self.path, reviews=other).add("w1", "pass")
        self.assertTrue(other.exists())
        with self.assertRaises(stepscope.StepscopeError):
            stepscope.review(self.folder / "nowhere.jsonl")

    def test_a_step_is_run_again(self):
        made = stepscope.rerun(self.path, id="w1", exact=True)
        self.assertEqual(made.fork["state"]["total"], 5)
        self.assertIn("card good", made._repr_html_())
        (found,) = stepscope.check([WRONG], with_record=True)
        self.assertEqual(stepscope.rerun(found, exact=True).fork["state"]["total"], 5)
        forks = self.folder / "forks.jsonl"
        stepscope.rerun(WRONG, exact=True, out=forks)
        self.assertEqual(support.lines(forks)[0]["state"]["total"], 5)
        with self.assertRaisesRegex(TypeError, "nothing is sent unless"):
            stepscope.rerun(self.path, step=2)
        with self.assertRaisesRegex(stepscope.StepscopeError, "this record has 3"):
            stepscope.rerun(self.path, step=9, model="m", url="http://127.0.0.1:9")
        with self.assertRaises(stepscope.StepscopeError) as failed:
            stepscope.rerun(self.path, step=2, set={"had": 4}, model="m", backend="openai", url="http://127.0.0.1:9")
        self.assertEqual(failed.exception.code, 3)

    def test_samples_of_a_server_are_a_table(self):
        replies = itertools.cycle(['{"total": 5}', '{"total": 7}'])
        with support.chat_server(lambda: next(replies)) as url:
            made = stepscope.rerun(WRONG, step=2, samples=4, at_once=1, model="m", backend="openai", url=url)
        self.assertEqual([each["outputs"]["total"] for each in made.samples], [5, 7, 5, 7])
        self.assertEqual(made.fork["id"].split("~")[0], "w1")
        (counted,) = made.distributions
        self.assertEqual([bucket["value"] for bucket in counted["fields"][0]["values"]], [5, 7])
        if support.has("pandas") or support.has("polars"):
            frame = made.to_frame()
            self.assertEqual((list(frame["sample"]), set(frame["step"])), ([0, 1, 2, 3], {2}))

    def test_rows_of_another_program_are_read_by_a_map_everywhere(self):
        made = self.folder / "mine.toml"
        made.write_text(MAP)
        self.path.write_text(json.dumps({"key": "k1", "ask": support.QUESTION, "said": "6", "truth": "#### 5"}) + "\n")
        (found,) = results = stepscope.check(self.path, map=made)
        self.assertEqual((found["id"], found["correct"]), ("k1", False))
        self.assertEqual(rows(results)[1][:4], ["✗ wrong", support.QUESTION, "6", "#### 5"[5:]])
        self.assertEqual([each["id"] for each in stepscope.stream(self.path, map=made)], ["k1"])
        self.assertIn(support.QUESTION, str(stepscope.show(self.path, map=made)))
        self.assertEqual(stepscope.summary(self.path, map=made).charts[0]["name"], "wrong")
        stepscope.save(self.path, self.folder / "out.jsonl", map=made)
        self.assertEqual(support.lines(self.folder / "out.jsonl")[0]["id"], "k1")
        if support.has("pandas") or support.has("polars"):
            self.assertEqual(list(stepscope.to_frame(self.path, map=made)["answer"]), ["6"])
        with self.assertRaisesRegex(stepscope.StepscopeError, "nowhere.toml"):
            stepscope.check(self.path, map=self.folder / "nowhere.toml")


class RecordedRuns(InFolder):
    def record(self):
        with stepscope.record(self.path, question=support.QUESTION, gold_answer="5") as run:
            run.state = {"final_answer": run.wrap(lambda prompt: "6")(support.QUESTION)}
        return run

    def test_a_run_says_where_it_went_and_draws_itself(self):
        runs = [self.record() for _ in range(3)]
        self.assertEqual([run.line for run in runs], [1, 2, 3])
        self.assertRegex(repr(runs[2]), r"1 call, recorded to .*runs\.jsonl, line 3>$")
        html = runs[2]._repr_html_()
        self.assertIn("Wrong: answered 6, expected 5", html)
        self.assertRegex(html, r"recorded to \S*runs\.jsonl, line 3<")
        self.assertIn(runs[1].id, str(runs[1].show()))

    def test_one_that_is_open_or_gone_says_so(self):
        run = stepscope.start(self.path, question=HOSTILE)
        self.assertIsNone(run.line)
        self.assertIn("open, to be recorded to", run._repr_html_())
        self.assertNotIn("<script", run._repr_html_())
        with self.assertRaisesRegex(stepscope.StepscopeError, "open, to be recorded"):
            run.show()
        self.assertIs(run.end(state={"final_answer": "5"}), run)
        self.path.unlink()
        self.assertIn("not found in", repr(run))

    def test_without_the_program_a_run_is_a_line_of_text(self):
        run = self.record()
        with unittest.mock.patch.dict(os.environ, {"STEPSCOPE_PROGRAM": str(self.folder / "nothing")}):
            self.assertIn("line 1", run._repr_html_())

    def test_a_recorded_function_says_where_its_calls_go(self):
        self.assertIn(str(self.path), repr(stepscope.record(lambda prompt: "x", self.path)))


class Progress(unittest.TestCase):
    def watched(self, found, total=None, asked=True):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), unittest.mock.patch.object(_progress, "_FIRST", 0), unittest.mock.patch.object(_progress, "_BETWEEN", 0):
            result = list(_progress.watched(iter(found), total, asked))
        self.assertEqual(result, list(found))
        return said.getvalue()

    def test_it_counts_and_goes_away(self):
        said = self.watched(range(3), 1234)
        self.assertEqual([each.strip() for each in said.split("\r")[1:4]], [f"stepscope: {n} of 1,234 records checked" for n in (1, 2, 3)])
        self.assertRegex(said, r"\r +\r$")
        self.assertIn("\rstepscope: 2 records checked", self.watched(range(2)))

    def test_nobody_is_told_where_nobody_looks_or_nothing_takes_long(self):
        self.assertEqual(self.watched(range(3), asked=None), "")
        self.assertEqual(self.watched(range(3), asked=False), "")
        self.assertEqual(self.watched([]), "")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(len(stepscope.check([WRONG], progress=True)), 1)
        self.assertEqual(said.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
