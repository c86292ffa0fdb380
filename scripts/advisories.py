#!/usr/bin/env python3
"""Compare Cargo.lock with the advisories that are kept in scripts/advisories.txt.

For where the database of advisories cannot be fetched. Whoever has it writes the list anew:

    scripts/advisories.py --from FOLDER_OF_ADVISORY_DB

Exits with 1 if a library has a version with an advisory, and says which libraries are newer than the list.
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "advisories.txt"


def locked():
    """Yields name and version of every library."""
    text = (ROOT / "Cargo.lock").read_text()
    for package in text.split("[[package]]")[1:]:
        if 'source = "registry' in package:
            yield tuple(re.search(rf'^{key} = "([^"]+)"', package, re.M)[1] for key in ("name", "version"))


def number(version):
    """Turns a version into what can be compared: one before a release is less than it."""
    release, _, before = version.partition("+")[0].partition("-")
    parts = [int(part) for part in release.split(".")]
    return (*parts, *[0] * (3 - len(parts)), not before, before)


def next_breaking(version):
    parts = number(version)[:3]
    place = next((n for n, part in enumerate(parts) if part), 2)
    return (*parts[:place], parts[place] + 1, *[0] * (2 - place), False, "")


def meets(version, requirement):
    """Tells whether a version meets a requirement, such as `>= 1.2, < 2`."""
    own = number(version)
    for part in requirement.split(","):
        sign, other = re.fullmatch(r"\s*([<>=^]*)\s*(\S+)\s*", part).groups()
        least = number(other)
        if not {
            ">=": own >= least,
            ">": own > least,
            "<": own < least,
            "<=": own <= least,
            "=": own == least,
        }.get(sign, least <= own < next_breaking(other)):
            return False
    return True


def write(folder):
    """Writes the list of the libraries of Cargo.lock, of a checked out database of advisories."""
    import tomllib

    date = subprocess.run(["git", "-C", folder, "log", "-1", "--format=%cs"], capture_output=True, text=True, check=True)
    lines = [f"# Advisories of {date.stdout.strip()}: a library, then each advisory with the versions that it leaves alone."]
    for name in sorted({name for name, _ in locked()}):
        lines.append(name)
        for file in sorted((pathlib.Path(folder) / "crates" / name).glob("*.md")):
            advisory = tomllib.loads(re.search(r"```toml\n(.*?)```", file.read_text(), re.S)[1])
            if "withdrawn" not in advisory["advisory"]:
                versions = advisory.get("versions", {})
                safe = versions.get("patched", []) + versions.get("unaffected", [])
                lines.append(f"  {advisory['advisory']['id']} {'; '.join(safe)}".rstrip())
    LIST.write_text("\n".join(lines) + "\n")


def check():
    """Returns the exit code."""
    head, *lines = LIST.read_text().splitlines()
    date = datetime.date.fromisoformat(re.search(r"\d{4}-\d\d-\d\d", head)[0])
    known = {}
    for line in lines:
        if line.startswith(" "):
            advisory, _, safe = line.strip().partition(" ")
            known[name].append((advisory, [one.strip() for one in safe.split(";") if one.strip()]))
        else:
            name = line.strip()
            known[name] = []
    found = [
        f"{name} {version}: {advisory}"
        for name, version in locked()
        for advisory, safe in known.get(name, [])
        if not any(meets(version, one) for one in safe)
    ]
    newer = sorted({name for name, _ in locked()} - known.keys())
    print(f"advisories of {date}: {len(found)} for the libraries of Cargo.lock")
    if newer:
        print(f"not in the list: {', '.join(newer)}")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", help="write the list anew, of a checked out database of advisories")
    folder = parser.parse_args().folder
    sys.exit(write(folder) if folder else check())
