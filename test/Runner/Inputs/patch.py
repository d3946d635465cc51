# patch.py MAKE-BATCH RECIPE DIR STATEMENT: changes the recipe j and prints why
# no batch can be made of it.
import json
import os
import subprocess
import sys

with open(sys.argv[2]) as file:
    j = json.load(file)
exec(sys.argv[4])
path = sys.argv[3] + ".json"
with open(path, "w") as file:
    json.dump(j, file)
done = subprocess.run([sys.argv[1], path, sys.argv[3]], capture_output=True, text=True)
print(done.stderr, end="")
if done.returncode != 2 or os.path.exists(sys.argv[3] + "/batch.json"):
    sys.exit("it was made")
