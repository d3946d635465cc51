#!/usr/bin/env python3
# piece.py FOLDER PIECE: makes the result of a piece, after what FOLDER/plan.json
# says of it: for each attempt a word. The last word holds for later ones.
#
#   result   renames the result into place
#   fail     ends with status 1
#   lie      ends with status 0 without a result
#   kill     dies by a signal, as by too much memory
#   cancel   is cancelled from outside
#   requeue  is requeued
#   hang     does not end
import json
import os
import signal
import subprocess
import sys
import time

folder, piece = sys.argv[1:]
with open(os.path.join(folder, "plan.json")) as file:
    plan = json.load(file)
# As cupilot-runner does: what a requeued task has done is not done again.
if os.path.exists(os.path.join(folder, "results", piece)):
    sys.exit(0)
started = os.path.join(folder, "started", piece)
with open(started, "a") as file:
    file.write(f"{os.environ['SLURMD_NODENAME']} {os.getpid()}\n")
with open(started) as file:
    attempt = len(file.readlines())
words = plan["pieces"].get(piece, ["result"])
word = words[min(attempt, len(words)) - 1]
time.sleep(plan["seconds"])
task = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
if word == "result":
    new = os.path.join(folder, "results", f"{piece}.{os.getpid()}")
    with open(new, "w") as file:
        file.write(f"piece {piece}\n")
    os.rename(new, os.path.join(folder, "results", piece))
    with open(os.path.join(folder, "finished"), "a") as file:
        file.write(f"{piece}\n")
elif word == "fail":
    print("no reason at all")
    sys.exit(1)
elif word == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif word in ("cancel", "requeue"):
    subprocess.run(["scancel", task] if word == "cancel" else ["scontrol", "requeue", task], check=True)
    time.sleep(600)
elif word == "hang":
    time.sleep(600)
