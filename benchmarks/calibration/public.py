#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of HeCBench (f27000a5), one of each program, with a launch of the size that a GPU is used for.

The order is a shuffle of the programs by seed 20, made before anything was measured. Programs are left out whose kernels
take structures, textures, random states of a library or data that a description cannot make (graphs, sparse rows), or do
nothing worth timing. Of those that can be prepared, in this order, every third is of the fitting set, beginning with the first; the others are of
the judging set and took no part in the fit.
"""

M = 1 << 20


def buf(kind, n, way="uniform", low=None, high=None):
    return f"buffer {kind} n={n} {way}" + (f" low={low}" if low is not None else "") + (f" high={high}" if high is not None else "")


def f32(n, low=None, high=None):
    return buf("f32", n, "uniform", low, high)


def f64(n, low=None, high=None):
    return buf("f64", n, "uniform", low, high)


def out(n, kind="f32"):
    return buf(kind, n, "output")


def ints(n, high, kind="i32", low=0):
    return buf(kind, n, "uniform", low, high)


def call(grid, block, args, shared=0):
    return f"grid={grid}, block={block}, {f'shared={shared}, ' if shared else ''}args=[{', '.join(str(a) for a in args)}]"


def line(n, args, block=256):
    """One thread for each of n elements."""
    return call(-(-n // block), block, args)


# The program, its unit, the kernel, the launch.
KERNELS = [
    ("fhd", "main.cu", "cmpfhd", line(M // 4, [f32(4096), f32(4096), f32(M // 4), f32(M // 4), f32(M // 4), f32(M // 4), f32(M // 4), M // 4, 512])),
    ("recursiveGaussian", "main.cu", "Transpose", call("128x128", "16x16", [buf("u32", 4 * M), out(4 * M, "u32"), 2048, 2048])),
    ("resnet-kernels", "Kernel128_one.cu", "kernel_128_one_512",
     call("49x4", "128x4", [f32(25088), f32(65536), f32(512), f32(512), out(100352)], 37888)),
    ("entropy", "main.cu", "entropy", call("128x128", "16x16", [out(4 * M), ints(4 * M, 15, "i8"), 2048, 2048])),
    ("tensorAccessor", "main.cu", "raw_accessor_kernel", line(M // 8, [M // 8, 128, out(M // 8), f32(16 * M), f32(128)])),
    ("overlap", "main.cu", "incKernel", line(4 * M, [out(4 * M, "i32"), ints(4 * M, 9), 4 * M, 5])),
    ("metropolis", "main.cu", "kernel_reset_random_gpupcg", line(M, [out(4 * M, "i32"), 4 * M, buf("u64", M), buf("u64", M)])),
    ("allreduce", "collectives.cu", "kernel_add", call(32, 256, [f32(M), f32(M), M, out(M)])),
    ("cfd", "euler3d.cu", "initialize_buffer", line(15 * M, [out(15 * M), 1.0, 15 * M], 192)),
    ("pointwise", "main.cu", "init", line(4 * M, [out(4 * M), 4 * M])),
    ("rfs", "main.cu", "sumArray", call(1024, 256, [0.5, M // 4, f32(M // 4), buf("f32", 1, "zeros")])),
    ("complex", "main.cu", "complex_double", line(M, [out(M, "i8"), M])),
    ("silu", "main.cu", "silu_backward_kernel2", line(8 * M, [f32(8 * M), f32(8 * M), out(8 * M), 8 * M])),
    ("goulash", "main.cu", "gate", line(M, [f64(M), M, f64(M)])),
    ("cooling", "main.cu", "cool_kernel", line(M, [M, 0.5, f64(M, 100, 10000), out(M, "f64"), 1])),
    ("stsg", "Filter.cu", "Short_to_Float",
     call("64x16", "16x16", [ints(4 * M, 10000, "i16"), ints(4 * M, 3, "u8"), 1024, 256, 4, 4, out(4 * M), out(4 * M)])),
    ("permute", "main.cu", "permute_kernel", line(6 * M, [out(6 * M), out(6 * M), out(6 * M), f32(18 * M), 8, 1024, 12, 64])),
    ("thomas", "cuThomasBatch.cu", "cuThomasBatch", line(65536, [f64(4 * M, 0, 1), f64(4 * M, 2, 3), f64(4 * M, 0, 1), f64(4 * M, 0, 1), 64, 65536])),
    ("page-rank", "main.cu", "map", line(4096, [ints(16 * M, 1), f32(4096), out(16 * M), ints(4096, 9, "u32", 1), 4096])),
    ("vanGenuchten", "main.cu", "vanGenuchten", line(M // 2, [f64(M // 2, 0.1, 1), f64(M // 2, -1, -0.1), out(M // 2, "f64"), out(M // 2, "f64"), out(M // 2, "f64"), M // 2])),
    ("jenkins-hash", "main.cu", "jk3_hash_kernel", line(M, [ints(M, 60, "u32", 1), buf("u32", M), buf("u32", 16 * M + 16), out(M, "u32"), M])),
    ("simpleMultiDevice", "main.cu", "reduceKernel", call(32, 256, [out(8192), f32(4 * M), 4 * M])),
    ("md5hash", "MD5Hash.cu", "md5hash_kernel", call(2604, 384, [out(1, "i32"), out(8, "u8"), out(4, "u32"), 10000000, 7, 10, 1, 2, 3, 4])),
    ("openmp", "main.cu", "addConstant", line(M, [buf("i32", M, "zeros"), 3, 20])),
    ("heat2d", "main.cu", "dev_lapl_iter", line(4 * M, [out(4 * M), f32(4 * M), 0.1, 0.6, 2048, 2048])),
    ("background-subtract", "main.cu", "updateThreshold", line(8 * M, [8 * M, buf("u8", 8 * M), ints(8 * M, 1, "u8"), buf("u8", 8 * M), buf("u8", 8 * M)])),
    ("fresnel", "main.cu", "kernel", line(M // 4, [f64(M // 4, 0, 8), out(M // 4, "f64"), M // 4])),
    ("all-pairs-distance", "main.cu", "k1", call("224x224", 128, [ints(224 * 4096, 3, "i8"), buf("i32", 224 * 224, "zeros")])),
    ("graphB+", "main.cu", "init3", call(1024, 256, [4 * M, ints(4, 1), ints(4, 1), out(4 * M, "i32"), out(4 * M, "i32")])),
    ("svd3x3", "kernels.cu", "svd3_SOA", line(M // 4, [f32(9 * M // 4), out(21 * M // 4), M // 4])),
    ("floydwarshall", "main.cu", "floydWarshallPass", call("128x128", "16x16", [ints(4 * M, 1000, "u32", 1), out(4 * M, "u32"), 2048, 5])),
    ("iso2dfd", "iso2dfd.cu", "iso_2dfd_kernel", call("64x256", "32x8", [f32(4 * M), f32(4 * M), f32(4 * M), 0.1, 2048, 2048])),
    ("backprop", "main.cu", "kernel_adjust_weights", call("1x4096", "16x16", [f32(65600), f32(1115200), f32(17), f32(1115200), 16])),
    ("atomicReduction", "reduction.cu", "atomic_reduction_v8", call(1024, 256, [ints(16 * M, 9), buf("i32", 1, "zeros"), 16 * M])),
    ("pitch", "main.cu", "parallelSimple2DAccess", call("256x128", "16x16", [f32(8 * M), 4096, 2048])),
    ("qem", "gpu_solver.cu", "QRdel", line(M, [M] + [f32(M, 1, 2)] * 4 + [out(M)] * 9)),
    ("laplace", "main.cu", "red_kernel", call("2x1024", 256, [f32(M + 1024, 1, 2)] * 6 + [f32(527364), f32(527364), out(527364)])),
    ("michalewicz", "main.cu", "eval", line(M // 4, [f32(2 * M, 0, 3), buf("f32", 1, "zeros"), M // 4, 8])),
    ("hypterm", "kernels.cu", "hypterm_1", call("6x24x24", "16x4x4", [out(96 ** 3, "f64")] * 5 + [f64(96 ** 3)] * 8 + [0.1, 0.2, 0.3, 96, 96, 96])),
    ("glu", "main.cu", "glu_kernel", line(4 * M, [1024, 64, 64, f32(8 * M), out(4 * M)])),
    ("ddbp", "main.cu", "map_boudaries_kernel", line(4 * M, [out(4 * M, "f64"), 4 * M, 2.0, 0.5, 0.1])),
    ("crc64", "CRC64.cu", "crc64_kernel", call(1024, 64, [out(65536, "u64"), out(65536, "u64"), buf("u8", 16 * M), buf("u64", 256), buf("u64", 2048), 16 * M, 65536])),
    ("mr", "main.cu", "mr32_eff", line(M // 4, [ints(16, 37, "u32", 2), ints(M // 4, 100000, "u32", 5), buf("i32", 1, "zeros"), M // 4])),
    ("sa", "main.cu", "InitScan2", line(4 * M, [ints(4 * M, 4 * M), out(4 * M, "i32"), 2 * M, 4 * M])),
    ("upsample", "main.cu", "upsample_backward_kernel", line(2 * M, [f32(8 * M), out(2 * M), 8, 16, 128, 128])),
    ("lebesgue", "kernels.cu", "kernel", line(65536, [buf("f64", 1, "zeros"), out(M, "f64"), f64(65536), buf("f64", 16, "iota"), 16, 65536])),
    ("bfs", "bfs.cu", "Kernel2", line(8 * M, [out(8 * M, "i8"), ints(8 * M, 1, "i8"), out(8 * M, "i8"), out(1, "i8"), 8 * M])),
    ("prefetch", "main.cu", "add", call(1024, 256, [16 * M, f32(16 * M), f32(16 * M)])),
    ("eigenvalue", "kernels.cu", "calNumEigenValueInterval", line(65536, [out(65536, "u32"), f32(131072), f32(256), f32(256), 256])),
    ("gabor", "main.cu", "gabor", call("128x128", "16x16", [out(4 * M, "f64"), 2048, 2048, 1024, 1024, 0.8, 0.6, 0.5, 100, 100, 0.1])),
    ("langevin", "main.cu", "k0", line(4 * M, [f32(4 * M, 0.1, 3), out(4 * M)])),
    ("bitonic-sort", "main.cu", "bitonic_sort", line(4 * M, [1024, 4, buf("i32", 4 * M)])),
    ("p2p", "main.cu", "SimpleKernel", line(8 * M, [f32(8 * M), out(8 * M)])),
    ("qrg", "main.cu", "icnd", call(1024, 128, [out(4 * M), 4 * M, 1000])),
    ("sad", "main.cu", "compute_sad_array", call("64x64", "16x16", [out(M, "i32"), buf("u8", 3 * M), buf("u8", 768), M, 1024, 1024, 16, 16, 256])),
    ("s8n", "main.cu", "k_cube_select_four", call(32, 512, [32, 1024, 400, ints(32 * 1024 * 3, 100), out(M, "i32")])),
    ("gaussian", "gaussianElim.cu", "fan1", line(4096, [f32(16 * M), out(16 * M), 4096, 0])),
    ("keogh", "main.cu", "lb_keogh", line(M, [f32(M), f32(M), f32(M, 1, 2), out(M), f32(64), f32(64), 64, M]).replace("args", "shared=1280, args")),
    ("streamOrderedAllocation", "main.cu", "vectorAddGPU", line(16 * M, [f32(16 * M), f32(16 * M), out(16 * M), 16 * M])),
    ("triad", "triad.cu", "triad", line(8 * M, [f32(8 * M), f32(8 * M), out(8 * M), 1.75], 128)),
    ("gibbs", "main.cu", "sum_blocks", line(4 * M, [f32(4 * M, 0.1, 1), out(16384), out(16384), 4 * M])),
    ("permutate", "gpu_permutation_testing.cu", "shuffling_kernel", line(65536, [out(4 * M, "u8"), buf("u8", 64), 64, 65536])),
    ("matrix-rotate", "main.cu", "rotate_matrix_parallel", line(1024, [f32(4 * M), 2048])),
    ("blockAccess", "main.cu", "reference", call(2048, 256, [f32(16 * M, 0, 255), out(16 * M, "u8"), 16 * M])),
    ("zerocopy", "main.cu", "vectorAddGPU", line(8 * M, [f32(8 * M), f32(8 * M), out(8 * M), 8 * M])),
    ("logic-rewrite", "balance.cu", "markIsCoverOutput", line(8 * M, [ints(8 * M, 9, low=-1), out(8 * M, "i32"), 8 * M])),
    ("mrc", "main.cu", "MRCGradient3", line(M, [4 * M, ints(4 * M, 1, low=-1), f32(4 * M), f32(4 * M), f32(4 * M), 1.0, out(4 * M), out(4 * M)])),
    ("aidw", "main.cu", "AIDW_Kernel", line(M // 8, [f32(256), f32(256), f32(256), 256, f32(M // 8), f32(M // 8), out(M // 8), M // 8, 100, f32(M // 8, 0.1, 1)])),
    ("atan2", "main.cu", "compute_i", line(2 * M, [2 * M, f32(2 * M), f32(2 * M), out(2 * M, "i32")])),
    ("knn", "main.cu", "cuParallelSqrt", call("16384x1", "16x16", [f32(4 * M, 0, 1), M // 4, 16])),
    ("cm", "process.cu", "computeRandomConnectionScores", line(25000, [f32(250000, 0, 1), ints(65536, 9), out(25000), 250000, 5, 10, 25000])),
    ("mcpr", "main.cu", "compute_probs_unitStrides", line(65536, [f64(M), f64(1024), out(M, "f64"), 65536, 16, 64])),
    ("asmooth", "main.cu", "normalizeFilter", call("128x128", "16x16", [2048, 2048, f32(4 * M), f32(4 * M, 1, 2)])),
    ("hogbom", "kernels.cu", "k_subtractPSF", call("128x128", "16x16", [f32(4 * M), 2048, f32(4 * M), 2048, 0, 0, 2047, 2047, 0, 0, 1.0, 0.1])),
    ("kmeans", "cluster.cu", "feature_transpose", line(M // 4, [out(8 * M), f32(8 * M), 32, M // 4])),
    ("hmm", "ViterbiGPU.cu", "viterbi", line(4096, [f32(4096), f32(16 * M), f32(65536), ints(16, 15), out(4096), out(65536, "i32"), 4096, 2])),
    ("cbsfil", "main.cu", "toCoef2DX", line(8192, [f32(8 * M), 4096, 1024, 8192], 64)),
    ("streamPriority", "main.cu", "data_prefetch_kernel", line(4 * M, [out(4 * M), 4 * M, 1])),
    ("heat", "heat.cu", "initial_value", line(4 * M, [2048, 0.1, 1.0, out(4 * M, "f64")])),
    ("fwt", "kernels.cu", "fwtBatch2Kernel", call("2048x4", 256, [out(8 * M), f32(8 * M), M // 2])),
    ("bmf", "main.cu", "initFactor", line(4 * M, [out(4 * M), M // 8, 32, 7, 0.5])),
    ("mriQ", "main.cu", "ComputePhiMag_GPU", line(4 * M, [f32(4 * M), f32(4 * M), out(4 * M), 4 * M])),
    ("qkv", "main.cu", "add_bias", call(2048, 256, [f32(6 * M), f32(768), 8, 1024, 768])),
    ("relu", "main.cu", "Relu_impl2", line(8 * M, [8 * M, buf("i32", 8 * M), out(8 * M, "i32")])),
    ("bwt", "bwt.cu", "bitonic_sort_step", line(M, [buf("i32", M, "permutation"), M, 512, 1024, ints(M, 68, "i8", 65), M])),
    ("opticalFlow", "flowCUDA.cu", "AddKernel", line(8 * M, [f32(8 * M), f32(8 * M), 8 * M, out(8 * M)])),
    ("lsqt", "hamiltonian.cu", "gpu_kernel_polynomial",
     line(M // 8, [M // 8, 5.0, ints(M // 8, 8, low=8), ints(M, M // 8 - 1), f64(M // 8), f64(M), f64(M)] + [f64(M // 8)] * 4 + [out(M // 8, "f64")] * 2)),
    ("tissue", "main.cu", "tissue", line(16384, [ints(3 * 4096, 20), f32(64), f32(64), out(4096), f32(4096), f32(4096), 4096, 4096, 4, 1])),
    ("ga", "main.cu", "ga", line(M, [ints(M + 4096, 68, "i8", 65), ints(64, 68, "i8", 65), out(M + 4096, "i8"), M, 64, 16, 4, 0])),
    ("word2vec", "cbow.cu", "device_memset", line(8 * M, [out(8 * M), 8 * M])),
    ("pcc", "device.cu", "ker", line(4 * M, [f32(4 * M), out(2 * M), 2048])),
    ("ssm", "main.cu", "selective_scan_base",
     call("4x8", 128, [f32(M // 2), f32(M // 2), f32(16384), f32(8192), f32(8192), f32(1024), f32(1024), f32(M // 2), 1, 4, 1024, 16, 128, f32(65536), out(M // 2)])),
    ("popcount", "main.cu", "pc4", line(4 * M, [buf("u64", 4 * M), out(4 * M, "i32"), 4 * M])),
    ("log2", "main.cu", "compute_log", line(M, [out(M), f32(M, 1, 100), 0, M, 20])),
    ("colorwheel", "main.cu", "color", call("128x128", "16x16", [out(12 * M, "u8"), 2048, 1024, 1.0, 1.02])),
    ("ced", "main.cu", "hyst_kernel", call("128x128", "16x16", [buf("u8", 2050 * 2050), out(2050 * 2050, "u8"), 2050, 2050])),
    ("mt", "MT.cu", "boxmuller", call(32, 128, [f32(2 * M, 0.1, 1), 512])),
    ("multimaterial", "compact.cu", "ccc_loop2_2",
     line(2 * M, [ints(2 * M, 49), f64(2 * M, 1, 2), f64(2 * M, 1, 2), f64(2 * M, 1, 2), f64(50), out(2 * M, "f64"), out(1, "i32"), 2 * M])),
    ("tsne", "attr_forces.cu", "ComputePijxQijKernelV3",
     line(2 * M, [out(2 * M), out(2 * M), f32(2 * M), ints(2 * M, 65535), f32(131072), 65536, 32])),
]
