"""Values as the lines of a file."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import re
from collections import deque
from collections.abc import Mapping, Set, ValuesView
from datetime import datetime, timedelta, timezone
from enum import Enum
from numbers import Number
from typing import Any, NamedTuple, cast
from uuid import UUID

# Clients tell headers and addresses that they could not use.
_KEY_IN_TEXT = re.compile(r"(?i)(?:(?<=bearer )|(?<=[?&]key=)|(?<=[?_-]key=)|(?<=token=)|\bsk-)[\w.~+/-]{8,}=*")
# So deep is a value written that JSON cannot hold as it is.
_DEEPEST = 64


def dumps(value: Any) -> str:
    """JSON on one line. What JSON has no word for is written as what comes closest, and never fails."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except Exception:
        # Keys that are no strings, a value that holds itself, or one that fails to tell what it is.
        return json.dumps(_copy(value, frozenset()), ensure_ascii=False)


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


def to_number(value: Any) -> float | None:
    """The number that a value is, or that a text is nothing but."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value.replace(",", "").strip().removeprefix("$")) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def digest(whole: bytes) -> bytes:
    """What a line of a file is known by."""
    return hashlib.sha256(whole).digest()


def line_number(path: str, wanted: bytes) -> int | None:
    """The number of the line with a digest, from 1: the last one that has it."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return max((number for number, each in enumerate(file, 1) if digest(each) == wanted), default=None)


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


_UNKNOWN = object()


def _plain(value: Any) -> Any:
    """What ``json`` asks for where it meets an object of another kind."""
    made = _as_json(value)
    return _shown(value) if made is _UNKNOWN else made


def is_opaque(value: Any) -> bool:
    """Whether nothing is known of a value but how Python prints it."""
    return not _is_json(value) and _as_json(value) is _UNKNOWN


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, Mapping, list, tuple))


def _as_json(value: Any) -> Any:
    try:
        return _converted(value)
    except Exception:  # it has the name of something known, and does not keep to it
        return _UNKNOWN


def _converted(value: Any) -> Any:
    if isinstance(value, type):
        return _made(value, "model_json_schema")
    if type(value).__name__ in ("NaTType", "NAType"):  # of pandas: a value that is missing
        return None
    if is_table(value):
        found = rows(value)
        if found is not None:
            return found
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", None) == "M":
        # It gives dates as objects or, in nanoseconds, as numbers.
        return _without_nat(value.astype(str).tolist())
    # Series of pandas have a `to_dict` too, which gives their positions as keys.
    lists = () if _has_labels(value) else ("to_list", "to_pylist")
    # Objects of pydantic and of clients, named tuples; arrays and numbers of NumPy; values of pyarrow.
    for method in ("model_dump", *lists, "to_dict", "_asdict", "tolist", "item", "as_py"):
        made = _UNKNOWN if isinstance(value, memoryview) else _made(value, method)
        if made is not _UNKNOWN:
            return made
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value, key=_shown)
    if isinstance(value, (deque, range, ValuesView)):
        return list(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (Number, UUID, timedelta)):
        return str(value)
    return _made(value, "isoformat")


def is_table(value: Any) -> bool:
    """Whether a value is a table, of pandas, polars, pyarrow or another library; going through one gives its columns."""
    return hasattr(type(value), "columns") and not isinstance(value, Mapping)


def rows(table: Any) -> list[Any] | None:
    """The rows of a table, if it tells them."""
    for method, *how in (("to_dicts",), ("to_pylist",), ("to_dict", "records")):
        made = _made(table, method, *how)
        if isinstance(made, list):
            return made
    return None


def _has_labels(value: Any) -> bool:
    """Whether the values of a series have texts as names, as a row of a table does."""
    try:
        return len(value.index) > 0 and all(isinstance(label, str) for label in value.index)
    except Exception:
        return False


def _without_nat(texts: Any) -> Any:
    if isinstance(texts, list):
        return [_without_nat(each) for each in texts]
    return None if texts == "NaT" else texts


def _made(value: Any, method: str, *how: Any) -> Any:
    """What a method makes of a value, if it is something for JSON: a mock has every method."""
    try:
        made = getattr(value, method)(*how)
    except Exception:
        return _UNKNOWN
    return made if _is_json(made) else _UNKNOWN


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def words(error: BaseException) -> tuple[str, str]:
    """Class and text of an error, without keys; one that fails to tell its text has none."""
    try:
        return type(error).__name__, without_keys(str(error))
    except Exception:
        return type(error).__name__, ""


def without_keys(text: str) -> str:
    """A text without the keys in it."""
    return _KEY_IN_TEXT.sub("[key]", text)


def _copy(value: Any, above: frozenset[int]) -> Any:
    """A value as JSON has it. ``above``: what it is in."""
    if not _is_json(value):
        value = _plain(value)
    if isinstance(value, (Mapping, list, tuple)):
        if id(value) in above or len(above) == _DEEPEST:
            return _shown(type(value))
        inside = above | {id(value)}
        if isinstance(value, Mapping):
            return {_key(key): _copy(inner, inside) for key, inner in value.items()}
        return [_copy(inner, inside) for inner in value]
    if not _is_json(value):
        return _copy(value, above | {id(value)}) if len(above) < _DEEPEST else _shown(type(value))
    try:
        json.dumps(value)
        return value
    except ValueError:  # more digits than Python writes
        return hex(cast(int, value))


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    try:
        return str(key)
    except Exception:
        return _shown(key)


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
