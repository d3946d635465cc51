# summary.py - what came of the batches of recipes.py
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What came of the batches, in lines.
import json, sys, glob, os, collections
root = sys.argv[1]
def results(name):
    b = json.load(open(f"{root}/{name}/batch.json"))
    return [(r["id"], json.load(open(p)) if os.path.exists(p := f"{root}/{name}/results/{r['id']}.json") else None) for r in b["requests"]]
rs = results("self"); calls = collections.Counter(r["call"] if r and "call" in r else str(r and r.get("reason")) for _, r in rs)
print("self:", dict(calls))
for k, what in enumerate(["scale 16M", "scale4 256M", "spin", "scale 256K"]):
    g = [r for i, (_, r) in enumerate(rs) if i % 4 == k and r and "ratio" in r and r["ratio"]]
    if g:
        w = sorted((r["high"] or 9) - (r["low"] or 0) for r in g)
        print(f"  {what}: median us {g[0]['original']['median_us']:.2f} warm {g[0]['original']['warm_us']:.2f} ratios {min(r['ratio'] for r in g):.4f}..{max(r['ratio'] for r in g):.4f} width median {w[len(w)//2]:.4f} max {w[-1]:.4f} rounds {sorted(r['rounds'] for r in g)[len(g)//2]} seconds {sorted(r['seconds'] for r in g)[len(g)//2]:.2f} narrow {sum(r['narrow'] for r in g)} excl.1 {sum((r['low'] or 0) > 1 or (r['high'] or 9) < 1 for r in g)} verified {sum(r.get('verified', {}).get('same', False) for r in g)} disagree {sum(r['clocks_disagree'] for r in g)} sets {g[0]['sets']} repeats {g[0]['repeats']} empty {g[0]['empty_us']:.2f} flush {g[0]['flush']}")
for n in ["other"]:
    for i, r in results(n):
        print(i, {k: r.get(k) for k in ["status", "reason", "call", "ratio", "low", "high", "rounds", "seconds"]} if r else None, r and {k: r[k]["median_us"] for k in ["original", "candidate"] if k in r}, r and r.get("verified", {}).get("same"), r and r.get("clocks_after"))
rs = results("bad"); seen = collections.Counter()
for i, r in rs:
    kind = i.split("-")[-1] if i.startswith("bad") else i.split("-")[0] if i.startswith("right") else i
    if not r: seen[(kind, "NO RESULT")] += 1; continue
    out = r.get("reason") or ("same" if r.get("same", r.get("verified", {}).get("same")) else "other results")
    extra = ""
    if r["status"] == "ok" and "buffers" in r:
        b = r["buffers"]; extra = f" wrong {[x['wrong'] for x in b]} unwritten {[x['unwritten'] for x in b]} stray {[x['stray_after'] for x in b]} changed {[x.get('changed') for x in b]}"
    if r["status"] == "ok" and "call" in r: extra = f" call {r['call']} ratio {r['ratio']}"
    seen[(kind, r["status"], out, r.get("who"), extra)] += 1
for k, v in sorted(seen.items(), key=str): print("bad:", v, k)
msgs = {}
for i, r in rs:
    if r and r.get("message"): msgs.setdefault(r["reason"], (i, r["message"][:200], round(r["seconds"], 2)))
for k, v in msgs.items(): print("  ", k, v)
rs = results("rate"); print("rate:", collections.Counter((r["status"], r.get("same"), r.get("call")) for _, r in rs if r), "seconds sum", sum(r["seconds"] for _, r in rs if r), "check median", sorted(r["seconds"] for i, r in rs if r and "check" in i)[60], "time median", sorted(r["seconds"] for i, r in rs if r and "time" in i)[20])
for i, r in results("san"): print(i, r and (r["status"], r.get("reason"), {t: (v["outcome"], (v.get("lines") or [v.get("output")])[:1]) for t, v in r.get("tools", {}).items()}))
