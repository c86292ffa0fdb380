#!/usr/bin/env python3
"""Measures the memory that a review of many records takes: each record has one verdict.

  benches/verdicts.py                  # 200,000 records and verdicts; target/release/stepscope
  benches/verdicts.py --records 20000

Printed is the most anonymous memory of each command, in all and for each verdict: what the system could not take back. Its
reading of the records is the file's. Python 3.9 on Linux, nothing else.
"""
import argparse, json, os, re, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = ("stats", "list", "agreement")


def generate(path, count):
    with open(path, "w", encoding="utf-8") as file:
        for n in range(count):
            have, more = n % 89 + 1, n % 97 + 1
            question = f"Ann has {have} apples and buys {more} more in shop {n}. How many apples does Ann have now?"
            answer = have + more
            file.write(json.dumps({"id": f"r{n:07d}", "question": question, "gold_answer": f"#### {answer}",
                                   "gold_num": answer, "pred_answer": f"Ann has {answer} apples.", "pred_num": answer,
                                   "mode": "baseline", "status": "ok"}) + "\n")


def most_memory(argv):
    """The most anonymous memory while a command runs, in bytes."""
    process, most = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as file:
                found = re.search(r"RssAnon:\s+(\d+)", file.read())
            most = max(most, int(found.group(1)) * 1024 if found else 0)
        except OSError:
            break
        time.sleep(0.002)
    if process.wait() not in (0, 1):
        sys.exit(f"{' '.join(argv)} ended with {process.returncode}")
    return most


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--stepscope", default=os.path.join(HERE, "..", "target", "release", "stepscope"))
    ask.add_argument("--records", type=int, default=200_000)
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs, reviews = os.path.join(folder, "runs.jsonl"), os.path.join(folder, "reviews.jsonl")
        generate(runs, args.records)
        lines = b"".join(b'{"id":"r%07d","verdict":"%s"}\n' % (n, b"pass" if n % 3 else b"fail") for n in range(args.records))
        subprocess.run([args.stepscope, "review", "add", "--reviews", reviews, "--reviewer", "bench", runs],
                       input=lines, stdout=subprocess.DEVNULL, check=True)
        for name in COMMANDS:
            most = most_memory([args.stepscope, "review", name, "--reviews", reviews, runs])
            print(f"review {name:10} {most / 1e6:7.1f} MB   {most / args.records:7.0f} bytes for each verdict")


if __name__ == "__main__":
    main()
