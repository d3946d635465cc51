#!/usr/bin/env python3
# public_identity.py - public programs with identity variants print the same
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public_identity.py cpu CHECKOUTS [NAME...] [OPTIONS]
#        public_identity.py gpu FOLDER CHECKOUTS [NAME...] [OPTIONS]
#
# Programs of public-programs.txt (public-programs.sh describes it), built as
# they are and with a variant for every kernel that is a renamed copy of the
# original (identity-store). "cpu" builds and runs them on the cpu device, and
# compares what they print; "gpu" fills FOLDER with programs by clang and nvcc,
# and a script run.sh that does the same on a machine with a GPU. Lines that tell
# times or rates are masked. One line a program goes to RESULTS, programs that
# are there are skipped. Exit status: 0 all the same, 1 not, 2 wrong use.

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import public_units

# What differs from run to run: numbers with a unit of time or rate beside
# them, and lines that speak of such.
MASK = (r"(?i)(time|second|elapsed|bandwidth|throughput|speed|gflop|flops|"
        r"gb/s|mb/s|\bms\b|\bus\b|\bns\b|msec|usec|\(s\)|0x[0-9a-f]+|pid|cycles|"
        r"average|clock|perf|per second|rate)")

RUN = r'''#!/usr/bin/env bash
# Runs each program four times: by clang and nvcc, plain and with variants, and
# compares what they print and how they end. Results under $OUT.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out} && mkdir -p "$out" /tmp/identity
export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$here/lib
mask() { grep -v -a -i -E '@MASK@' "$1" | grep -v -a '^cupilot: '; }
once() { # PROGRAM KIND
  read -r -a args <"$here/bin/$1.args"
  # One name for all four: programs print it.
  ln -sf "$here/bin/$1.$2" "/tmp/identity/$1"
  (cd "$here/bin" && CUPILOT_RUNTIME=stats timeout 60 "/tmp/identity/$1" "${args[@]}") \
    >"/tmp/identity/$1.$2.out" 2>"/tmp/identity/$1.$2.err" </dev/null
  echo "exit status $?" >>"/tmp/identity/$1.$2.out"
}
same=0 other=0 launched=0
for list in "$here"/bin/*.args; do
  name=$(basename "$list" .args)
  for kind in clang clang+identity nvcc nvcc+identity; do
    [ -x "$here/bin/$name.$kind" ] && once "$name" $kind
  done
  for compiler in clang nvcc; do
    [ -x "$here/bin/$name.$compiler+identity" ] || continue
    a=/tmp/identity/$name.$compiler b=/tmp/identity/$name.$compiler+identity
    # A program that is not the same twice says nothing.
    verdict=same
    if ! cmp -s <(mask $a.out) <(mask $b.out) || ! cmp -s <(mask $a.err) <(mask $b.err); then
      cp $a.out $a.first && once "$name" $compiler
      if cmp -s <(mask $a.first) <(mask $a.out); then verdict=OTHER; else verdict="differs by itself"; fi
      [ $verdict = OTHER ] && diff <(mask $a.out) <(mask $b.out) | head -20 >>"$out/differences.txt"
    fi
    count=$(grep -a '^cupilot: .* launches of' $b.err | grep -v 'originals instead' | awk '{n += $2} END {print n + 0}')
    kept=$(grep -a '^cupilot: .* launches of originals' $b.err | awk '{n += $2} END {print n + 0}')
    echo "$name $compiler: $verdict, $(tail -n 1 $a.out), launches of variants $count, of originals in their place $kept"
    [ "$verdict" = same ] && same=$((same + 1))
    [ "$verdict" = OTHER ] && other=$((other + 1))
    [ "$count" -gt 0 ] && launched=$((launched + 1))
  done
done | tee "$out/identity.txt"
echo "same: $(grep -c ': same' "$out/identity.txt"), other: $(grep -c ': OTHER' "$out/identity.txt"), with launches of variants: $(grep -c -v 'variants 0,' "$out/identity.txt")" | tee -a "$out/identity.txt"
'''.replace("@MASK@", MASK.replace("(?i)", "").replace(r"\b", r"\b"))


def read_list(path):
    programs = []
    for line in open(path, encoding="utf-8"):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [f.strip() for f in line.split("|", 6)]
        repository, _, folder, sources, flags, arguments, _ = fields
        programs.append({
            "name": repository.split("/")[1] + "/" + folder,
            "folder": repository.split("/")[1] + "/" + folder,
            "sources": sources.split(),
            "flags": [] if flags == "-" else shlex.split(flags),
            "arguments": "" if arguments == "-" else arguments})
    return programs


def run(command, folder, limit=600, env=None):
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=env, start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return -1, "", "time out"
    return (process.returncode, out.decode("utf-8", "replace"),
            err.decode("utf-8", "replace"))


def masked(text):
    return [l for l in text.splitlines()
            if not re.search(MASK, l) and not l.startswith("cupilot: ")]


def reason(text):
    for line in text.splitlines():
        if "error" in line or "undefined" in line:
            return line.strip()[:200]
    return text.strip()[-200:]


def sources_of(program):
    """Expands the wildcards of the list; CUDA sources first."""
    _, out, _ = run(["bash", "-c", "echo " + " ".join(program["sources"])],
                    program["path"])
    names = out.split()
    return ([n for n in names if n.endswith(".cu")],
            [n for n in names if not n.endswith(".cu")])


def store(program, work, options, nvcc=None):
    """Writes the identity variants of all sources; "" or why not."""
    flags = ["-O2", "--cuda-gpu-arch=sm_90"] + program["flags"]
    for number, source in enumerate(sources_of(program)[0]):
        command = [options.build + "/bin/identity-store", source, "--store",
                   work + "/store"]
        if nvcc:
            ptx = "%s/%d.ptx" % (work, number)
            status, _, err = run(
                [a for a in nvcc if a != "-c"]
                + ["-ptx", source, "-o", ptx], program["path"])
            if status == 0:
                command += ["--ptx", ptx, "--nvcc",
                            " ".join(nvcc + [source])]
        status, _, err = run(command + ["--"] + flags, program["path"])
        if status != 0:
            return source + ": " + reason(err)
    return ""


def on_cpu(program, options):
    build = options.build
    plugin = ["-fplugin=" + build + "/lib/cupilot.so",
              "-fplugin-arg-cupilot-store="]
    with tempfile.TemporaryDirectory(prefix="identity") as work:
        why = store(program, work, options)
        if why:
            return "no store: " + why
        cuda, others = sources_of(program)
        for kind in ("plain", "identity"):
            command = [build + "/bin/cupilot-cpucc", "-O2", "-w"] \
                + program["flags"] + cuda + others \
                + ["-o", work + "/" + kind, "-lm"]
            if kind == "identity":
                command += [plugin[0], plugin[1] + work + "/store"]
            status, _, err = run(command, program["path"])
            if status != 0:
                return "%s does not build: %s" % (kind, reason(err))
        outputs = []
        for kind in ("plain", "identity", "plain"):
            if len(outputs) == 2 and outputs[0][:3] == outputs[1][:3]:
                break
            # One name for both: programs print it.
            program_link = work + "/program"
            if os.path.lexists(program_link):
                os.remove(program_link)
            os.symlink(kind, program_link)
            env = dict(os.environ, CUPILOT_RUNTIME="stats")
            status, out, err = run(
                ["bash", "-c", "ulimit -t %d; exec %s %s" % (
                    options.limit, program_link, program["arguments"])],
                program["path"], options.limit * 15, env)
            if status in (-1, 137, -9, 152, -24):
                return "time out (%s)" % kind
            outputs.append((status, masked(out), masked(err), err))
        plain, other = outputs[:2]
        launches = sum(int(n) for n in re.findall(
            r"cupilot: (\d+) launches of (?!originals)", other[3]))
        kept = sum(int(n) for n in re.findall(
            r"cupilot: (\d+) launches of originals", other[3]))
        told = ", launches of variants %d, of originals in their place %d" \
            % (launches, kept)
        if plain[:3] == other[:3]:
            return "same, exit status %d%s" % (plain[0], told)
        # A program that is not the same twice says nothing.
        if plain[:3] != outputs[2][:3]:
            return "differs from run to run by itself" + told
        lines = [l for n in (1, 2) for pair in zip(plain[n], other[n])
                 if pair[0] != pair[1] for l in pair][:2]
        return "OTHER: status %d and %d, %s%s" % (
            plain[0], other[0], " / ".join(lines)[:200], told)


def for_gpu(program, options):
    """Builds the four programs; what was built."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", program["name"].split("/", 1)[1])
    base = options.folder + "/bin/" + name
    flags = program["flags"]
    cuda, others = sources_of(program)
    nvcc = [options.cuda + "/bin/nvcc", "-w", "-O2", "-arch=sm_90"] + flags \
        + ["-c"]
    clang = [options.clang, "-w", "-Wno-unknown-cuda-version", "-O2",
             "--cuda-gpu-arch=sm_90", "--cuda-path=" + options.cuda,
             "-isystem", options.cuda + "/include",
             "-I" + options.cuda + "/include/cccl"] + flags + ["-c"]
    link = ["c++", "-s", "-L" + options.cuda + "/lib64", "-lcudart", "-lm",
            "-lpthread", "-ldl"]
    argument = "-fplugin-arg-cupilot-store="
    told = []
    with tempfile.TemporaryDirectory(prefix="identity") as work:
        why = store(program, work, options, nvcc)
        if why:
            return "no store: " + why
        own = [argument + work + "/store"]
        kinds = {
            "clang": clang,
            "clang+identity": clang + ["-fplugin=" + options.build
                                       + "/lib/cupilot.so"] + own,
            "nvcc": nvcc,
            "nvcc+identity": [options.build + "/bin/cupilot-launch"] + nvcc
            + own}
        for kind, command in kinds.items():
            objects, status = [], 0
            for number, source in enumerate(cuda + others):
                objects.append("%s/%s.%d.o" % (work, kind, number))
                if source in others and not kind.startswith("nvcc"):
                    command = ["c++", "-w", "-O2", "-c",
                               "-I" + options.cuda + "/include"] + flags
                status, _, err = run(command + [source, "-o", objects[-1]],
                                     program["path"])
                if status != 0:
                    break
            if status == 0:
                status, _, err = run(link[:2] + objects + link[2:]
                                     + ["-o", base + "." + kind],
                                     program["path"])
            told.append(kind if status == 0 else "%s fails: %s"
                        % (kind, reason(err)))
    with open(base + ".args", "w", encoding="utf-8") as args:
        args.write(program["arguments"] + "\n")
    return ", ".join(told)


def main():
    parser = public_units.tool_options("public-programs.txt", limit=60)
    parser.add_argument("mode", choices=("cpu", "gpu"))
    parser.add_argument("places", nargs="+")
    parser.add_argument("--results", default="public-identity.txt")
    parser.add_argument("--most", type=int, default=10 ** 6)
    options = parser.parse_args()
    options.build = os.path.realpath(options.build)
    if options.mode == "gpu":
        options.folder = os.path.abspath(options.places.pop(0))
        os.makedirs(options.folder + "/bin", exist_ok=True)
        os.makedirs(options.folder + "/lib", exist_ok=True)
        with open(options.folder + "/run.sh", "w", encoding="utf-8") as script:
            script.write(RUN)
        os.chmod(options.folder + "/run.sh", 0o755)
        for library in ("libstdc++.so.6", "libgcc_s.so.1"):
            _, path, _ = run(["c++", "-print-file-name=" + library], ".")
            shutil.copy(path.strip(), options.folder + "/lib/" + library)
    if not options.places:
        parser.error("no checkouts")
    checkouts, names = options.places[0], options.places[1:]
    done = {}
    if os.path.exists(options.results):
        for line in open(options.results, encoding="utf-8"):
            name, _, verdict = line.rstrip("\n").partition(": ")
            done[name] = verdict
    programs = [p for p in read_list(options.list)
                if not names or any(n in p["name"] for n in names)]
    bad = 0
    for program in programs[:options.most]:
        program["path"] = os.path.abspath(checkouts + "/" + program["folder"])
        if program["name"] not in done:
            verdict = (on_cpu if options.mode == "cpu" else for_gpu)(
                program, options)
            done[program["name"]] = verdict
            with open(options.results, "a", encoding="utf-8") as results:
                results.write("%s: %s\n" % (program["name"], verdict))
        bad += not done[program["name"]].startswith(
            "same" if options.mode == "cpu" else "clang,")
    if options.mode == "cpu":
        print("%d programs; the same %d, other %d, not compared %d" % (
            len(done), sum(v.startswith("same") for v in done.values()),
            sum(v.startswith("OTHER") for v in done.values()),
            sum(not v.startswith(("same", "OTHER")) for v in done.values())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
