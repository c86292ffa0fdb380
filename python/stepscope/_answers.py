"""The recorder of answers to questions about documents: stepscope's answer trace."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _lines
from ._reply import _reply
from ._sink import sink


def record_answer(
    path: str | os.PathLike[str],
    *,
    question: str,
    answer: Mapping[str, Any] | None = None,
    raw: Any = None,
    pages: Iterable[int | Mapping[str, Any]] | None = None,
    document: str | os.PathLike[str] | Sequence[Any] | Mapping[str, Any] | None = None,
    doc_id: str | None = None,
    id: str | int | None = None,
    prompt: Any = None,
    schema: str | None = None,
    model: str | None = None,
    parsed_question: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Append one answer to a question about a document, and give the record.

    ``answer`` is the parsed answer (items with cited spans); without one it is read from ``raw``, the model's reply as
    it came: a text, or the client's reply object. ``pages`` are the pages that the model saw, as numbers from 1 or as
    rows with ``page_num``; leave it out where that is not known. ``document`` is a path (its lines as .parquet, .jsonl,
    .txt or .md), a list of its lines, a table of them, or the trace's own object; ``doc_id`` names a document of the
    same store. A path is recorded as it counts from the file of answers, where a check looks for it; one that does not
    lie in that file's folder or below is a ``ValueError``.
    """
    text, whole = _raw(raw)
    parsed = answer
    if parsed is None and text is not None:
        try:
            found = json.loads(text)
            parsed = found if isinstance(found, dict) else None
        except ValueError:
            parsed = None
    if id is None:
        id = hashlib.sha1(question.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    record: dict[str, Any] = {"format": "stepscope.answer_trace", "version": 1, "id": id}
    if doc_id is not None:
        record["doc_id"] = doc_id
    record["question"] = question
    place = _document(document, path)
    if _lines.is_table(pages):
        pages = _rows(pages)
    rows = None if pages is None else [page if isinstance(page, Mapping) else {"page_num": int(page)} for page in pages]
    about = {} if whole is None else {"raw_response": whole}
    about.update(meta or {})
    for name, value in (
        ("parsed_question", parsed_question),
        ("schema", schema),
        ("document", place),
        ("retrieved_pages", rows),
        ("prompt", prompt),
        ("answer", parsed),
        ("answer_text", text if parsed is None else None),
        ("meta", about or None),
        ("model", model),
    ):
        if value is not None:
            record[name] = value
    record["created_at"] = _lines.now()
    record.update(more)
    sink(path).line(_lines.line(record))
    return record


def _raw(raw: Any) -> tuple[str | None, Any]:
    """The text of a reply, and the reply as the shape that keeps such a text (that of OpenAI's Responses)."""
    if raw is None:
        return None, None
    if isinstance(raw, str):
        return raw, {"output": [{"content": [{"type": "output_text", "text": raw}]}]}
    text, _, more = _reply(raw)
    calls = more.get("tool_calls", ())
    if not text and len(calls) == 1:
        # An answer of a given shape is often asked for as the call of a tool.
        text = _lines.dumps(calls[0]["arguments"])
    whole = json.loads(_lines.dumps(raw))
    if isinstance(whole, dict) and "output" not in whole and text is not None:
        whole["output"] = [{"content": [{"type": "output_text", "text": text}]}]
    return text, whole


def _document(document: Any, answers: str | os.PathLike[str]) -> Mapping[str, Any] | None:
    if document is None or isinstance(document, Mapping):
        return document
    if isinstance(document, (str, os.PathLike)):
        return {"path": _from_answers(os.fspath(document), os.fspath(answers))}
    return {"lines": _rows(document) if _lines.is_table(document) else list(document)}


def _from_answers(document: str, answers: str) -> str:
    """The path of a document as it counts from the file of answers."""
    folder = os.path.dirname(os.path.abspath(answers))
    # One that is not here may be given as it is to be recorded.
    is_there = not os.path.exists(document) and os.path.exists(os.path.join(folder, document))
    path = os.path.join(folder, document) if is_there else document
    # A check follows no links.
    place = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    if place.split(os.sep)[0] != os.pardir:
        return place
    raise ValueError(
        f"the document {document!r} lies neither in the folder of {answers!r} ({folder}) nor below it, and a check looks"
        " for it nowhere else. Put it there, give its lines instead of its path, or leave it out and name it in the check"
        " (document=...)"
    )


def _rows(table: Any) -> list[Any]:
    found = _lines.rows(table)
    if found is None:
        raise TypeError(f"{type(table).__name__} is a table that does not tell its rows: give them as a list of dicts")
    return found
