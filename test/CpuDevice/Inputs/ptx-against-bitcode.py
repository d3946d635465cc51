"""usage: ptx-against-bitcode.py TOOL FOLDER SOURCE... -- COMPILER...

Compiles each SOURCE to PTX by COMPILER and has TOOL compare its kernels' launches with those of their bitcode. Prints how
many are the same, and each that is not, without numbers.
"""
import os
import re
import subprocess
import sys

tool, folder, *rest = sys.argv[1:]
sources, compiler = rest[:rest.index("--")], rest[rest.index("--") + 1:]
same, lines = 0, []
for source in sources:
    ptx = os.path.join(folder, os.path.basename(source) + ".ptx")
    subprocess.run(compiler + [source, "-o", ptx], check=True)
    run = subprocess.run([tool, source, ptx, "-O2", "-ffp-contract=off"], capture_output=True, text=True)
    for line in run.stdout.splitlines():
        if line.endswith(": same"):
            same += 1
        else:
            lines.append(os.path.basename(source) + ": " + re.sub(r":? \d+ of \d+, by .*", "", line).rstrip())
    if run.returncode:
        lines.append(f"{os.path.basename(source)}: exit status {run.returncode} {run.stderr}")
print(same, "launches: same")
for line in lines:
    print(line)
