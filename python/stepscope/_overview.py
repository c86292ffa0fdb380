"""What a check found, as it is drawn and printed: counts, and the records that need a look first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._html import SHEET, cell, escaped, shown, table, tag
from ._lines import to_number

# Rows that a notebook draws, and that are printed.
MOST_DRAWN, MOST_PRINTED = 50, 10
_QUESTION, _ANSWER = 160, 60
# An outcome, its sign, and its colour.
_OUTCOMES = {"right": ("✓", "good"), "wrong": ("✗", "bad"), "failed": ("⊘", "bad"), "not graded": ("•", "")}
_FIXES = {
    "none": "nothing",
    "step_run": "model output",
    "procedure": "procedure",
    "gold": "expected answer",
    "unknown": "unknown",
}
_GRAVE = ("fatal", "repairable", "warning")
_FAILED = ("error", "broken")


def outcome(row: Mapping[str, Any]) -> str:
    """How a record came out."""
    if row["correct"] is not None:
        return "right" if row["correct"] else "wrong"
    return "failed" if row["kind"] in _FAILED else "not graded"


def head(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many there are, how they came out, where they are to be fixed, and the routes of answers."""
    words = f"{len(rows):,} record{'' if len(rows) == 1 else 's'}"
    outcomes = _listed(Counter(map(outcome, rows)), _OUTCOMES, "{count:,} {name}")
    fixes = Counter(_FIXES.get(row["fix"], row["fix"]) for row in rows if row["fix"] not in (None, "none"))
    routes = Counter(row["route"] for row in rows if row["route"] is not None)
    parts = [words + (f": {outcomes}" if outcomes else "")]
    for name, counts in (("to fix", fixes), ("route", routes)):
        if counts:
            parts.append(f"{name}: {_listed(counts, [each for each, _ in counts.most_common()], '{name} {count:,}')}")
    return "; ".join(parts)


def _listed(counts: Mapping[str, int], names: Iterable[str], form: str) -> str:
    return ", ".join(form.format(name=shown(name, 40), count=counts[name]) for name in names if counts.get(name))


def text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A few lines for a terminal."""
    first = _needing_a_look_first(rows)[:MOST_PRINTED]
    more = [f"... and {len(rows) - MOST_PRINTED:,} more"] if len(rows) > MOST_PRINTED else []
    return "\n".join([f"<CheckedRecords: {head(rows)}>", *map(_line, first), *more])


def _line(row: Mapping[str, Any]) -> str:
    sign, _ = _OUTCOMES[outcome(row)]
    said = [shown(each, 40) for each in (_answer(row, 24), row["expected"]) if each is not None]
    parts = [_where(row), shown(row["question"] or "", 48), ", expected ".join(said), _fix(row), _rules(row, 60)]
    return "  ".join([f"  {sign}", *(part for part in parts if part)])


def drawn(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table for a notebook."""
    first = _needing_a_look_first(rows)[:MOST_DRAWN]
    more = tag("p", f"and {len(rows) - MOST_DRAWN:,} more", "dim") if len(rows) > MOST_DRAWN else ""
    heads = ["", "question", "answer", "expected", "to fix", "findings", "record"]
    return SHEET + tag("div", tag("p", escaped(head(rows)), "says") + table(heads, map(_cells, first)) + more, "stepscope")


def _cells(row: Mapping[str, Any]) -> list[str]:
    name = outcome(row)
    sign, mood = _OUTCOMES[name]
    return [
        cell(f"{sign} {name}", f"short {mood}"),
        cell(row["question"], "wide", _QUESTION),
        cell(_answer(row, _ANSWER), "bad value" if name == "wrong" else "value"),
        cell(row["expected"], "value", _ANSWER),
        cell(_fix(row), "short"),
        cell(_rules(row, 200)),
        cell(_where(row), "short dim"),
    ]


def _answer(row: Mapping[str, Any], most: int) -> str | None:
    """The answer, and the number of it where that is another one."""
    answer, number = row["answer"], row["number"]
    if number is None or answer is None or to_number(answer) == number:
        return None if answer is None else shown(answer, most)
    return f"{shown(answer, most)} (number {number:g})"


def _fix(row: Mapping[str, Any]) -> str:
    if row["fix"] in (None, "none"):
        return shown(row["route"] or "", 40)
    words: str = _FIXES.get(row["fix"]) or shown(row["fix"], 40)
    return words if row["step"] is None else f"{words}, step {row['step']}"


def _rules(row: Mapping[str, Any], most: int) -> str:
    return shown(", ".join(row["rules"]), most)


def _where(row: Mapping[str, Any]) -> str:
    """The place of a record, shorter than its id mostly is."""
    source, line, index = row["source"], row["line"], row["index"]
    if isinstance(source, str) and source not in ("-", "<stdin>") and line is not None:
        return f"{shown(os.path.basename(source), 40)}:{line}"
    return f"record {index}" if index is not None else shown(row["id"] or "", 40)


def _needing_a_look_first(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    def rank(row: Mapping[str, Any]) -> tuple[int, int]:
        is_grave = any(row[severity] for severity in _GRAVE)
        group = 0 if outcome(row) in ("wrong", "failed") else 1 if is_grave else 2
        return group, int(group == 0 and row["triage_confidence"] != "sure")

    return sorted(rows, key=rank)
