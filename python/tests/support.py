"""What the tests share: a procedure, a model that always says the same, and where the program is."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if not os.environ.get("STEPSCOPE_INSTALLED"):
    # From a checkout, with the program that `cargo build` made.
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.setdefault("STEPSCOPE_PROGRAM", str(ROOT / "target" / "debug" / "stepscope"))

QUESTION = "Ann has 2 apples and buys 3. How many apples has she now?"

# The error of a reply that was not read to its end.
LEFT = "Interrupted: the end of the reply was not seen; this is the part that came"


def field(name: str) -> dict[str, str]:
    return {"name": name, "description": f"the {name}"}


def step(number: int, reads: list[str], action: str, writes: list[str]) -> dict[str, Any]:
    return {
        "id": number,
        "inputs": [field(name) for name in reads],
        "stepDescription": action,
        "output": [field(name) for name in writes],
    }


def procedure() -> dict[str, Any]:
    return {
        "NameDescription": "Add apples",
        "steps": [
            step(1, ["problem_text"], "Extract both numbers.", ["had", "bought"]),
            step(2, ["had", "bought"], "Add had and bought.", ["total"]),
            step(3, ["total"], "State the total.", ["final_answer"]),
        ],
    }


VALUES = {
    "had": 2,
    "bought": 3,
    "total": 5,
    "final_answer": "5",
    "final_answer_numerical": 5,
    "confidence": 0.9,
    "units": "apples",
}


def model(prompt: str, model: str, fmt: dict[str, Any] | None = None, seed: int | None = 1234) -> str:
    """Gives what the schema asks for."""
    return json.dumps({key: VALUES.get(key, 1) for key in (fmt or {}).get("properties", {})})


def lines(path: os.PathLike[str] | str) -> list[dict[str, Any]]:
    """Every line of a file; each must be whole."""
    text = Path(path).read_bytes() if Path(path).exists() else b""
    assert text == b"" or text.endswith(b"\n"), "the last line is whole"
    return [json.loads(line) for line in text.splitlines()]


def wait_for(what: Any, seconds: float = 30) -> Any:
    """What a condition gives once it holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError("it did not come to be")


@contextlib.contextmanager
def chat_server(reply: Callable[[], str]) -> Iterator[str]:
    """A server of chat completions on this machine that streams a reply to each request; its address."""

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            choices = [{"delta": {"content": reply()}}, {"delta": {}, "finish_reason": "stop"}]
            events = [json.dumps({"model": "m", "choices": [{"index": 0, **each}]}) for each in choices]
            body = "".join(f"data: {each}\n\n" for each in [*events, "[DONE]"]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class InFolder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "runs.jsonl"


def has(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


needs_evoproc = unittest.skipUnless(has("evoproc_procedures"), "evoproc-procedures is not installed")
