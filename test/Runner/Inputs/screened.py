# screened.py CACHE SPOOL: what the batches of two searches asked for.
import glob
import json
import os
import sys

cache, spool = sys.argv[1:]


def candidates(path):
    """Names of the candidates of a batch, and the kinds of its requests."""
    requests = json.JSONDecoder().raw_decode(open(path).read())[0]["requests"]  # Some were touched since.
    return {r["group"] for r in requests if r.get("group", "").startswith("c")}, {r["kind"] for r in requests}


batches = sorted(glob.glob(f"{cache}/batches/*/batch.json"), key=os.path.getmtime)
(first, kinds), (then, _) = candidates(batches[0]), candidates(batches[1])
assert kinds == {"compare", "time"} and then < first, (kinds, first, then)
print(f"cache: {len(first)} of 4 compared and timed before the gate, then {len(then)} again")
spooled = [candidates(p)[1] for p in glob.glob(f"{spool}/*/batch.json")]
print("spool: none before the gate" if all("ceilings" in k or "sanitize" in k for k in spooled) else spooled)
