"""Appends lines for a recording process, and outlives it.

The kernel gives up a long write half-way when the writing process is killed. So a recorder hands its lines to this
process, which nobody kills by accident: a line is in the file whole, or not at all. What a killed process had begun is
written when its end of the pipe closes.

Messages on standard input: kind (1 byte), key and data (each a 4-byte big-endian length and as many bytes).

- ``L``: append ``data``, drop what is pending under ``key``, then answer ``k``, or ``e`` with a length and the reason.
- ``H``: from now on ``data`` begins what is appended for ``key`` if the sender dies.
- ``P``: one more piece of that; pieces are joined by what ``S`` gave.
- ``S``: what stands between pieces. ``T``: what ends it.

Run as a script, so that it starts without reading ``site`` or the package.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import struct
import sys

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]

_BLOCK = 1 << 16
# Windows would write another end of a line for each.
_BINARY = getattr(os, "O_BINARY", 0)
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | _BINARY
# A lock of Windows keeps readers out of what it covers: this byte stands behind all that anybody reads, and within what
# the program locks, which is all of the file.
_LOCKED = (1 << 31) - 2


class Appender:
    """Appends whole lines to one file, one ``write`` a line, under a lock that other recorders respect."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd: int | None = None

    def append(self, line: bytes) -> None:
        """Append a line (or several), which must end with a line end."""
        fd = self._open()
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            _write_all(fd, line)
            return
        _lock(fd)
        try:
            size = self._mend(fd)
            try:
                _write_all(fd, line)
            except OSError:
                os.ftruncate(fd, size)
                raise
        finally:
            _unlock(fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int:
        """The open file; opened again where another file has taken the name, or none has it any more."""
        if self._fd is not None:
            try:
                now, then = os.stat(self.path), os.fstat(self._fd)
                if (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino):
                    return self._fd
            except FileNotFoundError:
                pass
            self.close()
        try:
            is_file = stat.S_ISREG(os.stat(self.path).st_mode)
        except FileNotFoundError:
            is_file = True
        # A pipe is opened as every writer opens it: it waits for its reader.
        self._fd = os.open(self.path, _FLAGS if is_file else os.O_WRONLY | _BINARY, 0o666)
        return self._fd

    def _mend(self, fd: int) -> int:
        """End a last line that has no line end. One that is no JSON was cut by a power failure or a full disk: it is
        moved to FILE.torn. The size of the file."""
        size = os.fstat(fd).st_size
        if size == 0 or _read_at(fd, 1, size - 1) == b"\n":
            return size
        start, last = size, b""
        while start > 0 and b"\n" not in last:
            step = min(_BLOCK, start)
            start -= step
            last = _read_at(fd, step, start) + last
        last = last[last.rfind(b"\n") + 1 :]
        try:
            json.loads(last)
        except ValueError:
            with open(self.path + ".torn", "ab") as torn:
                torn.write(last + b"\n")
            size -= len(last)
            os.ftruncate(fd, size)
            return size
        return size + os.write(fd, b"\n")


def _lock(fd: int) -> None:
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_EX)
    elif msvcrt is not None:
        while True:
            os.lseek(fd, _LOCKED, os.SEEK_SET)
            try:
                msvcrt.locking(fd, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined, unused-ignore]
                return
            except OSError as error:
                # It gives up after ten seconds; whoever has the lock writes one line.
                if error.errno != errno.EDEADLK:
                    raise


def _unlock(fd: int) -> None:
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_UN)
    elif msvcrt is not None:
        os.lseek(fd, _LOCKED, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined, unused-ignore]


def _read_at(fd: int, size: int, start: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(fd, size, start)
    # What is written goes to the end wherever this leads.
    os.lseek(fd, start, os.SEEK_SET)
    return os.read(fd, size)


def _write_all(fd: int, data: bytes) -> None:
    done = os.write(fd, data)
    while done < len(data):
        done += os.write(fd, data[done:])


class _Pending:
    """What is appended for a run if its process dies."""

    def __init__(self) -> None:
        self.head = self.separator = self.tail = b""
        self.pieces: list[bytes] = []

    def line(self) -> bytes:
        return self.head + self.separator.join(self.pieces) + self.tail


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            raise EOFError
        data += more
    return bytes(data)


def main(path: str) -> None:
    if msvcrt is not None:
        for pipe in (0, 1):
            msvcrt.setmode(pipe, _BINARY)  # type: ignore[attr-defined, unused-ignore]
    appender = Appender(path)
    pending: dict[bytes, _Pending] = {}
    try:
        while True:
            kind = _read(1)
            key = _read(struct.unpack(">I", _read(4))[0])
            data = _read(struct.unpack(">I", _read(4))[0])
            if kind == b"L":
                pending.pop(key, None)
                try:
                    if data:
                        appender.append(data)
                    answer = b"k"
                except OSError as error:
                    reason = str(error).encode("utf-8", "replace")
                    answer = b"e" + struct.pack(">I", len(reason)) + reason
                try:
                    os.write(1, answer)
                except OSError:
                    pass
                continue
            entry = pending.setdefault(key, _Pending())
            if kind == b"H":
                entry.head = data
            elif kind == b"P":
                entry.pieces.append(data)
            elif kind == b"S":
                entry.separator = data
            elif kind == b"T":
                entry.tail = data
    except EOFError:
        pass
    for entry in pending.values():
        line = entry.line()
        if line:
            appender.append(line)


if __name__ == "__main__":
    main(sys.argv[1])
