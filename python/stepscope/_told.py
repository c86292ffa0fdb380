"""Runs that another program tells of, call by call: what LangChain's callbacks and OpenTelemetry's spans share."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from . import _lines
from ._reply import _json_object
from ._run import Run
from ._sink import Sink
from ._step import Step


def add_call(to: Sink, run: Run | None, step: Step | None, call: dict[str, Any], prompt: Any) -> None:
    """Record one call: of a step, of a run, or of neither. ``call`` has what came of it under ``raw`` and ``error``."""
    messages = [_lines.dumps(message) for message in prompt] if isinstance(prompt, list) and prompt else None
    call = {"prompt": prompt if prompt is None or isinstance(prompt, str) else _lines.dumps(prompt), **call}
    if step is not None and step._take(call, messages):
        return
    if run is None or not _add_bare(run, call, messages):
        add_line(to, call, None if run is None else run.id)


def _add_bare(run: Run, call: dict[str, Any], messages: list[str] | None) -> bool:
    outputs = _json_object(call.get("raw")) if call.get("error") is None else None
    place = {"step_index": run._next(), "step_id": None, "is_final": True, "inputs": None}
    if outputs is not None:
        run._read = outputs
    return run._add_step({**place, **call, "outputs": outputs}, messages) is not None


def add_line(to: Sink, call: Mapping[str, Any], run_id: Any = None) -> None:
    """Record a call as a line of its own."""
    more = {name: value for name, value in call.items() if name not in ("model", "prompt", "raw", "error")}
    line = {"id": uuid.uuid4().hex, "model": call.get("model"), "prompt": call.get("prompt")}
    line.update(response=call.get("raw"), error=call.get("error"), **more)
    to.line(_lines.line(line if run_id is None else {**line, "run_id": run_id}))


def named(value: Any, name: str) -> dict[str, Any]:
    """Values by name: an object's own, anything else under one name."""
    if value is None:
        return {}
    return {str(key): inner for key, inner in value.items()} if isinstance(value, Mapping) else {name: value}


def end_run(run: Run, result: Any, error: tuple[str, str] | None, name: str) -> None:
    """Write the line of a run with what it gave, under the name of what made it of the values of its steps."""
    if error is not None:
        run.error = error
    elif result is not None:
        run.state = named(result, "output")
        if isinstance(result, str):
            run.fields.setdefault("pred_answer", result)
        _end_merged(run, run.state, name)
    run._read_answer()
    run._close(is_over=True)


def _end_merged(run: Run, state: Mapping[str, Any], name: str) -> None:
    """Say who wrote what no step wrote like that: a graph adds the messages of its nodes to those that it has."""
    written = run._written or {}
    merged = {key: value for key, value in state.items() if key in written and not _is_same(written[key], value)}
    if merged:
        step = Step(run, name, None)
        step.writes(merged)
        step._end()


def _is_same(one: Any, other: Any) -> bool:
    return _lines.dumps(one) == _lines.dumps(other)
