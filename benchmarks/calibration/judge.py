#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""judge.py FOLDER TIMES.json: how well modelled times rank variants.

FOLDER holds what prepare.py made, TIMES.json what calibration-time measured."""
import json
import os
import statistics
import sys

import plan


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def spearman(a, b):
    """Pearson's correlation of the ranks; ties share theirs. None where one side is constant."""
    a, b = ranks(a), ranks(b)
    try:
        return statistics.correlation(a, b)
    except statistics.StatisticsError:
        return None


def rows(folder, times):
    for t in times:
        if "error" in t:
            print(f"{t['name']}: {t['error']}")
            continue
        with open(os.path.join(folder, t["name"] + ".json")) as f:
            model = {v["genome"]: v for v in json.load(f)["variants"]}
        yield t, [(model[v["genome"]], v) for v in t["variants"] if model[v["genome"]]["modelled"] is not None]


def main():
    folder, path = sys.argv[1:3]
    verbose = "-v" in sys.argv
    with open(path) as f:
        times = json.load(f)
    parts = {"fixing": plan.FIXING, "judging": plan.JUDGING}
    found = {p: [] for p in parts}
    for t, pairs in rows(folder, times):
        for part, kernels in parts.items():
            if t["name"] not in kernels:
                continue
            measured = [v["microseconds"] for _, v in pairs]
            modelled = [m["modelled"] for m, _ in pairs]
            rho = spearman(modelled, measured)
            best = min(range(len(pairs)), key=lambda i: modelled[i])
            print(f"{part:8} {t['name']:13} {len(pairs):3} variants  rho {rho if rho is not None else float('nan'):6.3f}  "
                  f"measured {min(measured):8.1f} to {max(measured):8.1f} us, original {measured[0]:8.1f}, "
                  f"modelled {modelled[0]:8.1f}, model's choice costs {measured[best] / min(measured):.3f} of the best")
            if len(pairs) >= 10 and rho is not None:
                found[part].append(rho)
            if verbose:
                for m, v in sorted(pairs, key=lambda p: p[1]["microseconds"]):
                    terms = m["launches"][0]["model"]
                    print(f"    {v['microseconds']:9.2f} [{v['low']:9.2f} {v['high']:9.2f}]  model {m['modelled']:9.2f} "
                          + " ".join(f"{k} {terms[k]:.1f}" for k in ("dram", "l2", "shared", "issue", "arithmetic", "latency"))
                          + f" occ {terms['occupancy']:.2f} {m['genome']}")
    for part, values in found.items():
        if values:
            print(f"{part}: median rho {statistics.median(values):.3f} over {len(values)} kernels with at least 10 variants")


if __name__ == "__main__":
    main()
