# result.py BATCH REQUEST EXPRESSION: prints the expression over the result r of
# a request, whose name may be shortened to its beginning. (b: its second buffer.)
import glob
import json
import sys

(path,) = glob.glob(f"{sys.argv[1]}/results/{sys.argv[2]}*.json")
with open(path) as file:
    r = json.load(file)
b = r.get("buffers", [{}, {}])[1]
print(eval(sys.argv[3]))
