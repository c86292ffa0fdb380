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
        except Exception:  # properties may raise anything
            return None
    return value


def _joined(content: Any) -> str | None:
    """The text of a content: a text, or a list of blocks. What the model thought is no reply."""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return None
    texts = [_get(block, "text") for block in content if _get(block, "type") not in ("thinking", "reasoning")]
    texts = [text for text in texts if isinstance(text, str)]
    return "".join(texts) if texts else None


def _text(reply: Any) -> str | None:
    """The text of a client's reply object; ``None``: it has none."""
    for path in (
        ("choices", 0, "message", "content"),
        ("choices", 0, "message", "refusal"),
        ("choices", 0, "text"),
        ("output_text",),
        ("message", "content"),
        ("response",),
    ):
        text = _joined(_get(reply, *path))
        if text is not None:
            return text
    content = _get(reply, "content")
    # A text of that name may be one member of a reply among others; blocks, or what an assistant says, are all of it.
    if not isinstance(content, str) or _get(reply, "role") == "assistant":
        text = _joined(content)
        if text is not None:
            return text
    output = _get(reply, "output")
    if isinstance(output, (list, tuple)):
        items = [_joined(_get(item, "content")) for item in output if _get(item, "type") != "reasoning"]
        texts = [text for text in items if text is not None]
        return "".join(texts) if texts else None
    return None


def _counted(reply: Any) -> dict[str, int]:
    """The tokens that the server counted."""
    usage = _get(reply, "usage")
    counts = {
        "prompt_tokens": _first_number(
            _get(usage, "prompt_tokens"), _with_cached(usage), _get(reply, "prompt_eval_count")
        ),
        "completion_tokens": _first_number(
            _get(usage, "completion_tokens"), _get(usage, "output_tokens"), _get(reply, "eval_count")
        ),
    }
    return {name: count for name, count in counts.items() if count is not None}


def _first_number(*found: Any) -> int | None:
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool)), None)


def _with_cached(usage: Any) -> int | None:
    """Anthropic counts apart what was cached."""
    count = _first_number(_get(usage, "input_tokens"))
    if count is None:
        return None
    cached = [_get(usage, f"cache_{what}_input_tokens") for what in ("read", "creation")]
    return count + sum(_first_number(each) or 0 for each in cached)


def _reply(reply: Any) -> tuple[str | None, dict[str, int]]:
    """The text of a reply and the tokens that were counted, for strings and for the objects of the usual clients. An
    object that says nothing of itself has no text."""
    if reply is None or isinstance(reply, str):
        return reply, {}
    text = _text(reply)
    if text is None and not _lines.is_opaque(reply):
        text = _lines.dumps(reply)
    return text, _counted(reply)
