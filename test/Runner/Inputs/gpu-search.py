# gpu-search.py SPOOL LOG RUNNER... -- COMMAND...: a search whose batches are
# worked through beside it. It is killed while it waits for its first batch, and
# again when it has asked for a second one; then it is resumed to its end.
import glob
import os
import signal
import subprocess
import sys
import time

spool, log = sys.argv[1:3]
split = sys.argv.index("--")
runner, command = sys.argv[3:split], sys.argv[split + 1:]


def batches():
    return sorted(glob.glob(f"{spool}/batch-*/batch.json"), key=os.path.getmtime)


def start(*more):
    at = command.index("--")
    return subprocess.Popen(command[:at] + list(more) + command[at:], stderr=open(log, "a"))


def wait_for(search, condition):
    deadline = time.time() + 250
    while search.poll() is None and not condition():
        assert time.time() < deadline, "nothing happened"
        time.sleep(0.05)


def kill(search, when):
    status = search.poll()
    search.send_signal(signal.SIGKILL)
    search.wait()
    print(f"{when}: {'killed' if status is None else f'ended with {status}'}, {len(batches())} batch(es)")


def work(done):
    for path in batches():
        if path not in done:
            done.add(path)
            subprocess.run(runner + [os.path.dirname(path)], stderr=subprocess.DEVNULL)


search = start()
wait_for(search, lambda: batches())
time.sleep(0.3)
kill(search, "waiting")
done = set()
search = start("--resume")
work(done)
wait_for(search, lambda: len(batches()) > 1)
kill(search, "asked again")
search = start("--resume")
while search.poll() is None:
    work(done)
    time.sleep(0.05)
print(f"ended with {search.poll()}, {len(done)} batches")
sys.exit(search.poll())
