"""Reward functions for trainers."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import support  # noqa: F401  (finds the program)

import stepscope

SCHEMA = {"type": "object", "required": ["answer"]}


class Rewards(unittest.TestCase):
    def test_completions_get_a_float_each(self) -> None:
        score = stepscope.reward("json_schema", schema=SCHEMA, no_partial_credit=True)
        self.assertEqual(score.__name__, "json_schema")
        given = ['{"answer": 1}', "no", [{"role": "assistant", "content": '{"answer": 2}'}]]
        found = score(prompts=["a", "b", "c"], completions=given, completion_ids=[[1], [2], [3]], trainer_state=object())
        self.assertEqual(found, [1.0, 0.0, 1.0])
        self.assertTrue(all(type(each) is float for each in found))
        self.assertEqual(score([]), [])

    def test_a_schema_is_a_dict_a_file_or_a_class(self) -> None:
        class Model:
            @staticmethod
            def model_json_schema() -> dict[str, object]:
                return SCHEMA

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "schema.json"
            path.write_text(json.dumps(SCHEMA))
            for schema in (SCHEMA, path, str(path), Model):
                self.assertEqual(stepscope.reward("json_schema", schema=schema)(['{"answer": 1}']), [1.0], schema)

    def test_a_column_is_a_field(self) -> None:
        score = stepscope.reward("bleu", references_field="text")
        self.assertEqual(score(completions=["the cat sat on the mat", "x"], text=["the cat sat on the mat", "y"]), [1.0, 0.0])

    def test_what_cannot_be_scored_is_said(self) -> None:
        score = stepscope.reward("bleu", references_field="text", unscored=-1.0)
        self.assertEqual(score(completions=["the cat sat on the mat", "x"], text=["the cat sat on the mat", None])[1], -1.0)
        with self.assertRaisesRegex(stepscope.StepscopeError, "no completion could be scored: "):
            score(completions=["x"], text=[None])
        with self.assertRaisesRegex(TypeError, "list of completions"):
            score("one text")


if __name__ == "__main__":
    unittest.main()
