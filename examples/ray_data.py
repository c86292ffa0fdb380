"""Check run records with Ray Data: python examples/ray_data.py RECORDS.jsonl OUT

Where the records lie in files that every worker sees, tasks get parts of the files (`check_files`). Where they are in a
data set already: `data.map_batches(check_table, batch_format="pyarrow", batch_size=10_000)`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def check_table(table: pyarrow.Table, column: str = "text") -> pyarrow.Table:
    """One batch: a row a record, in order. A batch may be empty."""
    import pyarrow

    import stepscope

    texts = [table.column(column)] if column in table.column_names else []
    return pyarrow.Table.from_batches(stepscope.batches(texts, jobs=1), stepscope.batch_schema())


def check_files(target: str, *paths: str) -> list[str]:
    """The results of files of JSON lines, saved to the folder `target`: a task a part of a file, which it reads itself."""
    import os

    import ray

    import stepscope

    parts = stepscope.parts(*paths)
    os.makedirs(target)

    def check_parts(batch: dict[str, Any]) -> dict[str, Any]:
        files = [os.path.join(target, f"part-{number:05}.jsonl") for number in batch["id"]]
        for number, file in zip(batch["id"], files, strict=True):
            stepscope.save(parts[number], file, jobs=1)
        return {"file": files}

    # Not `range`: reading would be a stage of its own that takes a share of the processors.
    numbers = ray.data.from_items([{"id": number} for number in range(len(parts))], override_num_blocks=max(len(parts), 1))
    return [row["file"] for row in numbers.map_batches(check_parts, batch_size=1).take_all()]


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
