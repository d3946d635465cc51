#!/usr/bin/env python3
# ssh HOST COMMAND on this machine, in a home of the test's.
import os
import subprocess
import sys

assert sys.argv[1] == "there" and len(sys.argv) == 3, sys.argv
sys.exit(subprocess.run(["sh", "-c", sys.argv[2]], cwd=os.environ["CUPILOT_TEST_THERE"]).returncode)
