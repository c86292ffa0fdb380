#!/usr/bin/env python3
"""First screen and keys of `stepscope` beside other programs, in one run, in pseudo-terminals.

  benches/screen.py                               # 100,000 records of about 4 kB; target/release/stepscope and less
  benches/screen.py --records 1000000 --dir /tmp/bench
  benches/screen.py --file runs.jsonl --rounds 7

Peers that are not installed are left out (less, jless, visidata, lnav). Measured for each program, turn by turn, so that
a busy machine hits all: milliseconds from exec until its first useful text is on the terminal, milliseconds from a key to
the first and to the last byte that it causes (the preview comes a frame later), bytes a key, peak memory; then, for
stepscope alone, the first answer to a key on its other screens. Medians; machines differ, so quote ratios.
Linux, Python 3.9, nothing else.
"""
import argparse, fcntl, json, os, pty, select, shutil, signal, statistics, struct, subprocess, sys, tempfile, termios, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
ANSWERS = {b"\x1b[c": b"\x1b[?62;22c", b"\x1b[6n": b"\x1b[1;1R", b"\x1b[?2026$p": b"\x1b[?2026;2$y",
           b"\x1b]11;?": b"\x1b]11;rgb:1616/1616/1e1e\x1b\\"}


class Program:
    def __init__(self, argv, cols=200, rows=60):
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LC_ALL="C.UTF-8", LESSHISTFILE="-",
                              XDG_STATE_HOME=tempfile.gettempdir() + "/stepscope-bench-state")
            os.execvp(argv[0], argv)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, timeout):
        if not select.select([self.fd], [], [], timeout)[0]:
            return None
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return None
        for question, answer in ANSWERS.items():
            for _ in range(data.count(question)):
                os.write(self.fd, answer)
        return data

    def until(self, text, limit=60):
        seen = b""
        while time.monotonic() - self.started < limit:
            seen = (seen + (self.read(0.2) or b""))[-400_000:]
            if text in seen:
                return (time.monotonic() - self.started) * 1000
        return float("nan")

    def settle(self, quiet=0.06):
        """Bytes until nothing came for a while, and when the first and the last came."""
        size, first, last = 0, None, time.monotonic()
        while (data := self.read(quiet)) is not None:
            size, last = size + len(data), time.monotonic()
            first = first or last
        return size, first or last, last

    def key(self, keys):
        before = time.monotonic()
        os.write(self.fd, keys)
        size, first, last = self.settle()
        return (first - before) * 1000, (last - before) * 1000, size

    def peak(self):
        with open(f"/proc/{self.pid}/status") as status:
            lines = dict(line.split(":", 1) for line in status if ":" in line)
        return int(lines["VmHWM"].split()[0]) / 1024, int(lines["RssAnon"].split()[0]) / 1024

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def first_text(file):
    """The beginning of the first question: a heading alone is no use to anybody."""
    with open(file, "rb") as lines:
        return json.loads(lines.readline())["question"][:12].encode()


def one_round(argv, ready, wait):
    program = Program(argv)
    row = {"first ms": program.until(ready)}
    program.settle(wait)
    moves = [program.key(b"j") for _ in range(30)]
    pages = [program.key(b"\x1b[6~") for _ in range(10)]
    for name, keys in (("move", moves), ("page", pages)):
        row[f"{name} ms"], row[f"{name} last"], row[f"{name} bytes"] = (statistics.median(x) for x in zip(*keys))
    held = time.monotonic()
    os.write(program.fd, b"j" * 1000)
    *_, last = program.settle(0.2)
    row["1000 keys ms"] = (last - held) * 1000
    row["peak MB"], row["anon MB"] = program.peak()
    program.end()
    return row


# Screens of stepscope: the keys that lead there from the table, and the keys that are measured, in turns.
SCREENS = {"table": (b"", b"jjk"), "run pane": (b"\r", b"\t"), "run step": (b"\r", b"]["), "next record": (b"\r", b"}{"),
           "JSON": (b"\rJ", b"j"), "proof": (b"\rp", b"jk"), "insights": (b"I", b"j"), "help": (b"?", b"j"),
           "filter": (b"f", b"a"), "palette": (b":", b"a")}


def screens(argv, ready, wait, cols, rows):
    """Milliseconds until the first answer to a key, for each screen; a key that changes nothing is not counted."""
    found = {}
    for name, (way, keys) in SCREENS.items():
        program = Program(argv, cols, rows)
        program.until(ready)
        program.settle(wait)
        for n in range(len(way)):
            program.key(way[n:n + 1])
            program.settle(wait)
        answers = [program.key(keys[n % len(keys):][:1]) for n in range(24)]
        found[name] = statistics.median([first for first, _, size in answers if size] or [float("nan")])
        program.end()
    return found


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--file")
    ask.add_argument("--records", type=int, default=100_000)
    ask.add_argument("--dir", default=tempfile.gettempdir())
    ask.add_argument("--rounds", type=int, default=5)
    ask.add_argument("--stepscope", default=os.path.join(HERE, "..", "target", "release", "stepscope"))
    ask.add_argument("--wait", type=float, default=0.5, help="seconds of quiet before keys are measured")
    args = ask.parse_args()
    file = args.file
    if not file:
        import random, compare
        os.makedirs(args.dir, exist_ok=True)
        file = os.path.join(args.dir, f"stepscope-bench-{args.records}.jsonl")
        if not os.path.exists(file):
            rng = random.Random(7)
            with open(file + ".part", "w") as out:
                for n in range(args.records):
                    out.write(json.dumps(compare.record(rng, n)) + "\n")
            os.replace(file + ".part", file)
    ready = first_text(file)
    programs = {"stepscope": ([args.stepscope, file], ready), "less -S": (["less", "-S", file], ready),
                "jless": (["jless", file], ready), "visidata": (["vd", file], ready), "lnav": (["lnav", file], ready)}
    programs = {name: program for name, program in programs.items() if shutil.which(program[0][0])}
    rows = {name: [] for name in programs}
    for _ in range(args.rounds):
        for name, (argv, ready) in programs.items():
            rows[name].append(one_round(argv, ready, args.wait))
    print(f"{os.path.getsize(file) / 1e6:.0f} MB, median of {args.rounds} rounds, 200x60")
    keys = list(next(iter(rows.values()))[0])
    print(f"{'':12}" + "".join(f"{key:>13}" for key in keys))
    for name, found in rows.items():
        print(f"{name:12}" + "".join(f"{statistics.median(row[key] for row in found):13.1f}" for key in keys))
    for cols, rows in ((120, 36), (200, 60)):
        found = screens([args.stepscope, file], ready, args.wait, cols, rows)
        print(f"first answer to a key at {cols}x{rows}, ms: " + ", ".join(f"{name} {ms:.1f}" for name, ms in found.items()))


if __name__ == "__main__":
    main()
