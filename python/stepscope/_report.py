"""One record for people: the report of ``show``."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from typing import Any

from ._given import Path, is_result
from ._lines import record_line
from ._program import StepscopeError, run

# So much of a report is shown where it is only looked at.
_MOST_TEXT = 20_000


class Report:
    """One record for people: ``print`` shows the text, a notebook shows the page."""

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
        # Whose notebook it is may see what looks private. In a frame of its own, in which nothing runs, neither its
        # styles nor what a record holds touch the notebook.
        page = html.escape(self._page("--force"), quote=True)
        style = "width: 100%; height: 40em; border: 0"
        return f'<iframe srcdoc="{page}" sandbox style="{style}"></iframe>'


def show(
    record: Path | Mapping[str, Any],
    *,
    id: str | int | None = None,
    line: int | None = None,
    document: Path | None = None,
) -> Report:
    """The report of one record: a dict, the record of a file (the first, or by ``id`` or ``line``), or the record that a
    result of ``check`` is of. What is not there is a ``StepscopeError`` at once."""
    if not isinstance(record, (str, os.PathLike, Mapping)):
        raise TypeError(f"show takes one record, one result or a path, not {type(record).__name__}")
    if is_result(record):
        record, line = _of_result(record, line)
    options: list[str] = []
    for name, value in (("id", id), ("line", line), ("document", document)):
        if value is not None:
            options += [f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]
    if isinstance(record, (str, os.PathLike)):
        return Report([*options, "--", os.fspath(record)], None)
    return Report([*options, "-"], record_line(record))


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
