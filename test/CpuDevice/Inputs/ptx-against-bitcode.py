"""usage: ptx-against-bitcode.py TOOL FOLDER SOURCE... -- COMPILER...

Compiles each SOURCE to PTX by COMPILER and has TOOL compare its kernels' launches with those of their bitcode, which clang
contracts where COMPILER has no -fmad=false or -ffp-contract=off. Prints how many have the same bits, and each that has not,
and what of the contract "same" holds. Each launch is named whose PTX counts less than half or more than twice the instructions of its
bitcode; eight times, where a mathematical function is a call in bitcode and code in PTX. Then how many times it is in the median.
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
            ratio = float(counted[2])
            ratios.append(ratio)
            if not 0.5 <= ratio <= (2 if line.endswith(": bits") else 8):
                lines.append(f"{os.path.basename(source)}: {line}, {ratio:.2f} times the instructions")
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
