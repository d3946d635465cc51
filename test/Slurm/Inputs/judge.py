# judge.py COMMAND...: a search whose candidates are judged by a cluster of two
# nodes, one of which computes otherwise; one that is interrupted; one without a
# node that could judge.
import glob
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cluster import Cluster
from work import heeds_interrupts

command = sys.argv[1:]
at = command.index("--")


def start(cluster, store, options, others="n1", resume=False):
    words = command[:at] + ["--store", store, "--judge", options] + ["--resume"] * resume + command[at:]
    return subprocess.Popen(words, stderr=open(f"{os.path.dirname(store) or store}.log", "a"), stdout=subprocess.DEVNULL,
                            env={**cluster.environment, "CUPILOT_TEST_OTHER_MATH": others}, preexec_fn=heeds_interrupts)


def log(name):
    with open(f"{name}.log") as file:
        print(file.read(), flush=True)


usual = f"slurm:settle=1,cpus=2,prefix={os.getcwd()}/node"
with Cluster(2) as cluster:
    done = subprocess.run(["cupilot", "doctor", "--judge", "slurm", "--store", "there/.cupilot"], capture_output=True, text=True,
                          env={**cluster.environment, "CUPILOT_TEST_OTHER_MATH": "n1"})
    print(done.stdout + done.stderr + f"doctor: {done.returncode}", flush=True)
    cluster.wait_for(lambda: not cluster.queue())
    print("search:", start(cluster, "there/.cupilot", "slurm").wait(), flush=True)
    log("there")
    cluster.wait_for(lambda: not cluster.queue())
    killed = start(cluster, "killed", usual)
    cluster.wait_for(lambda: glob.glob("killed/journal.sqlite.batches/gate-*/*/slurm/0.list"), 120)
    killed.send_signal(signal.SIGINT)
    print("killed:", killed.wait(), flush=True)
    cluster.wait_for(lambda: not cluster.queue())
    print("resumed:", start(cluster, "killed", usual, resume=True).wait(), flush=True)
    cluster.wait_for(lambda: not cluster.queue())
    print("none:", start(cluster, "none", usual, others="n1 n2").wait(), flush=True)
    log("none")
    cluster.wait_for(lambda: not cluster.queue())
