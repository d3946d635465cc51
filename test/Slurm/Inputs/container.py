# container.py COMMAND...: what cupilot doctor says of a container on a cluster
# of one node, where it is, where the image is not, and where there is no
# Apptainer; and a search in it.
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cluster import Cluster

command = sys.argv[1:]
at = command.index("--")
here = os.getcwd()
with Cluster(1) as cluster:
    environment = {**cluster.environment, "PATH": here + "/programs:" + os.environ["PATH"], "CUPILOT_TEST_HIDDEN": here}

    def run(name, *words, environment=environment):
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        print(f"{name}: status {done.returncode}\n" + done.stdout + done.stderr, flush=True)
        cluster.wait_for(lambda: not cluster.queue())

    usual = f"slurm:folder={here}/shared,settle=1,container={here}/"
    run("there", "cupilot", "doctor", "--device", usual + "image")
    run("missing", "cupilot", "doctor", "--device", usual + "other")
    run("none", "cupilot", "doctor", "--device", usual + "image", environment=cluster.environment)
    run("search", *command[:at], "--device", usual + "image", *command[at:])
