#!/usr/bin/env python3
# public_builds.py - builds of public CUDA units with identity variants
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public_builds.py CHECKOUTS [NAME...] [OPTIONS]
#
# For each unit of public-units.txt that clang parses: built by clang and by
# nvcc, as it is and with a variant for every kernel that is a renamed copy of
# the original with its own launch path (identity-store writes the store). Adds
# the key "builds" to the unit's row in RESULTS (public_units.py describes rows):
#   store          what identity-store said: kernels without slice or identity
#   clang, clang+identity, nvcc, nvcc+identity
#                  {"ok", "why", "seconds": processor time of all its processes,
#                   "applied": kernels with a variant, "left out": {why: count}}
#   launches       [[file:line, form, kernel, clang, nvcc]]: of the source, once
#                  per instantiation, but for those in functions that nothing
#                  uses; "redirected" or why not, for each compiler
# Rows that have the key are skipped, so that a run that was stopped goes on.
# Exit status: 0 all built, 1 some did not, 2 wrong use.

import collections
import hashlib
import json
import os
import re
import resource
import statistics
import sys
import tempfile

import public_units as units


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# clang's flags that nvcc knows by the same name, and those that mean nothing to it.
def nvcc_flags(flags):
    kept, i = [], 0
    while i < len(flags):
        flag = flags[i]
        if flag in ("-D", "-U", "-I", "-isystem", "-include"):
            kept += flags[i:i + 2]
            i += 1
        elif re.match(r"-D|-U|-I|-std=|-O", flag):
            kept.append(flag)
        i += 1
    return kept


class Builder(units.Runner):
    def timed(self, command, folder, env=None):
        """A build's entry, and its output."""
        saved = {}
        for name, value in (env or {}).items():
            saved[name] = os.environ.get(name)
            os.environ[name] = value
        before = processor_seconds()
        status, out, err = self.run(command, folder)
        seconds = round(processor_seconds() - before, 3)
        for name, value in saved.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        entry = {"ok": status == 0, "seconds": seconds}
        if status != 0:
            entry["why"] = self.reason(status, err + out)
        return entry, out

    @staticmethod
    def read_report(path):
        """Kernel to outcome, and the launches' lines, of the plugin's report."""
        applied, left, sites = set(), collections.Counter(), []
        try:
            lines = open(path, encoding="utf-8").read().splitlines()
        except OSError:
            return applied, left, sites
        host = False
        for line in lines:
            if not line.startswith("  "):
                host = ": host " in line
                continue
            match = re.match(r"  launch of (?:'(.*)'|a kernel that a pointer "
                             r"gives)(?: at (.*):(\d+))? in '(.*)': (?:not "
                             r"redirected: )?(.*)$", line)
            if match:
                sites.append((match.group(4), match.group(1) or "-",
                              match.group(5)))
                continue
            match = re.match(r"  (.*): (VariantApplied|VariantStale|NoVariant"
                             r"|Refused): (.*)", line)
            if not match:
                continue
            name, outcome, message = match.groups()
            if outcome == "VariantApplied":
                applied.add(name)
            elif not host:
                left[re.sub(r"'[^']*'", "'...'", message)[:200]] += 1
        return applied, left, sites

    def commands(self, unit, work):
        """clang's and nvcc's commands for a unit, and clang's flags."""
        options, arch = self.options, self.options.arch
        for flag in unit["flags"]:
            if flag.startswith("--cuda-gpu-arch="):
                arch = flag.split("=")[1]
        flags = ["-O2"] + [f for f in unit["flags"]
                           if not f.startswith("--cuda-gpu-arch=")] \
            + ["--cuda-gpu-arch=" + arch]
        # Another toolkit's headers in the system's folders would come first.
        clang = [options.clang, "-Wno-unknown-cuda-version", "-w",
                 "--cuda-path=" + options.cuda, "-isystem",
                 options.cuda + "/include", "-I" + options.cuda
                 + "/include/cccl", "-x", "cuda", "-c", unit["source"], "-o",
                 work + "/clang.o"] + flags
        nvcc = [options.cuda + "/bin/nvcc", "-w", "-arch=" + arch, "-x", "cu",
                "-c", unit["source"], "-o", work + "/nvcc.o"] \
            + nvcc_flags(flags)
        return clang, nvcc, flags

    def build(self, unit, row):
        folder = os.path.join(self.checkouts, unit["project"])
        source, options = unit["source"], self.options
        result = {}
        with tempfile.TemporaryDirectory(prefix="builds") as work:
            store = work + "/store"
            clang, nvcc, flags = self.commands(unit, work)
            result["clang"], _ = self.timed(clang, folder)
            if not result["clang"]["ok"]:
                return result
            os.mkdir(work + "/keep")
            result["nvcc"], _ = self.timed(
                nvcc + ["--keep", "--keep-dir", work + "/keep"], folder)
            command = [options.identity_store, source, "--store", store,
                       "--launches"]
            ptx = [name for name in os.listdir(work + "/keep")
                   if name.endswith(".ptx")]
            if result["nvcc"]["ok"] and ptx:
                command += ["--ptx", work + "/keep/" + ptx[0], "--nvcc",
                            " ".join(nvcc)]
            result["store"], out = self.timed(command + ["--"] + flags, folder)
            if not result["store"]["ok"]:
                return result
            lines = [line.split("\t") for line in out.splitlines()]
            result["store"]["kernels"] = len(
                {l[1] for l in lines if l[0] in ("clang", "nvcc", "no-clang",
                                                 "no-slice")})
            result["store"]["without"] = dict(collections.Counter(
                l[0] + ": " + l[2][:160] for l in lines
                if l[0].startswith("no-")))
            environment = {"CUPILOT_CACHE_DIR": ""}
            argument = "-fplugin-arg-cupilot-"
            own = [argument + "store=" + store]
            report = work + "/clang.report"
            entry, _ = self.timed(
                clang + ["-fplugin=" + options.plugin, argument + "report="
                         + report] + own, folder, environment)
            applied, left, sites = self.read_report(report)
            entry.update({"applied": len(applied), "left out": dict(left)})
            result["clang+identity"] = entry
            nvcc_applied = set()
            if result["nvcc"]["ok"]:
                report = work + "/nvcc.report"
                entry, _ = self.timed(
                    [options.launcher] + nvcc + [argument + "report=" + report]
                    + own, folder, environment)
                nvcc_applied, left, _ = self.read_report(report)
                entry.update({"applied": len(nvcc_applied),
                              "left out": dict(left)})
                result["nvcc+identity"] = entry
            result["launches"] = self.match(
                [l for l in lines if l[0] == "launch"], applied, sites,
                nvcc_applied, result)
            result["dead launches"] = sum(l[0] == "dead" for l in lines)
        return result

    def match(self, source, applied, sites, nvcc_applied, result):
        """Each launch of the source with what became of it."""
        names = sorted({n for l in source for n in l[3:5] if n != "-"})
        known = {"-": "-"}
        if names:
            _, out, _ = self.run([os.path.dirname(self.options.clang)
                                  + "/llvm-cxxfilt"] + names, ".")
            known.update(zip(names, out.splitlines()))
        # Of a function's launches of a kernel, as many as the plugin says.
        told = collections.defaultdict(list)
        for function, kernel, verdict in sites:
            told[function, kernel].append(verdict)
        rows = []
        for _, place, form, function, kernel in source:
            clang = nvcc = ""
            name = known[kernel]
            if form not in ("<<<>>>", "cudaLaunchKernel", "cudaLaunchKernelExC",
                            "cudaLaunchKernelEx"):
                clang = nvcc = "refused: " + form
            elif form == "<<<>>>":
                verdicts = told[known[function], name]
                clang = verdicts.pop(0) if verdicts else "not told"
            else:
                clang = "redirected" if name in applied or \
                    (kernel == "-" and applied) else "no variant"
            if not nvcc:
                nvcc = "redirected" if name in nvcc_applied or \
                    (kernel == "-" and nvcc_applied) else "no variant"
            if "nvcc+identity" not in result:
                nvcc = "not built"
            rows.append([place, form, name, clang, nvcc])
        return rows


def percent(part, whole):
    return units.percent(part, whole)


def report(rows):
    kinds = ("clang", "clang+identity", "nvcc", "nvcc+identity")
    built = {kind: sum(r["builds"].get(kind, {}).get("ok", False) for r in rows)
             for kind in kinds}
    print("%d units. clang builds %d, with identity variants %d (%s); nvcc "
          "builds %d, with identity variants %d (%s).\n"
          % (len(rows), built["clang"], built["clang+identity"],
             percent(built["clang+identity"], built["clang"]), built["nvcc"],
             built["nvcc+identity"],
             percent(built["nvcc+identity"], built["nvcc"])))
    print("| project | units | clang | + identity | nvcc | + identity | kernels"
          " | by clang | by nvcc | launches | by clang | by nvcc |")
    print("|" + "---|" * 12)
    totals = collections.OrderedDict()
    for row in rows:
        b = row["builds"]
        launches = b.get("launches", [])
        values = [1] + [int(b.get(k, {}).get("ok", False)) for k in kinds] + [
            b.get("store", {}).get("kernels", 0),
            b.get("clang+identity", {}).get("applied", 0),
            b.get("nvcc+identity", {}).get("applied", 0), len(launches),
            sum(l[3] == "redirected" for l in launches),
            sum(l[4] == "redirected" for l in launches)]
        for name in (row["unit"].split("/")[0], "all"):
            old = totals.setdefault(name, [0] * len(values))
            totals[name] = [a + b for a, b in zip(old, values)]
    for name, values in sorted(totals.items(), key=lambda t: t[0] == "all"):
        print("| %s | %s |" % (name, " | ".join(map(str, values))))
    for number, compiler in ((3, "clang"), (4, "nvcc")):
        all_launches = [l for r in rows for l in r["builds"].get("launches", [])
                        if l[number] != "not built"]
        done = sum(l[number] == "redirected" for l in all_launches)
        print("\nLaunches redirected by %s: %d of %d, %s; the others: %s."
              % (compiler, done, len(all_launches),
                 percent(done, len(all_launches)),
                 ", ".join("%s (%d)" % pair for pair in collections.Counter(
                     l[number] for l in all_launches
                     if l[number] != "redirected").most_common()) or "none"))
    for plain, other in (("clang", "clang+identity"), ("nvcc", "nvcc+identity")):
        ratios = [r["builds"][other]["seconds"] / r["builds"][plain]["seconds"]
                  for r in rows if r["builds"].get(other, {}).get("ok")
                  and r["builds"][other].get("applied")]
        each = [(r["builds"][other]["seconds"] - r["builds"][plain]["seconds"])
                / r["builds"][other]["applied"]
                for r in rows if r["builds"].get(other, {}).get("ok")
                and r["builds"][other].get("applied")]
        if ratios:
            print("\n%s, cold cache: processor time %.2f times the plain "
                  "build's (median of %d units), %.2f s more for each variant "
                  "(median)." % (other, statistics.median(ratios), len(ratios),
                                 statistics.median(each)))
    print("\n| unit | what | reason |\n|---|---|---|")
    for row in rows:
        for kind in ("clang", "store", "clang+identity", "nvcc",
                     "nvcc+identity"):
            entry = row["builds"].get(kind, {})
            if entry and not entry["ok"]:
                print("| %s | %s does not build | %s |" % (
                    row["unit"], kind, units.clean(entry["why"])))
            for why, count in entry.get("left out", {}).items():
                print("| %s | %s: %d kernels without variant | %s |" % (
                    row["unit"], kind, count, units.clean(why)))
        for why, count in row["builds"].get("store", {}).get(
                "without", {}).items():
            print("| %s | %d kernels | %s |" % (row["unit"], count,
                                                units.clean(why)))
        for place, form, kernel, clang, nvcc in \
                row["builds"].get("launches", []):
            if clang != "redirected" or nvcc not in ("redirected", "not built"):
                print("| %s | %s of `%s` at %s | clang: %s; nvcc: %s |" % (
                    row["unit"], form, units.clean(kernel)[:80], place,
                    units.clean(clang), units.clean(nvcc)))


def main():
    parser = units.unit_options(limit=900)
    parser.add_argument("--results", default="public-units.results")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    options.plugin = build + "/lib/cupilot.so"
    options.launcher = build + "/bin/cupilot-launch"
    options.identity_store = build + "/bin/identity-store"
    for needed in (options.plugin, options.launcher, options.identity_store,
                   options.list):
        if not os.path.exists(needed):
            print("public_builds.py: error: no '%s'" % needed, file=sys.stderr)
            return 2
    chosen = units.chosen_units(options)
    if options.sample:
        step = max(1.0, len(chosen) / options.sample)
        chosen = [chosen[int(i * step)]
                  for i in range(min(options.sample, len(chosen)))]
    # A run that is stopped is a sample of all projects.
    chosen.sort(key=lambda u: hashlib.sha1(u["unit"].encode()).hexdigest())
    builder = Builder(options)
    rows = []
    for unit in chosen:
        row = units.read_row(options.results, unit) or {"unit": unit["unit"]}
        if "builds" not in row or (options.again and not options.report):
            if options.report or not row.get("parses", True):
                continue
            row["builds"] = builder.build(unit, row)
            units.write_row(options.results, unit, row)
            b = row["builds"]
            launches = b.get("launches", [])
            print("%s: %s; launches %d, clang %d, nvcc %d" % (
                unit["unit"], ", ".join(
                    "%s %s" % (k, "%.1fs" % v["seconds"] if v["ok"] else "FAILS: "
                               + v["why"]) for k, v in b.items()
                    if isinstance(v, dict)), len(launches),
                sum(l[3] == "redirected" for l in launches),
                sum(l[4] == "redirected" for l in launches)),
                file=sys.stderr, flush=True)
        rows.append(row)
    report(rows)
    return 0 if all(
        r["builds"].get(k, {"ok": True})["ok"] for r in rows
        for k in ("store", "clang+identity", "nvcc+identity")) else 1


if __name__ == "__main__":
    sys.exit(main())
