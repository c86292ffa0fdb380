"""Check run records with PySpark: python examples/spark.py RECORDS.jsonl OUT

Where the records lie in files that every worker sees, tasks get parts of the files (`check_files`): no record goes through
the JVM. Where they are in a data frame or an RDD already, `check_frame` and `check_lines` take them from there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

# The columns of `stepscope.batches`: the whole result of a record is in `json`.
SCHEMA = "sha256 string, rules string, id string, kind string, fix string, step int, findings int, json string"
# What is read of the results in files.
RESULTS = "sha256 string, id string, kind string, triage struct<fix: string, step: int>, findings array<struct<rule: string>>"


def check_batches(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """One partition: every record of the column `record` through one process, in order. A partition may be empty."""
    import stepscope

    return stepscope.batches((batch.column("record") for batch in batches), jobs=1)


def check_frame(records: DataFrame) -> DataFrame:
    """One row per record of the column `record`. What a retried task wrote twice has one key."""
    return records.mapInArrow(check_batches, SCHEMA).dropDuplicates(["sha256"])


def check_files(spark: SparkSession, target: str, *paths: str) -> DataFrame:
    """The results of files of JSON lines, saved to the folder `target`: a task a part of a file, which it reads itself.

    A retried task replaces what it wrote, so a record has as many rows as lines.
    """
    import os

    import stepscope

    parts = stepscope.parts(*paths, workers=spark.sparkContext.defaultParallelism)
    os.makedirs(target)

    def check_parts(numbers: Iterator[int]) -> Iterator[int]:
        for number in numbers:
            stepscope.save(parts[number], os.path.join(target, f"part-{number:05}.jsonl"), jobs=1)
            yield number

    spark.sparkContext.parallelize(range(len(parts)), max(len(parts), 1)).mapPartitions(check_parts).count()
    return spark.read.schema(RESULTS).json(target)


def check_lines(lines: RDD[str], program: str = "stepscope") -> RDD[str]:
    """A line of JSON a line. Without `checkCode` a partition whose process failed would vanish without a word."""
    command = f"{program} check - --format jsonl --fail-on never --jobs 1 --fields sha256,rules,id,kind,triage,findings"
    return lines.pipe(command, checkCode=True)


def main(source: str, target: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("stepscope").getOrCreate()
    checked = check_files(spark, target, source).dropDuplicates(["sha256"])
    checked.groupBy("triage.fix").count().orderBy("fix").show()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
