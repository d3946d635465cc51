"""Streamable HTTP before a server that speaks over standard input and output, for suites of tests that know HTTP alone:

    over_http.py LOG COMMAND...

runs COMMAND with the address in the place of @URL@. Each session (initialize) has a server of its own; LOG gets what servers
write to standard error. Server options stand in MCP_ARGS. One request is one answer: the server asks its client nothing.
"""
import json
import os
import shlex
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

sessions = {}
# The conformance suite asks for things of a server that was made for it. Where cupilot has the like, it is asked for that.
TOOLS = {"test_simple_text": ("knowledge", {"query": "gate"}), "test_error_handling": ("result", {"handle": "h_none"})}
OTHERS = {"test://static-text": "cupilot://docs/Gate.md", "test_simple_prompt": "agent-review"}


def as_own(message):
    params = message.get("params") or {}
    if message.get("method") == "tools/call" and params.get("name") in TOOLS:
        params["name"], params["arguments"] = TOOLS[params["name"]]
    for key in ("uri", "name"):
        params[key] = OTHERS.get(params.get(key), params.get(key))
        if params[key] is None:
            del params[key]
    return message



class Session:
    def __init__(self):
        self.lock = threading.Lock()
        self.process = subprocess.Popen(["cupilot", "mcp", *shlex.split(os.environ["MCP_ARGS"])], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=log, text=True)

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, message):
        with self.lock:
            self.send(message)
            return json.loads(self.process.stdout.readline())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value=None, **headers):
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def is_local(self):
        """Names that a page elsewhere may have given this address are none of it."""
        names = [self.headers.get("Host", ""), urlsplit(self.headers.get("Origin", "")).netloc]
        return all(not name or name.rsplit(":", 1)[0] in ("localhost", "127.0.0.1", "[::1]") for name in names)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        session = sessions.pop(self.headers.get("Mcp-Session-Id"), None)
        if session:
            session.process.stdin.close()
            session.process.wait(30)
        self.reply(200 if session else 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_local():
            return self.reply(403, {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "another host's page"}})
        message = as_own(json.loads(body))
        name = self.headers.get("Mcp-Session-Id")
        if message.get("method") == "initialize":
            name = uuid.uuid4().hex
            sessions[name] = Session()
        if name not in sessions:
            return self.reply(404 if name else 400, {"jsonrpc": "2.0", "id": message.get("id"),
                                                     "error": {"code": -32000, "message": "no such session"}})
        if "id" not in message:
            sessions[name].send(message)
            return self.reply(202)
        self.reply(200, sessions[name].ask(message), Mcp_Session_Id=name)


log = open(sys.argv[1], "w")
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
status = subprocess.run([word.replace("@URL@", f"http://127.0.0.1:{server.server_port}/mcp") for word in sys.argv[2:]]).returncode
for session in sessions.values():
    session.process.stdin.close()
sys.exit(status)
