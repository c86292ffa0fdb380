"""Results as batches of Arrow, for engines that pass tables on."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from ._check import CheckOptions, check_flags, read
from ._given import Given, Records, of_records, resolve
from ._lines import Whole, is_table
from ._parts import Part
from ._reply import _listed

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import Unpack

_KEPT = ["sha256", "rules", "id", "kind", "triage", "findings"]
_BATCH = 1 << 20
_LINE_END = re.compile(b"\n")
# What is joined must have places of 32 bits.
_MOST = 1 << 30


def batches(*records: Records, **options: Unpack[CheckOptions]) -> Iterator[pyarrow.RecordBatch]:
    """Check records: batches of Arrow with a row per record, in order. It needs pyarrow.

    ``records`` and options are as in ``stream``; arrays of pyarrow among the records are many records each. The columns
    are ``sha256``, ``rules``, ``id``, ``kind``, ``fix`` (all text), ``step``, ``findings`` (how many; 32 bits), and
    ``json``: what ``stream`` would give, with ``fields`` (these columns' own, where it names none).
    """
    if options.get("fields") is None:
        options["fields"] = _KEPT
    return read(check_flags(**options), _given(records), _tables)


def _given(records: tuple[Any, ...]) -> Given:
    one = records[0] if len(records) == 1 else None
    if not isinstance(one, Iterable) or isinstance(one, (str, os.PathLike, Part, Mapping)) or is_table(one):
        return resolve(records, "batches")
    if any(isinstance(each, (str, os.PathLike, Part)) for each in _listed(one)):
        return resolve(records, "batches")
    return of_records(_texts(one))


def batch_schema() -> pyarrow.Schema:
    """The columns of ``batches``."""
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int32()
    texts = [(name, text) for name in ("sha256", "rules", "id", "kind", "fix")]
    return pyarrow.schema([*texts, ("step", number), ("findings", number), ("json", text)])


def _texts(records: Iterable[Any]) -> Iterator[Any]:
    """Arrays of texts as their lines; what is none stays as it is."""
    import pyarrow

    for each in records:
        if isinstance(each, pyarrow.ChunkedArray):
            yield from _texts(each.chunks)
        elif isinstance(each, pyarrow.Array):
            yield from _whole(each)
        else:
            yield each


def _whole(array: pyarrow.Array) -> Iterator[Any]:
    import pyarrow
    import pyarrow.compute

    kinds = pyarrow.types
    is_text = any(is_it(array.type) for is_it in (kinds.is_string, kinds.is_large_string, kinds.is_binary))
    if is_text and len(array) and not array.null_count and array.nbytes < _MOST:
        # Texts that are whole lines already go all at once.
        nothing, end = (pyarrow.scalar(text, array.type) for text in ("", "\n"))
        text = memoryview(pyarrow.compute.binary_join_element_wise(array, nothing, end).buffers()[2])
        are_objects = pyarrow.compute.all(pyarrow.compute.starts_with(array, "{")).as_py()
        if are_objects and len(_LINE_END.findall(text)) == len(array):
            yield Whole(text)
            return
    yield from array.to_pylist()


def _tables(output: IO[bytes]) -> Iterator[pyarrow.RecordBatch]:
    rest: list[bytes] = []
    while True:
        piece = output.read(_BATCH)
        end = piece.rfind(b"\n") + 1
        if end:
            yield _table(b"".join([*rest, piece[:end]]))
            rest.clear()
        if not piece:
            break
        rest.append(piece[end:])


def _table(text: bytes) -> pyarrow.RecordBatch:
    """The rows of whole lines."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.json

    lines = text.split(b"\n")[:-1]
    texts, number = pyarrow.string(), pyarrow.int32()
    triage = pyarrow.struct([("fix", texts), ("step", number)])
    findings = pyarrow.list_(pyarrow.struct([("rule", texts)]))
    names = ["sha256", "rules", "id", "kind"]
    for identity in (texts, pyarrow.int64()):
        columns = [(name, identity if name == "id" else texts) for name in names]
        schema = pyarrow.schema([*columns, ("triage", triage), ("findings", findings)])
        try:
            table = pyarrow.json.read_json(
                pyarrow.BufferReader(text),
                read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
                parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
            ).combine_chunks()
            break
        except pyarrow.ArrowInvalid:
            pass
    else:
        # Ids of several types, or texts that are not quite Unicode.
        schema = batch_schema()
        table = pyarrow.Table.from_pylist([_row(json.loads(line)) for line in lines], schema=schema)
        return _batch([table[name] for name in schema.names[:-1]], lines)
    count = pyarrow.compute.coalesce(pyarrow.compute.list_value_length(table["findings"]), 0)
    fix, step = (pyarrow.compute.struct_field(table["triage"], name) for name in ("fix", "step"))
    identity = table["id"].cast(texts)
    return _batch([table["sha256"], table["rules"], identity, table["kind"], fix, step, count], lines)


def _batch(columns: list[Any], lines: list[bytes]) -> pyarrow.RecordBatch:
    import pyarrow

    whole = [column.combine_chunks() for column in columns]
    return pyarrow.RecordBatch.from_arrays([*whole, pyarrow.array(lines, pyarrow.string())], schema=batch_schema())


def _row(found: Mapping[str, Any]) -> dict[str, Any]:
    triage = found.get("triage") or {}
    row: dict[str, Any] = {name: found.get(name) for name in ("sha256", "rules", "id", "kind")}
    identity = row["id"]
    if identity is not None:
        row["id"] = str(identity).encode("utf-8", "replace").decode()
    return {**row, "fix": triage.get("fix"), "step": triage.get("step"), "findings": len(found.get("findings") or [])}
