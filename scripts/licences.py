#!/usr/bin/env python3
"""The licences of all libraries that are linked into the program: licences.py [--target TRIPLE] [--deb] > THIRD-PARTY.txt

From the lock file and the sources of the libraries, as cargo fetched them. A library without a text, or with a licence that
deny.toml does not know, ends it with 1. --deb writes the copyright file of the Debian package: ours, and then theirs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IS_LICENCE = re.compile(r"(?i)^(licen[cs]es?|copying|copyright|unlicense|notice)([.-].*)?$")
# What a library says of itself goes with it, whichever of its licences is taken.
IS_NOTICE = re.compile(r"(?i)^(copyright|notice|license-third-party|license-other-bits|licenses$)")
# Short ones come first: a library under several may be taken under any.
PREFERRED = ("MIT", "BSD", "ISC", "ZLIB", "APACHE")
RULE = "-" * 80

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""

BSD_3 = """Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following
disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
disclaimer in the documentation and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products
derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,
WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF
THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE."""

# For libraries whose package lacks the text that it names.
STANDARD = {"MIT": MIT, "BSD-3-Clause": BSD_3}


@dataclass(frozen=True, order=True)
class Library:
    name: str
    version: str
    licence: str
    texts: tuple[str, ...]


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout


def host() -> str:
    said = subprocess.run(["rustc", "-vV"], capture_output=True, check=True, text=True).stdout
    found = re.search(r"^host: (.+)$", said, re.M)
    assert found is not None
    return found[1]


def linked(target: str) -> set[tuple[str, str]]:
    """Name and version of what is linked into the program; macros run when it is built and are no part of it."""
    edges = ("-e", "normal,no-proc-macro")
    tree = cargo("tree", "--locked", "-p", "stepscope", *edges, "--target", target, "--prefix", "none", "--format", "{p}")
    return {(name, version) for name, version in re.findall(r"^(\S+) v(\S+)", tree, re.M)}


def files(folder: Path) -> list[Path]:
    """The licence files of a library, and of the C sources that it brings along."""
    found = [each for each in sorted(folder.iterdir()) if IS_LICENCE.match(each.name)]
    if folder.name.rpartition("-")[0].endswith("-sys"):
        found += sorted(each for each in folder.glob("*/*") if IS_LICENCE.match(each.name))
    # `LICENSES` may be a folder.
    return [each for place in found for each in ([place] if place.is_file() else sorted(place.glob("*")))]


def texts(package: dict[str, object]) -> tuple[str, ...]:
    licence = str(package["license"])
    found = files(Path(str(package["manifest_path"])).parent)
    notices = [each for each in found if IS_NOTICE.match(each.name)]
    others = [each for each in found if each not in notices]
    offered = [part.strip(" ()") for part in re.split(r"\bOR\b|/", licence)]
    if len(offered) > 1 and not re.search(r"\bAND\b", licence):
        for word in PREFERRED:
            taken = [each for each in others if word in each.name.upper()]
            if taken and any(word in part.upper() for part in offered):
                others = taken
                break
    read = [each.read_text("utf-8", "replace").strip() for each in [*others, *notices]]
    standard = next((part for part in offered if part in STANDARD), None)
    if not read and standard is not None and not re.search(r"\bAND\b", licence):
        authors = package["authors"]
        named = ", ".join(re.sub(r" *<.*?>", "", each) for each in authors) if isinstance(authors, list) else ""
        read = [f"Copyright (c) {named or 'the authors of ' + str(package['name'])}\n\n{STANDARD[standard]}"]
    return tuple(read)


def known_licences() -> set[str]:
    """What deny.toml allows."""
    text = (ROOT / "deny.toml").read_text("utf-8").split("[licenses]")[1].split("\n[")[0]
    return set(re.findall(r'^ *"([^"]+)",$', text, re.M)) | set(re.findall(r'allow = \["([^"]+)"\]', text))


def is_known(licence: str, known: set[str]) -> bool:
    """Whether one of the licences that are offered is allowed, with all of its parts."""

    def allowed(part: str) -> bool:
        return all(one.strip(" ()") in known for one in part.split(" AND "))

    if " AND " in licence and " OR " in licence:
        return all(is_known(part.strip(" ()"), known) for part in re.split(r" AND (?![^(]*\))", licence))
    return any(allowed(part) for part in re.split(r" OR |/", licence))


def libraries(target: str) -> Iterator[Library]:
    packages = json.loads(cargo("metadata", "--locked", "--format-version", "1"))["packages"]
    used = linked(target)
    for package in packages:
        # Those of the workspace are ours.
        if package["source"] is not None and (package["name"], package["version"]) in used:
            yield Library(package["name"], package["version"], package["license"] or "", texts(package))
    version = subprocess.run(["rustc", "--version"], capture_output=True, check=True, text=True).stdout.split()[1]
    rust = f"Copyright (c) The Rust Project Contributors\n\n{MIT}"
    yield Library("Rust standard library", version, "MIT OR Apache-2.0", (rust,))


def faults(found: list[Library]) -> Iterator[str]:
    known = known_licences()
    for each in found:
        if not each.texts:
            yield f"{each.name} {each.version} ({each.licence}): there is no text"
        if not is_known(each.licence, known):
            yield f"{each.name} {each.version}: deny.toml does not know {each.licence}"


def written(found: list[Library]) -> str:
    """Each text once, behind the names of the libraries that have it."""
    names: dict[tuple[str, ...], list[str]] = {}
    for each in sorted(found):
        names.setdefault(each.texts, []).append(f"{each.name} {each.version} ({each.licence})")
    head = (
        "The program stepscope contains these libraries. What they are called and under which licence they are comes before\n"
        "its text. The source of each is the package of that name and version in Cargo's registry, unchanged."
    )
    parts = [f"{RULE}\n" + "\n".join(group) + f"\n{RULE}\n\n" + "\n\n".join(each) for each, group in names.items()]
    return "\n\n".join([head, *parts]) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--target", help="the platform [default: this one]")
    options.add_argument("--deb", action="store_true", help="the copyright file of the Debian package")
    given = options.parse_args()
    found = list(libraries(given.target or host()))
    wrong = list(faults(found))
    if wrong:
        sys.exit("\n".join(wrong))
    if given.deb:
        ours = (ROOT / "LICENSE-MIT").read_text("utf-8").strip()
        print("stepscope is by the stepscope authors, under the terms of MIT or Apache-2.0, at your option.\n")
        print(f"MIT:\n\n{ours}\n\nApache-2.0: see /usr/share/common-licenses/Apache-2.0\n")
    sys.stdout.write(written(found))


if __name__ == "__main__":
    main()
