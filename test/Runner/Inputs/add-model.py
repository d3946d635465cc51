#!/usr/bin/env python3
"""A model that answers on the kernel of add.cu. It first changes nothing that a
GPU would feel, and hears that from the Kernel Revisor's prompt; what is
fast it improves by smaller blocks. With
MODEL_CLUSTER its plans ask for clusters of one block."""
import json
import os
import sys

prompt = sys.stdin.read()
SOURCE = """__global__ void addOne(const float *in, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = in[i] + %s;
}
"""


def variant(grid, one, block="bx", **more):
    launch = {"kernel": "addOne", "grid": [grid, "gy", "gz"], "block": [block, "by", "bz"], "shared": "shared",
              "cluster": ["1", "1", "1"] if "MODEL_CLUSTER" in os.environ else []}
    return {**more, "source": SOURCE % one, "plan": {"launches": [launch], "scratch": [], "tensor_maps": []},
            "guard": {"conditions": ["gx * 64 >= n", "bx == 64"], "align": [], "disjoint": []},
            "tunables": [], "carried_out": ["thread_coarsening"], "notes": ""}


if "You are the Roofline Prophet" in prompt:
    answer = {"class": "latency", "moved": "has ended" in prompt, "reason": "small", "metrics": ["warps"], "strategies": ["thread_coarsening"], "stop": False}
elif "You are the SCE Manager" in prompt:
    answer = {"genomes": [{"genes": [{"strategy": "thread_coarsening", "params": [{"name": "factor", "value": "4"}]}],
                           "parents": [], "dropped": [], "reason": "fewer threads"}], "new_strategies": []}
elif "Now you improve a variant" in prompt:
    answer = variant("gx ceildiv 4", "1.0f", block="32")
elif "You are the Kernel Revisor" in prompt:
    assert "is correct, but not faster" in prompt and "(measured)" in prompt and "repair 1 of 2" in prompt
    answer = variant("gx ceildiv 4", "1.0f", action="repair")
else:
    answer = variant("gx", "1")
print(json.dumps(answer))
