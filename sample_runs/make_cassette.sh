#!/usr/bin/env bash
# make_cassette.sh URL : records cassette.jsonl.zst from the server at URL, which serves smollm2:135m as in the sample runs
# (PREDICT=512 tests/live/serve_model.sh starts one; some replies have no end): every step of the sample runs asked again, the
# first runs' also from there on, and one step five times; every answer asked again; then the re-runs that turn a wrong run
# into a right one, and a wrong answer into a grounded one, at a lower temperature than the recorded 1.
# What is on the cassette already stays. Needs zstd and python3, and about two hours on one thread.
set -euo pipefail
cd "$(dirname "$0")/.."
url=${1:?usage: make_cassette.sh URL}
cassette=sample_runs/cassette.jsonl.zst
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
again() {
  "${STEPSCOPE:-target/release/stepscope}" rerun "sample_runs/$1" --url "$url" --backend openai --model smollm2:135m --record "$work/tape" --quiet "${@:2}" >/dev/null || true
}
runs=word_problems.jsonl
for id in $(python3 - "sample_runs/$runs" <<'PY'
import json, sys
ids = []
for line in open(sys.argv[1]):
    if line.startswith("{"):
        record = json.loads(line)
        if record.get("procedure") and record.get("state"):
            ids.append(f'{record["id"]}:{len(record["procedure"]["steps"])}')
print(" ".join(ids[:5]))
PY
); do
  for step in $(seq 1 "${id#*:}"); do
    again $runs --id "${id%:*}" --step "$step" --from-here
  done
done
# The rope: the third step passes an expression on.
again $runs --id 83db0abb269f7fe65703fad61ec2a310 --step 3 --samples 5 --at-once 1
# Wrong runs that become right: the choir's last step, alone and five times; the carpenter from step 2; the museum from
# step 2 with another seed.
again $runs --id dab9d3ddc0c7c853364389922007ba64 --step 4 --temperature 0.3
again $runs --id dab9d3ddc0c7c853364389922007ba64 --step 4 --temperature 0.7 --samples 5 --at-once 1
again $runs --id 3bd7613259a293233771e746f4e9b3b9 --step 2 --from-here --temperature 0.3
again $runs --id 36f3a646fedec3ecf1ed9f49a34e97b3 --step 2 --from-here --temperature 0.3 --seed 3
# The desks, made live: what step 2 should have written is set before step 3.
again $runs --id fb1fefd852ead5817dbbbedf3e119d7c --step 3 --from-here --set final_number=1080
# The pool: what a locker costs, with the line that says it.
again notice.jsonl --id pool-locker --temperature 0.3
# Every answer.
for file in notice.jsonl policy.jsonl; do
  for line in $(seq "$(wc -l < "sample_runs/$file")"); do
    again "$file" --line "$line"
  done
done
# Every step of every run that can be asked, alone: what the key r asks.
for file in by_hand.jsonl word_problems.jsonl; do
  while read -r line step; do
    again $file --line "$line" --step "$step"
  done < <(python3 - "sample_runs/$file" <<'PY'
import json, sys
for n, line in enumerate(open(sys.argv[1]), 1):
    if line.startswith("{"):
        record = json.loads(line)
        procedure = record.get("procedure") or (record.get("trace") or {}).get("procedure")
        for step in range(len(procedure["steps"]) if isinstance(procedure, dict) else 0):
            print(n, step + 1)
PY
)
done
# A request that was recorded twice plays the same twice.
[ ! -e $cassette ] || zstd -dqc $cassette > "$work/before"
touch "$work/before"
cat "$work/before" "$work/tape" | python3 -c '
import json, sys
seen = set()
for line in sys.stdin:
    exchange = json.loads(line)
    if exchange["sha256"] not in seen and exchange["end"] == "complete":
        seen.add(exchange["sha256"])
        sys.stdout.write(line)
' > "$work/all"
wc "$work/all"
zstd -qf -19 "$work/all" -o $cassette
