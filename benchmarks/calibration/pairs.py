#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pairs.py prepare BUILD HECBENCH FOLDER [NAME...]: variants, counts and cubins of the pairs, into FOLDER; no GPU is needed.
pairs.py pack FOLDER PACK: what the GPU's machine needs of FOLDER; there, `calibration-time PACK TIMES.json` measures it.
pairs.py collect FOLDER TIMES.json... OUT.csv: each pair with its modelled and its measured speed-up, the median of several runs.
pairs.py fit PAIRS.csv RESIDUALS.def: the table of the model's intervals, from the fitting set.
pairs.py judge PAIRS.csv RESIDUALS.def [-v]: what it accepts of the judging set, and what of that is faster.

A pair is an original and a variant. The kernels are those of public.py and the judging ones of plan.py; the genomes are
drawn by a seed: each rule once, with drawn parameters, then mixtures of two and three rules. The first six that apply and
make code of their own are taken. HECBENCH is a checkout of HeCBench f27000a5.

The fitting set is the judging kernels of plan.py and every third program of public.py that could be prepared; the others judge. Only
pairs whose modelled speed-up is at least 1.02 count: no other is ever accepted. A variant by several rules is a pair for each of them, and
has the widest of their intervals. Kinds with fewer than six pairs or four kernels have that of "other", all pairs together.
How far in the tails the ends lie is chosen on the fitting set alone, each kernel left out in turn: as little as makes at
least 85 % of what is kept faster by 2 %, and at most 4 % slower."""
import concurrent.futures
import csv
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys

import plan
import public

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20
TAKEN = 6

RULES = {
    "block_size": [f"{{x={x}}}" for x in (64, 128, 256, 512, 1024)],
    "thread_coarsening": [f"{{factor={f}}}" for f in (2, 4, 8)],
    "vectorized_access": [f"{{width={w}}}" for w in (2, 4)],
    "unroll": [f"{{factor={f}}}" for f in (2, 4, 8)],
    "launch_bounds": [f"{{max_threads={t}, min_blocks={b}}}" for t in (256, 512, 1024) for b in (1, 2, 4)],
    "read_only_loads": ["{}"],
    "shared_memory_tiling": [f"{{tile={t}}}" for t in (16, 32, 64, 128)],
}


def genomes(name):
    draw = random.Random(f"{SEED} {name}")

    def gene(rule):
        return rule + draw.choice(RULES[rule])

    out = [gene(r) for r in draw.sample(sorted(RULES), len(RULES))]
    while len(out) < 60:
        rules = draw.sample(sorted(RULES), draw.choice([2, 2, 3]))
        if not {"vectorized_access", "thread_coarsening"} <= set(rules):
            out.append(", ".join(gene(r) for r in rules))
    return list(dict.fromkeys(out))


def kernels(hecbench):
    """The name, the unit, the kernel and its launch, flags of its own."""
    for program, unit, kernel, launch in public.KERNELS:
        folder = os.path.join(hecbench, "src", program + "-cuda")
        paths = [os.path.join(at, unit) for at, _, files in sorted(os.walk(folder)) if unit in files]
        yield f"{program}.{kernel}", paths[0] if paths else os.path.join(folder, unit), kernel, launch, ["-I" + folder, "-w"]
    for name, (launch, _) in plan.JUDGING.items():
        yield f"judging.{name}", os.path.join(HERE, "judging.cu"), name, launch, []


def make(build, folder, name, unit, kernel, launch, flags):
    out = os.path.join(folder, name)
    if os.path.exists(out + ".json"):
        return name, ""
    command = [os.path.join(build, "bin/calibration-variants"), unit, f"--kernel={kernel}", f"--workload={launch}", f"--out={out}",
               f"--genomes={'; '.join(genomes(name))}", f"--limit={TAKEN}", "--", "-O3", "-std=c++17", *flags]
    try:
        done = subprocess.run(command, capture_output=True, text=True, start_new_session=True, timeout=240)
    except subprocess.TimeoutExpired:
        return name, "not counted in four minutes"
    with open(out + ".log", "w") as log:
        log.write(done.stderr)
    return name, "" if done.returncode == 0 else done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"status {done.returncode}"


def prepare(build, hecbench, folder, only):
    os.makedirs(folder, exist_ok=True)
    work = [k for k in kernels(hecbench) if not only or k[0] in only]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, why in pool.map(lambda k: make(build, folder, *k), work):
            print(f"{name}: {why or 'made'}", flush=True)


def load(path):
    with open(path) as file:
        return json.load(file)


def pack(folder, to):
    """The files of FOLDER without the counts: small ones."""
    os.makedirs(to, exist_ok=True)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        o = load(os.path.join(folder, name))
        for v in o["variants"]:
            shutil.copy(os.path.join(folder, v["cubin"]), to)
            for l in v["launches"]:
                for key in ("counts", "resources", "model"):
                    l.pop(key, None)
        with open(os.path.join(to, name), "w") as file:
            json.dump(o, file)


def collect(folder, times, to):
    names = [f"{p}.{k}" for p, _, k, _ in public.KERNELS]
    measured = [{o["name"]: o["variants"] for o in load(path) if "variants" in o} for path in times]
    there = [n for n in names if os.path.exists(os.path.join(folder, n + ".json"))]
    others = [n for n in sorted(measured[0]) if n.startswith("judging.")]
    rows = []
    for name in there + others:
        if not all(name in m for m in measured):
            print(f"{name}: not measured")
            continue
        variants = load(os.path.join(folder, name + ".json"))["variants"]
        original = variants[0]["modelled"]
        for i, v in enumerate(variants[1:], 1):
            assert all(m[name][i]["genome"] == v["genome"] for m in measured), name
            ratio = statistics.median(m[name][i]["ratio"] for m in measured)
            which = "judge" if name in there and there.index(name) % 3 else "fit"
            rows.append([which, name, v["genome"], f"{original / v['modelled']:.4f}", f"{ratio:.4f}",
                         f"{statistics.median(m[name][0]['microseconds'] for m in measured):.2f}"])
    with open(to, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["set", "kernel", "genome", "modelled", "measured", "original_us"])
        out.writerows(rows)
    print(f"{len(rows)} pairs of {len(there)} public and {len(others)} other kernels")


MARGIN = 1.02


class Pair:
    def __init__(self, row):
        self.set, self.kernel, self.genome = row["set"], row["kernel"], row["genome"]
        self.modelled, self.measured = float(row["modelled"]), float(row["measured"])
        self.rules = re.findall(r"(\w+)\{", self.genome)


def pairs(path):
    with open(path, newline="") as file:
        return [Pair(row) for row in csv.DictReader(file)]


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def table(chosen, q):
    """The kind of change, its pairs, the ends of the interval."""
    chosen = [p for p in chosen if p.modelled >= MARGIN]

    def row(kind, of):
        ratios = [p.measured / p.modelled for p in of]
        return kind, len(of), round(quantile(ratios, q), 3), round(quantile(ratios, 1 - q), 3)

    rows = [row("other", chosen)]
    for rule in sorted({r for p in chosen for r in p.rules}):
        of = [p for p in chosen if rule in p.rules]
        if len(of) >= 6 and len({p.kernel for p in of}) >= 4:
            rows.append(row(rule, of))
    return rows


def interval(rows, pair):
    known = {kind: (low, high) for kind, _, low, high in rows}
    ends = [known.get(r, known["other"]) for r in pair.rules]
    return pair.modelled * min(1, *(e[0] for e in ends)), pair.modelled * max(1, *(e[1] for e in ends))


def accepted(rows, of):
    return [p for p in of if interval(rows, p)[0] >= MARGIN]


def kept(of):
    """Of each kernel the one that a search keeps."""
    best = {}
    for p in of:
        if p.kernel not in best or p.modelled > best[p.kernel].modelled:
            best[p.kernel] = p
    return list(best.values())


def shares(of):
    if not of:
        return "none"
    faster, slower = sum(p.measured >= MARGIN for p in of), sum(p.measured <= 1 / MARGIN for p in of)
    return f"{len(of)}, faster {faster} ({100 * faster / len(of):.0f} %), slower {slower} ({100 * slower / len(of):.0f} %)"


def left_out(fitting, q):
    """What is accepted of each kernel by the table of the others."""
    out = []
    for kernel in sorted({p.kernel for p in fitting}):
        rows = table([p for p in fitting if p.kernel != kernel], q)
        out += accepted(rows, [p for p in fitting if p.kernel == kernel])
    return out


def fit(path, to):
    fitting = [p for p in pairs(path) if p.set == "fit"]
    chosen = None
    for q in (0.25, 0.2, 0.15, 0.1, 0.05, 0.02):
        out = left_out(fitting, q)
        print(f"quantile {q}: accepted {shares(out)}; kept {shares(kept(out))}")
        good = all(sum(p.measured >= MARGIN for p in of) >= 0.85 * len(of) and sum(p.measured <= 1 / MARGIN for p in of) <= 0.04 * len(of)
                   for of in (out, kept(out)))
        if good and chosen is None:
            chosen = q
    if chosen is None:
        chosen = 0.02
    rows = table(fitting, chosen)
    with open(to) as file:
        text = file.read()
    head = text[:text.index("CUPILOT_RESIDUAL(\"")]
    lines = [f'CUPILOT_RESIDUAL("{kind}", {count}, {low}, {high})' for kind, count, low, high in rows]
    with open(to, "w") as file:
        file.write(head + "\n".join(lines) + "\n\n#undef CUPILOT_RESIDUAL\n")
    print(f"quantile {chosen}")
    print("\n".join(lines))


def judge(path, table_path, verbose):
    with open(table_path) as file:
        rows = [(k, int(n), float(a), float(b)) for k, n, a, b in
                re.findall(r'^CUPILOT_RESIDUAL\("(\w+)", (\d+), ([\d.]+), ([\d.]+)\)', file.read(), re.M)]
    for which in ("fit", "judge"):
        of = [p for p in pairs(path) if p.set == which]
        out = accepted(rows, of)
        counted = [p for p in of if p.modelled >= MARGIN]
        inside = sum(a <= p.measured <= b for p in counted for a, b in [interval(rows, p)])
        print(f"{which}: {len(of)} pairs of {len({p.kernel for p in of})} kernels; modelled as faster {shares(counted)}, "
              f"{inside} inside of their intervals")
        print(f"  kept by the modelled speed-up: {shares(kept(counted))}")
        print(f"  accepted by the lower bound: {shares(out)}")
        print(f"  kept of these: {shares(kept(out))}")
        if verbose:
            for p in out:
                low, high = interval(rows, p)
                print(f"    {p.kernel}: {p.genome}: {p.modelled:.2f} ({low:.2f} to {high:.2f}), measured {p.measured:.2f}")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    if sys.argv[1] == "prepare":
        return prepare(*sys.argv[2:5], sys.argv[5:])
    if sys.argv[1] == "pack":
        return pack(*sys.argv[2:4])
    if sys.argv[1] == "collect":
        return collect(sys.argv[2], sys.argv[3:-1], sys.argv[-1])
    if sys.argv[1] == "fit":
        return fit(*sys.argv[2:4])
    if sys.argv[1] == "judge":
        return judge(*sys.argv[2:4], "-v" in sys.argv)
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
