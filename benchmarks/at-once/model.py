#!/usr/bin/env python3
# model.py SECONDS: a model that answers on the kernels of at-once.py, each time
# after SECONDS. Half of the first answers are wrong, so that there are repairs.
import json
import re
import sys
import time

FACTOR, OFFSET, STEPS = 1664525, 1013904223, 1024  # Numerical Recipes


def main():
    prompt = sys.stdin.read()
    time.sleep(float(sys.argv[1]))
    number = re.search(r"\bstep(\d+)", prompt)[1]
    factor, offset = 1, 0
    for step in range(STEPS):
        factor, offset = factor * FACTOR % 2**32, (offset * FACTOR + OFFSET) % 2**32


    def variant(begin, **more):
        source = f"""__global__ void step{number}(const unsigned *in, unsigned *out, int n) {{
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = (in[i] + {begin}) * {factor}u + {offset}u;
    }}
    """
        launch = {"kernel": f"step{number}", "grid": ["gx ceildiv 4", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "shared", "cluster": []}
        return {**more, "source": source, "plan": {"launches": [launch], "scratch": [], "tensor_maps": []},
                "guard": {"conditions": ["gx * 64 >= n", "bx == 64"], "align": [], "disjoint": []},
                "carried_out": ["thread_coarsening"], "notes": ""}


    right = number
    if "You are the Roofline Prophet" in prompt:
        answer = {"class": "latency", "moved": False, "reason": "small", "metrics": ["warps"], "strategies": ["thread_coarsening"], "stop": False}
    elif "You are the SCE Manager" in prompt:
        answer = {"genomes": [{"genes": [{"strategy": "thread_coarsening", "params": [{"name": "factor", "value": str(factor)}]}],
                               "parents": [], "dropped": [], "reason": "fewer threads"} for factor in (2, 4)], "new_strategies": []}
    elif "You are the Kernel Revisor" in prompt:
        answer = variant(right, action="repair")
    else:
        answer = variant("undeclared" if int(number) % 2 else right)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
