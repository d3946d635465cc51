"""The inspector's command line calls every tool: inspector.py NODES MODULES FOLDER. Each call is a client and a server of its own."""
import json
import os
import subprocess
import sys

nodes, modules, folder = sys.argv[1:]
os.environ["PATH"] = nodes + os.pathsep + os.environ["PATH"]
json.dump({"mcpServers": {"bench": {"command": "cupilot", "args": [
    "mcp", "scale.cu", "--workloads", "w.mlir", "--store", "store", "--compiler=clang", "--", "-O2"]}}}, open(folder + "/inspector.json", "w"))


def inspect(*args):
    out = subprocess.run(["node", modules + "/node_modules/.bin/mcp-inspector", "--cli", "--config", folder + "/inspector.json", "--server", "bench", *args],
                         cwd=folder, stdout=subprocess.PIPE, text=True, timeout=600)
    # With a tool's error it ends with another status.
    return json.loads(out.stdout)


def call(tool, **arguments):
    pairs = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in arguments.items()]
    result = inspect("--method", "tools/call", "--tool-name", tool, *[word for pair in pairs for word in ("--tool-arg", pair)])
    print(tool, "error" if result.get("isError") else "ok")
    return result.get("structuredContent", {})


tools = [t["name"] for t in inspect("--method", "tools/list")["tools"]]
source = "__global__ void scale(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = 2.0f * p[i]; }\n"
called = {}
for tool, arguments in (("kernels", {}), ("kernel", {"kernel": "scale"}), ("tried", {"kernel": "scale"}), ("knowledge", {"query": "unroll"}),
                        ("compile", {"kernel": "scale", "source": source}), ("judge", {"kernel": "scale", "source": source}),
                        ("time", {"kernel": "scale", "source": source}), ("profile", {"kernel": "scale"}),
                        ("tune", {"kernel": "scale", "source": source, "tunables": [
                            {"name": "N", "value": 1, "values": [1, 2], "strategy": "unroll", "param": "factor"}]}),
                        ("submit", {"kernel": "scale", "source": source}), ("status", {})):
    called[tool] = call(tool, **arguments)
handle = called["submit"]["handle"]
call("variant", kernel="scale", name=handle)
call("result", handle=handle)
call("cancel", handle=handle)
called.update(variant={}, result={}, cancel={})
print("all:", sorted(called) == sorted(tools))
