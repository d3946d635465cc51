#!/usr/bin/env python3
"""Public programs at sizes that no proof knew: what held-out-sizes.sh runs."""
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import os
import random
import resource
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Of kernels that the first recording lacks: no variant of theirs exists.
UNKNOWN = "the kernel was not recorded"
# Options of nvcc, as clang names them.
CLANG = {"--use_fast_math": "-ffast-math"}
SIZES = ["recorded", "one", "odd", "prime", "large", "small"]


def fields(path):
    """The lines of a table, each as its fields."""
    with open(path) as f:
        return [[x.strip() for x in line.split(" | ")]
                for line in f if line.strip() and line[0] != "#"]


def programs():
    """public-programs.txt by folder."""
    return {r[2]: r for r in fields(os.path.join(HERE, "public-programs.txt"))}


def table(o):
    for row in fields(o.table):
        name = os.path.basename(row[0])
        if not o.names or name in o.names:
            yield name, row[0], dict(zip(SIZES, row[1:]))


def draw(o):
    """Folders in the order in which a seed draws them."""
    drawn = [r for r in programs().values() if len(r[5].split()) >= 2]
    random.Random(o.seed).shuffle(drawn)
    for r in drawn[:o.count]:
        print(r[2], "|", r[5])


def run(command, folder, log, seconds):
    """Exit status of a command, with a limit of processor time; 124 beyond it."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    with open(log, "w") as f:
        try:
            return subprocess.run(command, cwd=folder, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=20 * seconds, preexec_fn=limit).returncode
        except subprocess.TimeoutExpired:
            return 124


def record(o):
    """Builds each program and records it at each of its sizes. What is there stays."""
    known = programs()
    for name, folder, sizes in table(o):
        _, _, _, sources, flags, _, _ = known[folder]
        at = os.path.join(os.path.abspath(o.checkouts), folder)
        work = os.path.join(os.path.abspath(o.work), name)
        os.makedirs(work, exist_ok=True)
        program = os.path.join(work, "program")
        if not os.path.exists(program):
            command = [f"{o.build}/bin/cupilot-cpucc", "-O2", "-w"] + ([] if flags == "-" else flags.split()) + \
                sources.split() + ["-o", program, "-lm"]
            if run(command, at, work + "/build.log", 300):
                print(f"{name}: does not build: {work}/build.log", flush=True)
                continue
        for size, arguments in sizes.items():
            to = f"{work}/{size}.mlir"
            if os.path.exists(to) or os.path.exists(f"{work}/{size}.failed"):
                continue
            command = [f"{o.build}/bin/cupilot", "capture", "-o", to, "--", program] + shlex.split(arguments)
            status = run(command, at, f"{work}/{size}.log", o.seconds)
            print(f"{name} {size} ({arguments}): status {status}", flush=True)
            if not os.path.exists(to):
                with open(f"{work}/{size}.failed", "w") as f:
                    f.write(f"{status}\n")


def judge(o):
    """Derives domains from the recorded launches, and holds the others against them."""
    known = programs()
    for name, folder, sizes in table(o):
        _, _, _, sources, flags, _, _ = known[folder]
        at = os.path.join(os.path.abspath(o.checkouts), folder)
        work = os.path.join(os.path.abspath(o.work), name)
        if not os.path.exists(work + "/recorded.mlir"):
            continue
        others = [f"--other={size}={work}/{size}.mlir" for size in sizes
                  if size != "recorded" and os.path.exists(f"{work}/{size}.mlir")]
        source = next(x for x in sources.split() if x.endswith(".cu"))
        command = [f"{o.build}/bin/held-out-domain", source, f"--recorded={work}/recorded.mlir"] + others + \
            ["--", "-O2", "-w"] + ([] if flags == "-" else [CLANG.get(x, x) for x in flags.split()])
        status = run(command, at, work + "/domain.jsonl", o.seconds)
        print(f"{name}: status {status}", flush=True)


def verdicts(work):
    """What judge wrote for a program, or nothing."""
    if not os.path.exists(work + "/domain.jsonl"):
        return []
    with open(work + "/domain.jsonl") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


def report(o):
    """The table: shares of the launches, by kernel time, that lie inside."""
    print("| program |", " | ".join(SIZES), "| what sent launches away |")
    print("|---|" + "---|" * (len(SIZES) + 1))
    shares, reasons, without = [], {}, []
    recorded_out = 0
    for name, _, _ in table(o):
        kernels = verdicts(os.path.join(o.work, name))
        if not kernels:
            without.append(name)
            continue
        cells, why = [], {}
        for size in SIZES:
            launches = [l for k in kernels for l in k["launches"] if l["size"] == size and l["why"] != UNKNOWN]
            total = sum(l["weight"] for l in launches)
            if total <= 0:
                cells.append("-")
                continue
            share = sum(l["weight"] for l in launches if l["inside"]) / total
            cells.append(f"{100 * share:.0f} %")
            for l in launches:
                if not l["inside"]:
                    why[l["why"]] = why.get(l["why"], 0) + l["weight"] / total
            if size == "recorded":
                recorded_out += sum(not l["inside"] for l in launches)
            else:
                shares.append(share)
        for text, weight in why.items():
            reasons[text] = reasons.get(text, 0) + weight
        worst = sorted(why, key=why.get, reverse=True)[:2]
        derived = sum(k["domain"] for k in kernels)
        if derived < len(kernels):
            worst.append(f"{len(kernels) - derived} of {len(kernels)} kernels without a domain")
        print("|", name, "|", " | ".join(cells), "|", "; ".join(worst).replace("|", "/").replace("\n", " "), "|")
    if without:
        print("\nNot judged:", ", ".join(without))
    if not shares:
        print("held_out_sizes.py: error: nothing was judged", file=sys.stderr)
        return 2
    mean = sum(shares) / len(shares)
    print(f"\n{100 * mean:.1f} % of the kernel time of {len(shares)} runs at other sizes lies inside; each run counts the same.")
    print(f"{recorded_out} recorded launches lie outside.")
    return 0 if mean >= o.minimum / 100 and recorded_out == 0 else 1


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--table", default=os.path.join(HERE, "held-out-sizes.txt"))
    p.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    s = p.add_subparsers(required=True)
    c = s.add_parser("draw", help=draw.__doc__)
    c.add_argument("--seed", type=int, default=18)
    c.add_argument("--count", type=int, default=30)
    c.set_defaults(do=draw)
    c = s.add_parser("record", help=record.__doc__)
    c.add_argument("checkouts")
    c.add_argument("work")
    c.add_argument("names", nargs="*")
    c.add_argument("--seconds", type=int, default=120, help="of processor time for a run")
    c.set_defaults(do=record)
    c = s.add_parser("judge", help=judge.__doc__)
    c.add_argument("checkouts")
    c.add_argument("work")
    c.add_argument("names", nargs="*")
    c.add_argument("--seconds", type=int, default=900, help="of processor time for a program")
    c.set_defaults(do=judge)
    c = s.add_parser("report", help=report.__doc__)
    c.add_argument("work")
    c.add_argument("names", nargs="*")
    c.add_argument("--minimum", type=float, default=0, help="percent inside; less is exit status 1")
    c.set_defaults(do=report)
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    return o.do(o)


if __name__ == "__main__":
    sys.exit(main())
