"""Where the program is, and how it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence

_NAME = "stepscope" + (sysconfig.get_config_var("EXE") or "")


class StepscopeError(RuntimeError):
    """The program could not do what was asked; the text is what it said, ``code`` what it ended with."""

    def __init__(self, words: str, code: int | None = None) -> None:
        super().__init__(words)
        self.code = code


def program() -> str:
    """The path of the program: ``$STEPSCOPE_PROGRAM``, else the one that was installed with this package, else the one
    on ``$PATH``."""
    named = os.environ.get("STEPSCOPE_PROGRAM")
    if named:
        return named
    package = os.path.dirname(os.path.abspath(__file__))
    schemes = [sysconfig.get_path("scripts")]
    user = sysconfig.get_preferred_scheme("user")
    if user in sysconfig.get_scheme_names():
        schemes.append(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target DIR` and `--prefix DIR` put it beside the package.
    schemes += [
        os.path.join(os.path.dirname(package), "bin"),
        os.path.normpath(os.path.join(package, *[os.pardir] * 4, "bin")),
    ]
    for folder in schemes:
        path = os.path.join(folder, _NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which(_NAME)
    if found:
        return found
    raise StepscopeError(
        "the stepscope program is not installed for this interpreter. The wheel holds it where there is one for this "
        "platform; elsewhere runs are recorded without it, and a program that cargo built is named in STEPSCOPE_PROGRAM"
    )


def run(arguments: Sequence[str], *, stdin: bytes | None = None) -> bytes:
    """What the program prints. It fails with what the program said, unless that ended with code 0."""
    done = ended(arguments, stdin=stdin)
    if done.returncode != 0:
        raise StepscopeError(said(done.stderr, done.returncode), done.returncode)
    return done.stdout


def ended(arguments: Sequence[str], *, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """What the program printed and ended with."""
    return subprocess.run(
        [program(), *arguments],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        check=False,
    )


def said(stderr: bytes, code: int) -> str:
    """What went wrong, in the program's words."""
    words = stderr.decode("utf-8", "replace").strip()
    return words or f"stepscope ended with code {code}"


def main() -> None:
    """Become the program: ``python -m stepscope``."""
    try:
        path = program()
    except StepscopeError as error:
        sys.exit(f"stepscope: {error}")
    if os.name == "posix":
        os.execv(path, [path, *sys.argv[1:]])
    sys.exit(subprocess.call([path, *sys.argv[1:]]))
