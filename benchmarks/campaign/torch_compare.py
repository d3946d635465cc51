#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the campaign's kernels against PyTorch, all in one run on one GPU.

  torch_compare.py --original DIR [--variant DIR] [--same DIR] [--only 1,4] [-o TABLE.md] [--json R.json]

DIR holds the programs as shared libraries (nvcc -shared -Xcompiler -fPIC), 01-gemm.so and so on; those of --variant
were built with the store (build.sh), those of --same with variants under the contract "same" where the others are
"relaxed". Everybody gets the same inputs: those of KINDS. The L2 is
emptied before each run by reading four times its size, and everybody takes turns, in another order in each round.
"TF32 products" is torch where TF32 must be asked for in another way than by allowing it: its fused attention computes in
fp32 regardless, the one made of products and a softmax does not.
Results are compared with float64 on the first items: the error is |out - ref| / |ref|."""

import argparse
import ctypes
import json
import math
import os
import random
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


class Problem:
    """One kernel of the campaign. `inputs` makes the buffers of the program that come before its outputs, `run` is the
    same on tensors, `moved` are the numbers that must be read or written, `cut` takes the inputs' first items, for
    float64, `products` is `run` by matrix products that TF32 reaches."""

    def __init__(self, number, name, sizes, inputs, outputs, run, moved, operations=0, cut=None, products=None):
        self.number, self.name, self.sizes = number, name, sizes
        self.inputs, self.outputs, self.run = inputs, outputs, run
        self.moved, self.operations, self.cut, self.products = moved, operations, cut, products


# On the last two, rounding to bf16 or TF32 changes no operand.
KINDS = {"rand": "Inputs of the benchmark (uniform in [0, 1))", "normal": "Normal inputs",
         "bf16": "Normal inputs that bf16 holds exactly", "integers": "Integers from -8 to 8"}


def shaped(kind, *shape):
    if kind == "integers":
        return torch.randint(-8, 9, shape, device="cuda").float()
    numbers = (torch.rand if kind == "rand" else torch.randn)(*shape, device="cuda")
    return numbers.bfloat16().float() if kind == "bf16" else numbers


def first(count, *which):
    """Cuts the inputs of the indices `which` to their first items."""

    def cut(inputs):
        return [x[:count] if i in which else x for i, x in enumerate(inputs)]

    return cut


def parameter(*shape, bound):
    return (torch.rand(*shape, device="cuda") * 2 - 1) * bound


def attention_of_products(q, k, v):
    with sdpa_kernel(SDPBackend.MATH):
        return F.scaled_dot_product_attention(q, k, v)


def problems():
    n = 4096
    yield Problem(1, "01-gemm", [n, n, n], lambda k: [shaped(k, n, n), shaped(k, n, n)], [(n, n)],
                  lambda a, b: a @ b, 3 * n * n, 2 * n ** 3, first(512, 0))
    b, m, n2, k2 = 128, 512, 2048, 1024
    yield Problem(3, "03-batched-gemm", [b, m, n2, k2], lambda k: [shaped(k, b, m, k2), shaped(k, b, k2, n2)],
                  [(b, m, n2)], torch.bmm, b * (m * k2 + k2 * n2 + m * n2), 2 * b * m * n2 * k2, first(8, 0, 1))
    yield Problem(4, "04-gemv", [2048, 1048576], lambda k: [shaped(k, 2048, 1048576), shaped(k, 1048576, 1)],
                  [(2048, 1)], lambda a, x: a @ x, 2048 * 1048576, cut=first(32, 0))
    yield Problem(23, "23-softmax", [4096, 393216], lambda k: [shaped(k, 4096, 393216)], [(4096, 393216)],
                  lambda x: torch.softmax(x, 1), 2 * 4096 * 393216, cut=first(64, 0))
    yield Problem(36, "36-rms-norm", [112, 64, 512 * 512], lambda k: [shaped(k, 112, 64, 512, 512)],
                  [(112, 64, 512, 512)], lambda x: x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5),
                  2 * 112 * 64 * 512 * 512, cut=first(2, 0))
    shape = (64, 256, 256)
    yield Problem(40, "40-layer-norm", [16, 64 * 256 * 256],
                  lambda k: [shaped(k, 16, *shape), 1 + parameter(*shape, bound=0.5), parameter(*shape, bound=1.0)],
                  [(16, *shape)], lambda x, w, b: F.layer_norm(x, shape, w, b), 2 * 16 * 64 * 256 * 256 + 2 * 64 * 256 * 256,
                  cut=first(4, 0))
    yield Problem(42, "42-max-pool", [2048, 512, 512], lambda k: [shaped(k, 32, 64, 512, 512)], [(32, 64, 511, 511)],
                  lambda x: F.max_pool2d(x, 4, 1, 1), 2048 * (512 * 512 + 511 * 511), cut=first(2, 0))
    yield Problem(63, "63-convolution", [16, 16, 128, 1024, 1024],
                  lambda k: [shaped(k, 16, 16, 1024, 1024), parameter(128, 16, 3, 3, bound=1 / 12)],
                  [(16, 128, 1022, 1022)], F.conv2d, 16 * 16 * 1024 ** 2 + 16 * 128 * 1022 ** 2,
                  2 * 16 * 128 * 1022 ** 2 * 144, first(1, 0))
    yield Problem(84, "84-depthwise", [64, 128, 256, 512],
                  lambda k: [shaped(k, 64, 128, 256, 512), parameter(128, 1, 3, 3, bound=1 / 3)],
                  [(64, 128, 254, 510)], lambda x, w: F.conv2d(x, w, groups=128),
                  64 * 128 * (256 * 512 + 254 * 510), cut=first(1, 0))
    yield Problem(89, "89-cumsum", [32768, 32768], lambda k: [shaped(k, 32768, 32768)], [(32768, 32768)],
                  lambda x: torch.cumsum(x, 1), 2 * 32768 ** 2, cut=first(512, 0))
    yield Problem(95, "95-cross-entropy", [32768, 4096],
                  lambda k: [shaped(k, 32768, 4096), torch.randint(0, 4096, (32768,), device="cuda")],
                  [(32768,), ()], F.cross_entropy, 32768 * 4096 + 2 * 32768)
    yield Problem(97, "97-attention", [1024, 512, 1024], lambda k: [shaped(k, 32, 32, 512, 1024) for _ in range(3)],
                  [(32, 32, 512, 1024)], F.scaled_dot_product_attention, 4 * 1024 * 512 * 1024,
                  4 * 1024 * 512 * 512 * 1024, first(1, 0, 1, 2), attention_of_products)


class Library:
    """A program of the campaign, or of its variant, as a function of tensors."""

    def __init__(self, path):
        self.entry = ctypes.CDLL(os.path.abspath(path)).campaignRun

    def on(self, inputs, outputs, sizes):
        buffers = (ctypes.c_void_p * (len(inputs) + len(outputs)))(*[x.data_ptr() for x in [*inputs, *outputs]])
        numbers = (ctypes.c_int * len(sizes))(*sizes)

        def run():
            status = self.entry(buffers, numbers, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            if status:
                raise RuntimeError(f"cudaError {status}")
            return outputs[-1]

        return run


def set_tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


class Bench:
    def __init__(self, seconds):
        self.seconds = seconds
        bytes_l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.ones(4 * bytes_l2 // 4, device="cuda")

    def time(self, runs):
        """Milliseconds by name: the medians of rounds in which everybody has a turn."""
        for run, _ in runs.values():  # Compiles, chooses algorithms, loads modules.
            for _ in range(2):
                run()
        torch.cuda.synchronize()
        times = {name: [] for name in runs}
        begin = time.monotonic()
        while len(next(iter(times.values()))) < 5 or time.monotonic() - begin < self.seconds:
            order = list(runs)
            random.shuffle(order)
            for name in order:
                run, tf32 = runs[name]
                set_tf32(tf32)
                start, end = torch.cuda.Event(True), torch.cuda.Event(True)
                self.flush.sum()
                start.record()
                run()
                end.record()
                end.synchronize()
                times[name].append(start.elapsed_time(end))
        return {name: sorted(t)[len(t) // 2] for name, t in times.items()}


def relative_error(got, want):
    return float((got.double() - want).norm() / want.norm())


def rates(given):
    """Bytes and TF32 operations a second of this card: from cupilot-runner --ceilings, else measured here."""
    if given:
        found = json.load(open(given))
        found = found.get("ceilings", found)
        return found["copy"]["value"], found["tf32"]["value"], "cupilot-runner --ceilings"
    a, b = torch.rand(1 << 30, device="cuda"), torch.empty(1 << 30, device="cuda")
    m = torch.rand(8192, 8192, device="cuda")
    set_tf32(True)

    def best(run):
        least = math.inf
        for _ in range(8):
            start, end = torch.cuda.Event(True), torch.cuda.Event(True)
            start.record()
            run()
            end.record()
            end.synchronize()
            least = min(least, start.elapsed_time(end) / 1e3)
        return least

    return 8 * a.numel() / best(lambda: b.copy_(a)), 2 * 8192 ** 3 / best(lambda: m @ m), "a copy and a product of torch"


def judge(problem, args, bench, bandwidth, tf32):
    row = {"number": problem.number, "name": problem.name}
    row["floor_ms"] = 1e3 * max(4 * problem.moved / bandwidth, problem.operations / tf32)
    torch.cuda.reset_peak_memory_stats()
    compiled = {}
    if args.compile:
        torch._dynamo.reset()
        compiled = torch.compile(problem.run, mode=args.compile)
    for kind in KINDS:
        torch.manual_seed(1)
        inputs = problem.inputs(kind)
        outputs = [torch.empty(s, device="cuda") for s in problem.outputs]
        runs = {}
        for who, folder in (("original", args.original), ("variant", args.variant), ("same", args.same)):
            path = os.path.join(folder, problem.name + ".so") if folder else ""
            if os.path.exists(path):
                runs[who] = (Library(path).on(inputs, outputs, problem.sizes), False)
        runs["eager"] = (lambda: problem.run(*inputs), False)
        runs["eager TF32"] = (lambda: problem.run(*inputs), True)
        if problem.products:
            runs["TF32 products"] = (lambda: problem.products(*inputs), True)
        if args.compile:
            runs["compile"] = (lambda: compiled(*inputs), bool(problem.operations))
        # Float64 of the first items; what depends on all of them is compared whole.
        part = problem.cut(inputs) if problem.cut else inputs
        want = problem.run(*[x.double() if x.is_floating_point() else x for x in part])
        errors = {}
        for name, (run, use_tf32) in list(runs.items()):
            set_tf32(use_tf32)
            for x in outputs:
                x.fill_(math.nan)
            try:
                got = run()
                torch.cuda.synchronize()
            except Exception as error:  # Who cannot run is left out, and told.
                row.setdefault("left_out", {})[name] = f"{type(error).__name__}: {str(error)[:200]}"
                print(f"{problem.name}: {name} left out: {row['left_out'][name]}", file=sys.stderr)
                del runs[name]
                continue
            errors[name] = relative_error(got[: len(want)] if want.dim() else got, want)
            del got
        del want, part
        row[kind] = {"ms": bench.time(runs), "error": errors}
        del runs, inputs, outputs
        torch.cuda.empty_cache()
    row["memory_gib"] = torch.cuda.max_memory_allocated() / 2 ** 30
    return row


def table(rows, info):
    names = ["original", "same", "variant", "eager", "eager TF32", "TF32 products", "compile"]
    lines = [f"{info['card']}, torch {info['torch']}, CUDA {info['cuda']}; bandwidth {info['bandwidth'] / 1e12:.3f} TB/s, "
             f"TF32 {info['tf32'] / 1e12:.0f} TFLOP/s ({info['rates']}). Milliseconds, medians, cold L2.", ""]
    for kind, words in KINDS.items():
        lines += [f"## {words}", "",
                  "| id | kernel | " + " | ".join(names) + " | floor | variant / best torch | share of the floor | error of variant, torch TF32 |",
                  "|---|---|" + "---|" * (len(names) + 4)]
        ratios = []
        for row in rows:
            if "failed" in row:
                lines.append(f"| {row['number']} | {row['name']} | {row['failed']} |")
                continue
            ms, error = row[kind]["ms"], row[kind]["error"]
            best = min((v for k, v in ms.items() if k not in ("original", "variant", "same")), default=None)
            mine = ms.get("variant") if "variant" in row.get("left_out", {}) else ms.get("variant", ms.get("original"))
            ratio = best / mine if mine and best else None
            if ratio:
                ratios.append(ratio)
            lines.append(f"| {row['number']} | {row['name'][3:]} | "
                         + " | ".join(f"{ms[n]:.3f}" if n in ms else "" for n in names)
                         + f" | {row['floor_ms']:.3f} | " + (f"{ratio:.2f} | {row['floor_ms'] / mine:.0%}" if ratio else "|")
                         + f" | {error.get('variant', error.get('original', math.nan)):.1e}, {error.get('TF32 products', error.get('eager TF32', math.nan)):.1e} |")
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines += ["", f"Geometric mean against the best torch setting: {mean:.2f} over {len(ratios)} kernels."]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--original", required=True)
    parser.add_argument("--variant")
    parser.add_argument("--same")
    parser.add_argument("--only", help="numbers of problems, with commas")
    parser.add_argument("--ceilings", help="what cupilot-runner --ceilings printed")
    parser.add_argument("--compile", default="default", help="mode of torch.compile; '' for none")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, for each kernel and kind of inputs")
    parser.add_argument("-o", "--output")
    parser.add_argument("--json")
    args = parser.parse_args()
    only = {int(n) for n in args.only.split(",")} if args.only else None
    random.seed(1)
    bandwidth, tf32, source = rates(args.ceilings)
    torch.cuda.empty_cache()
    info = {"card": torch.cuda.get_device_name(0), "torch": torch.__version__, "cuda": torch.version.cuda,
            "bandwidth": bandwidth, "tf32": tf32, "rates": source}
    bench, rows, failed = Bench(args.seconds), [], 0
    for problem in problems():
        if only and problem.number not in only:
            continue
        begin = time.monotonic()
        try:
            with torch.no_grad():
                row = judge(problem, args, bench, bandwidth, tf32)
        except Exception as error:  # One that fails is a row of its own.
            row = {"number": problem.number, "name": problem.name, "failed": f"{type(error).__name__}: {str(error)[:200]}"}
            torch.cuda.empty_cache()
            failed = 1
        rows.append(row)
        print(f"{problem.name}: {time.monotonic() - begin:.1f} s, {row.get('memory_gib', 0):.1f} GiB "
              + row.get("failed", ""), file=sys.stderr)
        text = table(rows, info)
        if args.json:
            json.dump({**info, "rows": rows}, open(args.json, "w"), indent=1)
        if args.output:
            open(args.output, "w").write(text + "\n")
    if not args.output:
        print(table(rows, info))
    return failed


if __name__ == "__main__":
    sys.exit(main())
