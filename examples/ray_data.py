"""Check run records with Ray Data: python examples/ray_data.py RECORDS.jsonl OUT"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow


def check_table(table: pyarrow.Table, column: str = "text") -> pyarrow.Table:
    """One batch: a row a record, in order. A batch may be empty."""
    import json

    import pyarrow

    import stepscope

    fields = ["sha256", "rules", "id", "kind", "triage", "findings"]
    texts = table.column(column).to_pylist() if column in table.column_names else []
    found = stepscope.check(texts, fields=fields, jobs=1)
    triage = [each.get("triage") or {} for each in found]
    return pyarrow.table(
        {
            "sha256": pyarrow.array([each.get("sha256") for each in found], pyarrow.string()),
            "kind": pyarrow.array([each.get("kind") for each in found], pyarrow.string()),
            "fix": pyarrow.array([each.get("fix") for each in triage], pyarrow.string()),
            "step": pyarrow.array([each.get("step") for each in triage], pyarrow.int32()),
            "json": pyarrow.array([json.dumps(each) for each in found], pyarrow.string()),
        }
    )


def main(source: str, target: str) -> None:
    import ray

    # Large batches: each costs a process of 20 ms.
    checked = ray.data.read_text(source).map_batches(check_table, batch_format="pyarrow", batch_size=10_000)
    checked.write_parquet(target)
    print(ray.data.read_parquet(target).groupby("fix").count().to_pandas())


if __name__ == "__main__":
    main(*sys.argv[1:])
