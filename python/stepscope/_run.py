"""One run that is being recorded, and those that a process has begun."""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import FrameType
from typing import Any, TypeVar, cast

from . import _lines
from ._sink import Sink, warn

F = TypeVar("F", bound=Callable[..., Any])

_UNRECORDED = (
    "Unrecorded",
    "no call of this run was recorded; calls in other threads are part of it through run.wrap(function), those in other"
    " processes never",
)
_RUN_FIELDS = ("id", "row_index", "question", "gold_answer", "gold_num")


class Run:
    """One run that is being recorded: what a ``with record(...)`` block gives.

    What is known of it can be set at any time: ``question``, ``gold_answer``, ``procedure``, ``state``, ``fitness``, and
    in ``fields`` whatever else the record is to hold.
    """

    def __init__(self, to: Sink, fields: Mapping[str, Any] | None = None) -> None:
        given = dict(fields or {})
        self.id: Any = given.pop("id", None)
        if self.id is None:
            self.id = uuid.uuid4().hex
        self.question: str | None = given.pop("question", None)
        self.gold_answer: str | None = given.pop("gold_answer", None)
        self.gold_num: float | None = given.pop("gold_num", None)
        self.procedure: Mapping[str, Any] | None = given.pop("procedure", None)
        self.answer_schema: Any = given.pop("answer_schema", None)
        self.state: Mapping[str, Any] | None = given.pop("state", None)
        self.fitness: float | None = given.pop("fitness", None)
        self.mode: str | None = given.pop("mode", None)
        self.error: tuple[str, str] | None = None
        #: Whatever else the record is to hold.
        self.fields: dict[str, Any] = given
        self._sink = to
        self._key = uuid.uuid4().bytes
        self._process = os.getpid()
        self._is_warned = False
        self._steps: list[tuple[str, bool]] = []
        self._making: list[str] = []
        self._asked: dict[int, int] = {}
        self._at = -1
        self._begun: tuple[Any, ...] | None = None
        self._lock = threading.Lock()
        self._seen: FrameType | None = None
        self._read: dict[str, Any] | None = None
        # The last run of a block around several, which they share.
        self._block: list[Run] = []
        self._done = False

    def wrap(self, function: F) -> F:
        """A function that calls a model, with its calls recorded in this run, whatever thread they are made in."""
        from ._record import _wrapped  # which needs this module

        return cast(F, _wrapped(function, self._sink, self))

    # What follows is for the recorder itself.

    def _begin(self) -> None:
        """What stands before and after the calls if this process is killed."""
        others = (self.gold_answer, self.procedure, self.answer_schema, self.state, self.fitness)
        told = (self.question, *map(id, others))
        if self._begun == told:
            return
        self._begun = told
        words = ("Killed", "the process ended before the run did; the calls so far were kept")
        head, tail = self._frame(words)
        self._sink.begin(self._key, head, b", ", tail)

    def _last(self) -> Run:
        """The run that calls of this one's block belong to now."""
        return self._block[0] if self._block else self

    @property
    def _is_here(self) -> bool:
        """Whether this process began it; a forked child has a copy, which the parent does not see."""
        return self._process == os.getpid()

    def _warn_once(self, words: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            warn(words)

    def _add_step(self, call: dict[str, Any]) -> bool:
        """Take a call; not where the line is written already, or is the parent's."""
        if not self._is_here:
            return False
        with self._lock:
            if self._done:
                return False
            index = call["step_index"]
            self._asked[index] = self._asked.get(index, 0) + 1
            if self._asked[index] > 1:
                call["attempt"] = self._asked[index]
            self._at = max(self._at, index)
            text = _lines.dumps(call)
            self._steps.append((text, call["step_id"] is None))
            if call["step_id"] is None and isinstance(call["raw"], str) and call.get("error") is None:
                self.fields["raw"] = call["raw"]
            self._begin()
            self._sink.piece(self._key, _lines.encoded(text))
            return True

    def _next(self) -> int:
        """The position of a call that says of no step."""
        with self._lock:
            self._at += 1
            return self._at

    def _add_making(self, text: str) -> bool:
        """Take a call that made the procedure; not where the line is written already, or is the parent's."""
        if not self._is_here:
            return False
        with self._lock:
            if not self._done:
                self._making.append(text)
            return not self._done

    def _meet(self, frame: FrameType, local: Mapping[str, Any]) -> None:
        """Take what evoproc's runner says of the run. Calls from before it are no steps."""
        self._seen = frame
        self.procedure = local["proc"]
        self.question = self.question if self.question is not None else local["problem_text"]
        self.answer_schema = self.answer_schema if self.answer_schema is not None else local["answer_schema"]
        with self._lock:
            self._making += [text for text, is_bare in self._steps if is_bare]
            self._steps = [(text, is_bare) for text, is_bare in self._steps if not is_bare]
            self.fields.pop("raw", None)
            self._at = -1
            self._asked.clear()

    def _frame(self, error: tuple[str, str] | None) -> tuple[bytes, bytes]:
        """The record's text before and after its calls."""
        record: dict[str, Any] = {"id": self.id}
        for name in _RUN_FIELDS[1:]:
            value = getattr(self, name, None)
            if value is not None:
                record[name] = value
        record.update(self.fields)
        if self.fitness is not None:
            record["fitness"] = self.fitness
        if self.gold_num is None and isinstance(self.gold_answer, str):
            gold = _gold_number(self.gold_answer)
            if gold is not None:
                record["gold_num"] = gold
        steps = self.procedure.get("steps") if isinstance(self.procedure, Mapping) else None
        mode = self.mode or ("procedural" if self.procedure is not None else "baseline")
        trace: dict[str, Any] = {"format": "stepscope.run_trace", "version": 1}
        if self.answer_schema is not None:
            trace["answer_schema"] = _schema_name(self.answer_schema)
        if error is None:
            record.update(status="ok", mode=mode)
            if mode != "baseline":
                record["procedure"] = self.procedure
                if isinstance(steps, list):
                    record["steps"] = len(steps)
            record["state"] = self.state
            self._add_answer(record)
        else:
            if self.state is not None:
                record["state"] = self.state
            record.update(procedure=None, status="error", error_type=error[0], error=error[1])
            record["timestamp_utc"] = _lines.now()
            if self.procedure is not None:
                trace["procedure"] = self.procedure
        # Calls are texts already. What stands for them is in no other text.
        mark = uuid.uuid4().hex
        if self._making:
            trace["making"] = mark + "making"
        trace["steps"] = mark + "steps"
        record["trace"] = trace
        text = _lines.dumps(record).replace(f'"{mark}making"', f"[{', '.join(self._making)}]")
        head, tail = text.split(f'"{mark}steps"')
        return _lines.encoded(head) + b"[", b"]" + _lines.encoded(tail) + b"\n"

    def _add_answer(self, record: dict[str, Any]) -> None:
        state = self.state if isinstance(self.state, Mapping) else {}
        for name, key in (("pred_answer", "final_answer"), ("pred_num", "final_answer_numerical")):
            if name not in record and key in state:
                record[name] = state[key]
        gold, found = record.get("gold_num"), record.get("pred_num")
        if "correct" not in record and _is_number(gold) and _is_number(found):
            record["correct"] = abs(float(cast(float, gold)) - float(cast(float, found))) <= 1e-6

    def _finish(self) -> None:
        """Write the line, unless that is for the parent of this process to do."""
        if not self._is_here:
            return
        with self._lock:
            if self._done:
                return
            self._done = True
            head, tail = self._frame(self.error)
            calls = ", ".join(text for text, _ in self._steps)
            self._sink.line(head + _lines.encoded(calls) + tail, self._key)

    def _close(self) -> None:
        """Write the line of a run whose end nobody saw."""
        if self.error is None and self.state is None and "raw" not in self.fields:
            has_calls = self._steps or self._making
            self.error = ("Interrupted", "the run did not come to its end") if has_calls else _UNRECORDED
        self._finish()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _gold_number(text: str) -> float | None:
    """The number behind ``####``; thousands have commas there."""
    found = re.search(r"####\s*\$?\s*([-+]?[\d,]*\.?\d+)\s*\.?\s*$", text)
    try:
        return float(found.group(1).replace(",", "")) if found else None
    except ValueError:
        return None


def _schema_name(schema: Any) -> Any:
    """The name of a published answer schema, else the schema."""
    if isinstance(schema, str):
        return schema
    published = sys.modules.get("evoproc_procedures.schemas")
    get = getattr(published, "get_schema", None)
    if not callable(get):
        return schema
    for name in ("general", "bool", "gsm", "arc"):
        try:
            if get(name) == schema:
                return name
        except Exception:
            break
    return schema


def _reset(variable: ContextVar[Any], token: Token[Any]) -> None:
    try:
        variable.reset(token)
    except ValueError:  # it ends in another context than it began in
        pass


_current: ContextVar[Run | None] = ContextVar("stepscope_run", default=None)


def _open_here(run: Run | None) -> Run | None:
    """The run that calls of this one belong to, if they can."""
    if run is None or run._is_here:
        return run and run._last()
    run._warn_once(
        f"stepscope: a forked process cannot add to the run {run.id!r} of its parent. What it asks is in lines of their"
        " own, calls outside of a run with the run's id as run_id"
    )
    return None


# Runs that calls belong to where they are made, with the threads that began them.
_entered: dict[Run, int] = {}


def _enter(run: Run) -> Token[Run | None]:
    """Calls belong to a run from here to ``_leave``, unless they are made in another thread."""
    _entered[run] = threading.get_ident()
    return _current.set(run)


def _leave(run: Run, token: Token[Run | None]) -> None:
    _entered.pop(run, None)
    _reset(_current, token)


def _tell_of_threads() -> None:
    """Tell of a call outside of any run that the runs of other threads do not have it, which may be meant."""
    for run, thread in list(_entered.items()):
        if thread != threading.get_ident():
            run._warn_once(
                "stepscope: a call in another thread than that of `with record(...)` is no part of its run, unless it is"
                " one of run.wrap(function), or of asyncio.to_thread"
            )


class _Here(threading.local):
    """What a thread has begun."""

    def __init__(self) -> None:
        self.run: Run | None = None
        # A run that seemed to have ended, and whose last step may be asked again.
        self.ended: Run | None = None
        self.waiting: list[tuple[bytes, Sink, dict[str, Any]]] = []


_here = _Here()
_open_runs: dict[int, Run] = {}
_waiting_calls: dict[bytes, tuple[Sink, dict[str, Any]]] = {}
_registry = threading.Lock()


def _flush() -> None:
    """Write what was begun and not ended: at the end of the process."""
    with _registry:
        runs, calls = list(_open_runs.values()), dict(_waiting_calls)
        _open_runs.clear()
        _waiting_calls.clear()
    for run in runs:
        run._close()
    for key, (to, call) in calls.items():
        to.line(_lines.line(call), key)


atexit.register(_flush)


def _after_fork() -> None:
    """A child goes on with nothing of what its parent began."""
    global _registry
    _registry = threading.Lock()
    _open_runs.clear()
    _waiting_calls.clear()
    _entered.clear()
    _here.run = _here.ended = None
    _here.waiting = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
