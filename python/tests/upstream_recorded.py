"""A pytest plugin: upstream's own tests, with the recorder around every query function and search.

    pytest -p upstream_recorded EVOPROC/tests
"""

from __future__ import annotations

import functools
import os
import tempfile

from evoproc import ga_scaffold_structured as upstream

from stepscope import record, record_search

FOLDER = tempfile.mkdtemp(prefix="stepscope-")
CALLS, GENERATIONS = (os.path.join(FOLDER, name) for name in ("calls.jsonl", "generations.jsonl"))


def recorded(kind, is_search=False):
    plain = kind.__init__

    @functools.wraps(plain)
    def init(self, *args, **kwargs):
        if callable(kwargs.get("query_fn")):
            kwargs["query_fn"] = record(kwargs["query_fn"], CALLS)
        plain(self, *args, **kwargs)
        if is_search:
            record_search(self, GENERATIONS)

    kind.__init__ = init


recorded(upstream.ProcedureGA, is_search=True)
recorded(upstream.CrossoverOperator)
recorded(upstream.MutationOperator)


def pytest_sessionfinish(session, exitstatus):
    lines = {path: sum(1 for _ in open(path)) if os.path.exists(path) else 0 for path in (CALLS, GENERATIONS)}
    print(f"\nrecorded: {lines[CALLS]} calls, {lines[GENERATIONS]} individuals")
    assert lines[CALLS] and lines[GENERATIONS], "nothing was recorded"
