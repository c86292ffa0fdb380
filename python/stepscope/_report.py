"""One record for people: the report of ``show``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._card import card
from ._check import table_flags
from ._given import Path, is_result
from ._lines import record_line
from ._program import StepscopeError, run

# So much of a report is shown where it is only looked at.
_MOST_TEXT = 20_000


class Report:
    """One record for people: ``print`` shows the text; a notebook draws a card, with the page behind it."""

    def __init__(self, arguments: list[str], stdin: bytes | None) -> None:
        self._arguments, self._stdin = arguments, stdin
        shown = run(["show", "--color", "never", *arguments], stdin=stdin)
        #: The report as text.
        self.text = shown.decode("utf-8", "replace")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        # A notebook keeps it beside the page.
        cut = self.text[:_MOST_TEXT]
        return cut if len(cut) == len(self.text) else f"{cut}\n... print(report) shows all of it"

    @property
    def html(self) -> str:
        """The report as a page that stands alone, to be sent: what ``stepscope export --html`` writes. A
        ``StepscopeError`` where something in it looks private."""
        return self._page()

    def _page(self, *flags: str) -> str:
        page = run(["export", "--html", "-", *flags, *self._arguments], stdin=self._stdin)
        return page.decode("utf-8", "replace")

    def _repr_html_(self) -> str:
        return self._drawn(None)

    def _drawn(self, place: str | None) -> str:
        # Whose notebook it is may see what looks private.
        return card(self._page("--force"), place)


def show(
    record: Path | Mapping[str, Any],
    *,
    id: str | int | None = None,
    line: int | None = None,
    document: Path | None = None,
    columns: Mapping[str, str] | None = None,
    map: Path | None = None,
) -> Report:
    """The report of one record: a dict, the record of a file (the first, or by ``id`` or ``line``), or the record that a
    result of ``check`` is of. ``columns`` and ``map`` are as in ``check``. What is not there is a ``StepscopeError`` at
    once."""
    options = table_flags(columns, map)
    if document is not None:
        options.append(f"--document={os.fspath(document)}")
    chosen, stdin = picked(record, id, line)
    return Report([*options, *chosen], stdin)


def picked(record: Any, id: str | int | None, line: int | None) -> tuple[list[str], bytes | None]:
    """The arguments that name one record, or the record for standard input."""
    if not isinstance(record, (str, os.PathLike, Mapping)):
        raise TypeError(f"this takes one record, one result or a path, not {type(record).__name__}")
    if is_result(record):
        record, line = _of_result(record, line)
    options = [f"--{name}={value}" for name, value in (("id", id), ("line", line)) if value is not None]
    if isinstance(record, (str, os.PathLike)):
        return [*options, "--", os.fspath(record)], None
    return [*options, "-"], record_line(record)


def _of_result(result: Any, line: int | None) -> tuple[Any, int | None]:
    """The record of a result, or where it is."""
    if isinstance(result.get("record"), Mapping):
        return result["record"], line
    source = result.get("source")
    if isinstance(source, str) and os.path.exists(source):
        return source, result.get("line")
    raise StepscopeError(
        "the record of this result was in no file: show the record itself, or check with with_record=True"
    )
