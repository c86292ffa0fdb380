"""Parts of files, so that an engine hands out places instead of records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

_PIECE = 1 << 20
# A smaller part is done before its task is handed out.
_LEAST = 8 << 20


class Part(NamedTuple):
    """Whole lines of a file, from one byte to another."""

    path: str
    start: int
    end: int

    def chunks(self) -> Iterator[bytes]:
        """The bytes, in pieces."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.start)
            left = self.end - self.start
            while left > 0:
                piece = file.read(min(_PIECE, left))
                if not piece:
                    raise EOFError(f"{self.path} ends before byte {self.end:,}: it was cut since it was divided")
                left -= len(piece)
                yield piece


def parts(*paths: str | os.PathLike[str], size: int = 128 << 20, workers: int = 1) -> list[Part]:
    """Divide files of JSON lines at line ends into parts of at most about ``size`` bytes, alike within a file, and so
    that each of so many workers gets as many; an empty file has none.

    Whoever reads them must find the files under the same paths.
    """
    if size < 1 or workers < 1:
        raise ValueError("size and workers must be at least 1")
    found = []
    files = [os.path.abspath(path) for path in paths]
    total = sum(map(os.path.getsize, files))
    # Each task costs, but the last must not run alone for long.
    rounds = max(_ceil(total, size * workers), 1)
    size = max(_ceil(total, rounds * workers), min(size, _LEAST))
    for path in files:
        with open(path, "rb") as file:
            length, start = file.seek(0, os.SEEK_END), 0
            alike = _ceil(length, _ceil(length, size) or 1)
            while start < length:
                end = min(start + alike, length)
                if end < length:
                    # The byte before counts too: a part may end where a line does.
                    file.seek(end - 1)
                    file.readline()
                    end = min(file.tell(), length)
                found.append(Part(path, start, end))
                start = end
    return found


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)
