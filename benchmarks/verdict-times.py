#!/usr/bin/env python3
"""Paired times of verdicts: two builds of cupilot judge the same honest variants.

usage: verdict-times.py [--deep] OLD NEW F.cu...

OLD and NEW are the cupilot programs, F.cu files of test/Gate/Kernels. Each
variant is judged by both, one after the other, in processes of their own that
compile the file and run the original; processor time counts. Prints ratios
(NEW / OLD): median, 95th percentile, largest. With --deep, NEW also tries
launches of up to 2^24 elements, as for variants that are about to be kept, and
the differences count: OLD may be NEW.
"""
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import resource
import statistics
import subprocess
import sys


def seconds(command):
    """Processor time of a command and what it starts; None where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return None if status else after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def variants(path):
    """The honest variants of a file, with their kernels."""
    kernel = None
    with open(path) as f:
        for line in f:
            if found := re.match(r"// kernel:\s*(\w+)", line):
                kernel = found[1]
            elif found := re.match(r"// honest:\s*(\w+)", line):
                yield kernel, found[1]


def spread(numbers, form):
    """Median, 95th percentile and largest, in words."""
    numbers = sorted(numbers)
    high = numbers[min(len(numbers) - 1, int(0.95 * len(numbers)))]
    return f"median {statistics.median(numbers):{form}}, 95 % below {high:{form}}, largest {numbers[-1]:{form}}"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--deep"]
    deep = ["--deep"] if len(arguments) < len(sys.argv) - 1 else []
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    old, new, *files = arguments
    ratios, times = [], []
    for path in files:
        for kernel, variant in variants(path):
            ask = ["suite", path, "--kernel=" + kernel, "--variant=" + variant, "--workers=1"]
            a = seconds([old] + ask)
            b = seconds([new] + ask + ["--launches=1"] + deep)
            if a is None or b is None:
                print(f"{kernel} / {variant}: not judged by both", flush=True)
                continue
            ratios.append(b / a)
            times.append((a, b))
            print(f"{kernel} / {variant}: {a:.2f} s, {b:.2f} s, {b / a:.2f}", flush=True)
    if not ratios:
        print("verdict-times.py: error: no variant was judged by both", file=sys.stderr)
        return 1
    print(f"{len(ratios)} verdicts: {spread(ratios, '.2f')}; "
          f"medians {statistics.median(t[0] for t in times):.2f} s and {statistics.median(t[1] for t in times):.2f} s; "
          f"seconds more: {spread([b - a for a, b in times], '.1f')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
