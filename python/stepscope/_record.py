"""The recorder: what a run asked a model and what it got, written as stepscope's run trace.

``record(query, "runs.jsonl")`` wraps evoproc's query function. A call that comes from evoproc's runner belongs to a run,
and the run is one line of the file; a call that belongs to no run is a line of its own (prompt and reply). Upstream is
neither changed nor replaced: the recorder reads what its runner holds in its local variables.
"""

from __future__ import annotations

import asyncio
import atexit
import dis
import functools
import inspect
import json
import os
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, Generic, TypeVar, cast, overload

from . import _lines
from ._sink import Sink, sink

F = TypeVar("F", bound=Callable[..., Any])

# Frames that are looked through for evoproc's runner.
_MOST_FRAMES = 60
# Calls that made a procedure wait for its run; more than so many are written as they are.
_MOST_WAITING = 64

_RUNNER = "run_steps_stateful_minimal"
_RUNNER_LOCALS = {"proc", "problem_text", "answer_schema", "state", "step", "visible_inputs", "expected"}
_MAKERS = {
    "create_and_validate_procedure_structured": "create",
    "run_full_procedure_structured": "create",
    "repair_procedure_structured": "repair",
}
_OPERATORS = {"CrossoverOperator": "crossover", "MutationOperator": "mutation", "ProcedureGA": "create"}

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
        self._steps: list[tuple[str, bool]] = []
        self._making: list[str] = []
        self._asked: dict[int, int] = {}
        self._at = -1
        self._begun: tuple[Any, ...] | None = None
        self._lock = threading.Lock()
        self._seen: FrameType | None = None
        self._read: dict[str, Any] | None = None
        self._done = False

    def wrap(self, function: F) -> F:
        """A function that calls a model, with its calls recorded in this run, whatever thread they are made in."""
        return cast(F, _wrapped(function, self._sink, self))

    # What follows is for the recorder itself.

    def _begin(self) -> None:
        """What stands before and after the calls if this process is killed."""
        told = (self.question, id(self.procedure), id(self.answer_schema))
        if self._begun == told:
            return
        self._begun = told
        words = ("Killed", "the process ended before the run did; the calls so far were kept")
        head, tail = self._frame(words)
        self._sink.begin(self._key, head, b", ", tail)

    def _add_step(self, call: dict[str, Any]) -> None:
        with self._lock:
            index = call["step_index"]
            self._asked[index] = self._asked.get(index, 0) + 1
            if self._asked[index] > 1:
                call["attempt"] = self._asked[index]
            self._at = max(self._at, index)
            text = _lines.dumps(call)
            self._steps.append((text, call["step_id"] is None))
            if call["step_id"] is None and isinstance(call["raw"], str):
                self.fields["raw"] = call["raw"]
            self._begin()
            self._sink.piece(self._key, _lines.encoded(text))

    def _next(self) -> int:
        """The position of a call that says of no step."""
        with self._lock:
            self._at += 1
            return self._at

    def _add_making(self, text: str) -> None:
        with self._lock:
            self._making.append(text)

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
                if self.fitness is not None:
                    record["fitness"] = self.fitness
                if isinstance(steps, list):
                    record["steps"] = len(steps)
            record["state"] = self.state
            self._add_answer(record)
        else:
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
        """Write the line."""
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
            self.error = ("Interrupted", "the run did not come to its end")
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


_current: ContextVar[Run | None] = ContextVar("stepscope_run", default=None)


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
    _here.run = _here.ended = None
    _here.waiting = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# ---- where a call comes from ----------------------------------------------------------------------------------------


class _Origin:
    """What the stack says of a call."""

    __slots__ = ("runner", "is_direct", "is_maker", "purpose")

    def __init__(self, frame: FrameType | None) -> None:
        self.runner: FrameType | None = None
        self.is_direct = True
        self.is_maker = False
        self.purpose: str | None = None
        here = __file__
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return
            code = frame.f_code
            if code.co_filename == here:
                frame = frame.f_back
                continue
            name = code.co_name
            if name == _RUNNER and _RUNNER_LOCALS <= {*code.co_varnames, *code.co_cellvars}:
                self.runner = frame
                return
            if name in _MAKERS:
                self.purpose, self.is_maker = _MAKERS[name], True
                return
            if name in ("__call__", "_generate_one") and "self" in code.co_varnames:
                owner = type(frame.f_locals.get("self"))
                known = [_OPERATORS[base.__name__] for base in owner.__mro__ if base.__name__ in _OPERATORS]
                if known and any(base.__module__.startswith("evoproc") for base in owner.__mro__):
                    self.purpose = known[0]
                    return
            self.is_direct = False
            frame = frame.f_back


def _runner_step(local: Mapping[str, Any], after: int) -> int:
    """The position of the step that the runner is at. One step may stand in the list twice."""
    step, steps = local.get("step"), local["proc"].get("steps", [])
    same = [n for n, other in enumerate(steps) if other is step]
    later = [n for n in same if n >= after]
    return (later or same or [max(after, 0)])[0]


class _End(Exception):
    """The runner ends with this error."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def _take(local: Mapping[str, Any], index: int, reply: Any) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What upstream's runner takes of a reply: the outputs, and the final state where this was the last step. It raises
    ``_End`` where the runner does, with the runner's words."""
    step, expected = local["step"], list(local["expected"])
    try:
        out = json.loads(reply) if isinstance(reply, str) else reply
    except Exception as error:
        raise _End("ValueError", f"Non-JSON response for step id={step.get('id')}: {error}") from None
    outputs: dict[str, Any] = {}
    try:
        for name in expected:
            if name in out:
                outputs[name] = out[name]
            elif local.get("strict_missing", True):
                raise _End(
                    "RuntimeError",
                    f"Model omitted required output '{name}' for step id={step.get('id')} "
                    f"Returned keys: {sorted(out.keys())}",
                )
    except _End:
        raise
    except Exception as error:
        raise _End(type(error).__name__, str(error)) from None
    state = {**local["state"], **outputs}
    steps = local["proc"].get("steps", [])
    if index + 1 >= len(steps):
        return outputs, state
    return outputs, None


def _unresolved(local: Mapping[str, Any], index: int, outputs: Mapping[str, Any]) -> tuple[str, str] | None:
    """The error with which the runner ends before its next step, because nothing gives one of its inputs."""
    steps = local["proc"].get("steps", [])
    state = {**local["state"], **outputs}
    try:
        following = steps[index + 1]
        for field in following.get("inputs", []) or []:
            name = str(field.get("name"))
            if "name" in field and name != "problem_text" and name not in state:
                return (
                    "RuntimeError",
                    f"Unresolvable input '{name}' for step id={following.get('id')}: no prior producer in state.",
                )
    except Exception:
        return None  # what upstream makes of it shows itself
    return None


_INPUTS, _OUTPUTS, _SCHEMA = "\n# Inputs (JSON)\n", "\n# Required Outputs\n", "# Schema (verbatim)\n"


def _prompt_parts(prompt: Any) -> tuple[str, dict[str, Any], list[str]] | None:
    """Action, inputs and required keys of a prompt that evoproc's ``create_execution_prompt`` made."""
    if not isinstance(prompt, str) or _INPUTS not in prompt or _OUTPUTS not in prompt:
        return None
    action, rest = prompt.split(_INPUTS, 1)
    body, rest = rest.split(_OUTPUTS, 1)
    try:
        inputs = json.loads(body)
    except ValueError:
        return None
    lines = rest.split("\n\n# Format", 1)[0].splitlines()[1:]
    keys = [line[2:].split(":", 1)[0].rstrip() for line in lines if line.startswith("- ")]
    return (action, inputs, keys) if isinstance(inputs, dict) else None


def _step_of_prompt(run: Run, action: str) -> int | None:
    """The step that a prompt is of: the next one with this action, else the one that is asked again."""
    steps = run.procedure.get("steps", []) if isinstance(run.procedure, Mapping) else []
    same = [
        n
        for n, step in enumerate(steps)
        if (step.get("stepDescription") or step.get("step_description") or "") == action
    ]
    later = [n for n in same if n not in run._asked]
    return later[0] if later else same[-1] if same else None


# ---- one call -------------------------------------------------------------------------------------------------------

_usage: ContextVar[dict[str, Any] | None] = ContextVar("stepscope_usage", default=None)


def usage(
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    **more: Any,
) -> None:
    """Say, inside a recorded function, what the server counted, and whatever else the call is to hold
    (``temperature=0.2``, ``backend="openai"``, ``model="..."``). Outside of one it does nothing."""
    call = _usage.get()
    if call is None:
        return
    tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    tokens = {name: count for name, count in tokens.items() if count is not None}
    if tokens:
        call.setdefault("usage", {}).update(tokens)
    call.update(more)


class _Asked:
    """One call: what goes in, and from when on."""

    __slots__ = ("call", "reply_text", "started", "token", "origin", "local", "index", "run", "to", "owns")

    def __init__(self, to: Sink, arguments: Mapping[str, Any], run: Run | None) -> None:
        self.to = to
        self.call: dict[str, Any] = {}
        self.reply_text: str | None = None
        self.local: Mapping[str, Any] | None = None
        self.index: int | None = None
        self.origin = _Origin(sys._getframe(1))
        self.run = run or _current.get()
        self.owns = False
        if self.origin.runner is not None:
            self._meet_runner(self.origin.runner)
        self._put_request(arguments)
        self.token = _usage.set(self.call)
        self.call["started_utc"] = _lines.now()
        self.started = time.perf_counter()

    def _meet_runner(self, frame: FrameType) -> None:
        local = self.local = frame.f_locals
        run = self.run
        if run is None:
            run, self.owns = _here.run, True
            if run is None or run._seen is not frame:
                run = self._begin_run(frame)
            self.run = run
        elif run._seen is not None and run._seen is not frame and run._steps:
            # A block around several runs: each has its own line.
            run = self._follow(run)
        if run._seen is not frame:
            run._meet(frame, local)
            for key, to, call in self._made(local["proc"]):
                run._add_making(_lines.dumps(call))
                to.line(b"", key)
        self.index = _runner_step(local, run._at)

    def _begin_run(self, frame: FrameType) -> Run:
        """The run of a runner that was not met before in this thread."""
        ended, _here.ended = _here.ended, None
        if ended is not None and ended._seen is frame:
            # It had not: its line is written again, with this call.
            ended._done, run = False, ended
        else:
            run = Run(self.to)
        _here.run = run
        with _registry:
            before = _open_runs.pop(threading.get_ident(), None)
            _open_runs[threading.get_ident()] = run
        if before is not None:
            before._close()
        return run

    def _follow(self, run: Run) -> Run:
        """The next run of a block, once one has ended in it."""
        fields = {**run.fields, "gold_answer": run.gold_answer, "mode": run.mode}
        if run.state is None and run.error is None:
            run.error = ("Interrupted", "the run did not come to its end")
        run._finish()
        following = Run(run._sink, {name: value for name, value in fields.items() if value is not None})
        if _current.get() is run:
            _current.set(following)
        self.run = following
        return following

    def _made(self, procedure: Any) -> list[tuple[bytes, Sink, dict[str, Any]]]:
        """The calls of this thread that made the procedure; others that waited are written."""
        waiting, _here.waiting = _here.waiting, []
        if not waiting:
            return []
        with _registry:
            for key, _, _ in waiting:
                _waiting_calls.pop(key, None)
        try:
            last = json.loads(waiting[-1][2]["response"])
            made = last == procedure or _same_but_ids(last, procedure)
        except (KeyError, TypeError, ValueError):
            made = False
        if made:
            return waiting
        for key, to, call in waiting:
            to.line(_lines.line(call), key)
        return []

    def _put_request(self, arguments: Mapping[str, Any]) -> None:
        call, prompt = self.call, arguments.get("prompt")
        parts = None
        if self.local is not None and self.index is not None:
            call.update(
                step_index=self.index,
                step_id=self.local["step"].get("id"),
                is_final=bool(self.local.get("is_last")),
                inputs=dict(self.local["visible_inputs"]),
            )
        elif self.run is not None and self.origin.purpose is None:
            parts = _prompt_parts(prompt)
            index = _step_of_prompt(self.run, parts[0]) if parts else None
            if index is not None and parts is not None:
                steps = cast("Mapping[str, Any]", self.run.procedure)["steps"]
                self.index, identity = index, steps[index].get("id")
                call.update(step_index=index, step_id=identity, is_final=identity == len(steps), inputs=parts[1])
                call["keys"] = parts[2]
            elif self.run.procedure is None:
                self.index = self.run._next()
                call.update(step_index=self.index, step_id=None, is_final=True, inputs=None)
        call["prompt"] = prompt if isinstance(prompt, str) else _lines.dumps(prompt)
        call["schema"] = arguments.get("schema")
        for name in ("model", "seed", "temperature", "max_tokens"):
            if arguments.get(name) is not None:
                call[name] = arguments[name]

    def end(self, reply: Any = None, error: BaseException | None = None) -> None:
        """Write what came of it."""
        try:
            _usage.reset(self.token)
        except ValueError:  # it ends in another context than it began in
            pass
        call = self.call
        call["duration_ms"] = round((time.perf_counter() - self.started) * 1000, 3)
        if error is None:
            text, counted = _reply(reply)
            if counted:
                call["usage"] = {**counted, **call.get("usage", {})}
            call["raw"] = text
        else:
            call["raw"] = None
            call["error"] = f"{type(error).__name__}: {error}"
        if self.index is None or self.run is None:
            self._end_alone()
        elif self.local is not None:
            self._end_in_runner(self.local, self.index, self.run, reply, error)
        else:
            self._end_by_prompt(self.run, error)

    def _end_in_runner(
        self, local: Mapping[str, Any], index: int, run: Run, reply: Any, error: BaseException | None
    ) -> None:
        call, ended, state = self.call, None, None
        if error is not None:
            ended = (type(error).__name__, str(error))
            call["outputs"] = None
        else:
            try:
                outputs, state = _take(local, index, reply)
                call["outputs"], call["error"] = outputs, None
                ended = None if state is not None else _unresolved(local, index, outputs)
            except _End as end:
                ended = (end.kind, str(end))
                call["outputs"], call["error"] = None, str(end)
        run._add_step(call)
        if state is not None:
            run.state, run.error = state, None
        elif ended is not None and (self.origin.is_direct or error is None):
            run.error = ended
        # Through a wrapper of the user's own the same step may be asked again: a failure may not be the end.
        if self.owns and (state is not None or (ended is not None and self.origin.is_direct)):
            self._settle(run)

    def _settle(self, run: Run) -> None:
        run._finish()
        _here.run = None
        if self.origin.is_direct:
            run._seen = None
        else:
            _here.ended = run
        with _registry:
            if _open_runs.get(threading.get_ident()) is run:
                del _open_runs[threading.get_ident()]

    def _end_by_prompt(self, run: Run, error: BaseException | None) -> None:
        call = self.call
        keys = call.pop("keys", None)
        call["outputs"] = None
        out = _json_object(call.get("raw"))
        if error is None and out is not None:
            call["outputs"] = {key: out[key] for key in keys if key in out} if keys is not None else out
            call["error"] = None
            if keys is None:
                run._read = out
        elif error is None and keys is not None:
            call["error"] = "the reply is no JSON object"
        run._add_step(call)

    def _end_alone(self) -> None:
        call = self.call
        text = {"id": uuid.uuid4().hex, "model": call.get("model"), "prompt": call.pop("prompt")}
        text["response"] = call.pop("raw")
        if self.origin.purpose is not None:
            text["purpose"] = self.origin.purpose
        text.update({"error": call.pop("error", None), **call})
        if self.run is not None:
            self.run._add_making(_lines.dumps(text))
            return
        key = uuid.uuid4().bytes
        if not self.origin.is_maker or not self.origin.is_direct or len(_here.waiting) >= _MOST_WAITING:
            self.to.line(_lines.line(text))
            return
        # It may make the procedure of a run that follows.
        self.to.begin(key, _lines.line(text), b"", b"")
        _here.waiting.append((key, self.to, text))
        with _registry:
            _waiting_calls[key] = (self.to, text)


def _same_but_ids(a: Any, b: Any) -> bool:
    def without(procedure: Any) -> Any:
        return {**procedure, "steps": [{**step, "id": None} for step in procedure["steps"]]}

    try:
        return bool(without(a) == without(b))
    except (KeyError, TypeError):
        return False


def _json_object(text: Any) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _get(value: Any, *names: str | int) -> Any:
    """A member of nested objects of clients, however they are reached; ``None``: it is not there."""
    for name in names:
        try:
            value = value[name] if isinstance(name, int) or isinstance(value, Mapping) else getattr(value, name)
        except (KeyError, IndexError, AttributeError, TypeError):
            return None
    return value


def _reply(reply: Any) -> tuple[str | None, dict[str, int]]:
    """The text of a reply and the tokens that were counted, for strings and for the objects of the usual clients."""
    if reply is None or isinstance(reply, str):
        return reply, {}
    paths: tuple[tuple[str | int, ...], ...] = (
        ("choices", 0, "message", "content"),
        ("output_text",),
        ("content", 0, "text"),
        ("message", "content"),
        ("response",),
    )
    text = next((found for path in paths if isinstance(found := _get(reply, *path), str)), None)
    counted: dict[str, int] = {}
    for name, keys in (
        ("prompt_tokens", (("usage", "prompt_tokens"), ("usage", "input_tokens"), ("prompt_eval_count",))),
        ("completion_tokens", (("usage", "completion_tokens"), ("usage", "output_tokens"), ("eval_count",))),
    ):
        for key in keys:
            count = _get(reply, *key)
            if isinstance(count, int) and not isinstance(count, bool):
                counted[name] = count
                break
    return (text if text is not None else _lines.dumps(reply)), counted


# ---- wrapping -------------------------------------------------------------------------------------------------------

_NAMES = {
    "prompt": ("prompt", "messages", "input", "question", "text"),
    "schema": ("fmt", "format", "schema", "response_format"),
    "model": ("model",),
    "seed": ("seed",),
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "num_predict"),
}


class _Reader:
    """Reads the arguments of a function by their names."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if self.signature is not None:
            try:
                bound = self.signature.bind(*args, **kwargs)
                bound.apply_defaults()
                for name, value in bound.arguments.items():
                    kind = self.signature.parameters[name].kind
                    if kind is inspect.Parameter.VAR_KEYWORD:
                        given.update(value)
                    elif kind is not inspect.Parameter.VAR_POSITIONAL:
                        given[name] = value
            except TypeError:
                given = dict(kwargs)
        found = {key: given[name] for key, names in _NAMES.items() for name in reversed(names) if name in given}
        if "prompt" not in found:
            # (prompt, model, fmt, seed) is the order of evoproc's query functions.
            for key, value in zip(("prompt", "model", "schema", "seed"), args):
                found.setdefault(key, value)
        return found


class _Query:
    """A function with its calls recorded; in everything else it is that function."""

    _own = frozenset(("_function", "_call", "_to", "_run", "_read"))

    def __init__(self, function: Callable[..., Any], to: Sink, run: Run | None) -> None:
        self._function = function
        self._call = _with_usage(function)
        self._to, self._run = to, run
        self._read = _Reader(function)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(function, name):
                object.__setattr__(self, name, getattr(function, name))
        object.__setattr__(self, "__wrapped__", function)

    def __getattr__(self, name: str) -> Any:
        if name in _Query._own:  # not there yet
            raise AttributeError(name)
        return getattr(self._function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _Query._own:
            object.__setattr__(self, name, value)
        else:
            setattr(self._function, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        asked = _safely(_Asked, self._to, _safely(self._read, args, kwargs) or {}, self._run)
        try:
            reply = self._call(*args, **kwargs)
        except BaseException as error:
            if asked is not None:
                _safely(asked.end, None, error)
            raise
        if asked is not None:
            _safely(asked.end, reply)
        return reply

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> Any:
        if self._run is not None:
            raise TypeError("a function that is recorded into one run cannot go to another process")
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return record, (self._function, self._to.path)

    def __repr__(self) -> str:
        return f"<recorded {self._function!r}>"


def _safely(do: Callable[..., Any], *args: Any) -> Any:
    """A fault of the recorder is a warning, and the run goes on."""
    try:
        return do(*args)
    except Exception as error:
        import warnings

        warnings.warn(f"stepscope could not record a call: {error!r}", RuntimeWarning, stacklevel=3)
        return None


def _wrapped(function: Callable[..., Any], to: Sink, run: Run | None) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):
        read = _Reader(function)

        @functools.wraps(function)
        async def recorded(*args: Any, **kwargs: Any) -> Any:
            asked = _safely(_Asked, to, _safely(read, args, kwargs) or {}, run)
            try:
                reply = await function(*args, **kwargs)
            except (Exception, asyncio.CancelledError) as error:
                if asked is not None:
                    _safely(asked.end, None, error)
                raise
            if asked is not None:
                _safely(asked.end, reply)
            return reply

        return recorded
    return _Query(function, to, run)


class _Globals(dict[str, Any]):
    """The global names of a function, as they are at each look, but for one module."""

    def __init__(self, real: dict[str, Any], name: str, other: Any) -> None:
        super().__init__(real)
        self._real, self._name, self._other = real, name, other

    def __getitem__(self, name: str) -> Any:
        if name == self._name:
            now = self._real[name]
            return self._other if now is self._other._module else now
        return self._real[name]


class _Ollama:
    """The client module of Ollama; what its calls say of tokens and options is kept for the recorded call."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name not in ("generate", "chat") or not callable(found):
            return found

        @functools.wraps(found)
        def told(*args: Any, **kwargs: Any) -> Any:
            reply = found(*args, **kwargs)
            options = kwargs.get("options")
            more = {"backend": "ollama", "endpoint": f"/api/{name}"}
            if isinstance(options, Mapping) and options.get("temperature") is not None:
                more["temperature"] = options["temperature"]
            _, counted = _reply(reply)
            usage(counted.get("prompt_tokens"), counted.get("completion_tokens"), **more)
            return reply

        return told


def _with_usage(function: Callable[..., Any]) -> Callable[..., Any]:
    """evoproc's Ollama functions give the text alone. A copy of such a function, which sees the client through
    ``_Ollama``, tells what the server counted; the function itself stays as it is."""
    names = getattr(function, "__globals__", None)
    module = names.get("ollama") if isinstance(function, FunctionType) and names is not None else None
    if not isinstance(module, ModuleType) or "ollama" not in function.__code__.co_names:
        return function
    if any(each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for each in dis.get_instructions(function)):
        return function  # a copy would write elsewhere
    copy = FunctionType(
        function.__code__,
        _Globals(cast("dict[str, Any]", names), "ollama", _Ollama(module)),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _is_runner(function: Callable[..., Any]) -> bool:
    """Whether a function runs a procedure: it takes one, and a problem's text or inputs."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return ("proc" in names or "procedure" in names) and not {"problem_text", "question", "inputs"}.isdisjoint(names)


def _makes_runs(function: Callable[..., Any]) -> bool:
    """Whether it makes a procedure and may run it: it takes a query function."""
    try:
        return "query_fn" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _recorded_runner(function: Callable[..., Any], to: Sink) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run_recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # which says what is wrong
        given = bound.arguments
        run, outer = _current.get(), None
        if run is None:
            run = outer = Run(to)
        procedure = given.get("proc", given.get("procedure"))
        text = given.get("problem_text", given.get("question"))
        inputs = given.get("inputs")
        if text is None and isinstance(inputs, Mapping):
            text = inputs.get("problem_text")
        run.procedure = procedure if isinstance(procedure, Mapping) else run.procedure
        run.question = run.question if run.question is not None else text
        run.answer_schema = given.get("answer_schema", run.answer_schema)
        _wrap_queries(bound, run)
        token = _current.set(run)
        try:
            result = function(*bound.args, **bound.kwargs)
        except BaseException as error:
            run.error = (type(error).__name__, str(error))
            raise
        else:
            run = _current.get() or run
            state = result
            if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Mapping):
                run.procedure, state = result
            if isinstance(state, Mapping):
                run.state, run.error = state, None
            return result
        finally:
            last = _current.get() or run
            _current.reset(token)
            if outer is not None:
                _safely(last._close)

    return run_recorded


def _wrap_queries(bound: inspect.BoundArguments, run: Run) -> None:
    """Record what a runner asks with, if that is not recorded already."""
    given = bound.arguments
    query = given.get("query_fn")
    if callable(query) and not isinstance(query, _Query):
        given["query_fn"] = run.wrap(query)
    steps = given.get("run_steps_fn")
    inner = getattr(steps, "keywords", {}).get("query_fn") if isinstance(steps, functools.partial) else None
    if isinstance(steps, functools.partial) and callable(inner) and not isinstance(inner, _Query):
        given["run_steps_fn"] = functools.partial(
            steps.func, *steps.args, **{**steps.keywords, "query_fn": run.wrap(inner)}
        )


def _recorded_maker(function: Callable[..., Any], to: Sink) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def make_recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)
        query = bound.arguments.get("query_fn")
        if callable(query) and not isinstance(query, _Query):
            bound.arguments["query_fn"] = _wrapped(query, to, None)
        return function(*bound.args, **bound.kwargs)

    return make_recorded


class Recording(Generic[F]):
    """What ``record(path, ...)`` gives: a decorator, and a context manager around one run."""

    def __init__(self, path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
        self._sink = sink(path)
        self._fields = fields
        self._entered: list[tuple[Run, Token[Run | None]]] = []

    def __call__(self, function: F) -> F:
        return cast(F, _record(function, self._sink))

    def __enter__(self) -> Run:
        run = Run(self._sink, self._fields)
        self._entered.append((run, _current.set(run)))
        return run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        run, token = self._entered.pop()
        run = _current.get() or run
        _current.reset(token)
        if error is not None:
            run.error = (type(error).__name__, str(error))
        elif run.state is None and run.error is None:
            # One direct prompt: its reply is the answer.
            run.state = run._read
        _safely(run._close)


def _record(function: Callable[..., Any], to: Sink) -> Callable[..., Any]:
    if not callable(function):
        raise TypeError(f"record takes a function or a path, not {type(function).__name__}")
    if isinstance(function, _Query):
        return _wrapped(function._function, to, None)
    if _is_runner(function) or _is_pipeline(function):
        return _recorded_runner(function, to)
    if _makes_runs(function):
        return _recorded_maker(function, to)
    return _wrapped(function, to, None)


def _is_pipeline(function: Callable[..., Any]) -> bool:
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return {"query_fn", "run_steps_fn", "question"} <= set(names)


@overload
def record(function: F, path: str | os.PathLike[str], /) -> F: ...


@overload
def record(path: str | os.PathLike[str], /, **fields: Any) -> Recording[Any]: ...


def record(first: Any, path: str | os.PathLike[str] | None = None, /, **fields: Any) -> Any:
    """Record what a model was asked and what it said.

    - ``query = record(query, "runs.jsonl")``: a query function of evoproc, or any function that calls a model. Runs of
      evoproc's runner become one line each; a call outside of a run is a line of its own.
    - ``run_steps = record(run_steps_stateful_minimal, "runs.jsonl")``: a runner; its query function is recorded with it.
    - ``@record("calls.jsonl")``: the same as a decorator.
    - ``with record("runs.jsonl", question=..., gold_answer=..., id=...) as run:`` around one run, with what else its
      record is to hold. Recorded functions that are called inside write into it.

    The wrapped function takes, gives and raises what it did. What cannot be written is a warning, never an error.
    """
    if path is None and isinstance(first, (str, os.PathLike)):
        return Recording(first, fields)
    if path is None or fields:
        raise TypeError("record(function, path), @record(path), or with record(path, question=..., ...)")
    return _record(first, sink(path))
