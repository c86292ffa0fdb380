"""The steps of a run that its own program names: what each read, what it wrote, and the calls that were made for it."""

from __future__ import annotations

import functools
import inspect
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar, cast

from . import _lines, _run
from ._run import Run, _Entry
from ._sink import _safely, warn

F = TypeVar("F", bound=Callable[..., Any])


class Step:
    """One step of a run, as ``run.step(...)`` gives it, for ``with`` and ``async with``."""

    def __init__(self, run: Run, name: str | int, reads: Mapping[str, Any] | None) -> None:
        if not isinstance(name, (str, int)):
            raise TypeError(f"a step has a name or an id, not {type(name).__name__}")
        if reads is not None and not isinstance(reads, Mapping):
            raise TypeError(f"what a step reads is a dict of names and values, not {type(reads).__name__}")
        self.name = str(name)
        self._called = name
        self._run = run
        self._reads = dict(reads or {})
        self._writes: dict[str, Any] = {}
        # A procedure that is met inside of the step has other steps.
        self._is_of_procedure = bool(_run._steps_of(run._last().procedure))
        self._lock = threading.Lock()
        self._place: tuple[int, Any, bool] | None = None
        self._last: tuple[_Entry, dict[str, Any]] | None = None
        self._started_utc, self._started = _lines.now(), time.perf_counter()
        #: When it began and how many milliseconds it took, where somebody else says so.
        self._times: tuple[str, float] | None = None
        self._is_ended = False
        self._tokens: list[_run._Tokens] = []

    def reads(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Say what the step reads, by name."""
        self._reads.update(values or {}, **more)

    def writes(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Say what the step gives to those after it, by name."""
        self._writes.update(values or {}, **more)

    def wrap(self, function: F) -> F:
        """A function that calls a model, with its calls recorded in this step, whatever thread they are made in."""
        recorded = self._run.wrap(function)

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            tokens = self._enter()
            try:
                return recorded(*args, **kwargs)
            finally:
                self._leave(tokens)

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            tokens = self._enter()
            try:
                return await recorded(*args, **kwargs)
            finally:
                self._leave(tokens)

        return cast(F, awaited if inspect.iscoroutinefunction(function) else called)

    def __enter__(self) -> Step:
        if self._is_ended:
            raise RuntimeError(f"the step {self.name!r} has ended: run.step(...) makes another")
        self._started_utc, self._started = _lines.now(), time.perf_counter()
        self._tokens.append(self._enter())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tokens:
            self._leave(self._tokens.pop())
        _safely(self._end, error)

    async def __aenter__(self) -> Step:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def __repr__(self) -> str:
        return f"<Step {_run._short(self.name)!r}: reads {[*self._reads]}, writes {[*self._writes]}>"

    # What follows is for the recorder itself.

    def _enter(self) -> _run._Tokens:
        return _run._current.set(self._run._last()), _run._current_step.set(self)

    def _leave(self, tokens: _run._Tokens) -> None:
        _run._reset(_run._current, tokens[0])
        _run._reset(_run._current_step, tokens[1])

    def _of(self, run: Run | None) -> bool:
        """Whether calls of a run can belong to it."""
        return run is not None and not self._is_ended and run is self._run._last()

    def _head(self) -> dict[str, Any]:
        """What each call of the step begins with."""
        with self._lock:
            if self._place is None:
                # Only now: a step that holds others and asks nothing itself comes after them, as what it writes does.
                run = self._run._last()
                named = run._position(self._called) if self._is_of_procedure else None
                self._place = named or (run._next(), None, False)
        index, identity, is_final = self._place
        name = {"name": self.name} if identity is None else {"name": self.name, "is_final": is_final}
        return {"step_index": index, "step_id": identity, **name, "inputs": dict(self._reads)}

    def _take(self, call: dict[str, Any], messages: list[str] | None = None) -> bool:
        """Take a call that was made for this step."""
        call = {**self._head(), **call, "outputs": None}
        entry = self._run._last()._add_step(call, messages)
        if entry is None:
            return False
        self._last = (entry, call)
        return True

    def _end(self, error: BaseException | tuple[str, str] | None = None) -> None:
        """Record what came of the step, with its last call if that agrees."""
        if self._is_ended:
            return
        self._is_ended = True
        said = None if error is None else error if isinstance(error, tuple) else _lines.words(error)
        outputs = self._writes if self._writes or said is None else None
        run = self._run._last()
        words = None if said is None else ": ".join(said)
        last = self._last
        if last is not None and _agrees(last[1], outputs, words) and run._is_newest(last[0], outputs):
            entry, call = last
            whole = {**call, **self._head(), "outputs": outputs, "error": call.get("error") or words}
            is_taken = run._amend(entry, whole, outputs)
        else:
            took = round((time.perf_counter() - self._started) * 1000, 3)
            started, took = self._times or (self._started_utc, took)
            times = {"started_utc": started, "duration_ms": took}
            end = {**self._head(), "outputs": outputs, "error": words, **times}
            is_taken = run._add_step(end, wrote=outputs) is not None
        if not is_taken:
            warn(f"stepscope: the step {self.name!r} ended after its run, or in another process, and is not recorded")


def _agrees(call: Mapping[str, Any], outputs: Mapping[str, Any] | None, error: str | None) -> bool:
    """Whether what a step wrote can stand beside the reply of its last call: values that the program made of those in
    the reply would look as if somebody had changed them."""
    if call.get("error") is not None:
        return error is not None
    raw = call.get("raw")
    said = raw if isinstance(raw, str) else ""
    return all(_is_said(name, value, said) for name, value in (outputs or {}).items())


def _is_said(name: str, value: Any, text: str) -> bool:
    """Whether a text, in which JSON may stand anywhere, gives no other value for a name."""
    for found in re.finditer(f"[\"']{re.escape(str(name))}[\"']\\s*:\\s*", text):
        try:
            said, _ = json.JSONDecoder().raw_decode(text, found.end())
        except ValueError:
            return False
        if said != _as_read(value) and _number(said) != _number(value):
            return False
    return True


def _number(value: Any) -> float | object:
    """A number, however it is spelt; what is none is like nothing else."""
    try:
        return object() if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return object()


def _as_read(value: Any) -> Any:
    """A value as it is read from the record."""
    return json.loads(_lines.dumps(value))
