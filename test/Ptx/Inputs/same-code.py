#!/usr/bin/env python3
"""usage: same-code.py A.cubin B.cubin

Whether both have the same machine code, constants, variables and attributes of
kernels. Debug data does not count: it holds the text of the PTX."""
import struct
import sys


def sections(path):
    with open(path, "rb") as file:
        data = file.read()
    offset, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
    found = {}
    for name, kind, _, _, begin, length in headers:
        start = headers[names][4] + name
        word = data[start:data.index(b"\0", start)].decode()
        if word.startswith((".text", ".nv.constant", ".nv.global", ".nv.info", ".nv.shared")):
            found[word] = length if kind == 8 or word.startswith(".nv.shared") else data[begin:begin + length]
    return found


a, b = sections(sys.argv[1]), sections(sys.argv[2])
different = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
print("different: " + ", ".join(different) if different else f"the same in {len(a)} sections")
sys.exit(bool(different) or not a)
