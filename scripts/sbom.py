"""The bill of materials of the program, CycloneDX 1.5: sbom.py > stepscope.cdx.json

From `cargo metadata --locked` alone, so that the same lock file gives the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from licences import host, linked

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host()]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    packages = {each["id"]: each for each in metadata["packages"]}
    lock = re.findall(r'name = "(.+)"\nversion = "(.+)"\n(?:source = .+\n)?(?:checksum = "(.+)")?', (ROOT / "Cargo.lock").read_text())
    sums = {(name, version): checksum for name, version, checksum in lock if checksum}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    # What is built into the program: no tools of tests and builds.
    used: set[str] = set()
    waiting: list[str] = [metadata["resolve"]["root"]]
    while waiting:
        each = waiting.pop()
        if each not in used:
            used.add(each)
            waiting += [one["pkg"] for one in nodes[each]["deps"] if any(kind["kind"] is None for kind in one["dep_kinds"])]
    # Features of tests bring in more than is built.
    built = linked(host())
    used = {each for each in used if (packages[each]["name"], packages[each]["version"]) in built}
    reference = {each: f"pkg:cargo/{packages[each]['name']}@{packages[each]['version']}" for each in used}
    component: list[dict[str, Any]] = []
    for each in sorted(used, key=reference.__getitem__):
        package = packages[each]
        entry = {"type": "library", "bom-ref": reference[each], "name": package["name"], "version": package["version"], "purl": reference[each]}
        if package.get("license"):
            entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if (package["name"], package["version"]) in sums:
            entry["hashes"] = [{"alg": "SHA-256", "content": sums[package["name"], package["version"]]}]
        component.append(entry)
    root = reference[metadata["resolve"]["root"]]
    about: dict[str, Any] = {"component": {**next(one for one in component if one["bom-ref"] == root), "type": "application"}}
    if "SOURCE_DATE_EPOCH" in os.environ:
        moment = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
        about["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    needs = [
        {"ref": reference[each], "dependsOn": sorted(reference[one["pkg"]] for one in nodes[each]["deps"] if one["pkg"] in used)}
        for each in sorted(used, key=reference.__getitem__)
    ]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": about, "components": [one for one in component if one["bom-ref"] != root], "dependencies": needs}
    json.dump(bill, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
