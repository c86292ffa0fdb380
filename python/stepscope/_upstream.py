"""What evoproc's code says of itself: where a call comes from, which step it is of, what the runner takes of a reply.

Upstream is neither changed nor replaced: its runner's local variables and its prompts are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import FrameType
from typing import Any

# Frames that are looked through for evoproc's runner.
_MOST_FRAMES = 60

_RUNNER = "run_steps_stateful_minimal"
_RUNNER_LOCALS = {"proc", "problem_text", "answer_schema", "state", "step", "visible_inputs", "expected"}
_MAKERS = {
    "create_and_validate_procedure_structured": "create",
    "run_full_procedure_structured": "create",
    "repair_procedure_structured": "repair",
}
_OPERATORS = {"CrossoverOperator": "crossover", "MutationOperator": "mutation", "ProcedureGA": "create"}


class _Origin:
    """What the stack says of a call."""

    __slots__ = ("runner", "is_direct", "is_maker", "purpose")

    def __init__(self, frame: FrameType | None) -> None:
        self.runner: FrameType | None = None
        self.is_direct = True
        self.is_maker = False
        self.purpose: str | None = None
        here = os.path.dirname(__file__)
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return
            code = frame.f_code
            if os.path.dirname(code.co_filename) == here:
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


def _same_but_ids(a: Any, b: Any) -> bool:
    def without(procedure: Any) -> Any:
        return {**procedure, "steps": [{**step, "id": None} for step in procedure["steps"]]}

    try:
        return bool(without(a) == without(b))
    except (KeyError, TypeError):
        return False
