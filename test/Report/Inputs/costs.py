#!/usr/bin/env python3
"""Compares what a report says models cost with what the search said: costs.py REPORT.html SEARCH.out"""
import re
import sys

page, out = (open(path).read() for path in sys.argv[1:])
table = re.search(r'<table class="asked">(.*?)</table>', page, re.S).group(1)
rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table)[1:]]
*parts, total = ([row[0]] + [float(cell or 0) for cell in row[2:6]] for row in rows)
for part in parts:
    if not part[0].startswith("v_"):
        print(f"{part[0]}: {part[1]:.0f} calls")
for column, name in enumerate(("calls", "tokens asked", "tokens answered", "cost"), 1):
    added = sum(part[column] for part in parts)
    # Costs are shown to four places.
    if abs(added - total[column]) > 6e-5 * len(parts):
        sys.exit(f"{name}: the rows add up to {added}, the last says {total[column]}")
said = re.search(r"(\d+) calls, (\d+) \+ (\d+) tokens(?:, cost ([0-9.]+))?", out)
if [float(each or 0) for each in said.groups()] != total[1:]:
    sys.exit(f"the search says {said.group(0)}, the report {total[1:]}")
print("the sum is what the search said:", said.group(0))
