# Prints what matters of the one batch in a spool folder.
import glob
import json
import os
import sys

(path,) = glob.glob(sys.argv[1] + "/*/batch.json")
with open(path) as file:
    batch = json.load(file)
assert os.path.basename(os.path.dirname(path)) == batch["id"]
for r in batch["requests"]:
    if r["kind"] == "ceilings":
        print(r["id"], r["kind"])
        continue
    original, candidate = (r[who]["launches"][0] for who in ("original", "candidate"))
    print(r["id"], r["kind"], r["group"], original["grid"], candidate["grid"], candidate["block"])
print("args", *(a[-8:] for a in candidate["args"]), "patches", [(p["arg"], p["buffer"]) for p in candidate["patches"]])
buffers = batch["cases"][0]["buffers"]
print("buffers", " / ".join(f"{b['use']} {b.get('generator')} {b['holds']} {b['size'] // 4}" for b in buffers))
print("images", len(batch["images"]))
for digest, kind in batch["images"].items():
    assert os.path.exists(f"{os.path.dirname(path)}/images/{digest[3:]}.{kind}")
