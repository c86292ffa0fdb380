"""How far a long check is, told to whoever waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TextIO, TypeVar

_T = TypeVar("_T")
# What takes less long says nothing, and the rest no more often than this, in seconds.
_FIRST, _BETWEEN = 2.0, 0.25


def watched(found: Iterator[_T], total: int | None, asked: bool | None) -> Iterator[_T]:
    """The same one after the other. ``asked``: whether to tell how many there were; ``None``: where somebody sees it."""
    to = sys.stderr
    if not (_is_seen(to) if asked is None else asked):
        yield from found
        return
    width, due = 0, time.monotonic() + _FIRST
    try:
        for count, each in enumerate(found, 1):
            if time.monotonic() >= due:
                of = f" of {total:,}" if total else ""
                width = _write(to, f"stepscope: {count:,}{of} records checked", width)
                due = time.monotonic() + _BETWEEN
            yield each
    finally:
        if width:
            _write(to, "", width)


def _is_seen(to: TextIO | None) -> bool:
    # A notebook's is no terminal, and goes back to the beginning of a line as one does.
    return to is not None and (type(to).__module__.startswith("ipykernel") or to.isatty())


def _write(to: TextIO, words: str, before: int) -> int:
    """Write over what stands on the line, which has so many characters."""
    to.write(f"\r{words}{' ' * (before - len(words))}" + ("" if words else "\r"))
    to.flush()
    return len(words)
