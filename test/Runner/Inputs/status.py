# status.py STATUS COMMAND...: passes the command's output on, and fails unless
# it ends with that status. PATH+=FOLDER before the command goes to its path.
import os
import subprocess
import sys

command = sys.argv[2:]
if command[0].startswith("PATH+="):
    os.environ["PATH"] = command.pop(0)[6:] + os.pathsep + os.environ["PATH"]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout, end="")
if done.returncode != int(sys.argv[1]):
    sys.exit(f"status {done.returncode}")
