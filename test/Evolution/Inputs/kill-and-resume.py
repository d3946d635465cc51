# Runs a search and kills it whenever the journal has come so far:
#   kill-and-resume.py STORE STATES -- COMMAND
# STATES are "3" (so many candidates), "g1" (so many generations) or "store"
# (the kernel's folder in the store is there), by commas. After the last kill
# the search is resumed to its end.
import os
import signal
import sqlite3
import subprocess
import sys
import time

store, states, command = sys.argv[1], sys.argv[2].split(","), sys.argv[4:]
journal = os.path.join(store, "journal.sqlite")


def count(table):
    try:
        with sqlite3.connect(f"file:{journal}?mode=ro", uri=True, timeout=5) as db:
            return db.execute(f"select count(*) from {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # Not there yet.


def reached(state):
    if state == "store":
        return os.path.isdir(os.path.join(store, "kernels"))
    if state[0] == "g":
        return count("generation") >= int(state[1:])
    return count("candidate") >= int(state)


for number, state in enumerate(states):
    resume = ["--resume"] if number else []
    split = command.index("--")
    search = subprocess.Popen(command[:split] + resume + command[split:],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while search.poll() is None and not reached(state):
        time.sleep(0.002)
    search.send_signal(signal.SIGKILL)
    status = search.wait()
    print(f"{state}: {'killed' if status == -signal.SIGKILL else status} "
          f"with {count('candidate')} candidates, {count('generation')} generations")
    # What a killed writer holds is given back, and readers see a whole store.
    if os.path.exists(os.path.join(store, "FORMAT")):
        subprocess.run(["cupilot", "store", "list", "--store", store], check=True,
                       stdout=subprocess.DEVNULL)
split = command.index("--")
sys.exit(subprocess.run(command[:split] + ["--resume"] + command[split:]).returncode)
