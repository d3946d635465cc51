#!/usr/bin/env python3
# ptx_load.py - PTX modules of public units on the cpu device, against ptxas
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by ptx-load.sh, which says how. A unit's row is what ptx-load prints, and
#   unit, nvcc   whether nvcc compiles it; else "reason" says why not
#   ptxas        seconds of ptxas -O3; absent where it fails

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import public_units as units  # noqa: E402

# Refusals that are no lack (docs/CpuDevice.md, "PTX modules").
TEXTURES = r"'(tex|tld4|txq|suld|sust|sured|suq|istypep)\b|\btexref\b|\bsurfref\b|\bsamplerref\b"
PARALLELISM = r"cudaGetParameterBuffer|cudaLaunchDevice|cudaDeviceSynchronize|cudaStreamCreate|cudaEventRecord"


def seconds_of(command, limit):
    """Processor time of a command, or None where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def examine(unit, number, options):
    row = {"unit": unit["unit"], "flags": unit["flags"]}
    folder = os.path.join(options.checkouts, unit["project"])
    with tempfile.TemporaryDirectory() as work:
        ptx = work + "/unit.ptx"
        nvcc = subprocess.run([options.cuda + "/bin/nvcc", "-w", "-arch=" + options.arch, "-ptx", unit["source"],
                               "-o", ptx] + unit["flags"], cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=options.limit)
        row["nvcc"] = nvcc.returncode == 0
        if not row["nvcc"]:
            row["reason"] = next((l for l in (nvcc.stderr + nvcc.stdout).splitlines() if "error" in l), "?")
            return row
        environment = dict(os.environ, CUPILOT_CACHE_DIR=work + "/cache")
        compiled = number % options.every == 0
        try:
            tool = subprocess.run([options.tool] + ["--compile"] * compiled + [ptx], capture_output=True, text=True,
                                  errors="replace", env=environment, timeout=options.limit)
        except subprocess.TimeoutExpired:
            row["error"] = "more than %d seconds" % options.limit
            return row
        if tool.returncode:
            row["error"] = "exit status %d: %s" % (tool.returncode, tool.stderr[-300:])
            return row
        row.update(json.loads(tool.stdout))
        if row.get("kernels"):
            took = seconds_of([options.cuda + "/bin/ptxas", "-O3", "-arch=" + options.arch, ptx, "-o",
                               work + "/unit.cubin"], options.limit)
            if took is not None:
                row["ptxas"] = took
    return row


def quantiles(values):
    values = sorted(values)
    return "%.3f | %.3f | %.3f" % (statistics.median(values), values[int(len(values) * 0.95)], values[-1])


def report(rows):
    built = [r for r in rows if r["nvcc"]]
    loads = [r for r in built if "error" not in r]
    lacking = [(r, l) for r in loads for l in r.get("lacks", [])]

    def allowed(lack):
        return re.search(TEXTURES + "|" + PARALLELISM, lack["what"])

    good = [r for r in loads if all(allowed(l) for l in r.get("lacks", []))]
    print("%d units, nvcc compiles %d, with %d kernels. %d (%s) load without a refusal other than textures and dynamic "
          "parallelism; %d without any." % (
              len(rows), len(built), sum(r.get("kernels", 0) for r in loads), len(good),
              units.percent(len(good), len(built)), sum(not r.get("lacks") for r in loads)))
    timed = [r for r in loads if r.get("ptxas") and r.get("kernels")]
    print("\n| processor time, %d modules with kernels | in all, s | median | 95 %% | most |\n|---|---|---|---|---|"
          % len(timed))
    compiled = [r for r in timed if "compile" in r]

    def line(name, rows, what, per):
        if rows:
            print("| %s | %.1f against %.1f | %s |" % (name, sum(what(r) for r in rows), sum(per(r) for r in rows),
                                                    quantiles([what(r) / per(r) for r in rows])))

    line("load / `ptxas -O3`", timed, lambda r: r["load"], lambda r: r["ptxas"])
    line("load again / load", timed, lambda r: r["load_again"], lambda r: r["load"])
    line("load and compile all kernels / `ptxas -O3` (%d modules)" % len(compiled), compiled,
         lambda r: r["load"] + r["compile"], lambda r: r["ptxas"])
    line("the same again / first (%d modules)" % len(compiled), compiled,
         lambda r: r["load_again"] + r["compile_again"], lambda r: r["load"] + r["compile"])
    print("\n| unit | what |\n|---|---|")
    for row in rows:
        for key in ("reason", "error"):
            if key in row:
                print("| %s | %s | %s |" % (row["unit"], "nvcc" if key == "reason" else "cpu device",
                                            units.clean(row[key])[:200]))
    said = {}
    for row, lack in lacking:
        said.setdefault((row["unit"], units.clean(lack["what"])[:120]), []).append(lack["kernel"])
    for (unit, what), kernels in said.items():
        print("| %s | %d kernels | %s |" % (unit, len(kernels), what))
    return len(good) == len(built)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list")
    parser.add_argument("--tool")
    parser.add_argument("--cuda")
    parser.add_argument("--arch")
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--results", required=True)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--limit", type=int, default=600)
    options = parser.parse_args()
    os.makedirs(options.results, exist_ok=True)
    if options.report:
        rows = []
        for name in sorted(os.listdir(options.results)):
            with open(os.path.join(options.results, name), encoding="utf-8") as text:
                rows.append(json.load(text))
        return 0 if report(rows) else 1
    rows = []
    for number, unit in enumerate(units.read_list(options.list)):
        if options.names and not any(n in unit["unit"] for n in options.names):
            continue
        path = os.path.join(options.results, unit["unit"].replace("/", "__") + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as text:
                rows.append(json.load(text))
            continue
        row = examine(unit, number, options)
        with open(path + ".new", "w", encoding="utf-8") as text:
            json.dump(row, text)
        os.rename(path + ".new", path)
        rows.append(row)
        print(row["unit"], row.get("error") or row.get("reason") or len(row.get("lacks", [])), file=sys.stderr,
              flush=True)
    return 0 if report(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
