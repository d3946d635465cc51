#!/usr/bin/env python3
# make_vocabulary.py - IR2Vec's vocabulary from device code
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: make_vocabulary.py BITCODE... -o FILE [--dimensions N] [--tool llvm-ir2vec-22]
#
# Writes the vocabulary that kernels are embedded with (lib/Retrieval). Opcodes,
# types, operands and predicates become points so that what stands in the same
# company lies close: the triplets that llvm-ir2vec finds in BITCODE (an
# instruction and its type, the next one, its operands) are counted, weighted by
# positive pointwise mutual information, and reduced to the N directions that
# hold most (an eigenvalue decomposition by Jacobi's method). Nothing is random:
# the same bitcode gives the same file.

import argparse
import collections
import json
import math
import subprocess
import sys


def tool_lines(command):
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in ran.stdout.splitlines()]


def company(tool, files):
    """How often each entity stands with each (relation, side, entity)."""
    counts = collections.defaultdict(collections.Counter)
    for path in files:
        for fields in tool_lines([tool, "triplets", path, "-o", "-"]):
            if len(fields) != 3:
                continue  # "MAX_RELATION=4"
            head, tail, relation = map(int, fields)
            # 0 is the type, 1 the next instruction, 2 and more the operands.
            relation = min(relation, 2)
            counts[head][relation, "to", tail] += 1
            counts[tail][relation, "from", head] += 1
    return counts


def information(counts):
    """Positive pointwise mutual information, for rare company smoothed."""
    columns = collections.Counter()
    for row in counts.values():
        columns.update(row)
    rows = {e: sum(row.values()) for e, row in counts.items()}
    smooth = {c: n ** 0.75 for c, n in columns.items()}
    whole = sum(smooth.values())
    return {e: {c: max(0.0, math.log(n * whole / (rows[e] * smooth[c])))
                for c, n in row.items()} for e, row in counts.items()}


def eigen(matrix, sweeps=40):
    """Eigenvalues and eigenvectors (columns) of a symmetric matrix."""
    n = len(matrix)
    a = [row[:] for row in matrix]
    v = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(sweeps):
        if sum(a[i][j] ** 2 for i in range(n) for j in range(i)) < 1e-18:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p][q]) < 1e-12:
                    continue
                theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
                t = math.copysign(1, theta) / (abs(theta) + math.hypot(theta, 1))
                c = 1 / math.hypot(t, 1)
                s = t * c
                for m in (a, v):
                    for row in m:
                        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                a[p], a[q] = ([c * x - s * y for x, y in zip(a[p], a[q])],
                              [s * x + c * y for x, y in zip(a[p], a[q])])
    return [a[i][i] for i in range(n)], v


def points(weights, dimensions):
    entities = sorted(weights)
    gram = [[sum(w * weights[f].get(c, 0.0) for c, w in weights[e].items())
             for f in entities] for e in entities]
    values, vectors = eigen(gram)
    order = sorted(range(len(values)), key=lambda i: -values[i])[:dimensions]
    scale = math.sqrt(max(values))
    result = {}
    for row, entity in enumerate(entities):
        result[entity] = []
        for i in order:
            # A sign is nobody's choice: the largest part of a direction is positive.
            largest = max(range(len(entities)), key=lambda r: abs(vectors[r][i]))
            sign = math.copysign(1, vectors[largest][i])
            result[entity].append(
                sign * vectors[row][i] * math.sqrt(max(0.0, values[i])) / scale)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bitcode", nargs="+")
    parser.add_argument("-o", dest="output", required=True)
    parser.add_argument("--dimensions", type=int, default=32)
    parser.add_argument("--tool", default="llvm-ir2vec-22")
    options = parser.parse_args()
    names = {int(f[1]): f[0]
             for f in tool_lines([options.tool, "entities", "-o", "-"]) if len(f) == 2}
    known = points(information(company(options.tool, options.bitcode)),
                   options.dimensions)
    sections = {"Opcodes": {}, "Types": {}, "Arguments": {}}
    for number, name in sorted(names.items()):
        section = ("Types" if name.endswith("Ty") else
                   "Arguments" if name in ("Function", "Pointer", "Constant", "Variable")
                   or name.startswith(("ICMP_", "FCMP_")) else "Opcodes")
        point = known.get(number, [0.0] * options.dimensions)
        sections[section][name] = [round(x, 4) + 0.0 for x in point]
    with open(options.output, "w", encoding="utf-8") as out:
        out.write("{\n")
        for i, (section, entries) in enumerate(sections.items()):
            out.write(' "%s": {\n' % section)
            out.write(",\n".join('  "%s": %s' % (n, json.dumps(p))
                                 for n, p in entries.items()))
            out.write("\n }%s\n" % ("," if i < 2 else ""))
        out.write("}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
