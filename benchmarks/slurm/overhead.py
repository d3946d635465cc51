# overhead.py SLURM-WORK FOLDER [PIECES [SECONDS [NODES [OPTIONS]]]]: what the
# engine that sends work to Slurm takes on top of it, with its OPTIONS, such as
# per-task=4, or as it is. The pieces sleep; one of ten fails first, in five ways: time limit, status 1, a signal, cancelled, requeued. The
# cluster is the tests' own, of real daemons on this host. On top is all time in
# which a node had no task, until the last result was seen: the engine's share,
# and what Slurm takes between two tasks.
import datetime
import os
import re
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
inputs = os.path.join(here, "..", "..", "test", "Slurm", "Inputs")
sys.path.insert(0, inputs)
sys.argv[3:] = sys.argv[3:] + ["200", "10", "4", ""][len(sys.argv) - 3:]
tool, folder = sys.argv[1:3]
pieces, seconds, nodes = map(int, sys.argv[3:6])
options = ",".join(["time=2"] + [sys.argv[6]] * bool(sys.argv[6]))  # Minutes, of a task of up to eight pieces.

from cluster import Cluster
from work import Work

ways = ["hang", "fail", "kill", "cancel", "requeue"]
plan = {str(p): [ways[p // 10 % len(ways)], "result"] for p in range(0, pieces, 10)}
os.makedirs(folder, exist_ok=True)
completions = os.path.join(os.path.abspath(folder), "completions")
if os.path.exists(completions):
    os.remove(completions)


def seconds_of_tasks():
    # What Slurm says of each task, to the second.
    total = 0
    with open(completions) as file:
        for line in file:
            start, end = (datetime.datetime.fromisoformat(re.search(f"{name}=(\\S+)", line)[1]) for name in ("StartTime", "EndTime"))
            total += (end - start).total_seconds()
    return total


with Cluster(nodes, settings=f"JobCompType=jobcomp/filetxt\nJobCompLoc={completions}") as cluster:
    work = Work(cluster, folder, "overhead", pieces, plan, seconds, options, tool)
    start = time.time()
    work.status = work.run()
    wall = time.time() - start
    work.check()
    lost = pieces - len(set(work.results()))
    twice = len(work.finished()) - len(set(work.finished()))
    busy = seconds_of_tasks()
    with open(os.path.join(work.folder, "slurm", "0.list")) as file:
        tasks = len(file.readlines())
    attempts = sum(len(work.attempts(p)) for p in range(pieces))
print(f"{pieces} pieces of {seconds} s on {nodes} nodes, {len(plan)} of which fail first ({', '.join(ways)})")
print(f"{tasks} tasks at first, {attempts} attempts, lost {lost}, twice {twice}")
print(f"wall {wall:.1f} s; tasks ran for {busy:.0f} s, {busy / nodes:.1f} s a node: {100 * (wall * nodes / busy - 1):.1f} % on top")
