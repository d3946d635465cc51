# work.py SLURM-WORK FOLDER: pieces of work on a real cluster, and what
# can happen to them.
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from cluster import Cluster

PIECE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "piece.py")


# Who runs in the background may have been told to ignore them.
def heeds_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Work:
    def __init__(self, cluster, root, name, pieces, plan={}, seconds=0, options="settle=1", tool=None):
        self.cluster, self.name, self.pieces, self.options = cluster, name, pieces, options
        self.tool = tool or sys.argv[1]
        self.folder = os.path.join(root, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        for part in ("results", "started"):
            os.makedirs(os.path.join(self.folder, part))
        self.plan(plan, seconds)

    def plan(self, plan, seconds=0):
        with open(os.path.join(self.folder, "plan.json"), "w") as file:
            json.dump({"seconds": seconds, "pieces": plan}, file)

    def start(self):
        log = open(os.path.join(self.folder, "log"), "w")
        return subprocess.Popen([self.tool, self.folder, str(self.pieces), self.options, PIECE],
                                stderr=log, env=self.cluster.environment, preexec_fn=heeds_interrupts)

    def run(self):
        return self.start().wait()

    def log(self):
        with open(os.path.join(self.folder, "log")) as file:
            return file.read()

    def results(self):
        return sorted((n for n in os.listdir(os.path.join(self.folder, "results")) if "." not in n), key=int)

    def attempts(self, piece):
        try:
            with open(os.path.join(self.folder, "started", str(piece))) as file:
                return [line.split() for line in file]
        except FileNotFoundError:
            return []

    def finished(self):
        with open(os.path.join(self.folder, "finished")) as file:
            return sorted(file.read().split(), key=int)

    def check(self, status=0):
        expected = [str(n) for n in range(self.pieces)]
        ended = self.status == status and (status or self.results() == expected and self.finished() == expected)
        if not ended:
            sys.exit(f"{self.name}: status {self.status}, results {self.results()}, finished {self.finished()}\n"
                     + self.log() + self.cluster.logs())
        # What is left is cancelled by another process, which needs a moment.
        self.cluster.wait_for(lambda: not self.cluster.queue())
        print(f"{self.name}: status {status}, {len(self.results())} of {self.pieces} result(s)", flush=True)


def ends(cluster, root):
    # Tasks that end in each way that a task can, and come to their results.
    plan = {"1": ["fail", "result"], "2": ["kill", "result"], "3": ["cancel", "result"], "4": ["requeue", "result"],
            "5": ["lie", "result"], "6": ["fail", "cancel", "result"]}
    work = Work(cluster, root, "ends", 9, plan)
    work.status = work.run()
    work.check()
    print(work.log())
    print("attempts:", [len(work.attempts(n)) for n in range(9)])


def fails(cluster, root):
    # A piece that fails whatever one tries: the others get their results first.
    work = Work(cluster, root, "fails", 4, {"2": ["fail"]}, options="settle=1,attempts=2")
    work.status = work.run()
    work.check(3)
    print(work.log())
    work.plan({})
    work.status = work.run()
    work.check()


def packed(cluster, root):
    # Several pieces in a task: what it did counts when it is cancelled; what failed is a task of its own then.
    work = Work(cluster, root, "packed", 7, {"1": ["cancel", "result"], "3": ["fail", "result"]}, options="settle=1,per-task=3")
    work.status = work.run()
    work.check()
    print("attempts:", [len(work.attempts(n)) for n in range(7)])
    with open(os.path.join(work.folder, "slurm", "0.list")) as file:
        print("tasks:", file.read().split("\n"))
    # As the engine packs them where nobody says how: the last tasks are small.
    work = Work(cluster, root, "guided", 24)
    work.status = work.run()
    work.check()
    with open(os.path.join(work.folder, "slurm", "0.list")) as file:
        print("pieces:", [len(line.split()) for line in file])


def twice(cluster, root):
    # sbatch does not say that it took the first job: its pieces are sent again while they are worked on. Whoever comes
    # second does not end, and is not needed.
    path = os.path.join(root, "bin")
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "sbatch"), "w") as file:
        file.write(f'#!/bin/sh\n{shutil.which("sbatch")} "$@" || exit\n[ "$1" != --parsable ] || [ -e {path}/said ] && exit\n'
                   f': > {path}/said\necho no answer >&2\nexit 1\n')
    os.chmod(os.path.join(path, "sbatch"), 0o755)
    work = Work(cluster, root, "twice", 2, {"0": ["result", "hang"], "1": ["result", "hang"]}, seconds=4, options="settle=1,gres=none")
    usual = cluster.environment
    cluster.environment = {**usual, "PATH": path + ":" + os.environ["PATH"]}
    work.status = work.run()
    cluster.environment = usual
    work.check()
    print("attempts:", [len(work.attempts(n)) for n in range(2)])


def interrupted(cluster, root):
    # Ctrl-C, and a signal that nobody can catch: nothing stays in the queue, and what there is goes on. The last pieces do
    # not end, so that there is something to interrupt.
    work = Work(cluster, root, "interrupted", 12, {"10": ["hang"], "11": ["hang"]}, seconds=1)
    for how in (signal.SIGINT, signal.SIGKILL):
        process = work.start()
        before = len(work.results())
        cluster.wait_for(lambda: len(work.results()) > before)
        process.send_signal(how)
        print("interrupted:", process.wait())
        cluster.wait_for(lambda: not cluster.queue())
    work.plan({})
    work.status = work.run()
    work.check()


def restarted(cluster, root):
    # slurmctld goes and comes back, and loses a node on the way.
    work = Work(cluster, root, "restarted", 8, {"3": ["hang", "result"]}, seconds=1)
    process = work.start()
    cluster.wait_for(lambda: work.attempts(3))
    node = work.attempts(3)[0][0]
    cluster.stop("slurmctld")
    time.sleep(2)
    cluster.start_controller(again=True)
    cluster.stop(node, signal.SIGKILL)
    os.kill(int(work.attempts(3)[0][1]), signal.SIGKILL)
    cluster.wait_for(lambda: len(work.attempts(3)) > 1)
    work.status = process.wait()
    work.check()
    cluster.start_node(node)
    cluster.wait_for(lambda: len(cluster.idle()) == len(cluster.names))


def refused(cluster, root):
    # What Slurm never takes is said at once; what it takes later is waited for.
    for name, options in (("unknown", "partition=nowhere"), ("unfit", "gres=gpu:7")):
        work = Work(cluster, root, name, 2, options=options)
        # At once is before its patience (600 s) ends.
        assert work.start().wait(300) == 3
        print(f"{name}:", work.log())
    work = Work(cluster, root, "full", 6)
    work.status = work.run()
    work.check()
    jobs = [n for n in os.listdir(os.path.join(work.folder, "slurm")) if n.endswith(".sh")]
    assert len(jobs) > 2, jobs


if __name__ == "__main__":
    with Cluster(2) as cluster:
        for scenario in (ends, fails, packed, twice, interrupted, restarted):
            scenario(cluster, sys.argv[2])
    # Arrays of 2 tasks at most: larger ones are not taken, as where a queue is full.
    with Cluster(1, settings="MaxArraySize=2") as cluster:
        refused(cluster, sys.argv[2])
