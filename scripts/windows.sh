#!/usr/bin/env bash
# The program for Windows, compiled from here, and its commands tried beside what other systems say: scripts/windows.sh [--try]
#
# It needs the target and its C compiler (rustup target add x86_64-pc-windows-gnu; Debian: apt install gcc-mingw-w64-x86-64).
# --try runs tests/commands.rs with that program by wine (version 9 or newer; Debian: apt install wine64), whose drive Z has the
# files of this system.
set -euo pipefail
cd "$(dirname "$0")/.."
target=x86_64-pc-windows-gnu
linker=x86_64-w64-mingw32-gcc
skip() { printf 'skipped: %s\n' "$1" >&2; exit 0; }

[ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] || skip "rustup target add $target"
command -v "$linker" >/dev/null || skip "no $linker: apt install gcc-mingw-w64-x86-64"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$linker
if [ "${1:-}" != --try ]; then
  exec cargo check --locked --quiet --target "$target" --bin stepscope
fi

# Rust asks a library of Windows for random numbers that older versions of wine do not have.
wine=${WINE:-wine}
version=$("$wine" --version 2>/dev/null | sed -n 's/^wine-\([0-9]*\).*/\1/p')
[ "${version:-0}" -ge 9 ] || skip "no wine of version 9 or newer"
kept=$(mktemp -d)
trap 'rm -r "$kept"' EXIT
cargo build --locked --target "$target" --bin stepscope
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$wine" "${CARGO_TARGET_DIR:-$PWD/target}/$target/debug/stepscope.exe" >"$kept/stepscope"
chmod +x "$kept/stepscope"
# What this system says is kept, and compared with what Windows says.
export STEPSCOPE_KEPT=$kept WINEDEBUG=${WINEDEBUG:--all}
cargo test --locked --test commands
STEPSCOPE_PROGRAM=$kept/stepscope STEPSCOPE_WITHOUT_SCREEN=1 cargo test --locked --test commands
