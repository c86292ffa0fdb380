"""Verdicts of people: ``stepscope review`` from Python."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ._columns import Kind, Library, make_frame
from ._given import Path
from ._html import SHEET, cell, escaped, shown, table, tag
from ._lines import line
from ._program import StepscopeError, run

Verdict = Literal["pass", "fail", "defer", "skip"]
_MOST_DRAWN, _MOST_PRINTED = 50, 10
_MOODS = {"pass": "good", "fail": "bad"}
# The program ends with it where there is nothing left to do.
_ALL_REVIEWED = 1
_COLUMNS: dict[str, Kind] = {
    "id": "text",
    "row_index": "whole",
    "question": "text",
    "outcome": "text",
    "labels": "texts",
    "reviewers": "texts",
    "notes": "texts",
    "gold_disputed": "flag",
}


class Review:
    """The reviews of the records of a file: what was said is listed, what is added is on the disk when ``add`` returns."""

    def __init__(self, path: Path, reviews: Path | None, reviewer: str | None) -> None:
        self._place = [] if reviews is None else [f"--reviews={os.fspath(reviews)}"]
        self._reviewer = [] if reviewer is None else [f"--reviewer={reviewer}"]
        self._path = os.fspath(path)
        # A file that is not there is told here, not by the first verdict.
        self._listed()

    def add(
        self,
        id: str | int | None,
        verdict: Verdict,
        *,
        labels: Iterable[str] = (),
        note: str | None = None,
        row: int | None = None,
        sha256: str | None = None,
        **more: Any,
    ) -> Review:
        """Save a verdict on a record, bound to what the record holds now.

        >>> review("runs.jsonl").add("a1", "fail", labels=["wrong_value"], note="it read the wrong row")

        ``row`` is the ``row_index`` of a record without an id, ``sha256`` names one of several with the same id. ``more`` is
        what else a line of ``review add`` takes: ``first_bad_step``, ``variable``, ``fix_target``, ``correction``.
        """
        if isinstance(labels, str):
            raise TypeError(f"labels is a list: labels=[{labels!r}]")
        told: dict[str, Any] = {"id": id if id is None else str(id), "row_index": row, "sha256": sha256, "verdict": verdict}
        told.update(labels=list(labels) or None, note=note, **more)
        said = {name: value for name, value in told.items() if value is not None}
        run(["review", "add", *self._place, *self._reviewer, "--", self._path], stdin=line(said))
        return self

    def next(self) -> dict[str, Any] | None:
        """The record to review next, worst first: ``id``, place, and why. ``None``: all are reviewed."""
        try:
            printed = self._run(["next", "--format", "jsonl", *self._reviewer])
        except StepscopeError as error:
            if error.code == _ALL_REVIEWED:
                return None
            raise
        found: dict[str, Any] = json.loads(printed)
        return found

    def _run(self, words: list[str]) -> bytes:
        return run(["review", *words, *self._place, "--", self._path])

    def _listed(self) -> list[dict[str, Any]]:
        return [json.loads(each) for each in self._run(["list", "--format", "jsonl"]).splitlines()]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The items that somebody reviewed: ``id``, ``question``, ``outcome``, ``labels``, and each thing said."""
        return iter(self._listed())

    def to_frame(self, library: Library | None = None) -> Any:
        """A table with a row per reviewed item."""
        return make_frame(_COLUMNS, map(_row, self), library)

    def __repr__(self) -> str:
        rows = [_row(each) for each in self]
        lines = [
            f"  {row['outcome']}  {shown(row['id'] or row['row_index'], 40)}  {shown(', '.join(row['labels']), 80)}".rstrip()
            for row in rows[:_MOST_PRINTED]
        ]
        more = [f"... and {len(rows) - _MOST_PRINTED:,} more"] if len(rows) > _MOST_PRINTED else []
        return "\n".join([f"<Review of {self._path!r}: {len(rows):,} reviewed>", *lines, *more])

    def _repr_html_(self) -> str:
        rows = [_row(each) for each in self]
        cells = [
            [
                cell(row["outcome"], _MOODS.get(row["outcome"], "")),
                cell(row["question"], most=160),
                cell(", ".join(row["labels"]), most=120),
                cell("; ".join(row["notes"]), most=200),
                cell(", ".join(row["reviewers"]), most=60),
                cell(row["id"], "dim", 40),
            ]
            for row in rows[:_MOST_DRAWN]
        ]
        heads = ["", "question", "labels", "notes", "by", "id"]
        more = tag("p", f"and {len(rows) - _MOST_DRAWN:,} more", "dim") if len(rows) > _MOST_DRAWN else ""
        head = tag("p", escaped(f"{len(rows):,} reviewed"), "says")
        return SHEET + tag("div", head + (table(heads, cells) if cells else "") + more, "stepscope")


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: item.get(name) for name in ("row_index", "question", "outcome", "gold_disputed")}
    row["id"] = None if item.get("id") is None else str(item["id"])
    row["labels"] = [str(each) for each in item.get("labels") or []]
    events = item.get("events") or []
    row["reviewers"] = list(dict.fromkeys(str(each["reviewer"]) for each in events if "reviewer" in each))
    row["notes"] = [str(each["note"]) for each in events if each.get("note")]
    return row


def review(path: Path, *, reviews: Path | None = None, reviewer: str | None = None) -> Review:
    """The reviews of the records of a file. They are kept in ``reviews`` (``FILE.reviews.jsonl`` beside it); ``reviewer`` is
    who judges (``$STEPSCOPE_REVIEWER``, ``$USER``)."""
    return Review(path, reviews, reviewer)
