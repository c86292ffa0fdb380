"""Ask Polars about checked records: python examples/polars_read.py OUT/part-*.jsonl"""

from __future__ import annotations

import sys

import polars as pl

# Only what is asked for is read of each line.
SCHEMA = {"sha256": pl.String, "triage": pl.Struct({"fix": pl.String, "step": pl.Int64})}


def where_to_fix(files: list[str]) -> pl.DataFrame:
    """Where to fix runs, and how many there are. A record that was checked twice counts once."""
    parts = [pl.scan_ndjson(file, schema=SCHEMA) for file in files]
    checked = pl.concat(parts).unique("sha256").with_columns(pl.col("triage").struct.field("fix"))
    return checked.group_by("fix").len("runs").sort("runs", "fix", descending=[True, False]).collect()


if __name__ == "__main__":
    print(where_to_fix(sys.argv[1:]))
