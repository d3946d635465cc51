#!/usr/bin/env python3
"""A model's HTTP interface with scripted faults, on localhost alone.

    server.py PORT-FILE LOG-FILE
    server.py --run LOG-FILE COMMAND...

Writes its port to PORT-FILE; or runs COMMAND, with its port in the place of
@PORT@, and ends with its status. A request to /FAULT/[KEY/]v1/chat/completions or
.../v1/messages gets that fault; faults that end after some attempts count by
the whole path, so that KEY tells tests apart. Each request is a line of JSON
in LOG-FILE: path, headers, body. MODEL names a command that gets a prompt and
prints the answer to it, for the fault "model". Standard library only.
"""
import collections
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = '{"greeting": "hello", "count": 3}'
counts = collections.Counter()
lock = threading.Lock()
log_path = ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # What the protocols look like.

    thinks = 0  # Tokens before the answer.

    def limit(self):
        return self.body.get("max_completion_tokens") or self.body.get("max_tokens")

    def tokens(self, text):
        """Prompt, thinking and all of the answer, as servers of reasoning models tell."""
        asked = 11 if not self.thinks else len(json.dumps(self.body)) // 3
        return asked, self.thinks, self.thinks + 7 if text == ANSWER else min(self.limit(), self.thinks + len(text) // 3)

    def usage(self, text):
        asked, thought, made = self.tokens(text)
        if self.anthropic:
            return {"input_tokens": asked, "output_tokens": made}
        usage = {"prompt_tokens": asked, "completion_tokens": made}
        if thought:
            usage["completion_tokens_details"] = {"reasoning_tokens": min(thought, made)}
        return usage

    def whole(self, text, finish="stop"):
        if self.anthropic:
            block = {"type": "text", "text": text}
            if self.body.get("tools") and finish == "stop":
                block = {"type": "tool_use", "name": self.body["tools"][0]["name"], "input": json.loads(text)}
            return {"type": "message", "model": "scripted-1",
                    "content": [{"type": "thinking", "thinking": "Well ..."}] * (self.thinks > 0) + [block],
                    "stop_reason": {"stop": "end_turn", "length": "max_tokens"}[finish],
                    "usage": self.usage(text)}
        return {"object": "chat.completion", "model": "scripted-1",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
                "usage": self.usage(text)}

    def events(self, text, finish="stop"):
        pieces = [text[i:i + 5] for i in range(0, len(text), 5)]
        if self.anthropic:
            tool = bool(self.body.get("tools"))
            usage = self.usage(text)
            yield "message_start", {"type": "message_start", "message": {
                "model": "scripted-1", "usage": {**usage, "output_tokens": 1}}}
            if self.thinks:
                yield "content_block_delta", {"type": "content_block_delta", "index": 0,
                                              "delta": {"type": "thinking_delta", "thinking": "Well ..."}}
            for piece in pieces:
                delta = {"type": "input_json_delta", "partial_json": piece} if tool else {"type": "text_delta", "text": piece}
                yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
            yield "message_delta", {"type": "message_delta", "delta": {
                "stop_reason": {"stop": "tool_use" if tool else "end_turn", "length": "max_tokens"}[finish]},
                "usage": {"output_tokens": usage["output_tokens"]}}
            yield "message_stop", {"type": "message_stop"}
            return
        if self.thinks:
            yield "", {"model": "scripted-1", "choices": [{"index": 0, "delta": {"reasoning_content": "Well ..."}, "finish_reason": None}]}
        for piece in pieces:
            yield "", {"model": "scripted-1", "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        yield "", {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        yield "", {"choices": [], "usage": self.usage(text)}
        yield "", "[DONE]"

    # Sending.

    def start(self, status, kind="application/json", length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()

    def send(self, data):
        self.wfile.write(data if isinstance(data, bytes) else data.encode())
        self.wfile.flush()

    def reply(self, status, value, kind="application/json", **headers):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.start(status, kind, len(data), **headers)
        self.send(data)

    def error(self, status, message, **headers):
        self.reply(status, {"error": {"message": message, "type": "scripted"}}, **headers)

    def event(self, name, value):
        data = value if isinstance(value, str) else json.dumps(value)
        self.send((f"event: {name}\n" if name else "") + f"data: {data}\n\n")

    def good(self, text=ANSWER, finish="stop", pause=0.0):
        if not self.stream:
            data = json.dumps(self.whole(text, finish)).encode()
            self.start(200, length=len(data))
            step = 40 if pause else len(data)
            for i in range(0, len(data), step):
                self.send(data[i:i + step])
                time.sleep(pause)
            return
        self.start(200, "text/event-stream; charset=utf-8")
        for name, value in self.events(text, finish):
            self.event(name, value)
            time.sleep(pause)

    def hold(self, seconds=30):
        """Nothing more, until the client goes away."""
        self.close_connection = True
        end = time.time() + seconds
        self.connection.settimeout(0.2)
        while time.time() < end:
            try:
                if not self.connection.recv(1):
                    return
            except socket.timeout:
                continue
            except OSError:
                return

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    # Faults.

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            self.body = json.loads(raw)
        except ValueError:
            self.body = {}
        # A proxy gets the whole address.
        path = self.path.split("://", 1)[-1].split("/", 1)[-1] if "://" in self.path else self.path.lstrip("/")
        self.anthropic = path.endswith("/messages")
        self.stream = bool(self.body.get("stream"))
        with lock:
            counts[path] += 1
            self.number = counts[path]
            with open(log_path, "a") as log:
                log.write(json.dumps({"path": self.path, "headers": dict(self.headers), "body": self.body}) + "\n")
        fault = path.split("/")[0]
        try:
            getattr(self, "fault_" + fault.replace("-", "_"))()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def fault_ok(self):
        self.good()

    def fault_slow(self):
        self.good(pause=0.05)

    def fault_drip(self):
        """Signs of life for ever, and no answer."""
        self.start(200, "text/event-stream")
        for _ in range(600):
            self.send(": still there\n\n")
            time.sleep(0.05)

    def fault_silent(self):
        self.hold()

    def fault_stalled(self):
        self.start(200, "text/event-stream" if self.stream else "application/json", None if self.stream else 5000)
        if self.stream:
            self.event(*next(self.events("x" * 20)))
        else:
            self.send('{"choices": [')
        self.hold()

    def fault_cut(self):
        if self.stream:
            self.start(200, "text/event-stream")
            for (name, value), _ in zip(self.events(ANSWER), range(3)):
                self.event(name, value)
            return
        data = json.dumps(self.whole(ANSWER)).encode()
        self.start(200, length=len(data))
        self.send(data[:len(data) // 2])
        self.close_connection = True

    def fault_cut_once(self):
        self.fault_cut() if self.number == 1 else self.good()

    def fault_cut_late(self):
        """All of the answer came; the connection breaks instead of ending."""
        self.start(200, "text/event-stream")
        for name, value in self.events(ANSWER):
            if value == "[DONE]" or name == "message_stop":
                break
            self.event(name, value)
        time.sleep(0.05)
        self.reset()

    def fault_hang_late(self):
        self.start(200, "text/event-stream")
        for name, value in self.events(ANSWER):
            self.event(name, value)
        self.hold()

    def fault_no_done(self):
        """The last event does not come, and neither does the end."""
        self.start(200, "text/event-stream")
        for name, value in self.events(ANSWER):
            if value != "[DONE]":
                self.event(name, value)
        self.hold()

    def fault_reset(self):
        self.reset()

    def fault_malformed(self):
        if self.stream:
            self.start(200, "text/event-stream")
            self.send("data: {\"choices\": [{]}\n\n")
            return
        self.reply(200, b'{"choices": [{"message": ')

    def fault_html(self):
        self.reply(200, b"<html><body>Welcome to the portal</body></html>", "text/html")

    def fault_no_choices(self):
        self.reply(200, {"object": "something"})

    def fault_wrong_schema(self):
        self.good('{"greeting": 5}')

    def fault_wrong_schema_once(self):
        self.good('{"greeting": 5}' if self.number == 1 else ANSWER)

    def fault_prose(self):
        self.good("Sure! Here it is:\n\n```json\n" + ANSWER + "\n```\nAnything else?")

    def fault_rubbish(self):
        self.good("I would rather talk about the weather.")

    def fault_length(self):
        self.good('{"greeting": "hel', "length")

    def think(self, text, tokens):
        """Thinks first, and says nothing where the limit ends its thoughts; no more than 20,000 tokens are allowed."""
        self.thinks = tokens
        if self.limit() > 20000:
            self.error(400, "max_tokens is too large")
        elif self.limit() < tokens + len(text) // 3:
            self.good("", "length")
        else:
            self.good(text)

    def fault_thinks(self):
        self.think(ANSWER, 3000)

    def fault_thinks_too_long(self):
        self.think(ANSWER, 30000)

    def fault_model(self):
        """Answers as a command does, after thoughts: what a search gets."""
        prompt = "\n".join([self.body.get("system", "")] + [m["content"] for m in self.body["messages"]])
        self.think(subprocess.run(os.environ["MODEL"].split(), input=prompt, text=True, stdout=subprocess.PIPE, check=True).stdout, 12000)

    def conversation(self):
        """The messages of both protocols as (role, text), and what is wrong with their calls."""
        messages, open_calls = [], set()
        for m in self.body["messages"]:
            content = m.get("content")
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
            made = {c["id"] for c in m.get("tool_calls", [])} | {b["id"] for b in blocks if b["type"] == "tool_use"}
            for c in m.get("tool_calls", []):
                json.loads(c["function"]["arguments"])
            ended = {m["tool_call_id"]} if m["role"] == "tool" else {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
            if not ended <= open_calls or (open_calls and m["role"] != "tool" and open_calls != ended):
                return messages, "calls without results, or results without calls"
            if made and self.thinks and not (m.get("reasoning_content") == "Well ..." or blocks[0].get("signature") == "signed"):
                return messages, "the thoughts before the calls are gone"
            open_calls = (open_calls - ended) | made
            if m["role"] != "tool":
                messages.append({"role": m["role"], "text": "".join(b.get("text", "") for b in blocks)})
        return messages, ""

    def call_events(self, calls):
        """Calls of tools, in pieces."""
        if self.anthropic:
            yield "message_start", {"type": "message_start", "message": {"model": "scripted-1", "usage": {"input_tokens": 900, "output_tokens": 1}}}
            blocks = [({"type": "thinking", "thinking": "", "signature": ""},
                       [{"type": "thinking_delta", "thinking": "Well ..."}, {"type": "signature_delta", "signature": "signed"}])]
            for name, arguments in calls:
                text = json.dumps(arguments)
                blocks.append(({"type": "tool_use", "id": f"toolu_{self.number}_{len(blocks)}", "name": name, "input": {}},
                               [{"type": "input_json_delta", "partial_json": text[i:i + 500]} for i in range(0, len(text), 500)]))
            for i, (block, deltas) in enumerate(blocks):
                yield "content_block_start", {"type": "content_block_start", "index": i, "content_block": block}
                for delta in deltas:
                    yield "content_block_delta", {"type": "content_block_delta", "index": i, "delta": delta}
                yield "content_block_stop", {"type": "content_block_stop", "index": i}
            yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 300}}
            yield "message_stop", {"type": "message_stop"}
            return
        yield "", {"model": "scripted-1", "choices": [{"index": 0, "delta": {"reasoning_content": "Well ..."}, "finish_reason": None}]}
        for at, (name, arguments) in enumerate(calls):
            text = json.dumps(arguments)
            first = {"index": at, "id": f"call_{self.number}_{at}", "type": "function", "function": {"name": name, "arguments": ""}}
            for piece in [first] + [{"index": at, "function": {"arguments": text[i:i + 500]}} for i in range(0, len(text), 500)]:
                yield "", {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]}
        yield "", {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
        yield "", {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 300}}
        yield "", "[DONE]"

    def fault_agent(self):
        """Calls tools where there are any, as the command AGENT says; MODEL answers the rest."""
        # A schema may travel as a tool, too.
        if "submit" not in [t.get("name") or t["function"]["name"] for t in self.body.get("tools", [])]:
            return self.fault_model()
        self.thinks = 1
        messages, wrong = self.conversation()
        if wrong:
            return self.error(400, wrong)
        calls = json.loads(subprocess.run(os.environ["AGENT"].split() + ["--calls"], input=json.dumps({"messages": messages}), text=True,
                                          stdout=subprocess.PIPE, check=True).stdout)
        if not calls:
            return self.good("I think that I am done.")
        if self.stream:
            self.start(200, "text/event-stream; charset=utf-8")
            for name, value in self.call_events(calls):
                self.event(name, value)
            return
        if self.anthropic:
            content = [{"type": "thinking", "thinking": "Well ...", "signature": "signed"}] + [
                {"type": "tool_use", "id": f"toolu_{self.number}_{i}", "name": name, "input": arguments} for i, (name, arguments) in enumerate(calls)]
            return self.reply(200, {"type": "message", "model": "scripted-1", "content": content, "stop_reason": "tool_use",
                                    "usage": {"input_tokens": 900, "output_tokens": 300}})
        made = [{"id": f"call_{self.number}_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for i, (name, arguments) in enumerate(calls)]
        self.reply(200, {"model": "scripted-1", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": None, "reasoning_content": "Well ...", "tool_calls": made}}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 300}})

    def fault_echo(self):
        """What was asked, with the key, as a careless model would say it."""
        self.good(json.dumps({"greeting": self.headers.get("Authorization") or self.headers.get("x-api-key") or "", "count": 1}))

    def fault_bad_request(self):
        self.error(400, "max_tokens is too large")

    def fault_unauthorized(self):
        self.error(401, "Incorrect API key provided: " + (self.headers.get("Authorization") or self.headers.get("x-api-key") or "none"))

    def fault_forbidden(self):
        self.error(403, "no access to this model")

    def fault_not_found(self):
        self.error(404, "model not found")

    def fault_limited(self):
        self.error(429, "slow down") if self.number <= 2 else self.good()

    def fault_limited_for_ever(self):
        self.error(429, "slow down")

    def fault_retry_after(self):
        self.error(429, "slow down", Retry_After="1") if self.number == 1 else self.good()

    def fault_retry_after_date(self):
        when = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))
        self.error(429, "slow down", Retry_After=when) if self.number == 1 else self.good()

    def fault_retry_after_hours(self):
        self.error(429, "slow down", Retry_After="7200")

    def fault_quota(self):
        self.reply(429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}})

    def fault_broken(self):
        self.error(500, "internal") if self.number <= 2 else self.good()

    def fault_broken_for_ever(self):
        self.reply(503, b"<html>overloaded</html>", "text/html")

    def fault_stream_error(self):
        """An error where events are expected."""
        self.start(200, "text/event-stream")
        self.event("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})

    def fault_stream_refusal(self):
        self.start(200, "text/event-stream")
        self.event("error", {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}})

    def fault_redirect(self):
        self.start(307, length=0, Location=f"http://127.0.0.1:{self.server.server_port}/ok/stolen/v1/chat/completions")

    def fault_huge(self):
        piece = "x" * 60000
        if self.stream:
            self.start(200, "text/event-stream")
            for _ in range(100):
                self.event("", {"choices": [{"delta": {"content": piece}}]})
            return
        self.start(200)
        self.send('{"choices": [{"message": {"content": "')
        for _ in range(100):
            self.send(piece)

    def fault_huge_error(self):
        self.start(500)
        for _ in range(100):
            self.send("y" * 60000)

    def fault_huge_line(self):
        """One event that never ends."""
        self.start(200, "text/event-stream")
        self.send("data: ")
        for _ in range(100):
            self.send("z" * 60000)

    def fault_headers(self):
        self.send_response(200)
        for i in range(400):
            self.send_header(f"X-Filler-{i}", "f" * 1000)
        self.end_headers()
        self.close_connection = True

    def fault_utf8(self):
        text = json.dumps(self.whole('{"greeting": "h@", "count": 3}') if not self.stream else 0)
        if self.stream:
            self.start(200, "text/event-stream")
            for name, value in self.events('{"greeting": "h@", "count": 3}'):
                data = value if isinstance(value, str) else json.dumps(value)
                self.send(((f"event: {name}\n" if name else "") + f"data: {data}\n\n").encode().replace(b"@", b"\xff\xfe"))
            return
        self.reply(200, text.encode().replace(b"@", b"\xff\xfe"))

    def fault_crlf(self):
        """Events as strict servers write them, in pieces that cut lines."""
        self.start(200, "text/event-stream")
        data = b"".join(((f"event: {n}\r\n" if n else "") + ": comment\r\ndata: " + (v if isinstance(v, str) else json.dumps(v)) + "\r\n\r\n").encode()
                        for n, v in self.events(ANSWER))
        for i in range(0, len(data), 7):
            self.send(data[i:i + 7])

    def fault_no_usage(self):
        value = self.whole(ANSWER)
        del value["usage"]
        self.reply(200, value)

    def fault_over(self):
        """More tokens than were allowed."""
        value = self.whole(ANSWER)
        value["usage"] = {"prompt_tokens": 100000, "completion_tokens": 100000, "input_tokens": 100000, "output_tokens": 100000}
        self.reply(200, value)

    def fault_any(self):
        """The whole list, one after the other, for long runs."""
        faults = ["ok", "slow", "stalled", "cut", "malformed", "wrong-schema", "unauthorized", "limited-for-ever",
                  "retry-after-hours", "broken-for-ever", "redirect", "huge", "utf8", "reset", "cut-late", "hang-late",
                  "html", "stream-error", "crlf", "silent"]
        getattr(self, "fault_" + faults[self.number % len(faults)].replace("-", "_"))()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def server_bind(self):
        """Without looking for the machine's name, which may take its time."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "localhost", self.socket.getsockname()[1]


def main():
    global log_path
    run = sys.argv[1] == "--run"
    log_path = sys.argv[2]
    open(log_path, "w").close()
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if run:
        command = [word.replace("@PORT@", str(server.server_port)) for word in sys.argv[3:]]
        sys.exit(subprocess.run(command).returncode)
    port_file = sys.argv[1]
    with open(port_file + ".tmp", "w") as out:
        out.write(str(server.server_port))
    os.rename(port_file + ".tmp", port_file)
    # Not longer than those who started it.
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.2)


if __name__ == "__main__":
    main()
