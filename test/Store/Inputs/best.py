# The variant with the largest lower bound in two lists of 'cupilot store list' must be
# the first that 'cupilot explain' names.
import re
import sys

rows = [re.search(r"\b(v_[0-9a-f]{8}) +[\d.]+x +([\d.]+) to", line)
        for path in sys.argv[1:3] for line in open(path).readlines()[1:]]
best = max(float(row.group(2)) for row in rows)
names = {row.group(1) for row in rows if float(row.group(2)) == best}
first = re.search(r"variant (v_[0-9a-f]{8})", open(sys.argv[3]).read()).group(1)
assert first in names, (first, names)
