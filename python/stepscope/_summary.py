"""The figures of many records: ``stepscope check --summary``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ._check import CheckOptions, check_flags, objects, read
from ._columns import Kind, Library, make_frame
from ._given import Records, resolve
from ._html import SHEET, cell, escaped, shown, table, tag

if TYPE_CHECKING:
    from typing_extensions import Unpack

_COLUMNS: dict[str, Kind] = {
    "chart": "text",
    "name": "text",
    "count": "whole",
    "of": "whole",
    "confidence": "number",
    "mean": "number",
    "ece": "number",
    "brier": "number",
    "filter": "text",
}
_BAR = '<div style="width:{share:.1f}%"></div>'
_MOST_DRAWN = 12


class Summary:
    """What ``summary`` counted; a notebook draws it."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        #: Where wrong runs are to be fixed: ``fix``, ``runs``, ``sure``, ``recovered``, and the counts of ``rules`` and
        #: ``steps``.
        self.fixes = [each for each in lines if "chart" not in each]
        #: Every bar and cell of the charts: ``chart``, ``name``, ``count``, mostly ``of`` how many, and the ``filter`` that
        #: finds its records; a confidence has its mean under ``confidence`` (a group of them ``ece`` and ``brier``), others under ``mean``.
        self.charts = [each for each in lines if "chart" in each]

    def to_frame(self, library: Library | None = None) -> Any:
        """A table with a row per bar and cell."""
        return make_frame(_COLUMNS, self.charts, library)

    def __repr__(self) -> str:
        lines = ["<Summary>"]
        for chart, rows in groupby(self.charts, lambda each: each["chart"]):
            lines.append(shown(chart))
            lines += [f"  {shown(each['name'], 30):30}  {_figure(each):40}  {shown(each['filter'], 60)}" for each in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [_chart(chart, list(rows)) for chart, rows in groupby(self.charts, lambda each: each["chart"])]
        return SHEET + tag("div", tag("div", "".join(parts) or "no records", "charts"), "stepscope")


def _chart(name: str, rows: list[dict[str, Any]]) -> str:
    most = max((each["count"] for each in rows), default=0)
    cells = [
        [
            cell(each["name"], "short", 60),
            tag("td", _BAR.format(share=100 * _share(each, most)), "bar"),
            cell(_figure(each), "number"),
            cell(each["filter"], "short dim value", 60),
        ]
        for each in rows[:_MOST_DRAWN]
    ]
    more = tag("p", f"and {len(rows) - _MOST_DRAWN:,} more", "dim") if len(rows) > _MOST_DRAWN else ""
    return tag("div", tag("p", escaped(name), "says") + table(["", "", "", "filter"], cells) + more)


def _share(row: Mapping[str, Any], most: int) -> float:
    """The length of a bar: of a group the share of it, else how much of the longest."""
    whole = row.get("of") or most
    return row["count"] / whole if whole else 0.0


def _figure(row: Mapping[str, Any]) -> str:
    if "confidence" in row:
        scores = "".join(f", {name.upper() if name == 'ece' else 'Brier'} {row[name]:.3f}" for name in ("ece", "brier") if name in row)
        return f"{row['count']:,} of {row['of']:,} right at confidence {row['confidence']:.2f}{scores}"
    return f"{row['mean']:.3f} of {row['count']:,}" if "mean" in row else f"{row['count']:,}"


def summary(*records: Records, **options: Unpack[CheckOptions]) -> Summary:
    """Count records: outcomes, where to fix, in which step, confidence and accuracy, rules, models.

    Records and options are as in ``check``; ``fields`` and ``with_record``, which shape results, are none here.
    """
    if "fields" in options or "with_record" in options:
        raise TypeError("a summary has no results to shape: leave out fields and with_record")
    flags = [*check_flags(**options), "--summary", "--charts"]
    return Summary(list(read(flags, resolve(records, "summary"), objects)))
