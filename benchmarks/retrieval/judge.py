#!/usr/bin/env python3
# judge.py - do kernels of one kind find each other?
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: judge.py CUPILOT [--least SHARE] [-v] -- FLAGS
#
# Over test/Gate/Kernels: each kernel there has others of its kind, written in
# other ways, called as it and a word more (softmax, softmaxOnline). Prints how
# often the nearest of all other kernels is of the same kind, how often one of
# the three nearest is, and what chance would give. Exit status 1 below --least.

import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cupilot")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("-v", action="store_true")
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:end])
    here = os.path.dirname(os.path.realpath(__file__))
    files = sorted(glob.glob(here + "/../../test/Gate/Kernels/*.cu"))
    ran = subprocess.run([options.cupilot, "similar", *files, "--count=3", "--json",
                          *given[end:]],
                         stdout=subprocess.PIPE, text=True, check=True)
    rows = json.loads(ran.stdout)

    def word(row):
        return re.match(r"(?:void )?(\w+)", row["kernel"]).group(1)

    words = {word(row) for row in rows}

    def kind(name):
        return min((w for w in words if re.fullmatch(w + r"([A-Z0-9]\w*)?", name)),
                   key=len)

    sizes = collections.Counter(kind(word(row)) for row in rows)
    first = three = asked = 0
    chance = 0.0
    for row in rows:
        own = kind(word(row))
        if sizes[own] < 2:
            continue
        asked += 1
        chance += (sizes[own] - 1) / (len(rows) - 1)
        found = [kind(word(other)) for other in row["similar"]]
        first += found[0] == own
        three += own in found
        if options.v and found[0] != own:
            print("%s: %s (%.3f)" % (word(row), word(row["similar"][0]),
                                     row["similar"][0]["similarity"]))
    print("%d kernels of %d kinds: the nearest is of the same kind for %.1f %%, one of "
          "three for %.1f %%; by chance %.1f %%" %
          (asked, len(sizes), 100 * first / asked, 100 * three / asked,
           100 * chance / asked))
    return int(first / asked < options.least)


if __name__ == "__main__":
    sys.exit(main())
