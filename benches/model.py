#!/usr/bin/env python3
"""How fast `stepscope` hears a model, beside upstream's client, in one run.

  benches/model.py                                  # a scripted server of its own; target/release/stepscope
  benches/model.py --url http://127.0.0.1:11434 --model smollm2:135m     # samples of a real Ollama

Three things are measured. n samples of one step, so many at once, by `stepscope rerun --samples` and by upstream's
`query` (`pip install evoproc-procedures`) in as many threads: seconds, and their ratio. On the screen: milliseconds from
a token's sending until it is on the terminal. And milliseconds from Esc until the server sees the connection end while
tokens pour in. Linux, Python 3.9. Machines differ, so quote the ratio.
"""
import argparse, json, os, socket, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import screen

RECORD = {"id": "r1", "question": "2 + 3?", "gold_num": 5.0, "status": "ok", "mode": "procedural",
          "procedure": {"steps": [
              {"id": 1, "inputs": [{"name": "problem_text"}], "stepDescription": "Extract the numbers",
               "output": [{"name": "a"}, {"name": "b"}]},
              {"id": 2, "inputs": [{"name": "a"}, {"name": "b"}], "stepDescription": "Add",
               "output": [{"name": "final_answer"}]}]},
          "state": {"problem_text": "2 + 3?", "a": 2, "b": 3, "final_answer": "5", "final_answer_numerical": 5.0,
                    "confidence": 1}, "pred_answer": "5", "pred_num": 5.0, "correct": True}
UPSTREAM = r'''
import json, os, sys
from concurrent.futures import ThreadPoolExecutor
prompt, schema, model, count, at_once = json.load(open(sys.argv[1]))
from evoproc_procedures.ollama import query
with ThreadPoolExecutor(at_once) as pool:
    replies = list(pool.map(lambda n: query(prompt, model, schema, seed=1234 + n), range(count)))
print(sum(1 for reply in replies if json.loads(reply)))
'''


class Server:
    """An Ollama whose replies are `say(connection, request number)`, NDJSON lines without chunk framing."""

    def __init__(self, say):
        self.say, self.count, self.requests = say, 0, []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rb") as lines:
            length = 0
            for line in iter(lines.readline, b"\r\n"):
                if not line:
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            request = json.loads(lines.read(length))
            self.requests.append(request)
            self.count += 1
            try:
                self.say(connection, request)
            except OSError:
                pass


def ndjson(connection, request, pieces):
    """Sends a reply as a stream, or in one piece where that was asked for."""
    streams = request.get("stream", True)
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
    if streams:
        connection.sendall(head.encode())
    whole = ""
    for piece in pieces:
        whole += piece
        if streams:
            connection.sendall(json.dumps({"model": "m", "response": piece, "done": False}).encode() + b"\n")
    end = {"model": "m", "response": "" if streams else whole, "done": True, "done_reason": "stop", "eval_count": 9}
    connection.sendall((b"" if streams else head.encode()) + json.dumps(end).encode() + b"\n")


def samples(args, folder):
    def reply(connection, request):
        def pieces():
            text = json.dumps({"a": 2, "b": 3})
            for piece in (text[:8], text[8:]):
                time.sleep(args.delay / 2)
                yield piece
        ndjson(connection, request, pieces())

    server = None if args.url else Server(reply)
    url, model = args.url or server.url, args.model
    ours = [args.stepscope, "rerun", os.path.join(folder, "runs.jsonl"), "--step", "1", "--backend", "ollama", "--url", url,
            "--model", model, "--samples", str(args.samples), "--at-once", str(args.at_once), "--quiet",
            "--first-timeout", "600", "--silence-timeout", "600"]
    probe = Server(lambda connection, request: ndjson(connection, request, ['{"a":2,"b":3}']))
    asked = list(ours)
    asked[asked.index("--url") + 1] = probe.url
    subprocess.run(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    request = probe.requests[0]
    with open(os.path.join(folder, "ask.json"), "w") as file:
        json.dump([request["prompt"], request["format"], model, args.samples, args.at_once], file)
    theirs = [args.python, "-c", UPSTREAM, os.path.join(folder, "ask.json")]
    environment = dict(os.environ, OLLAMA_HOST=url)
    if subprocess.run([args.python, "-c", "import evoproc_procedures.ollama"], stderr=subprocess.DEVNULL).returncode:
        theirs = None
    times = {"stepscope": [], "upstream": []}
    for _ in range(args.rounds):
        for name, command in (("stepscope", ours), ("upstream", theirs)):
            if command:
                began = time.monotonic()
                subprocess.run(command, stdout=subprocess.DEVNULL, env=environment)
                times[name].append(time.monotonic() - began)
    print(f"{args.samples} samples, {args.at_once} at once, median of {args.rounds} rounds:")
    for name, found in times.items():
        if found:
            print(f"  {name:10} {statistics.median(found):7.2f} s")
    if times["upstream"]:
        print(f"  upstream / stepscope {statistics.median(times['upstream']) / statistics.median(times['stepscope']):.2f}")


def open_run(args, folder, url):
    """The program with the first run open and a call of its first step on the way."""
    program = screen.Program([args.stepscope, os.path.join(folder, "runs.jsonl"), "--backend", "ollama", "--url", url,
                              "--model", "m"], 120, 36)
    program.until(b"2 + 3?")
    program.settle()
    for key in (b"\r", b"r"):
        os.write(program.fd, key)
        program.settle(0.3)
    os.write(program.fd, b"\r")
    return program


def tokens(args, folder):
    sent = {}

    def reply(connection, request):
        def pieces():
            time.sleep(0.5)
            for n in range(args.tokens):
                sent["tok%04dx" % n] = time.monotonic()
                yield "tok%04dx " % n
                time.sleep(0.03)
        ndjson(connection, request, pieces())

    program = open_run(args, folder, Server(reply).url)
    seen, found, until = "", {}, time.monotonic() + 0.03 * args.tokens + 20
    while len(found) < args.tokens and time.monotonic() < until:
        data = program.read(0.5)
        now = time.monotonic()
        # What stands on the screen already is not sent again, so a token may come in pieces; its number does not.
        seen = (seen + (data or b"").decode("utf-8", "replace"))[-4000:]
        for token in list(sent):
            if token not in found and token in seen:
                found[token] = (now - sent[token]) * 1000
        if data is None and len(sent) == args.tokens:
            break
    program.end()
    if not found:
        print("no token was seen on the screen")
        return
    late = sorted(found.values())
    print(f"{len(found)} of {len(sent)} tokens found on the terminal: median {statistics.median(late):.1f} ms, "
          f"95 % {late[int(len(late) * 0.95)]:.1f} ms, at most {late[-1]:.1f} ms")


def cancel(args, folder):
    late = []
    for _ in range(args.rounds):
        closed = threading.Event()
        ended = []

        def reply(connection, request):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n")
            line = json.dumps({"model": "m", "response": "word " * 8, "done": False}).encode() + b"\n"
            try:
                while True:
                    connection.sendall(line)
                    time.sleep(0.0005)
            except OSError:
                ended.append(time.monotonic())
                closed.set()

        program = open_run(args, folder, Server(reply).url)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            program.read(0.1)
        pressed = time.monotonic()
        os.write(program.fd, b"\x1b")
        until = time.monotonic() + 5
        while not closed.is_set() and time.monotonic() < until:
            program.read(0.005)
        program.end()
        late.append((ended[0] - pressed) * 1000 if ended and ended[0] > pressed else float("nan"))
    print(f"from Esc to the end of the connection, tokens pouring in: median {statistics.median(late):.0f} ms, "
          f"at most {max(late):.0f} ms of {args.rounds}")


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--stepscope", default=os.path.join(HERE, "..", "target", "release", "stepscope"))
    ask.add_argument("--python", default=sys.executable, help="a Python that has upstream installed")
    ask.add_argument("--url", help="a real Ollama for the samples")
    ask.add_argument("--model", default="m")
    ask.add_argument("--samples", type=int, default=32)
    ask.add_argument("--at-once", type=int, default=4)
    ask.add_argument("--delay", type=float, default=0.1, help="seconds a reply of the scripted server takes")
    ask.add_argument("--tokens", type=int, default=200)
    ask.add_argument("--rounds", type=int, default=5)
    ask.add_argument("--only", choices=["samples", "tokens", "cancel"])
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "runs.jsonl"), "w") as file:
            file.write(json.dumps(RECORD) + "\n")
        for name, measure in (("samples", samples), ("tokens", tokens), ("cancel", cancel)):
            if args.only in (None, name):
                measure(args, folder)


if __name__ == "__main__":
    main()
