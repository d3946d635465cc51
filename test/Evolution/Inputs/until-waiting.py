"""usage: until-waiting.py COMMAND...

Prints which batch a search waits for, and ends the search."""
import re
import subprocess
import sys

search = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True)
for line in search.stderr:
    if found := re.search(r"waiting for its results: cupilot-runner (\S+)", line):
        print(found[1])
        break
    if "error:" in line:
        print(line, end="")
search.kill()
