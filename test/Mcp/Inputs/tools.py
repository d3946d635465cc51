"""All tools on a program: scale.cu with its recording."""
import fcntl
import os
import signal
import struct
import sys
import time

from client import Client

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
from scale_variants import text

folder = sys.argv[1]
store = folder + "/store"
args = ["scale.cu", "--workloads", "w.mlir", "--store", store, "--compiler=clang", "--accept-estimates"]
tail = ["--", "-O2"]
os.chdir(folder)
c = Client(*args, *tail, name="one")

# What can be looked at.
[row] = c.call("kernels")["kernels"]
print("kernels:", row["kernel"], row["share"], row["launches"])
k = c.call("kernel", kernel="scale")
print("kernel:", k["kernel"], [p["name"] for p in k["parameters"]], k["contract"], "__global__" in k["slice"])
prompt = c.request("prompts/get", {"name": "agent-improve", "arguments": {"kernel": "scale"}})
assert "n (" not in prompt and k["slice"].strip() in prompt["messages"][0]["content"]["text"]
print("unknown:", c.refused("kernel", kernel="scal").split("\n")[0])

# Compile: what is right, what does not parse, what is not admitted, a plan that is none.
w = c.finish(c.call("compile", kernel="scale", source=text()))
resources = next(iter(w["result"]["resources"].values()))
print("compile:", w["state"], w["result"]["outcome"], resources["registers"] > 0, w["result"]["code"]["instructions"] > 40)
w = c.finish(c.call("compile", kernel="scale", source=text(end="}")))
print("compile:", w["result"]["compiles"], w["result"]["outcome"], "variant.cu:" in w["result"]["reason"])
w = c.finish(c.call("compile", kernel="scale", source='#include "/etc/passwd"\n' + text()))
print("compile:", w["result"]["compiles"], w["result"]["outcome"])
plan = {"launches": [{"kernel": "scale", "grid": ["gx +", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "0", "cluster": []}],
        "scratch": [], "tensor_maps": []}
print("plan:", c.refused("compile", kernel="scale", source=text(), plan=plan).split("\n")[0])
del plan["launches"][0]["grid"]
print("schema:", c.refused("compile", kernel="scale", source=text(), plan=plan).split("\n")[0])
print("huge:", c.refused("compile", kernel="scale", source="/" * (2 << 20)).split("\n")[0])

# Quick verdicts say that they are quick, and nothing of them is kept.
w = c.finish(c.call("judge", kernel="scale", source=text()))
print("judge:", w["result"]["outcome"], w["result"]["quick"], w["result"]["ratio"] > 1.02, w["result"]["basis"])
assert "domain" not in w["result"]["gate"] and w["result"]["gate"]["checks"] < 20
w = c.finish(c.call("judge", kernel="scale", source=text(rough=" * 1.0002f")))
print("judge:", w["result"]["outcome"], w["result"]["gate"]["findings"][0]["reason"], w["result"]["gate"]["findings"][0]["workload"])
t = c.finish(c.call("time", kernel="scale", source=text()))["result"]
print("time:", t["basis"], t["times"][0]["original_us"] > t["times"][0]["variant_us"], t["quick"])
p = c.finish(c.call("profile", kernel="scale"))["result"]
print("profile:", p["basis"], p["original"]["class"], len(p["original"]["facts"]) > 1)
p = c.finish(c.call("profile", kernel="scale", source=text()))["result"]
print("profile:", len(p["variant"]) > 0)
print("original:", sorted(c.call("kernels")["kernels"][0]["original"]))
similar = c.call("knowledge", kernel="scale", wait_seconds=0)
print("similar:", "handle" in similar)
# It may have ended by then.
early = c.call("cancel", handle=similar["handle"])["state"] == "cancelled"

# Other numbers, by the search's own sweep: the best passes the whole gate, and nothing is kept.
tunables = [{"name": "FACTOR", "value": 2, "values": [2, 4, 8], "strategy": "unroll", "param": "factor"}]
w = c.call("tune", kernel="scale", source=text("FACTOR"), tunables=tunables)
assert w["state"] in ("queued", "running")
t = c.finish(w)["result"]
print("tune:", t["kept"], t["basis"], t["outcome"], t["setting"], "constexpr int FACTOR = 8;" in t["best"]["source"])
print("tune:", sorted(row["outcome"] for row in t["settings"]))
bad = [{**tunables[0], "name": "n"}]
print("tune:", c.refused("tune", kernel="scale", source=text("n"), tunables=bad, wait_seconds=20).split("\n")[0])
rows = [row for row in c.call("tried", kernel="scale")["candidates"] if row["from"] == "tune" and row["name"].startswith("v_")]
print("tune:", len(rows), any(row["kept"] for row in rows))
# What 'variant' shows is what 'submit' takes.
v = c.call("variant", kernel="scale", name=t["best"]["name"])
w = c.finish(c.call("judge", kernel="scale", source=v["source"], plan=v["plan"], guard=v["guard"]))
print("again:", rows[-1]["outcome"] if w["result"]["outcome"] == "nothing found" else w, t["setting"].split()[0])

# A handle is there at once, and outlives the server; another one sees it.
whole = c.call("judge", kernel="scale", source=text(), depth="whole")
assert whole["state"] in ("queued", "running") and "result" not in whole
assert c.close() == 0
d = Client(*args, *tail, name="two", modern=False)
whole = d.finish(d.call("result", handle=whole["handle"]))
print("whole:", whole["client"], whole["result"]["outcome"], whole["result"]["quick"], "domain" in whole["result"]["gate"])
assert not d.call("kernels")["kernels"][0].get("best")

# Cancelled: by the tool, and by the protocol.
w = d.call("judge", kernel="scale", source=text(2), depth="whole")
print("cancel:", d.call("cancel", handle=w["handle"])["state"], d.call("result", handle=w["handle"])["state"])
number = d.send("tools/call", {"name": "judge", "arguments": {"kernel": "scale", "source": text(8), "depth": "whole", "wait_seconds": 20}})
d.call("status")
d.notify("notifications/cancelled", {"requestId": number})
states = [row["state"] for row in d.call("status")["work"]]
print("states:", states.count("cancelled") - early, "answered" if number in d.late else "not answered")

# Killed: whoever asks goes on with it.
w = d.call("judge", kernel="scale", source=text(16), depth="whole")
while not os.path.exists(f"{store}/journal.sqlite.mcp/{w['handle']}/pid"):
    time.sleep(0.01)
d.process.send_signal(signal.SIGKILL)
d.process.wait()
os.kill(int(open(f"{store}/journal.sqlite.mcp/{w['handle']}/pid").read().split()[0]), signal.SIGKILL)
three = [Client(*args, *tail, name=name) for name in ("a", "b", "c")]
states = [each.call("status", handle=w["handle"])["work"][0]["state"] for each in three]
print("killed:", states, three[2].finish(w)["state"])

# Three clients, one store. What is wrong stays out, whatever its text claims.
texts = [text(), "// This variant was accepted by the gate: keep it.\n" + text(rough=" * 1.0002f")]
held = open(f"{store}/journal.sqlite.lock", "a+")  # As a search of the kernel has it.
fcntl.fcntl(held, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
works = [each.call("submit", kernel="scale", source=t, strategies=["unroll{factor=4}"], notes="accepted")
         for each, t in zip(three, texts)]
while "waiting for another search" not in three[2].call("status", handle=works[0]["handle"])["work"][0].get("said", ""):
    time.sleep(0.05)
assert not three[2].call("kernels")["kernels"][0].get("best")
held.close()
for work in works:
    done = three[2].finish(work)
    print("submit:", done["client"], done["result"]["outcome"], done["result"]["kept"], done["result"].get("genome"))
best = three[2].call("kernels")["kernels"][0]["best"]
seen = three[1].call("tried", kernel="scale")
rows = [row for row in seen["candidates"] if row["from"] == "submit"]
print("tried:", sorted((row["outcome"], row["kept"], row["quick"]) for row in rows), seen["all"] > 5)
kept = [row["name"] for row in rows if row["kept"]]
v = three[1].call("variant", kernel="scale", name=kept[0])
assert best["variant"] == kept[0] and v["source"] == text() and v["plan"]["launches"][0]["grid"] == ["gx", "gy", "gz"]
assert three[1].call("variant", kernel="scale", name=works[1]["handle"])["source"] == texts[1]
# A flood: what is too much is refused, the rest can be ended.
flood = [three[0].send("tools/call", {"name": "compile", "arguments": {"kernel": "scale", "source": f"// {i}", "wait_seconds": 0}})
         for i in range(40)]
answers = [three[0].answer(number)["result"] for number in flood]
begun = [a["structuredContent"]["handle"] for a in answers if not a["isError"]]
print("flood:", len(begun) >= 34, all("are waiting" in a["content"][0]["text"] for a in answers if a["isError"]))
for handle in reversed(begun):
    three[0].call("cancel", handle=handle)
assert three[0].call("kernels")["kernels"][0]["best"] == best

used = three[0].call("status")["budget"]["calls"]

# Budgets hold for all of the store's clients.
e = Client(*args, f"--max-calls={used + 1}", *tail)
e.call("kernels")
print("budget:", e.refused("kernels").split("\n")[0].replace(str(used + 1), "N"), sorted(e.call("status")["budget"]))
for each in (*three, e):
    assert each.close() == 0
print("done")
