#!/usr/bin/env python3
"""A model that answers on the kernel of add.cu, and leaves two numbers open: how
many blocks become one, and their threads."""
import json
import sys

prompt = sys.stdin.read()
SOURCE = """__global__ void addOne(const float *in, float *out, int n) {
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
    out[i] = in[i] + 1;
}
"""
LAUNCH = {"kernel": "addOne", "grid": ["gx ceildiv FACTOR", "1", "1"], "block": ["BLOCK", "1", "1"], "shared": "0", "cluster": []}
if "You are the Roofline Prophet" in prompt:
    answer = {"class": "latency", "moved": False, "reason": "small", "metrics": [], "strategies": ["thread_coarsening"], "stop": False}
elif "You are the SCE Manager" in prompt:
    answer = {"genomes": [{"genes": [{"strategy": "thread_coarsening", "params": [{"name": "factor", "value": "2"}]}],
                           "parents": [], "dropped": [], "reason": "fewer threads"}], "new_strategies": []}
else:
    assert "Do not define it in the source" in prompt
    answer = {"source": SOURCE, "plan": {"launches": [LAUNCH], "scratch": [], "tensor_maps": []},
              "guard": {"conditions": ["gx * 64 >= n", "bx == 64", "BLOCK >= 1"], "align": [], "disjoint": []},
              "tunables": [{"name": "FACTOR", "value": 2, "values": [1, 2, 4], "strategy": "thread_coarsening", "param": "factor"},
                           {"name": "BLOCK", "value": 64, "values": [16, 32, 64, 4096], "strategy": "block_size", "param": "x"}],
              "carried_out": ["thread_coarsening", "block_size"], "notes": ""}
print(json.dumps(answer))
