#!/usr/bin/env python3
"""What an engine adds: records checked in local Spark and Ray beside one process, in turns, and whether both find the same.

  benches/engines.py                       # 100,000 records; target/release/stepscope; the engines of this interpreter
  benches/engines.py --file runs.jsonl     # your own records
  benches/engines.py --json now.json       # also written to a file

The peer is one `stepscope check - --format jsonl --fail-on never` with its usual number of jobs, from file to file. An
engine gets as many workers as there are processors; its time is that of a job in an engine that runs and had a job before
(which is the one whose results are compared, by key), from the same file to a Parquet file or to lines of text. A ratio
is the engine's seconds over those of one process in the same round: 1.3 is 30 % more. The median counts, and the spread
is from the lowest to the highest. Processor seconds (of all processes that were started here; Linux only) are compared in
the same way, and say more where the machine has other work. Exit 1 where results differ. Python 3.9, and `pip install pyspark ray pyarrow pandas`
(Spark needs Java); what is not installed is named and left out.
"""
import argparse, importlib.util, json, os, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PATHS = [HERE, os.path.join(ROOT, "python"), os.path.join(ROOT, "examples")]
KEEP = ["sha256", "rules", "id", "kind", "triage", "findings"]


def alone(args, source, target):
    """One process."""
    with open(source, "rb") as records, open(target, "wb") as results:
        subprocess.run([args.stepscope, "check", "-", "--format", "jsonl", "--fail-on", "never"], stdin=records,
                       stdout=results, check=True)


def processor_seconds():
    """Of this process and all below it, also those that ended; 0 where the system does not tell."""
    used, children = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc/self") else []):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                # The name of the program, in brackets, may hold blanks.
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        used[int(name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        children.setdefault(int(fields[1]), []).append(int(name))
    todo, total = [os.getpid()], 0.0
    while todo:
        process = todo.pop()
        total += used.get(process, 0.0)
        todo += children.get(process, [])
    return total


def by_key(objects):
    """Results once a record, without where it lay."""
    return {each["sha256"]: {name: each.get(name) for name in KEEP} for each in objects}


def lines_of(folder):
    for name in sorted(os.listdir(folder)):
        if name.startswith("part-"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield from file


def rows_of(folder):
    import pyarrow.dataset
    for batch in pyarrow.dataset.dataset(folder, format="parquet").to_batches(columns=["json"]):
        yield from batch.column(0).to_pylist()


class Spark:
    """A session and its jobs."""

    def __init__(self, args, source):
        from pyspark.sql import SparkSession
        import spark as example
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        cores = os.cpu_count()
        self.session = (SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
                        .config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "2g")
                        .config("spark.sql.shuffle.partitions", str(cores))
                        # With the usual 128 MB the last of a few tasks runs alone.
                        .config("spark.sql.files.maxPartitionBytes", "32m")
                        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000").getOrCreate())
        self.session.sparkContext.setLogLevel("ERROR")
        records = lambda: self.session.read.text(source).withColumnRenamed("value", "record")
        table = lambda frame, target: frame.write.mode("overwrite").parquet(target)
        text = lambda: self.session.sparkContext.textFile(source)
        self.jobs = {
            "Spark: parts of files": (lambda target: example.check_files(self.session, target, source), lines_of),
            "Spark: mapInArrow": (lambda target: table(records().mapInArrow(example.check_batches, example.SCHEMA),
                                                       target), rows_of),
            "Spark: mapInArrow, dropDuplicates": (lambda target: table(example.check_frame(records()), target), rows_of),
            "Spark: pipe": (lambda target: example.check_lines(text(), args.stepscope).saveAsTextFile(target), lines_of),
            "Spark: only reading the text": (lambda target: text().count(), None),
        }

    def end(self):
        self.session.stop()


class Ray:
    """A local cluster and its jobs."""

    def __init__(self, args, source):
        import ray, ray.data
        import ray_data as example
        variables = {name: os.environ[name] for name in ("PYTHONPATH", "STEPSCOPE_PROGRAM")}
        ray.init(num_cpus=os.cpu_count(), include_dashboard=False, logging_level="ERROR",
                 log_to_driver=False, runtime_env={"env_vars": variables}, _node_ip_address="127.0.0.1")
        ray.data.DataContext.get_current().enable_progress_bars = False
        text = lambda: ray.data.read_text(source, override_num_blocks=4 * os.cpu_count())
        batches = lambda data: data.map_batches(example.check_table, batch_format="pyarrow", batch_size=10_000)
        self.ray, self.jobs = ray, {
            "Ray: parts of files": (lambda target: example.check_files(target, source), lines_of),
            "Ray: map_batches": (lambda target: batches(text()).write_parquet(target), rows_of),
            "Ray: only reading the text": (lambda target: text().count(), None),
        }

    def end(self):
        self.ray.shutdown()


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--stepscope", default=os.path.join(ROOT, "target", "release", "stepscope"))
    ask.add_argument("--file", help="JSON lines to check; without it they are generated")
    ask.add_argument("--records", type=int, default=100_000)
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--json", metavar="FILE", help="write the figures there")
    args = ask.parse_args()
    args.stepscope = os.path.abspath(args.stepscope)
    sys.path[:0] = PATHS
    os.environ.update(STEPSCOPE_PROGRAM=args.stepscope, PYSPARK_PYTHON=sys.executable, RAY_USAGE_STATS_ENABLED="0",
                      PYTHONPATH=os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")]))
    has = lambda name: importlib.util.find_spec(name) is not None
    here = {"pyspark": has("pyspark") and has("pyarrow") and bool(shutil.which("java")), "ray": has("ray") and has("pyarrow")}
    seconds, differ = {}, []
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "records.jsonl"), os.path.join(folder, "out")
        if args.file:
            shutil.copy(args.file, source)
        else:
            import compare
            compare.generate(source, args.records)
        alone(args, source, target + ".jsonl")
        with open(target + ".jsonl", encoding="utf-8") as file:
            expected = by_key(map(json.loads, file))

        def timed(job):
            shutil.rmtree(target, ignore_errors=True)
            begun, used = time.monotonic(), processor_seconds()
            job(target)
            return time.monotonic() - begun, processor_seconds() - used

        # One engine after the other: also without a job they take processor time.
        for engine in [engine for name, engine in (("pyspark", Spark), ("ray", Ray)) if here[name]]:
            engine = engine(args, source)
            for name, (job, read) in engine.jobs.items():
                timed(job)
                if read and by_key(map(json.loads, read(target))) != expected:
                    differ.append(name)
            for _ in range(args.rounds):
                for name, (job, _) in engine.jobs.items():
                    one = timed(lambda _: alone(args, source, target + ".jsonl"))
                    seconds.setdefault(name, []).append((timed(job), one))
            engine.end()
    print(f"{len(expected)} records, {os.cpu_count()} processors, {args.rounds} rounds: seconds over those of one process")
    found = {}
    for name, times in seconds.items():
        found[name] = now = {}
        for what, of in (("", 0), ("processor_", 1)):
            jobs, ones = [job[of] for job, _ in times], [one[of] for _, one in times]
            ratios = [job / one for job, one in zip(jobs, ones) if one] or [0.0]
            now.update({f"{what}ratio": round(statistics.median(ratios), 2), f"{what}low": round(min(ratios), 2),
                        f"{what}high": round(max(ratios), 2), f"{what}seconds": round(statistics.median(jobs), 2),
                        f"{what}one_process": round(statistics.median(ones), 2)})
        print(f"  {name:36} {now['ratio']:6.2f}   {now['low']:.2f} to {now['high']:.2f}"
              f"   ({now['seconds']:.2f} s, one process {now['one_process']:.2f} s)"
              f"   processors {now['processor_ratio']:.2f}   {now['processor_low']:.2f} to {now['processor_high']:.2f}"
              f"   ({now['processor_seconds']:.2f} s, one process {now['processor_one_process']:.2f} s)"
              f"{'   OTHER RESULTS' if name in differ else ''}")
    for name in [name for name, is_here in here.items() if not is_here]:
        print(f"  {name} is not installed{', or java or pyarrow' if name == 'pyspark' else ', or pyarrow'}: left out")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"records": len(expected), "rounds": args.rounds, "ratios": found}, file, indent=1)
            file.write("\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
