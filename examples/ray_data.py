"""Check run records with Ray: python examples/ray_data.py RECORDS.jsonl OUT

Where the records lie in files that every worker sees, tasks get parts of the files (`check_files`). Where they are in a
data set of Ray Data already: `data.map_batches(check_table, batch_format="pyarrow", batch_size=10_000)`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


def check_table(table: pyarrow.Table, column: str = "text") -> pyarrow.Table:
    """One batch: one row per record, in order. A batch may be empty."""
    import pyarrow

    import stepscope

    texts = [table.column(column)] if column in table.column_names else []
    return pyarrow.Table.from_batches(stepscope.batches(texts, jobs=1), stepscope.batch_schema())


def check_files(target: str, *paths: str) -> list[str]:
    """The results of files of JSON lines, saved to the folder `target`: a task a part of a file, which it reads itself.

    A retried task replaces what it wrote.
    """
    import os

    import ray

    import stepscope

    # Not Ray Data: its executor costs more than plain tasks do.
    @ray.remote
    def check_part(part: stepscope.Part, file: str) -> str:
        stepscope.save(part, file, jobs=1)
        return file

    if not ray.is_initialized():
        ray.init()
    parts = stepscope.parts(*paths, workers=max(int(ray.cluster_resources().get("CPU", 1)), 1))
    os.makedirs(target)
    files = [os.path.join(target, f"part-{number:05}.jsonl") for number in range(len(parts))]
    return ray.get([check_part.remote(part, file) for part, file in zip(parts, files, strict=True)])


def main(source: str, target: str) -> None:
    import json
    from collections import Counter

    checked = {}
    for file in check_files(target, source):
        with open(file, encoding="utf-8") as lines:
            for found in map(json.loads, lines):
                checked[found["sha256"]] = (found["triage"] or {}).get("fix")
    print(*Counter(checked.values()).most_common(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
