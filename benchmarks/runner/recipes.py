# recipes.py - batches of known and of bad kernels for the runner
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the recipes of the batches (make-batch turns them into batches).
import json, sys, os
out = sys.argv[1]; os.makedirs(out, exist_ok=True)
IMG = "@image:" + os.path.abspath("kernels.cubin")
def case(name, n, gen="f32 uniform seed=%d"):
    return {"name": name, "buffers": [
        {"size": 4 * n, "use": "in", "generator": gen % (n % 97 + 1), "holds": "f32"},
        {"size": 4 * n, "use": "out", "holds": "f32"}], "variables": []}
def program(symbol, n, per=1, scratch=None):
    args = ["00" * 8, "00" * 8, n.to_bytes(4, "little").hex()]
    p = {"launches": [{"image": IMG, "symbol": symbol, "grid": [(n + 256 * per - 1) // (256 * per), 1, 1], "block": [256, 1, 1],
        "shared": 0, "args": args, "patches": [{"arg": 0, "offset": 0, "buffer": 0, "at": 0}, {"arg": 1, "offset": 0, "buffer": 1, "at": 0}]}]}
    if symbol == "outside": p["launches"][0]["grid"][0] += 1
    if scratch: p["scratch"] = [scratch]
    return p
def write(name, cases, requests):
    for r in requests: r.setdefault("timeout_ms", 2000)
    json.dump({"id": name, "arch": "sm_90", "cases": cases, "requests": requests}, open(f"{out}/{name}.json", "w"))
small, mid, big = 1 << 16, 1 << 22, 1 << 26
# 1: a kernel and itself, 200 times, of three kinds, in processes of their own for ten each.
reqs = []
for i in range(200):
    n, s, per, c = [(mid, "scale", 1, 0), (big, "scale4", 4, 1), (small, "spin", 1, 2), (small, "scale", 1, 2)][i % 4]
    reqs.append({"id": f"self-{i:03}", "kind": "time", "group": f"self{i//10}", "case": c, "original": program(s, n, per),
        "candidate": program(s, n, per), "time": {"precision": 0.005, "margin": 0.02, "error": 0.01, "budget_ms": 400, "sets": 3}})
write("self", [case("mid", mid), case("big", big), case("small", small)], reqs)
# 2: true differences.
reqs = []
for i in range(6):
    a, b, pa, pb = [("scale", "scale4", 1, 4), ("scale", "scale105", 1, 1), ("scale4", "scale", 4, 1)][i % 3]
    reqs.append({"id": f"other-{i}", "kind": "time", "case": 0, "original": program(a, big, pa), "candidate": program(b, big, pb)})
write("other", [case("big", big)], reqs)
# 3: 50 bad ones, and a right one after each tenth.
bad = ["hangs", "traps", "illegal", "outside", "memory", "misaligned", "asserts", "deep", "spoils", "skips"]
reqs = []
for i in range(50):
    b = bad[i % 10]
    cand = program("scale", mid, scratch=1 << 39) if b == "memory" else program(b, mid)
    reqs.append({"id": f"bad-{i:02}-{b}", "kind": "compare", "group": f"bad{i}", "case": 0, "original": program("scale", mid), "candidate": cand})
    if i % 10 == 9:
        reqs.append({"id": f"right-{i:02}", "kind": "compare", "group": f"right{i}", "case": 0, "original": program("scale", mid), "candidate": program("scale4", mid, 4)})
reqs.append({"id": "odd-replays", "kind": "compare", "group": "o1", "case": 0, "original": program("scale", mid), "candidate": program("replays", mid)})
reqs.append({"id": "odd-replays-time", "kind": "time", "group": "o1", "case": 0, "original": program("scale", mid), "candidate": program("replays", mid)})
reqs.append({"id": "odd-nearly", "kind": "compare", "case": 0, "original": program("scale", mid), "candidate": program("nearly", mid)})
reqs.append({"id": "odd-prints", "kind": "compare", "case": 1, "original": program("scale", small), "candidate": program("prints", small)})
write("bad", [case("mid", mid), case("small", small)], reqs)
# 4: how many a minute: three checks and one timing each.
reqs = []
for i in range(40):
    for k, n in enumerate([mid, small, mid + 4]):
        reqs.append({"id": f"c{i:02}-check{k}", "kind": "compare", "group": f"c{i}", "case": k, "original": program("scale", n), "candidate": program("scale4", n, 4)})
    reqs.append({"id": f"c{i:02}-time", "kind": "time", "group": f"c{i}", "case": 0, "original": program("scale", mid), "candidate": program("scale4", mid, 4),
        "time": {"precision": 0.005, "margin": 0.02, "error": 0.01, "budget_ms": 500, "sets": 3}})
write("rate", [case("mid", mid), case("small", small), case("odd", mid + 4)], reqs)
# 5: compute-sanitizer.
n = 4096
reqs = [{"id": f"san-{s}", "kind": "sanitize", "case": 0, "candidate": program(s, n), "timeout_ms": 3000} for s in ["scale", "outside", "races", "unset", "diverges"]]
write("san", [case("tiny", n)], reqs)
