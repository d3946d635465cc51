# change.py E D: what two people may do to copies of one store. In E other counts
# and a comment; in D a variant is taken out.
import glob
import subprocess
import sys

e, d = sys.argv[1:]
path = sorted(glob.glob(f"{e}/gate/*.txt"))[0]
with open(path) as file:
    text = file.read()
with open(path, "w") as file:
    file.write(text.replace("judged ", "judged 1"))
with open(f"{e}/kernels/2a6dd75a3a777883/original.cu", "a") as file:
    file.write("// a comment\n")
name = sorted(glob.glob(f"{d}/kernels/2a6dd75a3a777883/variants/*.mlir"))[0].split("/")[-1].rsplit("-", 1)[0]
subprocess.run(["cupilot", "store", "prune", name, "--kernel", "rmsNorm", "--store", d], check=True)
