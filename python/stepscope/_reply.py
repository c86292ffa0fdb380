"""Replies of models: their text and what was counted, whatever client they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _lines


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
