"""A step of a recorded run once more: ``stepscope rerun``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Literal

from ._check import table_flags
from ._columns import Kind, Library, make_frame
from ._given import Path
from ._lines import dumps
from ._program import StepscopeError, ended, said
from ._report import Report, picked, show

_COLUMNS: dict[str, Kind] = {
    "sample": "whole",
    "step": "whole",
    "seed": "whole",
    "verdict": "text",
    "outputs": "text",
    "raw": "text",
    "error": "text",
    "duration_ms": "number",
}
# Done, and done with findings: what a server that failed left is no result.
_CODES = (0, 1)


class Rerun:
    """What came of a re-run; a notebook draws the fork."""

    def __init__(self, lines: list[dict[str, Any]], told: str) -> None:
        #: The replies, where several were asked for: ``outputs``, ``raw``, ``verdict``, ``seed``.
        self.samples = [each for each in lines if "sample" in each]
        #: How often which value came, where several were asked for.
        self.distributions = [each["distribution"] for each in lines if "distribution" in each]
        #: The run as it is now: a record, which names what it was made from.
        self.fork = next(each for each in lines if "sample" not in each and "distribution" not in each)
        #: What the program said of it.
        self.told = told

    def show(self) -> Report:
        """The report of the fork."""
        return show(self.fork)

    def to_frame(self, library: Library | None = None) -> Any:
        """A table with a row per sample."""
        rows = [
            {**each, "step": each["step_index"] + 1, "outputs": dumps(each.get("outputs"))} for each in self.samples
        ]
        return make_frame(_COLUMNS, rows, library)

    def __repr__(self) -> str:
        return f"<Rerun>\n{self.told}"

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def rerun(
    record: Path | Mapping[str, Any],
    *,
    id: str | int | None = None,
    line: int | None = None,
    step: int | None = None,
    from_here: bool = False,
    stale: bool = False,
    set: Mapping[str, Any] | None = None,
    exact: bool = False,
    samples: int | None = None,
    at_once: int | None = None,
    lenient: bool = False,
    model: str | None = None,
    backend: str | None = None,
    url: str | None = None,
    profile: str | None = None,
    key_env: str | None = None,
    cassette: Path | None = None,
    seed: int | Literal["none"] | None = None,
    temperature: float | Literal["none"] | None = None,
    max_tokens: int | None = None,
    timeout: float | None = None,
    document: Path | None = None,
    columns: Mapping[str, str] | None = None,
    map: Path | None = None,
    out: Path | None = None,
) -> Rerun:
    """Run a step of a recorded run again (``from_here``: and all later ones; ``stale``: and what depends on it), or
    recompute it without any model (``exact=True``).

    ``record`` is as in ``show``. ``set`` overrides variables before the step. Nothing is sent without ``model``,
    ``profile`` or ``cassette``. Several ``samples`` are told apart by ``to_frame``. ``out`` is a file that the fork is
    appended to.

    >>> rerun("runs.jsonl", id="a1", step=3, model="gemma3:latest").fork["state"]
    """
    if not exact and model is None and profile is None and cassette is None:
        raise TypeError("nothing is sent unless a model is named: model=, profile= or cassette=, or exact=True")
    flags = table_flags(columns, map)
    for name, value in (
        ("step", step), ("samples", samples), ("at-once", at_once), ("model", model), ("backend", backend),
        ("url", url), ("profile", profile), ("key-env", key_env), ("cassette", cassette), ("seed", seed),
        ("temperature", temperature), ("max-tokens", max_tokens), ("timeout", timeout), ("document", document),
        ("out", out), *(("set", f"{name}={dumps(value)}") for name, value in (set or {}).items()),
    ):  # fmt: skip
        if value is not None:
            flags.append(f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    for name, is_set in (
        ("from-here", from_here), ("stale", stale), ("exact", exact), ("lenient", lenient), ("yes", profile is not None)
    ):  # fmt: skip
        if is_set:
            flags.append(f"--{name}")
    chosen, stdin = picked(record, id, line)
    done = ended(["rerun", *flags, *chosen], stdin=stdin)
    told = said(done.stderr, done.returncode)
    if done.returncode not in _CODES:
        raise StepscopeError(told, done.returncode)
    lines = [json.loads(each) for each in done.stdout.splitlines()]
    return Rerun(lines, told)
