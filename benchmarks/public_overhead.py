#!/usr/bin/env python3
# public_overhead.py - what builds of public CUDA units cost with cuPilot
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public_overhead.py CHECKOUTS [NAME...] [--runs N] [--most N]
#                           [--compiler clang|nvcc]
#
# For units of public-units.txt, in an order that mixes the projects: the
# processor time of builds by clang and nvcc, plain and with a store that has
# nothing for the unit; then with a variant for every kernel (identity-store):
# without a machine cache, with an empty one ("cold"), with one that has built
# other units ("first build"), and with one that has built this unit ("warm"),
# beside what compiling the variants' texts alone costs, to objects and (device)
# to device code only. All of them in turn, the least of each: what else runs on the
# machine only adds. One line a unit, medians last. Units with more kernels than
# --variants are built without variants only: their texts cost minutes.

import glob
import hashlib
import os
import re
import shutil
import statistics
import sys
import tempfile

import public_builds
import public_units


HITS = ("no cache", "cold", "first build", "warm", "alone", "alone (device)")
# nvcc's builds keep what admission reads before every text; clang's have it.
NVCC_ONLY = ("cold", "first build")


def main():
    parser = public_units.unit_options(limit=600)
    parser.add_argument("--identity-store", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--variants", type=int, default=8)
    parser.add_argument("--compiler", default="clang,nvcc")
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    store_tool = options.identity_store or build + "/bin/identity-store"
    builder = public_builds.Builder(options)
    chosen = public_units.chosen_units(options)
    chosen.sort(key=lambda u: hashlib.sha1(u["unit"].encode()).hexdigest())
    kinds = [(name, "no variant") for name in options.compiler.split(",")]
    kinds += [(name, case) for name in options.compiler.split(",")
              for case in HITS if name == "nvcc" or case not in NVCC_ONLY]
    ratios = sum(case == "no variant" for _, case in kinds)
    columns = [", ".join(kind) for kind in kinds]
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
            rows.append([row["variants"]] + [row.get(kind) for kind in kinds])
            print_row(unit["unit"], str(row["variants"]), rows[-1][1:],
                      ratios)
    if rows:
        print_row("median of %d" % len(rows), "", [
            statistics.median(values) if values else None
            for values in ([r[i + 1] for r in rows if r[i + 1] is not None]
                           for i in range(len(columns)))], ratios)
    return 0


def print_row(name, variants, values, ratios):
    texts = ["-" if v is None else "%.3f" % v if i < ratios else "%+.2f s" % v
             for i, v in enumerate(values)]
    print("| %s | %s | %s |" % (name, variants, " | ".join(texts)), flush=True)


def measure(builder, unit, folder, work, options, build, store_tool):
    """A unit's number of variants, and a figure for each column; None where
    the unit does not build."""
    def seconds(command, cache=""):
        entry, _ = builder.timed(command, folder, {"CUPILOT_CACHE_DIR": cache})
        return entry["seconds"] if entry["ok"] else None

    os.makedirs(work + "/none/builds")
    os.makedirs(work + "/keep")
    with open(work + "/none/FORMAT", "w", encoding="utf-8") as out:
        out.write("cupilot-store 1\n")
    clang, nvcc, flags = builder.commands(unit, work)
    store = "-fplugin-arg-cupilot-store=" + work
    if None in (seconds(clang), seconds(
            nvcc + ["--keep", "--keep-dir", work + "/keep"])):
        return None
    ptx = glob.glob(work + "/keep/*.ptx")
    with open(ptx[0], encoding="utf-8") as text:
        kernels = len(re.findall(r"\.entry\b", text.read()))
    texts = []
    if kernels <= options.variants:
        entry, _ = builder.timed(
            [store_tool, unit["source"], "--store", work + "/store", "--ptx",
             ptx[0], "--nvcc", " ".join(nvcc), "--"] + flags, folder)
        texts = glob.glob(work + "/store/kernels/*/variants/identity-*.cu")
        if not entry["ok"] or not texts:
            return None
    alone = [f for f in flags if not f.startswith(("-I", "-D"))]
    cases = {}
    for name, plain, other, text, device in (
            ("clang", clang, clang + ["-fplugin=" + build + "/lib/cupilot.so"], [
                options.clang, "-Wno-unknown-cuda-version", "-w",
                "--cuda-path=" + options.cuda, "-isystem", options.cuda
                + "/include", "-I" + options.cuda + "/include/cccl", "-c",
                "-o", work + "/alone.o"] + alone, "--cuda-device-only"),
            ("nvcc", nvcc, [build + "/bin/cupilot-launch"] + nvcc, [
                options.cuda + "/bin/nvcc", "-w", "-arch=" + options.arch,
                "-o", work + "/alone.o"]
             + public_builds.nvcc_flags(alone), "-cubin")):
        if name not in options.compiler.split(","):
            continue
        own, cache = other + [store + "/store"], work + "/" + name
        cases[name, "plain"] = lambda c=plain: seconds(c)
        cases[name, "no variant"] = \
            lambda c=other + [store + "/none"]: seconds(c)
        if not texts:
            continue
        cases[name, "no cache"] = lambda c=own: seconds(c)

        def without(part, c=own, kept=cache + ".part"):
            shutil.rmtree(kept + part, ignore_errors=True)
            return seconds(c, kept)
        if name == "nvcc":
            cases[name, "cold"] = lambda: without("")
            cases[name, "first build"] = lambda: without("/nvcc")
        cases[name, "warm"] = lambda c=own, kept=cache: seconds(c, kept)
        seconds(own, cache)
        for case, kind in (("alone", "-c"), ("alone (device)", device)):
            cases[name, case] = lambda c=text + [kind]: sum(
                seconds(c + [t]) for t in texts)
    least = {}
    for run in range(options.runs):
        # In turn which comes first: a machine that slows down favours none.
        for key in list(cases)[::-1 if run % 2 else 1]:
            used = cases[key]()
            if used is None:
                return None
            least[key] = min(used, least.get(key, used))
    row = {"variants": len(texts) or kernels}
    for (name, case), used in least.items():
        base = least[name, "plain"]
        if case == "no variant":
            row[name, case] = used / base
        elif case != "plain":
            row[name, case] = used if case.startswith("alone") else used - base
    return row


if __name__ == "__main__":
    sys.exit(main())
