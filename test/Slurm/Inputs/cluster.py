# A Slurm cluster of whoever runs this: slurmctld, some slurmd and munged in a
# folder of their own, all on this host; gone when the process is.
#
#   cluster.py NODES COMMAND...    runs COMMAND with the cluster's SLURM_CONF
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def tool(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    os.setsid()


def free_ports(count):
    while True:
        with contextlib.ExitStack() as held:
            try:
                first = held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
                for port in range(first + 1, first + count):
                    held.enter_context(socket.create_server(("127.0.0.1", port)))
                return first
            except (OSError, OverflowError):
                pass


class Cluster:
    # before: words before the slurmd of a node, by its name; settings: more lines of slurm.conf.
    def __init__(self, nodes, before={}, settings=""):
        # Names of sockets are short: not below the folder of the test.
        self.folder = tempfile.mkdtemp(prefix="cupilot-slurm-")
        self.names = [f"n{i + 1}" for i in range(nodes)]
        self.before = before
        self.running = {}
        at = lambda name: os.path.join(self.folder, name)
        for name in ("state", "spool", "log", "munge"):
            os.mkdir(at(name), 0o700)
        for name in self.names:
            os.mkdir(at(f"spool/{name}"))
        with open(at("munge/key"), "wb") as key:
            key.write(os.urandom(1024))
        os.chmod(at("munge/key"), 0o600)
        port = free_ports(nodes + 1)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        host = socket.gethostname().split(".")[0]
        with open(at("slurm.conf"), "w") as conf:
            conf.write(f"""ClusterName=cupilot
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={at("munge/socket")},cred_expire=5
CredType=cred/munge
SlurmctldPort={port}
SlurmctldPidFile={at("ctld.pid")}
SlurmdPidFile={at("%n.pid")}
StateSaveLocation={at("state")}
SlurmdSpoolDir={at("spool/%n")}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
GresTypes=gpu
KillWait=2
SlurmdTimeout=10
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
{settings}
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port={port + 1}-{port + nodes} CPUs=2 Gres=gpu:1
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        with open(at("gres.conf"), "w") as conf:
            for name in self.names:
                conf.write(f"NodeName={name} Name=gpu File=/dev/null\n")
        self.environment = {**os.environ, "SLURM_CONF": at("slurm.conf")}

    def start(self, name, command):
        log = open(os.path.join(self.folder, "log", name), "a")
        self.running[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              env=self.environment, preexec_fn=die_with_parent)

    def stop(self, name, how=signal.SIGTERM):
        if process := self.running.pop(name, None):
            process.send_signal(how)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start_controller(self, again=False):
        self.start("slurmctld", [tool("slurmctld"), "-D"] + ([] if again else ["-c"]))

    def start_node(self, name):
        self.start(name, self.before.get(name, []) + [tool("slurmd"), "-D", "-N", name])

    def ask(self, *command):
        return subprocess.run(command, capture_output=True, text=True, env=self.environment).stdout

    def idle(self):
        # A node is listed for each of its partitions.
        return sorted(set(self.ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split()))

    def queue(self):
        return self.ask("squeue", "-h", "-r", "-o", "%j %K %t").split("\n")[:-1]

    def wait_for(self, condition, seconds=60):
        end = time.time() + seconds
        while not condition():
            if time.time() > end:
                raise AssertionError("waited in vain\n" + self.ask("sinfo", "-N", "-l") + self.ask("squeue", "-r") + self.logs())
            time.sleep(0.1)

    def logs(self):
        text = ""
        for name in sorted(os.listdir(os.path.join(self.folder, "log"))):
            with open(os.path.join(self.folder, "log", name), errors="replace") as log:
                text += f"--- {name}\n" + "".join(log.readlines()[-15:])
        return text

    def __enter__(self):
        munge = os.path.join(self.folder, "munge")
        self.start("munged", [tool("munged"), "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                              f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--num-threads=2"])
        try:
            self.wait_for(lambda: os.path.exists(f"{munge}/socket"))
            self.start_controller()
            for name in self.names:
                self.start_node(name)
            self.wait_for(lambda: len(self.idle()) == len(self.names))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if "slurmctld" in self.running and self.queue():
            self.ask("scancel", "--me")
            with contextlib.suppress(AssertionError):
                self.wait_for(lambda: not self.queue(), 10)
        for name in reversed(list(self.running)):
            self.stop(name)
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    with Cluster(int(sys.argv[1])) as cluster:
        sys.exit(subprocess.run(sys.argv[2:], env=cluster.environment).returncode)
