"""Replies that are not there yet when the recorded function returns."""

from __future__ import annotations

import asyncio
import functools
import gc
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import support
from support import InFolder, lines, wait_for

import stepscope
from stepscope import record


async def reply(prompt):
    await asyncio.sleep(0)
    stepscope.usage(3, 4)
    if prompt == "bad":
        raise ValueError("no")
    if prompt == "without end":
        await asyncio.Event().wait()
    return "five"


def create(prompt, model="m"):
    """A plain function around a coroutine, as the clients of OpenAI and Anthropic have them."""
    return reply(prompt)


class Callable:
    async def __call__(self, prompt):
        return await reply(prompt)


class OfAwaited(InFolder):
    def told(self):
        return [(line["prompt"], line["response"], line["error"]) for line in lines(self.path)]

    def test_what_is_awaited_is_recorded_once_it_is_there(self):
        async def main(ask):
            return await asyncio.gather(ask("2 + 3?"), ask("bad"), return_exceptions=True)

        as_task = lambda prompt: asyncio.ensure_future(reply(prompt))  # noqa: E731
        for function in (create, reply, Callable(), functools.partial(create, model="n"), as_task):
            with self.subTest(function):
                self.path.unlink(missing_ok=True)
                good, bad = asyncio.run(main(record(function, self.path)))
                self.assertEqual((good, str(bad)), ("five", "no"))
                self.assertEqual(sorted(self.told()), [("2 + 3?", "five", None), ("bad", None, "ValueError: no")])
                counted = {"prompt_tokens": 3, "completion_tokens": 4}
                self.assertEqual([line.get("usage") for line in lines(self.path)], [counted] * 2)

    def test_a_task_stays_a_task_and_a_coroutine_a_coroutine(self):
        async def main():
            task = record(lambda prompt: asyncio.ensure_future(reply(prompt)), self.path)("a")
            self.assertIsInstance(task, asyncio.Task)
            other = asyncio.create_task(record(create, self.path)("without end"))
            self.assertEqual(await task, "five")
            other.cancel()
            await asyncio.wait([other])
            self.assertTrue(other.cancelled())

        asyncio.run(main())
        self.assertEqual(self.told(), [("a", "five", None), ("without end", None, "CancelledError: ")])

    def test_a_future_of_a_thread(self):
        with ThreadPoolExecutor() as pool:
            ask = record(lambda prompt: pool.submit(str.upper, prompt), self.path)
            self.assertEqual(ask("a").result(), "A")
        self.assertEqual(self.told(), [("a", "A", None)])

    def test_what_was_never_awaited_was_never_asked(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record(create, self.path)("a").close()
        asyncio.run(record(create, self.path)("b"))
        self.assertEqual(self.told(), [("b", "five", None)])

    def test_what_is_awaited_no_more_is_no_reply(self):
        coroutine = record(create, self.path)("without end")
        self.assertIsNone(coroutine.send(None))
        coroutine.close()
        del coroutine
        gc.collect()
        ended = [("without end", None, "Interrupted: the end of the reply was not seen")]
        wait_for(lambda: self.told() == ended)

    def test_calls_of_a_block_are_its_own(self):
        async def main():
            with record(self.path, question=support.QUESTION):
                await asyncio.gather(ask("a"), ask("b"))

        ask = record(create, self.path)
        asyncio.run(main())
        (line,) = lines(self.path)
        self.assertEqual([call["raw"] for call in line["trace"]["steps"]], ["five", "five"])

    def test_a_runner_that_is_awaited(self):
        async def run(procedure, question, query_fn):
            return {"problem_text": question, "total": await query_fn(question)}

        for query in (create, reply, record(reply, self.folder / "other.jsonl")):
            self.path.unlink(missing_ok=True)
            ran = record(run, self.path)(support.procedure(), support.QUESTION, query)
            self.assertEqual(asyncio.run(ran)["total"], "five")
            (line,) = lines(self.path)
            self.assertEqual((line["status"], line["state"]["total"]), ("ok", "five"))
        self.assertFalse((self.folder / "other.jsonl").exists(), "a call belongs to its run")

    def test_who_records_twice_gets_one_line(self):
        asyncio.run(record(record(reply, self.folder / "other.jsonl"), self.path)("a"))
        self.assertEqual(self.told(), [("a", "five", None)])
        self.assertFalse((self.folder / "other.jsonl").exists())


if __name__ == "__main__":
    unittest.main()
