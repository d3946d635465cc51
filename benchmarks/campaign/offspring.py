#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts from recordings how often offspring compile and pass the gate.

  offspring.py FOLDER...      FOLDER holds a recording for each search: calls or code-crossover of unpack.py

An offspring's first answer passed where no repair was asked for after it; "form" says that it was not yet of the form
that was asked for, which is put right before it is compiled. What passed in the end is what the card was given."""

import collections
import glob
import json
import os
import re
import sys


def count(folder):
    steps = collections.defaultdict(set)
    passed, calls = collections.defaultdict(set), 0
    for path in glob.glob(os.path.join(folder, "llm", "*.json")):
        step = json.load(open(path))["step"].split("/", 1)[1]
        calls += 1
        found = re.fullmatch(r"(g[1-9]\d*_v\d+)/(.*)", step)
        if found:
            steps[found[1]].add(found[2])
    for path in glob.glob(os.path.join(folder, "device", "*.json")):
        call = json.load(open(path))
        found = re.fullmatch(r".*/(g[1-9]\d*)(r\d+)?", call["step"])
        if found:
            passed[found[1]] |= {key.split("-")[0] for key in call["answer"]["results"] if re.match("c[0-9a-f]{10}-", key)}
    repaired = [s for s in steps.values() if any(x.startswith("repair") for x in s)]
    return {"offspring": len(steps), "first": len(steps) - len(repaired),
            "form": sum("translate/repair" in s for s in steps.values()),
            "measured": {s.split("_")[0] for s in steps} <= set(passed), "end": sum(len(p) for p in passed.values()),
            "calls": calls}


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    for folder in sys.argv[1:]:
        print(f"## {os.path.basename(os.path.normpath(folder))}\n")
        print("| search | offspring | passed at first | form put right | passed in the end | calls |\n|---|---|---|---|---|---|")
        total = collections.Counter()
        for each in sorted(glob.glob(os.path.join(folder, "*", ""))):
            c = count(each)
            if not c["offspring"]:
                continue
            print(f"| {os.path.basename(each[:-1])} | {c['offspring']} | {c['first']} | {c['form']} | "
                  + (f"{c['end']}" if c["measured"] else "") + f" | {c['calls']} |")
            total.update({k: c[k] for k in ("offspring", "first", "form", "calls")})
            if c["measured"]:
                total.update(end=c["end"], of=c["offspring"])
        n = max(total["offspring"], 1)
        print(f"| all | {total['offspring']} | {total['first']} ({100 * total['first'] / n:.0f} %) | {total['form']} | "
              f"{total['end']} of {total['of']} | {total['calls']} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
