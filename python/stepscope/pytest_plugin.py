"""The fixture ``stepscope_run`` for tests of what calls a model: pytest finds it by itself.

>>> def test_apples(stepscope_run):
...     with stepscope_run(question="2 apples and 3?", gold_answer="5") as run:
...         run.state = {"final_answer": ask("2 apples and 3?")}

What happens in the block is recorded as ``record`` does it. When the block ends the run is checked: a finding, or an answer
that is not the expected one, fails the test with the finding, and the page of the run is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ._check import check
from ._program import StepscopeError
from ._record import record
from ._report import show
from ._run import Run

_SEVERITIES = ("fatal", "repairable", "warning", "note")


class RunFailed(AssertionError):
    """A run has findings, or a wrong answer."""


class RunChecks:
    """The runs of one test: call it with what ``record`` takes, as a context manager."""

    def __init__(self, name: str, records: Path, pages: Path) -> None:
        self._name, self._records, self._pages = name, records, pages
        self._runs: list[Run] = []

    def __call__(
        self, *, fails_on: str = "warning", answer_is_judged: bool = True, **fields: Any
    ) -> AbstractContextManager[Run]:
        """Record a run and check it. ``fails_on`` is the least severity that fails the test (``never``: none does),
        ``answer_is_judged=False`` passes over a wrong answer without a finding; the fields are those of ``record``."""
        if fails_on not in (*_SEVERITIES, "never"):
            raise ValueError(f"fails_on is one of {', '.join(_SEVERITIES)} and never, not {fails_on!r}")
        return self._recorded(fails_on, answer_is_judged, fields)

    @contextmanager
    def _recorded(self, fails_on: str, answer_is_judged: bool, fields: Mapping[str, Any]) -> Iterator[Run]:
        __tracebackhide__ = True
        with record(self._records, **fields) as run:
            self._runs.append(run)
            yield run
        found = _found(self._records, run)
        expected = run.gold_answer if run.gold_answer is not None else run.gold_num
        reasons = _reasons(found, fails_on, expected if answer_is_judged else None)
        if reasons:
            raise RunFailed("\n".join([f"the run {found.get('id')} has findings:", *reasons]))

    def page(self, run: Run) -> Path | None:
        """The page of a run, written; ``None`` where there is none to write."""
        try:
            page = show(self._records, id=run.id)._page("--redact", "all")
        except StepscopeError:
            return None
        self._pages.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", self._name).strip("-")
        number = self._runs.index(run) + 1
        path = self._pages / f"{name}-{number}.html"
        path.write_text(page, encoding="utf-8")
        return path

    def summary(self) -> str:
        """Where the runs and their pages are."""
        lines = [f"runs: {self._records}"]
        lines += [f"page: {path}" for path in map(self.page, self._runs) if path is not None]
        return "\n".join(lines)

    def __bool__(self) -> bool:
        return bool(self._runs)


def _found(records: Path, run: Run) -> Mapping[str, Any]:
    """What is found in a run: the last record with its id."""
    named = [each for each in check(records) if each["id"] == run.id]
    if not named:
        raise RunFailed(f"the run {run.id} was not recorded: what it asked is not in {records}")
    return named[-1]


def _reasons(found: Mapping[str, Any], fails_on: str, expected: str | float | None) -> list[str]:
    """Why a run fails, a line each: by its findings, and where an answer is expected, by that."""
    if fails_on == "never":
        return []
    grave = _SEVERITIES[: _SEVERITIES.index(fails_on) + 1]
    findings = [finding for finding in found["findings"] if finding["severity"] in grave]
    reasons = [
        f"  {each['severity']}[{each['rule']}] {each['message']} ({each['pointer'] or '/'})" for each in findings
    ]
    triage = found.get("triage")
    if triage and expected is not None and triage["fix"] != "none":
        place = f"{triage['fix']}, step {triage['step']}" if triage.get("step") else triage["fix"]
        reasons.append(f"  the expected answer is {expected}; where to fix: {place} ({triage['confidence']})")
        reasons += [f"    {each['text']}" for each in triage["why"]]
    return reasons


_CHECKS = pytest.StashKey[RunChecks]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("stepscope")
    group.addoption(
        "--stepscope-pages", metavar="DIR", help="folder for the pages of runs of failed tests [default: that of tmp_path]"
    )


@pytest.fixture
def stepscope_run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., AbstractContextManager[Run]]:
    """Record a run and check it when its block ends."""
    named = request.config.getoption("--stepscope-pages")
    pages = request.config.invocation_params.dir / named if named else tmp_path
    checks = RunChecks(request.node.nodeid, tmp_path / "runs.jsonl", pages)
    request.node.stash[_CHECKS] = checks
    return checks


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    checks = item.stash.get(_CHECKS, None)
    if report.when == "call" and report.failed and checks:
        report.sections.append(("stepscope", checks.summary()))
