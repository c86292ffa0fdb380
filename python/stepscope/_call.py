"""One call of a model: what goes in, where it comes from, and what came of it."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from contextvars import ContextVar, Token
from types import FrameType
from typing import Any

from . import _lines, _run
from ._reply import _json_object, _reply
from ._run import Run
from ._sink import Sink
from ._step import Step
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


class _Asked:
    """One call: what goes in, and from when on."""

    __slots__ = (
        "call", "started", "token", "origin", "local", "index", "run", "outer", "to", "owns", "step", "messages",
        "wanted",
    )  # fmt: skip

    def __init__(self, to: Sink, arguments: Mapping[str, Any], run: Run | None) -> None:
        self.to = to
        self.step: Step | None = None
        self.messages: list[str] | None = None
        #: The keys that a step of a procedure is to give, where its prompt does not say them.
        self.wanted: list[str] | None = None
        self.call: dict[str, Any] = {}
        self.local: Mapping[str, Any] | None = None
        self.index: int | None = None
        self.origin = _Origin(sys._getframe(1))
        self.outer = run or _run._around()
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
        if _run._started is run:
            _run._started = following
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
        if self.local is not None and self.index is not None:
            call.update(
                step_index=self.index,
                step_id=self.local["step"].get("id"),
                is_final=bool(self.local.get("is_last")),
                inputs=dict(self.local["visible_inputs"]),
            )
        elif self.run is not None and self.origin.purpose is None:
            self._put_place(self.run, prompt, arguments.get("schema"))
        if self.run is not None and self.local is None and isinstance(prompt, (list, tuple)):
            # The next call may have the same and more.
            are_messages = bool(prompt) and not any(isinstance(each, str) for each in prompt)
            self.messages = [_lines.dumps(message) for message in prompt] if are_messages else None
        call["prompt"] = prompt if prompt is None or isinstance(prompt, str) else _lines.dumps(prompt)
        call["schema"] = arguments.get("schema")
        for name in ("system", "model", "seed", "temperature", "max_tokens"):
            if arguments.get(name) is not None:
                call[name] = arguments[name]

    def _put_place(self, run: Run, prompt: Any, schema: Any) -> None:
        """Say which step a call is of, if evoproc's runner did not."""
        step = _run._current_step.get()
        if step is not None and step._of(run):
            self.step = step
            return
        parts = _prompt_parts(prompt)
        index = _step_of_prompt(run, parts[0]) if parts else None
        inputs: dict[str, Any] | None
        steps = _run._steps_of(run.procedure)
        if index is None and run.procedure is None:
            self.index = run._next()
            self.call.update(step_index=self.index, step_id=None, is_final=True, inputs=None)
            return
        if any(entry.is_bare for entry in run._steps):
            run._begin_steps()
        if index is not None and parts is not None:
            self.call["keys"], inputs = parts[2], parts[1]
        elif steps:
            index = _step_asked_for(run, steps, prompt, schema)
            self.wanted = [*_names(steps[index], "output", "outputs"), *_keys(schema)]
            inputs = _shown_inputs(run, steps, index, prompt)
        else:
            return
        self.index, identity = index, steps[index].get("id")
        self.call.update(step_index=index, step_id=identity, is_final=identity == len(steps), inputs=inputs)

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
        if self.step is not None:
            if not self.step._take(call, self.messages):
                self._end_alone()
        elif self.index is None or self.run is None or self.run._done:
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
        if run._add_step(call) is None:
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
        out = _json_object(call.get("raw"))
        if self.wanted is not None:
            self._place_as_told(run)
        if call.get("outputs") is not None:  # `usage` said them
            out = None
        elif error is None and out is not None and self.wanted is not None:
            call["outputs"] = {key: out[key] for key in dict.fromkeys(self.wanted) if key in out} or None
        elif error is None and out is not None:
            call["outputs"] = {key: out[key] for key in keys if key in out} if keys is not None else out
            call["error"] = None
            if keys is None:
                run._read = out
        else:
            call["outputs"] = None
            if error is None and keys is not None:
                call["error"] = "the reply is no JSON object"
        if run._add_step(call, self.messages, call["outputs"]) is None:
            self._end_alone()
        elif self.wanted is not None:
            run._given.update(call["outputs"] or {})

    def _place_as_told(self, run: Run) -> None:
        """What ``usage(step_id=...)`` said of the step counts."""
        ids = [step.get("id") for step in _run._steps_of(run.procedure)]
        if self.call["step_id"] in ids:
            self.index = self.call["step_index"] = ids.index(self.call["step_id"])
            self.call["is_final"] = self.call["step_id"] == len(ids)

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


def _names(step: Mapping[str, Any], *keys: str) -> list[str]:
    """The names of the fields that a step has under one of these keys."""
    fields: list[Any] = next((step[key] for key in keys if isinstance(step.get(key), list)), [])
    return [field["name"] for field in fields if isinstance(field, Mapping) and isinstance(field.get("name"), str)]


def _keys(schema: Any) -> list[str]:
    """The keys that a schema asks for; one of a client is wrapped."""
    for wrapped in ("json_schema", "schema"):
        inner = schema.get(wrapped) if isinstance(schema, Mapping) else None
        schema = inner if isinstance(inner, Mapping) else schema
    if isinstance(schema, type):
        return [name for name in getattr(schema, "model_fields", {})]
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return [*properties] if isinstance(properties, Mapping) else []


def _step_asked_for(run: Run, steps: list[Mapping[str, Any]], prompt: Any, schema: Any) -> int:
    """The step of a procedure that a prompt of a runner of one's own is for: the one whose outputs are asked for, the
    one that was asked the same, else the next."""
    keys = set(_keys(schema))
    same = [n for n, step in enumerate(steps) if keys and set(_names(step, "output", "outputs")) == keys]
    later = [n for n in same if n not in run._asked]
    if same:
        return (later or same)[0]
    if run._asked_last is not None and run._asked_last[0] == prompt:
        return run._asked_last[1]
    index = run._next_step(len(steps))
    run._asked_last = (prompt, index)
    return index


def _shown_inputs(run: Run, steps: list[Mapping[str, Any]], index: int, prompt: Any) -> dict[str, Any] | None:
    """The inputs of a step, where their values are known and stand in the prompt."""
    known = {"problem_text": run.question, **run._given}
    text = prompt if isinstance(prompt, str) else _lines.dumps(prompt)
    inputs = {name: known[name] for name in _names(steps[index], "inputs") if known.get(name) is not None}
    return {name: value for name, value in inputs.items() if _stands_in(value, text)} or None


def _stands_in(value: Any, text: str) -> bool:
    told = _lines.dumps(value)
    words = {str(value), told, told[1:-1] if isinstance(value, str) else told}
    return any(word and word in text for word in words)


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
