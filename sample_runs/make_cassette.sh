#!/usr/bin/env bash
# make_cassette.sh URL : records cassette.jsonl from the server at URL, which serves smollm2:135m as in the sample runs
# (tests/live/serve_model.sh starts one): every step of the first sample runs asked again, alone and from there on, and
# one step five times; then the re-runs that turn a wrong run into a right one, at a lower temperature than the recorded 1.
set -euo pipefail
cd "$(dirname "$0")/.."
url=${1:?usage: make_cassette.sh URL}
runs=sample_runs/word_problems.jsonl
tape=$(mktemp)
trap 'rm -f "$tape"' EXIT
again() {
  "${STEPSCOPE:-target/release/stepscope}" rerun "$runs" --url "$url" --backend openai --model smollm2:135m --record "$tape" --quiet "$@" >/dev/null || true
}
for id in $(python3 - "$runs" <<'PY'
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
    again --id "${id%:*}" --step "$step" --from-here
  done
done
# The rope: the third step passes an expression on.
again --id 83db0abb269f7fe65703fad61ec2a310 --step 3 --samples 5 --at-once 1
# Wrong runs that become right: the choir's last step, alone and five times; the carpenter from step 2; the museum from
# step 2 with another seed.
again --id dab9d3ddc0c7c853364389922007ba64 --step 4 --temperature 0.3
again --id dab9d3ddc0c7c853364389922007ba64 --step 4 --temperature 0.7 --samples 5 --at-once 1
again --id 3bd7613259a293233771e746f4e9b3b9 --step 2 --from-here --temperature 0.3
again --id 36f3a646fedec3ecf1ed9f49a34e97b3 --step 2 --from-here --temperature 0.3 --seed 3
# A request that was recorded twice plays the same twice.
python3 - "$tape" > sample_runs/cassette.jsonl <<'PY'
import json, sys
seen = set()
for line in open(sys.argv[1]):
    exchange = json.loads(line)
    if exchange["sha256"] not in seen and exchange["end"] == "complete":
        seen.add(exchange["sha256"])
        sys.stdout.write(line)
PY
wc sample_runs/cassette.jsonl
