#!/usr/bin/env python3
"""What the domain of a variant costs a launch.

domains.py put STORE    Gives all records of STORE domains: one box for most
                        kernels, and eight for `wide`. Launches of bench.cpp
                        lie inside, in the last box.
domains.py none STORE   Gives them a domain without conditions.
domains.py pair A B [ROUNDS]
                        Runs two programs of bench.cpp in turn and prints, for
                        each launch, the median CPU times and the median of the
                        paired differences, in nanoseconds.
"""

import itertools
import json
import pathlib
import statistics
import subprocess
import sys


def pointers(record):
    return [i for i, (name, size) in enumerate(record["names"])
            if size == 8 and all(s["param"] != i for s in record["scalars"])]


def box(record, number, boxes):
    """A box that differs from the others by one integer, but the last."""
    scalars = range(len(record["scalars"]))
    ranges = [{"of": f"s{i}", "in": [[0, 1 << 24]]} for i in scalars]
    if number < boxes - 1:
        ranges[number]["in"] = [[-5, -1]]
    ranges += [{"of": d, "in": [[1, 65535]]} for d in ("gx", "bx")]
    if record["kernel"].startswith("wide"):  # As the gate writes them: blocks beyond those that a size needs, products.
        ranges += [{"of": ["+", "gx", ["*", ["ceildiv", "s0", 128], -1]], "in": [[-(1 << 63), 1]]},
                   {"of": ["*", "s0", "gx"], "in": [[1, 1 << 30]]}, {"of": ["*", "gx", "bx"], "in": [[-(1 << 63), 1 << 24]]}]
    size = ["*", "s0", 4]
    return {
        "seen": "gate", "ranges": ranges,
        "residues": [{"of": "s0", "mod": 2, "in": [0, 1]}],
        "nulls": [{"of": [p, 0], "null": False} for p in pointers(record)],
        "align": [{"pointer": [p, 0], "bytes": 4} for p in pointers(record)],
        "pairs": [{"a": [a, 0], "b": [b, 0], "equal": False,
                   # Each box has its own extents, as boxes of a fit have.
                   "of_a": [0, ["+", size, 4 * number]], "of_b": [0, size]}
                  for a, b in itertools.combinations(pointers(record), 2)
                  if record["kernel"].startswith("wide")],
    }


def change(store, some):
    for path in pathlib.Path(store, "builds").glob("*.json"):
        record = json.loads(path.read_text())
        record.pop("check", None)
        boxes = 8 if record["kernel"].startswith("wide") else 1
        for variant in record["variants"]:
            variant["domain"] = {"boxes": [box(record, i, boxes) for i in range(boxes)] if some
                                 else [{"seen": "gate"}]}
        path.write_text(json.dumps(record, indent=2))


BATCH = 256  # Launches of an iteration, as in bench.cpp.


def once(program):
    out = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.03"],
                         check=True, capture_output=True, text=True).stdout
    # CPU time: others may use the machine as well.
    return {b["name"].split("/")[1]: b["cpu_time"] / BATCH for b in json.loads(out)["benchmarks"]
            if "threads:4" not in b["name"]}


def pair(first, second, rounds="15"):
    times = []
    for i in range(int(rounds)):
        # In turn, so that what is warm helps each as often.
        order = (first, second) if i % 2 == 0 else (second, first)
        got = {p: once(p) for p in order}
        times.append((got[first], got[second]))
    print(f"{'launch':28}{'guard':>9}{'domain':>9}{'more':>9}{'ratio':>8}   ns")
    for name in times[0][0]:
        a = [t[0][name] for t in times]
        b = [t[1][name] for t in times]
        more = statistics.median(y - x for x, y in zip(a, b))
        ratio = statistics.median(y / x for x, y in zip(a, b))
        print(f"{name:28}{statistics.median(a):9.1f}{statistics.median(b):9.1f}{more:9.1f}{ratio:8.2f}")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "pair":
        pair(*arguments)
    else:
        change(arguments[0], command == "put")
