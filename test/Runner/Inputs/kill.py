# kill.py BATCH LOG COMMAND...: kills the runner with all it has when the kernel
# that hangs was launched.
import os
import signal
import subprocess
import sys
import time

runner = subprocess.Popen(sys.argv[3:], stderr=subprocess.DEVNULL)
deadline = time.time() + 60
while time.time() < deadline:
    if os.path.exists(sys.argv[2]) and " hangs\n" in open(sys.argv[2]).read():
        break
    time.sleep(0.01)
else:
    sys.exit("the kernel was never launched")
runner.send_signal(signal.SIGKILL)
runner.wait()
done = len([f for f in os.listdir(f"{sys.argv[1]}/results") if f.endswith(".json")])
assert done == 3, done
