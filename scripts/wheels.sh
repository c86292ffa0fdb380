#!/usr/bin/env bash
# Wheels for this system, finished with the licences of the libraries: scripts/wheels.sh FOLDER
#
#   MATURIN             the maturin that builds them: maturin
#   STEPSCOPE_PROFILE   cargo's profile of the program: dist, or dev, which reuses what the tests built
#   STEPSCOPE_ZIG       1: link with zig (pip install ziglang), so that a wheel runs on Linux with glibc 2.17 and newer, or with musl
#                       1.2; 0: never. Without it, if zig is there and the profile is dist, because it builds everything once more
#   STEPSCOPE_TARGETS   more targets of Rust, for example aarch64-unknown-linux-gnu x86_64-unknown-linux-musl
#                       aarch64-unknown-linux-musl; on Linux they need zig. The standard library of each comes from
#                       rustup target add, or else is built from its sources (rustup component add rust-src)
#
# Made on Linux and tried there, also for x86_64-pc-windows-gnu, which takes the compiler of mingw-w64. The lines for a Mac, and for
# Windows itself, are what maturin needs, and were not run.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
maturin=${MATURIN:-maturin}
profile=${STEPSCOPE_PROFILE:-dist}
host=$(rustc -vV | sed -n 's/^host: //p')
made=$out/making
skip() { printf 'skipped: %s\n' "$1" >&2; }

sysroot=$(rustc --print sysroot)
has_target() { [ "$1" = "$host" ] || [ -d "$sysroot/lib/rustlib/$1/lib" ]; }
has_sources() { [ -f "$sysroot/lib/rustlib/src/rust/library/Cargo.lock" ]; }

# A wheel for a target, by what else maturin is told.
wheel() {
  local target=$1
  shift
  local bootstrap=()
  if ! has_target "$target"; then
    if ! has_sources; then
      skip "no wheel for $target: rustup target add $target, or rustup component add rust-src"
      return
    fi
    # A toolchain that was released builds its own library only when it is told that it may.
    bootstrap=(env RUSTC_BOOTSTRAP=1)
    # What begins and ends a program with musl comes along with a target only: zig has its own.
    [[ $target != *-musl ]] || bootstrap+=(RUSTFLAGS="-C link-self-contained=no")
    set -- -Z build-std=std,panic_abort "$@"
  fi
  # Without a target cargo uses what was built for the host already.
  [ "$target" = "$host" ] && [ "$zig" = 0 ] || set -- --target "$target" "$@"
  rm -rf "$made"
  "${bootstrap[@]}" "$maturin" build --locked --profile "$profile" --out "$made" "$@"
  python3 scripts/licences.py --target "$target" >"$made/THIRD-PARTY.txt"
  for each in "$made"/*.whl; do
    python3 scripts/wheel.py add "$each" "$made/THIRD-PARTY.txt"
    mv "$each" "$out/"
  done
  rm -r "$made"
}

mkdir -p "$out"
zig=${STEPSCOPE_ZIG:-$([ "$profile" = dist ] && echo "if it is there" || echo 0)}
if [ "$zig" != 0 ] && ! { command -v zig || python3 -c 'import ziglang'; } >/dev/null 2>&1; then
  [ "$zig" != 1 ] || { echo "zig is missing: pip install ziglang" >&2; exit 1; }
  zig=0
fi
case $host in
  *-linux-gnu)
    if [ "$zig" = 0 ]; then
      skip "the wheel is for this C library and newer ones, and there are none for other targets: no zig"
      wheel "$host"
    else
      zig=1
      for target in "$host" ${STEPSCOPE_TARGETS:-}; do
        case $target in
          *-linux-gnu) wheel "$target" --zig --compatibility manylinux_2_17 ;;
          *-linux-musl) wheel "$target" --zig --compatibility musllinux_1_2 ;;
          x86_64-pc-windows-gnu) CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc wheel "$target" ;;
          *) skip "no wheel for $target: not from Linux" ;;
        esac
      done
    fi
    ;;
  # Elsewhere the system's own linker does it.
  *-linux-musl) zig=0 && wheel "$host" --compatibility musllinux_1_2 ;;
  *-apple-darwin)
    zig=0
    export MACOSX_DEPLOYMENT_TARGET=${MACOSX_DEPLOYMENT_TARGET:-11.0}
    for target in aarch64-apple-darwin x86_64-apple-darwin; do wheel "$target"; done
    ;;
  *-windows-*) zig=0 && for target in x86_64-pc-windows-msvc ${STEPSCOPE_TARGETS:-}; do wheel "$target"; done ;;
  *) zig=0 && wheel "$host" ;;
esac
