# Kills a search whenever so many answers of models lie in its recording:
#   kill-models.py FOLDER COUNTS LOG -- COMMAND
# and resumes it, at last to its end. LOG has a line for each call of a search
# that was not killed: the last part must make those calls alone that nobody
# answered before.
import os
import signal
import subprocess
import sys
import time

folder, counts, whole, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3], sys.argv[5:]


def answers():
    return len([f for f in os.listdir(folder) if f.endswith(".json")]) if os.path.isdir(folder) else 0


def lines(path):
    with open(path) as f:
        return len(f.readlines())


split = len(command) - 1 - command[::-1].index("--")
for number, count in enumerate(counts):
    resume = ["--resume"] if number else []
    search = subprocess.Popen(command[:split] + resume + command[split:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while search.poll() is None and answers() < int(count):
        time.sleep(0.002)
    search.send_signal(signal.SIGKILL)
    status = search.wait()
    time.sleep(0.5)  # Commands that it had started.
    print(f"{count}: {'killed' if status == -signal.SIGKILL else status} with {answers()} answers")
before = answers()
os.environ["LOG"] = "last"
open("last", "w").close()
status = subprocess.run(command[:split] + ["--resume"] + command[split:]).returncode
again = before + lines("last") - lines(whole)
print("asked again:", again or "none")
sys.exit(status)
