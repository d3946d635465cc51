# kill.py BATCH LOG [--term] COMMAND...: kills the runner with all it has when the
# kernel that hangs was launched, or asks it to end.
import os
import signal
import subprocess
import sys
import time

how = signal.SIGKILL
if sys.argv[3] == "--term":
    how = signal.SIGTERM
    del sys.argv[3]
runner = subprocess.Popen(sys.argv[3:], stderr=subprocess.DEVNULL)
deadline = time.time() + 60
while time.time() < deadline:
    if os.path.exists(sys.argv[2]) and " hangs\n" in open(sys.argv[2]).read():
        break
    time.sleep(0.01)
else:
    sys.exit("the kernel was never launched")
runner.send_signal(how)
assert runner.wait() in (-signal.SIGKILL, 128 + signal.SIGTERM)
# What was begun counts as an attempt, unless the runner was asked to end.
begun = os.listdir(f"{sys.argv[1]}/attempts")
assert begun == (["r3-hangs"] if how == signal.SIGKILL else []), begun
done = len([f for f in os.listdir(f"{sys.argv[1]}/results") if f.endswith(".json")])
assert done == 3, done
