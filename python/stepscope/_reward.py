"""A reward function for trainers: completions in, a float each out."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Iterator

from ._check import rewards
from ._program import StepscopeError

Completion = str | Sequence[Mapping[str, Any]]


def reward(
    verifier: str,
    *,
    schema: str | os.PathLike[str] | Mapping[str, Any] | type | None = None,
    unscored: float = 0.0,
    **options: Any,
) -> Callable[..., list[float]]:
    """Make a reward function for a trainer (``reward_funcs`` of TRL): it takes completions and returns a float each.

    >>> score = reward("json_schema", schema={"type": "object", "required": ["answer"]})
    >>> score(completions=['{"answer": 1}', "no"])
    [1.0, 0.0]

    Completions are texts, or messages whose last one counts. ``schema`` is a file, a dict, or a class with
    ``model_json_schema`` (pydantic); the other options are those of ``rewards``. A column of the data set is a field of
    each record, so ``references_field="answer"`` reads the column ``answer``. What cannot be scored has the reward
    ``unscored``; where nothing can be scored it is a ``StepscopeError``.
    """

    def score(prompts: Any = None, completions: Sequence[Completion] | None = None, **columns: Any) -> list[float]:
        if completions is None:
            # Called by hand, with the completions alone.
            prompts, completions = None, prompts
        if completions is None or isinstance(completions, str):
            raise TypeError("a reward function takes a list of completions")
        if not completions:
            return []
        records = [_record(each, number, len(completions), columns) for number, each in enumerate(completions)]
        with _schema_file(schema) as path:
            given = {"schema": path, **options} if path is not None else options
            scored = rewards(records, verifier=verifier, **given)
        found = [each["reward"] for each in scored]
        if all(each is None for each in found):
            raise StepscopeError(f"no completion could be scored: {scored[0]['error']}")
        return [unscored if each is None else float(each) for each in found]

    score.__name__ = verifier
    return score


def _record(completion: Completion, number: int, count: int, columns: Mapping[str, Any]) -> dict[str, Any]:
    record = {
        name: column[number]
        for name, column in columns.items()
        if isinstance(column, (list, tuple)) and len(column) == count and _is_json(column[number])
    }
    record["completion"] = _text(completion)
    return record


def _is_json(value: Any) -> bool:
    """Whether it can be a field: trainers pass much else by name."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _text(completion: Completion) -> str:
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if len(completion) else ""
    return content if isinstance(content, str) else ""


@contextmanager
def _schema_file(schema: Any) -> Iterator[str | None]:
    """A schema as a file, which is what the program reads."""
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    if not isinstance(schema, Mapping):
        yield None if schema is None else os.fspath(schema)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "schema.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(schema, file)
        yield path
