"""The program from Python: checks, rewards, reports, the screen."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from ._frame import CheckedRecords, _Origin
from ._given import Given, Path, Records, is_result, resolve
from ._lines import dumps, is_table, line
from ._program import StepscopeError, program, said
from ._progress import watched

if TYPE_CHECKING:
    from typing_extensions import Unpack

if sys.platform == "linux":
    import fcntl

_T = TypeVar("_T")
# The exit code where something could not be read; what was read has its results.
_NOT_ALL_READ = 2

#: A file, the name of a published one, the schema itself, or a class with ``model_json_schema`` (pydantic's).
Schema = Path | Mapping[str, Any] | type


class CheckOptions(TypedDict, total=False):
    """What a check can be told, as ``check`` has it."""

    schema: Schema | None
    answer_schema: Schema | None
    schemas: Path | None
    document: Path | None
    baseline: Path | None
    columns: Mapping[str, str] | None
    map: Path | None
    filter: str | None
    fields: Iterable[str] | None
    with_record: bool
    jobs: int | None


class Text(NamedTuple):
    """A text that the program reads from a file, which is there while it runs."""

    option: str
    text: str


def stream(
    *records: Records,
    schema: Schema | None = None,
    answer_schema: Schema | None = None,
    schemas: Path | None = None,
    document: Path | None = None,
    baseline: Path | None = None,
    columns: Mapping[str, str] | None = None,
    map: Path | None = None,
    filter: str | None = None,
    fields: Iterable[str] | None = None,
    with_record: bool = False,
    jobs: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Check records one after the other, in order: an object each, as soon as it is there.

    ``records``: paths and patterns (files or folders, one or several), a part of a file (see ``parts``), one record, an
    iterable of records (dicts, or lines of JSON as ``str`` or ``bytes``), or a table of pandas, polars or pyarrow with a
    row per record. Pass a table as it is: what is missing in a row is null or NaN in the dicts that it gives, and may be
    a finding.

    ``schema`` and ``answer_schema`` are a file, the name of a published schema, a dict, or a class of pydantic;
    ``columns`` names columns of a table by the keys that they stand for, and ``map`` is a file (TOML) that says how the
    rows of another program are records; ``filter`` chooses records (``"correct:false rule:unused"``); ``fields`` names
    what is to be kept of each object (``["id", "triage.fix"]``), and ``with_record`` adds the record.
    """
    flags = check_flags(
        schema=schema, answer_schema=answer_schema, schemas=schemas, document=document, baseline=baseline,
        columns=columns, map=map, filter=filter, fields=fields, with_record=with_record, jobs=jobs,
    )  # fmt: skip
    return read(flags, resolve(records, "stream"), objects)


def check_flags(**options: Unpack[CheckOptions]) -> list[str | Text]:
    """The command that checks records."""
    flags: list[str | Text] = ["check", "--format", "jsonl", "--fail-on", "never"]
    flags += _schema_flags("--schema", options.get("schema"))
    flags += _schema_flags("--answer-schema", options.get("answer_schema"))
    for name, value in (
        ("schemas", options.get("schemas")),
        ("document", options.get("document")),
        ("baseline", options.get("baseline")),
        ("filter", options.get("filter")),
    ):
        if value is not None:
            flags += [f"--{name}={os.fspath(value)}"]
    flags += table_flags(options.get("columns"), options.get("map"))
    return flags + _common_flags(options.get("fields"), options.get("with_record", False), options.get("jobs"))


def table_flags(columns: Mapping[str, str] | None, map: Path | None) -> list[str]:
    """How the rows of tables, and of other programs, are records."""
    flags: list[str] = []
    if columns is not None:
        if not isinstance(columns, Mapping):
            raise TypeError("columns is a dict of keys and the columns that stand for them")
        flags += ["--columns", ",".join(f"{key}={column}" for key, column in columns.items())]
    if map is not None:
        flags.append(f"--map={os.fspath(map)}")
    return flags


def _common_flags(fields: Iterable[str] | None, with_record: bool, jobs: int | None) -> list[str | Text]:
    flags: list[str | Text] = []
    if fields is not None:
        if isinstance(fields, (str, bytes)):
            raise TypeError(f"fields is a list of names: fields=[{fields!r}]")
        flags += ["--fields", ",".join(fields)]
    if with_record:
        flags.append("--with-record")
    if jobs is not None:
        if not isinstance(jobs, int) or jobs < 1:
            raise ValueError(f"jobs is how many threads check, at least 1, not {jobs!r}")
        flags += ["--jobs", str(jobs)]
    return flags


def _schema_flags(option: str, schema: Any) -> list[str | Text]:
    if schema is None:
        return []
    if isinstance(schema, (str, os.PathLike)):
        return [f"{option}={os.fspath(schema)}"]
    made = getattr(schema, "model_json_schema", None)
    if callable(made):
        schema = made()
    if not isinstance(schema, Mapping):
        raise TypeError(
            f"{option[2:].replace('-', '_')} is a file, a name, a dict or a class of pydantic,"
            f" not {type(schema).__name__}"
        )
    return [Text(option, dumps(schema))]


def check(
    *records: Records,
    schema: Schema | None = None,
    answer_schema: Schema | None = None,
    schemas: Path | None = None,
    document: Path | None = None,
    baseline: Path | None = None,
    columns: Mapping[str, str] | None = None,
    map: Path | None = None,
    filter: str | None = None,
    fields: Iterable[str] | None = None,
    with_record: bool = False,
    jobs: int | None = None,
    progress: bool | None = None,
) -> CheckedRecords:
    """What is wrong with records, and where to fix it: a list with a dict each, in order. Records and options are as in
    ``stream``.

    Each has ``id``, ``sha256``, ``kind``, ``findings`` (``rule``, ``severity``, ``message``, ``pointer``, ...) and, of
    a wrong run, ``triage`` (``fix``, ``step``, ``recovered``, ``confidence``, ``why``). What could not be read (a
    document that an answer cites) is a ``RuntimeWarning`` where there are results all the same. ``progress`` says whether a
    check of more than two seconds tells how far it is; without it, in terminals and notebooks.
    """
    flags = check_flags(
        schema=schema, answer_schema=answer_schema, schemas=schemas, document=document, baseline=baseline,
        columns=columns, map=map, filter=filter, fields=fields, with_record=with_record, jobs=jobs,
    )  # fmt: skip
    given = resolve(records, "check")
    found = CheckedRecords()
    found._origin = _Origin(given, columns, map)
    try:
        for each in watched(read(flags, given, objects), given.total, progress):
            found.append(each)
    except StepscopeError as error:
        if not found or error.code != _NOT_ALL_READ:
            raise
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return found


def rewards(
    *records: Records,
    verifier: str | None = None,
    verifiers: Path | None = None,
    chain: Path | None = None,
    field: str | None = None,
    schema: Schema | None = None,
    partial_credit: bool | None = None,
    no_partial_credit: bool = False,
    pattern: str | None = None,
    full_match: bool = False,
    reference: str | Sequence[str] | None = None,
    references: Path | Sequence[str] | None = None,
    references_field: str | None = None,
    threshold: float | None = None,
    effective_order: bool = False,
    columns: Mapping[str, str] | None = None,
    map: Path | None = None,
    fields: Iterable[str] | None = None,
    with_record: bool = False,
    jobs: int | None = None,
) -> list[dict[str, Any]]:
    """The rewards of completions, in order: ``stepscope verify`` with its options by their names.

    >>> rewards(["Answer: 3", "three"], verifier="regex_format", pattern=r"Answer: (\\d+)", full_match=True)

    Completions are texts in a list, or records as in ``check``. ``schema`` is a file, a dict, or a class of pydantic;
    ``references`` a file, or the texts themselves. A completion that cannot be scored has the reward ``None`` and an
    ``error``; where none can be scored, that is a ``StepscopeError``.
    """
    flags: list[str | Text] = ["verify", "--fail-on", "never", *_schema_flags("--schema", schema)]
    texts = [reference] if isinstance(reference, str) else list(reference or ())
    if references is not None and not isinstance(references, (str, os.PathLike)):
        texts, references = [*texts, *references], None
    for name, value in (
        ("verifier", verifier), ("verifiers", verifiers), ("chain", chain), ("field", field), ("pattern", pattern),
        ("references", references), ("references-field", references_field), ("threshold", threshold),
        *(("reference", text) for text in texts),
    ):  # fmt: skip
        if value is not None:
            flags.append(f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    for name, is_set in (
        ("partial-credit", partial_credit is True),
        ("no-partial-credit", no_partial_credit or partial_credit is False and schema is not None),
        ("full-match", full_match),
        ("effective-order", effective_order),
    ):
        if is_set:
            flags.append(f"--{name}")
    flags += table_flags(columns, map)
    flags += _common_flags(fields, with_record, jobs)
    scored = list(read(flags, resolve(_completions(records), "rewards"), objects))
    if scored and all("reward" in each and each["reward"] is None for each in scored):
        raise StepscopeError(f"no completion could be scored: {scored[0].get('error')}", _NOT_ALL_READ)
    return scored


def _completions(records: tuple[Any, ...]) -> tuple[Any, ...]:
    """Texts and messages in a list as records."""
    if len(records) != 1 or not isinstance(records[0], (list, tuple)) or is_table(records[0]):
        return records
    each_is_text = [isinstance(each, str) or _are_messages(each) for each in records[0]]
    if not any(each_is_text) or all(map(_is_file, records[0])):
        return records
    if not all(each_is_text):
        raise TypeError("rewards takes a list of texts or one of records, not both in one")
    return ([{"completion": each if isinstance(each, str) else each[-1].get("content")} for each in records[0]],)


def _is_file(value: Any) -> bool:
    """Whether a text is the name of a file here, and no completion."""
    return isinstance(value, str) and bool(os.path.splitext(value)[1]) and os.path.isfile(value)


def _are_messages(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) and "role" in each for each in value)
    )


def save(records: Records, path: Path, **options: Unpack[CheckOptions]) -> None:
    """Check records and write the results to a file of JSON lines, which is there whole or not at all. Options as in
    ``check``; results that are there already are written as they are.

    Of records the results do not go through Python. Whatever could not be read is a ``StepscopeError``. Whoever saves to
    the same path again replaces it; a folder that is missing is made.
    """
    are_results = isinstance(records, CheckedRecords) or (
        isinstance(records, (list, tuple)) and len(records) > 0 and all(map(is_result, records))
    )
    if are_results and options:
        raise TypeError(f"these are results already: {', '.join(options)} would change nothing")
    given = None if are_results else resolve((records,), "save")
    flags = check_flags(**options)
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    # Hidden: engines that read the folder pass over it. Attempts at the same time do not meet.
    hidden = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    file = io.open(hidden, "xb")
    try:
        with file:
            if given is None:
                file.writelines(map(line, records))  # type: ignore[arg-type]
            else:
                for _ in read(flags, given, objects, file):
                    pass
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, path)
    except BaseException:
        os.unlink(hidden)
        raise


def read(
    flags: Sequence[str | Text],
    given: Given,
    take: Callable[[IO[bytes]], Iterator[_T]],
    file: IO[bytes] | None = None,
) -> Iterator[_T]:
    """What a command prints, as ``take`` reads it; nothing where it goes into a file."""
    has_texts = any(isinstance(flag, Text) for flag in flags)
    with tempfile.TemporaryDirectory() if has_texts else nullcontext("") as folder:
        arguments = [_in_file(flag, folder) if isinstance(flag, Text) else flag for flag in flags]
        yield from _run([program(), *arguments], given, take, file)


def _in_file(text: Text, folder: str) -> str:
    path = os.path.join(folder, f"{text.option[2:]}.json")
    with io.open(path, "w", encoding="utf-8") as file:
        file.write(text.text)
    return f"{text.option}={path}"


def _run(
    command: list[str], given: Given, take: Callable[[IO[bytes]], Iterator[_T]], file: IO[bytes] | None
) -> Iterator[_T]:
    feed = given.feed() if given.feed is not None else None
    arguments = [*command, "-"] if feed is not None else [*command, "--", *given.paths]
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


def _widen(pipe: IO[bytes] | None) -> None:
    """Let as much into a pipe as is written at a time, where the system allows it: 64 kB make both ends wait often."""
    if pipe is not None and sys.platform == "linux":
        try:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)
        except OSError:
            pass


def objects(output: IO[bytes]) -> Iterator[dict[str, Any]]:
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


def open(*paths: str | os.PathLike[str]) -> int:
    """Start the screen on files and folders, from a program that has a terminal. The exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise StepscopeError(
            "open() needs a terminal, and there is none here (in a notebook use show()). In a terminal: "
            + " ".join(["stepscope", *(os.fspath(path) for path in paths)])
        )
    return subprocess.call([program(), *(os.fspath(path) for path in paths)])
