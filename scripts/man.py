"""Manual pages of the program, made from what it says of itself: man.py PROGRAM FOLDER"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def said(program: str, *words: str) -> str:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True, env={"COLUMNS": "100"})
    return done.stdout


def roff(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def page(program: str, command: str | None) -> str:
    version = said(program, "--version").split()[1]
    name = f"stepscope-{command}" if command else "stepscope"
    text = said(program, *([command] if command else []), "--help")
    about, _, rest = text.partition("\n\nUsage:")
    first = about.splitlines()[0].rstrip(".")
    out = [f'.TH {roff(name.upper())} 1 "" "stepscope {version}"', ".SH NAME", f"{roff(name)} \\- {roff(first)}"]
    usage, _, body = rest.partition("\n\n")
    paragraphs = "\n.PP\n".join(roff(paragraph) for paragraph in about.split("\n\n"))
    out += [".SH SYNOPSIS", ".nf", roff(usage.strip()), ".fi", ".SH DESCRIPTION", paragraphs]
    for block in re.split(r"\n(?=\S[^\n]*:\n)", "\n" + body):
        title, colon, lines = block.strip("\n").partition(":\n")
        if colon and lines.startswith("  "):
            out += [f".SH {roff(title.upper())}", ".nf", roff(lines), ".fi"]
        elif block.strip():
            out += [".PP", ".nf", roff(block.strip("\n")), ".fi"]
    return "\n".join(out) + "\n"


def main(program: str, folder: str) -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    # The commands stand by job, between the usage and the exit codes.
    commands = said(program, "--help").partition("\nLook:\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in commands.splitlines() if re.match(r"  \w", line)]
    for command in [None, *(name for name in names if name != "help")]:
        name = f"stepscope-{command}" if command else "stepscope"
        (target / f"{name}.1").write_text(page(program, command))


if __name__ == "__main__":
    main(*sys.argv[1:])
