"""What the commands are given: paths, parts of files, records, lines or tables."""

from __future__ import annotations

import glob
import io
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._lines import Whole, is_table, record_line
from ._parts import Part
from ._program import StepscopeError

Path = str | os.PathLike[str]
Records = Path | Part | Mapping[str, Any] | Iterable[Any]

_WHAT = "paths, parts, a record, a list of records or of lines, or a table"


class Given(NamedTuple):
    """What the program reads."""

    #: Files and folders; none: it reads what ``feed`` gives.
    paths: list[str]
    feed: Callable[[], Iterator[bytes | memoryview]] | None = None
    #: Whether it can be read again.
    is_lasting: bool = True
    #: How many records there are, where that is known.
    total: int | None = None


def resolve(records: tuple[Any, ...], command: str) -> Given:
    """What the arguments of a command mean."""
    if not records:
        raise TypeError(f"{command} takes {_WHAT}")
    if len(records) > 1:
        return _several(records, command)
    one = records[0]
    if isinstance(one, (str, os.PathLike)):
        return Given(_paths([one]))
    if isinstance(one, Part):
        return _of_parts([one])
    if is_table(one):
        return Given([], lambda: _of_table(one))
    if isinstance(one, Mapping):
        _refuse_results([one], command)
        return of_records([one], True)
    if isinstance(one, (list, tuple)):
        return _of_list(one, command)
    if isinstance(one, (bytes, bytearray)) or not isinstance(one, Iterable):
        raise TypeError(f"{command} takes {_WHAT}, not {_called(one)}")
    return _of_iterable(one, command)


@contextmanager
def as_path(records: Records, command: str) -> Iterator[str]:
    """One path with these records: what is in no file is written to one, for as long as that takes."""
    given = resolve((records,), command)
    if given.feed is None:
        if len(given.paths) != 1:
            raise TypeError(f"{command} takes one file or folder at a time, not {len(given.paths)}")
        yield given.paths[0]
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records.jsonl")
        with io.open(path, "wb") as file:
            file.writelines(given.feed())
        yield path


def _called(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _several(records: tuple[Any, ...], command: str) -> Given:
    if all(isinstance(each, (str, os.PathLike)) for each in records):
        return Given(_paths(records))
    if all(isinstance(each, Part) for each in records):
        return _of_parts(list(records))
    other = next(each for each in records if not isinstance(each, (str, os.PathLike)))
    raise TypeError(f"several arguments of {command} are paths, and one is {_called(other)}: pass records as one list")


def _paths(names: Iterable[Path]) -> list[str]:
    """The files of paths and patterns."""
    found: list[str] = []
    for name in [os.fspath(each) for each in names]:
        if _is_json(name) and not os.path.exists(name):
            raise TypeError("a text is a path: put the JSON of a record in a list")
        if glob.has_magic(name) and not os.path.exists(name):
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise StepscopeError(f"no file is named as {name!r} says", 2)
            found += matches
        else:
            found.append(name)
    return found


def _is_json(text: str) -> bool:
    try:
        return text.lstrip()[:1] in ("{", "[") and json.loads(text) is not None
    except ValueError:
        return False


def _of_parts(parts: list[Part]) -> Given:
    return Given([], lambda: itertools.chain.from_iterable(part.chunks() for part in parts))


def of_records(records: Iterable[Any], is_lasting: bool = False) -> Given:
    """Records and lines, whatever they look like; a list lasts."""
    total = len(records) if isinstance(records, (list, tuple)) else None
    lines = lambda: (one.text if isinstance(one, Whole) else record_line(one) for one in records)  # noqa: E731
    return Given([], lines, is_lasting, total)


def _of_list(records: list[Any] | tuple[Any, ...], command: str) -> Given:
    if records and all(isinstance(each, Part) for each in records):
        return _of_parts(list(records))
    _refuse_results(records, command)
    texts = [each for each in records if isinstance(each, (str, os.PathLike))]
    if not any(map(_is_path, texts)):
        return of_records(records, True)
    lines = [each for each in records if not isinstance(each, (str, os.PathLike))]
    if not lines and all(os.path.exists(each) or glob.has_magic(os.fspath(each)) for each in texts):
        return Given(_paths(texts))
    if not lines and not any(isinstance(each, str) and _is_line(each) for each in texts):
        missing = next(each for each in texts if not os.path.exists(each))
        raise TypeError(f"{os.fspath(missing)!r} is neither a file nor a record")
    if any(isinstance(each, os.PathLike) for each in texts):
        raise TypeError(f"{command} takes a list of paths or one of records, not both in one")
    # A line that is broken is a finding at its place.
    return of_records(records, True)


def _is_path(text: Path) -> bool:
    return not isinstance(text, str) or not _is_line(text)


def _is_line(text: str) -> bool:
    """Whether a text is a line of a file of records, as far as its beginning says."""
    begins = text.lstrip("\ufeff\x1e\0 \t\r\n")[:2]
    return begins == "" or begins[0] in "{[" or begins == "//"


def _of_iterable(records: Iterable[Any], command: str) -> Given:
    if hasattr(records, "read"):
        return of_records(records)
    rest = iter(records)
    first = list(itertools.islice(rest, 1))
    if first and (isinstance(first[0], (os.PathLike, Part)) or (isinstance(first[0], str) and not _is_line(first[0]))):
        return _of_list([*first, *rest], command)
    _refuse_results(first, command)
    return of_records(itertools.chain(first, rest))


_OF_RESULTS = {
    "source", "line", "index", "id", "sha256", "kind", "rules", "findings", "correct", "triage", "route", "fitness", "record"
}  # fmt: skip


def is_result(value: Any) -> bool:
    """Whether it is what a check gave for a record, whole or some fields of it, and no record."""
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("findings"), list) and isinstance(value.get("rules"), str) and "sha256" in value:
        return True
    return value.keys() <= _OF_RESULTS and not value.keys().isdisjoint(("findings", "triage"))


def _refuse_results(records: Iterable[Any], command: str) -> None:
    if any(map(is_result, itertools.islice(records, 100))):
        raise TypeError(
            f"{command} takes records, and these are what a check gave for them; to_frame, save and show take those"
        )


def _of_table(table: Any) -> Iterator[bytes | memoryview]:
    """A table as Parquet: in its rows, as the libraries give them, what is missing is null or NaN."""
    file = io.BytesIO()
    library = type(table).__module__.partition(".")[0]
    try:
        if library == "polars":
            table = table.collect() if hasattr(table, "collect") else table
            table.write_parquet(file)
        elif library == "pandas":
            # The positions of rows are no part of the records.
            table = table.reset_index() if any(name is not None for name in table.index.names) else table
            table.to_parquet(file, index=False)
        else:
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.table(table), file)
    except Exception as error:
        if library == "pandas":
            # Columns of dicts and lists may hold what has no type in common.
            return _of_pandas(table)
        raise TypeError(
            f"{type(table).__name__} is a table that cannot be written as Parquet ({error}). Write it as Parquet or as"
            " JSON lines, and pass the path"
        ) from error
    return iter([file.getbuffer()])


def _of_pandas(table: Any) -> Iterator[bytes]:
    """The rows of a table of pandas, without what is missing in them."""
    rows, missing = (each.to_dict("records") for each in (table, table.isna()))
    for row, is_missing in zip(rows, missing):
        yield record_line({name: value for name, value in row.items() if not is_missing[name]})
