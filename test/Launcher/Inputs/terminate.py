"""terminate.py COMMAND...: runs COMMAND, where ./nvcc is a compiler that waits for a
signal, sends SIGTERM to the launcher alone, and checks how both end."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

pathlib.Path("nvcc").write_text('''#!/bin/sh
trap 'echo ended > child; kill $!; trap - TERM; kill -TERM $$' TERM
echo started > child
sleep 60 &
wait
''')
os.chmod("nvcc", 0o755)
pathlib.Path("child").unlink(missing_ok=True)
with tempfile.TemporaryDirectory() as temporary:
    process = subprocess.Popen(sys.argv[1:], env={**os.environ, "TMPDIR": temporary})
    for _ in range(300):
        if os.path.exists("child") and pathlib.Path("child").read_text() == "started\n":
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    status = process.wait(timeout=60)
    left = os.listdir(temporary)
print("status", status, "child", pathlib.Path("child").read_text().strip(), "left", left)
sys.exit(not (status == -signal.SIGTERM and pathlib.Path("child").read_text() == "ended\n" and not left))
