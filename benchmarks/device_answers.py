"""Selects from the results of device-answers.sh what the unit test checks.

  device_answers.py RESULTS/answers.txt > test/CpuDevice/Inputs/gpu-answers.txt

An instruction begins with "= WIDTH OPERANDS PTX"; each line below it has the
operands and the answer. Operands that the instruction does not have are left
out, and of the random arguments of approximate instructions every 128th stays.
"""

import pathlib
import re
import sys

SPECIALS = 22  # Arguments at the beginning that are not random.
EACH = 128


def operations():
    """Names and PTX of the operations in device-answers.cu."""
    text = pathlib.Path(__file__).with_name("device-answers.cu").read_text()
    text = re.sub(r"\s*\\\n\s*", "", text)
    found = {}
    for name, ptx in re.findall(r'X\((\w+),((?:\s*"[^"]*")+)\)', text):
        found[name] = "".join(re.findall(r'"([^"]*)"', ptx))
    return found


def main():
    ptx = operations()
    samples = {}
    heading = ""
    for line in open(sys.argv[1], encoding="ascii"):
        parts = line.split()
        if parts[0] == "#":
            heading = line
        elif parts[0] in ptx or ".approx" in parts[0] or ".full" in parts[0]:
            samples.setdefault(parts[0], []).append(parts[1:])
    print(heading, end="")
    print("# Selected by benchmarks/device_answers.py.")
    for name, rows in samples.items():
        if name in ptx:
            width = int(re.search(r"\d+$", name).group())
            text = ptx[name]
            count = 3 if re.search(r"\bz\b", text) else 2 if re.search(r"\by\b", text) else 1
            rows = list(dict.fromkeys(tuple(r[:count] + r[3:]) for r in rows))
        else:
            width, count = 32, len(rows[0]) - 1
            text = f"{name} d, {'x, y' if count == 2 else 'x'};"
            fixed = SPECIALS**count
            rows = rows[:fixed] + rows[fixed::EACH]
        print(f"= {width} {count} {text}")
        for row in rows:
            print(*row)


main()
