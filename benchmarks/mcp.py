#!/usr/bin/env python3
"""How long the tools of cupilot mcp take: mcp.py FOLDER (docs/Agents.md).

Prints, each as the median of paired runs: the start of a server with 200 kernels against the list of `cupilot evolve -p`;
`compile` against the parse, the compiler and ptxas one after the other; and a quick verdict against a whole one.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "Mcp", "Inputs"))
from client import Client  # noqa: E402

RUNS = 5
folder = os.path.abspath(sys.argv[1])
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def timed(do):
    begin = time.monotonic()
    value = do()
    return time.monotonic() - begin, value


def project(count=200, units=10):
    """A program of `count` kernels in `units` units, with its recording and its compile_commands.json."""
    each = count // units
    commands = []
    for u in range(units):
        kernels = [f"__global__ void k{u}_{i}(float *p, int n) {{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   f"  if (i < n)\n    p[i] = p[i] * {i + 2}.0f + {u};\n}}\n" for i in range(each)]
        launches = "".join(f"  k{u}_{i}<<<1, 32>>>(p, 32);\n" for i in range(each))
        with open(f"u{u}.cu", "w") as file:
            file.write("".join(kernels) + f"void run{u}(float *p) {{\n{launches}}}\n")
        commands.append({"directory": folder, "file": f"u{u}.cu", "arguments": ["clang++", "-O2", "-c", f"u{u}.cu", "-o", f"u{u}.o"]})
    with open("main.cu", "w") as file:
        file.write("".join(f"void run{u}(float *);\n" for u in range(units)) + "int main() {\n  float *p;\n  cudaMalloc(&p, 128);\n"
                   "  cudaMemset(p, 0, 128);\n" + "".join(f"  run{u}(p);\n" for u in range(units)) + "  return cudaDeviceSynchronize() != cudaSuccess;\n}\n")
    with open("compile_commands.json", "w") as file:
        json.dump(commands, file)
    if not os.path.exists("many.mlir"):
        sources = [f"u{u}.cu" for u in range(units)] + ["main.cu"]
        subprocess.run(["cupilot-cpucc", "-O2", *sources, "-o", "many"], check=True)
        subprocess.run(["cupilot", "capture", "-o", "many.mlir", "--", "./many"], check=True, capture_output=True)


def listed():
    """Until evolve has named all kernels."""
    run = subprocess.Popen(["cupilot", "evolve", "-p", ".", "--workloads", "many.mlir", "--store", "s-list", "--budget", "1"],
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    named = 0
    for line in run.stderr:
        named += bool(re.match(r" +in .*\.cu$", line))
        if named == 200:
            break
    run.kill()
    run.wait()
    return named


def started():
    """Until the server has listed all kernels."""
    client = Client("-p", ".", "--workloads", "many.mlir", "--store", "s-start")
    rows = len(client.call("kernels")["kernels"])
    client.close()
    return rows


def ratio(title, pairs):
    a, b = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    print(f"{title}: {a:.2f} s against {b:.2f} s, {a / b:.2f} times")


project()
pairs = []
for _ in range(RUNS):
    (start, rows), (listing, named) = timed(started), timed(listed)
    assert rows == named == 200, (rows, named)
    pairs.append((start, listing))
ratio("start with 200 kernels against evolve's list", pairs)

inputs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test")
source = open(f"{inputs}/Inputs/scale.cu").read()
with open("scale.cu", "w") as file:
    file.write(source)
if not os.path.exists("w.mlir"):
    subprocess.run(["cupilot-cpucc", "-O2", "scale.cu", "-o", "scale"], check=True)
    subprocess.run(["cupilot", "capture", "-o", "w.mlir", "--", "./scale"], check=True, capture_output=True)
client = Client("scale.cu", "--workloads", "w.mlir", "--store", "s", "--compiler=clang", "--accept-estimates", "--", "-O2")
text = client.call("kernel", kernel="scale")["slice"].replace("float sum = 0;", "float sum = 0;\n#pragma unroll 4")
with open("variant.cu", "w") as file:
    file.write(text)
clang = ["clang++", "-Wno-unknown-cuda-version", f"--cuda-path={os.environ.get('CUDA_PATH', '/usr/local/cuda')}", "--cuda-device-only",
         "--cuda-gpu-arch=sm_90", "-O2", "variant.cu"]


def parts():
    subprocess.run([*clang, "-fsyntax-only"], check=True)
    subprocess.run([*clang, "-S", "-o", "variant.ptx"], check=True)
    subprocess.run(["ptxas", "-arch=sm_90", "variant.ptx", "-o", "variant.cubin"], check=True)


pairs = [(timed(lambda: client.finish(client.call("compile", kernel="scale", source=text)))[0], timed(parts)[0]) for _ in range(RUNS)]
ratio("compile against parse, compiler and ptxas", pairs)


def judged(depth):
    phases = client.finish(client.call("judge", kernel="scale", source=text, depth=depth))["result"]["phases"]
    return phases["judging"], phases.get("running the original", 0)


quick, whole = zip(*[(judged("quick"), judged("whole")) for _ in range(RUNS)])
ratio("quick against whole verdict, judging alone", [(q[0], w[0]) for q, w in zip(quick, whole)])
print("runs of the original:", sum(q[1] > 0 for q in quick), "of", RUNS, "quick ones")
client.close()
