#!/usr/bin/env python3
"""One kernel of a unit with 300 instances: cupilot extract --only beside clang's plain parse of the unit, in turns.

usage: extract-one.py [--runs N] [--write FILE]

Prints the processor time of each pair and the median of their ratios. --write writes the unit and measures nothing.
"""
import argparse, os, resource, statistics, subprocess, tempfile

UNIT = """\
template <int N, typename T> __device__ T mix(T x) {
  T y = x;
  for (int i = 0; i < N % 7 + 1; ++i)
    y = y * x + T(N + i);
  return y;
}
template <int N, typename T> struct Tile {
  T data[N % 31 + 1];
  __device__ T sum() const {
    T s = 0;
    for (int i = 0; i < N % 31 + 1; ++i)
      s += data[i];
    return s;
  }
};
template <int N, typename T> __global__ void step(T *p, const T *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Tile<N, T> t;
  for (int j = 0; j < N % 31 + 1; ++j)
    t.data[j] = mix<N>(q[(i + j) % n]);
  p[i] = t.sum() + mix<N + 1>(p[i]);
}
"""


def write(path):
    with open(path, "w") as out:
        out.write(UNIT)
        for number in range(300):
            kind = ("float", "double", "int")[number % 3]
            out.write(f"template __global__ void step<{number}, {kind}>({kind} *, const {kind} *, int);\n")


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--write")
    given = options.parse_args()
    if given.write:
        return write(given.write)
    cuda = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    with tempfile.TemporaryDirectory() as folder:
        unit = os.path.join(folder, "many.cu")
        write(unit)
        flags = ["-O2", "--cuda-gpu-arch=sm_90"]
        parse = ["clang++-22", "-fsyntax-only", "--cuda-device-only", "-w", f"--cuda-path={cuda}",
                 f"-I{cuda}/include/cccl", "-isystem", f"{cuda}/include", *flags, unit]
        extract = ["cupilot", "extract", unit, "--no-verify", "-o", os.path.join(folder, "k.mlir")]
        one = [*extract, "--only", "step<77", "--", *flags]
        ratios = []
        for _ in range(given.runs):
            plain, wanted = seconds(parse), seconds(one)
            ratios.append(wanted / plain)
            print(f"parse {plain:.2f} s, one kernel {wanted:.2f} s, ratio {ratios[-1]:.2f}")
        print(f"median ratio {statistics.median(ratios):.2f}; all 300 kernels {seconds([*extract, '--', *flags]):.2f} s")


main()
