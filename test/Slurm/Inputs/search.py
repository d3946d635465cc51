# search.py COMMAND...: a search on a cluster of two nodes with tasks that end
# badly, and one that is interrupted, on nodes with different GPUs.
import filecmp
import glob
import json
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cluster import Cluster
from work import heeds_interrupts

command = sys.argv[1:]
at = command.index("--")


def start(cluster, store, options, resume=False, **environment):
    words = command[:at] + ["--store", store, "--device", "slurm:" + options] + ["--resume"] * resume + command[at:]
    return subprocess.Popen(words, stderr=open(f"{store}.log", "a"), stdout=subprocess.DEVNULL,
                            env={**cluster.environment, **environment}, preexec_fn=heeds_interrupts)


def results(store):
    return glob.glob(f"{store}/journal.sqlite.batches/batch-*/results/*.json")


def cards(store):
    found = {}
    for path in results(store):
        with open(path) as file:
            name = json.load(file).get("device", {}).get("name")
            found[name] = found.get(name, 0) + 1
    return sorted(name for name in found if name)


usual = f"settle=1,prefix={os.getcwd()}/node"
with Cluster(2) as cluster:
    print("faults:", start(cluster, "faults/.cupilot", "", CUPILOT_TEST_FAULTS="1").wait(), flush=True)
    mixed = {"CUPILOT_TEST_OTHER_CARD": "n2"}
    killed = start(cluster, "killed", usual, **mixed)
    cluster.wait_for(lambda: results("killed"), 120)
    killed.send_signal(signal.SIGINT)
    print("killed:", killed.wait(), flush=True)
    cluster.wait_for(lambda: not cluster.queue())
    print("resumed:", start(cluster, "killed", usual, resume=True, **mixed).wait(), cards("killed"), flush=True)
    cluster.wait_for(lambda: not cluster.queue())
