#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""prepare.py BUILD FOLDER [NAME...]: variants, counts and cubins of plan.py's kernels, into FOLDER.
prepare.py --remodel BUILD FOLDER: the model's times for the counts in FOLDER, anew.

What is there already stays. No GPU is needed."""
import concurrent.futures
import os
import subprocess
import sys

import plan

HERE = os.path.dirname(os.path.abspath(__file__))


def make(build, folder, name, kernel, workload, genomes, known=""):
    out = os.path.join(folder, name)
    if os.path.exists(out + ".json"):
        return True
    # CUDA's headers cost more than all the rest; tensor cores need them.
    small = [] if kernel == "tensor" else ["-nocudainc", "-DCALIBRATION_SMALL"]
    source = os.path.join(HERE, "judging.cu" if name in plan.JUDGING else "kernels.cu")
    command = [os.path.join(build, "bin/calibration-variants"), source, f"--kernel={kernel}", f"--workload={workload}", f"--out={out}",
               f"--genomes={'; '.join(genomes)}", f"--class={known}", "--", "-O2", *small]
    done = subprocess.run(command, env={**os.environ, "CPLUS_INCLUDE_PATH": HERE}, capture_output=True, text=True, start_new_session=True)
    print(name + "\n" + done.stderr, end="", flush=True)
    return done.returncode == 0


def remodel(build, folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            subprocess.run([os.path.join(build, "bin/calibration-variants"), f"--remodel={os.path.join(folder, name)}"], check=True)


def main():
    if sys.argv[1] == "--remodel":
        return remodel(*sys.argv[2:4])
    build, folder, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    work = [(n, n, w, g, plan.CLASSES.get(n, "")) for part in (plan.CHOOSING, plan.JUDGING) for n, (w, g) in part.items()]
    work = [(n, k, w, [], c) for n, (c, k, w) in plan.KNOWN.items()] + work
    work = [w for w in work if not only or w[0] in only]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        fine = list(pool.map(lambda w: make(build, folder, *w), work))
    failed = [w[0] for w, f in zip(work, fine) if not f]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


main()
