# candidates.py BUILD FOLDER [POPULATION [NODES]]: a search by rules whose candidates are compared, timed and judged by a cluster
# of four nodes, while one of ten pieces fails first, in five ways: time limit, status 1, a signal, cancelled, requeued. The store
# is that of one machine, no result is lost, none is made twice. 250 variants are more than 200 candidates: some have the code of
# others. The cluster is the tests' own, of real daemons on this host; the GPUs are the tests' driver, which does not run the
# candidates' code, while the gate on the nodes does.
import glob
import json
import os
import shutil
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
tests = os.path.join(here, "..", "..", "test")
sys.path.insert(0, os.path.join(tests, "Slurm", "Inputs"))
build, folder = map(os.path.abspath, sys.argv[1:3])
population, nodes = (sys.argv[3:] + ["250", "4"][len(sys.argv) - 3:])[:2]

from cluster import Cluster

shutil.rmtree(folder, ignore_errors=True)
os.makedirs(os.path.join(folder, "node", "bin"))
os.chdir(folder)
os.environ.update({
    "PATH": f"{build}/bin:" + os.environ["PATH"], "LD_LIBRARY_PATH": f"{build}/test/Runner/fake", "CUPILOT_CACHE_DIR": f"{folder}/cache",
    "FAKE_CUDA_KERNELS": f"{folder}/kernels.txt", "CUPILOT_CUPTI": "/nonexistent", "CUPILOT_COMPUTE_SANITIZER": "/nonexistent",
    "CUPILOT_FAULTY_PROGRAMS": f"{build}/bin", "CUPILOT_FAULTY_LOG": f"{folder}/faults"})
os.mkdir("faults")
# Times of which sums are exact, so that the order of runs does not show in any digit. Only with an eighth of the threads is a
# candidate faster by more than the margin, and judged by the gate.
with open("kernels.txt", "w") as file:
    file.write("kernel _Z6addOnePKfPfi 8,8,4 add_one cost=1100 thread=0.125\n")
for name in ("cupilot", "cupilot-runner"):
    os.symlink(os.path.join(here, "faulty.sh"), f"node/bin/{name}")
shutil.copy(os.path.join(tests, "Runner", "Inputs", "add.cu"), "add.cu")
subprocess.run(["cupilot-cpucc", "-O2", "add.cu", "-o", "add"], check=True)
subprocess.run(["cupilot", "capture", "-o", "add.mlir", "--", "./add"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def search(store, *options, environment=os.environ):
    begin = time.time()
    with open(f"{store}.log", "w") as log:
        status = subprocess.run(["cupilot", "evolve", "add.cu", "--workloads", "add.mlir", "--store", store, "--population", population,
                                 "--generations", "1", "--compiler", "clang", "--large-mb=0", *options, "--", "-O2"],
                                stdout=log, stderr=log, env=environment).returncode
    print(f"{store}: status {status}, {time.time() - begin:.0f} s", flush=True)


def texts(path):
    # What journal.sqlite* holds is of the search, not of the store.
    found = {}
    for at, folders, names in os.walk(path):
        folders[:] = [n for n in folders if not n.startswith("journal.sqlite")]
        for name in names:
            if not name.startswith("journal.sqlite"):
                with open(os.path.join(at, name), "rb") as file:
                    found[os.path.relpath(os.path.join(at, name), path)] = file.read()
    return found


def lines(pattern):
    for path in glob.glob(pattern):
        with open(path, errors="replace") as file:
            yield from file


search("here", "--device", "cuda")
options = f"slurm:prefix={folder}/node,time=1"
with Cluster(int(nodes)) as cluster:
    search("there", "--judge", options, "--device", options, environment={**cluster.environment})

batches = sorted(glob.glob("there/journal.sqlite.batches/batch-*"))
asked, groups = 0, 0
for batch in batches:
    with open(f"{batch}/batch.json") as file:
        requests = json.load(file)["requests"]
    asked += len(requests)
    groups = max(groups, len({r["group"] for r in requests if "group" in r}))
results = len(glob.glob("there/journal.sqlite.batches/batch-*/results/*.json"))
# Each runner says how many results it made.
made = sum(int(line.split(": ")[1].split()[0])
           for line in lines("there/journal.sqlite.batches/batch-*/slurm/*.log") if " evaluated, " in line)
candidates = len(glob.glob("there/journal.sqlite.batches/gate-*/*/[0-9]*.json"))
verdicts = len(glob.glob("there/journal.sqlite.batches/gate-*/*/*.verdict"))
judged = sum(1 for _ in lines("faults/judged"))
faults = {}
for name in os.listdir("faults"):
    if name.endswith(".failed"):
        with open(f"faults/{name}/how") as file:
            how = file.read().strip()
        faults[how] = faults.get(how, 0) + 1
print(f"card: {groups} candidates, {asked} requests, {results} results, made {made} times")
print(f"gate: {candidates} candidates, {verdicts} verdicts, made {judged} times")
print(f"pieces that failed first: {sum(faults.values())}, {faults}")
ours, its = texts("here"), texts("there")
same = ours == its
print("the same store" if same else f"OTHER STORES: {sorted(n for n in {*ours, *its} if ours.get(n) != its.get(n))}", f"of {len(ours)} files")
sys.exit(not (same and asked == results == made and candidates == verdicts == judged))
