"""The recorder around the clients of OpenAI and Anthropic, with a server that always says the same."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

import support
from support import LEFT, InFolder, lines

from stepscope import record

ASKED = {"model": "m", "messages": [{"role": "user", "content": "2 + 3?"}]}
RESPONSE = {
    "id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed", "parallel_tool_calls": False,
    "tool_choice": "auto", "tools": [], "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
    "output": [{"id": "o", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "five", "annotations": []}]}],
}  # fmt: skip


def chat(whole, **choice):
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9} if whole or not choice else None
    kind = "chat.completion" if whole else "chat.completion.chunk"
    choices = [{"index": 0, "finish_reason": "stop" if whole else None, **choice}] if choice else []
    return {"id": "c", "object": kind, "created": 0, "model": "m", "choices": choices, "usage": usage}


def message(content):
    usage = {"input_tokens": 7, "output_tokens": 2}
    return {"id": "a", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
WHOLE = {
    "/chat/completions": chat(True, message={"role": "assistant", "content": "five"}),
    "/responses": RESPONSE,
    "/v1/messages": message([THOUGHT, {"type": "text", "text": "fi"}, {"type": "text", "text": "ve"}]),
}
EVENTS = {
    "/chat/completions": [chat(False, delta={"role": "assistant", "content": "fi"}), chat(False, delta={"content": "ve"}), chat(False, delta={}, finish_reason="stop"), chat(False)],
    "/responses": [
        {"type": "response.created", "sequence_number": 0, "response": {**RESPONSE, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": {**RESPONSE["output"][0], "content": []}},
        {"type": "response.content_part.added", "sequence_number": 2, "output_index": 0, "content_index": 0, "item_id": "o", "part": {"type": "output_text", "text": "", "annotations": []}},
        {"type": "response.output_text.delta", "sequence_number": 3, "output_index": 0, "content_index": 0, "item_id": "o", "delta": "five", "logprobs": []},
        {"type": "response.completed", "sequence_number": 4, "response": RESPONSE},
    ],
    "/v1/messages": [
        {"type": "message_start", "message": {**message([]), "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "fi"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ve"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
}  # fmt: skip


CALL = {"id": "t", "name": "add", "arguments": {"a": 2, "b": 3}}
ITEM = {"id": "f", "type": "function_call", "call_id": "t", "name": "add", "status": "completed"}


def calling(**function):
    return chat(False, delta={"tool_calls": [{"index": 0, **function}]})


# What is said where tools are offered.
CALLS = {
    "/chat/completions": [
        chat(False, delta={"role": "assistant", "content": "five"}), calling(id="t", type="function", function={"name": "add", "arguments": ""}),
        calling(function={"arguments": '{"a": 2'}), calling(function={"arguments": ', "b": 3}'}), chat(False, delta={}, finish_reason="tool_calls"), chat(False),
    ],
    "/responses": [
        *EVENTS["/responses"][:-1],
        {"type": "response.output_item.added", "sequence_number": 4, "output_index": 1, "item": {**ITEM, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "sequence_number": 5, "output_index": 1, "item_id": "f", "delta": '{"a": 2'},
        {"type": "response.function_call_arguments.delta", "sequence_number": 6, "output_index": 1, "item_id": "f", "delta": ', "b": 3}'},
        {"type": "response.completed", "sequence_number": 7, "response": {**RESPONSE, "output": [*RESPONSE["output"], {**ITEM, "arguments": '{"a": 2, "b": 3}'}]}},
    ],
    "/v1/messages": [
        *EVENTS["/v1/messages"][:-2],
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "add", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a": 2'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ', "b": 3}'}},
        {"type": "content_block_stop", "index": 1},
        *EVENTS["/v1/messages"][-2:],
    ],
}  # fmt: skip


OLLAMA = {"model": "m", "done": True, "prompt_eval_count": 7, "eval_count": 2}
WHOLE["/api/chat"] = {**OLLAMA, "message": {"role": "assistant", "content": "five"}}
WHOLE["/api/generate"] = {**OLLAMA, "response": "five"}
LINES = {
    "/api/chat": [{"model": "m", "message": {"role": "assistant", "content": "fi"}}, {**OLLAMA, "message": {"role": "assistant", "content": "ve"}}],
    "/api/generate": [{"model": "m", "response": "fi"}, {**OLLAMA, "response": "ve"}],
}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked.get("stream") and self.path in LINES:
            kind, body = "application/x-ndjson", "".join(json.dumps(line) + "\n" for line in LINES[self.path])
        elif asked.get("stream"):
            kind = "text/event-stream"
            said = CALLS if asked.get("tools") else EVENTS
            events = [f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in said[self.path]]
            body = "".join(events) + ("data: [DONE]\n\n" if self.path == "/chat/completions" else "")
        else:
            kind, body = "application/json", json.dumps(WHOLE[self.path])
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class OfClients(InFolder):
    def setUp(self):
        super().setUp()
        server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.to = {"api_key": "k", "base_url": f"http://127.0.0.1:{server.server_port}"}

    def check(self, made, is_left=False, calls=None):
        (line,) = lines(self.path)
        self.path.unlink()
        self.assertEqual(line.get("tool_calls"), calls)
        self.assertEqual((line["model"], line["error"]), ("m", LEFT if is_left else None), made)
        self.assertIn("2 + 3?", line["prompt"])
        self.assertNotIn(" object at 0x", json.dumps(line))
        if is_left:
            self.assertIn(line["response"], (None, "fi"), "what says that it begins is no text")
        else:
            self.assertEqual(line["response"], "five")
            self.assertEqual(line["usage"], {"prompt_tokens": 7, "completion_tokens": 2})

    def read(self, method, asked):
        ask = record(method, self.path)
        ask(**asked)
        self.check("whole")
        for _ in ask(**asked, stream=True):
            pass
        self.check("streamed")
        with ask(**asked, stream=True) as stream:
            next(stream)
        self.check("left", True)
        self.read_raw(method.__self__, asked)

    def read_raw(self, resource, asked):
        ask = record(resource.with_raw_response.create, self.path)
        reply = ask(**asked)
        self.check("raw")
        self.assertEqual((reply.status_code, reply.parse().model), (200, "m"))
        for _ in ask(**asked, stream=True).parse():
            pass
        self.check("raw stream")
        ask = record(resource.with_streaming_response.create, self.path)
        for read in ("parse", "json", "read"):
            with ask(**asked) as reply:
                getattr(reply, read)()
            self.check(read)
        with ask(**asked, stream=True) as reply:
            for _ in reply.parse():
                pass
        self.check("parsed stream")
        for read in ("iter_lines", "iter_text", "iter_bytes"):
            for more in ({}, {"stream": True}):
                with ask(**asked, **more) as reply:
                    pieces = list(getattr(reply, read)())
                self.assertTrue(all(isinstance(piece, (str, bytes)) for piece in pieces))
                self.check(f"{read} {more}")
                with ask(**asked, **more) as reply:
                    list(getattr(reply.http_response, read)())
                self.check(f"{read} beneath {more}")
        for beneath in (False, True):
            with ask(**asked, stream=True) as reply:
                next((reply.http_response if beneath else reply).iter_lines())
            self.check("left lines", True)

    async def read_later(self, method, asked):
        ask = record(method, self.path)
        await ask(**asked)
        self.check("whole")
        async for _ in await ask(**asked, stream=True):
            pass
        self.check("streamed")
        async with await ask(**asked, stream=True) as stream:
            await stream.__anext__()
        self.check("left", True)
        raw, streaming = (getattr(method.__self__, f"with_{way}_response").create for way in ("raw", "streaming"))
        await record(raw, self.path)(**asked)
        self.check("raw")
        for read in ("parse", "json"):
            async with record(streaming, self.path)(**asked) as reply:
                await getattr(reply, read)()
            self.check(read)
        async with record(streaming, self.path)(**asked, stream=True) as reply:
            async for _ in await reply.parse():
                pass
        self.check("parsed stream")
        for more in ({}, {"stream": True}):
            async with record(streaming, self.path)(**asked, **more) as reply:
                async for _ in reply.iter_lines():
                    pass
            self.check(f"iter_lines {more}")
            async with record(streaming, self.path)(**asked, **more) as reply:
                async for _ in reply.http_response.aiter_lines():
                    pass
            self.check(f"aiter_lines beneath {more}")

    async def open_later(self, method, asked, finish):
        async with record(method, self.path)(**asked) as stream:
            await getattr(stream, finish)()
        self.check("opened")
        async with record(method, self.path)(**asked) as stream:
            async for _ in stream:
                pass
        self.check("opened")

    def open(self, method, asked, finish):
        with record(method, self.path)(**asked) as stream:
            getattr(stream, finish)()
        self.check("opened")
        with record(method, self.path)(**asked) as stream:
            for _ in stream:
                pass
        self.check("opened")
        tool = {"name": "add", "parameters": {"type": "object"}, "input_schema": {"type": "object"}}
        if "max_tokens" not in asked:
            tool = {"type": "function", **(tool if "input" in asked else {"function": tool})}
        with record(method, self.path)(**asked, tools=[tool]) as stream:
            for _ in stream:
                pass
        self.check("calls", calls=[CALL])

    @unittest.skipUnless(support.has("openai"), "openai is not installed")
    def test_openai(self):
        from openai import AsyncOpenAI, OpenAI

        responses = {"model": "m", "input": "2 + 3?"}

        async def later():
            async with AsyncOpenAI(**self.to) as client:
                await self.read_later(client.chat.completions.create, ASKED)
                await self.read_later(client.responses.create, responses)
                await self.open_later(client.chat.completions.stream, ASKED, "get_final_completion")
                await self.open_later(client.responses.stream, responses, "get_final_response")

        with OpenAI(**self.to) as client:
            self.read(client.chat.completions.create, ASKED)
            self.read(client.responses.create, responses)
            self.open(client.chat.completions.stream, ASKED, "get_final_completion")
            self.open(client.responses.stream, responses, "get_final_response")
        asyncio.run(later())

    @unittest.skipUnless(support.has("anthropic"), "anthropic is not installed")
    def test_anthropic(self):
        from anthropic import Anthropic, AsyncAnthropic

        asked = {**ASKED, "max_tokens": 9}

        async def later():
            async with AsyncAnthropic(**self.to) as client:
                await self.read_later(client.messages.create, asked)
                await self.open_later(client.messages.stream, asked, "get_final_message")
                async with record(client.messages.stream, self.path)(**asked) as stream:
                    self.assertEqual("".join([text async for text in stream.text_stream]), "five")
                self.check("text_stream")

        with Anthropic(**self.to) as client:
            self.read(client.messages.create, asked)
            self.open(client.messages.stream, asked, "get_final_message")
            with record(client.messages.stream, self.path)(**asked) as stream:
                self.assertEqual("".join(stream.text_stream), "five")
            self.check("text_stream")
        asyncio.run(later())

    @unittest.skipUnless(support.has("openai"), "openai is not installed")
    def test_a_whole_client_of_openai(self):
        from openai import AsyncOpenAI, OpenAI

        responses = {"model": "m", "input": "2 + 3?"}

        async def later():
            async with record(AsyncOpenAI(**self.to), self.path) as client:
                await client.chat.completions.create(**ASKED)
                self.check("whole")
                async with client.chat.completions.stream(**ASKED) as stream:
                    await stream.get_final_completion()
                self.check("opened")
                async with client.responses.stream(**responses) as stream:
                    await stream.get_final_response()
                self.check("opened")

        with OpenAI(**self.to) as plain:
            client = record(plain, self.path)
            self.assertIs(client, plain, "who asks for its class finds it")
            record(client, self.path)
            for asked in (client, client.with_options(timeout=9), client.copy().copy()):
                asked.chat.completions.create(**ASKED)
                self.check("whole")
            client.chat.completions.parse(**ASKED)
            self.check("parsed")
            client.responses.create(**responses)
            self.check("whole")
            for _ in client.chat.completions.create(**ASKED, stream=True):
                pass
            self.check("streamed")
            client.chat.completions.with_raw_response.create(**ASKED).parse()
            self.check("raw")
            for stream in (client.chat.completions.stream(**ASKED), client.responses.stream(**responses)):
                with stream as events:
                    for _ in events:
                        pass
                self.check("opened")
        asyncio.run(later())

    @unittest.skipUnless(support.has("anthropic"), "anthropic is not installed")
    def test_a_whole_client_of_anthropic(self):
        from anthropic import Anthropic

        asked = {**ASKED, "max_tokens": 9}
        with record(Anthropic(**self.to), self.path) as client:
            client.messages.create(**asked)
            self.check("whole")
            with client.messages.stream(**asked) as stream:
                self.assertEqual("".join(stream.text_stream), "five")
            self.check("text_stream")
            for _ in client.messages.create(**asked, stream=True):
                pass
            self.check("streamed")
            client.messages.with_raw_response.create(**asked)
            self.check("raw")

    @unittest.skipUnless(support.has("ollama"), "ollama is not installed")
    def test_a_whole_client_of_ollama(self):
        from ollama import AsyncClient, Client

        async def later():
            client = record(AsyncClient(host=self.to["base_url"]), self.path)
            await client.chat(**ASKED)
            self.check("whole")
            async for _ in await client.generate(model="m", prompt="2 + 3?", stream=True):
                pass
            self.check("streamed")

        client = record(Client(host=self.to["base_url"]), self.path)
        client.chat(**ASKED)
        self.check("whole")
        for _ in client.chat(**ASKED, stream=True):
            pass
        self.check("streamed")
        client.generate("m", "2 + 3?")
        self.check("generated")
        asyncio.run(later())

    @unittest.skipUnless(support.has("litellm"), "litellm is not installed")
    def test_the_module_of_litellm(self):
        with mock.patch.dict(os.environ, LITELLM_LOCAL_MODEL_COST_MAP="True"):
            import litellm

        plain = litellm.completion
        client = record(litellm, self.path)
        asked = {**ASKED, "model": "openai/m", "api_key": "k", "api_base": self.to["base_url"]}
        self.assertEqual(client.completion(**asked).choices[0].message.content, "five")
        (line,) = lines(self.path)
        self.assertEqual((line["model"], line["response"]), ("openai/m", "five"))
        self.assertEqual(line["usage"], {"prompt_tokens": 7, "completion_tokens": 2})
        asyncio.run(client.acompletion(**asked))
        self.assertEqual(len(lines(self.path)), 2)
        self.assertIs(litellm.completion, plain, "others use the module too")
        self.assertIs(client.exceptions, litellm.exceptions)

    def test_a_client_in_a_step(self):
        class Completions:
            def create(self, *, messages, model):
                return WHOLE["/chat/completions"]

        class Chat:
            completions = Completions()

        class Client:
            chat = Chat()

        client = record(Client(), self.folder / "calls.jsonl")
        with record(self.path, question="2 + 3?") as run, run.step("ask") as step:
            client.chat.completions.create(**ASKED)
            step.writes(total=5)
        (call,) = lines(self.path)[0]["trace"]["steps"]
        self.assertEqual((call["name"], call["raw"], call["outputs"]), ("ask", "five", {"total": 5}))
        self.assertEqual(call["usage"], {"prompt_tokens": 7, "completion_tokens": 2})

    def test_what_is_no_client_is_refused(self):
        class Model:
            callbacks = None

            def invoke(self, what):
                return what

        with self.assertRaisesRegex(TypeError, "stepscope.LangChain"):
            record(Model(), self.path)
        with self.assertRaisesRegex(TypeError, "a function, a client or a path, not dict"):
            record({}, self.path)


if __name__ == "__main__":
    unittest.main()
