# Writes recipes (see MakeBatch.cpp) for the fake driver:
#   recipe.py OUT.json KIND SYMBOL...   a request of KIND for each candidate
# SYMBOL is a kernel of kernels.txt; "A+B" makes a program with two launches;
# "SYMBOL@BYTES" has so much scratch memory. Options: --group (all in one),
# --numbers N, --timeout MS, --time JSON, --original SYMBOL, --image FILE.
import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("kind")
parser.add_argument("symbols", nargs="*")
parser.add_argument("--group", action="store_true")
parser.add_argument("--numbers", type=int, default=1000)
parser.add_argument("--timeout", type=int, default=2000)
parser.add_argument("--time", type=json.loads, default={})
parser.add_argument("--original", default="add")
parser.add_argument("--image", default="kernels.txt")
parser.add_argument("--data", default="")
parser.add_argument("--arch", default="sm_90")
parser.add_argument("--factor", action="store_true", help="set the variable factor")
parser.add_argument("--cluster", type=int, default=0)
parser.add_argument("--relative", type=float, default=0)
parser.add_argument("--norm", type=float, default=0)
parser.add_argument("--race", type=int, default=0, help="time on so many levels of one race")
options = parser.parse_args()
here = os.path.dirname(os.path.abspath(__file__))


def program(text, image):
    symbols, _, scratch = text.partition("@")
    launches = []
    for symbol in symbols.split("+"):
        launch = {
            "image": f"@image:{os.path.join(here, image)}",
            "symbol": symbol,
            "grid": [4, 1, 1],
            "block": [256, 1, 1],
            "args": ["00" * 8, "00" * 8, options.numbers.to_bytes(4, "little").hex()],
            "patches": [{"arg": 0, "offset": 0, "buffer": 0, "at": 0}, {"arg": 1, "offset": 0, "buffer": 1, "at": 0}],
        }
        if options.cluster:
            launch["cluster"] = [options.cluster, 1, 1]
        launches.append(launch)
    made = {"launches": launches}
    if scratch:
        made["scratch"] = [int(scratch)]
    return made


size = 4 * options.numbers
first = {"size": size, "use": "in", "holds": "f32"}
if options.data:
    first["data"] = f"@data:{options.data}"
else:
    first["generator"] = "f32 uniform seed=3"
variables = []
if options.factor:
    variables.append({"symbol": "factor", "size": 4, "use": "in", "generator": "f32 value=2.5", "holds": "f32"})
case = {"name": "w0", "buffers": [first, {"size": size, "use": "out", "holds": "f32"}], "variables": variables}
requests = []
for i, symbol in enumerate(options.symbols):
    requests.append({
        "id": f"r{i}-{symbol.split('@')[0].replace('+', '-')}",
        "kind": options.kind,
        "group": "one" if options.group else f"g{i}",
        "case": 0,
        "original": program(options.original, "kernels.txt"),
        "candidate": program(symbol, options.image),
        "timeout_ms": options.timeout,
        "time": options.time,
        "tolerance": {"relative": options.relative, "norm": options.norm},
        "tools": ["memcheck", "racecheck"],
    })
    if options.kind == "run":
        del requests[-1]["original"]
if options.race:
    requests = [{**r, "id": f"{r['id']}-time{level}", "time": {**options.time, "most_rounds": 12 << level},
                 "heat": {"race": "tune", "level": level}} for level in range(options.race) for r in requests]
with open(options.out, "w") as out:
    json.dump({"id": "test", "arch": options.arch, "cases": [case], "requests": requests}, out)
