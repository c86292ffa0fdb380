"""Values as the lines of a file."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple


def dumps(value: Any) -> str:
    """JSON on one line. What JSON has no word for is written as what comes closest, and never fails."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        # Keys that are no strings, or a value that holds itself.
        text = json.dumps(_copy(value, 64), ensure_ascii=False, default=repr)
    return text


def encoded(text: str) -> bytes:
    """A JSON text as UTF-8; halves of surrogate pairs, which UTF-8 lacks, as escapes."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(c if c.isascii() or not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text).encode(
            "utf-8"
        )


def line(value: Any) -> bytes:
    """A value as a whole line."""
    return encoded(dumps(value)) + b"\n"


class Whole(NamedTuple):
    """Lines that are whole already."""

    text: bytes | memoryview


def record_line(record: Any) -> bytes:
    """A record as one line. A line that is given as text stays as it is."""
    if isinstance(record, str):
        record = encoded(record)
    if isinstance(record, (bytes, bytearray, memoryview)):
        text = bytes(record).strip()
        if not text.strip(b"\0\x1e") or text.startswith(b"//"):
            # Such a line is passed over in a file; here it has a place.
            return line(text.decode("utf-8", "replace"))
        # Line ends between the tokens of a record are blanks, and there are none inside of strings.
        return text.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
    return line(record)


def _plain(value: Any) -> Any:
    """What ``json`` asks for where it meets an object of another kind."""
    for method in ("model_dump", "to_dict", "_asdict"):
        make = getattr(value, method, None)
        if callable(make) and not isinstance(value, type):
            return make()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    item = getattr(value, "item", None)  # a number of NumPy's
    if callable(item):
        try:
            return item()
        except Exception:
            pass
    return repr(value)


def _copy(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        if depth == 0:
            return repr(type(value))
        return {key if isinstance(key, str) else str(key): _copy(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        if depth == 0:
            return repr(type(value))
        return [_copy(inner, depth - 1) for inner in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    try:
        return json.loads(json.dumps(_plain(value), default=repr))
    except (TypeError, ValueError, RecursionError):
        return repr(type(value))


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sha256(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_SHORT = {"\\n": "\\u000a", "\\r": "\\u000d", "\\t": "\\u0009", "\\b": "\\u0008", "\\f": "\\u000c"}


def canonical(value: Any) -> str:
    """A JSON value as stepscope's canonical text: no blanks, keys in the order of their code points, numbers as Python
    writes them, controls by their number."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)
    return re.sub(r"\\.", lambda found: _SHORT.get(found.group(), found.group()), text)
