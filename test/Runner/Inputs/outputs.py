# Compares what run requests returned: outputs.py FACTOR PLAIN. The first batch
# copies with the variable factor 2.5, the second one copies, adds and copies
# (the copy wins), copies and adds one.
import json
import struct
import sys


def floats(folder, request):
    with open(f"{folder}/results/{request}.json") as file:
        result = json.load(file)
    digest = result["candidate"]["buffers"][1]["digest"]
    with open(f"{folder}/results/data/{digest[3:]}.bin", "rb") as file:
        data = file.read()
    return struct.unpack(f"{len(data) // 4}f", data)


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


plain = floats(sys.argv[2], "r0-copy")
assert len(plain) == 1000 and min(plain) >= -1 and max(plain) < 1 and len(set(plain)) > 900
assert floats(sys.argv[2], "r1-add-copy") == plain
assert floats(sys.argv[2], "r2-copy-add") == tuple(single(x + 1) for x in plain)
assert floats(sys.argv[1], "r0-copy") == tuple(single(x * 2.5) for x in plain)
