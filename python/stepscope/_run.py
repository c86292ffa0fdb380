"""One run that is being recorded, and those that a process has begun."""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import _lines
from ._html import escaped
from ._lines import digest, line_number
from ._program import StepscopeError
from ._sink import Sink, warn

if TYPE_CHECKING:
    from ._report import Report
    from ._step import Step

F = TypeVar("F", bound=Callable[..., Any])

_UNRECORDED = (
    "Unrecorded",
    "no call of this run was recorded; calls in other threads are part of it through run.wrap(function), those in other"
    " processes never",
)
# More than so much on a line is refused by stepscope.
_LONGEST = 64 << 20
# Calls whose messages the next call's are compared with.
_MOST_COMPARED = 8
_RUN_FIELDS = ("id", "row_index", "question", "gold_answer", "gold_num")


class _Entry:
    """One call in the list of a trace, as text."""

    __slots__ = ("text", "is_bare", "messages", "number", "order")

    def __init__(self, text: str, is_bare: bool, messages: list[str] | None, number: int) -> None:
        self.text = text
        #: Whether it says of no step.
        self.is_bare = is_bare
        #: All messages of the prompt, and by which number later calls name it.
        self.messages, self.number = messages, number
        #: How many entries there were before it.
        self.order = 0

    def whole(self) -> str:
        """The text with all messages, for where the calls before it are not."""
        if self.messages is None:
            return self.text
        call = json.loads(self.text)
        call["prompt"] = _joined(self.messages)
        for name in ("call", "messages_from"):
            call.pop(name, None)
        return _lines.dumps(call)


def _joined(messages: list[str]) -> str:
    return f"[{', '.join(messages)}]"


class Run:
    """One run that is being recorded: what ``with record(...)`` and ``start(...)`` give.

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
        self._steps: list[_Entry] = []
        # The last calls with messages, and how many there were.
        self._talks: deque[_Entry] = deque(maxlen=_MOST_COMPARED)
        self._talk_count = 0
        #: What steps wrote, in the order of their ends.
        self._written: dict[str, Any] | None = None
        self._written_at: dict[str, int] = {}
        self._count = 0
        #: What the replies gave to the steps of a procedure that no known runner runs, and what those were asked last.
        self._given: dict[str, Any] = {}
        self._asked_last: tuple[Any, int] | None = None
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
        # Of its line: what it is known by, and which one it is.
        self._digest: bytes | None = None
        self._line: int | None = None

    def wrap(self, function: F) -> F:
        """A function that calls a model, with its calls recorded in this run, whatever thread they are made in."""
        from ._record import _wrapped  # which needs this module

        if not callable(function):
            raise TypeError(f"wrap takes a function, not {type(function).__name__}")
        return cast(F, _wrapped(function, self._sink, self))

    def step(self, name: str | int, reads: Mapping[str, Any] | None = None) -> Step:
        """A step of this run, for a ``with`` block: calls that are made in it belong to it.

        >>> with run.step("extract", reads={"mail": mail}) as step:
        ...     step.writes(total=ask(mail))

        Where the run has a procedure, ``name`` is the id or the text of one of its steps, else the next one is meant.
        """
        from ._step import Step  # which needs this module

        return Step(self, name, reads)

    def end(self, state: Mapping[str, Any] | None = None, error: BaseException | None = None) -> Run:
        """Write the line of a run that ``start`` began; what comes later does not belong to it. Last in a cell of a
        notebook, it draws the run."""
        run = self._last()
        if state is not None:
            run.state = state
        if error is not None:
            run.error = _lines.words(error)
        _stop(run)
        run._read_answer()
        run._close(is_over=True)
        return run

    @property
    def line(self) -> int | None:
        """The line of the file that the run is; ``None`` until it is written, and where it is not there any more."""
        run = self._last()
        if run._line is None and run._digest is not None:
            run._line = line_number(run._sink.path, run._digest)
        return run._line

    def show(self) -> Report:
        """The report of the run, once it is written."""
        from ._report import show  # which needs the program

        line = self.line
        if line is None:
            raise StepscopeError(f"this run cannot be shown: it is {self._place()}")
        return show(self._sink.path, line=line)

    def _place(self) -> str:
        """Where it went: ``recorded to runs.jsonl, line 3``."""
        run = self._last()
        path = _relative(run._sink.path)
        if not run._done:
            return f"open, to be recorded to {path}"
        line = self.line
        if line is None:
            # Nothing can be looked up in a pipe.
            is_lost = os.path.isfile(run._sink.path) or not os.path.exists(run._sink.path)
            return f"not found in {path}" if is_lost else f"recorded to {path}"
        return f"recorded to {path}, line {line}"

    def __repr__(self) -> str:
        run = self._last()
        about = "" if run.question is None else f", {_short(run.question)!r}"
        calls = f"{len(run._steps)} call{'' if len(run._steps) == 1 else 's'}"
        return f"<Run {_short(str(run.id))!r}{about}: {calls}, {self._place()}>"

    def _repr_html_(self) -> str:
        try:
            return self.show()._drawn(self._place())
        except (StepscopeError, OSError):
            # It is open, or the program is not here.
            return f"<p>{escaped(repr(self))}</p>"

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

    def _add_step(
        self, call: dict[str, Any], messages: list[str] | None = None, wrote: Mapping[str, Any] | None = None
    ) -> _Entry | None:
        """Take a call, and what its step wrote; not where the line is written already, or is the parent's."""
        if not self._is_here:
            return None
        with self._lock:
            if self._done:
                return None
            index, is_of_step = call["step_index"], "name" in call
            self._asked[index] = self._asked.get(index, 0) + 1
            if self._asked[index] > 1 and not is_of_step:
                call["attempt"] = self._asked[index]
            self._at = max(self._at, index)
            is_bare = call["step_id"] is None and not is_of_step
            entry = self._entry(call, messages, is_bare)
            entry.order = self._count = self._count + 1
            self._steps.append(entry)
            if is_of_step:
                self._wrote(entry, wrote)
            if is_bare and isinstance(call["raw"], str) and call.get("error") is None:
                self.fields["raw"] = call["raw"]
            self._begin()
            self._sink.piece(self._key, _lines.encoded(entry.text))
            return entry

    def _entry(self, call: dict[str, Any], messages: list[str] | None, is_bare: bool) -> _Entry:
        """A call as text. Messages that an earlier call had are named instead of written again: a long talk would be
        as many times as long as it has turns."""
        if messages is None:
            return _Entry(_lines.dumps(call), is_bare, None, -1)
        found = ((_alike(entry.messages or [], messages), entry) for entry in self._talks)
        alike, from_ = max(found, key=lambda pair: pair[0], default=(0, None))
        # A prompt of nothing would look as if nobody had asked.
        alike = min(alike, len(messages) - 1)
        number = call["call"] = self._talk_count
        self._talk_count += 1
        if from_ is not None and alike > 0:
            messages[:alike] = (from_.messages or [])[:alike]
            call["messages_from"] = {"call": from_.number, "count": alike}
        call["prompt"] = _joined(messages[alike:])
        entry = _Entry(_lines.dumps(call), is_bare, messages, number)
        self._talks.append(entry)
        return entry

    def _amend(self, entry: _Entry, call: dict[str, Any], outputs: Mapping[str, Any] | None) -> bool:
        """Write a call that was taken already anew, now that it is known what came of it."""
        with self._lock:
            if self._done or not self._is_here:
                return False
            entry.text = _lines.dumps(call)
            self._wrote(entry, outputs)
            # The writer can add, not change.
            kept = ("step_index", "step_id", "name", "inputs", "outputs", "error")
            last = {name: call[name] for name in kept if name in call}
            self._sink.piece(self._key, _lines.encoded(_lines.dumps(last)))
            return True

    def _wrote(self, entry: _Entry, outputs: Mapping[str, Any] | None) -> None:
        self._written = {**(self._written or {}), **(outputs or {})}
        self._written_at.update(dict.fromkeys(outputs or (), entry.order))

    def _is_newest(self, entry: _Entry, outputs: Mapping[str, Any] | None) -> bool:
        """Whether no later entry has written these names: the last one in the list is believed."""
        with self._lock:
            return all(self._written_at.get(name, 0) <= entry.order for name in outputs or ())

    def _position(self, name: str | int) -> tuple[int, Any, bool] | None:
        """Position, id and whether it is the last one, of the step of the procedure that is called so."""
        steps = _steps_of(self.procedure)
        if not steps:
            return None
        ids = [step.get("id") for step in steps]
        texts = [step.get("stepDescription", step.get("step_description")) for step in steps]
        named = [n for n in range(len(steps)) if name in (ids[n], texts[n]) or str(name) == str(ids[n])]
        index = named[0] if named else self._next_step(len(steps))
        return index, ids[index], ids[index] == len(steps)

    def _next_step(self, count: int) -> int:
        """The first step of so many that was not asked yet, else the last."""
        return next((n for n in range(count) if n not in self._asked), count - 1)

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
        self._begin_steps()

    def _begin_steps(self) -> None:
        """From here on calls are steps of the procedure. Those from before it are none."""
        with self._lock:
            self._making += [entry.whole() for entry in self._steps if entry.is_bare]
            self._steps = [entry for entry in self._steps if not entry.is_bare]
            self._talks.clear()
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
        has_steps, has_procedure = self._written is not None, self.procedure is not None
        mode = self.mode or ("procedural" if has_steps or has_procedure else "baseline")
        state = self._written if self.state is None else self.state
        if has_steps:
            record.pop("raw", None)
        trace: dict[str, Any] = {"format": "stepscope.run_trace", "version": 1}
        if self.answer_schema is not None:
            trace["answer_schema"] = _schema_name(self.answer_schema)
        elif has_steps and not has_procedure:
            # Whoever names the steps is bound to none of evoproc's schemas.
            trace["answer_schema"] = {"type": "object"}
        if error is None:
            record.update(status="ok", mode=mode)
            if mode != "baseline" and (has_procedure or not has_steps):
                record["procedure"] = self.procedure
                if isinstance(steps, list):
                    record["steps"] = len(steps)
            record["state"] = state
            self._add_answer(record)
        else:
            if state is not None:
                record["state"] = state
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
        state = record["state"] if isinstance(record["state"], Mapping) else {}
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
            calls = ", ".join(entry.text for entry in self._steps)
            line = head + _lines.encoded(calls) + tail
            self._digest = digest(line)
            self._sink.line(line, self._key)
        if len(line) > _LONGEST:
            warn(
                f"stepscope: the run {self.id!r} is a line of {len(line) >> 20} MB, and lines of more than"
                f" {_LONGEST >> 20} MB are not read: record it as several runs"
            )

    def _close(self, is_over: bool = False) -> None:
        """Write the line of a run whose end nobody saw, or (``is_over``) that came to its end."""
        has_result = self.state is not None or "raw" in self.fields or (is_over and self._written is not None)
        if self.error is None and not has_result:
            has_calls = self._steps or self._making
            self.error = ("Interrupted", "the run did not come to its end") if has_calls else _UNRECORDED
        self._finish()

    def _read_answer(self) -> None:
        """What the replies gave is the state; of one direct prompt the reply is the answer."""
        if self.state is None and self.error is None and self._written is None:
            self.state = self._given or self._read


def _steps_of(procedure: Any) -> list[Mapping[str, Any]]:
    """The steps of a procedure, if they are what they should be."""
    steps = procedure.get("steps") if isinstance(procedure, Mapping) else None
    is_list = isinstance(steps, list) and all(isinstance(step, Mapping) for step in steps)
    return cast("list[Mapping[str, Any]]", steps) if is_list else []


def _alike(before: list[str], now: list[str]) -> int:
    """How many messages two calls begin with together."""
    count = 0
    for one, other in zip(before, now):
        if one != other:
            break
        count += 1
    return count


def _relative(path: str) -> str:
    """A path as it is written from here, if it is below."""
    here = os.path.relpath(path)
    return path if here.startswith(os.pardir) else here


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


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
_current_step: ContextVar[Step | None] = ContextVar("stepscope_step", default=None)
_started: Run | None = None


def _start(run: Run) -> None:
    """Calls outside of any block belong to a run from here to ``_stop``, in whatever thread or context they are made:
    a notebook runs each cell in one of its own."""
    global _started
    before, _started = _started, run
    if before is not None and not before._done:
        warn(f"stepscope: the run {before.id!r} was not ended before another one was started; it is written as it is")
        before._read_answer()
        before._close()


def _stop(run: Run) -> None:
    global _started
    if _started is run:
        _started = None


def _around() -> Run | None:
    """The run that calls are made in."""
    run = _current.get()
    return _started if run is None else run


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


_Tokens = tuple[Token["Run | None"], Token["Step | None"]]


def _enter(run: Run) -> _Tokens:
    """Calls belong to a run from here to ``_leave``, unless they are made in another thread."""
    _entered[run] = threading.get_ident()
    return _current.set(run), _current_step.set(None)


def _leave(run: Run, tokens: _Tokens) -> None:
    _entered.pop(run, None)
    _reset(_current, tokens[0])
    _reset(_current_step, tokens[1])


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
    if _started is not None:
        runs.append(_started)
    for run in runs:
        run._close()
    for key, (to, call) in calls.items():
        to.line(_lines.line(call), key)


atexit.register(_flush)


def _after_fork() -> None:
    """A child goes on with nothing of what its parent began."""
    global _registry, _started
    _registry = threading.Lock()
    _started = None
    _open_runs.clear()
    _waiting_calls.clear()
    _entered.clear()
    _here.run = _here.ended = None
    _here.waiting = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
