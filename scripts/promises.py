#!/usr/bin/env python3
"""Run the tests that docs/security.md names, and tell of each promise whether it holds.

    scripts/promises.py                 # the whole page
    scripts/promises.py "P15" "P17"     # those below headings that hold one of these words

Exits with 1 if a test fails or does not run. Whatever stands behind `--` goes to `cargo test`.
Python's standard library only.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "security.md"
# A test is named in code marks, alone or behind its modules; a name has two underscores at least.
TEST = re.compile(r"`(?:\w+::)*([a-z0-9]+(?:_[a-z0-9]+){2,})`")
OUTCOME = re.compile(r"^test (?:\w+::)*(\w+)(?: - should panic)? \.\.\. (\w+)", re.M)


def promises(page, wanted):
    """Yields heading, promise and tests of each row of a table, and of each test that a paragraph names."""
    heading = ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif wanted and not any(word in heading for word in wanted):
            continue
        elif line.startswith("| "):
            cells = [cell.strip() for cell in line.strip(" |").split(" | ")]
            tests = TEST.findall(cells[-1])
            if tests:
                yield heading, " ".join(cells[:-1]), tests
        else:
            for test in TEST.findall(line):
                yield heading, test.replace("_", " "), [test]


def outcomes(tests, options):
    """Runs tests by name, each at its last word, and returns what is said of each."""
    command = ["cargo", "test", "--locked", "--no-fail-fast", "--quiet", "--workspace", "--lib", "--bins", "--tests", *options]
    build = subprocess.run([*command, "--no-run"], cwd=ROOT, check=False)
    if build.returncode:
        sys.exit(build.returncode)
    command.remove("--quiet")
    ran = subprocess.run([*command, "--", *tests], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    said = {}
    for name, outcome in OUTCOME.findall(ran.stdout):
        # Several tests may have one name: it holds if all of them do.
        said[name] = outcome if said.get(name, "ok") == "ok" else said[name]
    return said, ran.stdout


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    rows = list(promises(PAGE.read_text(), arguments[:split]))
    if not rows:
        sys.exit("no such heading in docs/security.md")
    tests = sorted({test for _, _, named in rows for test in named})
    print(f"{len(rows)} promises, {len(tests)} tests", flush=True)
    said, output = outcomes(tests, arguments[split + 1 :])
    last, broken = None, 0
    for heading, promise, named in rows:
        if heading != last:
            print(f"\n{heading}")
            last = heading
        missing = [f"{test}: {said.get(test, 'did not run')}" for test in named if said.get(test) != "ok"]
        broken += bool(missing)
        print(f"  {'FAILED' if missing else 'holds '}  {promise}")
        for line in missing:
            print(f"          {line}")
    print(f"\n{len(rows) - broken} of {len(rows)} promises hold")
    if broken:
        print("".join(re.findall(r"^---- .*?(?=^----|^failures:)", output, re.M | re.S)))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
