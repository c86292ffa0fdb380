#!/usr/bin/env bash
# Check run records with GNU parallel (else with xargs) and add up where to fix them:
#
#     examples/parallel.sh RECORDS.jsonl OUT
set -euo pipefail
records=$1 out=$2
export STEPSCOPE=${STEPSCOPE:-stepscope}
mkdir -p "$out"

if command -v parallel >/dev/null; then
  # --pipepart cuts the file at line ends and starts a process for each part; --halt: a part that fails ends it all.
  parallel --halt now,fail=1 --pipepart --block 16M -a "$records" \
    "$STEPSCOPE check - --format jsonl --fail-on never --jobs 1 > '$out'/part-{#}.jsonl"
else
  split --line-bytes=16M --numeric-suffixes --suffix-length=4 "$records" "$out/cut-"
  find "$out" -name 'cut-*' -print0 |
    xargs -0 -P "$(nproc)" -I{} sh -c '"$STEPSCOPE" check - --format jsonl --fail-on never --jobs 1 < "$1" > "$1.jsonl"' _ {}
  for cut in "$out"/cut-????; do
    [ -e "$cut" ] || continue
    mv "$cut.jsonl" "$out/part-${cut##*-}.jsonl"
    rm "$cut"
  done
fi

# Each record counts once, whatever was done twice.
"$STEPSCOPE" check --merge --summary "$out"/part-*.jsonl
