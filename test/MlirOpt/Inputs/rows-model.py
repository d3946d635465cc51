#!/usr/bin/env python3
"""A model for tests: answers the agents' prompts on the kernel of rows.mlir.

Of the genomes that its Manager chooses one becomes MLIR, one CUDA C++, one
MLIR that does not verify, which its Revisor repairs, and one MLIR that is
wrong. PROMPTS names a file that gets what the Translator is asked.
"""
import json
import os
import sys

prompt = sys.stdin.read()

MLIR = """gpu.module @mine {
  gpu.func @rows(%x: memref<?x?xf32>, %y: memref<?xf32>, %rows: index, %columns: index, %first: index, %step: index) kernel {
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %rows : index
    scf.if %in {
      %before = memref.load %y[%i] : memref<?xf32>
      %sum = scf.for %j = %first to %columns step %step iter_args(%part = %before) -> (f32) {
        %v = memref.load %x[%i, %j] : memref<?x?xf32>
        %more = arith.OPERATION %part, %v : f32
        scf.yield %more : f32
      }
      memref.store %sum, %y[%i] : memref<?xf32>
    }
    gpu.return
  }
}
"""
CUDA = """__global__ void rows(float *, const float *x, long, long, long, long pitch, long, float *, float *y, long, long, long,
                     long rows, long columns, long first, long step) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= rows)
    return;
  float sum = y[i];
#pragma unroll 4
  for (long j = first; j < columns; j += step)
    sum += x[i * pitch + j];
  y[i] = sum;
}
"""


def variant(source, language, genes, **more):
    launch = {"kernel": "rows", "grid": ["gx", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "shared", "cluster": []}
    disjoint = {"a": "arg0", "a_bytes": "arg0.size0 * arg0.stride0 * 4", "b": "arg1", "b_bytes": "arg1.size0 * 4"}
    return {**more, "language": language, "source": source, "plan": {"launches": [launch], "scratch": [], "tensor_maps": []},
            "guard": {"conditions": [], "align": [], "disjoint": [disjoint]}, "carried_out": genes, "notes": "as asked"}


def genome(name, **params):
    return {"parents": [], "dropped": [], "genes": [{"strategy": name, "params": [{"name": k, "value": str(v)} for k, v in params.items()]}],
            "reason": "it may help"}


if "You are the Roofline Prophet" in prompt:
    answer = {"class": "memory", "moved": False, "reason": "few warps", "metrics": [], "stop": False,
              "strategies": ["restrict_pointers", "unroll", "load_hoisting", "strength_reduction"]}
elif "You are the SCE Manager" in prompt:
    answer = {"genomes": [genome("restrict_pointers"), genome("unroll", factor=4), genome("load_hoisting"), genome("strength_reduction")],
              "new_strategies": []}
elif "You are the Kernel Revisor" in prompt:
    answer = variant(MLIR.replace("OPERATION", "addf"), "mlir", ["load_hoisting"], action="repair")
    if "unrepaired" in os.environ.get("FAULT", "") or "the gate rejected" in prompt or "differ" in prompt:
        answer.update(action="give_up", source="")
else:
    if "PROMPTS" in os.environ:
        with open(os.environ["PROMPTS"], "a", encoding="utf-8") as log:
            log.write(prompt)
    wanted = prompt.split("Genome:\n")[-1].split("\n\n")[0]
    if "unroll" in wanted:
        answer = variant(CUDA, "cuda", ["unroll"])
    elif "load_hoisting" in wanted:
        answer = variant(MLIR.replace("OPERATION", "addq"), "mlir", ["load_hoisting"])
    elif "strength_reduction" in wanted:
        answer = variant(MLIR.replace("OPERATION", "subf"), "mlir", ["strength_reduction"])
    else:
        answer = variant(MLIR.replace("OPERATION", "addf"), "mlir", ["restrict_pointers"])
print(json.dumps(answer))
