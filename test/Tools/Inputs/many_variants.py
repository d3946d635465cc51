"""many_variants.py DIR RECORDS VARIANTS: a store that offers many variants.

Only its records are there: what a bisection changes, and nothing that builds
could compile.
"""

import json
import pathlib
import sys
import zlib

folder, records, variants = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
(folder / "builds").mkdir(parents=True)
(folder / "FORMAT").write_text("cupilot-store 1\n")
for r in range(records):
    symbol = f"_Z2k{r}v"
    path = folder / "builds" / f"{r:064x}-{zlib.crc32(symbol.encode()):08x}.json"
    path.write_text(json.dumps({
        "format": 1, "identity": f"b3:{r:064x}", "kernel": f"k{r}()", "symbol": symbol,
        "compiler": "clang-22", "arch": "sm_90", "scalars": [],
        "variants": [{
            "name": f"v_{r}_{v}", "source": f"kernels/{r}/v_{r}_{v}.cu",
            "source_digest": "b3:" + "0" * 64, "canonical": "b3:" + "1" * 64,
            "genome": "test{}",
            "plan": {"launches": [{"symbol": symbol, "grid": ["gx", "gy", "gz"],
                                   "block": ["bx", "by", "bz"], "shared": "shared"}]},
            "guard": {"arch": "sm_90", "constraints": [], "align": [], "disjoint": []},
        } for v in range(variants)],
    }))
