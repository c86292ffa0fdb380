"""One call of a model: what goes in, where it comes from, and what came of it."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import FrameType
from typing import Any, cast

from . import _lines, _run
from ._reply import _json_object, _reply
from ._run import Run
from ._sink import Sink, is_of_handler, warn
from ._upstream import _End, _Origin, _prompt_parts, _runner_step, _same_but_ids, _take, _unresolved

# Calls that made a procedure wait for its run; more than so many are written as they are.
_MOST_WAITING = 64

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


def _safely(do: Callable[..., Any], *args: Any) -> Any:
    """A fault of the recorder is a warning, and the run goes on."""
    try:
        return do(*args)
    except Exception as error:
        if is_of_handler(error):
            raise
        warn(f"stepscope could not record a call: {error!r}")
        return None


class _Asked:
    """One call: what goes in, and from when on."""

    __slots__ = ("call", "started", "token", "origin", "local", "index", "run", "outer", "to", "owns")

    def __init__(self, to: Sink, arguments: Mapping[str, Any], run: Run | None) -> None:
        self.to = to
        self.call: dict[str, Any] = {}
        self.local: Mapping[str, Any] | None = None
        self.index: int | None = None
        self.origin = _Origin(sys._getframe(1))
        self.outer = run or _run._current.get()
        self.run = _run._open_here(self.outer)
        if self.outer is None:
            _run._tell_of_threads()
        self.owns = False
        if self.origin.runner is not None:
            self._meet_runner(self.origin.runner)
        self._put_request(arguments)
        self.begin()
        self.enter()

    def begin(self) -> None:
        """The model is asked from now on."""
        self.call["started_utc"] = _lines.now()
        self.started = time.perf_counter()

    def enter(self) -> None:
        """Code of the recorded function runs from here to ``leave``; ``usage`` in it is of this call."""
        self.token: Token[dict[str, Any] | None] | None = _usage.set(self.call)

    def leave(self) -> None:
        token, self.token = self.token, None
        if token is not None:
            _run._reset(_usage, token)

    def _meet_runner(self, frame: FrameType) -> None:
        local = self.local = frame.f_locals
        run = self.run
        if run is None:
            run, self.owns = _run._here.run, True
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
        ended, _run._here.ended = _run._here.ended, None
        if ended is not None and ended._seen is frame:
            # It had not: its line is written again, with this call.
            ended._done, run = False, ended
        else:
            run = Run(self.to)
        _run._here.run = run
        with _run._registry:
            before = _run._open_runs.pop(threading.get_ident(), None)
            _run._open_runs[threading.get_ident()] = run
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
        following._block = run._block
        run._block[:] = [following]
        if _run._current.get() is run:
            _run._current.set(following)
        self.run = following
        return following

    def _made(self, procedure: Any) -> list[tuple[bytes, Sink, dict[str, Any]]]:
        """The calls of this thread that made the procedure; others that waited are written."""
        waiting, _run._here.waiting = _run._here.waiting, []
        if not waiting:
            return []
        with _run._registry:
            for key, _, _ in waiting:
                _run._waiting_calls.pop(key, None)
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
        call["prompt"] = prompt if prompt is None or isinstance(prompt, str) else _lines.dumps(prompt)
        call["schema"] = arguments.get("schema")
        for name in ("system", "model", "seed", "temperature", "max_tokens"):
            if arguments.get(name) is not None:
                call[name] = arguments[name]

    @property
    def is_taken_as_it_is(self) -> bool:
        """Whether evoproc's runner gets the reply as it is, and takes nothing that is not there yet."""
        return self.local is not None and self.origin.is_direct

    def note(self, counted: Mapping[str, int], more: Mapping[str, Any]) -> None:
        """Note the tokens of a reply, and its parts that are no text; what ``usage`` said counts."""
        if counted:
            self.call["usage"] = {**counted, **self.call.get("usage", {})}
        for name, part in more.items():
            self.call.setdefault(name, part)

    def end(self, reply: Any = None, error: BaseException | None = None) -> None:
        """Write what came of it: a reply, an error, or the part of a reply before an error."""
        self.leave()
        call = self.call
        call["duration_ms"] = round((time.perf_counter() - self.started) * 1000, 3)
        call["raw"], counted, more = _reply(reply)
        self.note(counted, more)
        if error is not None:
            call["error"] = ": ".join(_lines.words(error))
        elif call["raw"] is None and reply is not None:
            call["reply_type"] = f"{type(reply).__module__}.{type(reply).__qualname__}"
        if self.index is None or self.run is None or self.run._done:
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
            ended = _lines.words(error)
            call["outputs"] = None
        else:
            try:
                outputs, state = _take(local, index, reply)
                call["outputs"], call["error"] = outputs, None
                ended = None if state is not None else _unresolved(local, index, outputs)
            except _End as end:
                ended = (end.kind, str(end))
                call["outputs"], call["error"] = None, str(end)
        if not run._add_step(call):
            self._end_alone()
            return
        if state is not None:
            run.state, run.error = state, None
        elif ended is not None and (self.origin.is_direct or error is None):
            run.error = ended
        # Through a wrapper of the user's own the same step may be asked again: a failure may not be the end.
        if self.owns and (state is not None or (ended is not None and self.origin.is_direct)):
            self._settle(run)

    def _settle(self, run: Run) -> None:
        run._finish()
        _run._here.run = None
        if self.origin.is_direct:
            run._seen = None
        else:
            _run._here.ended = run
        with _run._registry:
            if _run._open_runs.get(threading.get_ident()) is run:
                del _run._open_runs[threading.get_ident()]

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
        if not run._add_step(call):
            self._end_alone()

    def _end_alone(self) -> None:
        call = self.call
        call.pop("keys", None)
        text = {"id": uuid.uuid4().hex, "model": call.get("model"), "prompt": call.pop("prompt")}
        text["response"] = call.pop("raw")
        if self.origin.purpose is not None:
            text["purpose"] = self.origin.purpose
        text.update({"error": call.pop("error", None), **call})
        if self.run is not None and self.run._add_making(_lines.dumps(text)):
            return
        is_waiting = self.run is None and self.origin.is_maker and self.origin.is_direct
        if not is_waiting or len(_run._here.waiting) >= _MOST_WAITING:
            # The line of its run is written already, or the parent of this process writes it.
            of = self.run or self.outer
            self.to.line(_lines.line(text if of is None else {**text, "run_id": of.id}))
            return
        # It may make the procedure of a run that follows.
        key = uuid.uuid4().bytes
        self.to.begin(key, _lines.line(text), b"", b"")
        _run._here.waiting.append((key, self.to, text))
        with _run._registry:
            _run._waiting_calls[key] = (self.to, text)


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
