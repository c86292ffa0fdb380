"""What is handed out: packages, the hook and the action."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@unittest.skipUnless(shutil.which("cargo"), "cargo is not installed")
class Packages(unittest.TestCase):
    def run_script(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "scripts/packages.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_every_crate_can_be_packed(self) -> None:
        done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("crates can be packed", done.stdout)

    def test_a_file_outside_of_the_archive_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            crate = Path(folder) / "crate"
            (crate / "src").mkdir(parents=True)
            (Path(folder) / "outside.txt").write_text("")
            (crate / "inside.txt").write_text("")
            (crate / "Cargo.toml").write_text('[package]\nname = "one"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n')
            code = (
                'const A: &str = include_str!("../../outside.txt");\nconst B: &str = include_str!("../inside.txt");\n'
                '#[cfg(test)]\nmod tests {\n const C: &str = include_str!("../../tests.txt");\n}\n'
            )
            (crate / "src/lib.rs").write_text(code)
            done = self.run_script(str(crate))
        self.assertEqual(done.returncode, 1, done.stdout)
        said = [line for line in done.stderr.splitlines() if "includes" in line]
        self.assertEqual(said, ["one: src/lib.rs includes ../outside.txt, which is not in the archive"])
        self.assertIn("one: has no license", done.stderr)
        self.assertIn("one: does not say in its README that it is internal", done.stderr)


class Changelog(unittest.TestCase):
    def test_headings_are_looked_at(self) -> None:
        faults = script("packages").changelog_faults
        self.assertEqual(list(faults((ROOT / "CHANGELOG.md").read_text("utf-8"))), [])
        first = "## 0.1.0\n" + "- one\n" * 10
        self.assertEqual(list(faults(f"# Changelog\n\n## Unreleased\n\n### Fixed\n- x\n\n{first}")), [])
        self.assertEqual(len(list(faults(f"{first}## Unreleased\n"))), 1)
        self.assertEqual(len(list(faults(f"## Unreleased\n\n### New\n- x\n{first}"))), 1)
        self.assertEqual(len(list(faults("## 0.1.0\n" + "- one\n" * 13))), 1)


if __name__ == "__main__":
    unittest.main()
