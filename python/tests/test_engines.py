"""Partitions give what one process gives: by hand, and in the engines of `examples/` that are installed."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
from support import InFolder
from test_check import UNUSED, WRONG

import stepscope

sys.path.insert(0, str(support.ROOT / "examples"))

KEEP = ["sha256", "rules", "id", "kind", "triage", "findings"]


def records(count: int = 210) -> list[str]:
    """Good and bad records, and lines that are none."""
    chance = random.Random(5)
    made = []
    for n in range(count):
        one = {**WRONG, "id": f"r{n}", "state": {**WRONG["state"], "total": chance.randrange(4, 9)}}
        text = json.dumps(one if n % 3 else {**UNUSED, "NameDescription": f"p{n}"})
        made.append(text[: len(text) // 2] if n % 17 == 5 else text)
    return made


def by_key(found) -> dict[str, str]:
    """What was found, once a record: what a retry did twice has one key."""
    return {one["sha256"]: json.dumps(one, sort_keys=True) for one in found}


def saved(folder: str):
    """What was saved there, without where the records lay."""
    for name in sorted(name for name in os.listdir(folder) if not name.startswith(".")):
        for line in open(os.path.join(folder, name)):
            found = json.loads(line)
            yield {key: found.get(key) for key in KEEP}


@contextlib.contextmanager
def source_and_target():
    """A file of records, and a place for what is found in them."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "records.jsonl")
        with open(source, "w") as file:
            file.write("\n".join(records()))
        yield source, os.path.join(folder, "out")


class ByHand(InFolder):
    def test_partitions_give_what_one_process_gives(self):
        whole = records()
        expected = by_key(stepscope.check(whole, fields=KEEP))
        self.assertEqual(len(expected), len(whole))
        for count in (1, 2, 7):
            parts = [whole[n::count] for n in range(count)]
            parts.insert(1, [])  # an empty one
            parts.append(parts[0])  # one that was retried
            found = [stepscope.check(part, fields=KEEP) for part in parts]
            self.assertEqual([len(one) for one in found], [len(part) for part in parts])
            self.assertEqual(by_key(one for part in found for one in part), expected)

    def test_odd_lines_have_their_place_too(self):
        odd = ["", " ", "// a comment", "\0", "null", "[]", '{"a": 1}\n', "{\n}", None, {}]
        found = stepscope.check(odd)
        self.assertEqual(len(found), len(odd))

    def test_parts_of_a_file_are_its_lines(self):
        whole = [*records(60), "", "// a remark", "é" * 50]
        for last in ("\n", ""):
            text = ("\n".join(whole) + last).encode()
            self.path.write_bytes(text)
            for size in (1, 700, 5_000, 1 << 30):
                divided = stepscope.parts(self.path, size=size)
                pieces = [b"".join(part.chunks()) for part in divided]
                self.assertEqual(b"".join(pieces), text)
                self.assertTrue(all(piece.endswith(b"\n") for piece in pieces[:-1]), size)
            self.assertEqual(len(divided), 1)
        (self.folder / "empty").touch()
        self.assertEqual(stepscope.parts(self.folder / "empty"), [])
        for wrong in ({"size": 0}, {"workers": 0}):
            with self.assertRaises(ValueError):
                stepscope.parts(self.path, **wrong)

    def test_each_worker_gets_as_many_parts_of_a_size(self):
        def lengths(*megabytes, **how):
            paths = [self.folder / f"{n}.jsonl" for n in range(len(megabytes))]
            for path, size in zip(paths, megabytes):
                with open(path, "wb") as file:
                    # Lines of 64 kB; holes take no room on the disk.
                    for end in range(1 << 16, (size << 20) + 1, 1 << 16):
                        file.seek(end - 1)
                        file.write(b"\n")
            return [(part.end - part.start) >> 20 for part in stepscope.parts(*paths, **how)]

        self.assertEqual(lengths(400, workers=2), [100] * 4)
        self.assertEqual(lengths(400, workers=3), [66] * 6)
        self.assertEqual(lengths(400), [100] * 4)
        self.assertEqual(lengths(100, 100, workers=2), [100] * 2)
        self.assertEqual(lengths(100, 100, size=30 << 20, workers=2), [25] * 8)
        self.assertEqual(lengths(20, workers=64), [6] * 3, "no smaller parts than are worth a task")

    def test_parts_saved_apart_give_what_one_process_gives(self):
        whole = records()
        self.path.write_text("\n".join(whole))
        divided = stepscope.parts(self.path, size=9_000)
        self.assertGreater(len(divided), 3)
        for number in [*range(len(divided)), 0]:  # one is retried
            stepscope.save(divided[number], self.folder / "made" / f"part-{number}.jsonl", fields=KEEP, jobs=1)
        files = sorted((self.folder / "made").iterdir())
        self.assertEqual(len(files), len(divided), "nothing else is left")
        found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        self.assertEqual(len(found), len(whole))
        self.assertEqual(by_key(found), by_key(stepscope.check(whole, fields=KEEP)))

    def test_what_fails_saves_nothing(self):
        self.path.write_text("\n".join(records(9)))
        (part,) = stepscope.parts(self.path)
        self.path.write_text("{}\n")
        before = sorted(self.folder.iterdir())
        with self.assertRaises(EOFError):
            stepscope.save(part, self.folder / "out.jsonl")
        with self.assertRaises(stepscope.StepscopeError):
            stepscope.save(self.path, self.folder / "out.jsonl", schema=self.folder / "missing.json")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    @unittest.skipUnless(support.has("pyarrow"), "pyarrow is not installed")
    def test_batches_are_what_the_lines_say(self):
        import pyarrow

        def texts(lines, kind=pyarrow.string()):
            return pyarrow.array(lines, kind)

        plain = [text for text in records(60) if text.startswith("{")]
        numbered = [json.dumps({**json.loads(text), "id": n}) for n, text in enumerate(plain) if text.endswith("}")]
        surrogate = [json.dumps({**UNUSED, "id": "\ud800"}), json.dumps({**WRONG, "id": 7})]
        odd = ["", "// a remark", json.dumps(WRONG, indent=1), None, "\0", "[]"]
        for lines in (plain, numbered, surrogate, odd, [*plain, *odd], []):
            expected = stepscope.check(lines, fields=KEEP)
            halves = [texts(lines[:5]), pyarrow.chunked_array([texts(lines[5:9]), texts(lines[9:])])]
            kinds = [[texts(lines, kind)] for kind in (pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary())]
            slices = [texts([*lines, "{}"])[: len(lines)][n : n + 7] for n in range(0, len(lines), 7)]
            for given in (lines, [texts(lines)], halves, slices, *kinds):
                table = pyarrow.Table.from_batches(stepscope.batches(given), stepscope.batch_schema())
                self.assertEqual([json.loads(text) for text in table["json"].to_pylist()], expected)
                rows = table.select(["sha256", "kind", "fix", "step", "findings"]).to_pylist()
                for row, one in zip(rows, expected, strict=True):
                    triage = one["triage"] or {}
                    named = (one["sha256"], one["kind"], triage.get("fix"), triage.get("step"), len(one["findings"] or []))
                    self.assertEqual(tuple(row.values()), named)
                ids = [None if one["id"] is None else str(one["id"]) for one in expected]
                self.assertEqual([id and id.replace("?", "\ud800") for id in table["id"].to_pylist()], ids)

    def test_gnu_parallel_or_xargs(self):
        self.checked()

    def checked(self):
        source, out = self.folder / "records.jsonl", self.folder / "out"
        source.write_text("".join(line + "\n" for line in records()))
        environment = {**os.environ, "STEPSCOPE": stepscope.program()}
        command = [str(support.ROOT / "examples" / "parallel.sh"), str(source), str(out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        board = subprocess.run([stepscope.program(), "check", "--summary", "--fail-on", "never", str(source)], capture_output=True, text=True)
        places = ("model output", "procedure", "expected answer", "unknown")
        rows = lambda text: [line for line in text.splitlines() if line.startswith(places)]  # noqa: E731
        self.assertTrue(rows(done.stdout))
        self.assertEqual(rows(done.stdout), rows(board.stdout))
        return out

    def readers(self):
        out = self.checked()
        files = sorted(str(file) for file in out.glob("part-*.jsonl"))
        # A part that was done twice.
        files.append(str(shutil.copy(files[0], out / "again.jsonl")))
        expected: dict[str | None, int] = {}
        for one in stepscope.check(records(), fields=KEEP):
            fix = (one["triage"] or {}).get("fix")
            expected[fix] = expected.get(fix, 0) + 1
        return files, expected

    @unittest.skipUnless(support.has("duckdb"), "duckdb is not installed")
    def test_duckdb_reads_the_output(self):
        files, expected = self.readers()
        found = importlib.import_module("duckdb_read").where_to_fix(files)
        self.assertEqual({fix: runs for fix, runs, _ in found}, expected)

    @unittest.skipUnless(support.has("polars"), "polars is not installed")
    def test_polars_reads_the_output(self):
        files, expected = self.readers()
        found = importlib.import_module("polars_read").where_to_fix(files)
        self.assertEqual(dict(found.iter_rows()), expected)


class Tables(InFolder):
    """Each partition writes its tables; together they are one data set."""

    def setUp(self):
        super().setUp()
        whole = records()
        # One that is empty, and one that was retried in its place.
        parts = [whole[n::2] for n in range(2)] + [[], whole[0::2]]
        for n, part in zip((0, 1, 2, 0), parts, strict=True):
            command = [stepscope.program(), "check", "-", "--format", "parquet", "--fail-on", "never", "--with-record"]
            command += ["--out", str(self.folder / f"part-{n}")]
            done = subprocess.run(command, input="".join(line + "\n" for line in part), capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.found = stepscope.check(whole, fields=[*KEEP, "fitness"])
        self.records = [(one["sha256"], one["kind"], (one["triage"] or {}).get("fix"), one["fitness"]) for one in self.found]
        self.findings = [(one["sha256"], each["rule"], each["pointer"]) for one in self.found for each in one["findings"]]

    def all(self, table: str) -> str:
        return str(self.folder / "part-*" / f"{table}.parquet")

    @unittest.skipUnless(support.has("duckdb"), "duckdb is not installed")
    def test_duckdb_reads_them(self):
        import duckdb

        rows = duckdb.sql(f"SELECT sha256, kind, fix, fitness FROM '{self.all('records')}'").fetchall()
        self.assertCountEqual(rows, self.records)
        rows = duckdb.sql(f"SELECT sha256, rule, pointer FROM '{self.all('findings')}'").fetchall()
        self.assertCountEqual(rows, self.findings)

    @unittest.skipUnless(support.has("polars"), "polars is not installed")
    def test_polars_reads_them(self):
        import polars

        rows = polars.read_parquet(self.all("records")).select("sha256", "kind", "fix", "fitness").rows()
        self.assertCountEqual(rows, self.records)
        rows = polars.read_parquet(self.all("findings")).select("sha256", "rule", "pointer").rows()
        self.assertCountEqual(rows, self.findings)

    @unittest.skipUnless(support.has("pyarrow"), "pyarrow is not installed")
    def test_pyarrow_reads_them_and_its_tables_are_read(self):
        import pyarrow.compute
        import pyarrow.dataset
        import pyarrow.feather

        files = sorted(str(file) for file in self.folder.glob("part-*/records.parquet"))
        table = pyarrow.dataset.dataset(files).to_table()
        rows = [tuple(row.values()) for row in table.select(["sha256", "kind", "fix", "fitness"]).to_pylist()]
        self.assertCountEqual(rows, self.records)
        # Back through Arrow: the records themselves.
        keys = {one["sha256"] for one in self.found if one["kind"] != "broken"}
        whole = table.filter(pyarrow.compute.is_in(table["sha256"], pyarrow.array(sorted(keys)))).select(["record"])
        for compression in ("uncompressed", "lz4", "zstd"):
            path = self.folder / f"{compression}.arrow"
            pyarrow.feather.write_feather(whole, str(path), compression=compression)
            again = [(one["sha256"], each["rule"], each["pointer"]) for one in stepscope.check(path) for each in one["findings"]]
            self.assertCountEqual(again, [finding for finding in self.findings if finding[0] in keys])


@unittest.skipUnless(support.has("pyarrow"), "pyarrow is not installed")
class Types(InFolder):
    """Columns hold numbers of sizes that JSON does not have."""

    def test_numbers_of_other_sizes(self):
        from decimal import Decimal

        import numpy
        import pyarrow.feather
        import pyarrow.parquet

        price = [Decimal("1.50"), Decimal("-0.05")]
        columns = {
            "steps": pyarrow.array([["2 + 3 = 6"]] * 2),
            "answer": pyarrow.array([6, 7]),
            "small": pyarrow.array(price, pyarrow.decimal128(8, 2)),
            "large": pyarrow.array(price, pyarrow.decimal128(38, 2)),
            "empty": pyarrow.array([None, price[0]], pyarrow.decimal128(10, 2)),
            "listed": pyarrow.array([price, []], pyarrow.list_(pyarrow.decimal128(10, 2))),
            "half": pyarrow.array(numpy.array([1.5, -0.25], dtype=numpy.float16)),
            "whole": pyarrow.array([7, 2**32 - 1], pyarrow.uint32()),
            "long": pyarrow.array([7, 2**64 - 1], pyarrow.uint64()),
        }
        table = pyarrow.table({"question": pyarrow.array(["2 + 3?"] * 2), **columns})
        written = {"t.parquet": pyarrow.parquet.write_table, "short.parquet": None, "t.arrow": pyarrow.feather.write_feather}
        for name, write in written.items():
            path = str(self.folder / name)
            if write:
                write(table, path)
            else:
                pyarrow.parquet.write_table(table, path, store_decimal_as_integer=True)
            first, second = (one["record"] for one in stepscope.check(path, with_record=True))
            found = [[one.get(column) for column in ("small", "large", "empty", "listed", "half", "whole", "long")] for one in (first, second)]
            self.assertEqual(found[0], [1.5, 1.5, None, [1.5, -0.05], 1.5, 7, 7], name)
            self.assertEqual(found[1], [-0.05, -0.05, 1.5, [], -0.25, 2**32 - 1, 2**64 - 1], name)


@unittest.skipUnless(support.has("pyspark") and shutil.which("java"), "pyspark and java are not installed")
class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from pyspark.sql import SparkSession

        package = os.path.dirname(os.path.dirname(os.path.abspath(stepscope.__file__)))
        paths = os.pathsep.join([package, str(support.ROOT / "examples"), os.environ.get("PYTHONPATH", "")])
        os.environ.update(PYTHONPATH=paths, PYSPARK_PYTHON=sys.executable, STEPSCOPE_PROGRAM=stepscope.program())
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        cls.spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        cls.spark.sparkContext.setLogLevel("ERROR")
        cls.expected = by_key(stepscope.check(records(), fields=KEEP))

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def test_map_in_arrow(self):
        example = importlib.import_module("spark")
        for count in (1, 2, 7):
            # More partitions than records are left in: one of them is empty.
            lines = self.spark.sparkContext.parallelize(records(), count).map(lambda text: (text,))
            empty = self.spark.sparkContext.parallelize([], 1)
            frame = self.spark.createDataFrame(lines.union(empty).union(lines), "record string")
            rows = example.check_frame(frame).collect()
            self.assertEqual(by_key(json.loads(row.json) for row in rows), self.expected)
            self.assertEqual(len(rows), len(self.expected))

    def test_parts_of_files(self):
        example = importlib.import_module("spark")
        with tempfile.TemporaryDirectory() as folder:
            source, empty, target = (os.path.join(folder, name) for name in ("records.jsonl", "empty.jsonl", "out"))
            with open(source, "w") as file:
                file.write("\n".join(records()))
            open(empty, "w").close()
            rows = example.check_files(self.spark, target, source, empty, source).dropDuplicates(["sha256"]).collect()
            fixes = {key: (json.loads(one)["triage"] or {}).get("fix") for key, one in self.expected.items()}
            self.assertEqual({row.sha256: row.triage and row.triage.fix for row in rows}, fixes)
            self.assertEqual(by_key(saved(target)), self.expected)

    def test_pipe(self):
        example = importlib.import_module("spark")
        lines = self.spark.sparkContext.parallelize(records(), 7)
        found = example.check_lines(lines.union(self.spark.sparkContext.parallelize([], 2)), stepscope.program()).collect()
        self.assertEqual(by_key(map(json.loads, found)), self.expected)

    def test_a_program_that_is_not_there_fails_the_job(self):
        example = importlib.import_module("spark")
        lines = self.spark.sparkContext.parallelize(["{}"], 1)
        with self.assertRaises(Exception):
            example.check_lines(lines, "/nowhere/stepscope").collect()


@unittest.skipUnless(support.has("ray"), "ray is not installed")
class Ray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import ray

        package = os.path.dirname(os.path.dirname(os.path.abspath(stepscope.__file__)))
        paths = os.pathsep.join([package, str(support.ROOT / "examples")])
        cls.folder = tempfile.TemporaryDirectory()
        # The next call that finds the file kills its worker, halfway through its output.
        cls.dies = os.path.join(cls.folder.name, "dies")
        program = os.path.join(cls.folder.name, "stepscope")
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\nrm '{cls.dies}' 2>/dev/null && echo '{{' && kill -9 $PPID\n")
            file.write(f"exec '{stepscope.program()}' \"$@\"\n")
        os.chmod(program, 0o755)
        variables = {"PYTHONPATH": paths, "STEPSCOPE_PROGRAM": program}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(num_cpus=2, object_store_memory=128 << 20, include_dashboard=False, logging_level="ERROR", runtime_env={"env_vars": variables}, _node_ip_address="127.0.0.1")

    @classmethod
    def tearDownClass(cls):
        import ray

        ray.shutdown()
        cls.folder.cleanup()

    def test_map_batches(self):
        import ray

        example = importlib.import_module("ray_data")
        expected = by_key(stepscope.check(records(), fields=KEEP))
        for count in (1, 2, 7):
            lines = [{"text": text} for text in records()]
            data = ray.data.from_items(lines + lines[:30], override_num_blocks=count)
            checked = data.map_batches(example.check_table, batch_format="pyarrow", batch_size=64)
            self.assertEqual(by_key(json.loads(row["json"]) for row in checked.take_all()), expected)

    def test_parts_of_files(self):
        example = importlib.import_module("ray_data")
        with source_and_target() as (source, target):
            self.assertEqual(len(example.check_files(target, source, source)), 2)
            self.assertEqual(by_key(saved(target)), by_key(stepscope.check(records(), fields=KEEP)))

    def test_it_starts_ray_itself(self):
        script = str(support.ROOT / "examples" / "ray_data.py")
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(stepscope.__file__)))}
        with source_and_target() as (source, target):
            done = subprocess.run([sys.executable, script, source, target], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(by_key(saved(target)), by_key(stepscope.check(records(), fields=KEEP)))

    def test_a_task_whose_worker_dies_is_done_again(self):
        example = importlib.import_module("ray_data")
        with source_and_target() as (source, target):
            open(self.dies, "w").close()
            files = example.check_files(target, source, source)
            self.assertFalse(os.path.exists(self.dies), "a worker died")
            self.assertEqual([os.path.basename(file) for file in files], ["part-00000.jsonl", "part-00001.jsonl"])
            found = list(saved(target))
            self.assertEqual(len(found), 2 * len(records()))
            self.assertEqual(by_key(found), by_key(stepscope.check(records(), fields=KEEP)))

    def test_a_task_that_fails_fails_the_job(self):
        example = importlib.import_module("ray_data")
        with source_and_target() as (source, target):
            too_long = [stepscope.Part(source, 0, 1 << 30)]
            with mock.patch.object(stepscope, "parts", return_value=too_long), self.assertRaises(EOFError):
                example.check_files(target, source)
            self.assertEqual(list(saved(target)), [])

    def test_an_empty_batch(self):
        import pyarrow

        example = importlib.import_module("ray_data")
        for table in (pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), pyarrow.table({})):
            self.assertEqual(example.check_table(table).num_rows, 0)


if __name__ == "__main__":
    unittest.main()
