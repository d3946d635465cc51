#!/usr/bin/env python3
# gpu_programs.py - programs recorded, evolved, rebuilt and run on a GPU
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: gpu_programs.py STEP FOLDER [NAME...] [OPTIONS]
#   prepare  copies the sources of gpu-programs.txt (--checkouts)
#   build    builds them by clang and by nvcc
#   capture  records each program                               (needs the GPU)
#   evolve   searches with the rules translator, all side by side; a loop
#            works through their batches, one at a time         (needs the GPU)
#   rebuild  builds with the plugin, and by nvcc with cupilot-launch
#   run      original and rebuilt program in turn               (needs the GPU)
#   report   the table
#
# FOLDER holds a folder for each program, may be moved between machines, and each
# step goes on where it was interrupted; --seconds N ends one in time. Steps
# without GPU may run elsewhere; evolve needs clang 22 beside the GPU, or
# another machine that works through FOLDER/spool (--no-runner).
# Exit status: 0 done, 1 a step failed for a program, or results differ.

import concurrent.futures
import glob
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time

import public_identity
import public_units

HERE = os.path.dirname(os.path.abspath(__file__))
ARCH = "sm_90"
LEAST_SHARE = 0.1  # Of the kernels' time: others are not searched.


def read_list(path, names):
    programs = []
    for line in open(path, encoding="utf-8"):
        if not line.strip() or line.startswith("#"):
            continue
        repository, _, folder, sources, flags, arguments, result = (
            field.strip() for field in line.split("|", 6))
        p = {"repository": repository, "inside": folder,
             "sources": sources.split(), "result": result,
             "flags": [] if flags == "-" else shlex.split(flags),
             "arguments": [] if arguments == "-" else shlex.split(arguments)}
        stem = os.path.splitext(os.path.basename(p["sources"][0]))[0]
        p["short"] = stem if stem != "main" else os.path.basename(
            folder).removesuffix("-cuda")
        programs.append(p)
    return [p for p in programs if not names or p["short"] in names]


MARGIN = 1.02  # As that of the search.


class Programs:
    def __init__(self, options):
        self.o = options
        self.folder = os.path.abspath(options.folder)
        self.end = time.time() + options.seconds
        self.bad = 0
        os.makedirs(self.folder, exist_ok=True)

    def left(self):
        return self.end - time.time()

    def home(self, p, name=""):
        return os.path.join(self.folder, p["short"], name)

    def source_folder(self, p):
        return self.home(p, "src/" + p["inside"])

    def say(self, p, text):
        print("%s: %s" % (p["short"], text), flush=True)

    def fail(self, p, text):
        self.bad += 1
        self.say(p, "FAILS: " + text)

    def run(self, p, command, folder=None, limit=600, env=None):
        return public_identity.run(
            command, folder or self.home(p), min(limit, max(self.left(), 1)),
            env)

    # prepare --------------------------------------------------------------

    def prepare(self, p):
        own = p["repository"] == "."
        root = os.path.dirname(HERE) if own else os.path.join(
            self.o.checkouts, p["repository"].split("/")[1])
        shutil.rmtree(self.home(p, "src"), ignore_errors=True)
        wanted = {os.path.normpath(p["inside"] + "/" + f) for f in ["."] + [
            f[2:] for f in p["flags"] if f.startswith("-I")]}
        base = self.home(p, "src")
        for place in wanted:
            for at, _, files in os.walk(os.path.join(root, place)):
                for name in files:
                    if not re.search(r"\.(cu|cuh|h|hpp|hxx|cpp|c|inl)$", name):
                        continue
                    to = os.path.join(base, os.path.relpath(at, root), name)
                    os.makedirs(os.path.dirname(to), exist_ok=True)
                    shutil.copy(os.path.join(at, name), to)

    def build(self, p):
        for compiler in ("clang", "nvcc"):
            if not os.path.exists(self.home(p, compiler)):
                self.compile(p, compiler, compiler)

    def command(self, compiler, p):
        if compiler == "nvcc":
            return [self.o.cuda + "/bin/nvcc", "-w", "-O2", "-arch=" + ARCH,
                    "-c"] + p["flags"]
        return [self.o.clang, "-w", "-Wno-unknown-cuda-version", "-O2",
                "--cuda-gpu-arch=" + ARCH, "--cuda-path=" + self.o.cuda,
                "-isystem", self.o.cuda + "/include",
                "-I" + self.o.cuda + "/include/cccl", "-c"] + p["flags"]

    def compile(self, p, compiler, output, before=(), after=()):
        """Builds FOLDER/NAME/OUTPUT; what the compiler said, None if it failed."""
        folder, objects, told = self.source_folder(p), [], ""
        for number, source in enumerate(p["sources"]):
            objects.append(self.home(p, "%s.%d.o" % (output, number)))
            command = list(before) + self.command(compiler, p) + list(after)
            if not source.endswith(".cu"):
                command = ["c++", "-w", "-O2", "-I" + self.o.cuda + "/include",
                           "-c"] + p["flags"]
            status, out, err = self.run(
                p, command + [source, "-o", objects[-1]], folder)
            told += out + err
            if status != 0:
                self.fail(p, "%s does not build: %s" % (output, told[-600:]))
                return None
        status, out, err = self.run(
            p, ["c++"] + objects + ["-L" + self.o.cuda + "/lib64",
                                    "-lcudart_static", "-lpthread", "-ldl",
                                    "-lrt", "-lm", "-static-libstdc++",
                                    "-static-libgcc", "-s", "-o", self.home(p, output)])
        for name in objects:
            if os.path.exists(name):
                os.remove(name)
        if status != 0:
            self.fail(p, "%s does not link: %s" % (output, err[-600:]))
            return None
        return told

    # capture --------------------------------------------------------------

    def capture(self, p):
        data = self.home(p, "capture")
        if os.path.exists(data + "/launches.json"):
            return
        shutil.rmtree(data, ignore_errors=True)
        begin = time.time()
        status, out, err = self.run(
            p, [self.o.build + "/bin/cupilot-capture", "--confirm",
                "--per-kernel", str(self.o.per_kernel), "-o", data, "--",
                self.home(p, "clang")] + p["arguments"])
        with open(self.home(p, "capture.txt"), "w", encoding="utf-8") as text:
            text.write(out + err)
        if status != 0:
            return self.fail(p, "capture, status %d: %s" % (status, err[-800:]))
        self.say(p, "recorded in %.1f s" % (time.time() - begin))

    # evolve ---------------------------------------------------------------

    def workloads(self, p):
        """Makes W.mlir of the recording; the kernels to search, by name."""
        status, out, err = self.run(
            p, [self.o.build + "/bin/cupilot", "capture", "--from", "capture",
                "-o", "w.mlir"])
        if status != 0:
            self.fail(p, "cupilot capture --from: " + err[-800:])
            return []
        with open(self.home(p, "table.txt"), "w", encoding="utf-8") as text:
            text.write(out + err)
        return [k for k, share in shares(self.home(p, "table.txt"))
                if share >= LEAST_SHARE]

    def searches(self, p):
        """Command lines; a name that another one holds is searched with it."""
        base = [search_name(n) for n in self.workloads(p)]
        units = [s for s in p["sources"] if s.endswith(".cu")]
        done = []
        for name in sorted(set(base)):
            if any(other != name and other in name for other in base):
                continue
            done.append((p, name, [
                self.o.build + "/bin/cupilot", "evolve",
                units[0], "--only", name,
                "--workloads", self.home(p, "w.mlir"),
                "--store", self.home(p, "store"),
                "--device", "spool:" + self.folder + "/spool",
                "--population", str(self.o.population),
                "--generations", str(self.o.generations), "--seed", "1",
                "--resume", "-v", "--", "-O2"] + p["flags"]))
        return done

    def search_log(self, p, name):
        return self.home(p, "evolve-%s.log" % re.sub(r"\W+", "_", name))

    def evolve(self, programs):
        waiting, running, ended = [], [], 0
        for p in programs:
            waiting += self.searches(p)
        env = dict(os.environ, CUDA_PATH=self.o.cuda)
        worked = {}
        while (waiting or running) and self.left() > 0:
            while waiting and len(running) < self.o.jobs:
                p, name, command = waiting.pop(0)
                log = open(self.search_log(p, name), "w", encoding="utf-8")
                running.append((p, name, subprocess.Popen(
                    command, cwd=self.source_folder(p), stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL, env=env)))
            for each in list(running):
                p, name, process = each
                if process.poll() is not None:
                    running.remove(each)
                    ended += 1
                    self.say(p, "search of %s ends with %d after %.0f s" % (
                        name, process.returncode, self.o.seconds - self.left()))
                    if process.returncode not in (0, 1):
                        self.fail(p, open(self.search_log(p, name))
                                  .read()[-1500:])
            if not self.o.no_runner:
                self.work(worked)
            time.sleep(0.2)
        for p, name, process in running:
            process.kill()
            process.wait()
        self.bad += len(running) + len(waiting)
        print("searches: %d ended, %d cut off, %d not begun" % (
            ended, len(running), len(waiting)))

    def work(self, worked):
        """Works through one batch that has requests without results."""
        for batch in sorted(glob.glob(self.folder + "/spool/*/batch.json"),
                            key=os.path.getmtime):
            folder = os.path.dirname(batch)
            if worked.get(folder, 0) >= 2:
                continue
            try:
                count = len(json.load(open(batch))["requests"])
            except (ValueError, KeyError, OSError):
                continue  # Still being written.
            results = glob.glob(folder + "/results/*.json")
            if len(results) >= count:
                worked[folder] = 2
                continue
            worked[folder] = worked.get(folder, 0) + 1
            begin = time.time()
            status = subprocess.run(
                [self.o.build + "/bin/cupilot-runner", folder],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                timeout=max(self.left(), 1) + 30)
            print("%s: %d requests, status %d, %.1f s, at %.0f s" % (
                os.path.basename(folder), count, status.returncode,
                time.time() - begin, self.o.seconds - self.left()), flush=True)
            return

    # rebuild --------------------------------------------------------------

    def rebuild(self, p):
        store = self.home(p, "store")
        own = ["-fplugin-arg-cupilot-store=" + store, "-Rpass=cupilot",
               "-Rpass-missed=cupilot"]
        remarks = ""
        for compiler in ("clang", "nvcc"):
            if not os.path.isdir(store):
                shutil.copy(self.home(p, compiler), self.home(p, compiler + ".new"))
                continue
            if compiler == "clang":
                told = self.compile(p, compiler, "clang.new", after=own + [
                    "-fplugin=" + self.o.build + "/lib/cupilot.so"])
            else:
                told = self.compile(p, compiler, "nvcc.new", after=own, before=[
                    self.o.build + "/bin/cupilot-launch"])
            if told is None:
                continue
            remarks += "== %s\n%s" % (compiler, told)
        with open(self.home(p, "remarks.txt"), "w", encoding="utf-8") as text:
            text.write(remarks)
        self.say(p, "rebuilt; " + ", ".join(sorted(set(
            re.findall(r"remark: (.*?variant v_\w+.*)", remarks)))[:6]))

    # run ------------------------------------------------------------------

    def once(self, p, kind, env=None):
        """One run under one name for all kinds: programs print it."""
        link = "/tmp/" + p["short"]
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(self.home(p, kind), link)
        begin = time.perf_counter()
        status, out, err = self.run(p, [link] + p["arguments"], env=env,
                                    limit=60)
        return time.perf_counter() - begin, status, out, err

    def results(self, p, out):
        return [m.group(0) for m in re.finditer(p["result"], out, re.M)]

    def kernel_time(self, p, kind):
        """Microseconds by kernel's name, as CUPTI records them."""
        data = self.home(p, "timing")
        shutil.rmtree(data, ignore_errors=True)
        self.run(p, [self.o.build + "/bin/cupilot-capture", "--timing", "-o",
                     data, "--", self.home(p, kind)] + p["arguments"])
        try:
            launches = json.load(open(data + "/launches.json"))["launches"]
        except (OSError, ValueError):
            return None
        finally:
            shutil.rmtree(data, ignore_errors=True)
        times = {}
        for l in launches:
            t = times.setdefault(l["kernel"], [0, 0])
            t[0] += l["count"]
            t[1] += l["cost"]
        return times

    def measure(self, p):
        row = {}
        try:
            row = json.load(open(self.home(p, "runs.json")))
        except (OSError, ValueError):
            pass
        for compiler in ("clang", "nvcc"):
            new = compiler + ".new"
            if not os.path.exists(self.home(p, new)) or self.left() < 5:
                continue
            r = row.setdefault(compiler, {"pairs": [], "equal": True})
            env = dict(os.environ, CUPILOT_RUNTIME="stats")
            _, status, out, err = self.once(p, compiler)
            _, status2, out2, err2 = self.once(p, new, env)
            before, after = self.results(p, out), self.results(p, out2)
            r["status"], r["result"] = [status, status2], [before, after]
            r["equal"] = status == status2 and before == after and bool(before)
            r["launches"] = re.findall(r"cupilot: (\d+ launches of .*)", err2)
            if not r["equal"]:
                self.fail(p, "%s: %d %s, rebuilt %d %s %s" % (
                    compiler, status, before, status2, after, err2[-300:]))
                continue
            if not r.get("kernels"):
                r["kernels"] = [self.kernel_time(p, compiler),
                                self.kernel_time(p, new)]
            begin = time.time()
            # Without a variant both are the same code.
            wanted = self.o.pairs if os.path.isdir(
                self.home(p, "store/kernels")) else min(3, self.o.pairs)
            while len(r["pairs"]) < wanted and self.left() > 5 and \
                    time.time() - begin < self.o.pair_seconds:
                order = [compiler, new]
                if len(r["pairs"]) % 2:
                    order.reverse()
                took = {}
                for kind in order:
                    took[kind], status, out, _ = self.once(p, kind)
                    if status != r["status"][0] or \
                            self.results(p, out) != before:
                        r["equal"] = False
                r["pairs"].append([took[compiler], took[new]])
            self.say(p, "%s: whole %s, equal %s" % (
                compiler, shown(interval(r["pairs"])), r["equal"]))
        with open(self.home(p, "runs.json"), "w", encoding="utf-8") as f:
            json.dump(row, f, indent=1)

    # report ---------------------------------------------------------------

    def report(self, programs):
        print("| program | kernel, share | kept | per kernel, on the card | "
              "compiler | launches of variants | results | kernels in the "
              "program | whole program |")
        print("|---|---|---|---|---|---|---|---|---|")
        slower = []
        for p in programs:
            kernels = dict(shares(self.home(p, "table.txt")))
            kept = self.kept(p)
            try:
                row = json.load(open(self.home(p, "runs.json")))
            except (OSError, ValueError):
                row = {}
            lines = []
            for name, share in kernels.items():
                if share < LEAST_SHARE:
                    continue
                best = kept.get(base_name(name))
                lines.append("`%s`, %.0f %% | %s | %s" % (
                    base_name(name), 100 * share,
                    "`%s`" % best[0] if best else self.missing(p, name),
                    "%.3f (%.3f to %.3f)" % tuple(best[1:4])
                    if best else "1"))
            ends = []
            for compiler in ("clang", "nvcc"):
                r = row.get(compiler)
                if not r:
                    ends.append("%s | | not run | | " % compiler)
                    continue
                ends.append("%s | %s | %s | %s | %s" % (
                    compiler, launched(r.get("launches", [])),
                    "equal" if r["equal"] else "**differ**",
                    kernel_ratio(r.get("kernels")),
                    shown(interval(r["pairs"]))))
                whole = interval(r["pairs"])
                if whole and whole[2] < 1 / MARGIN:
                    slower.append("%s (%s)" % (p["short"], compiler))
                    self.bad += 1
            for i in range(max(len(lines), len(ends))):
                print("| %s | %s | %s |" % (
                    p["short"] if i == 0 else "",
                    lines[i] if i < len(lines) else " | | ",
                    ends[i] if i < len(ends) else " | | | | "))
        print("\nSlower beyond the noise: " + (", ".join(slower) or "none"))

    def missing(self, p, name):
        """Why a kernel has no variant."""
        for path in glob.glob(self.home(p, "evolve-*.log")):
            # A kernel's part begins with its name at the start of a line.
            for part in re.split(r"\n(?=\S)", open(path).read()):
                if base_name(part.split("\n")[0]) == base_name(name):
                    return "none" if " candidates: " in part \
                        else "search cut off"
        return "not searched"

    def kept(self, p):
        """The best variant of each kernel of the store: genome, ratios."""
        found = {}
        for path in glob.glob(self.home(p, "store/kernels/*/kernel.mlir")):
            files = sorted(glob.glob(os.path.dirname(path) + "/variants/*.mlir"))
            text = "".join(open(f, encoding="utf-8").read()
                           for f in [path] + files)
            name = re.search(r'cupilot\.kernel @"?([^"(]+)', text).group(1)
            for variant in re.findall(r"cupilot\.variant @.*", text):
                genes = re.findall(r"<@(\w+), \{(.*?)\}>", variant)
                m = re.search(r'basis = "(\w+)", ratio = ([\d.e+-]+) : f64, '
                              r"low = ([\d.e+-]+) : f64, high = ([\d.e+-]+)",
                              variant)
                row = [", ".join("%s(%s)" % (g, v.replace(" : i64", "")) for
                                 g, v in genes)]
                row += [float(x) for x in m.groups()[1:]] + [m.group(1)]
                if row[1] > found.get(base_name(name), [0, 0])[1]:
                    found[base_name(name)] = row
        return found


def base_name(name):
    """The kernel without its result and parameters."""
    return re.sub(r"^void ", "", name.split("(")[0].strip())


def search_name(name):
    """What --only takes: other template arguments than types may be written
    otherwise."""
    base = base_name(name)
    return base if re.fullmatch(r"[\w:]+(<[a-z ]+>)?", base) \
        else base.split("<")[0]


def shares(path):
    """Kernels and their shares of the time, from capture's table."""
    try:
        text = open(path, encoding="utf-8").read()
    except OSError:
        return []
    return [(m.group(2).strip(), float(m.group(1)) / 100) for m in re.finditer(
        r"^\s*([\d.]+) %\s+\d+\s+[\d.]+\s+\S+\s+\S+\s+\d+\s+(.*)$", text, re.M)]


def launched(lines):
    """Launches of variants, and of originals that their guards kept."""
    count = {True: 0, False: 0}
    for line in lines:
        count["of originals" in line] += int(line.split()[0])
    return "%d, originals %d" % (count[False], count[True]) if lines \
        else "none"


def kernel_ratio(pair):
    if not pair or not pair[0] or not pair[1]:
        return ""
    before, after = (sum(t for _, t in times.values()) for times in pair)
    return "%.3f" % (before / after) if after else ""


def interval(pairs):
    """Median of the ratios and the sign test's interval of at least 95 %."""
    ratios = sorted(a / b for a, b in pairs)
    n = len(ratios)
    if n == 0:
        return None
    rank = 0
    while 2 * sum(math.comb(n, k) for k in range(rank + 1)) / 2 ** n <= 0.05:
        rank += 1
    # With fewer than six pairs, what all of them say.
    rank = max(rank - 1, 0)
    return (statistics.median(ratios), ratios[rank], ratios[n - 1 - rank], n)


def shown(found):
    return "%.3f (%.3f to %.3f, %d pairs)" % found if found else ""


def main():
    parser = public_units.tool_options("gpu-programs.txt", 600)
    parser.add_argument("step", choices=("prepare", "build", "capture", "evolve",
                                         "rebuild", "run", "report"))
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--checkouts", default=".")
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--population", type=int, default=12)
    parser.add_argument("--generations", type=int, default=1)
    parser.add_argument("--per-kernel", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--pair-seconds", type=float, default=15)
    parser.add_argument("--no-runner", action="store_true")
    options = parser.parse_args()
    options.build = os.path.realpath(options.build)
    programs = read_list(options.list, options.names)
    if not programs:
        parser.error("no such program")
    work = Programs(options)
    if options.step == "evolve":
        work.evolve(programs)
    elif options.step == "report":
        work.report(programs)
    else:
        step = {"run": "measure"}.get(options.step, options.step)

        def one(p):
            if work.left() < 5:
                return work.fail(p, "no time left")
            os.makedirs(work.home(p), exist_ok=True)
            getattr(work, step)(p)

        # Compilers do not disturb each other; what is measured stands alone.
        jobs = options.jobs if step in ("build", "rebuild") else 1
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, programs))
    return 1 if work.bad else 0


if __name__ == "__main__":
    sys.exit(main())
