"""A small client of the Model Context Protocol over standard input and output, for tests."""
import json
import os
import select
import subprocess
import time

MODERN, LEGACY = "2026-07-28", "2025-11-25"
WAIT = 600


class Client:
    """A server and the one who speaks to it; `modern` says in which era."""

    def __init__(self, *args, modern=True, name="test", env=None):
        self.modern, self.name, self.number, self.late = modern, name, 0, {}
        self.process = subprocess.Popen(["cupilot", "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, **(env or {})})
        self.rest = b""
        if not modern:
            self.request("initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                        "clientInfo": {"name": name, "version": "1"}})
            self.notify("notifications/initialized", {})

    def write(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self, seconds=WAIT):
        """The next message; None at the end or when none comes."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                return None
            self.rest += chunk
        line, _, self.rest = self.rest.partition(b"\n")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def meta(self):
        return {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"}, "cupilot/model": "none"}

    def notify(self, method, params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def send(self, method, params=None):
        self.number += 1
        params = dict(params or {})
        if self.modern:
            params.setdefault("_meta", self.meta())
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        return self.number

    def answer(self, number, seconds=WAIT):
        while number not in self.late:
            message = self.read(seconds)
            assert message is not None, "no answer"
            self.late[message["id"]] = message
        return self.late.pop(number)

    def request(self, method, params=None):
        message = self.answer(self.send(method, params))
        assert "error" not in message, message
        if self.modern:
            assert message["result"]["resultType"] == "complete"
        return message["result"]

    def error(self, method, params=None):
        return self.answer(self.send(method, params))["error"]

    def call(self, tool, **arguments):
        """A tool's structured result."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def refused(self, tool, **arguments):
        """The text of a tool's error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"], result
        return result["content"][0]["text"]

    def finish(self, work):
        """Waits for the work of a call."""
        while work["state"] in ("queued", "running"):
            work = self.call("result", handle=work["handle"], wait_seconds=20)
        return work

    def close(self):
        self.process.stdin.close()
        return self.process.wait(30)
