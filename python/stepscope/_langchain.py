"""A callback for LangChain and LangGraph: each invocation is a run, nodes and tools are its steps."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from . import _lines, _run
from ._reply import _get, _listed, _parts
from ._run import Run
from ._sink import Sink, _safely, sink
from ._step import Step
from ._told import add_call, end_run, named


def LangChain(path: str | os.PathLike[str], **fields: Any) -> Any:
    """A callback handler of LangChain that records what is invoked with it.

    >>> chain.invoke(question, config={"callbacks": [stepscope.LangChain("runs.jsonl")]})

    Nodes of a graph, tools and retrievers are steps with what they read and wrote, and calls of models are in the step
    in which they are made. A model that is invoked by itself is a line of its own. Inside of ``with record(...)`` all of
    it belongs to that run. ``fields`` are what else each record is to hold.
    """
    return _handler()(_Told(sink(path), fields))


class _Node:
    """One thing that LangChain runs, by its id."""

    def __init__(self, run: Run | None, step: Step | None) -> None:
        self.run, self.step = run, step
        #: Whether the end of it is the end of the step, or of the run.
        self.is_step = self.is_run = False
        self.name = "end"
        self.call: dict[str, Any] = {}
        self.prompt: Any = None
        self.started = time.perf_counter()
        #: All that belongs to the same invocation.
        self.family: list[Any] = []


class _Told:
    """What LangChain tells, as runs. Methods are named as its events are."""

    def __init__(self, to: Sink, fields: Mapping[str, Any]) -> None:
        self._to, self._fields = to, fields
        self._nodes: dict[Any, _Node] = {}
        # Messages of a state that an earlier step of the run has read, by run.
        self._told: dict[tuple[Any, str], int] = {}

    def _begin(self, run_id: Any, parent: Any, makes_run: bool) -> _Node:
        above = self._nodes.get(parent)
        if above is not None:
            node = _Node(above.run, above.step)
            node.family = above.family
        else:
            outer = _run._open_here(_run._around())
            step = _run._current_step.get()
            run = Run(self._to, self._fields) if outer is None and makes_run else outer
            node = _Node(run, step if step is not None and step._of(run) else None)
            node.is_run = outer is None and makes_run
        node.family.append(run_id)
        self._nodes[run_id] = node
        return node

    def _open_step(self, node: _Node, name: str, reads: Mapping[str, Any]) -> None:
        if node.run is not None:
            node.step, node.is_step = Step(node.run, name, reads), True

    def _end(self, run_id: Any, result: Any, error: BaseException | None, name: str = "output") -> None:
        node = self._nodes.get(run_id)
        if node is None:
            return
        if node.is_step and node.step is not None:
            node.step.writes(named(result, name))
            node.step._end(error)
        if node.is_run and node.run is not None:
            end_run(node.run, result, None if error is None else _lines.words(error), node.name)
        if node.family and node.family[0] == run_id:
            # Until then what is inside may name what has ended as its parent.
            for each in node.family:
                self._nodes.pop(each, None)
            self._told = {key: count for key, count in self._told.items() if key[0] is not node.run}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **more: Any) -> None:
        node = self._begin(run_id, more.get("parent_run_id"), True)
        name = more.get("name") or _get(serialized, "name")
        node.name = str(name or node.name)
        if node.is_run and node.run is not None and node.run.question is None:
            node.run.question = _question(inputs)
        elif (more.get("metadata") or {}).get("langgraph_node") == name and "langsmith:hidden" not in (
            more.get("tags") or ()
        ):
            self._open_step(node, str(name), self._reads(node, named(inputs, "input")))

    def _reads(self, node: _Node, values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
        """What a node reads. Messages that an earlier one of the run has read are only counted: they are as many times
        as long as there are steps."""
        told: dict[str, Any] = {}
        for name, value in values.items():
            path = f"{above}/{name}"
            if isinstance(value, Mapping):
                told[name] = self._reads(node, {str(key): inner for key, inner in value.items()}, path)
            elif not name.startswith("__"):  # of the graph itself
                told[name] = self._new(node, path, value)
        return told

    def _new(self, node: _Node, path: str, value: Any) -> Any:
        if not (isinstance(value, list) and value and all(map(_is_message, value))):
            return _plain(value)
        before = min(self._told.get((node.run, path), 0), len(value) - 1)
        self._told[node.run, path] = len(value)
        new = [_plain(message) for message in value[before:]]
        return [f"({before} earlier message{'' if before == 1 else 's'})", *new] if before > 0 else new

    def on_chain_end(self, outputs: Any, *, run_id: Any, **_: Any) -> None:
        self._end(run_id, _plain(outputs), None)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        self._end(run_id, None, error)

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Any, **more: Any) -> None:
        node = self._begin(run_id, more.get("parent_run_id"), False)
        inputs = more.get("inputs")
        name = more.get("name") or _get(serialized, "name") or "tool"
        self._open_step(node, str(name), named(_plain(inputs if isinstance(inputs, Mapping) else input_str), "input"))

    def on_tool_end(self, output: Any, *, run_id: Any, **_: Any) -> None:
        node = self._nodes.get(run_id)
        name = "output" if node is None or node.step is None else node.step.name
        content = _get(output, "content") if _is_message(output) else output
        self._end(run_id, {name: _plain(content)}, None)

    def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        self._end(run_id, None, error)

    def on_retriever_start(self, serialized: Any, query: str, *, run_id: Any, **more: Any) -> None:
        node = self._begin(run_id, more.get("parent_run_id"), False)
        name = more.get("name") or _get(serialized, "name") or "retriever"
        self._open_step(node, str(name), {"query": query})

    def on_retriever_end(self, documents: Any, *, run_id: Any, **_: Any) -> None:
        self._end(run_id, {"documents": [_get(each, "page_content") for each in _listed(documents)]}, None)

    def on_retriever_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        self._end(run_id, None, error)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **more: Any) -> None:
        prompt = [_plain(message) for message in (messages or [[]])[0]]
        self._ask(prompt, run_id, more)

    def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: Any, **more: Any) -> None:
        self._ask((prompts or [None])[0], run_id, more)

    def _ask(self, prompt: Any, run_id: Any, more: Mapping[str, Any]) -> None:
        node = self._begin(run_id, more.get("parent_run_id"), False)
        given, about = more.get("invocation_params") or {}, more.get("metadata") or {}
        node.prompt, node.started = prompt, time.perf_counter()
        for name, values in (
            ("model", (given.get("model"), given.get("model_name"), about.get("ls_model_name"))),
            ("temperature", (given.get("temperature"), about.get("ls_temperature"))),
            ("seed", (given.get("seed"),)),
            ("max_tokens", (given.get("max_tokens"), given.get("max_completion_tokens"), about.get("ls_max_tokens"))),
            ("backend", (about.get("ls_provider"),)),
        ):
            value = next((each for each in values if isinstance(each, (str, int, float))), None)
            if value is not None:
                node.call[name] = value
        node.call["schema"] = _get(given, "response_format")
        node.call["started_utc"] = _lines.now()

    def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
        self._answer(run_id, _replied(response))

    def on_llm_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        self._answer(run_id, {"raw": None, "error": ": ".join(_lines.words(error))})

    def _answer(self, run_id: Any, replied: Mapping[str, Any]) -> None:
        node = self._nodes.get(run_id)
        if node is None:
            return
        model = node.call.get("model") or replied.get("model")
        took = round((time.perf_counter() - node.started) * 1000, 3)
        call = {**node.call, **replied, "duration_ms": took, "model": model}
        add_call(self._to, node.run, node.step, call, node.prompt)
        self._end(run_id, None, None)


def _replied(response: Any) -> dict[str, Any]:
    """What came of a call: text, tools, thoughts and tokens."""
    generation = _get(response, "generations", 0, 0)
    message, told = _get(generation, "message"), _get(response, "llm_output")
    counts = {
        "prompt_tokens": _get(message, "usage_metadata", "input_tokens") or _get(told, "token_usage", "prompt_tokens"),
        "completion_tokens": _get(message, "usage_metadata", "output_tokens")
        or _get(told, "token_usage", "completion_tokens"),
    }
    calls = [
        {"id": _get(each, "id"), "name": _get(each, "name"), "arguments": _lines.dumps(_get(each, "args"))}
        for each in _listed(_get(message, "tool_calls"))
    ]
    reply: dict[str, Any] = {"raw": _get(generation, "text"), "error": None}
    reply.update(_parts(_get(message, "additional_kwargs", "reasoning_content") or "", calls))
    counted = {name: count for name, count in counts.items() if isinstance(count, int)}
    if counted:
        reply["usage"] = counted
    model = _get(message, "response_metadata", "model_name") or _get(told, "model_name")
    return {**reply, "model": model} if isinstance(model, str) else reply


def _is_message(value: Any) -> bool:
    return hasattr(value, "content") and isinstance(getattr(value, "type", None), str)


_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def _plain(value: Any) -> Any:
    """A value with its messages as role and text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if not _is_message(value):
        messages = _get(value, "messages") if type(value).__name__ == "ChatPromptValue" else None
        return value if messages is None else _plain(messages)
    message = {"role": _ROLES.get(value.type, value.type), "content": value.content}
    for name in ("tool_calls", "tool_call_id"):
        found = getattr(value, name, None)
        if found:
            message[name] = found
    return message


def _question(inputs: Any) -> str | None:
    """The text that an invocation is asked."""
    if isinstance(inputs, str):
        return inputs
    if isinstance(inputs, Mapping):
        named_so = [inputs[name] for name in ("question", "input", "query", "messages") if name in inputs]
        others = [each for each in inputs.values() if isinstance(each, str)]
        return next((text for text in map(_question, named_so) if text), others[0] if len(others) == 1 else None)
    if isinstance(inputs, (list, tuple)) and inputs:
        last = inputs[-1]
        content = last[1] if isinstance(last, (list, tuple)) and len(last) == 2 else _get(_plain(last), "content")
        return content if isinstance(content, str) else None
    return None


@lru_cache(maxsize=1)
def _handler() -> Callable[[_Told], Any]:
    """The class of handlers, made where LangChain is there."""
    try:
        base = import_module("langchain_core.callbacks").BaseCallbackHandler
    except ImportError as error:
        raise ImportError("stepscope.LangChain needs langchain-core") from error

    def event(name: str) -> Callable[..., None]:
        def told(self: Any, *args: Any, **more: Any) -> None:
            _safely(lambda: getattr(self._told, name)(*args, **more))

        told.__name__ = name
        return told

    def __init__(self: Any, told: _Told) -> None:
        self._told = told

    def __repr__(self: Any) -> str:
        return f"<stepscope.LangChain into {self._told._to.path!r}>"

    names = [name for name in vars(_Told) if name.startswith("on_")]
    members: dict[str, Any] = {name: event(name) for name in names}
    # In the order in which things happen, also where they are awaited.
    members.update(__init__=__init__, __repr__=__repr__, run_inline=True, __module__="stepscope")
    handler: Callable[[_Told], Any] = type("LangChain", (base,), members)
    return handler
