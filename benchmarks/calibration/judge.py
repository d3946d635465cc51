#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""judge.py FOLDER TIMES.json... [-v]: how well modelled times rank variants.

FOLDER holds what prepare.py made, TIMES.json what calibration-time measured; of several runs the mean counts, and how far
they are apart is printed.

Two figures, both Spearman's correlation within a kernel. The first takes times as they are. The second knows ties: from
the fastest on, variants within 2 % of the first of their group share a rank, on both sides, since the model claims nothing
about smaller differences and runs differ by as much. A kernel whose measured times are one group has no order, and no
second figure; a model that sees no difference where there is one gets 0."""
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


NOISE = 0.02


def groups(values):
    """Each value, or the smallest of those within NOISE of each other that it belongs to."""
    out, first = list(values), None
    for i in sorted(range(len(values)), key=lambda i: values[i]):
        if first is None or values[i] > first * (1 + NOISE):
            first = values[i]
        out[i] = first
    return out


def spearman(a, b):
    """Pearson's correlation of the ranks; ties share theirs. None where one side is constant."""
    a, b = ranks(a), ranks(b)
    try:
        return statistics.correlation(a, b)
    except statistics.StatisticsError:
        return None


def together(runs):
    """The runs' times, averaged, and how far each variant's are apart."""
    times, apart = runs[0], []
    others = [{t["name"]: t for t in run} for run in runs[1:]]
    for t in times:
        for i, v in enumerate(t.get("variants", [])):
            each = [v["microseconds"]] + [o[t["name"]]["variants"][i]["microseconds"] for o in others]
            v["microseconds"] = statistics.mean(each)
            apart.append(max(each) / min(each) - 1)
    return times, apart


def rows(folder, times):
    for t in times:
        if "error" in t:
            print(f"{t['name']}: {t['error']}")
            continue
        path = os.path.join(folder, t["name"] + ".json")
        if not os.path.exists(path):
            continue
        with open(path) as f:
            model = {v["genome"]: v for v in json.load(f)["variants"]}
        yield t, [(model[v["genome"]], v) for v in t["variants"] if model[v["genome"]]["modelled"] is not None]


def show(pairs):
    for m, v in sorted(pairs, key=lambda p: p[1]["microseconds"]):
        terms = m["launches"][0]["model"]
        print(f"    {v['microseconds']:9.2f}  model {m['modelled']:9.2f} "
              + " ".join(f"{k} {terms[k]:.1f}" for k in ("dram", "l2", "shared", "issue", "arithmetic", "latency"))
              + f" occ {terms['occupancy']:.2f} {m['genome']}")


def main():
    verbose = "-v" in sys.argv
    folder, *paths = [a for a in sys.argv[1:] if a != "-v"]
    runs = []
    for path in paths:
        with open(path) as f:
            runs.append(json.load(f))
    times, apart = together(runs)
    if len(runs) > 1:
        print(f"runs: median {100 * statistics.median(apart):.2f} % apart, {100 * sum(a > NOISE for a in apart) / len(apart):.1f} % of "
              f"{len(apart)} variants more than {100 * NOISE:.0f} %")
    parts = {"choosing": plan.CHOOSING, "judging": plan.JUDGING}
    found = {p: ([], []) for p in parts}
    for t, pairs in rows(folder, times):
        for part, kernels in parts.items():
            if t["name"] not in kernels:
                continue
            measured = [v["microseconds"] for _, v in pairs]
            modelled = [m["modelled"] for m, _ in pairs]
            rho = spearman(modelled, measured) or 0
            ordered = len(set(groups(measured))) > 1
            tied = (spearman(groups(modelled), groups(measured)) or 0) if ordered else None
            best = min(range(len(pairs)), key=lambda i: modelled[i])
            print(f"{part:8} {t['name']:15} {len(pairs):3} variants  rho {rho:6.3f}, with ties {'  none' if tied is None else f'{tied:6.3f}'}  "
                  f"measured {min(measured):8.1f} to {max(measured):8.1f} us, original {measured[0]:8.1f}, "
                  f"modelled {modelled[0]:8.1f}, model's choice costs {measured[best] / min(measured):.3f} of the best")
            if len(pairs) >= 10:
                found[part][0].append(rho)
                if tied is not None:
                    found[part][1].append(tied)
            if verbose:
                show(pairs)
    for part, (plain, tied) in found.items():
        if plain:
            print(f"{part}: median rho {statistics.median(plain):.3f} over {len(plain)} kernels with at least 10 variants, "
                  f"with ties {statistics.median(tied):.3f} over the {len(tied)} that have an order")


if __name__ == "__main__":
    main()
