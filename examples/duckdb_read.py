"""Ask DuckDB about checked records: python examples/duckdb_read.py OUT/part-*.jsonl"""

from __future__ import annotations

import sys

import duckdb

# A record that was checked twice counts once. `step` counts from 1.
QUERY = """
    WITH checked AS (
        SELECT DISTINCT ON (sha256) sha256, triage->>'fix' AS fix, CAST(triage->>'step' AS INTEGER) AS step
        FROM read_json($files, format = 'newline_delimited', columns = {sha256: 'VARCHAR', triage: 'JSON'})
        WHERE sha256 IS NOT NULL
    )
    SELECT fix, count(*) AS runs, mode(step) AS usual_step
    FROM checked GROUP BY fix ORDER BY runs DESC, fix
"""


def where_to_fix(files: list[str]) -> list[tuple[str | None, int, int | None]]:
    """Where to fix runs: the place, how many, and the step that is named most often."""
    return duckdb.connect().execute(QUERY, {"files": files}).fetchall()


if __name__ == "__main__":
    for row in where_to_fix(sys.argv[1:]):
        print(*row, sep="\t")
