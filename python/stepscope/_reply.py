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
        if value is None:
            return None
        try:
            if isinstance(name, int):
                value = value[name]
            else:
                value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
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


def _more(reply: Any) -> dict[str, Any]:
    """Parts of a reply that are no text: what the model thought, and the tools that it called."""
    message = next((found for found in (_get(reply, "choices", 0, "message"), _get(reply, "message")) if found), reply)
    blocks = [*_listed(_get(message, "content")), *_listed(_get(reply, "output"))]
    thought = _thought(message) or "".join(_thought(block) or "" for block in blocks)
    calls = [*_listed(_get(message, "tool_calls")), _get(message, "function_call"), *filter(_is_call, blocks)]
    parts = _parts(thought, [{**_called(call), "arguments": _arguments(call)} for call in calls])
    choices = [{"choices": [choice]} for choice in _listed(_get(reply, "choices"))[1:]]
    return _with_choices(parts, [(_text(choice), _more(choice)) for choice in choices])


def _with_choices(parts: dict[str, Any], others: list[tuple[str | None, dict[str, Any]]]) -> dict[str, Any]:
    """The parts of a reply with the other choices of the same request (``n``)."""
    choices = [{"response": "" if text is None and more else text, **more} for text, more in others]
    return {**parts, "choices": choices} if choices else parts


def _parts(thought: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """What is recorded of thoughts and of calls of tools."""
    named = [{**call, "arguments": _read(call["arguments"])} for call in calls if "name" in call]
    return {name: value for name, value in (("reasoning", thought), ("tool_calls", named)) if value}


def _read(arguments: Any) -> Any:
    """Arguments as an object. Those that are no JSON, as the part of a call that was cut, stay a text."""
    found = _json_object(arguments or "{}")
    return arguments if found is None else found


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _thought(part: Any) -> str | None:
    """What the model thought, in a message, a block, or a piece of them."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        text = _get(part, name)
        if isinstance(text, str):
            return text
    if _get(part, "type") != "reasoning":
        return None
    texts = [_get(block, "text") for block in _listed(_get(part, "content")) or _listed(_get(part, "summary"))]
    return "".join(text for text in texts if isinstance(text, str))


def _is_call(block: Any) -> bool:
    kind = _get(block, "type")
    return isinstance(kind, str) and kind.endswith(("tool_use", "_call"))


def _called(call: Any) -> dict[str, str]:
    """Id and name of a call of a tool, as far as it, or a piece of it, says them."""
    said = {
        "id": (_get(call, "call_id"), _get(call, "id")),
        "name": (_get(call, "function", "name"), _get(call, "custom", "name"), _get(call, "name")),
    }
    texts = {key: [each for each in found if isinstance(each, str) and each] for key, found in said.items()}
    return {key: found[0] for key, found in texts.items() if found}


def _arguments(call: Any) -> Any:
    """The arguments of a call of a tool, or a piece of their text."""
    paths = (("function", "arguments"), ("custom", "input"), ("arguments",), ("input",))
    found = (_get(call, *path) for path in paths)
    return next((each for each in found if isinstance(each, (str, Mapping))), None)


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


def _is_raw(kind: type) -> bool:
    """Whether objects of a class are a client's raw responses, as ``with_raw_response`` gives them."""
    return hasattr(kind, "parse") and hasattr(kind, "http_request")


def _body(reply: Any) -> Mapping[str, Any] | None:
    """The object in a raw response; ``None``: it is none, or was not read."""
    if not _is_raw(type(reply)):
        return None
    try:
        body = reply.http_response.json()
    except Exception:  # nothing was read yet, or it is no JSON
        return None
    return body if isinstance(body, Mapping) else None


def _reply(reply: Any) -> tuple[str | None, dict[str, int], dict[str, Any]]:
    """The text of a reply, the tokens that were counted, and its parts that are no text, for strings and for the
    objects of the usual clients. An object that says nothing of itself has no text."""
    if reply is None or isinstance(reply, str):
        return reply, {}, {}
    body = _body(reply)
    reply = reply if body is None else body
    text, more = _text(reply), _more(reply)
    if text is None and more:
        text = ""
    elif text is None and not _lines.is_opaque(reply):
        text = _lines.dumps(reply)
    return text, _counted(reply), more
