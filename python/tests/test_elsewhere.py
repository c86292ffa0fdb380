"""The recorder where a system has nothing of what Unix alone has, as on Windows: everything of that is taken away here."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import unittest

from support import InFolder, lines

HERE = os.path.dirname(os.path.abspath(__file__))

# What Windows has in its place: locks of bytes from where the file stands, and pipes that are text until told otherwise.
WITHOUT = f"""
    import asyncio, fcntl, os, select, signal, subprocess, sys, sysconfig, types
    sysconfig.get_config_vars()
    sys.path.insert(0, {HERE!r})
    import support
    locks = types.ModuleType("msvcrt")
    locks.LK_LOCK, locks.LK_UNLCK, locks.binary = 1, 0, []
    locks.setmode = lambda fd, mode: locks.binary.append(fd)
    lockf, EX, UN = fcntl.lockf, fcntl.LOCK_EX, fcntl.LOCK_UN
    def locking(fd, mode, size):
        at = os.lseek(fd, 0, os.SEEK_CUR)
        assert at >= 1 << 30, "a lock keeps readers out of what it covers"
        lockf(fd, EX if mode else UN, size, at)
    locks.locking = locking
    sys.modules["msvcrt"], sys.modules["fcntl"], sys.platform = locks, None, "win32"
    for module, names in [
        (os, ["pread", "pwrite", "fork", "register_at_fork", "getuid"]),
        (select, ["poll", "epoll"]),
        (signal, ["pthread_sigmask", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "pause"]),
    ]:
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
"""

# The process that writes has nothing of it either.
WRITER = WITHOUT + """
    import runpy
    sys.argv = sys.argv[1:]
    writer = runpy.run_path(sys.argv[0])
    writer["main"](sys.argv[1])
    assert locks.binary == [0, 1], "or each end of a line would become two bytes"
"""

RECORDS = WITHOUT + """
    from stepscope import _sink, record
    path, writer, tag = sys.argv[1:]
    started = subprocess.Popen
    def popen(command, **options):
        return started([command[0], writer, command[3], command[4]], **options)
    _sink.subprocess.Popen = popen
    for n in range(20):
        with record(path, question=f"question {tag} {n} " + "x" * 20000) as run:
            run.state = {"label": "billing"}
"""

HELD = WITHOUT + """
    from stepscope import _sink
    came = []
    signal.signal(signal.SIGINT, lambda *_: came.append("handled"))
    held = _sink._hold()
    signal.raise_signal(signal.SIGINT)
    assert came == [], "a message was cut in two"
    _sink._release(held)
    assert came == ["handled"], came
    signal.raise_signal(signal.SIGINT)
    assert came == ["handled"] * 2, "the handler is the one from before"
"""


class Elsewhere(InFolder):
    maxDiff = None

    def script(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return path

    def test_recorders_take_turns(self) -> None:
        path = os.path.join(self.folder, "runs.jsonl")
        writer, records = self.script("writer.py", WRITER), self.script("records.py", RECORDS)
        # A line that a stopped machine left.
        with open(path, "wb") as file:
            file.write(b'{"torn')
        both = [
            subprocess.Popen([sys.executable, records, path, writer, tag], stderr=subprocess.PIPE) for tag in "ab"
        ]
        for each in both:
            _, told = each.communicate(timeout=120)
            self.assertEqual((each.returncode, told), (0, b""))
        asked = sorted(record["question"].split(" x")[0] for record in lines(path))
        self.assertEqual(asked, sorted(f"question {tag} {n}" for tag in "ab" for n in range(20)))
        with open(path + ".torn", "rb") as torn:
            self.assertEqual(torn.read(), b'{"torn\n')

    def test_a_ctrl_c_waits_until_a_message_is_whole(self) -> None:
        done = subprocess.run([sys.executable, self.script("held.py", HELD)], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
