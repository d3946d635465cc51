"""usage: ptx-against-bitcode.py TOOL FOLDER SOURCE... -- COMPILER...

Compiles each SOURCE to PTX by COMPILER and has TOOL compare its kernels' launches with those of their bitcode, which clang
contracts where COMPILER has no -fmad=false or -ffp-contract=off. Prints how many have the same bits, and each that has not,
and what of the contract "same" holds. Then how many times the bitcode's instructions the PTX has, in the median.
"""
import os
import re
import statistics
import subprocess
import sys

tool, folder, *rest = sys.argv[1:]
sources, compiler = rest[:rest.index("--")], rest[rest.index("--") + 1:]
exact = {"-fmad=false", "-ffp-contract=off"} & set(compiler)
flags = ["-O2"] + ["-ffp-contract=off"] * bool(exact)
same, lines, ratios = 0, [], []
for source in sources:
    ptx = os.path.join(folder, os.path.basename(source) + ".ptx")
    subprocess.run(compiler + [source, "-o", ptx], check=True)
    run = subprocess.run([tool, source, ptx] + flags, capture_output=True, text=True)
    for line in run.stdout.splitlines():
        if counted := re.fullmatch(r"(.*), (\d+\.\d\d)", line):
            line = counted[1]
            ratios.append(float(counted[2]))
        if line.endswith(": bits"):
            same += 1
        else:
            lines.append(os.path.basename(source) + ": " + line)
    if run.returncode:
        lines.append(f"{os.path.basename(source)}: exit status {run.returncode} {run.stderr}")
print(same, "launches: bits")
for line in lines:
    print(line)
print(f"instructions: {statistics.median(ratios):.2f} times")
