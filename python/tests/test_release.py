"""What is handed out: packages, the hook and the action."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from types import ModuleType

from support import ROOT

import stepscope

RUNS = ROOT / "sample_runs/word_problems.jsonl"
BASELINE = ROOT / "sample_runs/baseline.jsonl"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
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


@unittest.skipUnless(shutil.which("cargo"), "cargo is not installed")
class Licences(unittest.TestCase):
    def test_every_linked_library_has_its_text(self) -> None:
        licences = script("licences")
        target = licences.host()
        found = list(licences.libraries(target))
        self.assertEqual(list(licences.faults(found)), [])
        named = {(each.name, each.version) for each in found}
        own = {package["name"] for package in script("packages").packages(ROOT)}
        linked = {each for each in licences.linked(target) if each[0] not in own}
        self.assertGreater(len(linked), 100)
        self.assertEqual(linked - named, set())
        text = licences.written(found)
        for name, version in linked:
            self.assertIn(f"\n{name} {version} (", text)
        self.assertIn("\nnucleo-matcher 0.", text)
        self.assertIn("Mozilla Public License", text)

    def test_what_is_missing_or_unknown_is_said(self) -> None:
        licences = script("licences")
        library = licences.Library
        found = [library("a", "1.0.0", "MIT", ()), library("b", "1.0.0", "GPL-3.0", ("x",)), library("c", "1.0.0", "ISC", ("x",))]
        self.assertEqual(
            list(licences.faults(found)),
            ["a 1.0.0 (MIT): there is no text", "b 1.0.0: deny.toml does not know GPL-3.0"],
        )
        known = {"MIT", "ISC", "Apache-2.0"}
        for licence, is_known in {
            "GPL-3.0 OR MIT": True, "Apache-2.0/MIT": True, "Apache-2.0 AND ISC": True, "MIT AND GPL-3.0": False,
            "(MIT OR GPL-3.0) AND ISC": True, "(GPL-2.0 OR GPL-3.0) AND ISC": False,
        }.items():  # fmt: skip
            self.assertEqual(licences.is_known(licence, known), is_known, licence)

    def test_the_bill_of_materials_lists_the_same_libraries(self) -> None:
        done = subprocess.run([sys.executable, str(ROOT / "scripts/sbom.py")], capture_output=True, check=True)
        components = {(each["name"], each["version"]) for each in json.loads(done.stdout)["components"]}
        licences = script("licences")
        linked = {each for each in licences.linked(licences.host()) if each[0] != "stepscope"}
        self.assertEqual(components, linked)


class Changelog(unittest.TestCase):
    def test_headings_are_looked_at(self) -> None:
        faults = script("packages").changelog_faults
        self.assertEqual(list(faults((ROOT / "CHANGELOG.md").read_text("utf-8"))), [])
        first = "## 0.1.0\n" + "- one\n" * 10
        self.assertEqual(list(faults(f"# Changelog\n\n## Unreleased\n\n### Fixed\n- x\n\n{first}")), [])
        self.assertEqual(len(list(faults(f"{first}## Unreleased\n"))), 1)
        self.assertEqual(len(list(faults(f"## Unreleased\n\n### New\n- x\n{first}"))), 1)
        self.assertEqual(len(list(faults("## 0.1.0\n" + "- one\n" * 13))), 1)


class Wheels(unittest.TestCase):
    NAME = "stepscope-0.0.1-py3-none-manylinux_2_17_x86_64.whl"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.wheel = self.folder / self.NAME
        files = {
            "stepscope/__init__.py": "x = 1\n",
            "stepscope-0.0.1.data/scripts/stepscope": "the program",
            "stepscope-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: stepscope\nVersion: 0.0.1\n",
            "stepscope-0.0.1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_17_x86_64\n",
            "stepscope-0.0.1.dist-info/licenses/LICENSE-MIT": "MIT",
            "stepscope-0.0.1.dist-info/sboms/stepscope.cyclonedx.json": "{}",
            "stepscope-0.0.1.dist-info/RECORD": "",
        }
        with zipfile.ZipFile(self.wheel, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)

    def test_licences_are_added_once(self) -> None:
        wheel, licences = script("wheel"), self.folder / "THIRD-PARTY.txt"
        licences.write_text("all of them")
        wheel.add(self.wheel, licences)
        before = self.wheel.read_bytes()
        wheel.add(self.wheel, licences)
        self.assertEqual(self.wheel.read_bytes(), before)
        with zipfile.ZipFile(self.wheel) as archive:
            record = archive.read("stepscope-0.0.1.dist-info/RECORD").decode().splitlines()
            self.assertEqual([line.split(",")[0] for line in record], archive.namelist())
            self.assertEqual(archive.read("stepscope-0.0.1.dist-info/licenses/THIRD-PARTY.txt"), b"all of them")
        self.assertRegex(record[0], r"^stepscope/__init__\.py,sha256=[A-Za-z0-9_-]{43},6$")

    def test_a_pure_wheel_has_no_program_and_can_be_installed(self) -> None:
        made = script("wheel").pure(self.wheel, self.folder)
        self.assertEqual(made.name, "stepscope-0.0.1-py3-none-any.whl")
        with zipfile.ZipFile(made) as archive:
            names = archive.namelist()
            tags = archive.read("stepscope-0.0.1.dist-info/WHEEL").decode()
        self.assertFalse([name for name in names if "scripts" in name or "sboms" in name])
        self.assertEqual(tags, "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        target = self.folder / "target"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target)]
        subprocess.run([*command, str(made)], check=True, capture_output=True)
        self.assertTrue((target / "stepscope/__init__.py").is_file())


class Recipes(unittest.TestCase):
    def setUp(self) -> None:
        workspace = (ROOT / "Cargo.toml").read_text("utf-8").split("[workspace.package]")[1]
        found = re.search(r'^version = "(.*)"$', workspace, re.M)
        assert found is not None
        self.version = found.group(1)

    def test_the_formula_is_of_this_version(self) -> None:
        formula = (ROOT / "packaging/homebrew/stepscope.rb").read_text("utf-8")
        self.assertEqual(set(re.findall(r"\d+\.\d+\.\d+", formula)), {self.version})
        self.assertIn(f'/releases/download/v{self.version}/stepscope-{self.version}.tar.gz"', formula)
        filled = re.findall(r"@(\w+)@", formula)
        self.assertEqual(set(filled), {"repository", "sha256"}, "the script fills in these")

    @unittest.skipUnless(shutil.which("nix-instantiate"), "nix is not installed")
    def test_the_package_of_nix_is_of_this_version(self) -> None:
        given = """{
            lib = {
                importTOML = path: builtins.fromTOML (builtins.readFile path); cleanSource = toString;
                optionalString = holds: text: if holds then text else ""; licenses = { mit = 1; asl20 = 2; };
                platforms.unix = [ ];
            };
            stdenv = { buildPlatform.canExecute = _: true; hostPlatform = { }; };
            rustPlatform.buildRustPackage = package: package; installShellFiles = 1;
        }"""
        expression = f"(import {ROOT}/packaging/nix/package.nix {given}).version"
        done = subprocess.run(["nix-instantiate", "--eval", "-E", expression], capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout.strip(), done.stderr), (f'"{self.version}"', ""))

    def test_the_package_of_nix_takes_version_and_lock_file_from_the_workspace(self) -> None:
        package = (ROOT / "packaging/nix/package.nix").read_text("utf-8")
        for each in ("importTOML ../../Cargo.toml", "lockFile = ../../Cargo.lock", "inherit (about) version;"):
            self.assertIn(each, package)
        self.assertEqual(re.findall(r"\d+\.\d+\.\d+", package), [])
        self.assertIn("callPackage ./packaging/nix/package.nix", (ROOT / "flake.nix").read_text("utf-8"))


class WheelRecipes(unittest.TestCase):
    """scripts/wheels.sh with programs that only say how they were called."""

    def run_script(self, host: str, installed: str = "", *, sources: bool = False, **settings: str) -> tuple[list[str], str]:
        with tempfile.TemporaryDirectory() as folder:
            programs = {
                "rustc": f"[ $1 = --print ] && echo {folder}/rust || echo 'host: {host}'",
                "zig": "true",
                "maturin": f'echo "${{RUSTC_BOOTSTRAP:+std:$RUSTFLAGS }}$@" >>{folder}/said; mkdir -p {folder}/out/making; touch {folder}/out/making/one-$$.whl',
                "python3": 'case "$1" in -c) exit 0 ;; esac',
            }
            library = Path(folder) / "rust/lib/rustlib"
            for target in installed.split():
                (library / target / "lib").mkdir(parents=True)
            if sources:
                (library / "src/rust/library").mkdir(parents=True)
                (library / "src/rust/library/Cargo.lock").touch()
            (Path(folder) / "bin").mkdir()
            for name, text in programs.items():
                path = Path(folder) / "bin" / name
                path.write_text(f"#!/bin/sh\n{text}\n")
                path.chmod(0o755)
            search = os.pathsep.join([f"{folder}/bin", os.environ["PATH"]])
            environment = {**os.environ, "PATH": search, "MATURIN": "maturin", **settings}
            command = ["bash", str(ROOT / "scripts/wheels.sh"), f"{folder}/out"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = (Path(folder) / "said").read_text().replace(folder, "").splitlines()
            self.assertEqual(len(list((Path(folder) / "out").glob("*.whl"))), len(said))
        return said, done.stderr

    def test_linux(self) -> None:
        targets = "aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl"
        said, skipped = self.run_script(
            "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu x86_64-unknown-linux-musl", STEPSCOPE_TARGETS=targets
        )
        common = "build --locked --profile dist --out /out/making --target"
        self.assertEqual(said, [
            f"{common} x86_64-unknown-linux-gnu --zig --compatibility manylinux_2_17",
            f"{common} aarch64-unknown-linux-gnu --zig --compatibility manylinux_2_17",
            f"{common} x86_64-unknown-linux-musl --zig --compatibility musllinux_1_2",
        ])  # fmt: skip
        self.assertIn("skipped: no wheel for aarch64-unknown-linux-musl: rustup target add", skipped)
        # Where no library of a target was installed, it is built, and zig begins the program.
        said, skipped = self.run_script("x86_64-unknown-linux-gnu", sources=True, STEPSCOPE_TARGETS=targets)
        self.assertEqual([line.partition("build --locked")[0] for line in said], [
            "", "std: ", "std:-C link-self-contained=no ", "std:-C link-self-contained=no ",
        ])  # fmt: skip
        self.assertTrue(all(("-Z build-std=std,panic_abort" in line) == line.startswith("std:") for line in said), said)
        self.assertEqual(skipped, "")
        # What the tests built is used again.
        said, _ = self.run_script("x86_64-unknown-linux-gnu", STEPSCOPE_PROFILE="dev")
        self.assertEqual(said, ["build --locked --profile dev --out /out/making"])

    def test_others(self) -> None:
        said, _ = self.run_script("aarch64-apple-darwin", "x86_64-apple-darwin")
        self.assertEqual([line.split("making")[1] for line in said], ["", " --target x86_64-apple-darwin"])
        said, _ = self.run_script("x86_64-pc-windows-msvc")
        self.assertEqual([line.split("making")[1] for line in said], [""])


class Readme(unittest.TestCase):
    def test_every_function_that_is_named_is_there(self) -> None:
        text = (ROOT / "python/README.md").read_text("utf-8")
        named = set(re.findall(r"stepscope\.(\w+)\(", text))
        self.assertGreater(len(named), 15)
        self.assertEqual([name for name in sorted(named) if not hasattr(stepscope, name)], [])
        self.assertEqual([name for name in stepscope.__all__ if not hasattr(stepscope, name)], [])

    def test_the_first_example_needs_nothing_but_the_package(self) -> None:
        text = (ROOT / "python/README.md").read_text("utf-8").split("## The first run")[1]
        code, said = (part.split("\n", 1)[1] for part in text.split("```")[1:4:2])
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "STEPSCOPE_PROGRAM": stepscope.program()}
            if not os.environ.get("STEPSCOPE_INSTALLED"):
                environment["PYTHONPATH"] = str(ROOT / "python")
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), (said, ""))


class Hook(unittest.TestCase):
    def test_every_hook_is_one_process_of_the_wheel(self) -> None:
        hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8").split("- id: ")[1:]
        self.assertEqual([hook.split()[0] for hook in hooks], ["stepscope", "stepscope-fatal", "stepscope-compare"])
        for hook in hooks:
            for line in ("language: python", "require_serial: true", "entry: stepscope "):
                self.assertIn(f"  {line}", hook)


class Action(unittest.TestCase):
    """The steps of action.yml, as a runner calls them."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def step(self, step: str, **settings: str) -> subprocess.CompletedProcess[str]:
        files = {name: str(self.folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        path = os.pathsep.join([os.path.dirname(stepscope.program()), os.environ["PATH"]])
        environment = {**os.environ, **files, "PATH": path, "RUNNER_TEMP": str(self.folder), **settings}
        command = [sys.executable, str(ROOT / "scripts/action.py"), step]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def written(self, name: str) -> str:
        path = self.folder / name
        return path.read_text("utf-8") if path.exists() else ""

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.written("GITHUB_OUTPUT").splitlines())

    def check(self, *paths: Path, **settings: str) -> subprocess.CompletedProcess[str]:
        listed = "\n".join(["", *map(str, paths), "  "])
        return self.step("check", **{"PATHS": listed, "FAIL_ON": "warning", "SARIF": "out/report.sarif", **settings})

    def test_findings_are_annotated_summed_up_and_reported(self) -> None:
        odd = self.folder / "odd $(name) é.jsonl"
        shutil.copy(RUNS, odd)
        done = self.check(odd, PAGES=str(self.folder / "pages"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.outputs(), {"code": "1", "report": "true"})
        report = json.loads(self.written("out/report.sarif"))
        self.assertGreater(len(report["runs"][0]["results"]), 50)
        annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
        self.assertEqual(len(annotations), 50)
        self.assertRegex(annotations[0], r"^::(error|warning) file=.*,line=\d+,.*,title=[a-z_]+/[a-z_]+::")
        self.assertRegex(done.stdout, r"\d+ more findings are in the report\n$")
        self.assertIn("### stepscope check", self.written("GITHUB_STEP_SUMMARY"))
        pages = sorted(each.name for each in (self.folder / "pages").iterdir())
        self.assertEqual((len(pages), pages[0]), (20, "01-odd $(name) é.jsonl-2.html"))

    def test_nothing_found_is_a_success(self) -> None:
        clean = self.folder / "clean.jsonl"
        clean.write_text('{"prompt": "2 and 2?", "response": "4"}\n')
        done = self.check(clean)
        self.assertEqual((done.stdout, self.outputs()["code"]), ("", "0"))
        self.assertIn("1 record, no findings", self.written("GITHUB_STEP_SUMMARY"))

    def test_a_regression_fails_the_job(self) -> None:
        self.check(BASELINE, FAIL_ON="never", BASELINE=str(RUNS))
        self.assertEqual(self.outputs()["code"], "1")
        summary = self.written("GITHUB_STEP_SUMMARY")
        self.assertIn("### stepscope compare", summary)
        self.assertRegex(summary, r"\n    stepscope: \d+ regressions")

    def test_what_cannot_be_compared_or_read_fails_the_job(self) -> None:
        done = self.check(RUNS, BASELINE, FAIL_ON="never", BASELINE=str(RUNS))
        self.assertEqual(self.outputs()["code"], "2")
        self.assertIn("::error::baseline compares one path", done.stdout)
        self.check(self.folder / "nowhere.jsonl")
        self.assertEqual(self.outputs()["code"], "2")

    def test_a_name_is_no_command_and_a_report_that_cannot_be_written_no_finding(self) -> None:
        self.check(RUNS, self.folder / "$(touch made)")
        self.assertEqual((self.outputs()["code"], (self.folder / "made").exists()), ("2", False))
        (self.folder / "GITHUB_OUTPUT").unlink()
        done = self.check(RUNS, SARIF=f"{RUNS}/none.sarif")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.outputs(), {})

    def test_the_job_ends_as_the_check_did(self) -> None:
        codes = [self.step("result", CODE=code).returncode for code in ("0", "1", "2", "")]
        self.assertEqual(codes, [0, 1, 2, 2])

    def test_what_is_built_is_named_by_its_sources(self) -> None:
        keys = []
        for wheel in ("", "", "stepscope==0.1.0"):
            self.step("key", WHEEL=wheel)
            keys.append(self.outputs()["key"])
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])

    def test_a_wheel_is_installed_without_an_index(self) -> None:
        (self.folder / "stepscope-wheel").mkdir()
        wheel = self.folder / "stepscope-wheel/stepscope-0.0.1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            about = "stepscope-0.0.1.dist-info"
            program = zipfile.ZipInfo("stepscope-0.0.1.data/scripts/stepscope")
            program.external_attr = 0o100755 << 16
            archive.writestr(program, "#!/bin/sh\necho installed\n")
            archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: stepscope\nVersion: 0.0.1\n")
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")
        done = self.step("install")
        self.assertEqual(done.returncode, 0, done.stderr)
        installed = Path(self.written("GITHUB_PATH").strip()) / "stepscope"
        self.assertEqual(subprocess.run([installed], capture_output=True, text=True, check=True).stdout, "installed\n")

    def test_a_long_text_is_cut_at_a_line(self) -> None:
        action = script("action")
        self.assertEqual(action.shortened("short\n", 100), "short\n")
        self.assertEqual(action.shortened("éé\n" * 10, 12), "éé\néé\n\nand 8 more lines, in the report\n")

    def test_the_gravest_findings_are_annotated(self) -> None:
        action, said = script("action"), io.BytesIO()
        output = io.TextIOWrapper(said, write_through=True)
        lines = [b"::notice file=a::n"] * 30 + [b"::warning file=a::w"] * 30 + [b"::error file=a::e"]
        with contextlib.redirect_stdout(output):
            action.annotate(b"\n".join(lines))
        printed = said.getvalue().splitlines()
        self.assertEqual(printed[0], b"::error file=a::e")
        self.assertEqual([line[:4] for line in printed].count(b"::no"), 19)
        self.assertEqual(printed[-1], b"11 more findings are in the report")

    def test_no_setting_is_text_of_a_script(self) -> None:
        text = (ROOT / "action.yml").read_text("utf-8")
        scripts = re.findall(r"^ +run: (.*)$", text, re.M)
        self.assertEqual(len(scripts), 4)
        for each in scripts:
            self.assertRegex(each, r'^python3 "\$GITHUB_ACTION_PATH/scripts/action\.py" (key|install|check|result)$')
        self.assertEqual(len(re.findall(r"^ +uses: [a-z/-]+@v4$", text, re.M)), len(re.findall("uses:", text)))


if __name__ == "__main__":
    unittest.main()
