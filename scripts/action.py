"""The steps of action.yml: action.py key | install | check | result

Settings come by the environment, never as text of a script: a file's name is no command. Python, because the shells of the
runners differ.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ACTION = Path(__file__).resolve().parent.parent
SOURCES = ("Cargo.lock", "Cargo.toml", "pyproject.toml", ".cargo", "src", "crates", "sample_runs", "themes", "python/stepscope")
# GitHub shows no more of a job, and takes no longer summary of a step.
MOST_ANNOTATIONS = 50
LONGEST_SUMMARY = 900_000
MOST_PAGES = 20
FOUND, FAILED = 1, 2


def setting(name: str) -> str:
    return os.environ.get(name, "").strip()


def temporary() -> Path:
    return Path(os.environ["RUNNER_TEMP"])


def append(variable: str, text: str) -> None:
    """Hand something to the runner: an output, the path, the summary."""
    if os.environ.get(variable):
        with open(os.environ[variable], "a", encoding="utf-8") as file:
            file.write(text)


def sources() -> Iterator[Path]:
    for name in SOURCES:
        place = ACTION / name
        yield from sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else [place]


def key() -> None:
    """Name what is built by all that goes into it."""
    digest = hashlib.sha256(setting("WHEEL").encode())
    for path in sources():
        digest.update(path.relative_to(ACTION).as_posix().encode())
        digest.update(path.read_bytes())
    append("GITHUB_OUTPUT", f"key=stepscope-{platform.system()}-{platform.machine()}-{digest.hexdigest()[:20]}\n")


def install() -> None:
    """Install into an environment of its own: the Python of a runner belongs to its system."""
    environment, wheels = temporary() / "stepscope-venv", temporary() / "stepscope-wheel"
    venv.create(environment, with_pip=True, clear=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check"]
    built = sorted(wheels.glob("*.whl"))
    if not built:
        source = [setting("WHEEL")] if setting("WHEEL") else [str(ACTION)]
        subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), *source], check=True)
        built = sorted(wheels.glob("*.whl"))
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", *map(str, built)], check=True)
    append("GITHUB_PATH", f"{programs}\n")


def stepscope(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["stepscope", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def paths() -> list[str]:
    return [line.strip("\r") for line in os.environ["PATHS"].split("\n") if line.strip()]


def annotate(output: bytes) -> None:
    """Print the annotations that GitHub shows, the gravest first."""
    levels: dict[bytes, list[bytes]] = {b"::error": [], b"::warning": [], b"::notice": []}
    for line in output.splitlines():
        levels.get(line.partition(b" ")[0], []).append(line)
    lines = [line for level in levels.values() for line in level]
    for line in lines[:MOST_ANNOTATIONS]:
        sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()
    if len(lines) > MOST_ANNOTATIONS:
        print(f"{len(lines) - MOST_ANNOTATIONS} more findings are in the report")


def shortened(text: str, most: int) -> str:
    """The whole lines of a text that there is room for."""
    if len(text.encode()) <= most:
        return text
    kept = text.encode()[:most].decode("utf-8", "ignore").rpartition("\n")[0]
    left = text.count("\n") - kept.count("\n") - 1
    return f"{kept}\n\nand {left:,} more lines, in the report\n"


def compared(baseline: str, run: str) -> int:
    """Compare with the run that was right before."""
    done = stepscope("compare", "--fail-on-regression", "--", run, baseline)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    print(said, end="")
    # Indented, it is code whatever it holds.
    indented = "".join(f"    {line}\n" for line in said.splitlines())
    append("GITHUB_STEP_SUMMARY", f"\n### stepscope compare\n\n{shortened(indented, LONGEST_SUMMARY // 10)}")
    return done.returncode


def pages(folder: Path, files: list[str]) -> None:
    """Write a page for each of the first records with a warning or worse."""
    fields = "source,line,findings.severity"
    done = stepscope("check", "--format", "jsonl", "--fields", fields, "--fail-on", "never", "--", *files)
    found = (json.loads(line) for line in done.stdout.splitlines())
    graver = (each for each in found if any(one["severity"] != "note" for one in each.get("findings") or ()))
    for number, each in zip(range(1, MOST_PAGES + 1), graver):
        folder.mkdir(parents=True, exist_ok=True)
        page = folder / f"{number:02}-{Path(each['source']).name}-{each['line']}.html"
        # What looks private is taken out; where that cannot be done there is no page.
        asked = ["export", "--redact", "all", "--line", str(each["line"]), "--html", str(page), "--", each["source"]]
        done = stepscope(*asked)
        if done.returncode != 0:
            print(done.stderr.decode("utf-8", "replace"), end="")


def check() -> None:
    files, report = paths(), Path(setting("SARIF"))
    report.parent.mkdir(parents=True, exist_ok=True)
    done = stepscope("check", "--format", "sarif", "--fail-on", setting("FAIL_ON"), "--", *files)
    report.write_bytes(done.stdout)
    code = done.returncode
    print(done.stderr.decode("utf-8", "replace"), end="")
    annotate(stepscope("check", "--format", "github", "--fail-on", "never", "--", *files).stdout)
    summary = stepscope("check", "--format", "markdown", "--fail-on", "never", "--", *files).stdout
    append("GITHUB_STEP_SUMMARY", shortened(summary.decode("utf-8", "replace"), LONGEST_SUMMARY))
    if setting("PAGES"):
        pages(Path(setting("PAGES")), files)
    if setting("BASELINE"):
        if len(files) == 1:
            code = max(code, compared(setting("BASELINE"), files[0]))
        else:
            print("::error::baseline compares one path: give one in paths")
            code = FAILED
    append("GITHUB_OUTPUT", f"code={code}\nreport={'true' if done.stdout else 'false'}\n")


def result() -> None:
    """End as the check ended, after everything was handed over."""
    code = int(setting("CODE") or FAILED)
    if code == FOUND:
        print("there are findings or regressions: see the annotations and the summary of this job")
    elif code:
        print("something could not be read or compared: see the step before")
    sys.exit(code)


if __name__ == "__main__":
    {"key": key, "install": install, "check": check, "result": result}[sys.argv[1]]()
