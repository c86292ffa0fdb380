#!/usr/bin/env python3
"""Check what `cargo publish` would send: packages.py [--verify] [FOLDER]

Every crate says who made it and what it is for, its archive holds every file that its code includes, and CHANGELOG.md has
its headings. With --verify, what is in the archives is compiled too, without the rest of the repository. FOLDER is another
workspace, for the tests of this script.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
INCLUDES = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"')
# What crates of tests read stays in the repository.
TESTS = re.compile(r"^(tests|benches|examples)/|(^|/)tests(/|\.rs$)")
MOST_KEYWORDS, LONGEST_KEYWORD = 5, 20
MOST_POINTS_OF_FIRST_RELEASE = 12


def cargo(root: Path, *arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], cwd=root, capture_output=True, check=True, text=True).stdout


def packages(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cargo(root, "metadata", "--no-deps", "--format-version", "1"))["packages"]
    return [package for package in found if package["publish"] != []]


def metadata_faults(package: dict[str, Any]) -> Iterator[str]:
    for field in ("description", "license", "authors", "keywords", "categories", "readme", "rust_version"):
        if not package[field]:
            yield f"has no {field}"
    if len(package["keywords"]) > MOST_KEYWORDS or any(len(word) > LONGEST_KEYWORD for word in package["keywords"]):
        yield "has keywords that are too many or too long"
    if "docs" not in (package["metadata"] or {}):
        yield "says nothing to docs.rs"
    readme = Path(package["manifest_path"]).parent / (package["readme"] or "README.md")
    if package["name"] != "stepscope" and not (readme.is_file() and "Internal" in readme.read_text("utf-8")):
        yield "does not say in its README that it is internal"


def without_tests(source: str) -> str:
    return source.split("#[cfg(test)]\nmod tests {")[0]


def included(folder: Path, listed: list[str]) -> Iterator[tuple[str, str]]:
    """The files that the code of an archive includes, each with the file that does."""
    for name in listed:
        if not name.endswith(".rs") or TESTS.search(name):
            continue
        for path in INCLUDES.findall(without_tests((folder / name).read_text("utf-8"))):
            target = os.path.normpath(os.path.join(os.path.dirname(name), path))
            yield name, target.replace(os.sep, "/")


def archive_faults(root: Path, package: dict[str, Any]) -> Iterator[str]:
    folder = Path(package["manifest_path"]).parent
    listed = cargo(root, "package", "--quiet", "--list", "--allow-dirty", "-p", package["name"]).splitlines()
    for name, target in included(folder, listed):
        if target not in listed:
            yield f"{name} includes {target}, which is not in the archive"
    for name in listed:
        if re.match(r"(tests/fixtures|target)/", name):
            yield f"{name} is in the archive"
    if not any(name.endswith(".rs") for name in listed):
        yield "has no code in its archive"


def changelog_faults(text: str) -> Iterator[str]:
    """`Unreleased` comes first and is sorted by kind; the first release is told in a few points."""
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    names = [section.partition("\n")[0] for section in sections]
    if names[-1:] != ["0.1.0"] or (len(names) > 1 and names[0] != "Unreleased"):
        yield f"CHANGELOG.md has the headings {', '.join(names)}: Unreleased comes first, 0.1.0 last"
    for name, section in zip(names, sections):
        kinds = re.findall(r"^### (.+)$", section, re.M)
        if any(kind not in ("Added", "Changed", "Fixed", "Removed") for kind in kinds):
            yield f"CHANGELOG.md has other headings than Added, Changed, Fixed and Removed below {name}"
        if name == "0.1.0" and len(re.findall(r"^- ", section, re.M)) > MOST_POINTS_OF_FIRST_RELEASE:
            yield f"CHANGELOG.md has more than {MOST_POINTS_OF_FIRST_RELEASE} points below 0.1.0"


def check_archives(root: Path, names: list[str]) -> None:
    """Compile what was unpacked from the archives as one workspace.

    `cargo package` itself would compile each crate, with all that it needs, by itself: an hour on two cores.
    """
    cargo(root, "package", "--quiet", "--workspace", "--no-verify", "--locked", "--allow-dirty")
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")).resolve()
    unpacked = target / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir(parents=True)
    for name in names:
        with tarfile.open(target / "package" / f"{name}.crate") as archive:
            archive.extractall(unpacked, filter="data")
    manifest = ["[workspace]", 'resolver = "3"', f"members = {json.dumps(names)}", "[patch.crates-io]"]
    manifest += [f"{name.rsplit('-', 1)[0]} = {{ path = {json.dumps(name)} }}" for name in names]
    (unpacked / "Cargo.toml").write_text("\n".join(manifest) + "\n", "utf-8")
    shutil.copy(root / "Cargo.lock", unpacked)
    shared = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(["cargo", "check", "--quiet", "--workspace"], cwd=unpacked, env=shared, check=True)
    print(f"{len(names)} crates compile from their archives alone")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--verify", action="store_true", help="compile what is in the archives")
    options.add_argument("folder", nargs="?", type=Path, default=ROOT)
    given = options.parse_args()
    faults: list[str] = []
    found = packages(given.folder)
    for package in found:
        every = [*metadata_faults(package), *archive_faults(given.folder, package)]
        faults += [f"{package['name']}: {fault}" for fault in every]
    for field in ("version", "license", "authors", "repository", "rust_version"):
        if len({json.dumps(package[field]) for package in found}) > 1:
            faults.append(f"the crates differ in their {field}: take it from [workspace.package]")
    changelog = given.folder / "CHANGELOG.md"
    if changelog.exists():
        faults += changelog_faults(changelog.read_text("utf-8"))
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    if faults:
        sys.exit(1)
    print(f"{len(found)} crates can be packed")
    if not all(package["repository"] for package in found):
        print("they have no address yet: `repository` in Cargo.toml is empty")
    if given.verify:
        check_archives(given.folder, [f"{package['name']}-{package['version']}" for package in found])


if __name__ == "__main__":
    main()
