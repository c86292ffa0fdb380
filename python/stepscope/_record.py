"""The recorder: what a run asked a model and what it got, written as stepscope's run trace.

``record(query, "runs.jsonl")`` wraps evoproc's query function. A call that comes from evoproc's runner belongs to a run,
and the run is one line of the file; a call that belongs to no run is a line of its own (prompt and reply). Upstream is
neither changed nor replaced: the recorder reads what its runner holds in its local variables.
"""

from __future__ import annotations

import difflib
import dis
import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Number
from types import FunctionType, MethodType, ModuleType, TracebackType
from typing import Any, TypeVar, cast, overload
from weakref import WeakKeyDictionary

from . import _client, _lines
from ._call import _Asked, usage
from ._later import _hand_on
from ._reply import _counted, _get
from ._run import Run, _current, _enter, _leave, _open_here, _start, _Tokens
from ._sink import Sink, _safely, sink, warn

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# Arguments by which a call is known, and members of arguments.
_NAMES = {
    "prompt": ("prompt", "messages", "input", "question", "text"),
    "system": ("system", "instructions"),
    "schema": ("fmt", "format", "schema", "response_format", "text_format", "output_format", "text.format", "output_config.format"),
    "model": ("model",),
    "seed": ("seed", "options.seed"),
    "temperature": ("temperature", "options.temperature"),
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict", "options.num_predict"),
}  # fmt: skip
# Objects under these names may hold keys: a client, a network.
_KINDS: dict[str, tuple[type, ...]] = {
    "model": (str,), "seed": (Number,), "temperature": (Number,), "max_tokens": (Number,)
}  # fmt: skip
_ARE_KNOWN = {path for paths in _NAMES.values() for path in paths}
_IS_NO_PROMPT = re.compile(r"self|cls|.*(key|token|secret|password|authorization|credentials?|headers)")
_PROMPTS = (str, list, tuple, Mapping)


def _is_left_out(value: Any) -> bool:
    """Whether it means that an argument is not sent: the defaults of clients, which need not be installed here."""
    return value is None or value is ... or type(value).__name__ in ("NotGiven", "Omit", "Unset")


def _member(given: Mapping[str, Any], path: str) -> Any:
    name, _, member = path.partition(".")
    value = given.get(name)
    if member and value is not None:
        return None if isinstance(value, str) else _get(value, member)
    return value


class _Reader:
    """Reads the arguments of a function by their names."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given, unnamed = self._bound(args, kwargs)
        found: dict[str, Any] = {}
        for key, paths in _NAMES.items():
            values = (_member(given, path) for path in paths)
            value = next((each for each in values if not _is_left_out(each)), None)
            if isinstance(value, _KINDS.get(key, object)) and value is not None:
                found[key] = value
        if given.keys().isdisjoint(_NAMES["prompt"]):
            # (prompt, model, fmt, seed) is the order of evoproc's query functions.
            for key, value in zip(("prompt", "model", "schema", "seed"), unnamed):
                if isinstance(value, _KINDS.get(key, _PROMPTS)):
                    found.setdefault(key, value)
        return found

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        """The arguments by name, and what may be a prompt under another name, with what follows it without any."""
        try:
            assert self.signature is not None
            bound = self.signature.bind(*args, **kwargs)
        except (AssertionError, TypeError):
            return kwargs, list(args)
        bound.apply_defaults()
        given: dict[str, Any] = {}
        others: list[Any] = []
        unnamed: Sequence[Any] = ()
        for name, value in bound.arguments.items():
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                given.update(value)
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                unnamed = value
            else:
                given[name] = value
                if isinstance(value, _PROMPTS) and name not in _ARE_KNOWN and not _IS_NO_PROMPT.fullmatch(name):
                    others.append(value)
        return given, [*others[:1], *unnamed]


class _Query:
    """A function with its calls recorded; in everything else it is that function."""

    _own = frozenset(("_function", "_call", "_to", "_run", "_read"))

    def __init__(self, function: Callable[..., Any], to: Sink, run: Run | None) -> None:
        self._function = function
        self._call = _with_usage(function)
        self._to, self._run = to, run
        self._read = _Reader(function)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(function, name):
                object.__setattr__(self, name, getattr(function, name))
        object.__setattr__(self, "__wrapped__", function)

    def __getattr__(self, name: str) -> Any:
        if name in _Query._own:  # not there yet
            raise AttributeError(name)
        return getattr(self._function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _Query._own:
            object.__setattr__(self, name, value)
        else:
            setattr(self._function, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        asked = _safely(_Asked, self._to, _safely(self._read, args, kwargs) or {}, self._run)
        try:
            reply = self._call(*args, **kwargs)
        except BaseException as error:
            if asked is not None:
                _safely(asked.end, None, error)
            raise
        return _hand_on(asked, reply)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # Bound methods of clients, static methods and objects that can be called take no instance.
        bind = getattr(type(self._function), "__get__", None)
        bound = None if bind is None or instance is None else bind(self._function, instance, owner)
        takes_it = bound is not None and getattr(bound, "__self__", None) is instance
        return MethodType(self, instance) if takes_it else self

    def __reduce__(self) -> Any:
        if self._run is not None:
            raise TypeError("a function that is recorded into one run cannot go to another process")
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:
            return name
        return record, (self._function, self._to.path)

    def __repr__(self) -> str:
        return f"<{self._function!r}, recorded to {self._to.path!r}>"


def _wrapped(function: Callable[..., Any], to: Sink, run: Run | None) -> Callable[..., Any]:
    """A function with its calls recorded: here alone, where it was recorded before."""
    function = _unrecorded(function)
    query = _Query(function, to, run)
    if not inspect.iscoroutinefunction(function):
        return query

    @functools.wraps(function)
    async def recorded(*args: Any, **kwargs: Any) -> Any:
        return await query(*args, **kwargs)

    _coroutines[recorded] = query
    return recorded


# What is a coroutine function must stay one.
_coroutines: WeakKeyDictionary[Callable[..., Any], _Query] = WeakKeyDictionary()


def _query_of(function: Any) -> _Query | None:
    """The recorded function that a function is, if it is one."""
    if isinstance(function, FunctionType):
        return _coroutines.get(function)
    return function if isinstance(function, _Query) else None


def _unrecorded(function: Any) -> Any:
    """The function without its recording; methods and partial functions too."""
    recorded = _query_of(function)
    if recorded is not None:
        return _unrecorded(recorded._function)
    if isinstance(function, MethodType):
        plain = _unrecorded(function.__func__)
        return function if plain is function.__func__ else MethodType(plain, function.__self__)
    if type(function) is functools.partial:
        plain = _unrecorded(function.func)
        return function if plain is function.func else functools.partial(plain, *function.args, **function.keywords)
    return function


class _Globals(dict[str, Any]):
    """The global names of a function, as they are at each look, but for one module."""

    def __init__(self, real: dict[str, Any], name: str, other: Any) -> None:
        super().__init__(real)
        self._real, self._name, self._other = real, name, other

    def __getitem__(self, name: str) -> Any:
        if name == self._name:
            now = self._real[name]
            return self._other if now is self._other._module else now
        return self._real[name]


class _Ollama:
    """The client module of Ollama; what its calls say of tokens and options is kept for the recorded call."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name not in ("generate", "chat") or not callable(found):
            return found

        @functools.wraps(found)
        def told(*args: Any, **kwargs: Any) -> Any:
            reply = found(*args, **kwargs)
            options = kwargs.get("options")
            more = {"backend": "ollama", "endpoint": f"/api/{name}"}
            if isinstance(options, Mapping) and options.get("temperature") is not None:
                more["temperature"] = options["temperature"]
            counted = _counted(reply)
            usage(counted.get("prompt_tokens"), counted.get("completion_tokens"), **more)
            return reply

        return told


def _with_usage(function: Callable[..., Any]) -> Callable[..., Any]:
    """evoproc's Ollama functions give the text alone. A copy of such a function, which sees the client through
    ``_Ollama``, tells what the server counted; the function itself stays as it is."""
    names = getattr(function, "__globals__", None)
    module = names.get("ollama") if isinstance(function, FunctionType) and names is not None else None
    if not isinstance(module, ModuleType) or "ollama" not in function.__code__.co_names:
        return function
    if any(each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for each in dis.get_instructions(function)):
        return function  # a copy would write elsewhere
    copy = FunctionType(
        function.__code__,
        _Globals(cast("dict[str, Any]", names), "ollama", _Ollama(module)),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _is_runner(function: Callable[..., Any]) -> bool:
    """Whether a function runs a procedure: it takes one, and a problem's text or inputs."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return ("proc" in names or "procedure" in names) and not {"problem_text", "question", "inputs"}.isdisjoint(names)


def _makes_runs(function: Callable[..., Any]) -> bool:
    """Whether it makes a procedure and may run it: it takes a query function."""
    try:
        return "query_fn" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _recorded_runner(function: Callable[..., Any], to: Sink) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run_recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # which says what is wrong
        with _running(bound, to):
            return _ended(function(*bound.args, **bound.kwargs))

    @functools.wraps(function)
    async def await_recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return await function(*args, **kwargs)
        with _running(bound, to):
            return _ended(await function(*bound.args, **bound.kwargs))

    return await_recorded if inspect.iscoroutinefunction(function) else run_recorded


@contextmanager
def _running(bound: inspect.BoundArguments, to: Sink) -> Iterator[None]:
    """Record a runner with these arguments."""
    given = bound.arguments
    run, outer = _current.get(), None
    if run is None or _open_here(run) is None:
        run = outer = Run(to)
    procedure = given.get("proc", given.get("procedure"))
    text = given.get("problem_text", given.get("question"))
    inputs = given.get("inputs")
    if text is None and isinstance(inputs, Mapping):
        text = inputs.get("problem_text")
    run.procedure = procedure if isinstance(procedure, Mapping) else run.procedure
    run.question = run.question if run.question is not None else text
    run.answer_schema = given.get("answer_schema", run.answer_schema)
    _wrap_queries(bound, run)
    token = _enter(run)
    try:
        yield
    except BaseException as error:
        run.error = _lines.words(error)
        raise
    finally:
        _leave(run, token)
        if outer is not None:
            _safely(outer._last()._close)


def _ended(result: Any) -> Any:
    """What a runner gave."""
    run, state = _current.get(), result
    if run is not None:
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Mapping):
            run.procedure, state = result
        if isinstance(state, Mapping):
            run.state, run.error = state, None
    return result


def _wrap_queries(bound: inspect.BoundArguments, run: Run) -> None:
    """Record what a runner asks with, if that is not recorded already."""
    given = bound.arguments
    query = given.get("query_fn")
    if callable(query) and _unrecorded(query) is query:
        given["query_fn"] = run.wrap(query)
    steps = given.get("run_steps_fn")
    inner = getattr(steps, "keywords", {}).get("query_fn") if isinstance(steps, functools.partial) else None
    if isinstance(steps, functools.partial) and callable(inner) and _unrecorded(inner) is inner:
        given["run_steps_fn"] = functools.partial(
            steps.func, *steps.args, **{**steps.keywords, "query_fn": run.wrap(inner)}
        )


def _recorded_maker(function: Callable[..., Any], to: Sink) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def make_recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)
        query = bound.arguments.get("query_fn")
        if callable(query) and _unrecorded(query) is query:
            bound.arguments["query_fn"] = _wrapped(query, to, None)
        return function(*bound.args, **bound.kwargs)

    return make_recorded


class Recording:
    """What ``record(path, ...)`` gives: a decorator, and a context manager around one run."""

    def __init__(self, path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
        self._sink = sink(path)
        self._fields = fields
        self._entered: dict[Run, _Tokens] = {}

    def __repr__(self) -> str:
        return f"<Recording into {self._sink.path!r}>"

    def __call__(self, function: F) -> F:
        return cast(F, _record(function, self._sink))

    def __enter__(self) -> Run:
        run = Run(self._sink, self._fields)
        self._entered[run] = _enter(run)
        return run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Tasks and threads may be in blocks of one recording at the same time.
        entered, now = list(self._entered), _current.get()
        run = next((each for each in entered if each._last() is now), entered[-1])
        _leave(run, self._entered.pop(run))
        run = run._last()
        if error is not None:
            run.error = _lines.words(error)
        run._read_answer()
        _safely(run._close, True)


def _record(function: Callable[..., Any], to: Sink) -> Callable[..., Any]:
    if not callable(function):
        raise TypeError(f"record takes a function, a client or a path, not {type(function).__name__}")
    if _query_of(function) is not None:
        return _wrapped(function, to, None)
    if _is_runner(function) or _is_pipeline(function):
        return _recorded_runner(function, to)
    if _makes_runs(function):
        return _recorded_maker(function, to)
    return _wrapped(function, to, None)


def _is_pipeline(function: Callable[..., Any]) -> bool:
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return {"query_fn", "run_steps_fn", "question"} <= set(names)


@overload
def record(path: str | os.PathLike[str], /, *, id: str | int | None = None, question: str | None = None,
    gold_answer: str | None = None, gold_num: float | None = None, row_index: int | None = None,
    procedure: Mapping[str, Any] | None = None, answer_schema: Any = None, state: Mapping[str, Any] | None = None,
    fitness: float | None = None, mode: str | None = None, **fields: Any) -> Recording: ...  # fmt: skip


@overload
def record(function: T, path: str | os.PathLike[str], /) -> T: ...


def record(first: Any, path: str | os.PathLike[str] | None = None, /, **fields: Any) -> Any:
    """Record what a model was asked and what it said.

    - ``query = record(query, "runs.jsonl")``: a query function of evoproc, or any function that calls a model. Runs of
      evoproc's runner become one line each; a call outside of a run is a line of its own.
    - ``client = record(OpenAI(), "calls.jsonl")``: a whole client, of OpenAI, Anthropic or Ollama, or the module
      ``litellm``: every method that calls a model.
    - ``run_steps = record(run_steps_stateful_minimal, "runs.jsonl")``: a runner; its query function is recorded with it.
    - ``@record("calls.jsonl")``: the same as a decorator.
    - ``with record("runs.jsonl", question=..., gold_answer=..., id=...) as run:`` around one run, with what else its
      record is to hold. Recorded functions that are called inside write into it; in other threads those of
      ``run.wrap(function)`` do, and with ``asyncio.to_thread`` all. ``run.step(...)`` names its steps.

    The wrapped function takes, gives and raises what it did. A path that cannot be written is an ``OSError`` here; what
    cannot be written later is a warning, never an error.
    """
    if path is None and isinstance(first, (str, os.PathLike)):
        _tell_of_misspelt(fields)
        return Recording(first, fields)
    if path is None or fields:
        raise TypeError(
            "record(function, path), record(client, path), @record(path), or with record(path, question=..., ...)"
        )
    if hasattr(first, "invoke") and hasattr(first, "callbacks"):
        callback = f"config={{'callbacks': [stepscope.LangChain({str(path)!r})]}}"
        raise TypeError(f"{type(first).__name__} is recorded by a callback: {callback}")
    if not callable(first):
        methods = _client.methods(first)
        if methods:
            to = sink(path)
            return _client.recorded(first, methods, lambda method: _wrapped(method, to, None))
    return _record(first, sink(path))


def start(
    path: str | os.PathLike[str],
    /,
    *,
    id: str | int | None = None,
    question: str | None = None,
    gold_answer: str | None = None,
    gold_num: float | None = None,
    row_index: int | None = None,
    procedure: Mapping[str, Any] | None = None,
    answer_schema: Any = None,
    state: Mapping[str, Any] | None = None,
    fitness: float | None = None,
    mode: str | None = None,
    **fields: Any,
) -> Run:
    """Begin a run that is recorded until ``run.end()``, over the cells of a notebook for instance. Calls of recorded
    functions outside of any block belong to it, in whatever thread they are made. One run is open at a time: starting
    another ends it."""
    _tell_of_misspelt(fields)
    fields.update(
        id=id, question=question, gold_answer=gold_answer, gold_num=gold_num, row_index=row_index, procedure=procedure,
        answer_schema=answer_schema, state=state, fitness=fitness, mode=mode,
    )  # fmt: skip
    run = Run(sink(path), {name: value for name, value in fields.items() if value is not None})
    _start(run)
    return run


_FIELDS = (
    "id", "question", "gold_answer", "gold_num", "row_index", "procedure", "answer_schema", "state", "fitness", "mode"
)  # fmt: skip


def _tell_of_misspelt(fields: Mapping[str, Any]) -> None:
    """A record may hold any field, but one that is nearly called as a known one was meant to be that."""
    for name in fields:
        near = [] if name in _FIELDS else difflib.get_close_matches(name, _FIELDS, 1, 0.8)
        if near:
            warn(f"stepscope: the record has a field {name!r}, of which nothing is known; did you mean {near[0]!r}?")
