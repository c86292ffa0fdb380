"""Writes upstream's schemas as upstream dumps them: tests/fixtures/parity/schemas.json.

    python -m venv v && v/bin/pip install evoproc==1.0.0 evoproc-procedures==1.2.0
    v/bin/python tests/parity/make_schemas.py            # the fixture
    v/bin/python tests/parity/make_schemas.py --embed    # and crates/record/src/schemas/*.schema.json

`tests/it/prompts.rs` compares the embedded files with the fixture byte for byte.
"""

import json
import sys
from pathlib import Path

from evoproc_procedures.models import Procedure
from evoproc_procedures.schemas import get_schema, list_schemas

ROOT = Path(__file__).resolve().parents[2]


def dumped(schema):
    return json.dumps(schema, ensure_ascii=False, indent=2)


texts = {name: dumped(get_schema(name)) for name in list_schemas()}
texts["procedure"] = dumped(Procedure.model_json_schema())

fixture = ROOT / "tests/fixtures/parity/schemas.json"
fixture.parent.mkdir(parents=True, exist_ok=True)
fixture.write_text(json.dumps(texts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

if "--embed" in sys.argv:
    for name, text in texts.items():
        (ROOT / f"crates/record/src/schemas/{name}.schema.json").write_text(text + "\n", encoding="utf-8")
