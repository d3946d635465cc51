"""Writes texts that a parser without a limit does not survive."""

N = 200000
open("deep.json", "w").write("[" * N)
open("deep.mlir", "w").write("module attributes {a = " + "[" * N + "]" * N + "} {}\n")
open("tuple.mlir", "w").write("module attributes {a = " + "tuple<" * N + "i1" + ">" * N + "} {}\n")
open("sum.mlir", "w").write("#m = affine_map<(x) -> (x" + " + x" * N + ")>\n")
open("minus.mlir", "w").write("#m = affine_map<(x) -> (" + "-" * N + "x)>\n")
# Names that LLVM's demangler descends into.
open("deep.ptx", "w").write(".version 9.0\n.target sm_90\n"
                            + "".join(f".entry _Z1f{kind * N}i() {{ ret; }}\n" for kind in ("P", "DpT_", "KS")))
