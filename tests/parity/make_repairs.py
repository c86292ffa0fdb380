"""Cases for tests/it/prompts.rs: the first repair prompt that upstream makes of a procedure, by its hash.

    python make_repairs.py FIXTURES/*/procedures.jsonl.gz | gzip -9n > ../fixtures/parity/repairs.jsonl.gz

Needs upstream (PyPI: evoproc 1.0.0, evoproc-procedures 1.2.0). The hash is of the prompt's UTF-8, in which lone
surrogates stand in the generalised form.
"""

import gzip
import hashlib
import json
import sys

from evoproc_procedures.repairs import repair_procedure_structured


def prompt_of(procedure):
    prompts = []

    def query(prompt, model, schema, seed):
        prompts.append(prompt)
        return "{"

    try:
        repair_procedure_structured(procedure, model="m", query_fn=query, max_tries=1)
    except RuntimeError:
        pass
    return prompts[0] if prompts else None


def main():
    for path in sys.argv[1:]:
        with gzip.open(path) as lines:
            for line in lines:
                text = json.loads(line)["text"]
                try:
                    prompt = prompt_of(json.loads(text))
                except Exception:
                    continue
                if prompt is not None:
                    digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
                    print(json.dumps({"text": text, "sha256": digest}))


main()
