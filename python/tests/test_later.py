"""Replies that are not there yet when the recorded function returns."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import inspect
import json
import os
import subprocess
import sys
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import support
from support import LEFT, InFolder, lines, wait_for

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
        ended = [("without end", None, LEFT)]
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


PARTS = ["2 + ", "3 = ", "5"]


def parts(prompt, model="m"):
    for part in PARTS:
        yield part
    stepscope.usage(3, 4)


def iter_once(value):
    yield value


async def async_parts(prompt, model="m"):
    for part in PARTS:
        await asyncio.sleep(0)
        yield part
    stepscope.usage(3, 4)


class Stream:
    """As clients have them: an iterator with more to it, that holds what it reads from."""

    def __init__(self, pieces):
        self.status = 200
        self.is_closed = False
        self._pieces = iter(pieces)
        self.texts = self._texts()

    def __iter__(self):
        for piece in self._pieces:
            yield piece

    def __next__(self):
        return next(self._pieces)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.is_closed = True

    def _texts(self):
        for piece in self:
            yield piece

    def until_done(self):
        return "".join(self)


class Opener:
    """What gives the stream only when it is entered."""

    def __init__(self, pieces):
        self.stream = Stream(pieces)

    def __enter__(self):
        return self.stream

    def __exit__(self, *error):
        self.stream.close()


class AsyncStream(Stream):
    __iter__ = __next__ = __enter__ = __exit__ = None

    async def __aiter__(self):
        for piece in self._pieces:
            yield piece

    async def __anext__(self):
        try:
            return next(self._pieces)
        except StopIteration:
            raise StopAsyncIteration from None

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        await self.close()

    async def close(self):
        self.is_closed = True

    def _texts(self):
        return None


class OfStreams(InFolder):
    def told(self):
        return [(line["response"], line["error"]) for line in lines(self.path)]

    def test_a_stream_is_recorded_when_it_was_read(self):
        def by_next(stream):
            while True:
                try:
                    yield next(stream)
                except StopIteration:
                    return

        ways = (list, by_next, lambda stream: stream.texts, lambda stream: [stream.until_done()])
        cases = [(parts, list), (parts, by_next), (lambda prompt: map(str, PARTS), list)]
        cases += [(lambda prompt: Stream(PARTS), way) for way in ways]
        for function, way in cases:
            with self.subTest(function):
                self.path.unlink(missing_ok=True)
                stream = record(function, self.path)("2 + 3?")
                self.assertEqual(lines(self.path), [], "it is not there yet")
                self.assertEqual("".join(way(stream)), "2 + 3 = 5")
                self.assertEqual(self.told(), [("2 + 3 = 5", None)])
                if function is parts:
                    self.assertEqual(lines(self.path)[0]["usage"], {"prompt_tokens": 3, "completion_tokens": 4})

    def test_an_async_stream_too(self):
        async def later(prompt):
            return AsyncStream(PARTS)

        async def main(function):
            stream = record(function, self.path)("2 + 3?")
            stream = await stream if asyncio.iscoroutine(stream) else stream
            self.assertEqual(lines(self.path), [])
            return "".join([part async for part in stream])

        for function in (async_parts, later, lambda prompt: later(prompt), lambda prompt: AsyncStream(PARTS)):
            with self.subTest(function):
                self.path.unlink(missing_ok=True)
                self.assertEqual(asyncio.run(main(function)), "2 + 3 = 5")
                self.assertEqual(self.told(), [("2 + 3 = 5", None)])

    def test_it_stays_what_it_was(self):
        stream = record(lambda prompt: Stream(PARTS), self.path)("a")
        self.assertIsInstance(stream, Stream)
        self.assertEqual((stream.status, type(stream).__name__), (200, "Stream"))
        with stream as entered:
            self.assertIs(entered, stream)
        self.assertTrue(stream.is_closed)
        with record(lambda prompt: Opener(PARTS), self.path)("b") as stream:
            self.assertEqual(list(stream), PARTS)
        self.assertTrue(stream.is_closed)
        whole = contextlib.contextmanager(lambda prompt: iter_once("five"))
        with record(whole, self.path)("x") as reply:
            self.assertEqual(reply, "five")
        generator = record(parts, self.path)("c")
        self.assertTrue(inspect.isgenerator(generator))
        self.assertEqual(inspect.getgeneratorstate(generator), "GEN_CREATED")
        self.assertTrue(inspect.isasyncgen(record(async_parts, self.path)("d")))

        @record(self.path)
        def echo(prompt):
            try:
                said = yield prompt
            except KeyError:
                said = yield "caught"
            yield said

        talk = echo("e")
        self.assertEqual([next(talk), talk.throw(KeyError()), talk.send("f")], ["e", "caught", "f"])
        self.assertEqual(list(talk), [])
        self.assertEqual(self.told(), [(None, LEFT), ("2 + 3 = 5", None), ("five", None), ("ecaughtf", None)])

    def test_a_stream_that_is_recorded_twice_tells_both(self):
        async def read(stream):
            return [piece async for piece in stream]

        def enter(opener):
            with opener as stream:
                return list(stream)

        for make, way in ((Stream, list), (Opener, enter), (iter, list), (AsyncStream, lambda stream: asyncio.run(read(stream)))):
            with self.subTest(make):
                self.path.unlink(missing_ok=True)
                inner = record(lambda prompt: make(PARTS), self.path)
                self.assertEqual(way(record(lambda prompt: inner(prompt), self.path)("a")), PARTS)
                self.assertEqual(self.told(), [("2 + 3 = 5", None)] * 2)

    def test_what_cannot_be_listened_to_is_left_alone(self):
        class Fixed:
            __slots__ = ("pieces",)

            def __init__(self):
                self.pieces = iter(PARTS)

            def __enter__(self):
                return self

            def __exit__(self, *error):
                pass

            def __iter__(self):
                return self

            def __next__(self):
                return next(self.pieces)

        with record(lambda prompt: Fixed(), self.path)("a") as stream:
            self.assertEqual(list(stream), PARTS)
        self.assertEqual(self.told(), [(None, None)])

    def test_what_is_closed_early_is_a_part(self):
        async def read_one(stream):
            async for _ in stream:
                break
            await stream.aclose()

        def close(stream):
            next(stream)
            stream.close()

        def leave(stream):
            with stream:
                next(stream)

        for function, way in (
            (parts, close),
            (lambda prompt: Stream(PARTS), close),
            (lambda prompt: Stream(PARTS), leave),
            (async_parts, lambda stream: asyncio.run(read_one(stream))),
        ):
            with self.subTest(way):
                self.path.unlink(missing_ok=True)
                way(record(function, self.path)("a"))
                self.assertEqual(self.told(), [("2 + ", LEFT)])

    def test_what_is_dropped_or_open_at_the_end_is_a_part(self):
        for function in (parts, lambda prompt: Stream(PARTS)):
            self.path.unlink(missing_ok=True)
            for _ in record(function, self.path)("a"):
                break
            gc.collect()
            wait_for(lambda: self.told() == [("2 + ", LEFT)])
        program = (
            "import sys; sys.path[:0] = sys.argv[2:]; from test_later import *\n"
            "open_one = [record(parts, sys.argv[1])('a'), record(Stream, sys.argv[1])(PARTS)]\n"
            "for one in open_one: next(one)"
        )
        self.path.unlink()
        subprocess.run([sys.executable, "-c", program, self.path, os.path.dirname(__file__)], check=True)
        self.assertEqual(self.told(), [("2 + ", LEFT)] * 2)

    def test_what_was_never_read_was_never_asked(self):
        generator = record(parts, self.path)("a")
        generator.close()
        record(parts, self.path)("b")
        gc.collect()
        self.assertEqual("".join(record(parts, self.path)("c")), "2 + 3 = 5")
        self.assertEqual([line["prompt"] for line in lines(self.path)], ["c"])

    def test_an_error_keeps_the_part_before_it(self):
        def failing(prompt):
            yield "2 + "
            raise ConnectionError("reset")

        with self.assertRaisesRegex(ConnectionError, "reset"):
            list(record(failing, self.path)("a"))
        self.assertEqual(self.told(), [("2 + ", "ConnectionError: reset")])
        with record(self.path, question="a") as run:
            with self.assertRaises(ConnectionError):
                list(run.wrap(failing)("a"))
        line = lines(self.path)[1]
        self.assertEqual((line["status"], line["trace"]["steps"][0]["raw"]), ("error", "2 + "))
        self.assertNotIn("raw", line, "a part is no answer")

    def test_a_stream_that_does_not_open_is_an_error(self):
        class Refused(Opener):
            def __enter__(self):
                raise ConnectionError("nobody listens")

        class Later:
            async def __aenter__(self):
                raise ConnectionError("nobody listens")

            async def __aexit__(self, *error):
                pass

        async def enter(opener):
            async with opener:
                pass

        with self.assertRaises(ConnectionError), record(Refused, self.path)([]):
            pass
        with self.assertRaises(ConnectionError):
            asyncio.run(enter(record(lambda prompt: Later(), self.path)("a")))
        self.assertEqual(self.told(), [(None, "ConnectionError: nobody listens")] * 2)

    def test_a_reply_that_comes_after_its_block_is_a_line_of_its_own(self):
        with record(self.path, question="a", id="r") as run:
            stream = run.wrap(parts)("a")
            next(stream)
        list(stream)
        line, call = lines(self.path)
        self.assertEqual((line["id"], line["trace"]["steps"]), ("r", []))
        self.assertEqual((call["response"], call["run_id"]), ("2 + 3 = 5", "r"))

    def test_pieces_of_the_usual_clients(self):
        def chat(text=None, **more):
            return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None, **more}]}

        def delta(**members):
            return {"type": "content_block_delta", "index": 0, "delta": members}

        def responses(kind, **members):
            return {"type": f"response.{kind}", **members}

        other = {"choices": [{"index": 1, "delta": {"content": "six"}, "finish_reason": "stop"}]}
        start = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 7, "output_tokens": 1}}}
        stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
        usage = {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}
        counted = {"usage": {"input_tokens": 7, "output_tokens": 2}}
        whole = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "five"}]}], **counted}
        for pieces in (
            [chat("fi"), other, chat("ve"), chat(finish_reason="stop"), {"choices": [], **usage}],
            [start, delta(type="thinking_delta", thinking="hm"), delta(type="text_delta", text="fi"), {"type": "text", "text": "fi", "snapshot": "fi"}, delta(type="text_delta", text="ve"), stop, {"type": "message_stop", "message": {"content": [{"type": "text", "text": "five"}]}}],
            [start, {"type": "content_block_start", "content_block": {"type": "text", "text": "five"}}, stop],
            [responses("created", response={"output": []}), responses("output_text.delta", delta="fi"), responses("reasoning_text.delta", delta="hm"), responses("output_text.delta", delta="ve"), responses("completed", response=whole)],
            [responses("completed", response=whole)],
            [{"response": "fi", "done": False}, {"response": "ve", "done": True, "prompt_eval_count": 7, "eval_count": 2}],
            [{"message": {"content": "five"}, "done": False}, {"message": {"content": ""}, "done": True, "prompt_eval_count": 7, "eval_count": 2}],
            [{"type": "chunk", "chunk": chat("five")}, {"type": "content.delta", "delta": "five"}, {"type": "chunk", "chunk": {"choices": [], **usage}}],
        ):
            for is_whole in (True, False):
                with self.subTest(pieces):
                    self.path.unlink(missing_ok=True)
                    stream = record(lambda prompt: Stream(pieces), self.path)("a")
                    for _ in range(len(pieces) + is_whole):
                        next(stream, None)
                    stream.close()
                    (line,) = lines(self.path)
                    self.assertEqual(line["response"], "five")
                    self.assertEqual(line.get("choices"), [{"response": "six"}] if other in pieces else None)
                    self.assertEqual(line["usage"], {"prompt_tokens": 7, "completion_tokens": 2})
                    # What said that it stopped is whole, even if nobody asked for one more piece.
                    says_so = pieces[-1].get("type") != "chunk"
                    self.assertEqual(line["error"], None if is_whole or says_so else LEFT)

    def test_a_stream_is_whole_once_every_choice_is(self):
        def chat(index, content, finish_reason=None):
            return {"choices": [{"index": index, "delta": {"content": content}, "finish_reason": finish_reason}]}

        pieces = [chat(0, "five", "stop"), chat(1, "s"), chat(1, "ix", "stop")]
        for count, error, others in ((2, LEFT, [{"response": "s"}]), (3, None, [{"response": "six"}])):
            stream = record(lambda prompt: Stream(pieces), self.path)("a")
            for _ in range(count):
                next(stream)
            stream.close()
            (line,) = lines(self.path)
            self.path.unlink()
            self.assertEqual((line["response"], line["choices"], line["error"]), ("five", others, error))

    def test_pieces_of_thoughts_and_of_calls_of_tools_are_joined(self):
        def chat(index=None, call_id=None, name=None, arguments=None, **delta):
            call = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
            return {"choices": [{"index": 0, "delta": {"tool_calls": [call], **delta}}]}

        def block(index, kind, **members):
            return {"type": f"content_block_{kind}", "index": index, **members}

        def begun(index, **members):
            return block(index, "start", content_block={"type": "tool_use", "input": {}, **members})

        def delta(index, **members):
            return block(index, "delta", delta=members)

        def responses(kind, **members):
            return {"type": f"response.{kind}", **members}

        def item(**members):
            return {"type": "function_call", "arguments": "", **members}

        def ollama(name, number):
            return {"message": {"content": "", "tool_calls": [{"function": {"name": name, "arguments": {"n": number}}}]}}

        thinks = {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]}
        says = {"choices": [{"index": 0, "delta": {"content": "so:"}}]}
        done = responses("completed", response={"output": [{"type": "reasoning", "summary": [{"text": "hm"}]}, item(call_id="1", name="add", arguments='{"n": 2}'), item(call_id="2", name="now")]})
        both = [{"id": "1", "name": "add", "arguments": {"n": 2}}, {"id": "2", "name": "now", "arguments": {}}]
        for pieces, said, calls in (
            ([thinks, says, chat(0, "1", "add", ""), chat(1, "2", "now"), chat(0, arguments='{"n"'), chat(0, "1", "add", ": 2}")], "so:", both),
            ([thinks, chat(0, "1", "add", '{"n": 2}'), chat(0, "2", "now", "{}")], "", both),
            ([delta(0, thinking="h"), delta(0, thinking="m"), delta(1, text="so:"), begun(2, id="1", name="add"), delta(2, partial_json='{"n"'), begun(3, id="2", name="now"), delta(2, partial_json=": 2}")], "so:", both),
            ([responses("reasoning_summary_text.delta", delta="hm"), responses("output_item.added", output_index=1, item=item(call_id="1", name="add")), responses("output_item.added", output_index=2, item=item(call_id="2", name="now")), responses("function_call_arguments.delta", output_index=1, delta='{"n": 2}'), done], "", both),
            ([done], "", both),
            ([{"message": {"thinking": "hm"}}, ollama("add", 2), ollama("add", 3)], "", [{"name": "add", "arguments": {"n": n}} for n in (2, 3)]),
            ([thinks, chat(0, "1", "add", '{"n"')], "", [{"id": "1", "name": "add", "arguments": '{"n"'}]),
        ):
            with self.subTest(pieces):
                self.path.unlink(missing_ok=True)
                list(record(lambda prompt: Stream(pieces), self.path)("a"))
                (line,) = lines(self.path)
                self.assertEqual((line["response"], line["reasoning"], line["tool_calls"]), (said, "hm", calls))

    def test_pieces_without_a_text_are_kept_and_what_a_server_refuses_is_an_error(self):
        call = {"choices": [{"index": 0, "delta": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]}
        failed = {"type": "response.failed", "response": {"error": {"message": "overloaded"}}}
        half = "\u00fc".encode()
        for pieces, told in (
            ([call, call], (json.dumps([call, call]), None)),
            ([3, 4], ("[3, 4]", None)),
            ([], ("", None)),
            ([b"f" + half[:1], half[1:] + b"nf"], ("f\u00fcnf", None)),
            ([failed], (json.dumps([failed]), "ServerError: overloaded")),
        ):
            self.path.unlink(missing_ok=True)
            list(record(lambda prompt: iter(pieces), self.path)("a"))
            self.assertEqual(self.told(), [told])

    def test_a_runner_takes_no_stream(self):
        if not support.has("evoproc_procedures"):
            self.skipTest("evoproc-procedures is not installed")
        from evoproc_procedures.runners import run_steps_stateful_minimal as run_steps

        def ask(prompt, model, fmt=None, seed=None):
            yield support.model(prompt, model, fmt, seed)

        inner = record(ask, self.path)
        for query in (ask, inner):
            with self.assertRaisesRegex(AttributeError, "'generator' object has no attribute 'keys'"):
                run_steps(support.procedure(), support.QUESTION, {}, "m", query_fn=query)
        self.assertEqual(lines(self.path)[0]["status"], "error")
        joined = lambda *args: "".join(inner(*args))  # noqa: E731
        state = run_steps(support.procedure(), support.QUESTION, {}, "m", query_fn=joined)
        line = lines(self.path)[1]
        self.assertEqual((line["state"], len(line["trace"]["steps"])), (state, 3))


if __name__ == "__main__":
    unittest.main()
