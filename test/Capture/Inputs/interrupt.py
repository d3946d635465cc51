"""interrupt.py WORD COMMAND...: sends SIGINT to COMMAND, and to it alone, once a
line of its output holds WORD; prints its output and how it ended."""

import signal
import subprocess
import sys

run = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in run.stdout:
    print(line, end="")
    if sys.argv[1] in line:
        run.send_signal(signal.SIGINT)
print("status", run.wait(timeout=60))
