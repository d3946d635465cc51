#!/bin/sh
# Answers the Prophet's prompt; complains when it is none.
grep -q 'Roofline Prophet' || { echo "no prompt came" >&2; exit 1; }
echo 'The kernel reads little. ```json'
echo '{"class": "memory", "moved": false, "reason": "91 % of DRAM", "metrics": ["dram"], "strategies": ["vectorized_access"], "stop": true,}'
echo '```'
