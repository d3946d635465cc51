#!/usr/bin/env python3
"""What cupilot-apply adds to a pipeline from gpu.launch_func to PTX.

usage: mlir_apply.py BUILD FOLDER [--kernels 1,80] [--runs 9]

For each number of kernels, each in a gpu.module of its own, upstream's
pipeline runs in turn as it is, with cupilot-apply and a store that has no
variant of them, one of one, and one of each. Printed are medians of processor
seconds (user and system), which other work on the machine changes less than
others, and of the differences of runs in turn; the pass alone is what it adds
to reading and printing the module."""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess

KERNEL = """
  gpu.module @m{0} {{
    gpu.func @k{0}(%in: memref<?x?xf32>, %out: memref<?x?xf32>, %columns: index) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %lanes = arith.constant 32 : i32
      %threads = arith.constant 32 : index
      %lane1 = arith.constant 1 : i32
      %zero = arith.constant {0}.0 : f32
      %row = gpu.block_id x
      %tx = gpu.thread_id x
      %part = scf.for %j = %tx to %columns step %threads iter_args(%sum = %zero) -> f32 {{
        %x = memref.load %in[%row, %j] : memref<?x?xf32>
        %power = math.exp %x : f32
        memref.store %power, %out[%row, %j] : memref<?x?xf32>
        %next = {1} : f32
        scf.yield %next : f32
      }}
      %total = scf.for %step = %c0 to %c5 step %c1 iter_args(%sum = %part) -> f32 {{
        %word = arith.index_cast %step : index to i32
        %distance = arith.shli %lane1, %word : i32
        %other, %valid = gpu.shuffle xor %sum, %distance, %lanes : f32
        %both = arith.addf %sum, %other : f32
        scf.yield %both : f32
      }}
      scf.for %j = %tx to %columns step %threads {{
        %power = memref.load %out[%row, %j] : memref<?x?xf32>
        %share = arith.divf %power, %total : f32
        memref.store %share, %out[%row, %j] : memref<?x?xf32>
      }}
      gpu.return
    }}
  }}
"""
LAUNCH = """
    gpu.launch_func @m{0}::@k{0} blocks in (%rows, %c1, %c1) threads in (%threads, %c1, %c1)
      args(%in : memref<?x?xf32>, %out : memref<?x?xf32>, %columns : index)
"""
# Ranges, residues, alignments and pairs, as domains of the gate have them.
MAP = ("affine_map<(gx, gy, gz, bx, by, bz, shared)[ao, a0, a1, as0, as1, bo, b0,"
       " b1, bs0, bs1, n] ->")
DOMAIN = ("{#cupilot.domain<[<seen(gate) ranges " + MAP + " (n, gx, as0, bs0, gx * 4)> in"
          " [[1, 70000], [1, 65535], [1, 70000], [1, 70000], [4, 300000]] residues " + MAP +
          " (n)> mod [32] in [[0, 1, 31]] nulls [<pointer = <param = 1>>, <pointer ="
          " <param = 8>>] align [<pointer = <param = 1>, bytes = 4>, <pointer = <param ="
          " 8>, bytes = 4>]>]>}")
PIPELINE = ("gpu-lower-to-nvvm-pipeline{cubin-chip=sm_90 cubin-features=+ptx80"
            " cubin-format=isa}")


def program(kernels):
    text = "module attributes {gpu.container_module} {\n"
    for i in range(kernels):
        text += KERNEL.format(i, "arith.addf %sum, %power")
    text += """
  func.func @main(%in: memref<?x?xf32>, %out: memref<?x?xf32>, %rows: index, %columns: index) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 32 : index
"""
    for i in range(kernels):
        text += LAUNCH.format(i)
    return text + "    return\n  }\n}\n"


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(plain, changed, runs):
    """Medians of both, and of their differences."""
    seconds(plain), seconds(changed)
    pairs = [(seconds(plain), seconds(changed)) for _ in range(runs)]
    return (statistics.median(a for a, _ in pairs),
            statistics.median(b for _, b in pairs),
            statistics.median(b - a for a, b in pairs))


def main():
    args = argparse.ArgumentParser()
    args.add_argument("build", type=pathlib.Path)
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("--kernels", default="1,80")
    args.add_argument("--runs", type=int, default=9)
    args = args.parse_args()
    opt = str(args.build / "bin/cupilot-opt")
    args.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(args.folder)
    print("kernels store pipeline_s with_apply_s added_ms added_percent"
          " pass_alone_ms pass_percent")
    for kernels in map(int, args.kernels.split(",")):
        module = f"m{kernels}.mlir"
        pathlib.Path(module).write_text(program(kernels))
        stores = {"none": [], "one": [0], "each": range(kernels)}
        if kernels == 1:
            del stores["each"]
        for name, which in stores.items():
            store = f"{name}{kernels}"
            # A store that has variants of other kernels.
            pathlib.Path("other.mlir").write_text(program(1).replace("@k0", "@other"))
            for i in which if which else ["other"]:
                variant = pathlib.Path(f"v{i}.mlir")
                text = KERNEL.format(0 if i == "other" else i, "arith.addf %power, %sum")
                variant.write_text(text.replace("@k0", "@other") if i == "other" else text)
                subprocess.run(
                    [opt, "other.mlir" if i == "other" else module, "-o", "/dev/null",
                     f"--cupilot-add-variant=store={store} arch=sm_90"
                     f" kernel={'other' if i == 'other' else f'k{i}'}"
                     f" variant={variant} domain={DOMAIN}"],
                    check=True, stderr=subprocess.DEVNULL)
            plain = [opt, module, f"--pass-pipeline=builtin.module({PIPELINE})",
                     "-o", "/dev/null"]
            apply = [opt, module, "--pass-pipeline=builtin.module(cupilot-apply"
                     f"{{store={store} arch=sm_90}},{PIPELINE})", "-o", "/dev/null"]
            alone = [opt, module, "-o", "/dev/null",
                     f"--cupilot-apply=store={store} arch=sm_90"]
            before, after, added = measure(plain, apply, args.runs)
            _, _, only = measure([opt, module, "-o", "/dev/null"], alone, args.runs)
            print(kernels, name, f"{before:.3f} {after:.3f} {1000 * added:.0f}"
                  f" {100 * added / before:.1f} {1000 * only:.0f}"
                  f" {100 * only / before:.1f}", flush=True)


if __name__ == "__main__":
    main()
