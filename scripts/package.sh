#!/usr/bin/env bash
# Everything that is handed out, built and looked into, and nothing published: scripts/package.sh [FOLDER]
#
#   STEPSCOPE_PROFILE   cargo's profile of the program: dist (default), or dev, which reuses what the tests built
#   MATURIN             the maturin to build the wheel with; without one the wheel is skipped
#   STEPSCOPE_ZIG, STEPSCOPE_TARGETS   how the wheel is linked, and for what else there is one: scripts/wheels.sh
#   SOURCE_DATE_EPOCH   the date of everything in the archives; without it, that of the last commit
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/package}
profile=${STEPSCOPE_PROFILE:-dist}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
step() { printf '\n-- %s\n' "$1"; }
skip() { printf 'skipped: %s\n' "$1" >&2; }

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=stepscope-$version
rm -rf "$out"
mkdir -p "$out"

step "program, $profile"
cargo build --locked --profile "$profile" --bin stepscope
folder=$profile
[ "$profile" = dev ] && folder=debug
program=${CARGO_TARGET_DIR:-target}/$folder/stepscope
[ "$("$program" --version)" = "stepscope $version" ]

step "completions and manual page"
share=$out/share
mkdir -p "$share/completions" "$share/man"
for shell in bash zsh fish elvish; do
  "$program" completions "$shell" >"$share/completions/stepscope.$shell"
  [ -s "$share/completions/stepscope.$shell" ]
done
"$program" man >"$share/man/stepscope.1"
grep -q '^.SS stepscope check$' "$share/man/stepscope.1"
for section in EXAMPLES ENVIRONMENT FILES; do grep -q "^.SH $section$" "$share/man/stepscope.1"; done
if command -v man >/dev/null; then
  man --warnings -l "$share/man/stepscope.1" 2>&1 >/dev/null | { ! grep -q .; }
fi

step "licences of the libraries"
host=$(rustc -vV | sed -n 's/^host: //p')
python3 scripts/licences.py --target "$host" >"$share/THIRD-PARTY.txt"
python3 scripts/licences.py --target "$host" --deb >"$share/copyright"

step "archive"
stage=$out/stage/$name
mkdir -p "$stage"
cp "$program" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$stage/"
cp -r "$share/completions" "$share/man" "$share/THIRD-PARTY.txt" "$stage/"
archive=$out/$name-$host.tar.gz
pack() { tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out/stage" -c "$name" | gzip -n; }
pack >"$archive"
# The same input gives the same bytes.
pack | cmp - "$archive"
tar -tzf "$archive" "$name/stepscope" "$name/man/stepscope.1" "$name/THIRD-PARTY.txt" >/dev/null
(cd "$out" && sha256sum "$(basename "$archive")" >"$(basename "$archive").sha256")

step "Debian package"
if command -v dpkg-deb >/dev/null; then
  deb=$out/deb
  mkdir -p "$deb"/DEBIAN "$deb"/usr/bin "$deb"/usr/share/{doc/stepscope,man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
  install -m 755 "$program" "$deb/usr/bin/stepscope"
  doc=$deb/usr/share/doc/stepscope
  install -m 644 README.md "$share/copyright" "$doc/"
  gzip -n9 <CHANGELOG.md >"$doc/changelog.gz"
  date=$(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")
  printf 'stepscope (%s-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- the stepscope authors <stepscope@localhost>  %s\n' \
    "$version" "$date" | gzip -n9 >"$doc/changelog.Debian.gz"
  for page in "$share"/man/*.1; do gzip -n9 <"$page" >"$deb/usr/share/man/man1/$(basename "$page").gz"; done
  install -m 644 "$share/completions/stepscope.bash" "$deb/usr/share/bash-completion/completions/stepscope"
  install -m 644 "$share/completions/stepscope.zsh" "$deb/usr/share/zsh/vendor-completions/_stepscope"
  install -m 644 "$share/completions/stepscope.fish" "$deb/usr/share/fish/vendor_completions.d/stepscope.fish"
  # On a system with an older C library it would install and not start.
  libc=$(objdump -T "$program" | sed -n 's/.*GLIBC_\([0-9][0-9.]*\).*/\1/p' | sort -V | tail -n 1)
  cat >"$deb/DEBIAN/control" <<END
Package: stepscope
Version: $version-1
Section: utils
Priority: optional
Architecture: $(dpkg --print-architecture)
Depends: libc6 (>= ${libc:?}), libgcc-s1
Maintainer: the stepscope authors <stepscope@localhost>
Description: See why a language model's run went wrong
 Opens run records, procedures and answers with cited lines in a terminal,
 shows the global state step by step and points at what is wrong.
END
  chmod -R u+rwX,go+rX,go-w "$deb"
  dpkg-deb --root-owner-group --build "$deb" "$out/stepscope_${version}-1_$(dpkg --print-architecture).deb" >/dev/null
  dpkg-deb --contents "$out"/*.deb | grep './usr/bin/stepscope$' >/dev/null
  dpkg-deb --contents "$out"/*.deb | grep 'man1/stepscope.1.gz$' >/dev/null
  for file in copyright changelog.gz changelog.Debian.gz; do
    dpkg-deb --contents "$out"/*.deb | grep "doc/stepscope/$file$" >/dev/null
  done
  rm -r "$deb"
else
  skip "dpkg-deb is not installed"
fi

step "bill of materials"
python3 scripts/sbom.py >"$out/$name.cdx.json"
python3 -c 'import json, sys; bill = json.load(open(sys.argv[1])); assert len(bill["components"]) > 20 and all(one.get("licenses") for one in bill["components"])' "$out/$name.cdx.json"

step "what goes into each crate"
python3 scripts/packages.py

step "wheels and source archive"
if [ -n "${MATURIN:-}" ]; then
  "$MATURIN" sdist --out "$out" >/dev/null
  tar -tzf "$out"/stepscope-*.tar.gz >/dev/null 2>&1 || true
  scripts/wheels.sh "$out"
  python3 scripts/wheel.py pure "$(find "$out" -name '*.whl' | sort | head -n 1)" "$out" >/dev/null
  python3 - "$out" <<'END'
import glob, sys, tarfile, zipfile
wheels = {name: zipfile.ZipFile(name).namelist() for name in glob.glob(f"{sys.argv[1]}/*.whl")}
pure = next(names for name, names in wheels.items() if name.endswith("-any.whl"))
assert "stepscope/__init__.py" in pure and not any("/scripts/" in name for name in pure)
wheel = next(names for name, names in wheels.items() if not name.endswith("-any.whl"))
assert any(name.endswith(".dist-info/licenses/THIRD-PARTY.txt") for name in wheel)
for name in ("stepscope/__init__.py", "stepscope/_writer.py", "stepscope/py.typed"):
    assert name in wheel, name
assert any(name.endswith(".data/scripts/stepscope") for name in wheel), "the program"
assert not any("tests" in name for name in wheel)
source = tarfile.open(glob.glob(f"{sys.argv[1]}/stepscope-[0-9.]*[0-9].tar.gz")[0]).getnames()
assert any(name.endswith("/Cargo.lock") for name in source) and any(name.endswith("crates/judge/src/lib.rs") for name in source)
assert any(name.endswith("python/stepscope/_record.py") for name in source)
END
else
  skip "no maturin: name one in MATURIN"
fi

step "formula"
# The archive of the sources is the one that a release holds.
repository=$(sed -n '/^\[workspace.package\]/,/^\[/s/^repository = "\(.*\)"/\1/p' Cargo.toml)
if [ -n "$repository" ] && [ -f "$out/$name.tar.gz" ]; then
  digest=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)
  sed -e 1,2d -e "s|@repository@|$repository|; s|@sha256@|$digest|" packaging/homebrew/stepscope.rb >"$out/stepscope.rb"
  if grep -n '@' "$out/stepscope.rb"; then
    echo "packaging/homebrew/stepscope.rb has a place that was not filled in" >&2
    exit 1
  fi
else
  skip "there is no address yet (repository in Cargo.toml), or no archive of the sources"
fi

rm -r "$out/stage"
printf '\n'
(cd "$out" && find . -maxdepth 1 -type f -printf '%s\t%f\n' | sort -k2)
