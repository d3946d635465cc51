#!/usr/bin/env python3
# nvcc_sources.py - extraction over public units that nvcc compiles
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by nvcc-sources.sh, which says how. A unit's row is public_units.py's, and
#   nvcc      nvcc compiles the unit; else "nvcc_reason" says why not
#   kernels   of each: "by_nvcc" "same" (nvcc makes the unit's code of the
#             slice), "no identity" (the unit's kernel has none), "other" or
#             why nvcc does not compile the slice

import concurrent.futures
import glob
import json
import os
import random
import re
import sys
import tempfile

import public_units as units

# What a makefile of HeCBench says that decides about meaning.
MEANT = (r"(?<!\S)-[DI]\s*\S+|-std=\S+|--?use_fast_math|--?expt-\S+"
         r"|--?extended-lambda|-rdc=true|-dc\b|-Xcompiler\s+-fopenmp")
COMMITS = {"zjin-lcf/HeCBench": "f27000a5188f", "karpathy/llm.c": "f1e2ace65149"}


def makefile_flags(folder):
    """nvcc's flags of the makefile in a folder, its debug build left out."""
    for name in ("Makefile", "makefile"):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as text:
                made = text.read()
            break
        except OSError:
            made = ""
    made = re.sub(r"ifeq \(\$\((DEBUG|DUMP|VERIFY)\).*?endif", "", made,
                  flags=re.S)
    made = re.sub(r"#[^\n]*", "", made)
    kept = []
    for flag in re.findall(MEANT, made):
        flag = re.sub(r"^-([DI])\s+", r"-\1", flag)
        if "$" not in flag and flag not in kept:
            kept.append(flag)
    return kept


def pick(options):
    """Prints a list: a unit a line, as public_units.read_list reads it."""
    print("# Units for nvcc-sources.sh, by nvcc-sources.sh CHECKOUTS --pick %d "
          "--seed %d:\n#   repository | commit | source | flags of nvcc's"
          % (options.pick, options.seed))
    root = os.path.join(options.checkouts, "HeCBench")
    found = sorted(glob.glob(root + "/src/*-cuda/*.cu"))
    random.Random(options.seed).shuffle(found)
    count = 0
    for path in found:
        folder, name = os.path.split(path)
        # What another source includes is no unit.
        texts = [open(f, encoding="utf-8", errors="replace").read()
                 for f in glob.glob(folder + "/*.c*") + glob.glob(folder + "/*.h")]
        if any(re.search(r'#\s*include\s*"(\./)?%s"' % re.escape(name), t)
               for t in texts):
            continue
        flags = []
        for flag in makefile_flags(folder):
            if flag.startswith("-I"):
                flag = "-I" + os.path.normpath(os.path.relpath(
                    os.path.join(folder, flag[2:]), root))
            flags += flag.split()
        print("zjin-lcf/HeCBench | %s | %s | %s" % (
            COMMITS["zjin-lcf/HeCBench"], os.path.relpath(path, root),
            " ".join(flags) or "-"))
        count += 1
        if count == options.pick:
            break
    root = os.path.join(options.checkouts, "llm.c")
    for path in sorted(glob.glob(root + "/**/*.cu", recursive=True)):
        print("karpathy/llm.c | %s | %s | -I." % (
            COMMITS["karpathy/llm.c"], os.path.relpath(path, root)))


def without_file(symbol):
    """A name as nvcc mangles it, without the file that it puts into the names
    of what is static or in an unnamed namespace: a length and _INTERNAL_ or
    _GLOBAL__N__ with a digest and the file."""
    pattern = r"(?<!\d)(\d+)(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}_"
    found = re.search(pattern, symbol)
    while found:
        end = found.start(2) + int(found[1])
        symbol = symbol[:found.start(1)] + found[2].lower() + symbol[end:]
        found = re.search(pattern, symbol)
    return symbol


def own_kernel(kernel, symbols):
    """Which of the names in a slice's PTX is the kernel's; "" for none."""
    if len(symbols) == 1:
        return symbols[0]
    for known in (kernel["symbol"], re.sub("^_ZL", "_Z", kernel["symbol"])):
        if known in symbols:
            return known
    # By its own name, as it is mangled: a length and the name.
    name = re.split(r"[<(]", kernel["name"])[0].split("::")[-1]
    named = [s for s in symbols if "%d%s" % (len(name), name) in s]
    return named[0] if len(named) == 1 else ""


class Runner(units.Runner):
    def nvcc(self, source, out, folder, flags):
        return self.run([self.options.cuda + "/bin/nvcc", "-w", "-arch="
                         + self.options.arch, "-ptx", source, "-o", out]
                        + flags, folder)

    def identities_of_ptx(self, path):
        status, out, err = self.run([self.options.cupilot, "identify", path],
                                    os.path.dirname(path))
        if status != 0:
            return {}, self.reason(status, err)
        pairs = (line.split(" ", 1) for line in out.splitlines())
        return {without_file(pair[0]): pair[1] for pair in pairs
                if len(pair) == 2}, ""

    def examine(self, unit):
        folder = os.path.join(self.checkouts, unit["project"])
        row = {"unit": unit["unit"], "commit": unit["commit"],
               "source": unit["source"], "flags": unit["flags"], "seconds": {}}
        with tempfile.TemporaryDirectory() as work:
            status, out, err = self.nvcc(unit["source"], work + "/unit.ptx",
                                         folder, unit["flags"])
            row["nvcc"] = row["parses"] = status == 0
            if status != 0:
                row["nvcc_reason"] = self.reason(status, err + out)
                return row
            command = [self.options.cuda + "/bin/nvcc",
                       "-arch=" + self.options.arch, "-O3"] + unit["flags"]
            status, _, err = self.run(
                [self.options.cupilot, "extract", unit["source"],
                 "-o", work + "/k.mlir", "--json=" + work + "/k.json", "--"]
                + command, folder)
            row["extract"] = "ok" if status == 0 else self.reason(status, err)
            row["kernels"] = []
            if status == 0:
                with open(work + "/k.json", encoding="utf-8") as text:
                    row["kernels"] = json.load(text)
                self.compare(row, work, [f for f in unit["flags"]
                                         if not re.match("-[DIU]", f)])
        return row

    def compare(self, row, work, flags):
        """nvcc's code of each slice against that of the unit."""
        wanted, why = self.identities_of_ptx(work + "/unit.ptx")
        for kernel in row["kernels"]:
            kernel["verified"] = "slice" in kernel
            if not kernel["verified"]:
                continue
            status, out, err = self.nvcc(
                work + "/k.slices/" + kernel["slice"], work + "/slice.ptx",
                work, flags)
            if status != 0:
                kernel["by_nvcc"] = self.reason(status, err + out)
                continue
            # A slice has one kernel besides those of headers. Its name by
            # nvcc is the unit's by nvcc: clang's differs for static functions
            # and in constraints.
            got, failed = self.identities_of_ptx(work + "/slice.ptx")
            symbol = own_kernel(kernel, list(got))
            have = got.get(symbol) or failed
            want = wanted.get(symbol) or why or "no kernel '%s'" % symbol
            kernel["by_nvcc"] = (
                "no identity" if want.startswith("none")
                else "same" if want and want == have
                else "other: %s against %s" % (want, have))


def report(rows):
    print("| project | units | nvcc compiles | extracted | kernels "
          "| slices | the unit's code by nvcc | no identity | other |")
    print("|---|---|---|---|---|---|---|---|---|")
    projects = sorted({row["unit"].split("/")[0] for row in rows})
    for name in projects + ["all"]:
        mine = [r for r in rows if name in ("all", r["unit"].split("/")[0])]
        kernels = [k for r in mine for k in r.get("kernels", [])]
        sliced = [k for k in kernels if k.get("verified")]
        same = sum(k["by_nvcc"] == "same" for k in sliced)
        none = sum(k["by_nvcc"] == "no identity" for k in sliced)
        built = sum(r["nvcc"] for r in mine)
        done = sum(r.get("extract") == "ok" for r in mine)
        print("| %s | %d | %d | %d (%s) | %d | %d (%s) | %d (%s) | %d | %d |" % (
            name, len(mine), built, done, units.percent(done, built),
            len(kernels), len(sliced), units.percent(len(sliced), len(kernels)),
            same, units.percent(same, len(sliced) - none), none,
            len(sliced) - same - none))
    print("\n| unit | what | reason |\n|---|---|---|")
    for what, key in (("nvcc does not compile it", "nvcc_reason"),
                      ("not extracted", "extract")):
        for row in rows:
            if row.get(key, "ok") != "ok":
                print("| %s | %s | %s |" % (row["unit"], what,
                                            units.clean(row[key])))
    for row in rows:
        said = {}
        for k in row.get("kernels", []):
            why = k.get("refusal") or k.get("by_nvcc", "same")
            if why not in ("same", "no identity"):
                said.setdefault(units.clean(why)[:300], []).append(k["name"])
        for why, names in said.items():
            more = " and %d more" % (len(names) - 1) if len(names) > 1 else ""
            print("| %s | `%s`%s | %s |" % (row["unit"],
                                            units.clean(names[0])[:100], more,
                                            why))


def main():
    parser = units.unit_options(limit=600)
    parser.add_argument("--results", required=True)
    parser.add_argument("--cupilot", required=True)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--pick", type=int, default=0)
    parser.add_argument("--seed", type=int, default=19)
    options = parser.parse_args()
    if options.pick:
        pick(options)
        return 0
    runner = Runner(options)

    def work(unit):
        old = units.read_row(options.results, unit)
        if options.report or (old and not options.again and
                              old.get("flags") == unit["flags"]):
            return old
        row = runner.examine(unit)
        units.write_row(options.results, unit, row)
        print("%s: %s" % (row["unit"], row.get("nvcc_reason") or row["extract"]),
              file=sys.stderr, flush=True)
        return row

    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        rows = [r for r in pool.map(work, units.chosen_units(options)) if r]
    report(rows)
    good = all(r.get("extract", "ok") == "ok" and
               all(k.get("by_nvcc") in ("same", "no identity")
                   for k in r.get("kernels", [])) for r in rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
