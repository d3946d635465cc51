#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
"""ptx_rows.py PTX-ROWS PTXAS: the rows of ptx-rows that ptxas accepts for sm_90a.

ptx-rows writes every combination of modifiers that looks possible; ptxas knows
which there are. Prints the names of those, one a line."""

import pathlib
import re
import subprocess
import sys
import tempfile


def accepted(ptxas, file):
    """Names of the rows of one file in which ptxas finds no error."""
    owners, names, bad, row = {}, [], set(), None
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.startswith("{ // "):
            row = line[5:]
            names.append(row)
        owners[number] = row
        if line == "}":
            row = None
    run = subprocess.run([ptxas, "-arch=sm_90a", file, "-o", "/dev/null"],
                         capture_output=True, text=True)
    for line in (run.stdout + run.stderr).splitlines():
        if found := re.search(r", line (\d+); error\s*:", line):
            owner = owners.get(int(found[1]))
            if owner is None:
                sys.exit(f"error: not in a row: {line}")
            bad.add(owner)
    if run.returncode and not bad:
        sys.exit(f"error: {file.name}: {run.stderr}")
    return [n for n in names if n not in bad]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: ptx_rows.py PTX-ROWS PTXAS")
    rows, ptxas = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        names = folder / "names"
        names.write_text(subprocess.run([rows, "names"], check=True,
                                        capture_output=True, text=True).stdout)
        subprocess.run([rows, "write", names, folder], check=True)
        for number in range(len(list(folder.glob("part*.ptx")))):
            for name in accepted(ptxas, folder / f"part{number}.ptx"):
                print(name)


main()
