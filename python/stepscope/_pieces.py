"""The parts of a reply that comes in pieces, whatever client they come from."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from typing import Any

from . import _lines
from ._reply import (
    _arguments,
    _called,
    _counted,
    _get,
    _is_call,
    _joined,
    _listed,
    _more,
    _parts,
    _reply,
    _text,
    _thought,
    _with_choices,
)

# Events of a reply in which nothing of it is.
_BEGINNINGS = ("message_start", "ping", "response.created", "response.queued", "response.in_progress")


class ServerError(Exception):
    """What a server said instead of the rest of a reply."""


class _Pieces:
    """What came of a reply so far."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[dict[str, Any]] = []
        # The call that a piece with this index, or without one, continues.
        self._open: dict[Any, dict[str, Any]] = {}
        self._whole: dict[str, Any] = {}
        self._others: list[Any] = []
        # Other choices of the same request, by their index.
        self._choices: dict[int, _Pieces] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.counted: dict[str, int] = {}
        self.error: Exception | None = None
        self._has_stopped = False

    @property
    def is_whole(self) -> bool:
        """Whether the model has stopped, in every choice; only counts may follow."""
        return self._has_stopped and all(choice.is_whole for choice in self._choices.values())

    def add(self, piece: Any) -> None:
        if isinstance(piece, (bytes, bytearray)):
            piece = self._decoder.decode(piece)
        if isinstance(piece, str):
            self._texts.append(piece)
            return
        if _get(piece, "type") == "chunk":  # an event of OpenAI's helper around a chunk
            piece = _get(piece, "chunk")
        kind = _get(piece, "type")
        text = self._event(piece, kind) if isinstance(kind, str) else self._chunk(piece)
        for source in (piece, _get(piece, "message"), _get(piece, "response")):
            self.counted.update(_counted(source))
        if isinstance(text, str):
            self._texts.append(text)
            self._others.clear()
        elif not self._texts and kind not in _BEGINNINGS:
            self._others.append(piece)

    def text(self) -> str | None:
        """The text so far. Pieces of which nothing is known are kept whole; ``None``: nothing came."""
        if self._texts:
            return "".join(self._texts)
        if self.more():
            return None
        return _lines.dumps(self._others) if self._others else None

    def more(self) -> dict[str, Any]:
        """The parts so far that are no text."""
        others = [(choice.text(), choice.more()) for _, choice in sorted(self._choices.items())]
        return _with_choices({**self._whole, **_parts("".join(self._thoughts), self._calls)}, others)

    def _event(self, piece: Any, kind: str) -> Any:
        """The text of one piece of Anthropic's messages, or of OpenAI's responses."""
        if kind.startswith("response."):
            return self._of_response(piece, kind)
        if kind == "content_block_start":
            return self._block(_get(piece, "content_block"), _get(piece, "index"))
        if kind == "content_block_delta":
            self._call(_get(piece, "index"), {}, _get(piece, "delta", "partial_json"))
            self._think(_get(piece, "delta"))
            return _get(piece, "delta", "text")
        if kind == "error":
            self._fail(_get(piece, "message") or _get(piece, "error", "message"))
        elif kind == "message_stop" or _get(piece, "delta", "stop_reason") is not None:
            self._has_stopped = True
        return None

    def _of_response(self, piece: Any, kind: str) -> Any:
        index = _get(piece, "output_index")
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            return _get(piece, "delta")
        if kind == "response.output_item.added":
            self._block(_get(piece, "item"), index)
        elif kind.endswith(("arguments.delta", "input.delta")):
            self._call(index, {}, _get(piece, "delta"))
        elif kind in ("response.reasoning_text.delta", "response.reasoning_summary_text.delta"):
            self._think({"thinking": _get(piece, "delta")})
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self._has_stopped = True
            self._whole = _more(_get(piece, "response"))
            self._fail(_get(piece, "response", "error", "message"))
            return None if self._texts else _text(_get(piece, "response"))
        return None

    def _block(self, block: Any, index: Any) -> Any:
        """The text with which a block begins."""
        if _is_call(block):
            self._call(index, _called(block), _arguments(block))
        self._think(block)
        return _get(block, "text")

    def _chunk(self, piece: Any) -> str | None:
        """The text of one piece of chat completions, or of Ollama."""
        choices = _listed(_get(piece, "choices"))
        for other in choices:
            self._other_choice(other, _get(other, "index"))
        choice = next((each for each in choices if _get(each, "index") in (None, 0)), None)
        if choice is None and choices:
            return None
        self._has_stopped |= _get(choice, "finish_reason") is not None or _get(piece, "done") is True
        for message in (_get(choice, "delta"), _get(piece, "message"), piece):
            self._think(message)
            for call in _listed(_get(message, "tool_calls")):
                self._call(_get(call, "index"), _called(call), _arguments(call))
        for value, *names in (
            (choice, "delta", "content"),
            (choice, "delta", "refusal"),
            (choice, "text"),
            (piece, "message", "content"),
            (piece, "response"),
        ):
            text = _joined(_get(value, *names))
            if text is not None:
                return text
        return None

    def _other_choice(self, choice: Any, index: Any) -> None:
        """One piece of another choice of the same request."""
        if isinstance(index, int) and index > 0:
            own = {name: _get(choice, name) for name in ("delta", "text", "finish_reason")}
            self._choices.setdefault(index, _Pieces()).add({"choices": [{"index": 0, **own}]})

    def _think(self, part: Any) -> None:
        text = _thought(part)
        if text:
            self._thoughts.append(text)

    def _call(self, index: Any, called: Mapping[str, str], arguments: Any) -> None:
        """Take a call of a tool, or one more piece of one: of the call with its index. Some servers give whole calls,
        all with one index or with none."""
        call = self._open.get(index)
        if "name" in called and (call is None or index is None or called.get("id", call.get("id")) != call.get("id")):
            call = self._open[index] = {**called, "arguments": ""}
            self._calls.append(call)
        if call is None or not arguments:
            return
        call["arguments"] = call["arguments"] + arguments if isinstance(arguments, str) else arguments

    def _fail(self, words: Any) -> None:
        if isinstance(words, str):
            self.error = ServerError(words)


class _Body(_Pieces):
    """What came of the body of a raw response that is read in pieces: lines, texts or bytes of events or of JSON."""

    def __init__(self, end: str) -> None:
        super().__init__()
        #: What ends a piece that is not in it.
        self._end = end
        self._line = ""
        self._plain: list[str] = []
        self._has_events = False

    def add(self, piece: Any) -> None:
        text = self._decoder.decode(piece) if isinstance(piece, (bytes, bytearray)) else piece
        if not isinstance(text, str):
            return
        *whole, self._line = (self._line + text + self._end).split("\n")
        for line in whole:
            self._take(line.rstrip("\r"))

    def text(self) -> str | None:
        self._take(self._line)
        self._line = ""
        if self._has_events:
            return super().text()
        plain = "\n".join(self._plain)
        try:
            body = json.loads(plain)
        except ValueError:
            return plain.strip() or None
        text, self.counted, self._whole = _reply(body)
        return text

    def _take(self, line: str) -> None:
        """One line: of an event only its data is of the reply."""
        if line.startswith(("event:", "id:", "retry:", ":")):
            self._has_events = True
            return
        if not line.startswith("data:"):
            self._plain.append(line)
            return
        self._has_events = True
        try:
            super().add(json.loads(line[5:]))
        except ValueError:
            pass  # [DONE]
