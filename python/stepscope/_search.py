"""The recorder of evoproc's genetic search: who came from whom, how, and what became of it.

evoproc keeps parents, operator and mutation intent nowhere. ``record_search`` gives a search object (and its two
operators) a subclass of its own class that notes them, so that the search itself, its random numbers and its result stay
what they are.
"""

from __future__ import annotations

import copy
import json
import os
import uuid
from collections.abc import Callable, Mapping
from math import exp
from typing import Any, TypeVar

from . import _lines
from ._sink import Sink, sink, warn

G = TypeVar("G")


class _Made:
    """How one procedure came about."""

    def __init__(self, operator: str, parents: list[str] | None = None) -> None:
        self.operator = operator
        self.parents = parents or []
        self.intent: str | None = None
        self.accepted: bool | None = None
        self.fell_back: bool | None = None
        self.prompt: str | None = None
        self.reply: str | None = None

    def members(self) -> dict[str, Any]:
        return {
            "parents": self.parents,
            "operator": self.operator,
            "intent": self.intent,
            "accepted": self.accepted,
            "fell_back": self.fell_back,
            "prompt_sha256": None if self.prompt is None else _lines.sha256(self.prompt),
            "reply": self.reply,
        }


class _Notes:
    """What is known of a search while it runs."""

    def __init__(self, to: Sink, run: str | None) -> None:
        self.sink, self.name = to, run
        self.key = b""
        self.begin()
        self.phase = "immigrant"
        self.now: _Made | None = None

    def begin(self) -> None:
        if self.key:
            self.sink.line(b"", self.key)
        self.run = self.name or uuid.uuid4().hex
        self.key = uuid.uuid4().bytes
        self.gen = 0
        # The procedure is kept with it: an address alone could be given to another one.
        self.made: dict[int, tuple[Any, _Made]] = {}
        self.sink.begin(self.key, b"", b"", b"")

    def keep(self, procedure: Any, made: _Made) -> None:
        self.made[id(procedure)] = (procedure, made)
        # Should the process be killed before it is evaluated, its line has no fitness.
        self.sink.piece(self.key, _lines.line(self.line(None, procedure, made, None, {}, "")))

    def line(
        self, idx: int | None, procedure: Any, made: _Made, fitness: Any, terms: Mapping[str, float], notes: str
    ) -> dict[str, Any]:
        return {
            "run": self.run,
            "gen": self.gen,
            "idx": idx,
            "sha256": _digest(procedure),
            **made.members(),
            "fitness": fitness,
            "terms": terms,
            "notes": notes,
            "procedure": procedure,
        }

    def evaluated(self, population: list[Any], scorer: Any) -> None:
        kept = {}
        for idx, individual in enumerate(population):
            procedure = individual.proc
            _, made = self.made.get(id(procedure), (None, None))
            if made is None:
                # Copied unchanged from the generation before; those of a population from elsewhere have no parents.
                digest = _digest(procedure)
                made = _Made("elite", [str(digest)]) if self.gen else _Made("seed")
            notes = getattr(individual, "notes", "")
            line = self.line(idx, procedure, made, individual.fitness, _terms(scorer, procedure), notes)
            self.sink.line(_lines.line(line), self.key)
            kept[id(procedure)] = (procedure, made)
        self.made = {}
        self.gen += 1
        self.sink.begin(self.key, b"", b"", b"")


def _digest(procedure: Any) -> str | None:
    try:
        return _lines.sha256(_lines.canonical(procedure))
    except (TypeError, ValueError):
        return None


def _terms(scorer: Any, procedure: Any) -> dict[str, float]:
    """What the structural score is the sum of, asked of the scorer itself."""
    inner = getattr(scorer, "_proc_scorer", scorer)
    try:
        found = inner.validate_fn(copy.deepcopy(procedure))
        count = {name: sum(1 for each in found if each.get("severity") == name) for name in ("fatal", "repairable")}
        excess = max(0, len(procedure.get("steps", [])) - inner.target_steps)
        terms = {
            "base": inner.base,
            "fatal": -inner.w_fatal * count["fatal"],
            "repairable": -inner.w_repair * count["repairable"],
            "redefined": -inner.w_redefine * inner._count_redefinitions(procedure),
            "unused": -inner.w_unused * inner._count_unused_outputs(procedure),
            "length": -inner.w_len * (1 / (1 + exp(-0.7 * excess)) - 0.5) * 2,
            "extraction": inner.w_extract if inner._looks_extraction_first(procedure) else 0.0,
        }
    except Exception:
        return {}
    return {name: float(value) for name, value in terms.items()}


def _noted(notes: _Notes, query: Callable[..., Any]) -> Callable[..., Any]:
    """A query function whose last prompt and reply are kept for what is being made."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        made = notes.now
        if made is not None:
            prompt = kwargs.get("prompt", args[0] if args else None)
            made.prompt = prompt if isinstance(prompt, str) else None
            made.reply = None
        reply = query(*args, **kwargs)
        if made is not None:
            made.reply = reply if isinstance(reply, str) else _lines.dumps(reply)
        return reply

    return noted


def _watch(notes: _Notes, do: Callable[..., None], *args: Any) -> None:
    """A fault of the recorder is a warning, and the search goes on."""
    try:
        do(*args)
    except Exception as error:
        warn(f"stepscope could not record an individual: {error!r}")


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True))
    except (TypeError, ValueError):
        return False


def _crossover(kind: type[Any], notes: _Notes) -> type[Any]:
    class Recorded(kind):  # type: ignore[misc]
        def __call__(self, task: str, parent_a: Any, parent_b: Any, *args: Any, **kwargs: Any) -> Any:
            made = notes.now
            if made is not None:
                made.operator = "crossover"
                made.parents = [str(_digest(parent_a)), str(_digest(parent_b))]
            child = super().__call__(task, parent_a, parent_b, *args, **kwargs)
            if made is not None:
                made.accepted, made.fell_back = True, False
            return child

    return _named(Recorded, kind)


def _mutation(kind: type[Any], notes: _Notes) -> type[Any]:
    class Recorded(kind):  # type: ignore[misc]
        def __call__(self, proc: Any, *args: Any, **kwargs: Any) -> Any:
            made = notes.now
            if made is not None:
                made.operator = "mutation"
                made.parents = [str(_digest(proc))]
            child = super().__call__(proc, *args, **kwargs)
            if made is not None:
                # Upstream gives the original back where no candidate was valid, or as good.
                made.fell_back = _same(child, proc)
                made.accepted = not made.fell_back
            return child

        def _sample_intent(self) -> Any:
            intent = super()._sample_intent()
            if notes.now is not None:
                notes.now.intent = intent
            return intent

    return _named(Recorded, kind)


def _search(kind: type[Any], notes: _Notes) -> type[Any]:
    class Recorded(kind):  # type: ignore[misc]
        def run(self, *args: Any, **kwargs: Any) -> Any:
            _watch(notes, notes.begin)
            return super().run(*args, **kwargs)

        def initialize_population(self, *args: Any, **kwargs: Any) -> Any:
            notes.phase = "seed"
            try:
                return super().initialize_population(*args, **kwargs)
            finally:
                notes.phase = "immigrant"

        def _generate_one(self, *args: Any, **kwargs: Any) -> Any:
            made = notes.now = _Made(notes.phase)
            try:
                procedure = super()._generate_one(*args, **kwargs)
            finally:
                notes.now = None
            _watch(notes, notes.keep, procedure, made)
            return procedure

        def _reproduce(self, *args: Any, **kwargs: Any) -> Any:
            made = notes.now = _Made("crossover")
            try:
                procedure = super()._reproduce(*args, **kwargs)
            finally:
                notes.now = None
            _watch(notes, notes.keep, procedure, made)
            return procedure

        def evaluate(self, pop: Any, scorer: Any = None, **kwargs: Any) -> Any:
            result = super().evaluate(pop, scorer, **kwargs)
            _watch(notes, notes.evaluated, pop, scorer or self.scorer)
            return result

    return _named(Recorded, kind)


def _named(recorded: type[Any], kind: type[Any]) -> type[Any]:
    recorded.__name__, recorded.__qualname__, recorded.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    recorded.__doc__ = kind.__doc__
    return recorded


def record_search(ga: G, path: str | os.PathLike[str], *, run: str | None = None) -> G:
    """Record every generation of an evoproc ``ProcedureGA`` as lines of ``path``, one per individual and generation.

    A line holds ``run, gen, idx, sha256, parents, operator`` (seed, elite, crossover, mutation, immigrant), ``intent,
    fitness, terms, accepted, fell_back, prompt_sha256, reply, procedure``. The object is given back; it searches as it
    did before.
    """
    search: Any = ga
    notes = _Notes(sink(path), run)
    search.__class__ = _search(type(search), notes)
    search.query_fn = _noted(notes, search.query_fn)
    for name, subclass in (("crossover", _crossover), ("mutate", _mutation)):
        operator = getattr(search, name, None)
        if operator is not None and not callable(getattr(operator, "__func__", None)):
            operator.__class__ = subclass(type(operator), notes)
            operator.query_fn = _noted(notes, operator.query_fn)
    return ga
