"""make_wire.py WIRE_DIR > wire.jsonl : recorded exchanges with real servers, each with what is in it.

WIRE_DIR holds NAME.request.http and NAME.response.http (chunk framing removed), or NAME.raw_response.http (as on the
wire). What the reply says is read here by other means than in the program: whole lines, Python's json.
"""

import glob
import json
import os
import sys

KINDS = {
    "/api/generate": "ollama",
    "/api/chat": "ollama-chat",
    "/v1/chat/completions": "openai",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}


def split(data):
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    return lines[0], dict(line.split(": ", 1) for line in lines[1:] if ": " in line), body


def dechunk(body):
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        size = int(size or b"0", 16)
        if size == 0:
            break
        out += body[:size]
        body = body[size + 2 :]
    return out


def objects(kind, ctype, body):
    """The JSON values of a reply, and whether it was a stream."""
    text = body.decode()
    if "event-stream" in ctype:
        lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
        return [json.loads(line) for line in lines if line != "[DONE]"], True, "[DONE]" in lines
    if "ndjson" in ctype:
        lines = [line for line in text.split("\n") if line.strip()]
        values = []
        for line in lines:
            try:
                values.append(json.loads(line))
            except ValueError:
                pass
        return values, True, False
    return [json.loads(text)], False, True


def read(kind, values, stream, done):
    content, stop, prompt, completion, error = "", None, None, None, None
    complete = done
    ended = False
    for value in values:
        if ended:
            break
        if value.get("error"):
            error = value["error"]
            error = error["message"] if isinstance(error, dict) else error
            break
        if kind in ("ollama", "ollama-chat"):
            content += value.get("response", (value.get("message") or {}).get("content", ""))
            stop = value.get("done_reason", stop)
            prompt = value.get("prompt_eval_count", prompt)
            completion = value.get("eval_count", completion)
            complete = ended = bool(value.get("done"))
        elif kind == "openai":
            for choice in value["choices"]:
                said = choice.get("delta") or choice.get("message") or {}
                content += said.get("content") or ""
                stop = choice.get("finish_reason") or stop
                complete = complete or bool(choice.get("finish_reason"))
            usage = value.get("usage") or {}
            prompt, completion = usage.get("prompt_tokens", prompt), usage.get("completion_tokens", completion)
        elif kind == "responses":
            response = value if not stream else value.get("response", {})
            if value.get("type") == "response.output_text.delta":
                content += value["delta"]
            if not stream:
                content = "".join(p["text"] for i in value["output"] for p in i.get("content", []) if "text" in p)
            usage = response.get("usage") or {}
            prompt, completion = usage.get("input_tokens", prompt), usage.get("output_tokens", completion)
            complete = complete or value.get("type") == "response.completed"
        elif kind != "anthropic":
            raise SystemExit(f"no reader for replies of kind {kind}: add its path to KINDS and a branch to read")
        else:
            if not stream:
                content = "".join(block.get("text", "") for block in value["content"])
            elif value["type"] == "content_block_delta":
                content += value["delta"].get("text", "")
            part = value.get("message") or value.get("delta") or value if stream else value
            stop = part.get("stop_reason") or stop
            usage = part.get("usage") or value.get("usage") or {}
            if "input_tokens" in usage:
                prompt = sum(usage.get(k) or 0 for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"))
            completion = usage.get("output_tokens", completion)
            complete = complete or value.get("type") == "message_stop"
    return dict(content=content, stop=stop, prompt=prompt, completion=completion, error=error, complete=complete)


def case(name, request, response, raw):
    method, path = request.split(" ")[:2]
    status, headers, body = split(response)
    status = int(status.split(" ")[1])
    ctype = headers.get("Content-Type", headers.get("content-type", ""))
    made = dict(name=name, method=method, path=path, status=status, type=ctype, kind=KINDS.get(path))
    if raw:
        made["raw"] = response.decode()
        body = dechunk(body) if headers.get("Transfer-Encoding") == "chunked" else body
    else:
        made["body"] = body.decode()
    if made["kind"] and method == "POST":
        if status == 200:
            made.update(read(made["kind"], *objects(made["kind"], ctype, body)))
        else:
            try:
                error = json.loads(body).get("error", "")
                made["error"] = error["message"] if isinstance(error, dict) else error
            except ValueError:
                made["error"] = body.decode().strip()
    return made


def main():
    root = sys.argv[1]
    for path in sorted(glob.glob(os.path.join(root, "*", "*response.http"))):
        name = os.path.relpath(path, root).replace(".raw_response.http", "").replace(".response.http", "")
        raw = ".raw_response." in path
        request = os.path.join(root, name + ".request.http")
        if os.path.exists(request):
            with open(request, "rb") as file:
                line = file.readline().decode()
        else:
            line = "POST /v1/chat/completions" if "openai" in name or "llamacpp" in name else "POST /api/generate"
        with open(path, "rb") as file:
            print(json.dumps(case(name, line, file.read(), raw)))


main()
