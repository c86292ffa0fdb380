#!/usr/bin/env python3
"""Finish wheels: wheel.py add WHEEL FILE   puts a licence file into a wheel
wheel.py pure WHEEL FOLDER   makes one of it for any platform, which records runs and has no program

`pip` takes the wheel that fits best: the pure one only where there is no other.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

Entries = list[tuple[zipfile.ZipInfo, bytes]]


def read(wheel: Path) -> Entries:
    with zipfile.ZipFile(wheel) as archive:
        return [(info, archive.read(info)) for info in archive.infolist()]


def about(entries: Entries) -> str:
    """The folder with what a wheel says of itself."""
    return next(info.filename.partition("/")[0] for info, _ in entries if info.filename.endswith(".dist-info/WHEEL"))


def write(wheel: Path, entries: Iterable[tuple[zipfile.ZipInfo, bytes]]) -> None:
    """Write a wheel, with the list of its files made anew."""
    listed = list(entries)
    record = f"{about(listed)}/RECORD"
    lines = []
    hidden = wheel.with_suffix(".part")
    with zipfile.ZipFile(hidden, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in listed:
            if info.filename == record:
                continue
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{info.filename},sha256={digest},{len(data)}\n")
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
        archive.writestr(like(listed[0][0], record), "".join([*lines, f"{record},,\n"]), zipfile.ZIP_DEFLATED)
    hidden.replace(wheel)


def like(other: zipfile.ZipInfo, name: str) -> zipfile.ZipInfo:
    """An entry with the date of another one, so that the same input gives the same bytes."""
    info = zipfile.ZipInfo(name, other.date_time)
    info.external_attr = 0o100644 << 16
    return info


def add(wheel: Path, file: Path) -> None:
    entries = read(wheel)
    name = f"{about(entries)}/licenses/{file.name}"
    kept = [(info, data) for info, data in entries if info.filename != name]
    write(wheel, [*kept, (like(entries[0][0], name), file.read_bytes())])


def pure(wheel: Path, folder: Path) -> Path:
    entries = read(wheel)
    folder_of_about = about(entries)
    kept: Entries = []
    for info, data in entries:
        # What is left out belongs to the program.
        if re.search(r"\.data/scripts/|\.dist-info/(sboms/|licenses/THIRD-PARTY)", info.filename):
            continue
        if info.filename == f"{folder_of_about}/WHEEL":
            text = re.sub(r"^Root-Is-Purelib: .*$", "Root-Is-Purelib: true", data.decode(), flags=re.M)
            text = re.sub(r"^Tag: .*\n", "", text, flags=re.M).rstrip("\n") + "\nTag: py3-none-any\n"
            data = text.encode()
        kept.append((info, data))
    made = folder / re.sub(r"-py3-none-.*\.whl$", "-py3-none-any.whl", wheel.name)
    write(made, kept)
    return made


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["add"] and len(words) == 3:
        add(Path(words[1]), Path(words[2]))
    elif words[:1] == ["pure"] and len(words) == 3:
        print(pure(Path(words[1]), Path(words[2])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
