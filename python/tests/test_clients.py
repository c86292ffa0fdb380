"""The recorder around the clients of OpenAI and Anthropic, with a server that always says the same."""

from __future__ import annotations

import asyncio
import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked.get("stream"):
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


if __name__ == "__main__":
    unittest.main()
