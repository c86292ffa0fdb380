"""What a check gave, as a list and as a table."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, SupportsIndex, overload

from ._columns import Kind, Library, make_frame
from ._given import Given, Records, is_result

SEVERITIES = ("fatal", "repairable", "warning", "note")
# Rows that a table in a notebook has, and a list that is printed.
_MOST_DRAWN, _MOST_PRINTED = 200, 10
_COLUMNS: dict[str, Kind] = {
    "source": "text",
    "line": "whole",
    "index": "whole",
    "sha256": "text",
    "kind": "text",
    "id": "text",
    "fix": "text",
    "step": "whole",
    "triage_confidence": "text",
    "recovered": "number",
    "route": "text",
    "fatal": "whole",
    "repairable": "whole",
    "warning": "whole",
    "note": "whole",
    "rules": "texts",
    "correct": "flag",
    "answer": "text",
    "expected": "text",
    "confidence": "number",
    "model": "text",
    "tokens": "whole",
    "ms": "number",
}
_ANSWERS = ("pred_answer", "final_answer", "extracted_answer", "model_answer", "predicted_answer", "pred_num")
_EXPECTED = ("gold_answer", "expected_answer", "target", "gold_num", "gold")
_CONFIDENCES = ("confidence",)
_CALLS = ("model", "usage", "duration_ms")
# What is read of a record: the rest of it does not go through Python.
_FACTS = [
    *(f"record.{name}" for name in ("correct", *_ANSWERS, *_EXPECTED, *_CONFIDENCES, *_CALLS)),
    *(f"record.state.{name}" for name in ("final_answer", "final_answer_numerical", "confidence")),
    *(f"record.answer.{name}" for name in ("confidence", "answer_text")),
    *(f"record.trace.steps.{name}" for name in _CALLS),
]
_KEPT = ["source", "line", "index", "sha256", "kind", "id", "triage", "route", "findings.rule", "findings.severity"]


class _Origin(NamedTuple):
    """What results are of, to look into the records once more."""

    given: Given
    columns: Mapping[str, str] | None


class CheckedRecords(list[dict[str, Any]]):
    """What ``check`` found, an object per record. Slices and what ``filter`` keeps are such lists too."""

    _origin: _Origin | None = None

    def _alike(self, found: Iterable[dict[str, Any]]) -> CheckedRecords:
        new = CheckedRecords(found)
        new._origin = self._origin
        return new

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice, /) -> CheckedRecords: ...

    def __getitem__(self, at: Any, /) -> Any:
        found = super().__getitem__(at)
        return self._alike(found) if isinstance(at, slice) else found

    def __add__(self, others: Any, /) -> Any:
        new = CheckedRecords([*self, *others])
        # Of those of two checks each says itself where it is from.
        new._origin = self._origin if getattr(others, "_origin", None) is self._origin else None
        return new

    def __reduce__(self) -> Any:
        # Records that are not in files stay where they are.
        origin = self._origin if self._origin is not None and self._origin.given.feed is None else None
        return _restored, (list(self), origin)

    def copy(self) -> CheckedRecords:
        """The same once more."""
        return self._alike(self)

    def filter(self, keep: Callable[[dict[str, Any]], Any]) -> CheckedRecords:
        """Those for which ``keep`` holds.

        >>> check("runs.jsonl").filter(lambda found: found["triage"]).to_frame()
        """
        return self._alike(each for each in self if keep(each))

    def to_frame(self, library: Library | None = None) -> Any:
        """A table with a row per record; see ``to_frame``."""
        return to_frame(self, library)

    def __repr__(self) -> str:
        shown = [_line(each) for each in self[:_MOST_PRINTED]]
        more = [f"... and {len(self) - _MOST_PRINTED:,} more"] if len(self) > _MOST_PRINTED else []
        return "\n".join([f"<CheckedRecords: {_counted(self)}>", *shown, *more])

    def _repr_html_(self) -> str:
        rows = [row_of(each, None) for each in self[:_MOST_DRAWN]]
        names = ["id", "kind", "fix", "step", "triage_confidence", *SEVERITIES, "rules"]
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>"
            for row in rows
        )
        rest = f"<p>and {len(self) - _MOST_DRAWN:,} more</p>" if len(self) > _MOST_DRAWN else ""
        count = f"<p>{html.escape(_counted(self))}</p>"
        return f"{count}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _restored(found: list[dict[str, Any]], origin: _Origin | None) -> CheckedRecords:
    new = CheckedRecords(found)
    new._origin = origin
    return new


def _counted(found: list[dict[str, Any]]) -> str:
    """How many records there are, and where they are to be fixed."""
    counts: dict[str, int] = {}
    for each in found:
        fix = (each.get("triage") or {}).get("fix")
        if fix is not None:
            counts[fix] = counts.get(fix, 0) + 1
    fixes = ", ".join(f"{fix} {count:,}" for fix, count in sorted(counts.items(), key=lambda pair: -pair[1]))
    return f"{len(found):,} record{'' if len(found) == 1 else 's'}" + (f"; fix: {fixes}" if fixes else "")


def _line(found: Mapping[str, Any]) -> str:
    row = row_of(found, None)
    words = [_cut(str(row[name]), 40) for name in ("id", "kind", "fix") if row[name] is not None]
    words += [f"step {row['step']}"] if row["step"] is not None else []
    return "  " + "  ".join([*words, _cut(", ".join(row["rules"]), 80)]).rstrip()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _cell(value: Any) -> str:
    if value is None or value == 0:
        return ""
    return _cut(", ".join(value) if isinstance(value, list) else str(value), 200)


def row_of(checked: Mapping[str, Any], record: Any) -> dict[str, Any]:
    """The columns of one record."""
    findings = checked.get("findings") or []
    triage = checked.get("triage") or {}
    row: dict[str, Any] = {name: checked.get(name) for name in ("source", "line", "index", "sha256", "kind")}
    row["id"] = None if checked.get("id") is None else str(checked["id"])
    row["fix"], row["step"], row["triage_confidence"] = triage.get("fix"), triage.get("step"), triage.get("confidence")
    row["recovered"] = _number(triage.get("recovered"))
    row["route"] = (checked.get("route") or {}).get("name")
    for severity in SEVERITIES:
        row[severity] = sum(1 for finding in findings if finding.get("severity") == severity)
    row["rules"] = list(dict.fromkeys(finding["rule"] for finding in findings if "rule" in finding))
    return {**row, **_facts(record if isinstance(record, Mapping) else {}, row["fix"])}


def _facts(record: Mapping[str, Any], fix: Any) -> dict[str, Any]:
    """What a record says of its answer and of its calls."""
    state = _mapping(record.get("state"))
    held = [(record, _ANSWERS), (state, ("final_answer", "final_answer_numerical"))]
    answers = [source.get(name) for source, names in held for name in names] + [
        _mapping(record.get("answer")).get("answer_text")
    ]
    numbers = [record.get("pred_num"), state.get("final_answer_numerical"), record.get("final_answer"), *answers]
    expected = [record.get(name) for name in _EXPECTED]
    confidences = [each.get("confidence") for each in (state, record, _mapping(record.get("answer")))]
    calls = [record, *map(_mapping, _list(_mapping(record.get("trace")).get("steps")))]
    counts = [count for call in calls for count in (_tokens(call.get("usage")),) if count is not None]
    times = [time for call in calls for time in (_number(call.get("duration_ms")),) if time is not None]
    models = [call["model"] for call in calls if isinstance(call.get("model"), str)]
    number, wanted = _first(map(_number, numbers)), _first(map(_gold, expected))
    return {
        "correct": _is_correct(record.get("correct"), fix, number, wanted),
        "answer": _first(map(_text, answers)),
        "expected": _text(wanted) if wanted is not None else _first(map(_text, expected)),
        "confidence": _first(map(_number, confidences)),
        "model": models[-1] if models else None,
        "tokens": sum(counts) if counts else None,
        "ms": round(sum(times), 3) if times else None,
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _first(values: Iterator[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _is_correct(said: Any, fix: Any, number: float | None, wanted: float | None) -> bool | None:
    if fix == "none":
        return True
    if number is not None and wanted is not None:
        return abs(number - wanted) <= 1e-6
    return said if isinstance(said, bool) else None


def _text(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return None if value is None or isinstance(value, (Mapping, list)) else str(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value.replace(",", "").strip().removeprefix("$")) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _gold(value: Any) -> float | None:
    """An expected number: the one behind ``####`` of a solution, or an answer that is nothing but a number."""
    found = re.search(r"####\s*(\S+)\s*$", value) if isinstance(value, str) else None
    return _number(found.group(1).rstrip(".") if found else value)


def _tokens(usage: Any) -> int | None:
    counts = [_mapping(usage).get(name) for name in ("prompt_tokens", "completion_tokens")]
    whole = [count for count in counts if isinstance(count, int) and not isinstance(count, bool)]
    return sum(whole) if whole else None


def _rows(records: Any) -> list[dict[str, Any]]:
    """A row per record, of results or of what has to be checked first."""
    from ._check import stream  # which needs this module

    if not isinstance(records, CheckedRecords) and not (
        isinstance(records, list) and records and all(map(is_result, records))
    ):
        found = stream(records, fields=[*_KEPT, *_FACTS])
        return [row_of(each, each.get("record")) for each in found]
    known = {} if all("record" in each for each in records) else _looked_up(records)
    return [row_of(each, each.get("record", known.get(each.get("sha256")))) for each in records]


def _looked_up(results: list[dict[str, Any]]) -> dict[Any, Any]:
    """What the records of results say, by their digests: read again, where they still are."""
    from ._check import check_flags, objects, read

    origin = results._origin if isinstance(results, CheckedRecords) else None
    if origin is None:
        sources = {each.get("source") for each in results}
        files = sorted(each for each in sources if isinstance(each, str) and os.path.exists(each))
        origin = _Origin(Given(files, None, bool(files)), None)
    if not origin.given.is_lasting:
        return {}
    flags = check_flags(fields=["sha256", *_FACTS], columns=origin.columns)
    wanted = {each.get("sha256") for each in results}
    found = read(flags, origin.given, objects)
    return {each["sha256"]: each.get("record") for each in found if each.get("sha256") in wanted}


def to_frame(records: Records, library: Library | None = None) -> Any:
    """A data frame with a row per record: where to fix it, in which step, how many findings of each severity, and what
    the record says of its answer (``correct``, ``answer``, ``expected``, ``confidence``) and of its calls (``model``,
    ``tokens``, ``ms``).

    ``records`` is what ``check`` gave, all or some of it, or anything that ``check`` takes. The columns and their types
    are always the same. ``triage_confidence`` is how sure the triage is, ``confidence`` how sure the model said it was.
    ``library`` is ``pandas`` or ``polars``; without it, the one that is imported already, else the first that is
    installed.
    """
    return make_frame(_COLUMNS, _rows(records), library)
