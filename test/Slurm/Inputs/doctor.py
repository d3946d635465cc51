# doctor.py RUNNER: what cupilot doctor says of a cluster whose nodes differ: n1
# works, n2 does not see the folder, n3 has an older cuPilot, n4's clock is an
# hour ahead, n5 is drained.
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cluster import Cluster

folder = os.path.join(os.getcwd(), "shared")
os.makedirs(folder, exist_ok=True)


def doctor(environment, options):
    done = subprocess.run(["cupilot", "doctor", "--device", "slurm:" + options], capture_output=True, text=True, env=environment)
    print(done.stdout + done.stderr + f"status {done.returncode}", flush=True)


usual = f"folder={folder},settle=1,prefix={os.getcwd()}/node"
hidden = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none {folder} && exec "$@"', "_"]
closed = "EnforcePartLimits=ALL\nPartitionName=closed Nodes=ALL AllowAccounts=others"
with Cluster(5, {"n2": hidden} if os.geteuid() == 0 else {}, closed) as cluster:
    environment = {**cluster.environment, "CUPILOT_TEST_RUNNER": sys.argv[1], "CUPILOT_TEST_OLD_NODE": "n3",
                   "PATH": os.getcwd() + "/clock:" + os.environ["PATH"]}
    subprocess.run(["scontrol", "update", "nodename=n5", "state=drain", "reason=test"], env=environment, check=True)
    doctor(environment, usual)
    cluster.wait_for(lambda: not cluster.queue())
    doctor(environment, usual + ",nodes=n1")
    subprocess.run(["scontrol", "update", "nodename=n1", "availablefeatures=fast", "activefeatures=fast"], env=environment, check=True)
    doctor(environment, usual + ",constraint=fast")
    doctor(environment, usual + ",partition=nowhere")
    doctor(environment, usual + ",partition=closed")
    doctor(environment, usual + ",account=nobody,time=nonsense")
    doctor(environment, "folder=/proc/no/such")
    # The cluster's commands are on the path, and nobody answers.
    cluster.stop("slurmctld")
    doctor({**environment, "SLURM_CONF": cluster.environment["SLURM_CONF"]}, usual)
doctor({**os.environ, "PATH": sys.argv[2]}, usual)
