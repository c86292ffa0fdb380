"""Data frames whose columns and types are the same whatever the data is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Literal

Library = Literal["pandas", "polars"]
Kind = Literal["text", "whole", "number", "flag", "texts"]

_PANDAS = {"text": "string", "whole": "Int64", "number": "Float64", "flag": "boolean", "texts": "object"}


def make_frame(kinds: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]], library: Library | None) -> Any:
    """A frame with these columns of pandas or polars: of the one that is named, else of the one that is imported
    already, else of the first that is installed."""
    if library not in (None, "pandas", "polars"):
        raise ValueError(f"library is 'pandas' or 'polars', not {library!r}")
    listed = list(rows)
    columns = {name: [row.get(name) for row in listed] for name in kinds}
    names = [library] if library else [name for name in ("pandas", "polars") if name in sys.modules]
    for name in names or ["pandas", "polars"]:
        try:
            frames = __import__(name)
        except ImportError:
            continue
        return _polars(frames, kinds, columns) if name == "polars" else _pandas(frames, kinds, columns)
    raise ImportError("to_frame needs pandas or polars; without either the results are plain dicts")


def _pandas(pandas: Any, kinds: Mapping[str, Kind], columns: Mapping[str, list[Any]]) -> Any:
    return pandas.DataFrame({name: pandas.Series(columns[name], dtype=_PANDAS[kind]) for name, kind in kinds.items()})


def _polars(polars: Any, kinds: Mapping[str, Kind], columns: Mapping[str, list[Any]]) -> Any:
    types = {
        "text": polars.String,
        "whole": polars.Int64,
        "number": polars.Float64,
        "flag": polars.Boolean,
        "texts": polars.List(polars.String),
    }
    return polars.DataFrame(columns, schema={name: types[kind] for name, kind in kinds.items()}, strict=False)
