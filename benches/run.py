#!/usr/bin/env python3
"""Every comparison with a peer in one go: a table of ratios with their spread, and the same as JSON.

  benches/run.py                         # 100,000 records; target/release/stepscope
  benches/run.py --json now.json         # also written to a file
  benches/run.py --against before.json   # beside the figures of another commit; exit 1 where one lost more than 30 % twice
  benches/run.py --short                 # for a build server: 5,000 records, and only what is counted in processor time

A ratio is the peer's seconds over ours in the same round, so more is better and the machine cancels out. Rounds take
turns; the median counts, and the spread is from the lowest to the highest. Peers: upstream's validator
(`pip install evoproc evoproc-procedures`), `wc -l`, `rg`, `less`, and our own plain reading of the same files. A peer that
is not installed is left out and named. Python 3.9 on Linux, nothing else.
"""
import argparse, json, os, resource, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import compare

LOSS = 0.7
# Share of the runs that are wrong, where every judgment is asked for.
FAILED = 0.3


def spent(argv, clock):
    """Seconds of work, or on the clock, of one run; what it says goes nowhere."""
    wall, cpu, code, error = compare.run(argv)
    if code not in (0, 1):
        sys.exit(f"{' '.join(argv)} ended with {code}: {error}")
    return wall if clock else cpu


def first_screen(argv):
    import screen
    program = screen.Program(argv)
    try:
        return program.until(screen.first_text(argv[-1])) / 1000
    finally:
        program.end()


class Bench:
    """What is compared: the commands of both sides, by the clock or by work."""

    def __init__(self, args, folder):
        self.args, self.missing = args, []
        self.runs, self.other = (os.path.join(folder, f"{name}.jsonl") for name in "ab")
        compare.generate(self.runs, args.records)
        shutil.copy(self.runs, self.other)
        self.failing = os.path.join(folder, "failing.jsonl")
        compare.generate(self.failing, max(args.records // 5, 1), FAILED)
        self.reviews = os.path.join(folder, "reviews.jsonl")
        lines = b"".join(b'{"id":"r%07d","verdict":"pass"}\n' % n for n in range(args.records))
        subprocess.run([args.stepscope, "review", "add", "--reviews", self.reviews, "--reviewer", "bench", self.runs],
                       input=lines, stdout=subprocess.DEVNULL, check=True)
        self.script = os.path.join(folder, "upstream.py")
        with open(self.script, "w") as file:
            file.write(compare.UPSTREAM)

    def have(self, name):
        if name == "upstream":
            argv = [self.args.python, "-c", "import evoproc, evoproc_procedures"]
            found = subprocess.run(argv, capture_output=True).returncode == 0
        else:
            found = shutil.which(name) is not None
        if not found and name not in self.missing:
            self.missing.append(name)
        return found

    def pairs(self):
        """Name, our command, the peer's, and how a run is measured."""
        ours = lambda *words: [self.args.stepscope, *words]
        upstream = [self.args.python, self.script, self.runs]
        work, clock = lambda argv: spent(argv, False), lambda argv: spent(argv, True)
        check = ours("check", "--format", "short", self.runs)
        # Two threads of one core slow each other down where nothing else runs: work is that of one.
        alone = lambda form: ours("check", "--jobs", "1", "--format", form, self.runs)
        judged = lambda *words: ours("check", "--jobs", "1", *words, self.failing)
        found = [
            ("check: upstream's work", "upstream", alone("short"), upstream, work),
            ("check: upstream by the clock", "upstream", check, upstream, clock),
            ("check --format jsonl: upstream's work", "upstream", alone("jsonl"), upstream, work),
            ("check with excerpts: check", None, alone("text"), alone("short"), work),
            ("check --format jsonl of failing runs: check", None, judged("--format", "jsonl"),
             judged("--format", "short"), work),
            ("check --summary of failing runs: check", None, judged("--summary"), judged("--format", "short"), work),
            ("check: wc -l by the clock", "wc", check, ["wc", "-l", self.runs], clock),
            ("compare of two: check of both", None, ours("compare", self.runs, self.other),
             ours("check", "--format", "short", self.runs, self.other), work),
            ("check --baseline: check of both", None, ours("check", "--format", "short", "--baseline", self.other, self.runs),
             ours("check", "--format", "short", self.runs, self.other), work),
            ("review add of one: check", None, ours("review", "add", "--reviews", self.reviews, "--reviewer", "bench",
                                                    "--id", "r0000000", "--verdict", "pass", self.runs), check, work),
            *((f"review {name}: check", None, ours("review", name, "--reviews", self.reviews, self.runs), check, work)
              for name in ("list", "stats", "agreement")),
            ("first screen: less -S", "less", ours(self.runs), ["less", "-S", self.runs], first_screen),
        ]
        # By the clock, and where the processor's own SHA-256 counts, machines differ too much to be judged.
        steady = lambda pair: pair[4] is work and "review" not in pair[2]
        found = [pair for pair in found if steady(pair) or not self.args.short]
        return [pair for pair in found if pair[1] is None or self.have(pair[1])]

    def measure(self):
        pairs = self.pairs()
        ratios = {pair[0]: [] for pair in pairs}
        for _ in range(self.args.rounds):
            for name, _, ours, theirs, how in pairs:
                mine, other = how(ours), how(theirs)
                ratios[name].append(other / max(mine, 1e-4))
        return {name: {"ratio": round(statistics.median(found), 2), "low": round(min(found), 2),
                       "high": round(max(found), 2)} for name, found in ratios.items()}


def lost(found, before):
    """The comparisons that lost too much."""
    return [name for name, now in found.items() if name in before and now["high"] < before[name]["ratio"] * LOSS]


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--stepscope", default=os.path.join(HERE, "..", "target", "release", "stepscope"))
    ask.add_argument("--python", default=sys.executable, help="an interpreter that has upstream installed")
    ask.add_argument("--records", type=int)
    ask.add_argument("--rounds", type=int, default=5)
    ask.add_argument("--short", action="store_true", help="few records, three rounds, only what is steady")
    ask.add_argument("--json", metavar="FILE", help="write the figures there")
    ask.add_argument("--against", metavar="FILE", help="figures of another commit")
    args = ask.parse_args()
    args.records = args.records or (5_000 if args.short else 100_000)
    args.rounds = min(args.rounds, 3) if args.short else args.rounds
    before = {}
    if args.against:
        with open(args.against) as file:
            before = json.load(file)["ratios"]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        found = bench.measure()
        failed = lost(found, before)
        if failed:
            # A neighbour on the machine can spoil one measurement, hardly two.
            again = bench.measure()
            failed = [name for name in lost(again, before) if name in failed]
            found = again
    print(f"{args.records} records, {args.rounds} rounds: the peer's time over ours, so more is better")
    for name, now in found.items():
        then = before.get(name, {}).get("ratio")
        beside = f"   before {then:7.2f}" if then is not None else ""
        mark = "   LOST" if name in failed else ""
        print(f"  {name:40} {now['ratio']:7.2f}   {now['low']:.2f} to {now['high']:.2f}{beside}{mark}")
    for name in bench.missing:
        print(f"  {name} is not installed: left out")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"records": args.records, "rounds": args.rounds, "ratios": found}, file, indent=1)
            file.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
