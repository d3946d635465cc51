#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernels calibrate the cost model, on which launches, and which are kept to judge it.

FIXING and SEEN (judging kernels of an earlier model): modelling choices may be made on these. JUDGING: their times were
looked at once, after the choices; the figure is theirs.
KNOWN: the class follows from how the kernel is made.
"""

M = 1 << 20


def f32(n, way="uniform"):
    return f"buffer f32 n={n} {way}"


def line(n, args, block=256):
    """One thread for each of n elements."""
    return f"grid={-(-n // block)}, block={block}, args=[{', '.join(str(a) for a in args)}]"


SIZES = [64, 1024]


def sweep(*genes, sizes=SIZES):
    """The genes alone and each with block sizes."""
    out = [f"block_size{{x={s}}}" for s in sizes]
    for g in genes:
        out.append(g)
        out += [f"block_size{{x={s}}}, {g}" for s in sizes]
    return out


def coarse(*factors):
    return [f"thread_coarsening{{factor={f}}}" for f in factors]


def vector(*widths):
    return [f"vectorized_access{{width={w}}}" for w in widths]


def unroll(*factors):
    return [f"unroll{{factor={f}}}" for f in factors]


N = 16 * M
FIXING = {
    "saxpy": (line(N, [f32(N), f32(N), 2.0, N]), sweep(*vector(2, 4), *coarse(4))),
    "heat": (line(N, [f32(N), f32(N, "output"), 4096, 4096, 0.2]), sweep(*coarse(2, 8), "read_only_loads{}")),
    "gather": (line(4 * M, [f32(N), f"buffer i32 n={4 * M} uniform low=0 high={N - 1}", f32(4 * M, "output"), 4 * M]),
               sweep(*coarse(2, 4, 8))),
    "forces": (line(256 * 1024, ["buffer f32 n=4096 uniform low=0.1 high=1", f32(256 * 1024), f32(256 * 1024), 256 * 1024, 1024]),
               sweep(*unroll(2, 8), "shared_memory_tiling{tile=32}")),
    "polynomial": (line(2 * M, [f32(2 * M), f32(2 * M, "output"), 128, 2 * M]), sweep(*unroll(2, 8), *coarse(4))),
    "columnSums": (line(64 * 1024, [f32(64 * 1024 * 256), f32(64 * 1024, "output"), 256, 64 * 1024]),
                   sweep(*unroll(4, 8), *coarse(2))),
    "transpose": (line(N, [f32(N), f32(N, "output"), 4096, 4096]), sweep(*coarse(2, 4, 8))),
    "blur": (line(4 * M, [f32(4 * M), f32(64), f32(4 * M, "output"), 8, 4 * M]), sweep(*unroll(2, 4), *coarse(4))),
}
SEEN = {
    "scale": (line(N, [f32(N), f32(N, "output"), 2.0, N]), sweep(*vector(2, 4), *coarse(2))),
    "triad": (line(N, [f32(N), f32(N), f32(N, "output"), 2.0, N]), sweep(*vector(4), *coarse(4, 8))),
    "daxpy": (line(N // 2, [f"buffer f64 n={N // 2} uniform", f"buffer f64 n={N // 2} uniform", 2.0, N // 2]),
              sweep(*vector(2), *coarse(2, 8))),
    "gelu": (line(N, [f32(N), f32(N, "output"), N]), sweep(*vector(2, 4), *coarse(4))),
    "options": (line(4 * M, [f32(4 * M), f32(4 * M), f32(4 * M), f32(4 * M, "output"), 0.02, 0.3, 4 * M]),
                sweep(*vector(2), *coarse(2, 4))),
    "everyEighth": (line(4 * M, [f32(32 * M), f32(4 * M, "output"), 4 * M]), sweep(*coarse(2, 4, 8))),
    "grey": (line(N, [f"buffer u8 n={N} uniform"] * 3 + [f"buffer u8 n={N} output", N]), sweep(*vector(4), *coarse(2, 8))),
    "bins": (line(N, [f"buffer i32 n={N} uniform low=0 high=1000000", "buffer i32 n=4096 zeros", N]), sweep(*coarse(2, 4, 8))),
    "stencil3d": (line(N, [f32(N), f32(N, "output"), 256]), sweep(*coarse(2, 8), "read_only_loads{}")),
    "convolve": (line(4 * M, [f32(4 * M), f32(64), f32(4 * M, "output"), 2048, 2048, 5]), sweep(*unroll(2, 4), *coarse(4))),
    "nearest": (line(M, [f32(M), f32(M), f32(256), f32(256), f"buffer i32 n={M} output", M, 256]),
                sweep(*unroll(2, 8), "shared_memory_tiling{tile=32}")),
    "product": (line(1024 * 1024, [f32(1024 * 512), f32(1024 * 512), f32(1024 * 1024, "output"), 1024, 1024, 512]),
                sweep(*unroll(2, 8), *coarse(2))),
    "rowSums": (line(128 * 1024, [f32(128 * 1024 * 128), f32(128 * 1024, "output"), 128 * 1024, 128]), sweep(*unroll(2, 8), *coarse(2))),
    "rowProducts": (line(256 * 1024, [f"buffer i32 n={32 * 256 * 1024} uniform low=0 high={256 * 1024 - 1}", f32(32 * 256 * 1024),
                                      f32(256 * 1024), f32(256 * 1024, "output"), 256 * 1024, 32]), sweep(*unroll(4, 8), *coarse(2))),
    "search": (line(2 * M, [f32(M, "iota"), f"buffer f32 n={2 * M} uniform low=0 high={M}", f"buffer i32 n={2 * M} output", M, 2 * M]),
               sweep(*coarse(2, 4, 8))),
    "horner": (line(M, [f"buffer f64 n={M} uniform", f"buffer f64 n={M} output", 64, M]), sweep(*unroll(2, 8), *coarse(4))),
    "waves": (line(2 * M, [f32(2 * M), f32(2 * M, "output"), 32, 2 * M]), sweep(*unroll(2, 4), *coarse(4))),
    "hash": (line(4 * M, [f"buffer u32 n={4 * M} uniform", f"buffer u32 n={4 * M} output", 64, 4 * M]), sweep(*unroll(4, 8), *coarse(4))),
    "fractal": (line(2 * M, [f32(2 * M, "output"), 2048, 1024, 200]), sweep(*unroll(2, 4), *coarse(2, 4))),
}

# The kernels of judging.cu.
WIDE = [32, 64, 128, 512, 1024]


def broad(*genes):
    """All block sizes alone, and each of the genes alone and with two of them."""
    out = [f"block_size{{x={s}}}" for s in WIDE]
    for g in genes:
        out.append(g)
        out += [f"block_size{{x={s}}}, {g}" for s in (64, 512)]
    return out


def unit(n):
    return f"buffer f32 n={n} uniform low=0 high=1"


def matrix(rows, columns, kind="f32"):
    return f"buffer {kind} n={rows * columns} uniform"


JUDGING = {
    "swish": (line(N, [unit(N), unit(N), f32(N, "output"), N]), broad(*vector(4), *coarse(2, 8))),
    "adam": (line(8 * M, [unit(8 * M)] * 4 + [0.01, 8 * M]), broad(*vector(2, 4), *coarse(4))),
    "powers": (line(4 * M, [unit(4 * M), unit(4 * M), f32(4 * M, "output"), 4 * M]), broad(*vector(2), *coarse(2, 4))),
    "blend": (line(N, [f"buffer u8 n={N} uniform"] * 3 + [f"buffer u8 n={N} output", N]), broad(*vector(2, 4), *coarse(4))),
    "complexProducts": (line(4 * M, [f"buffer f64 n={4 * M} uniform"] * 4 + [f"buffer f64 n={4 * M} output"] * 2 + [4 * M]),
                        broad(*vector(2), *coarse(2, 4))),
    "toColumns": (line(N, [unit(N), f32(N, "output"), 4096, 4096]), broad(*coarse(2, 4, 8))),
    "embed": (line(N, [unit(64 * 100000), f"buffer i32 n={N // 64} uniform low=0 high=99999", f32(N, "output"), 64, N]),
              broad(*coarse(2, 4, 8))),
    "scatter": (line(4 * M, [unit(4 * M), f"buffer i32 n={4 * M} permutation", f32(4 * M, "output"), 4 * M]), broad(*coarse(2, 4, 8))),
    "histogram": (line(8 * M, [unit(8 * M), f"buffer i32 n={M} zeros", M, 8 * M]), broad(*coarse(2, 4, 8))),
    "resize": (line(8 * M, [unit(2 * M), f32(8 * M, "output"), 2048, 1024, 4096, 2048]), broad(*coarse(2, 4), "read_only_loads{}")),
    "ninePoints": (line(N, [unit(N), f32(N, "output"), 4096, 4096]), broad(*coarse(2, 4, 8))),
    "filter": (line(4 * M, [f"buffer f64 n={4 * M + 64} uniform", "buffer f64 n=32 uniform", f"buffer f64 n={4 * M} output", 32, 4 * M]),
               broad(*unroll(2, 8), *coarse(4), "shared_memory_tiling{tile=32}")),
    "softmax": (line(128 * 1024, [matrix(64, 128 * 1024), f"buffer f32 n={64 * 128 * 1024} output", 64, 128 * 1024]),
                broad(*unroll(2, 8), *coarse(2))),
    "scan": (line(128 * 1024, [matrix(128, 128 * 1024, "i32"), f"buffer i32 n={128 * 128 * 1024} output", 128, 128 * 1024]),
             broad(*unroll(4, 8), *coarse(2))),
    "norms": (line(64 * 1024, [matrix(128, 64 * 1024, "f64"), f"buffer f64 n={64 * 1024} output", 128, 64 * 1024]),
              broad(*unroll(2, 8), *coarse(2))),
    "unevenSums": (line(256 * 1024, [matrix(64, 256 * 1024), f"buffer i32 n={256 * 1024} uniform low=1 high=64",
                                     f32(256 * 1024, "output"), 256 * 1024]), broad(*unroll(2, 8), *coarse(4))),
    "matrixVector": (line(32 * 1024, [matrix(512, 32 * 1024), unit(512), f32(32 * 1024, "output"), 32 * 1024, 512]),
                     broad(*unroll(2, 8), "shared_memory_tiling{tile=64}")),
    "smallMatrices": (line(8 * M, [unit(8 * M), unit(8 * M), f32(8 * M, "output"), 8, 8 * M]), broad(*unroll(2, 8), *coarse(4))),
    "similarity": (line(256 * 1024, [matrix(96, 256 * 1024), unit(96), f32(256 * 1024, "output"), 96, 256 * 1024]),
                   broad(*unroll(2, 4), "shared_memory_tiling{tile=32}")),
    "coulomb": (line(M, [f"buffer f32 n=512 uniform low=0 high=1024"] * 2 + [unit(512), f32(M, "output"), 1024, 512, M]),
                broad(*unroll(2, 8), *coarse(2), "shared_memory_tiling{tile=64}")),
    "xorshift": (line(4 * M, [f"buffer u32 n={4 * M} uniform", f"buffer u32 n={4 * M} output", 100, 4 * M]),
                 broad(*unroll(2, 8), *coarse(4))),
    "logistic": (line(128 * 1024, [unit(128 * 1024), f32(128 * 1024, "output"), 1000, 128 * 1024]), broad(*unroll(2, 4), *coarse(2, 4))),
    "collatz": (line(2 * M, [f"buffer u32 n={2 * M} uniform low=1 high=1000000", f"buffer i32 n={2 * M} output", 300, 2 * M]),
                broad(*unroll(2, 8), *coarse(2, 4))),
    "fourier": (line(512 * 1024, [unit(256), f32(512 * 1024, "output"), f32(512 * 1024, "output"), 256, 512 * 1024]),
                broad(*unroll(2, 4), *coarse(2), "shared_memory_tiling{tile=128}")),
}

# Kernels above whose class follows from how they are made. Not among them: the stencils, whose divisions cost about as
# much as their loads, and sums whose threads are too few to keep the memory busy.
CLASSES = {
    "scale": "memory", "saxpy": "memory", "triad": "memory", "daxpy": "memory", "transpose": "memory",
    "gather": "memory", "everyEighth": "memory",
    "polynomial": "compute", "forces": "compute", "waves": "compute", "horner": "compute", "hash": "compute",
    "nearest": "compute",
}
# More of them: the class, the kernel, its launch.
KNOWN = {
    "known-transposeTiled": ("memory", "transposeTiled", f"grid=128x128, block=32x8, args=[{f32(N)}, {f32(N, 'output')}, 4096]"),
    "known-blockSums": ("memory", "blockSums", f"grid=8192, block=256, args=[{f32(N)}, {f32(8192, 'output')}, 8]"),
    "known-productTiled": ("compute", "productTiled",
                           f"grid=16x16, block=256, args=[{f32(M)}, {f32(M)}, {f32(M, 'output')}, 1024]"),
    "known-tensor": ("compute", "tensor", f"grid=1056, block=256, args=[buffer f16 n=512 uniform, {f32(8448 * 1024, 'output')}, 128]"),
    "known-balanced": ("middle", "polynomial", line(N, [f32(N), f32(N, "output"), 7, N])),
    "known-chase": ("latency", "chase", f"grid=1, block=32, args=[buffer i32 n={M} permutation, buffer i32 n=32 output, 2000]"),
    "known-chain": ("latency", "chain", f"grid=1, block=32, args=[{f32(32)}, {f32(32, 'output')}, 20000]"),
    "known-tiny": ("latency", "scale", line(256, [f32(256), f32(256, "output"), 2.0, 256])),
    "known-hotCounter": ("latency", "hotCounter", line(M, [f"buffer i32 n={M} uniform low=0 high=9", "buffer i32 n=1 zeros", M])),
    "known-meetings": ("latency", "meetings", f"grid=132, block=64, args=[{f32(132 * 64, 'output')}, 1000]"),
    "known-oneBlock": ("latency", "oneBlock", f"grid=1, block=256, args=[{f32(M)}, {f32(1, 'output')}, {M}]"),
}

CHOOSING = {**FIXING, **SEEN}
assert not set(CHOOSING) & set(JUDGING)
