#!/usr/bin/env python3
"""Compares `stepscope check` with upstream's own validator on the same records, in the same run.

  benches/compare.py                                   # makes 20,000 records, uses target/release/stepscope
  benches/compare.py --file runs.jsonl --repeat 5      # your own records
  benches/compare.py --command 'target/release/stepscope check --format jsonl {}'

Upstream is `pip install evoproc evoproc-procedures`; without it only our own figures are printed. What upstream does:
json.loads, validate_procedure_structured, and validate_answer against the GSM schema where the state holds an answer.
CPU seconds are those of the whole process, start-up included; of several rounds the best counts, and the two take
turns so that a busy machine hits both. Machines differ, so quote the ratio, not the figures.
"""
import argparse, json, os, random, resource, shlex, statistics, subprocess, sys, tempfile, time

UPSTREAM = r'''
import json, sys
from evoproc.validators import validate_procedure_structured
from evoproc_procedures.schemas import get_schema, validate_answer
schema, found = get_schema("gsm"), 0
keys = schema["properties"]
for line in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(line)
    if record.get("procedure"):
        found += len(validate_procedure_structured(record["procedure"]))
    state = record.get("state") or {}
    if "final_answer" in state:
        found += validate_answer({key: state[key] for key in keys if key in state}, schema) is not None
print(found)
'''
WORDS = ("the of to and from each with value given problem step quantity using stated amount number before after "
         "total then compare add subtract multiply divide between remaining output variable units exactly").split()


def record(rng, n):
    """One run of about four kilobytes; every seventh breaks a rule."""
    prose = lambda k: " ".join(rng.choices(WORDS, k=k)).capitalize() + "."
    field = lambda name: {"name": name, "description": prose(9)}
    count = rng.randint(3, 8)
    names = ["problem_text"] + [f"{rng.choice(WORDS)}_{k}" for k in range(1, count)] + ["final_answer"]
    steps = [{"id": k + 1, "inputs": [field(names[k])], "stepDescription": prose(rng.randint(20, 60)),
              "output": [field(names[k + 1])]} for k in range(count)]
    if n % 7 == 0:
        steps[rng.randrange(count)]["output"].append(field(f"unused_{n}"))
    question, answer = prose(45), rng.randint(1, 999)
    state = {"problem_text": question, **{name: rng.randint(1, 99) for name in names[1:-1]},
             "final_answer": f"It is {answer}.", "final_answer_numerical": answer, "confidence": round(rng.random(), 2)}
    return {"id": f"r{n:07d}", "row_index": n, "question": question, "gold_answer": f"{prose(20)}\n#### {answer}",
            "gold_num": float(answer), "status": "ok", "mode": "procedural",
            "procedure": {"NameDescription": prose(8), "steps": steps}, "fitness": round(rng.random(), 3),
            "steps": count, "state": state, "pred_answer": state["final_answer"], "pred_num": float(answer),
            "correct": True}


def failed(rng, n):
    """The same of a run that is wrong, whose steps read up to three values each: what takes most to judge."""
    run = record(rng, n)
    steps = run["procedure"]["steps"]
    for k, step in enumerate(steps[1:], 1):
        earlier = [one["output"][0] for one in steps[max(0, k - 3):k]]
        step["inputs"] = rng.sample(earlier, rng.randint(1, len(earlier)))
    right = int(run["gold_num"]) + rng.randint(1, 50)
    return {**run, "gold_num": float(right), "gold_answer": f"{run['gold_answer'].split('#')[0]}#### {right}", "correct": False}


def generate(path, count, share_of_failed=0):
    rng = random.Random(7)
    with open(path, "w", encoding="utf-8") as file:
        for n in range(count):
            make = failed if share_of_failed and rng.random() < share_of_failed else record
            file.write(json.dumps(make(rng, n)) + "\n")


def run(argv, env=None):
    """Seconds on the clock and on all processors."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.returncode, done.stderr.decode("utf-8", "replace")[-300:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", help="JSON lines to check; without it they are generated")
    parser.add_argument("-n", type=int, default=20000, help="how many records to generate")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--command", default="target/release/stepscope check {}", help="{} stands for the file")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has upstream installed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or os.path.join(folder, "runs.jsonl")
        if not args.file:
            generate(path, args.n)
        with open(path, "rb") as file:
            count = sum(1 for _ in file)
        script = os.path.join(folder, "upstream.py")
        with open(script, "w") as file:
            file.write(UPSTREAM)
        ours = [part.replace("{}", path) for part in shlex.split(args.command)]
        theirs = [args.python, script, path]
        have = subprocess.run([args.python, "-c", "import evoproc, evoproc_procedures"], capture_output=True)
        contestants = {"stepscope": ours, **({"upstream": theirs} if have.returncode == 0 else {})}
        times = {name: [] for name in contestants}
        for _ in range(args.repeat):
            for name, argv in contestants.items():
                wall, cpu, code, error = run(argv)
                # Our exit code 1 says that there are findings.
                if code not in (0, 1) or (name == "upstream" and code):
                    sys.exit(f"{name} failed with {code}: {error}")
                times[name].append((cpu, wall))
        result = {"records": count, "bytes": os.path.getsize(path), "rounds": args.repeat}
        for name, all_times in times.items():
            cpu, wall = min(t[0] for t in all_times), min(t[1] for t in all_times)
            result[name] = {"cpu_s": round(cpu, 3), "wall_s": round(wall, 3),
                            "records_per_cpu_s": round(count / max(cpu, 1e-6)),
                            "median_cpu_s": round(statistics.median(t[0] for t in all_times), 3)}
        if "upstream" in result:
            ratio = lambda key: round(result["upstream"][key] / max(result["stepscope"][key], 1e-6), 1)
            result["ratio_cpu"], result["ratio_wall"] = ratio("cpu_s"), ratio("wall_s")
    if args.json:
        return print(json.dumps(result))
    print(f"{count} records, {result['bytes'] / 1e6:.1f} MB, best of {args.repeat}")
    for name in times:
        one = result[name]
        print(f"  {name:10} {one['records_per_cpu_s']:>9,} records per CPU second   {one['cpu_s']:8.3f} s CPU   {one['wall_s']:8.3f} s")
    if "ratio_cpu" in result:
        print(f"  stepscope is {result['ratio_cpu']} times as fast per CPU second, {result['ratio_wall']} times by the clock")
    else:
        print("  upstream is not installed: pip install evoproc evoproc-procedures")


if __name__ == "__main__":
    main()
