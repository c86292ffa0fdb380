"""Check run records with PySpark: python examples/spark.py RECORDS.jsonl OUT

`mapInArrow` takes a data frame with a column of JSON texts and gives one row a record. `pipe` does the same with lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow
    from pyspark import RDD
    from pyspark.sql import DataFrame

# What is kept of a record: the rest is in `json`.
SCHEMA = "sha256 string, rules string, id string, kind string, fix string, step int, findings int, json string"
# So many results become a batch of Arrow.
BATCH = 1_000


def check_batches(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """One partition: every record of the column `record` through one process, in order. A partition may be empty."""
    import json

    import pyarrow

    import stepscope

    records = (text for batch in batches for text in batch.column("record").to_pylist())
    rows: list[dict[str, object]] = []

    def table() -> pyarrow.RecordBatch:
        types = {"string": pyarrow.string(), "int": pyarrow.int32()}
        columns = [column.split() for column in SCHEMA.split(", ")]
        return pyarrow.RecordBatch.from_pylist(rows, pyarrow.schema([(name, types[kind]) for name, kind in columns]))

    # Where a record lies differs from partition to partition: those members are left out.
    for found in stepscope.stream(records, fields=["sha256", "rules", "id", "kind", "triage", "findings"], jobs=1):
        triage, identity = found.get("triage") or {}, found.get("id")
        rows.append(
            {
                "sha256": found.get("sha256"),
                "rules": found.get("rules"),
                "id": None if identity is None else str(identity),
                "kind": found.get("kind"),
                "fix": triage.get("fix"),
                "step": triage.get("step"),
                "findings": len(found.get("findings") or []),
                "json": json.dumps(found),
            }
        )
        if len(rows) == BATCH:
            yield table()
            rows.clear()
    if rows:
        yield table()


def check_frame(records: DataFrame) -> DataFrame:
    """A row a record. What a retried task wrote twice has one key."""
    return records.mapInArrow(check_batches, SCHEMA).dropDuplicates(["sha256"])


def check_lines(lines: RDD[str], program: str = "stepscope") -> RDD[str]:
    """A line of JSON a line. Without `checkCode` a partition whose process failed would vanish without a word."""
    command = f"{program} check - --format jsonl --fail-on never --jobs 1 --fields sha256,rules,id,kind,triage,findings"
    return lines.pipe(command, checkCode=True)


def main(source: str, target: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("stepscope").getOrCreate()
    records = spark.read.text(source).withColumnRenamed("value", "record")
    check_frame(records).write.mode("overwrite").parquet(target)
    spark.read.parquet(target).groupBy("fix").count().orderBy("fix").show()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
