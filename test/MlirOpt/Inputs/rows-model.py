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
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %i = gpu.global_id x
    %in = arith.cmpi ult, %i, %rows : index
    scf.if %in {
      %before = memref.load %y[%i] : memref<?xf32>
      %sum = scf.for %j = %c0 to %columns step %c4 iter_args(%part = %before) -> (f32) {
        %v = vector.load %x[%i, %j] {alignment = 16 : i64} : memref<?x?xf32>, vector<4xf32>
        %a = vector.extract %v[0] : f32 from vector<4xf32>
        %b = vector.extract %v[1] : f32 from vector<4xf32>
        %c = vector.extract %v[2] : f32 from vector<4xf32>
        %d = vector.extract %v[3] : f32 from vector<4xf32>
        %ab = arith.OPERATION %part, %a : f32
        %bc = arith.addf %ab, %b : f32
        %cd = arith.addf %bc, %c : f32
        %more = arith.addf %cd, %d : f32
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
  for (long j = 0; j < columns; j += 2) {
    float2 v = *reinterpret_cast<const float2 *>(x + i * pitch + j);
    sum = sum + v.x + v.y;
  }
  y[i] = sum;
}
"""


def variant(source, language, genes, **more):
    launch = {"kernel": "rows", "grid": ["gx", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "shared", "cluster": []}
    disjoint = {"a": "arg0", "a_bytes": "arg0.size0 * arg0.stride0 * 4", "b": "arg1", "b_bytes": "arg1.size0 * 4"}
    return {**more, "language": language, "source": source, "plan": {"launches": [launch], "scratch": [], "tensor_maps": []},
            "guard": {"conditions": ["arg0.stride0 mod 4 == 0", "arg3 mod 4 == 0", "arg4 == 0", "arg5 == 1"],
                      "align": [{"pointer": "arg0", "bytes": 16}], "disjoint": [disjoint]}, "carried_out": genes, "notes": "as asked"}


def genome(name, **params):
    return {"parents": [], "dropped": [], "genes": [{"strategy": name, "params": [{"name": k, "value": str(v)} for k, v in params.items()]}],
            "reason": "it may help"}


if "You are the Roofline Prophet" in prompt:
    answer = {"class": "memory", "moved": False, "reason": "few warps", "metrics": [], "stop": False,
              "strategies": ["vectorized_access", "load_hoisting", "strength_reduction"]}
elif "You are the SCE Manager" in prompt:
    answer = {"genomes": [genome("vectorized_access", width=4), genome("vectorized_access", width=2), genome("load_hoisting"),
                          genome("strength_reduction")],
              "new_strategies": []}
elif "You are the Kernel Revisor" in prompt:
    answer = variant(MLIR.replace("OPERATION", "addf"), "mlir", ["load_hoisting"], action="repair")
    if "The gate says:" in prompt:
        answer.update(action="give_up", source="")
else:
    if "PROMPTS" in os.environ:
        with open(os.environ["PROMPTS"], "a", encoding="utf-8") as log:
            log.write(prompt)
    wanted = prompt.split("Genome:\n")[-1].split("\n\n")[0]
    if "width=2" in wanted:
        answer = variant(CUDA, "cuda", ["vectorized_access"])
    elif "load_hoisting" in wanted:
        answer = variant(MLIR.replace("OPERATION", "addq"), "mlir", ["load_hoisting"])
    elif "strength_reduction" in wanted:
        answer = variant(MLIR.replace("OPERATION", "subf"), "mlir", ["strength_reduction"])
    else:
        answer = variant(MLIR.replace("OPERATION", "addf"), "mlir", ["vectorized_access"])
print(json.dumps(answer))
