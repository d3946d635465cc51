#!/usr/bin/env python3
# Runs the program as compute-sanitizer does, and finds an error with memcheck, or
# SANITIZER_TOOL; where SANITIZER_GRID is given, only in launches of so many blocks
# ("1,2").
import json
import os
import subprocess
import sys

tool, code, command = sys.argv[2], int(sys.argv[4]), sys.argv[5:]
assert sys.argv[1] == "--tool" and sys.argv[3] == "--error-exitcode" and "--replay" in command
subprocess.run(command, check=True)
print("========= COMPUTE-SANITIZER")
grid = json.load(open(command[-1]))["program"]["launches"][0]["grid"][0]
if tool == os.environ.get("SANITIZER_TOOL", "memcheck") and str(grid) in os.environ.get("SANITIZER_GRID", str(grid)).split(","):
    print("========= Invalid __global__ write of size 4 bytes\n=========     at add+0x80")
    sys.exit(code)
