"""Finds names of strategies in C++: strategy-names.py ROOT. Comments do not count."""

import pathlib
import re
import sys

# These are words of PTX and CUDA as well, and stand where such text is read or written.
LANGUAGE = {"block_size", "launch_bounds", "ldmatrix", "multicast", "setmaxnreg", "unroll", "wgmma"}
READERS = ("lib/Admission", "lib/CpuDevice", "include/cupilot/Model/FaultKind.def", "lib/Dialect/Cupilot.cpp", "lib/Evaluation", "lib/Ptx", "lib/Retrieval", "lib/Runner")
# The probe of unrolling looks for the pragma in a source.
LINES = {"unroll": "Source.contains(\"unroll\")"}

root = pathlib.Path(sys.argv[1])
names = {n for f in (root / "strategies").glob("*.mlir") for n in re.findall(r"cupilot\.strategy @(\w+)", f.read_text())}
assert names, "no strategies"
found = 0
for path in sorted(p for d in ("lib", "tools", "include") for p in (root / d).rglob("*") if p.suffix in (".cpp", ".h", ".def", ".inc", ".c")):
    where = path.relative_to(root).as_posix()
    # The table of what measured kernels have shown is data, written by pairs.py.
    # So is the table of the rules for MLIR, which stand under the strategies that they carry out.
    if where.startswith(("lib/Driver/MlirRewrite.cpp", "lib/Frontend/Rules/", "include/cupilot/Frontend/Rules", "lib/Roofline/Residuals.def")):
        continue
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        code = re.sub(r'("(?:[^"\\]|\\.)*")|//.*', lambda m: m[1] or "", line)
        # A genome in a help text is an example.
        code = re.sub(r"--genome='[^']*'|'\w+\{[^']*\}'", "", code)
        for name in names & set(re.findall(r"\w+", code)):
            if name in LANGUAGE and where.startswith(READERS) or LINES.get(name, "\n") in line:
                continue
            print(f"{where}:{number}: names the strategy '{name}'")
            found += 1
sys.exit(found > 0)
