"""Two runs of the same questions: ``stepscope compare``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._columns import Kind, Library, make_frame
from ._given import Path, Records, as_path
from ._html import SHEET, cell, escaped, shown, table, tag
from ._program import run

_MOST_DRAWN, _MOST_PRINTED = 50, 10
# What counts by default: as graded and reviewed, without items whose expected answer people dispute.
_BASIS = "gold_adjusted"
_CELLS = {
    "both": "both correct",
    "only_a": "A only",
    "only_b": "B only",
    "none": "both wrong",
    "missing": "undecided",
    "left_out": "disputed",
}
_COLUMNS: dict[str, Kind] = {
    "id": "text",
    "question": "text",
    "joined_by": "text",
    "cell": "text",
    "regression": "flag",
    "a_answer": "text",
    "b_answer": "text",
    "expected": "text",
    "a_correct": "flag",
    "b_correct": "flag",
    "a_line": "whole",
    "b_line": "whole",
}


class Comparison:
    """What ``compare`` found; a notebook draws the counts and the regressions."""

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        listed = list(lines)
        #: An object per item of both runs: ``id``, ``question``, ``joined_by``, ``cell`` (who is right, on each basis),
        #: ``regression``, and of each run under ``a`` and ``b`` its answer, place and grade.
        self.items = [each for each in listed if each.get("kind") == "item"]
        #: Records of both, how they were joined, and the counts, accuracies and McNemar's p on each basis.
        self.summary: Mapping[str, Any] = next((each for each in listed if each.get("kind") == "summary"), {})

    @property
    def regressions(self) -> list[Mapping[str, Any]]:
        """The items that are correct in the baseline and not in the run."""
        return [each for each in self.items if each.get("regression")]

    def to_frame(self, library: Library | None = None) -> Any:
        """A table with a row per item."""
        return make_frame(_COLUMNS, map(_row, self.items), library)

    def _head(self) -> list[str]:
        counts = self.summary.get(_BASIS, {})
        count = len(self.regressions)
        cells = [f"{name} {counts[key]:,}" for key, name in _CELLS.items() if counts.get(key)]
        accuracies = [_accuracy(name, counts.get(f"accuracy_{name.lower()}", {})) for name in "AB"]
        p = counts.get("mcnemar_p")
        return [
            f"{len(self.items):,} item{'' if len(self.items) == 1 else 's'}: {', '.join(cells)}",
            f"{count:,} regression{'' if count == 1 else 's'}: correct in B, not in A" if count else "no regression found",
            ", ".join(each for each in accuracies if each) + ("" if p is None else f"; McNemar's exact test p = {p:.2g}"),
        ]

    def __repr__(self) -> str:
        rows = [_row(each) for each in self.regressions]
        lines = [f"  {shown(row['question'] or row['id'], 60)}  A {_said(row, 'a')}, B {_said(row, 'b')}" for row in rows]
        more = [f"... and {len(rows) - _MOST_PRINTED:,} more"] if len(rows) > _MOST_PRINTED else []
        return "\n".join(["<Comparison>", *(each for each in self._head() if each), *lines[:_MOST_PRINTED], *more])

    def _repr_html_(self) -> str:
        rows = [_row(each) for each in self.regressions]
        cells = [
            [
                cell(row["question"], most=160),
                cell(_said(row, "a"), "bad value"),
                cell(_said(row, "b"), "good value"),
                cell(row["expected"], "value", 60),
                cell(_lines(row), "short dim"),
            ]
            for row in rows[:_MOST_DRAWN]
        ]
        first, *others = self._head()
        parts = [tag("p", escaped(first), "says"), *(tag("p", escaped(each)) for each in others if each)]
        parts += [table(["question", "A", "B", "expected", "record"], cells)] if cells else []
        parts += [tag("p", f"and {len(rows) - _MOST_DRAWN:,} more", "dim")] if len(rows) > _MOST_DRAWN else []
        return SHEET + tag("div", "".join(parts), "stepscope")


def _accuracy(name: str, share: Mapping[str, Any]) -> str:
    if "share" not in share:
        return ""
    return f"{name} {share['share']:.1%} of {share['of']:,} ({share['low']:.1%} to {share['high']:.1%})"


def _said(row: Mapping[str, Any], run: str) -> str:
    answer = row[f"{run}_answer"]
    return "no answer" if answer is None else shown(answer, 60)


def _lines(row: Mapping[str, Any]) -> str:
    """The places of an item, shorter than its id mostly is."""
    return ", ".join(f"{name.upper()} line {row[f'{name}_line']}" for name in "ab" if row[f"{name}_line"] is not None)


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: item.get(name) for name in ("question", "joined_by", "regression")}
    row["id"] = None if item.get("id") is None else str(item["id"])
    row["cell"] = item.get("cell", {}).get(_BASIS)
    for name in ("a", "b"):
        side = item.get(name, {})
        row[f"{name}_answer"] = _text(side.get("answer"))
        row[f"{name}_correct"], row[f"{name}_line"] = side.get(_BASIS), side.get("line")
        row["expected"] = _text(side.get("gold")) if row.get("expected") is None else row["expected"]
    return row


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def compare(a: Records, b: Records, *, reviews: Path | None = None, filter: str | None = None) -> Comparison:
    """Compare a run with its baseline ``b``: who is right where, joined by id, else by question.

    Both are a file, a folder, or records as in ``check``. ``reviews`` is the review log of both; without it, what lies
    beside each counts. ``filter`` chooses items.

    >>> compare("new.jsonl", "old.jsonl").regressions
    """
    flags = [] if reviews is None else [f"--reviews={os.fspath(reviews)}"]
    flags += [] if filter is None else [f"--filter={filter}"]
    with as_path(a, "compare") as one, as_path(b, "compare") as other:
        printed = run(["compare", "--format", "jsonl", *flags, "--", one, other])
    return Comparison(json.loads(line) for line in printed.splitlines())
