"""The tools that ask a GPU, without one here."""
import os
import signal
import time

from client import Client

args, tail = ["scale.cu", "--workloads", "w.mlir", "--compiler=clang"], ["--", "-O2"]

c = Client(*args, "--store", "s", "--device", "spool:gpu", *tail)
w = c.call("profile", kernel="scale", wait_seconds=0)
while not os.path.isdir("gpu") or not os.listdir("gpu"):
    time.sleep(0.05)
assert c.close() == 0
d = Client(*args, "--store", "s", "--device", "spool:gpu", *tail)
row = d.call("status", handle=w["handle"])["work"][0]
print("spool:", row["state"], row.get("said"), "result" not in row)
print("cancelled:", d.call("cancel", handle=w["handle"])["state"], d.call("result", handle=w["handle"])["state"] == "cancelled")
print("counts:", d.call("kernels")["budget"]["gpu_seconds"] > 0)
assert d.close() == 0

# Killed while it waits: the pause until somebody goes on with it is no time of the GPU.
PAUSE = 5
began = time.monotonic()
d = Client(*args, "--store", "s", "--device", "spool:gpu", *tail)
source = open("scale.cu").read().split("int main")[0].replace("#include <cstdio>", "")
w = d.call("time", kernel="scale", source=source, wait_seconds=0)
place = f"s/journal.sqlite.mcp/{w['handle']}"
while not os.path.exists(place + "/gpu"):
    assert d.call("status", handle=w["handle"])["work"][0]["state"] in ("queued", "running")
    time.sleep(0.05)
d.process.kill()
d.process.wait()
os.killpg(int(open(place + "/pid").read().split()[0]), signal.SIGKILL)
time.sleep(PAUSE)
d = Client(*args, "--store", "s", "--device", "spool:gpu", *tail)
assert d.call("status", handle=w["handle"])["work"][0]["state"] in ("queued", "running")
used = d.call("cancel", handle=w["handle"])["gpu_seconds"]
print("pause:", used < time.monotonic() - began - PAUSE)
assert d.close() == 0

e = Client(*args, "--store", "s", "--device", "spool:gpu", "--max-gpu-seconds=0", *tail)
print("budget:", e.refused("profile", kernel="scale").split("\n")[0])
print("looks:", e.call("kernels")["kernels"][0]["kernel"])
print("compiles:", e.finish(e.call("compile", kernel="scale", source=open("scale.cu").read()))["state"])
assert e.close() == 0

f = Client(*args, "--store", "t", "--device", "cuda", *tail)
result = f.request("tools/call", {"name": "profile", "arguments": {"kernel": "scale"}})
while result["structuredContent"]["state"] in ("queued", "running"):
    result = f.request("tools/call", {"name": "result", "arguments": {
        "handle": result["structuredContent"]["handle"], "wait_seconds": 20}})
assert result["isError"] and result["content"][0]["text"].startswith(result["structuredContent"]["error"])
print("none:", result["structuredContent"]["state"], result["structuredContent"]["error"])
assert f.close() == 0
