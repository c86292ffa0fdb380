"""The recorder of evoproc's genetic search."""

from __future__ import annotations

import json
import random
import subprocess
import unittest

import support
from support import InFolder, lines, needs_evoproc, procedure

import stepscope
from stepscope import record_search

if support.has("evoproc"):
    from evoproc.ga_scaffold_structured import GAConfig, ProcedureGA
    from evoproc.validators import validate_procedure_structured


def search(seed: int = 11, **more):
    """A search whose model numbers its procedures, and sometimes makes a bad one."""
    made = 0
    chance = random.Random(seed)

    def query(prompt, model, fmt=None, seed=None):
        nonlocal made
        made += 1
        proc = procedure()
        proc["NameDescription"] = f"procedure {made}"
        if chance.random() < 0.6:
            proc["steps"][0]["inputs"] = []
        return json.dumps(proc)

    return ProcedureGA(
        model="stub",
        create_proc_fn=lambda task: f"make a procedure: {task}",
        query_fn=query,
        schema_json_fn=dict,
        validate_fn=validate_procedure_structured,
        repair_fn=lambda proc, model: proc,
        cfg=GAConfig(population_size=6, max_generations=4, crossover_rate=0.5, random_immigrant_rate=0.3, seed=seed),
        **more,
    )


@needs_evoproc
class OfASearch(InFolder):
    def test_the_search_gives_what_it_gave(self):
        for seed in range(5):
            best, history = search(seed).run("add")
            again, its_history = record_search(search(seed), self.folder / f"{seed}.jsonl").run("add")
            self.assertEqual((best, history), (again, its_history))

    def test_every_generation_is_there_with_where_it_came_from(self):
        ga = record_search(search(), self.path)
        self.assertIsInstance(ga, ProcedureGA)
        best, history = ga.run("add")
        found = lines(self.path)
        self.assertEqual(len(found), 6 * 5, "four generations and what became of the last")
        self.assertEqual({line["run"] for line in found}, {found[0]["run"]})
        by_gen = {gen: [line for line in found if line["gen"] == gen] for gen in range(5)}
        self.assertEqual([line["operator"] for line in by_gen[0]], ["seed"] * 6)
        for gen in range(1, 5):
            before = {line["sha256"] for line in by_gen[gen - 1]}
            operators = [line["operator"] for line in by_gen[gen]]
            self.assertEqual(operators[:3], ["elite", "elite", "immigrant"])
            self.assertLessEqual(set(operators[3:]), {"crossover", "mutation"})
            for line in by_gen[gen]:
                self.assertLessEqual(set(line["parents"]), before)
                self.assertEqual(len(line["parents"]), {"immigrant": 0, "crossover": 2}.get(line["operator"], 1))
                if line["operator"] == "elite":
                    self.assertEqual(line["parents"], [line["sha256"]])
        mutations = [line for line in found if line["operator"] == "mutation"]
        self.assertEqual({line["fell_back"] for line in mutations}, {True, False}, "the seed gives both")
        for line in mutations:
            self.assertTrue(line["intent"])
            self.assertEqual(line["accepted"], not line["fell_back"])
            same_steps = [parent["procedure"]["NameDescription"] for parent in found if parent["sha256"] in line["parents"]]
            self.assertEqual(line["fell_back"], line["procedure"]["NameDescription"] in same_steps)
        for line in found:
            self.assertAlmostEqual(sum(line["terms"].values()), line["fitness"])
            if line["operator"] in ("seed", "crossover"):
                self.assertEqual(json.loads(line["reply"])["NameDescription"], line["procedure"]["NameDescription"])
        self.assertEqual([max(line["fitness"] for line in by_gen[gen]) for gen in range(4)], [one.fitness for one in history])
        self.assertEqual(max(line["fitness"] for line in by_gen[4]), best.fitness)

    def test_the_digest_is_that_of_stepscope(self):
        ga = record_search(search(), self.path)
        ga.run("add\u00e4\n\t\x7f\x01")
        line = lines(self.path)[0]
        odd = {**line["procedure"], "NameDescription": "a\u00e4\n\t\x7f\x01\"\\/\u2028"}
        from stepscope._search import _digest

        for proc in (line["procedure"], odd):
            (checked,) = stepscope.check(proc)
            self.assertEqual(checked["sha256"], _digest(proc))

    def test_a_scorer_that_fails_is_kept_as_it_is(self):
        class Failing:
            def score(self, individual, **_):
                raise ValueError

        record_search(search(scorer=Failing()), self.path).run("add")
        self.assertEqual({(line["fitness"], str(line["terms"])) for line in lines(self.path)}, {(-1e9, "{}")})

    def test_the_file_opens(self):
        record_search(search(), self.path).run("add")
        done = subprocess.run([stepscope.program(), "check", "--fail-on", "never", "--format", "jsonl", self.path], capture_output=True, check=True)
        self.assertEqual(len(done.stdout.splitlines()), 30)


if __name__ == "__main__":
    unittest.main()
