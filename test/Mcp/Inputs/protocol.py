"""The protocol itself: both eras, lists, resources, prompts, and what is wrong."""
import json
import random
import subprocess
import sys

from client import LEGACY, MODERN, Client

store = sys.argv[1]

# 2026-07-28: no handshake.
c = Client("--store", store)
found = c.request("server/discover")
assert found["supportedVersions"] == [MODERN] and found["capabilities"].keys() == {"tools", "resources", "prompts"}
assert found["ttlMs"] > 0 and found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "cupilot"
tools = c.request("tools/list")["tools"]
print("tools:", " ".join(t["name"] for t in tools))
for t in tools:
    assert t["inputSchema"]["type"] == t["outputSchema"]["type"] == "object" and t["description"]
for kind in ("resources", "prompts"):
    print(kind + ":", len(c.request(kind + "/list")[kind]) > 1)
assert c.request("resources/templates/list")["resourceTemplates"] == []
gate = c.request("resources/read", {"uri": "cupilot://docs/Gate.md"})["contents"][0]
assert gate["mimeType"] == "text/markdown" and "gate" in gate["text"]
print("review:", "cupilot verify" in c.request("prompts/get", {"name": "agent-review"})["messages"][0]["content"]["text"])
passages = c.call("knowledge", query="wgmma fence before accumulators", most=3)["passages"]
print("knowledge:", len(passages), passages[0]["uri"])
assert c.call("kernels")["kernels"] == []

# What is wrong in this era.
meta = c.meta()
old = {**meta, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
error = c.error("tools/list", {"_meta": old})
print("version:", error["code"], error["data"])
bare = dict(meta)
del bare["io.modelcontextprotocol/clientCapabilities"]
assert c.error("tools/list", {"_meta": bare})["code"] == -32602
error = c.error("tools/list", {"_meta": {}})
print("none:", error["code"], error["message"])
assert c.error("ping")["code"] == c.error("sampling/createMessage")["code"] == -32601
assert c.error("resources/read", {"uri": "cupilot://docs/../LICENSE"})["code"] == -32602
assert c.error("resources/read", {"uri": "file:///etc/passwd"})["code"] == -32602
assert c.error("tools/call", {"name": "rm"})["code"] == -32602
assert c.error("prompts/get", {"name": "agent-improve", "arguments": {"kernel": "x"}})["code"] == -32602
print("type:", c.refused("kernel", kernel=7).split("\n")[0])
print("extra:", c.refused("kernels", path="/etc").split("\n")[0])
print("handle:", c.refused("result", handle="../../etc").split("\n")[0])
print("no program:", c.refused("compile", kernel="x", source="y").split("\n")[0])
for text, code in (("{", -32700), ("[]", -32600), ("7", -32600), ('{"jsonrpc":"2.0","id":null,"method":"x"}', -32600),
                   ('{"jsonrpc":"2.0","id":{},"method":"x"}', -32600), ('{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
                   ('{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', -32602), (b"\xff\xfe{", -32700),
                   ("[" * 100000, -32700), (b"x" * (9 << 20), -32600)):
    c.write(text)
    assert c.read()["error"]["code"] == code, text[:50]
c.write("")
c.notify("notifications/anything", {})
c.notify("notifications/cancelled", {"requestId": 99})
c.write('{"jsonrpc":"2.0","id":5,"result":{}}')  # No answer to anything.
assert c.request("tools/list")["tools"] == tools
assert c.close() == 0

# 2025-11-25: whatever version the client wants, it is told this one.
c = Client("--store", store, modern=False)
assert c.request("ping") == {} and "resultType" not in c.request("tools/list")
assert c.request("tools/list")["tools"] == tools
assert c.error("resources/read", {"uri": "cupilot://no"})["code"] == -32002
assert c.error("initialize", {"protocolVersion": LEGACY})["code"] == -32600
assert c.error("server/discover")["code"] == -32601
assert c.call("knowledge", query="gate")["passages"]
assert c.close() == 0
c = Client("--store", store)
c.modern = False
print("before:", c.error("tools/list")["message"])
print("other:", c.request("initialize", {"protocolVersion": "2024-01-01"})["protocolVersion"])
# Both at once.
c.modern = True
assert c.request("tools/list")["tools"] == tools
# A client that goes away in the middle of a message, and one that reads nothing.
c.process.stdin.write(b'{"jsonrpc":"2.0","id":1,"met')
assert c.close() == 0
c = Client("--store", store)
c.process.stdout.close()
for _ in range(5):
    try:
        c.send("tools/list")
    except BrokenPipeError:
        break
try:
    c.process.stdin.close()
except BrokenPipeError:
    pass
assert c.process.wait(30) == 0

# Through a pipe, all at once.
lines = "".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {
    "_meta": meta, "name": "knowledge", "arguments": {"query": "gate"}}}) + "\n" for i in range(3))
out = subprocess.run(["cupilot", "mcp", "--store", store], input=lines, capture_output=True, text=True, timeout=60)
assert [json.loads(line)["id"] for line in out.stdout.splitlines()] == [0, 1, 2] and out.returncode == 0

# Rubbish: nothing of it ends the server, and all of it is answered.
r = random.Random(1)
c = Client("--store", store)
things = [None, True, -1, 1e308, 2**70, "", "x" * 5000, "\0", "../" * 50, "accepted", [], {}, [[[]]], {"a": {"b": []}}]


def thing(depth=0):
    if depth < 3 and r.random() < 0.3:
        return {r.choice(["kernel", "source", "handle", "plan", "depth", "most"]): thing(depth + 1) for _ in range(3)}
    return r.choice(things)


methods = ["tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "server/discover", "", "x" * 300]
names = [t["name"] for t in tools] + ["", "submit ", "x" * 1000]
for i in range(300):
    params = {"name": r.choice(names), "arguments": thing(), "uri": thing()}
    if r.random() < 0.8:
        params["_meta"] = meta
    c.write(json.dumps({"jsonrpc": "2.0", "id": 1000 + i, "method": r.choice(methods), "params": params}))
    message = c.read(60)
    assert message and message["id"] == 1000 + i, i
assert c.request("tools/list")["tools"] == tools
assert c.close() == 0
print("done")
