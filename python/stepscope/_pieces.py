"""The text of a reply that comes in pieces, whatever client they come from."""

from __future__ import annotations

import codecs
from typing import Any

from . import _lines
from ._reply import _counted, _get, _joined, _text

# Events of a reply in which nothing of it is.
_BEGINNINGS = ("message_start", "ping", "response.created", "response.queued", "response.in_progress")


class ServerError(Exception):
    """What a server said instead of the rest of a reply."""


class _Pieces:
    """What came of a reply so far."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._others: list[Any] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.counted: dict[str, int] = {}
        self.error: Exception | None = None
        #: The model has stopped; only counts may follow.
        self.is_whole = False

    def add(self, piece: Any) -> None:
        if isinstance(piece, (bytes, bytearray)):
            piece = self._decoder.decode(piece)
        if isinstance(piece, str):
            self._texts.append(piece)
            return
        if _get(piece, "type") == "chunk":  # an event of OpenAI's helper around a chunk
            piece = _get(piece, "chunk")
        kind = _get(piece, "type")
        text = self._event(piece, kind)
        for source in (piece, _get(piece, "message"), _get(piece, "response")):
            self.counted.update(_counted(source))
        if text is not None:
            self._texts.append(text)
            self._others.clear()
        elif not self._texts and kind not in _BEGINNINGS:
            self._others.append(piece)

    def text(self) -> str | None:
        """The text so far. Pieces without any are kept whole; ``None``: nothing came."""
        if self._texts:
            return "".join(self._texts)
        return _lines.dumps(self._others) if self._others else None

    def _event(self, piece: Any, kind: Any) -> str | None:
        """The text of one piece, and what else it says."""
        if not isinstance(kind, str):
            return self._chunk(piece)
        text = None
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            text = _get(piece, "delta")
        elif kind == "content_block_start":
            text = _get(piece, "content_block", "text")
        elif kind == "content_block_delta":
            text = _get(piece, "delta", "text")
            text = text if text is not None else _get(piece, "delta", "partial_json")
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self.is_whole = True
            text = None if self._texts else _text(_get(piece, "response"))
            self._fail(_get(piece, "response", "error", "message"))
        elif kind == "error":
            self._fail(_get(piece, "message") or _get(piece, "error", "message"))
        elif kind == "message_stop" or _get(piece, "delta", "stop_reason") is not None:
            self.is_whole = True
        return text if isinstance(text, str) else None

    def _chunk(self, piece: Any) -> str | None:
        """One piece of chat completions, or of Ollama."""
        choice = _get(piece, "choices", 0)
        if _get(choice, "index") not in (None, 0):
            return None  # of another reply to the same prompt
        self.is_whole |= _get(choice, "finish_reason") is not None or _get(piece, "done") is True
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

    def _fail(self, words: Any) -> None:
        if isinstance(words, str):
            self.error = ServerError(words)
