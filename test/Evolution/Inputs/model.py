#!/usr/bin/env python3
"""A model for tests: answers the agents' prompts on the kernel of scale.cu.

What it answers follows from the prompt alone. FAULT names what is wrong with
its answers, LOG a file that gets a line for each call.
"""
import json
import os
import re
import sys

prompt = sys.stdin.read()
fault = os.environ.get("FAULT", "")
AGENTS = (("improver", "Now you improve a variant"), ("prophet", "You are the Roofline Prophet"), ("manager", "You are the SCE Manager"),
          ("translator", "You are the Strategy Translator"), ("revisor", "You are the Kernel Revisor"),
          ("crossover", "You combine the code of two"))
agent = next((name for name, text in AGENTS if text in prompt), "unknown")
if "LOG" in os.environ:
    with open(os.environ["LOG"], "a") as log:
        print(agent, "repair" if "That answer cannot be used" in prompt else "", file=log)


POLYNOMIAL = "__device__ float polynomial(float x) {\n  float y = x;\n" + "  y = y * x + 0.5f;\n" * 40 + "  return y;\n}\n"


def body(factor, first="0", end=""):
    # Not exact to 1 in 5000.
    rough = " * 1.0002f" if fault == "rough" else ""
    return POLYNOMIAL + f"""__global__ void scale(float *p, int n, float k) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = p[i], sum = {first};
#pragma unroll {factor}
  for (int j = 0; j < 32; ++j)
    sum += polynomial((v * k + j) * 0.004f);
  p[i] = sum{rough};{end}
}}
"""


# Numbers that FAULT=tunes leaves open, and what is wrong with some.
TUNABLES = [{"name": "FACTOR", "value": 2, "values": [2, 4, 8], "strategy": "unroll", "param": "factor"},
            {"name": "BLOCK", "value": 128, "values": [64, 128, 2048], "strategy": "block_size", "param": "x"}]
WRONG = {"empty": {"values": []}, "huge": {"values": list(range(9000))}, "gene": {"strategy": "loop_tiling"},
         "param": {"param": "width"}, "taken": {"name": "n"}}


def tuned():
    # A name in source, plan and guard. Blocks of 2048 threads are no launch.
    a = variant(body("FACTOR"), ["unroll", "block_size"], tunables=[dict(T) for T in TUNABLES])
    a["plan"]["launches"][0].update(grid=["n ceildiv BLOCK", "1", "1"], block=["BLOCK", "1", "1"])
    a["guard"]["conditions"] = ["bx == 128", "gx * 128 >= n", "n >= BLOCK"]
    if os.environ.get("WRONG"):
        a["tunables"][0].update(WRONG[os.environ["WRONG"]])
    return a


def variant(source, genes, tunables=(), **more):
    launch = {"kernel": "scale", "grid": ["gx", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "shared", "cluster": []}
    if "Tunables: numbers" in prompt:
        more["tunables"] = list(tunables)
    return {**more, "source": source, "plan": {"launches": [launch], "scratch": [], "tensor_maps": []},
            "guard": {"conditions": [], "align": [], "disjoint": []}, "carried_out": genes, "notes": "as asked"}


def genome(*genes, parents=(), dropped=()):
    return {"parents": list(parents), "dropped": [{"strategy": s, "reason": r} for s, r in dropped], "genes": [{"strategy": name, "params": [{"name": k, "value": str(v)} for k, v in params.items()]}
                      for name, params in genes], "reason": "it may help"}


# What the prompt asks for: of a repair its one line, of a translation the list.
listed = prompt.split("Genome:\n")[-1] if agent == "translator" else prompt.split("for the genome ")[-1].split("\n")[0]
genes = re.findall(r"([a-z_]+)\{([^}]*)\}", listed.split("What is known")[0].split("Rules for the source")[0])
names = [name for name, _ in genes]
factor = next((int(text.split("=")[1]) for name, text in genes if name == "unroll"), 1)

if fault == "rubbish":
    print("I would rather talk about the weather.")
elif fault == "hostile":
    # Out of the plan, out of the source, into the shell and the file system.
    a = variant(body(4), ["unroll"])
    a["plan"]["launches"][0]["grid"][0] = "gx); launch evil: grid=(1, 1, 1"
    a["guard"]["conditions"] = ["n >= 0; align ../../etc/passwd 16"]
    if "That answer cannot be used" in prompt:
        a = variant('#include "/etc/passwd"\n__attribute__((constructor)) void f();\n' + body(4), ["unroll"])
    if agent == "revisor":
        a = variant(body(4) + "void host() { system(\"touch owned\"); }\n", ["unroll"], action="repair")
    if agent in ("prophet", "manager"):
        a = {"class": "owned", "strategies": ["../../strategies"], "genomes": "all"}
    print(json.dumps(a))
elif fault == "tunes" and agent == "translator" and names == ["unroll"]:
    print(json.dumps(tuned()))
elif fault == "tunes" and agent == "improver":
    # It sees the names, and what they are set to.
    assert "#pragma unroll FACTOR" in prompt and "n ceildiv BLOCK" in prompt and "FACTOR = 8 of [2, 4, 8] (unroll.factor)" in prompt
    print(json.dumps(tuned()))
elif agent == "improver":
    # The second one changes nothing; the others unroll more.
    number = int((re.findall("you are number ([0-9]+)", prompt) or ["1"])[0])
    same = re.search(r"<<<<<<<< variant\.cu [0-9a-f]+\n(.*?)\n>>>>>>>> variant\.cu", prompt, re.S).group(1)
    if number == 2 or fault == "unchanged":
        print(json.dumps(variant(same, ["unroll"])))
    else:
        print(json.dumps(variant(body(10 if number == 1 else 6), ["unroll{factor=8}", "no_such_strategy"])))
elif agent == "prophet":
    print(json.dumps({"class": "latency", "moved": "has ended" in prompt, "reason": "few warps", "metrics": ["warps", "no_such_metric"],
                      "strategies": ["unroll", "vectorized_access", "load_hoisting", "strength_reduction"], "stop": False}))
elif agent == "manager" and "Genomes that live on" in prompt:
    # Of the fastest parent one strategy is left out, without a reason or with one.
    living = prompt.split("Genomes that live on")[1].split("Precision asked for")[0].split("What else was tried")[0]
    fast = sorted(re.findall(r"^- (g[0-9]+_[vi][0-9]+), .*: ([0-9.]+) x$", living, re.M), key=lambda row: -float(row[1]))
    best = [name for name, _ in fast[:1]]
    print(json.dumps({"genomes": [genome(("strength_reduction", {}), parents=best,
                                         dropped=[("unroll", "registers")] if fault == "drops" else [])],
                      "new_strategies": []}))
elif agent == "manager" and fault == "proposes":
    # One that can be had; the others have a name that is taken, too many values, needs that nobody knows, or exclude each other.
    def new(name, **more):
        return {"name": name, "summary": "Evaluate the polynomial in parts", "bottleneck": "compute", "params": [], "requires": [], "conflicts": [],
                "min_arch": 50, **more}
    known = "- `split_polynomial`" in prompt
    print(json.dumps({"genomes": [genome(("split_polynomial", {"parts": 4}), ("unroll", {"factor": 8})), genome(("at_odds", {})), genome(("load_hoisting", {}))],
                      "new_strategies": [] if known else [
                          new("split_polynomial", params=[{"name": "parts", "values": ["4", "2"]}]), new("unroll"),
                          new("many", params=[{"name": "n", "values": [str(n) for n in range(20)]}]), new("needy", requires=["no_such_strategy"]),
                          new("at_odds", requires=["shared_padding"], conflicts=["shared_memory_tiling"]), new("for_later", min_arch=200)]}))
elif agent == "manager":
    print(json.dumps({"genomes": [genome(("unroll", {"factor": 4})),
                                  genome(("unroll", {"factor": 9}), ("vectorized_access", {"width": 4})),
                                  genome(("load_hoisting", {})), genome(("no_such_strategy", {}))],
                      "new_strategies": []}))
elif agent == "crossover":
    print(json.dumps(variant(body(10), ["unroll", "load_hoisting"])))
elif fault == "again" and agent == "translator":
    print(json.dumps(variant(body(4, end=" oops"), names)))
elif fault == "again" and agent == "revisor":
    # The same mistake, on another line.
    print(json.dumps(variant("\n" + body(4, end=" oops"), names, action="repair")))
elif agent == "translator" and "vectorized_access" in names:
    print(json.dumps(variant(body(factor, end=" oops"), names)))
elif agent == "translator" and names == ["load_hoisting"]:
    print(json.dumps(variant(body(1, first="1"), names)))
elif agent == "translator":
    print("Here it is:\n```json\n" + json.dumps(variant(body(factor), names)) + "\n```")
elif agent == "revisor" and "was rejected by the gate" in prompt:
    print(json.dumps(variant("", [], action="give_up")))
elif agent == "revisor" and "is correct, but not faster" in prompt:
    print(json.dumps(variant(body(20), names, action="repair")))
elif agent == "revisor":
    print(json.dumps(variant(body(factor), names, action="repair")))
else:
    print("unknown prompt", file=sys.stderr)
    sys.exit(1)
