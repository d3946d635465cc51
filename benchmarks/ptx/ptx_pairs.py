#!/usr/bin/env python3
# ptx_pairs.py - kernels by PTX and by bitcode on the cpu device
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by ptx-against-bitcode.sh, which says how. A row has
#   program, mode, "failed" where it did not come to a run, or
#   status   the program's exit status
#   pairs    what PairedLaunches.cpp reported

import argparse
import glob
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# clang takes roots by an approximate instruction unless libdevice is told otherwise.
FLAGS = {"exact": (["-ffp-contract=off", "-mllvm", "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"],
                   ["-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false"]),
         "default": ([], [])}
# Kernels that call mathematical functions: bitcode has the host's, PTX those of libdevice or of nvcc.
FAST = r"(?<!\S)--?use_fast_math|(?<!\S)-ffast-math"


def read_programs(path, checkouts):
    programs = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            repository, _, folder, sources, flags, arguments, _ = (f.strip() for f in line.split(" | "))
            project = repository.split("/")[-1]
            programs.append({"program": project + "/" + folder, "folder": os.path.join(checkouts, project, folder),
                             "sources": sources, "flags": "" if flags == "-" else flags,
                             "arguments": "" if arguments == "-" else arguments})
    for path in sorted(glob.glob(ROOT + "/examples/*.cu") + glob.glob(ROOT + "/test/CpuDevice/Inputs/*.cu")):
        with open(path, encoding="utf-8") as text:
            if not re.search(r"^int main\(", text.read(), re.M):
                continue
        programs.append({"program": os.path.relpath(path, ROOT), "folder": os.path.dirname(path),
                         "sources": os.path.basename(path), "flags": "-std=c++17", "arguments": ""})
    return programs


def examine(program, options):
    row = {"program": program["program"], "mode": options.mode}
    for_clang, for_nvcc = FLAGS[options.mode]
    flags = program["flags"]
    if options.mode == "exact":
        flags = re.sub(FAST, "", flags)
    folder = program["folder"]
    with tempfile.TemporaryDirectory() as work:
        def build(command):
            try:
                done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, errors="replace",
                                      timeout=options.limit)
            except subprocess.TimeoutExpired:
                return "out of time: " + command
            said = done.stderr + done.stdout
            return "" if done.returncode == 0 else next((l for l in said.splitlines() if "error" in l), said[-200:])

        why = build("%s -O2 -w %s %s %s -o %s/program -lm" % (options.cpucc, flags, " ".join(for_clang),
                                                             program["sources"], work))
        if why:
            row["failed"] = "cupilot-cpucc: " + why
            return row
        names = subprocess.run("printf '%s\\n' " + program["sources"], shell=True, executable="/bin/bash", cwd=folder,
                               capture_output=True, text=True).stdout.split()
        for number, source in enumerate(n for n in names if n.endswith(".cu")):
            why = build("%s/bin/nvcc -w -arch=sm_90 --expt-relaxed-constexpr --extended-lambda -ptx %s %s %s -o %s/%d.ptx" % (
                options.cuda, flags, " ".join(for_nvcc), shlex.quote(source), work, number))
            if why:
                row["failed"] = "nvcc: " + why
                return row
        environment = dict(os.environ, LD_PRELOAD=options.pairs, CUPILOT_PAIRS_PTX=work,
                           CUPILOT_PAIRS_OUT=work + "/pairs.json", CUPILOT_CACHE_DIR=work + "/cache")
        run = subprocess.run(["bash", "-c", "ulimit -t %d -c 0; exec %s/program %s" % (options.limit, work,
                                                                                 program["arguments"])],
                             cwd=folder, capture_output=True, text=True, errors="replace", env=environment,
                             stdin=subprocess.DEVNULL)
        row["status"] = run.returncode
        row["pairs"] = []
        if os.path.exists(work + "/pairs.json"):
            with open(work + "/pairs.json", encoding="utf-8") as lines:
                row["pairs"] = [json.loads(line) for line in lines]
    return row


def kind(verdict):
    return verdict if verdict in ("bits", "same") else verdict.split(":")[0]


def report_mode(mode, rows):
    print("\n## %s\n" % mode)
    ran = [r for r in rows if r.get("pairs")]
    kernels = {}
    for row in ran:
        for pair in row["pairs"]:
            kernels.setdefault((row["program"], pair["kernel"]), []).append(pair)
    worst = {}
    for name, pairs in kernels.items():
        kinds = [kind(p["verdict"]) for p in pairs]
        worst[name] = next((k for k in kinds if k not in ("bits", "same")), "same" if "same" in kinds else "bits")
    counts = {}
    for k in worst.values():
        counts[k] = counts.get(k, 0) + 1
    print("%d programs, %d with paired launches; %d kernels in %d pairs: %s." % (
        len(rows), len(ran), len(kernels), sum(len(p) for p in kernels.values()),
        ", ".join("%d %s" % (n, k) for k, n in sorted(counts.items(), key=lambda c: -c[1]))))
    ratios = []
    for row in ran:
        timed = [p for p in row["pairs"] if p.get("bitcode_s")]
        if timed:
            ratios.append((sum(p["ptx_s"] for p in timed) / sum(p["bitcode_s"] for p in timed), row["program"]))
    each = [statistics.median(p["ptx_s"] / p["bitcode_s"] for p in pairs if p.get("bitcode_s"))
            for pairs in kernels.values() if any(p.get("bitcode_s") for p in pairs)]
    if ratios:
        ratios.sort()
        print("\nTime by PTX over time by bitcode: median of programs %.2f, of kernels %.2f; %d of %d programs at most "
              "1.3. Largest: %s." % (statistics.median(r for r, _ in ratios), statistics.median(each),
                                    sum(r <= 1.3 for r, _ in ratios), len(ratios),
                                    ", ".join("%s %.2f" % (os.path.basename(p), r) for r, p in ratios[:-11:-1])))
    print("\n| program | kernel | what |\n|---|---|---|")
    for row in rows:
        if "failed" in row:
            print("| %s | | %s |" % (row["program"], row["failed"].replace("|", "\\|")[:200]))
        elif not row["pairs"]:
            print("| %s | | no launch; exit status %d |" % (row["program"], row["status"]))
    for (program, kernel), pairs in kernels.items():
        odd = [p for p in pairs if p["verdict"] not in ("bits", "same")]
        if odd:
            print("| %s | `%s` | %s |" % (program, kernel[:80], odd[0]["verdict"].replace("|", "\\|")[:260]))
    if mode == "exact":
        names = sorted("%s `%s`" % (os.path.basename(p), k[:60]) for (p, k), w in worst.items() if w == "same")
        print("\nNot the same bits, but \"same\": " + ", ".join(names) + ".")
    return all(k in ("bits", "same") for k in worst.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", nargs="?")
    parser.add_argument("checkouts", nargs="?")
    parser.add_argument("names", nargs="*")
    for name in ("list", "cpucc", "pairs", "cuda"):
        parser.add_argument("--" + name)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--results", required=True)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.results, exist_ok=True)
    if not options.report:
        options.checkouts = os.path.abspath(options.checkouts)
        for program in read_programs(options.list, options.checkouts):
            if options.names and not any(n in program["program"] for n in options.names):
                continue
            path = os.path.join(options.results, options.mode + "__" + program["program"].replace("/", "__") + ".json")
            if os.path.exists(path) or not os.path.isdir(program["folder"]):
                continue
            row = examine(program, options)
            with open(path + ".new", "w", encoding="utf-8") as text:
                json.dump(row, text)
            os.rename(path + ".new", path)
            print(row["program"], row.get("failed") or sorted({kind(p["verdict"]) for p in row["pairs"]}),
                  file=sys.stderr, flush=True)
    good = True
    for mode in FLAGS:
        rows = []
        for path in sorted(glob.glob(options.results + "/" + mode + "__*.json")):
            with open(path, encoding="utf-8") as text:
                rows.append(json.load(text))
        if rows:
            good &= report_mode(mode, rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
