#!/usr/bin/env python3
# ggml_backend.py - What ggml-gpu.sh runs on ggml's backend, and what it found
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: ggml_backend.py cases GGML TOKENS [OP...]
#        ggml_backend.py summary FILE
#        ggml_backend.py inside FILE...
#
# cases prints operations for "test-backend-ops --test-file": those below on
# TOKENS rows, as wide as in a model with 7 billion parameters (4096 numbers,
# 11008 in the feed-forward part). GGML is the checkout, whose header has the
# numbers of the operations.
#
# summary prints what "cupilot compare --json" wrote into FILE: a line for each
# kernel with variants. inside takes several, and prints how much of the time of
# these kernels' launches, as the originals take it, was in launches that took
# variants.

import json
import re
import struct
import sys

WIDE, INNER = 4096, 11008

# Operation: width of a row, of the result's row, sources, parameters.
CASES = {
    "SCALE": (WIDE, WIDE, 1, [0.5, 0.25]),
    "CLAMP": (WIDE, WIDE, 1, [-0.5, 0.5]),
    "LEAKY_RELU": (WIDE, WIDE, 1, [0.1]),
    "SQR": (WIDE, WIDE, 1, []),
    "SILU": (INNER, INNER, 1, ["UNARY_OP_SILU"]),
    "GELU": (INNER, INNER, 1, ["UNARY_OP_GELU"]),
    "RELU": (INNER, INNER, 1, ["UNARY_OP_RELU"]),
    "SWIGLU": (INNER, INNER, 2, ["GLU_OP_SWIGLU", 0]),
    "NORM": (WIDE, WIDE, 1, [1e-5]),
    "RMS_NORM": (WIDE, WIDE, 1, [1e-6]),
    "RMS_NORM_BACK": (WIDE, WIDE, 2, [1e-6]),
    "L2_NORM": (WIDE, WIDE, 1, [1e-6]),
    "SUM_ROWS": (WIDE, 1, 1, []),
    "MEAN": (WIDE, 1, 1, []),
}


def enumerators(header, prefix):
    """Names and numbers of the enumeration whose names begin with prefix."""
    body = next(b for b in re.findall(r"enum \w+ \{(.*?)\}", header, re.S) if prefix in b)
    body = re.sub(r"//.*", "", body)
    names, value = {}, 0
    for word in filter(None, (w.strip() for w in body.split(","))):
        name, _, number = (p.strip() for p in word.partition("="))
        value = int(number, 0) if number else value
        names[name] = value
        value += 1
    return names


def print_cases(ggml, tokens, names):
    with open(ggml + "/include/ggml.h") as f:
        header = f.read()
    ops = enumerators(header, "GGML_OP_NONE")
    details = {**enumerators(header, "GGML_UNARY_OP_ABS"), **enumerators(header, "GGML_GLU_OP_REGLU")}
    f32 = 0
    for name in names or CASES:
        width, result, sources, parameters = CASES[name]
        words = [
            details["GGML_" + p] if isinstance(p, str) else struct.unpack("<i", struct.pack("<f", p))[0] if isinstance(p, float) else p
            for p in parameters
        ]
        kind = parameters[0].split("_OP_")[0] if parameters and isinstance(parameters[0], str) else name
        line = [ops["GGML_OP_" + kind], f32, result, tokens, 1, 1, len(words), *words, sources]
        for _ in range(sources):
            # No strides: rows without gaps.
            line += [f32, width, tokens, 1, 1, 0, 0, 0, 0]
        print(*line, f"{name}-{tokens}")


def kernels(report):
    """For each kernel with variants: name, launches that took one, launches that did not, times of originals and variants in us, reasons."""
    counts = {}
    for record in report["launches"]:
        took, stayed, why = counts.setdefault(record["symbol"], [0, 0, []])
        if record["kind"] == "variant":
            took += record["launches"]
        elif record["kind"] == "original":
            stayed += record["launches"]
        elif record["launches"]:
            why.append(f"{record['launches']} outside: {record['clause']}")
        counts[record["symbol"]] = [took, stayed, why]
    for kernel in report.get("kernels", []):
        if kernel["symbol"] in counts:
            yield (kernel["kernel"], *counts.pop(kernel["symbol"]), kernel["originals"]["us"], kernel["variants"]["us"])
    for symbol, (took, stayed, why) in counts.items():
        yield (symbol, took, stayed, why, 0.0, 0.0)


def load(path):
    with open(path) as f:
        return json.load(f)


def print_summary(path):
    report = load(path)
    print("results:", "the same" if report["same"] else "DIFFERENT", "" if report["launchesComplete"] else "(launches: at least)")
    for output in report["outputs"]:
        print(f"{output['name']}: {output['compared']} {output['unit']}s compared, {output['differing']} differ, {output['leftOut']} left out")
    print("variants originals  originals us   variants us  ratio  kernel")
    for name, took, stayed, why, before, after in kernels(report):
        print(f"{took:8} {stayed:9} {before:13.2f} {after:13.2f} {before / after if after else 0:6.2f}  {name}" + "".join(f"\n{'':45}{w}" for w in why))
    for note in report.get("notes", []):
        print("note:", note)


def print_inside(paths):
    inside = total = 0.0
    for path in paths:
        here = all_here = 0.0
        for _, took, stayed, _, before, _ in kernels(load(path)):
            if took + stayed:
                here += before * took / (took + stayed)
                all_here += before
        print(f"{path}: {here:.1f} of {all_here:.1f} us")
        inside, total = inside + here, total + all_here
    print(f"inside, by kernel time: {100 * inside / total if total else 0:.1f} %")


def main():
    command, *rest = sys.argv[1:] or [""]
    if command == "cases" and len(rest) >= 2:
        print_cases(rest[0], int(rest[1]), rest[2:])
    elif command == "summary" and len(rest) == 1:
        print_summary(rest[0])
    elif command == "inside" and rest:
        print_inside(rest)
    else:
        sys.exit("usage: ggml_backend.py cases GGML TOKENS [OP...] | summary FILE | inside FILE...")


if __name__ == "__main__":
    main()
