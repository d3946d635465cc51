"""same-object.py A.o B.o: exit status 1 when the objects differ in more than the
names that nvcc makes of its temporary files and of its process."""

import re
import subprocess
import sys


def contents(path):
    sections = subprocess.run(["llvm-readelf", "-S", "-W", path], check=True,
                              capture_output=True, text=True).stdout
    names = re.findall(r"\]\s+(\S+)\s+(?:PROGBITS|NOBITS|INIT_ARRAY|NOTE|RELA|X86_64_UNWIND)", sections)
    result = {}
    for number, name in enumerate(names):
        data = subprocess.run(["llvm-objcopy", f"--dump-section={name}=/dev/stdout", path, "/dev/null"],
                              capture_output=True).stdout
        result[f"{number} {name}"] = plain(data)
    symbols = subprocess.run(["llvm-nm", "-a", path], check=True, capture_output=True).stdout
    result["symbols"] = plain(symbols)
    return result


def plain(data):
    data = re.sub(rb"tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+_", b"", data)
    return re.sub(rb"_INTERNAL_[0-9a-f]{8}_", b"_INTERNAL_", data)


a, b = contents(sys.argv[1]), contents(sys.argv[2])
different = [k for k in sorted(a.keys() | b.keys()) if a.get(k) != b.get(k)]
print("different:", ", ".join(different) if different else "nothing")
sys.exit(bool(different))
