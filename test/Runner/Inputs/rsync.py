#!/usr/bin/env python3
# rsync -a FROM/ TO/ where one of them is there:PATH.
import os
import shutil
import sys

assert sys.argv[1] == "-a" and len(sys.argv) == 4, sys.argv
source, target = (os.environ["CUPILOT_TEST_THERE"] + "/" + p[6:] if p.startswith("there:") else p for p in sys.argv[2:])
assert source.endswith("/") and target.endswith("/")
shutil.copytree(source, target, dirs_exist_ok=True)
