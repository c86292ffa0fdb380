"""Where recorded lines go: one sink a file and process, backed by a writer process (see ``_writer``)."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

from . import _writer

_WRITER = _writer.__file__
# Those whose handlers usually raise: of interrupts, ends and timeouts.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
# On Windows a Ctrl-C goes to all programs of a console, and a program without a window opens one for each that it starts.
_APART = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
# Blocks of the recorder may be left through it.
_CONTEXTS = os.path.dirname(contextlib.__file__)
# So many writer processes are kept; the one that was used least recently goes first.
_MOST_WRITERS = 16


def warn(words: str) -> None:
    """Tell of a fault of the recorder, which ends no run even where warnings are errors."""
    try:
        warnings.warn(words, RuntimeWarning, stacklevel=_levels())
    except RuntimeWarning:
        print(f"RuntimeWarning: {words}", file=sys.stderr)


def _levels() -> int:
    """How far up the line of the user's is from ``warn``."""
    here, level, frame = os.path.dirname(__file__), 2, sys._getframe(2)
    above: FrameType | None = frame
    while above is not None and os.path.dirname(above.f_code.co_filename) in (here, _CONTEXTS):
        level, above = level + 1, above.f_back
    return level if above is not None else 2


def is_of_handler(error: BaseException) -> bool:
    """Whether an error comes from a handler of signals: it belongs to the program, wherever it was when it came."""
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    place: TracebackType | None = error.__traceback__
    while place is not None:
        if place.tb_frame.f_code in handlers:
            return True
        place = place.tb_next
    return False


def _safely(do: Callable[..., Any], *args: Any) -> Any:
    """A fault of the recorder is a warning, and the run goes on."""
    try:
        return do(*args)
    except Exception as error:
        if is_of_handler(error):
            raise
        warn(f"stepscope could not record a call: {error!r}")
        return None


def _code(handler: Any) -> CodeType | None:
    """The code that runs first when a handler is called; ``None``: it is none of Python."""
    while hasattr(handler, "func"):  # partial
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(getattr(type(handler), "__call__", None), "__code__", None)
    return code if isinstance(code, CodeType) else None


class Sink:
    """Appends lines to one file, from any thread. A recorder never ends the run that it records: what cannot be
    written is told once, as a warning."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._direct: _writer.Appender | None = None
        self._warned = False
        self._kept: set[bytes] = set()
        # Answers of the writer that were not read yet: a handler raised in between.
        self._owed = 0
        # The executable of a frozen program is that program.
        if os.environ.get("STEPSCOPE_WRITER") == "0" or not sys.executable or hasattr(sys, "frozen"):
            self._direct = _writer.Appender(path)

    def begin(self, key: bytes, head: bytes, separator: bytes, tail: bytes) -> None:
        """Say what is to be written for ``key`` if this process is killed: ``head``, the pieces, ``tail``."""
        self._send(key, (b"H", head), (b"S", separator), (b"T", tail))

    def piece(self, key: bytes, piece: bytes) -> None:
        """Add to what is written for ``key`` if this process is killed."""
        self._send(key, (b"P", piece))

    def line(self, line: bytes, key: bytes = b"") -> None:
        """Append a line and forget what was kept under ``key``; when this returns, the line is in the file."""
        with self._lock:
            self._kept.discard(key)
            try:
                if self._transmit(key, [(b"L", line)]):
                    self._answer()
                    return
            except _Refused as refused:
                self._warn(str(refused))
                return
            except (OSError, EOFError) as error:
                if is_of_handler(error):
                    raise
                self._give_up()
            try:
                if line:
                    self._appender().append(line)
            except OSError as error:
                if is_of_handler(error):
                    raise
                self._warn(str(error))

    def _send(self, key: bytes, *messages: tuple[bytes, bytes]) -> None:
        with self._lock:
            self._kept.add(key)
            try:
                self._transmit(key, list(messages))
            except OSError as error:
                if is_of_handler(error):
                    raise
                self._give_up()

    def _transmit(self, key: bytes, messages: list[tuple[bytes, bytes]]) -> bool:
        """Whether there is a writer, which has them now."""
        if self._direct is not None:
            return False
        if self._process is None:
            self._start()
        process = self._process
        if process is None or process.stdin is None:
            return False
        parts = []
        for kind, data in messages:
            parts += [kind, struct.pack(">I", len(key)), key, struct.pack(">I", len(data)), data]
        rest = memoryview(b"".join(parts))
        # A handler that raises after the half of a message would leave the writer waiting for the rest.
        held = _hold()
        try:
            while rest:
                rest = rest[os.write(process.stdin.fileno(), rest) :]
            self._owed += sum(kind == b"L" for kind, _ in messages)
        finally:
            _release(held)
        return True

    def _answer(self) -> None:
        process = self._process
        assert process is not None and process.stdout is not None
        ready = select.poll() if hasattr(select, "poll") else None
        if ready is not None:
            ready.register(process.stdout, select.POLLIN)
        refused = None
        while self._owed:
            # A handler may raise while the writer writes; its answer is read before the next one.
            if ready is not None:
                ready.poll()
            held = _hold()
            try:
                said = process.stdout.read(1)
                if said == b"e":
                    length = struct.unpack(">I", process.stdout.read(4))[0]
                    refused = _Refused(process.stdout.read(length).decode("utf-8", "replace"))
                elif said != b"k":
                    raise EOFError
                self._owed -= 1
            finally:
                _release(held)
        if refused is not None:
            raise refused

    def _start(self) -> None:
        try:
            # -I and -S: nothing of the user's environment is read, and it starts in a few milliseconds.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", _WRITER, self.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                creationflags=_APART,
            )
        except (OSError, RuntimeError):  # at its very end, Python starts no process
            self._give_up()

    def _appender(self) -> _writer.Appender:
        if self._direct is None:
            self._direct = _writer.Appender(self.path)
        return self._direct

    def _give_up(self) -> None:
        """The writer is gone: go on without one."""
        self._appender()
        self.close()

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            warn(f"stepscope cannot record to {self.path!r}: {why}")

    def close(self) -> None:
        """Let the writer end; the next line starts another."""
        process, self._process, self._owed = self._process, None, 0
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass

    def _forked(self) -> None:
        """In a child: the writer is the parent's. Its pipe must close here, or it would not see its sender's end."""
        self._lock = threading.Lock()
        self._kept.clear()
        process, self._process, self._owed = self._process, None, 0
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            process.returncode = 0  # nobody waits for it here
        if self._direct is not None:
            self._direct.close()  # a lock belongs to whoever opened the file


def _hold() -> Any:
    """Let no handler of a signal run until ``_release`` is given what this returns."""
    if hasattr(signal, "pthread_sigmask"):
        return signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    # Handlers run on the main thread alone. What comes meanwhile is kept.
    if threading.current_thread() is not threading.main_thread():
        return None
    came: list[int] = []
    return signal.signal(signal.SIGINT, lambda number, _frame: came.append(number)), came


def _release(held: Any) -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    elif held is not None:
        before, came = held
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if came:
            signal.raise_signal(signal.SIGINT)


class _Refused(Exception):
    """The writer could not write."""


_sinks: dict[str, Sink] = {}
_sinks_lock = threading.Lock()


def sink(path: str | os.PathLike[str]) -> Sink:
    """The sink of a file; all recorders of a process share it. What cannot be written to fails here, before anything is
    paid for."""
    name = os.path.abspath(os.fspath(path))
    if name not in _sinks:
        _prove_writable(name)
    with _sinks_lock:
        # The most recent one stands last.
        found = _sinks.pop(name) if name in _sinks else Sink(name)
        _sinks[name] = found
        idle = [each for each in _sinks.values() if each._process is not None and not each._kept]
    for each in idle[:-_MOST_WRITERS]:
        with each._lock:
            if not each._kept:
                each.close()
    return found


def _prove_writable(path: str) -> None:
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "a folder, where a file is to be recorded to", path)
    os.makedirs(folder, exist_ok=True)
    place = path if os.path.exists(path) else folder
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "cannot be written, so nothing can be recorded there", place)


def _close_all() -> None:
    for each in list(_sinks.values()):
        with each._lock:
            each.close()


def _after_fork() -> None:
    global _sinks_lock
    _sinks_lock = threading.Lock()
    for each in list(_sinks.values()):
        each._forked()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
