"""interrupt.py SIGNAL STORE: runs a bisection of STORE whose first test waits,
ends it by SIGNAL while the store is restricted, and prints how it ended."""

import os
import signal
import subprocess
import sys
import time

number, store = getattr(signal, sys.argv[1]), sys.argv[2]
# The second test has no variants: the store is restricted then.
command = f"if grep -q v_0_0 {store}/builds/*; then exit 1; fi; touch {store}.waiting; exec sleep 60"
bisect = subprocess.Popen(["cupilot", "bisect", "--store", store, "--", "sh", "-c", command],
                          stderr=subprocess.DEVNULL, start_new_session=True)
for _ in range(600):
    if os.path.exists(store + ".waiting"):
        break
    time.sleep(0.05)
else:
    sys.exit("the second test was not reached")
bisect.send_signal(number)
print("ended by", bisect.wait(timeout=60))
try:
    os.killpg(bisect.pid, signal.SIGKILL)  # What sleeps, after a kill.
except ProcessLookupError:
    pass
