"""Helpers for tests on IR alone.

make_store.py store DIR UNIT.ll SYMBOL VARIANT.ll VSYMBOL [GUARD [PLAN [DOMAIN]]]
    Adds a build record for kernel SYMBOL of UNIT.ll to the store DIR, with one
    variant. GUARD and PLAN are JSON objects whose keys replace the defaults; a
    PLAN with "launches" is a whole one. DOMAIN (JSON) is everything by default.
make_store.py arch DIR NAME ARCH
    Makes the record with the variant NAME one for ARCH.
make_store.py embed HOST.ll GPUBINARY OUT.ll
    Puts the bytes of GPUBINARY in place of @GPUBINARY@.
"""

import json
import os
import pathlib
import subprocess
import sys
import zlib


def identity(module, symbol):
    lines = subprocess.run(["cupilot", "identify", module], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return next(l.split(" ", 1)[1] for l in lines if l.split()[0] == symbol)


EVERYTHING = {"boxes": [{"seen": "gate"}]}


def store(folder, unit, symbol, variant, vsymbol, guard="{}", plan="{}", domain="null"):
    builds = pathlib.Path(folder, "builds")
    builds.mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder, "FORMAT").write_text("cupilot-store 7\n")
    digest = identity(unit, symbol)
    stem = f"{digest.removeprefix('b3:')}-{zlib.crc32(symbol.encode()):08x}-"
    number = len(list(builds.glob(stem + "*.json")))
    name = pathlib.Path(variant).stem
    plan = json.loads(plan)
    launch = {"symbol": vsymbol, "grid": ["gx", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "shared"}
    if "launches" in plan:
        plan["launches"] = [{**launch, **l} for l in plan["launches"]]
    else:
        plan = {"launches": [{**launch, **plan}]}
    record = {
        "format": 7, "identity": digest, "kernel": symbol, "symbol": symbol,
        "compiler": "clang-22", "arch": "sm_90", "contract": "same",
        "params": 2, "names": [["p", 8], ["n", 4]],
        "scalars": [{"param": 1, "offset": 0, "bits": 32, "signed": True}],
        "variants": [{
            "name": name, "source": f"kernels/{name}.cu", "source_digest": "b3:" + "0" * 64,
            "canonical": identity(variant, vsymbol), "genome": "test{}",
            # In the order in which they were added.
            **json.loads(os.environ.get("TIME", '{"basis": "measured"}')), "low": 100 - number,
            "plan": plan,
            "guard": {"arch": "sm_90", "constraints": [], "align": [], "disjoint": [],
                      **json.loads(guard)},
            "domain": json.loads(domain) or EVERYTHING,
        }],
    }
    (builds / f"{stem}{number:08x}{zlib.crc32(name.encode()):08x}.json").write_text(json.dumps(record, indent=2))


def arch(folder, name, arch):
    for path in pathlib.Path(folder, "builds").glob("*.json"):
        record = json.loads(path.read_text())
        if record["variants"][0]["name"] == name:
            record["arch"] = record["variants"][0]["guard"]["arch"] = arch
            path.write_text(json.dumps(record, indent=2))


def embed(host, binary, out):
    data = pathlib.Path(binary).read_bytes()
    text = "".join(f"\\{b:02X}" for b in data)
    module = pathlib.Path(host).read_text()
    pathlib.Path(out).write_text(module.replace("@GPUBINARY@", f'[{len(data)} x i8] c"{text}"'))


{"store": store, "arch": arch, "embed": embed}[sys.argv[1]](*sys.argv[2:])
