"""What a check gave, as a list and as a table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, cast, overload

from . import _overview
from ._columns import Kind, Library, make_frame
from ._given import Given, Path, Records, is_result
from ._lines import dumps, to_number
from ._program import StepscopeError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._check import CheckOptions

SEVERITIES = ("fatal", "repairable", "warning", "note")
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
    "question": "text",
    "correct": "flag",
    "answer": "text",
    "expected": "text",
    "confidence": "number",
    "model": "text",
    "tokens": "whole",
    "ms": "number",
}
# As in the table ``findings`` of ``check --format parquet``.
_FINDING_COLUMNS: dict[str, Kind] = {
    "source": "text",
    "line": "whole",
    "index": "whole",
    "id": "text",
    "sha256": "text",
    "rules": "text",
    "rule": "text",
    "severity": "text",
    "action": "text",
    "message": "text",
    "pointer": "text",
    "step": "whole",
    "start": "whole",
    "end": "whole",
    "more": "whole",
    "details": "text",
}
_ANSWERS = ("pred_answer", "final_answer", "extracted_answer", "model_answer", "predicted_answer", "pred_num")
_EXPECTED = ("gold_answer", "expected_answer", "target", "gold_num", "gold")
_CONFIDENCES = ("confidence",)
_CALLS = ("model", "usage", "duration_ms")
# What is read of a record: the rest of it does not go through Python.
_FACTS = [
    *(f"record.{name}" for name in ("question", *_ANSWERS, *_EXPECTED, *_CONFIDENCES, *_CALLS)),
    *(f"record.state.{name}" for name in ("final_answer", "final_answer_numerical", "confidence")),
    *(f"record.answer.{name}" for name in ("confidence", "answer_text")),
    *(f"record.trace.steps.{name}" for name in _CALLS),
]
_KEPT = [
    "source", "line", "index", "sha256", "kind", "id", "correct", "triage", "route", "findings.rule", "findings.severity"
]  # fmt: skip


class _Origin(NamedTuple):
    """What results are of, to look into the records once more."""

    given: Given
    columns: Mapping[str, str] | None
    map: Path | None


class CheckedRecords(list[dict[str, Any]]):
    """What ``check`` found, an object per record. Slices and what ``filter`` keeps are such lists too."""

    _origin: _Origin | None = None
    # What the records say, by their digests, once it was looked up.
    _known: dict[Any, Any] | None = None

    def _alike(self, found: Iterable[dict[str, Any]]) -> CheckedRecords:
        new = CheckedRecords(found)
        new._origin, new._known = self._origin, self._known
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

    def to_frame(self, library: Library | None = None, *, per: Literal["record", "finding"] = "record") -> Any:
        """A table with a row per record, or per finding; see ``to_frame``."""
        return to_frame(self, library, per=per)

    def __repr__(self) -> str:
        # A notebook keeps it beside the table.
        return _overview.text(self._drawn_rows())

    def _repr_html_(self) -> str:
        return _overview.drawn(self._drawn_rows())

    def _drawn_rows(self) -> list[dict[str, Any]]:
        try:
            return _rows_of(self)
        except StepscopeError:  # the records are not there any more, or not as they were
            return [row_of(each, each.get("record")) for each in self]


def _restored(found: list[dict[str, Any]], origin: _Origin | None) -> CheckedRecords:
    new = CheckedRecords(found)
    new._origin = origin
    return new


def row_of(checked: Mapping[str, Any], record: Any) -> dict[str, Any]:
    """The columns of one record."""
    findings = checked.get("findings") or []
    triage = checked.get("triage") or {}
    row: dict[str, Any] = {name: checked.get(name) for name in ("source", "line", "index", "sha256", "kind", "correct")}
    row["id"] = None if checked.get("id") is None else str(checked["id"])
    row["fix"], row["step"], row["triage_confidence"] = triage.get("fix"), triage.get("step"), triage.get("confidence")
    row["recovered"] = to_number(triage.get("recovered"))
    row["route"] = (checked.get("route") or {}).get("name")
    for severity in SEVERITIES:
        row[severity] = sum(1 for finding in findings if finding.get("severity") == severity)
    row["rules"] = list(dict.fromkeys(finding["rule"] for finding in findings if "rule" in finding))
    return {**row, **_facts(record if isinstance(record, Mapping) else {})}


def _facts(record: Mapping[str, Any]) -> dict[str, Any]:
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
    times = [time for call in calls for time in (to_number(call.get("duration_ms")),) if time is not None]
    models = [call["model"] for call in calls if isinstance(call.get("model"), str)]
    number, wanted = _first(map(to_number, numbers)), _first(map(_gold, expected))
    question = record.get("question")
    return {
        "question": question if isinstance(question, str) else None,
        "answer": _first(map(_text, answers)),
        "number": number,
        "expected": _text(wanted) if wanted is not None else _first(map(_text, expected)),
        "confidence": _first(map(to_number, confidences)),
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


def _text(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return None if value is None or isinstance(value, (Mapping, list)) else str(value)


def _gold(value: Any) -> float | None:
    """An expected number: the one behind ``####`` of a solution, or an answer that is nothing but a number."""
    found = re.search(r"####\s*(\S+)\s*$", value) if isinstance(value, str) else None
    return to_number(found.group(1).rstrip(".") if found else value)


def _tokens(usage: Any) -> int | None:
    counts = [_mapping(usage).get(name) for name in ("prompt_tokens", "completion_tokens")]
    whole = [count for count in counts if isinstance(count, int) and not isinstance(count, bool)]
    return sum(whole) if whole else None


def _are_results(records: Any) -> bool:
    return isinstance(records, CheckedRecords) or (
        isinstance(records, list) and len(records) > 0 and all(map(is_result, records))
    )


def _rows_of(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    known = {} if all("record" in each for each in results) else _looked_up(results)
    return [row_of(each, each.get("record", known.get(each.get("sha256")))) for each in results]


def _looked_up(results: list[dict[str, Any]]) -> dict[Any, Any]:
    """What the records of results say, by their digests: read again, where they still are."""
    from ._check import check_flags, objects, read  # which needs this module

    own = results if isinstance(results, CheckedRecords) else None
    wanted = {each.get("sha256") for each in results}
    if own is not None and own._known is not None and wanted <= own._known.keys():
        return own._known
    origin = own._origin if own is not None else None
    if origin is None:
        sources = {each.get("source") for each in results}
        files = sorted(each for each in sources if isinstance(each, str) and os.path.exists(each))
        origin = _Origin(Given(files, None, bool(files)), None, None)
    if not origin.given.is_lasting:
        return {}
    flags = check_flags(fields=["sha256", *_FACTS], columns=origin.columns, map=origin.map)
    found = read(flags, origin.given, objects)
    known = {each["sha256"]: each.get("record") for each in found if each.get("sha256") in wanted}
    if own is not None:
        own._known = known
    return known


def _finding_rows(results: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in results:
        record = {name: each.get(name) for name in ("source", "line", "index", "sha256", "rules")}
        record["id"] = None if each.get("id") is None else str(each["id"])
        for finding in each.get("findings") or []:
            row = {name: finding.get(name) for name in ("rule", "severity", "action", "message", "pointer", "more")}
            label: Mapping[str, Any] = next(iter(finding.get("labels") or []), {})
            row["start"], row["end"] = label.get("range") or (None, None)
            row["step"] = _step_of(finding.get("pointer"))
            row["details"] = dumps(finding["details"]) if finding.get("details") else None
            yield {**record, **row}


def _step_of(pointer: Any) -> int | None:
    """The step that a pointer leads through, from 1."""
    found = re.search(r"/steps/(\d+)(?:/|$)", pointer) if isinstance(pointer, str) else None
    return int(found.group(1)) + 1 if found else None


def to_frame(
    records: Records,
    library: Library | None = None,
    *,
    per: Literal["record", "finding"] = "record",
    **options: Unpack[CheckOptions],
) -> Any:
    """A data frame with a row per record: where to fix it, in which step, how many findings of each severity, and what
    the record says of its answer (``question``, ``correct``, ``answer``, ``expected``, ``confidence``) and of its calls
    (``model``, ``tokens``, ``ms``). With ``per="finding"`` it has a row per finding: ``rule``, ``severity``,
    ``message``, ``pointer``, ``step``, where it stands (``start`` and ``end``, bytes of the record), and of which record.

    ``records`` is what ``check`` gave, all or some of it, or anything that ``check`` takes, with its options. The columns
    and their types are always the same. ``triage_confidence`` is how sure the triage is, ``confidence`` how sure the model
    said it was. ``library`` is ``pandas`` or ``polars``; without it, the one that is imported already, else the first
    that is installed.
    """
    from ._check import stream  # which needs this module

    if per not in ("record", "finding"):
        raise ValueError(f"per is 'record' or 'finding', not {per!r}")
    if _are_results(records) and options:
        raise TypeError(f"these are results already: {', '.join(options)} would change nothing")
    if "fields" in options:
        raise TypeError("the columns of a frame are always the same: leave out fields")
    if per == "finding":
        results = records if _are_results(records) else stream(records, **options)
        return make_frame(_FINDING_COLUMNS, _finding_rows(cast("Iterable[Mapping[str, Any]]", results)), library)
    if _are_results(records):
        return make_frame(_COLUMNS, _rows_of(cast("list[dict[str, Any]]", records)), library)
    # The rest of a record does not go through Python.
    options["fields"] = [*_KEPT, *_FACTS]
    return make_frame(_COLUMNS, (row_of(each, each.get("record")) for each in stream(records, **options)), library)
