#!/usr/bin/env python3
# public_overhead.py - what builds of public CUDA units cost with cuPilot
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public_overhead.py CHECKOUTS [NAME...] [--runs N] [--most N]
#
# For units of public-units.txt, in an order that mixes the projects: the
# processor time of builds by clang and nvcc, plain and in turn with a store that
# has nothing for the unit (the least of each side: what else runs on the machine
# only adds); then with a variant for every
# kernel (identity-store), without a machine cache and with a warm one, beside
# what compiling the variants' texts alone costs, to objects and (device) to
# device code only. One line a unit, medians last. Units with more kernels than
# --variants are built without variants only: their texts cost minutes.

import glob
import hashlib
import os
import re
import statistics
import sys
import tempfile

import public_builds
import public_units


def main():
    parser = public_units.unit_options(limit=600)
    parser.add_argument("--identity-store", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--variants", type=int, default=8)
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    store_tool = options.identity_store or build + "/bin/identity-store"
    builder = public_builds.Builder(options)
    chosen = public_units.chosen_units(options)
    chosen.sort(key=lambda u: hashlib.sha1(u["unit"].encode()).hexdigest())
    columns = ("clang, no variant", "nvcc, no variant", "clang, variants",
               "clang, warm", "clang, alone", "clang, alone (device)",
               "nvcc, variants", "nvcc, warm", "nvcc, alone",
               "nvcc, alone (device)")
    print("| unit | variants | %s |\n|%s" % (" | ".join(columns),
                                             "---|" * (len(columns) + 2)))
    rows = []
    for unit in chosen:
        if len(rows) == options.most:
            break
        folder = os.path.join(os.path.abspath(options.checkouts),
                              unit["project"])
        with tempfile.TemporaryDirectory(prefix="overhead") as work:
            row = measure(builder, unit, folder, work, options, build,
                          store_tool)
        if row:
            rows.append(row)
            print_row(unit["unit"], str(row[0]), row[1:])
    if rows:
        print_row("median of %d" % len(rows), "", [
            statistics.median(values) if values else None
            for values in ([r[i + 1] for r in rows if r[i + 1] is not None]
                           for i in range(len(columns)))])
    return 0


def print_row(name, variants, values):
    texts = ["-" if v is None else "%.3f" % v if i < 2 else "%+.2f s" % v
             for i, v in enumerate(values)]
    print("| %s | %s | %s |" % (name, variants, " | ".join(texts)), flush=True)


def measure(builder, unit, folder, work, options, build, store_tool):
    def seconds(command, cache=""):
        entry, _ = builder.timed(command, folder, {"CUPILOT_CACHE_DIR": cache})
        return entry["seconds"] if entry["ok"] else None

    os.makedirs(work + "/none/builds")
    os.makedirs(work + "/keep")
    with open(work + "/none/FORMAT", "w", encoding="utf-8") as out:
        out.write("cupilot-store 1\n")
    clang, nvcc, flags = builder.commands(unit, work)
    argument = "-fplugin-arg-cupilot-store="
    plugin = ["-fplugin=" + build + "/lib/cupilot.so"]
    launch = [build + "/bin/cupilot-launch"]
    pairs = {}
    for name, plain, other in (
            ("clang", clang, clang + plugin + [argument + work + "/none"]),
            ("nvcc", nvcc, launch + nvcc + [argument + work + "/none"])):
        if seconds(plain) is None:
            return None
        # In turn which comes first: a machine that slows down favours neither.
        pairs[name] = []
        for run in range(options.runs):
            if run % 2:
                b, a = seconds(other), seconds(plain)
            else:
                a, b = seconds(plain), seconds(other)
            pairs[name].append((a, b))
    seconds(nvcc + ["--keep", "--keep-dir", work + "/keep"])
    ptx = glob.glob(work + "/keep/*.ptx")
    row = [min(b for _, b in pairs[name]) / min(a for a, _ in pairs[name])
           for name in ("clang", "nvcc")]
    with open(ptx[0], encoding="utf-8") as text:
        kernels = len(re.findall(r"\.entry\b", text.read()))
    if kernels > options.variants:
        return [kernels] + row + [None] * 8
    entry, out = builder.timed(
        [store_tool, unit["source"], "--store", work + "/store", "--ptx",
         ptx[0], "--nvcc", " ".join(nvcc), "--"] + flags, folder)
    texts = glob.glob(work + "/store/kernels/*/identity.cu")
    if not entry["ok"] or not texts:
        return None
    own = argument + work + "/store"
    row = [len(texts)] + row
    alone = [f for f in flags if not f.startswith(("-I", "-D"))]
    for name, plain, other, text, device in (
            ("clang", clang, clang + plugin + [own], [
                options.clang, "-Wno-unknown-cuda-version", "-w",
                "--cuda-path=" + options.cuda, "-isystem", options.cuda
                + "/include", "-I" + options.cuda + "/include/cccl", "-c",
                "-o", work + "/alone.o"] + alone, "--cuda-device-only"),
            ("nvcc", nvcc, launch + nvcc + [own], [
                options.cuda + "/bin/nvcc", "-w", "-arch=" + options.arch,
                "-o", work + "/alone.o"]
             + public_builds.nvcc_flags(alone), "-cubin")):
        base = min(a for a, _ in pairs[name])
        cache = work + "/cache." + name
        if None in (seconds(other), seconds(other, cache)):
            return None

        def least(command, cache=""):
            return min(seconds(command, cache) for _ in range(options.runs))
        row += [least(other) - base, least(other, cache) - base,
                sum(least(text + ["-c", t]) for t in texts),
                sum(least(text + [device, t]) for t in texts)]
    return row


if __name__ == "__main__":
    sys.exit(main())
