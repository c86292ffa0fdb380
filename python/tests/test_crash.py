"""What is in the file when a recording process is killed, or the disk says no."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import threading
import unittest
import warnings
from unittest import mock

import support
from support import InFolder, lines, needs_evoproc, wait_for

from stepscope import _sink, _writer, record

HERE = os.path.dirname(os.path.abspath(__file__))

# Runs without end; each is acknowledged once it is over.
RUNS = """
    import sys
    sys.path.insert(0, sys.argv[2])
    import support
    from test_record import run
    from stepscope import record
    query = record(support.model, sys.argv[1])
    n = 0
    while True:
        run(query, question=f"question {n} " + "x" * 20000)
        print(n, flush=True)
        n += 1
"""

# Two calls of three, then it waits for the end.
CALLS = """
    import sys, signal
    sys.path.insert(0, sys.argv[2])
    import support
    from test_record import run
    from stepscope import record
    # Where the tests run in the background, interrupts are ignored, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asked = 0
    def query(prompt, model, fmt=None, seed=None):
        global asked
        asked += 1
        if asked == 3:
            print("asked", flush=True)
            signal.pause()
        return support.model(prompt, model, fmt, seed)
    run(record(query, sys.argv[1]))
"""


class Killed(InFolder):
    def start(self, program: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), str(self.path), HERE],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    @needs_evoproc
    def test_no_acknowledged_line_is_lost_and_none_is_torn(self):
        chance = random.Random(7)
        acknowledged = 0
        for _ in range(8):
            process = self.start(RUNS)
            for _ in range(chance.randrange(3, 40)):
                process.stdout.readline()
                acknowledged += 1
            process.kill()
            acknowledged += process.stdout.read().count(b"\n")
            process.wait()
            # What was handed over is written after the end, whole.
            self.assertGreaterEqual(len(lines(self.path)), acknowledged)
        wait_for(lambda: self.whole() >= acknowledged)
        lines(self.path)

    def whole(self) -> int:
        return self.path.read_bytes().count(b"\n")

    @needs_evoproc
    def test_a_run_that_is_killed_leaves_its_calls(self):
        process = self.start(CALLS)
        self.assertEqual(process.stdout.readline(), b"asked\n")
        self.assertEqual(lines(self.path), [])
        process.send_signal(signal.SIGKILL)
        process.wait()
        (line,) = wait_for(lambda: lines(self.path))
        self.assertEqual((line["status"], line["error_type"]), ("error", "Killed"))
        self.assertEqual([call["outputs"] for call in line["trace"]["steps"]], [{"had": 2, "bought": 3}, {"total": 5}])
        self.assertEqual(line["trace"]["procedure"], support.procedure())

    @needs_evoproc
    def test_a_run_that_is_interrupted_ends_in_its_error(self):
        process = self.start(CALLS)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.wait()
        (line,) = lines(self.path)
        self.assertEqual((line["error_type"], len(line["trace"]["steps"])), ("KeyboardInterrupt", 3))

    def test_a_run_that_is_killed_keeps_what_was_said_of_it_before_its_last_call(self):
        def child():
            with record(self.path, id="late") as about:
                ask = about.wrap(lambda prompt: prompt)
                ask("first")
                about.gold_answer, about.state, about.fitness = "#### 7", {"total": 5}, 0.5
                ask("second")
                os._exit(0)

        self.assertEqual(forked(child), 0)
        (line,) = wait_for(lambda: lines(self.path))
        self.assertEqual((line["error_type"], line["gold_num"], line["state"], line["fitness"]), ("Killed", 7, {"total": 5}, 0.5))
        self.assertEqual(len(line["trace"]["steps"]), 2)


def forked(child):
    """What a forked child gives, as its exit code."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = child()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Forked(InFolder):
    """In the middle of a run, whose line its process alone writes."""

    @contextlib.contextmanager
    def through(self, writer):
        _sink._close_all()
        _sink._sinks.clear()
        self.path.unlink(missing_ok=True)
        with self.subTest(writer=writer), mock.patch.dict(os.environ, {"STEPSCOPE_WRITER": writer}):
            yield

    def told(self, ask, prompts):
        """How often a child that asks says that it cannot add to the run."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for prompt in prompts:
                ask(prompt)
        return sum("cannot add to the run 'batch'" in str(each.message) for each in told)

    def test_calls_of_children_are_whole_lines_and_the_run_is_there_once(self):
        for writer, before in itertools.product("01", ([], ["first"])):
            with self.through(writer):
                ask = record(lambda prompt: f"reply to {prompt}", self.path)
                with record(self.path, id="batch", gold_answer="#### 1") as run:
                    for prompt in before:
                        ask(prompt)
                    for prompts in ("ab", "cd"):
                        self.assertEqual(forked(lambda prompts=prompts: self.told(ask, prompts)), 1)
                    self.assertEqual(forked(lambda: self.told(run.wrap(lambda prompt: f"reply to {prompt}"), "e")), 1)
                    ask("last")
                _sink._close_all()  # what a writer knows more is in the file then
                *calls, line = lines(self.path)
                self.assertEqual([call["response"] for call in calls], [f"reply to {each}" for each in "abcde"])
                self.assertEqual({call["run_id"] for call in calls}, {"batch"})
                self.assertEqual([call["prompt"] for call in line["trace"]["steps"]], [*before, "last"])
                self.assertEqual((line["id"], line["status"]), ("batch", "ok"))
                self.assertEqual(list(self.folder.glob("*.torn")), [])

    def test_a_child_that_leaves_the_block_writes_no_second_run(self):
        for writer in "01":
            with self.through(writer):
                ask = record(lambda prompt: prompt, self.path)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    pid = os.getpid()
                    with record(self.path, id="batch"):
                        ask("first")
                        child = os.fork()
                        if child == 0:
                            ask("child")
                    if os.getpid() != pid:
                        os._exit(0)
                os.waitpid(child, 0)
                _sink._close_all()
                found = lines(self.path)
                self.assertEqual([line["id"] for line in found if "trace" in line], ["batch"])
                self.assertEqual([line["response"] for line in found if "trace" not in line], ["child"])

    @needs_evoproc
    def test_runs_of_a_child_are_its_own(self):
        from test_record import get_schema, run, run_steps

        for writer in "01":
            with self.through(writer):
                query, runner = record(support.model, self.path), record(run_steps, self.path)
                given = (support.procedure(), support.QUESTION, get_schema("gsm"), "stub")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with record(self.path, id="batch", gold_answer="#### 7"):
                        for one in (lambda: run(query), lambda: runner(*given, query_fn=support.model)):
                            self.assertEqual(forked(lambda one=one: one()["final_answer_numerical"]), 5)
                _sink._close_all()
                *runs, batch = lines(self.path)
                self.assertEqual([(each["status"], len(each["trace"]["steps"])) for each in runs], [("ok", 3)] * 2)
                self.assertEqual((batch["id"], batch["trace"]["steps"]), ("batch", []))
                self.assertNotIn("batch", [each["id"] for each in runs])


def waiting(pipe):
    """How many bytes are in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


def with_signal(n, call):
    """Call, with a signal where Python looks for one for the n-th time. Whether it looked so often."""
    left = n

    def watch(_frame, kind, _function):
        nonlocal left
        # It looks where its own functions begin and where those of C have ended.
        left -= kind in ("call", "c_return")
        if left == 0:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGALRM)

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return left <= 0


class TheWriter(InFolder):
    def append(self, line: bytes) -> None:
        appender = _writer.Appender(str(self.path))
        try:
            appender.append(line)
        finally:
            appender.close()

    def test_a_torn_last_line_is_put_aside(self):
        self.path.write_bytes(b'{"a": 1}\n{"b": [')
        self.append(b'{"c": 3}\n')
        self.assertEqual(self.path.read_bytes(), b'{"a": 1}\n{"c": 3}\n')
        self.assertEqual((self.folder / "runs.jsonl.torn").read_bytes(), b'{"b": [\n')

    def test_a_last_line_without_its_end_is_kept(self):
        self.path.write_bytes(b'{"a": 1}')
        self.append(b'{"c": 3}\n')
        self.assertEqual(lines(self.path), [{"a": 1}, {"c": 3}])

    def test_a_full_disk_tears_nothing(self):
        """A limit on the size of files stands for the disk."""
        self.path.write_bytes(b'{"a": 1}\n')
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
            try:
                self.append(b'"' + b"x" * 9000 + b'"\n')
                os._exit(0)
            except OSError:
                os._exit(3)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)
        self.assertEqual(self.path.read_bytes(), b'{"a": 1}\n')

    def test_without_a_writer_process_lines_are_written_here(self):
        ask = record(lambda prompt: prompt, self.path)
        from stepscope._sink import sink

        ask("one")
        sink(self.path)._process.kill()
        sink(self.path)._process.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask("two")
        self.assertEqual([line["prompt"] for line in lines(self.path)], ["one", "two"])

    def test_a_signal_in_the_middle_of_a_line_tears_nothing(self):
        class Late(BaseException):
            pass

        def raise_late(*_):
            raise Late

        ask = record(lambda prompt: prompt, self.path)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, raise_late))
        ask("first")
        writer = ask._to._process

        def interrupt():
            wait_for(lambda: waiting(writer.stdin) >= 4096)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            writer.send_signal(signal.SIGCONT)

        # More than a pipe holds, for a writer that reads nothing yet.
        writer.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, writer.pid, os.WSTOPPED)
        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(Late):
            ask("x" * 300_000)
        thread.join()
        ask("last")
        self.assertEqual([line["response"][:5] for line in lines(self.path)], ["first", "xxxxx", "last"])

    def test_an_error_of_a_handler_is_that_of_the_program(self):
        """Of whatever class, also that of a broken pipe; no line is torn, or there twice."""
        for kind in (KeyboardInterrupt, ValueError, BrokenPipeError):
            for direct in ("0", "1"):
                with self.subTest(kind, writer=direct), mock.patch.dict(os.environ, {"STEPSCOPE_WRITER": direct}):
                    self.interrupt(kind)
                    self.path.unlink()
                    _sink._close_all()
                    _sink._sinks.clear()

    def interrupt(self, kind):
        """A handler raises wherever it can be called in a recorded call, one place after the other."""

        def late(*_):
            raise kind("late")

        before = signal.signal(signal.SIGALRM, late)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        ask = record(lambda prompt: prompt, self.path)
        ask("first")
        raised = 0
        # An error that comes while a generator is closed is told, not raised.
        with warnings.catch_warnings(), mock.patch("sys.unraisablehook"):
            warnings.simplefilter("error")
            for event in itertools.count(1):
                try:
                    if not with_signal(event, lambda: ask(f"{event} " + "x" * 100_000)):
                        break
                except kind:
                    raised += 1
            ask("last")
        self.assertGreater(raised, 100)
        found = [line["prompt"].split()[0] for line in lines(self.path)]
        self.assertEqual(found[-1], "last")
        self.assertEqual(len(found), len(set(found)), "no line is there twice")
        self.assertGreaterEqual(len(found), event + 2 - raised)

    def test_a_frozen_program_is_not_started_as_its_writer(self):
        with mock.patch.object(sys, "frozen", True, create=True):
            ask = record(lambda prompt: prompt, self.path)
        ask("a")
        self.assertIsNone(ask._to._process)
        self.assertEqual([line["response"] for line in lines(self.path)], ["a"])

    def test_a_child_locks_for_itself(self):
        with mock.patch.dict(os.environ, {"STEPSCOPE_WRITER": "0"}):
            ask = record(lambda prompt: prompt, self.path)
        ask("a")
        pid = os.fork()
        if pid == 0:
            own = ask._to._direct._fd is None
            ask("b")
            os._exit(0 if own else 3)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        ask("c")
        self.assertEqual([line["response"] for line in lines(self.path)], ["a", "b", "c"])

    def test_it_needs_nothing_but_itself(self):
        """As it is started: isolated, without site."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", _writer.__file__, str(self.path)],
            input=b"L" + b"\0\0\0\0" + b"\0\0\0\x03" + b"{}\n",
            capture_output=True,
            check=True,
        )
        self.assertEqual((done.stdout, done.stderr), (b"k", b""))
        self.assertEqual(self.path.read_bytes(), b"{}\n")

    def test_a_pipe_is_written_to(self):
        os.mkfifo(self.path)
        reader = subprocess.Popen(["cat", str(self.path)], stdout=subprocess.PIPE)
        self.append(json.dumps({"a": 1}).encode() + b"\n")
        self.assertEqual(reader.communicate()[0], b'{"a": 1}\n')


if __name__ == "__main__":
    unittest.main()
