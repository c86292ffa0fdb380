"""An exporter of OpenTelemetry's spans: each trace with calls of models (GenAI conventions) becomes a run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib import import_module
from typing import Any

from . import _lines
from ._reply import _get, _listed, _parts
from ._run import Run
from ._sink import Sink, _safely, sink
from ._step import Step
from ._told import add_call, add_line, end_run, named

_CALLS = ("chat", "text_completion", "generate_content", "completion")
# Events with the contents of a call, one a call.
_DETAILS = ("gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion")
# So many traces wait for their roots; of one more the oldest is written as it is.
_MOST_TRACES = 1000


def SpanExporter(path: str | os.PathLike[str], **fields: Any) -> Any:
    """An exporter of OpenTelemetry that records the calls of models in its spans.

    >>> provider.add_span_processor(BatchSpanProcessor(stepscope.SpanExporter("runs.jsonl")))

    A trace becomes a run when its root ends. Spans by the GenAI conventions are calls and tools; a span around them is a
    step. Traces without a call of a model are passed over. ``fields`` are what else each record is to hold.
    """
    return _exporter()(_Traces(sink(path), fields))


class _Traces:
    """Spans that wait for the root of their trace."""

    def __init__(self, to: Sink, fields: Mapping[str, Any]) -> None:
        self._to, self._fields = to, fields
        self._waiting: dict[int, list[Any]] = {}

    def add(self, spans: Iterable[Any]) -> None:
        ended = []
        for span in spans:
            trace = span.context.trace_id
            self._waiting.setdefault(trace, []).append(span)
            if span.parent is None or span.parent.is_remote:
                ended.append(trace)
        over = len(self._waiting) - len(ended) - _MOST_TRACES
        for trace in [*ended, *list(self._waiting)[: max(over, 0)]]:
            self._write(trace)

    def flush(self) -> None:
        for trace in list(self._waiting):
            self._write(trace)

    def _write(self, trace: int) -> None:
        spans = self._waiting.pop(trace, [])
        if any(map(_is_genai, spans)):
            _Trace(self._to, spans).write(self._fields)


class _Trace:
    """The spans of one trace."""

    def __init__(self, to: Sink, spans: Sequence[Any]) -> None:
        self._to = to
        self._spans = sorted(spans, key=lambda span: (span.end_time or 0, -(span.start_time or 0)))
        self._by_id = {span.context.span_id: span for span in spans}
        self._steps: dict[int, Step] = {}
        # Spans around calls and tools are steps; what those do below, such as requests, is none.
        inside = {each.context.span_id for span in spans if _is_genai(span) for each in self._above(span)}
        self._are_steps = inside | {span.context.span_id for span in spans if _is_genai(span) and not _is_call(span)}

    def _above(self, span: Any) -> Iterable[Any]:
        seen = set()
        while span.parent is not None and span.parent.span_id in self._by_id and span.parent.span_id not in seen:
            seen.add(span.parent.span_id)
            span = self._by_id[span.parent.span_id]
            yield span

    def write(self, fields: Mapping[str, Any]) -> None:
        roots = [span for span in self._spans if span.parent is None or span.parent.is_remote]
        root = roots[-1] if roots else None
        if root is not None and _is_call(root):
            for span in filter(_is_call, self._spans):
                prompt, call = _call(span)
                add_line(self._to, {"prompt": prompt if isinstance(prompt, str) else _lines.dumps(prompt), **call})
            return
        trace_id = self._spans[0].context.trace_id
        run = Run(self._to, {"id": f"{trace_id:032x}", **fields})
        for span in self._spans:
            self._add(run, span, root)
        if root is None:
            run._close()
            return
        end_run(run, _value(root, "final_result", "output.value", "traceloop.entity.output"), _error(root), root.name)

    def _add(self, run: Run, span: Any, root: Any) -> None:
        if _is_call(span):
            prompt, call = _call(span)
            if run.question is None:
                run.question = _asked(prompt)
            above = (each for each in self._above(span) if each is not root)
            step = next((self._step(run, each) for each in above if each.context.span_id in self._are_steps), None)
            add_call(self._to, run, step, call, prompt)
        elif span is not root and span.context.span_id in self._are_steps:
            step = self._step(run, span)
            step._times = _times(span)
            result = _value(span, "gen_ai.tool.call.result", "output.value", "traceloop.entity.output")
            step.writes(named(result, step.name))
            step._end(_error(span))

    def _step(self, run: Run, span: Any) -> Step:
        key = span.context.span_id
        if key not in self._steps:
            reads = _value(span, "gen_ai.tool.call.arguments", "input.value", "traceloop.entity.input")
            name = _text(span, "gen_ai.tool.name", "gen_ai.agent.name") or span.name
            self._steps[key] = Step(run, name, named(reads, "input"))
        return self._steps[key]


def _attributes(span: Any) -> Mapping[str, Any]:
    return span.attributes or {}


def _operation(span: Any) -> str:
    operation = _attributes(span).get("gen_ai.operation.name")
    kind = {"LLM": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}
    return str(operation or kind.get(str(_attributes(span).get("openinference.span.kind")), ""))


def _is_call(span: Any) -> bool:
    operation, attributes = _operation(span), _attributes(span)
    return operation in _CALLS or (not operation and "gen_ai.request.model" in attributes)


def _is_genai(span: Any) -> bool:
    return _is_call(span) or _operation(span) in ("execute_tool", "invoke_agent", "create_agent", "invoke_workflow")


def _text(span: Any, *names: str) -> str | None:
    found = (_attributes(span).get(name) for name in names)
    return next((each for each in found if isinstance(each, str) and each), None)


def _number(span: Any, *names: str) -> Any:
    found = (_attributes(span).get(name) for name in names)
    return next((each for each in found if isinstance(each, (int, float)) and not isinstance(each, bool)), None)


def _parsed(value: Any) -> Any:
    """An attribute that may be JSON as text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _value(span: Any, *names: str) -> Any:
    found = (_attributes(span).get(name) for name in names)
    return next((_parsed(each) for each in found if each is not None), None)


def _told(span: Any, name: str) -> Any:
    """What a call says of itself, as an attribute or in an event."""
    events = [event.attributes or {} for event in span.events or () if event.name in _DETAILS]
    found = (each.get(name) for each in [_attributes(span), *events])
    return next((_parsed(each) for each in found if each is not None), None)


def _call(span: Any) -> tuple[Any, dict[str, Any]]:
    """The prompt of a call, and the rest of it."""
    prompt = _messages(span, "gen_ai.input.messages", ("gen_ai.prompt", "llm.input_messages"))
    replies = _messages(span, "gen_ai.output.messages", ("gen_ai.completion", "llm.output_messages"))
    if prompt is None:
        prompt = [message for message in map(_of_event, span.events or ()) if message and message["role"] != "choice"]
        prompt = prompt or _value(span, "input.value")
    if replies is None:
        replies = [message for message in map(_of_event, span.events or ()) if message and message["role"] == "choice"]
    reply = replies[0] if isinstance(replies, list) and replies else replies if isinstance(replies, str) else None
    started, took = _times(span)
    error = _error(span)
    call: dict[str, Any] = {
        "model": _text(span, "gen_ai.request.model", "gen_ai.response.model", "llm.model_name"),
        "backend": _text(span, "gen_ai.provider.name", "gen_ai.system", "llm.provider"),
        "system": _system(_told(span, "gen_ai.system_instructions")),
        "temperature": _number(span, "gen_ai.request.temperature"),
        "seed": _number(span, "gen_ai.request.seed"),
        "max_tokens": _number(span, "gen_ai.request.max_tokens"),
        "usage": _usage(span),
        "started_utc": started,
        "duration_ms": took,
    }
    call = {name: value for name, value in call.items() if value is not None}
    raw = _get(reply, "content") if isinstance(reply, Mapping) else reply
    tools = [] if not isinstance(reply, Mapping) else _listed(reply.get("tool_calls"))
    thought = _get(reply, "reasoning") if isinstance(reply, Mapping) else None
    call.update(schema=None, raw="" if raw is None and tools else raw, **_parts(thought or "", tools))
    call["error"] = None if error is None else ": ".join(error)
    return prompt, call


def _usage(span: Any) -> dict[str, Any] | None:
    counts = {
        "prompt_tokens": _number(
            span, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        ),
        "completion_tokens": _number(
            span, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"
        ),
    }
    return {name: count for name, count in counts.items() if count is not None} or None


def _messages(span: Any, name: str, indexed: tuple[str, str]) -> Any:
    """The messages of a call as role and content, in whichever of the ways they are told; a text stays one."""
    told = _told(span, name)
    if isinstance(told, (list, tuple)):
        return [message for each in told for message in _of_parts(each)]
    if told is not None:
        return told
    for prefix in indexed:
        plain = _told(span, prefix)
        found = _of_indexes(_attributes(span), prefix)
        if found or plain is not None:
            return found or plain
    return None


def _of_parts(message: Any) -> list[dict[str, Any]]:
    """A message of the conventions: results of tools are messages of their own."""
    if not isinstance(message, Mapping):
        return [{"role": "user", "content": message}]
    parts = _listed(message.get("parts"))
    if not parts:
        return [dict(message)]
    texts = [part.get("content") for part in parts if _get(part, "type") == "text"]
    tools = [
        {"id": _get(part, "id"), "name": _get(part, "name"), "arguments": _told_arguments(_get(part, "arguments"))}
        for part in parts
        if _get(part, "type") == "tool_call"
    ]
    thoughts = [part.get("content") for part in parts if _get(part, "type") == "reasoning"]
    results = [
        {"role": "tool", "tool_call_id": _get(part, "id"), "content": _get(part, "response") or _get(part, "result")}
        for part in parts
        if _get(part, "type") == "tool_call_response"
    ]
    whole: dict[str, Any] = {"role": message.get("role"), "content": "".join(map(str, texts)) if texts else None}
    whole.update(
        {name: value for name, value in (("tool_calls", tools), ("reasoning", "".join(map(str, thoughts)))) if value}
    )
    return [whole, *results] if texts or tools or thoughts else results or [dict(message)]


def _told_arguments(arguments: Any) -> Any:
    return arguments if arguments is None or isinstance(arguments, str) else _lines.dumps(arguments)


def _of_indexes(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Messages whose members are attributes of their own: ``gen_ai.prompt.0.content``, ``...0.message.content``."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        number, _, member = name[len(prefix) + 1 :].partition(".")
        if name.startswith(prefix + ".") and number.isdecimal():
            member = member.removeprefix("message.")
            if member in ("role", "content"):
                found.setdefault(int(number), {"role": None, "content": None})[member] = value
    return [found[number] for number in sorted(found)]


def _of_event(event: Any) -> dict[str, Any] | None:
    """A message that an event of its own tells: ``gen_ai.user.message``, ``gen_ai.choice``."""
    kind = event.name.removeprefix("gen_ai.").removesuffix(".message")
    if kind not in ("system", "user", "assistant", "tool", "choice"):
        return None
    told = event.attributes or {}
    content = told.get("content")
    message = _parsed(told.get("message"))
    return {"role": kind, "content": _get(message, "content") if content is None else content}


def _system(told: Any) -> Any:
    if isinstance(told, list):
        texts = [_get(part, "content") for part in told]
        return "\n".join(text for text in texts if isinstance(text, str)) or told
    return told


def _asked(prompt: Any) -> str | None:
    """The first thing that a user said."""
    if not isinstance(prompt, list):
        return prompt if isinstance(prompt, str) else None
    said = [_get(message, "content") for message in prompt if _get(message, "role") == "user"]
    return next((text for text in said if isinstance(text, str)), None)


def _times(span: Any) -> tuple[str, float]:
    started = datetime.fromtimestamp((span.start_time or 0) / 1e9, timezone.utc)
    took = ((span.end_time or 0) - (span.start_time or 0)) / 1e6
    return started.isoformat(timespec="milliseconds").replace("+00:00", "Z"), round(max(took, 0.0), 3)


def _error(span: Any) -> tuple[str, str] | None:
    if getattr(_get(span, "status", "status_code"), "name", "") != "ERROR":
        return None
    raised = [event.attributes or {} for event in span.events or () if event.name == "exception"]
    kind = _text(span, "error.type") or next((str(each.get("exception.type")) for each in raised), "Error")
    words = next((str(each.get("exception.message")) for each in raised), span.status.description or "")
    return kind.rpartition(".")[2], _lines.without_keys(words)


@lru_cache(maxsize=1)
def _exporter() -> Callable[[_Traces], Any]:
    """The class of exporters, made where OpenTelemetry is there."""
    try:
        sdk = import_module("opentelemetry.sdk.trace.export")
    except ImportError as error:
        raise ImportError("stepscope.SpanExporter needs opentelemetry-sdk") from error

    def __init__(self: Any, traces: _Traces) -> None:
        self._traces = traces

    def export(self: Any, spans: Sequence[Any]) -> Any:
        _safely(self._traces.add, spans)
        return sdk.SpanExportResult.SUCCESS

    def shutdown(self: Any) -> None:
        _safely(self._traces.flush)

    def force_flush(self: Any, timeout_millis: int = 30000) -> bool:
        return True

    def __repr__(self: Any) -> str:
        return f"<stepscope.SpanExporter into {self._traces._to.path!r}>"

    members = {each.__name__: each for each in (__init__, export, shutdown, force_flush, __repr__)}
    exporter: Callable[[_Traces], Any] = type(
        "SpanExporter", (sdk.SpanExporter,), {**members, "__module__": "stepscope"}
    )
    return exporter
