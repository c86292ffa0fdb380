"""The program from Python: checks, rewards, reports, the screen."""

from __future__ import annotations

import html
import io
import json
import os
import subprocess
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any, TypeVar

from ._lines import Whole, is_table, record_line
from ._parts import Part
from ._program import StepscopeError, program, run, said

if sys.platform == "linux":
    import fcntl

_T = TypeVar("_T")
# The exit code where something could not be read; what was read has its results.
_NOT_ALL_READ = 2
_SEVERITIES = ("fatal", "repairable", "warning", "note")


def stream(
    records: str | os.PathLike[str] | Part | Mapping[str, Any] | Iterable[Any],
    *,
    schema: str | os.PathLike[str] | None = None,
    schemas: str | os.PathLike[str] | None = None,
    document: str | os.PathLike[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    fields: Iterable[str] | None = None,
    with_record: bool = False,
    jobs: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Check records one after the other, in order: an object each, as soon as it is there.

    ``records``: a path (a file or a folder), a part of a file (see ``parts``), one record, an iterable of records
    (dicts, or lines of JSON as ``str`` or ``bytes``), or a table of pandas, polars or pyarrow with a row per record.
    Pass a table as it is: what is missing in a row is null or NaN in the dicts that it gives, and may be a finding.
    ``fields`` names what is to be kept of each object
    (``triage.fix``), ``with_record`` adds the record.
    """
    flags = check_flags(
        schema=schema,
        schemas=schemas,
        document=document,
        baseline=baseline,
        fields=fields,
        with_record=with_record,
        jobs=jobs,
    )
    return results(flags, records, _objects)


def check_flags(
    *,
    schema: str | os.PathLike[str] | None = None,
    schemas: str | os.PathLike[str] | None = None,
    document: str | os.PathLike[str] | None = None,
    baseline: str | os.PathLike[str] | None = None,
    fields: Iterable[str] | None = None,
    with_record: bool = False,
    jobs: int | None = None,
) -> list[str]:
    """The command that checks records."""
    flags = ["check", "--format", "jsonl", "--fail-on", "never"]
    for name, value in (("schema", schema), ("schemas", schemas), ("document", document), ("baseline", baseline)):
        if value is not None:
            flags += [f"--{name}", os.fspath(value)]
    if fields is not None:
        flags += ["--fields", ",".join(fields)]
    if with_record:
        flags.append("--with-record")
    if jobs is not None:
        flags += ["--jobs", str(jobs)]
    return flags


def check(
    records: str | os.PathLike[str] | Part | Mapping[str, Any] | Iterable[Any],
    **options: Any,
) -> CheckedRecords:
    """What is wrong with records, and where to fix it: a list with a dict each, in order. Options as in ``stream``.

    Each has ``id``, ``sha256``, ``kind``, ``findings`` (``rule``, ``severity``, ``message``, ``pointer``, ...) and, of
    a wrong run, ``triage`` (``fix``, ``step``, ``recovered``, ``confidence``, ``why``). What could not be read (a
    document that an answer cites) is a ``RuntimeWarning`` where there are results all the same.
    """
    found = CheckedRecords()
    try:
        for each in stream(records, **options):
            found.append(each)
    except StepscopeError as error:
        if not found or error.code != _NOT_ALL_READ:
            raise
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return found


def rewards(
    records: str | os.PathLike[str] | Part | Mapping[str, Any] | Iterable[Any],
    **options: Any,
) -> list[dict[str, Any]]:
    """The rewards of completions, in order: ``stepscope verify`` with its options by their names.

    >>> rewards(samples, verifier="regex_format", pattern=r"Answer: (\\d+)", full_match=True)
    """
    flags = ["verify", "--fail-on", "never"]
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        values = value if isinstance(value, (list, tuple)) else [value]
        for each in values:
            if each is True:
                flags.append(flag)
            elif each is not None and each is not False:
                flags.append(f"{flag}={os.fspath(each) if isinstance(each, os.PathLike) else each}")
    return list(results(flags, records, _objects))


def save(
    records: str | os.PathLike[str] | Part | Mapping[str, Any] | Iterable[Any],
    path: str | os.PathLike[str],
    **options: Any,
) -> None:
    """Check records and write the results to a file of JSON lines, which is there whole or not at all. Options as in
    ``stream``.

    The results do not go through Python. Whatever could not be read is a ``StepscopeError``. Whoever saves to the same
    path again replaces it; a folder that is missing is made.
    """
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    # Hidden: engines that read the folder pass over it. Attempts at the same time do not meet.
    hidden = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    file = io.open(hidden, "xb")
    try:
        with file:
            for _ in results(check_flags(**options), records, _objects, file):
                pass
            os.fsync(file.fileno())
        os.replace(hidden, path)
    except BaseException:
        os.unlink(hidden)
        raise


def results(
    flags: list[str],
    records: Any,
    take: Callable[[IO[bytes]], Iterator[_T]],
    file: IO[bytes] | None = None,
) -> Iterator[_T]:
    """What a command prints, as ``take`` reads it; nothing where it goes into a file."""
    feed: Iterator[bytes | memoryview] | None = None
    if isinstance(records, (str, os.PathLike)):
        arguments = [program(), *flags, "--", os.fspath(records)]
    elif isinstance(records, Part):
        arguments, feed = [program(), *flags, "-"], records.chunks()
    else:
        arguments = [program(), *flags, "-"]
        if is_table(records):
            feed = _of_table(records)
        else:
            each = [records] if isinstance(records, Mapping) else records
            feed = (one.text if isinstance(one, Whole) else record_line(one) for one in each)
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL if feed is None else subprocess.PIPE,
        stdout=subprocess.PIPE if file is None else file,
        stderr=subprocess.PIPE,
    )
    for pipe in (process.stdin, process.stdout):
        _widen(pipe)
    complaints: list[bytes] = []
    faults: list[BaseException] = []
    assert process.stderr is not None
    threads = [threading.Thread(target=_drain, args=(process.stderr, complaints), daemon=True)]
    if feed is not None:
        assert process.stdin is not None
        threads.append(threading.Thread(target=_feed, args=(process.stdin, feed, faults), daemon=True))
    for thread in threads:
        thread.start()
    try:
        if process.stdout is not None:
            yield from take(process.stdout)
        code = process.wait()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        if code not in (0, 1):
            raise StepscopeError(said(b"".join(complaints), code), code)
    finally:
        # Whoever stops early wants no more of it.
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        for thread in threads:
            # What it is fed from may keep it waiting.
            thread.join(1)
        process.stderr.close()


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


def _widen(pipe: IO[bytes] | None) -> None:
    """Let as much into a pipe as is written at a time, where the system allows it: 64 kB make both ends wait often."""
    if pipe is not None and sys.platform == "linux":
        try:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass


def _objects(output: IO[bytes]) -> Iterator[dict[str, Any]]:
    """An object per line."""
    return map(json.loads, output)


def _drain(pipe: IO[bytes], into: list[bytes]) -> None:
    into.append(pipe.read())


def _feed(pipe: IO[bytes], lines: Iterator[bytes | memoryview], faults: list[BaseException]) -> None:
    try:
        for line in lines:
            pipe.write(line)
    except BrokenPipeError:
        pass
    except BaseException as error:
        faults.append(error)
    try:
        pipe.close()
    except BrokenPipeError:
        pass


class CheckedRecords(list[dict[str, Any]]):
    """What ``check`` found, an object per record."""

    def to_frame(self, library: str | None = None) -> Any:
        """A table with a row per record; see ``to_frame``."""
        return to_frame(self, library)

    def _repr_html_(self) -> str:
        rows = [_row(each) for each in self[:200]]
        names = ["id", "kind", "fix", "step", "confidence", *_SEVERITIES, "rules"]
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows
        )
        rest = f"<p>and {len(self) - 200:,} more</p>" if len(self) > 200 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(value: Any) -> str:
    if value is None or value == 0:
        return ""
    return ", ".join(value) if isinstance(value, list) else str(value)


def _row(checked: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of one record."""
    findings = checked.get("findings") or []
    triage = checked.get("triage") or {}
    recovered = triage.get("recovered")
    row: dict[str, Any] = {name: checked.get(name) for name in ("source", "line", "index", "sha256", "kind")}
    row["id"] = None if checked.get("id") is None else str(checked["id"])
    row["fix"], row["step"], row["confidence"] = triage.get("fix"), triage.get("step"), triage.get("confidence")
    # A number or a text: a column has one type.
    row["recovered"] = None if recovered is None else str(recovered)
    row["route"] = (checked.get("route") or {}).get("name")
    for severity in _SEVERITIES:
        row[severity] = sum(1 for finding in findings if finding.get("severity") == severity)
    row["rules"] = list(dict.fromkeys(finding["rule"] for finding in findings if "rule" in finding))
    return row


def to_frame(
    records: str | os.PathLike[str] | Part | Mapping[str, Any] | Iterable[Any],
    library: str | None = None,
) -> Any:
    """A data frame with a row per record: where to fix it, in which step, and how many findings of each severity.

    ``records`` is what ``check`` gave, or anything that ``check`` takes. ``library`` is ``pandas`` or ``polars``; without
    it, the one that is imported already, else the first that is installed.
    """
    checked = records if isinstance(records, CheckedRecords) else check(records)
    names = [library] if library else [name for name in ("pandas", "polars") if name in sys.modules]
    for name in names or ["pandas", "polars"]:
        if name not in ("pandas", "polars"):
            raise ValueError(f"library is 'pandas' or 'polars', not {name!r}")
        try:
            frames = __import__(name)
        except ImportError:
            continue
        rows = [_row(each) for each in checked]
        columns = {key: [row[key] for row in rows] for key in _row({})}
        return frames.DataFrame(columns, strict=False) if name == "polars" else frames.DataFrame(columns)
    raise ImportError("to_frame needs pandas or polars; check() gives plain dicts without either")


class Report:
    """One record for people: ``print`` shows the text, a notebook shows the page."""

    def __init__(self, arguments: list[str], stdin: bytes | None) -> None:
        self._arguments, self._stdin = arguments, stdin

    @property
    def text(self) -> str:
        """The report as text."""
        shown = run(["show", "--color", "never", *self._arguments], stdin=self._stdin)
        return shown.decode("utf-8", "replace")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    @property
    def html(self) -> str:
        """The report as a page that stands alone, to be sent: what ``stepscope export --html`` writes. A
        ``StepscopeError`` where something in it looks private."""
        return self._page()

    def _page(self, *flags: str) -> str:
        page = run(["export", "--html", "-", *flags, *self._arguments], stdin=self._stdin)
        return page.decode("utf-8", "replace")

    def _repr_html_(self) -> str:
        # Whose notebook it is may see what looks private. In a frame of its own, in which nothing runs, neither its
        # styles nor what a record holds touch the notebook.
        page = html.escape(self._page("--force"), quote=True)
        style = "width: 100%; height: 40em; border: 0"
        return f'<iframe srcdoc="{page}" sandbox style="{style}"></iframe>'


def show(
    record: str | os.PathLike[str] | Mapping[str, Any],
    *,
    id: str | int | None = None,
    line: int | None = None,
    document: str | os.PathLike[str] | None = None,
) -> Report:
    """The report of one record: a dict, or the record of a file (the first, or by ``id`` or ``line``)."""
    options: list[str] = []
    for name, value in (("id", id), ("line", line), ("document", document)):
        if value is not None:
            options += [f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]
    if isinstance(record, (str, os.PathLike)):
        return Report([*options, "--", os.fspath(record)], None)
    return Report([*options, "-"], record_line(record))


def open(*paths: str | os.PathLike[str]) -> int:
    """Start the screen on files and folders, from a program that has a terminal. The exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise StepscopeError(
            "open() needs a terminal, and there is none here (in a notebook use show()). In a terminal: "
            + " ".join(["stepscope", *(os.fspath(path) for path in paths)])
        )
    return subprocess.call([program(), *(os.fspath(path) for path in paths)])
