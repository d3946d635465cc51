# The run time functions that a library of MLIR names in its strings.
import re
import sys

with open(sys.argv[1], "rb") as library:
    for name in sorted(set(re.findall(rb"\0(mgpu[A-Za-z0-9]+)\0", library.read()))):
        print(name.decode())
