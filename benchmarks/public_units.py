#!/usr/bin/env python3
# public_units.py - extraction over translation units of public CUDA projects
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by public-units.sh, which says how. A unit's row is a JSON object in
# RESULTS/<project>/<source with "/" as "__">.json:
#   unit      "HeCBench/src/adam-cuda/main.cu"
#   commit    of the list; "source" and "flags" too
#   parses    clang takes it; else "reason" says why not, and the rest is absent
#   seconds   {"parse": ..., "extract": ..., "check": ...}
#   launches  <<<>>> in the source as written
#   extract   "ok", or the first line of the error
#   kernels   [{"name", "symbol", "file", "line",
#               "slice": its file name, or "refusal": why there is none,
#               "identity": the unit's build identity, or "no_identity": why
#               there is none,
#               "verified": the slice alone has the same identity (without one,
#               the same device code; --recheck: seen twice)}]
# Other steps add keys of their own and leave these alone.

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time


def tool_options(listed, limit):
    """A parser of what all of these scripts take."""
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", default=here + "/" + listed)
    parser.add_argument("--build", default=here + "/../build")
    parser.add_argument("--clang", default="/usr/lib/llvm-22/bin/clang++")
    parser.add_argument("--cuda", default="/usr/local/cuda")
    parser.add_argument("--limit", type=int, default=limit)
    return parser


def unit_options(limit):
    """A parser of what scripts over units take."""
    parser = tool_options("public-units.txt", limit)
    parser.add_argument("checkouts")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--arch", default="sm_90")
    return parser


def chosen_units(options):
    """The listed units that a name stands for, all without names."""
    return [u for u in read_list(options.list)
            if not options.names or any(n in u["unit"] for n in options.names)]


def read_list(path):
    units = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            repository, commit, source, flags = (
                field.strip() for field in line.split("|"))
            project = repository.rsplit("/", 1)[-1]
            units.append({"unit": project + "/" + source, "project": project,
                          "commit": commit, "source": source,
                          "flags": [] if flags == "-" else flags.split()})
    return units


def row_path(results, unit):
    return os.path.join(results, unit["project"],
                        unit["source"].replace("/", "__") + ".json")


def read_row(results, unit):
    try:
        with open(row_path(results, unit), encoding="utf-8") as text:
            return json.load(text)
    except (OSError, ValueError):
        return None


def write_row(results, unit, row):
    path = row_path(results, unit)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(row, out, indent=1)
        out.write("\n")
    os.replace(path + ".new", path)


class Runner:
    def __init__(self, options):
        self.options = options
        self.checkouts = os.path.abspath(options.checkouts)
        cuda = options.cuda
        self.clang = [options.clang, "-Wno-unknown-cuda-version",
                      "--cuda-path=" + cuda, "-I" + cuda + "/include/cccl",
                      "-w", "--cuda-device-only"]
        own, other = cuda + "/include", "/usr/include/cuda_runtime.h"
        if os.path.exists(other) and \
                not os.path.samefile(other, own + "/cuda_runtime.h"):
            # Clang looks there before it looks into --cuda-path.
            self.clang += ["-isystem", own]

    def run(self, command, folder, limit=None):
        """Exit status, output, errors; -1 when it ran past the limit."""
        limit = limit or self.options.limit
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command, cwd=folder, stdout=out, stderr=err,
                stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                status = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                status = -1
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read().decode("utf-8", "replace"))
        return status, texts[0], texts[1]

    @staticmethod
    def reason(status, text):
        if status == -1:
            return "time out"
        lines = [l for l in text.splitlines() if l.strip()]
        for pattern in (r"(fatal )?error:", r"Stack dump|PLEASE submit"):
            for line in lines:
                if re.search(pattern, line) and "does not parse" not in line:
                    return line.strip()[:240]
        return (lines[-1].strip()[:240] if lines else
                "exit status %d" % status)

    def parse(self, unit, row, folder, flags):
        """Whether clang itself takes the unit."""
        start = time.time()
        status, _, err = self.run(
            self.clang + ["-fsyntax-only", "-x", "cuda"] + flags
            + [unit["source"]], folder)
        row["seconds"]["parse"] = round(time.time() - start, 2)
        if status != 0:
            row["reason"] = self.reason(status, err)
        return status == 0

    @staticmethod
    def launches(path):
        """Launches in the source as written, comments left out."""
        with open(path, encoding="utf-8", errors="replace") as source:
            text = source.read()
        text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
        return text.count("<<<")

    def identities(self, source, folder, flags):
        """Symbol to identity, or to "none: ..."."""
        status, out, err = self.run(
            [self.options.cupilot, "identify", source, "--"] + flags, folder)
        if status != 0:
            return None, self.reason(status, err)
        pairs = (line.split(" ", 1) for line in out.splitlines())
        return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}, ""

    def examine(self, unit):
        folder = os.path.join(self.checkouts, unit["project"])
        flags = ["-O2"] + unit["flags"]
        if not any("-arch=" in flag for flag in flags):
            flags.append("--cuda-gpu-arch=" + self.options.arch)
        row = {"unit": unit["unit"], "commit": unit["commit"],
               "source": unit["source"], "flags": unit["flags"], "seconds": {}}
        if not os.path.exists(os.path.join(folder, unit["source"])):
            row.update(parses=False, reason="not there")
            return row
        with tempfile.TemporaryDirectory() as work:
            start = time.time()
            status, _, err = self.run(
                [self.options.cupilot, "extract", unit["source"],
                 "-o", work + "/k.mlir", "--json=" + work + "/k.json", "--"]
                + flags, folder)
            row["seconds"]["extract"] = round(time.time() - start, 2)
            row["extract"] = "ok" if status == 0 else self.reason(status, err)
            # What is extracted has been parsed.
            row["parses"] = status == 0 or self.parse(unit, row, folder, flags)
            if not row["parses"]:
                del row["extract"]
                return row
            row["launches"] = self.launches(
                os.path.join(folder, unit["source"]))
            row["kernels"] = []
            if status == 0:
                with open(work + "/k.json", encoding="utf-8") as text:
                    row["kernels"] = json.load(text)
                start = time.time()
                self.check(unit, row, folder, flags, work)
                row["seconds"]["check"] = round(time.time() - start, 2)
        return row

    def check(self, unit, row, folder, flags, work):
        """The slices' identities, taken apart from extraction if asked."""
        own, why = None, ""
        if self.options.recheck and row["kernels"]:
            own, why = self.identities(unit["source"], folder, flags)
        alone = [f for f in flags if not re.match("-[DIU]|-isystem", f)]
        for kernel in row["kernels"]:
            if "slice" not in kernel:
                continue
            # Extraction refuses slices of other code.
            kernel["verified"] = True
            if not self.options.recheck or "identity" not in kernel:
                continue
            there, failed = self.identities(
                work + "/k.slices/" + kernel["slice"], work, alone)
            found = [(there or {}).get(kernel["symbol"]) or failed,
                     (own or {}).get(kernel["symbol"]) or why]
            kernel["verified"] = found == [kernel["identity"]] * 2
            if not kernel["verified"]:
                kernel["check"] = "%s against %s" % tuple(found)


def percent(part, whole):
    return "%.1f %%" % (100.0 * part / whole) if whole else "-"


def clean(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def report(rows):
    totals = {}
    for row in rows:
        sums = totals.setdefault(row["unit"].split("/")[0], [0] * 8)
        kernels = row.get("kernels", [])
        verified = sum(k.get("verified", False) for k in kernels)
        refused = sum("refusal" in k for k in kernels)
        for at, value in enumerate((
                1, row["parses"], row.get("extract") == "ok", len(kernels),
                row.get("launches") or 0, verified, refused,
                len(kernels) - verified - refused)):
            sums[at] += value
    print("| project | units | clang parses | extracted | kernels | launches "
          "| slices verified | refused | other code |")
    print("|---|---|---|---|---|---|---|---|---|")
    whole = [sum(column) for column in zip(*totals.values())] or [0] * 8
    for name, sums in sorted(totals.items()) + [("all", whole)]:
        print("| %s | %s |" % (name, " | ".join(str(s) for s in sums)))
    kernels = [k for row in rows for k in row.get("kernels", [])]
    same = sum(k.get("verified", False) and "identity" in k for k in kernels)
    print("\nExtraction without error: %d of %d parsed units, %s. Slices that "
          "compile alone to the same build identity: %d of %d kernels, %s; "
          "without an identity, to the same device code: %d.\n"
          % (whole[2], whole[1], percent(whole[2], whole[1]), same,
             whole[3], percent(same, whole[3]), whole[5] - same))
    print("| unit | what | reason |\n|---|---|---|")
    for row in rows:
        if not row["parses"]:
            print("| %s | clang does not parse it | %s |"
                  % (row["unit"], clean(row["reason"])))
    for row in rows:
        if row.get("extract", "ok") != "ok":
            print("| %s | not extracted | %s |"
                  % (row["unit"], clean(row["extract"])))
    for row in rows:
        same = {}
        for k in row.get("kernels", []):
            if k.get("verified"):
                continue
            why = k.get("refusal") or "identities: " + k.get("check", "")
            same.setdefault(clean(why)[:400], []).append(k["name"])
        for why, names in same.items():
            first = clean(names[0])[:120]
            more = " and %d more" % (len(names) - 1) if len(names) > 1 else ""
            print("| %s | `%s`%s | %s |" % (row["unit"], first, more, why))


def main():
    parser = unit_options(limit=600)
    parser.add_argument("--results", required=True)
    parser.add_argument("--cupilot", required=True)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--recheck", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    units = chosen_units(options)
    if options.sample:
        # The same sample every time, from all projects.
        step = max(1.0, len(units) / options.sample)
        units = [units[int(i * step)]
                 for i in range(min(options.sample, len(units)))]
    runner = Runner(options)

    def work(unit):
        old = read_row(options.results, unit)
        # Rows stand until the list says something else.
        if old and not options.again and old.get("commit") == unit["commit"] \
                and old.get("flags") == unit["flags"] and "parses" in old:
            return old
        row = runner.examine(unit)
        if old:
            row = {**{k: v for k, v in old.items()
                      if k not in ("reason", "extract", "kernels")}, **row}
        write_row(options.results, unit, row)
        verified = sum(k.get("verified", False) for k in row.get("kernels", []))
        print("%s: %s" % (row["unit"], row.get("reason") or
                          "%s, %d of %d" % (row["extract"], verified,
                                            len(row["kernels"]))),
              file=sys.stderr, flush=True)
        return row

    if options.report:
        rows = [r for r in (read_row(options.results, u) for u in units) if r]
    else:
        with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
            rows = list(pool.map(work, units))
    report(rows)
    good = all(r.get("extract", "ok") == "ok" and
               all(k.get("verified") for k in r.get("kernels", []))
               for r in rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
