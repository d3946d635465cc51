"""Every command's help: its usage, its options with a description each, its examples, and no line above 100 columns."""
import re
import subprocess


def text(*args):
    done = subprocess.run(["cupilot", *args, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, (args, done)
    return done.stdout


overview = text()
commands = re.findall(r"^  (\w+) +\S", overview.split("commands:\n")[1].split("\n\n")[0], re.M)
for command in commands:
    help = text(command)
    assert help.startswith(f"usage: cupilot {command} [OPTIONS]"), help
    for line in help.splitlines():
        assert len(line) <= 100, (command, line)
    # An option's description stands beside it, or in the next line.
    options, examples = help.split("\nexamples:\n")
    assert re.match(rf"  cupilot {command}\b", examples), (command, examples)
    listed = re.findall(r"^  (--?\w\S*)(?: \S+)?(?:  +|\n +)(\S.*)$", options, re.M)
    named = re.findall(r"^  (--?\w\S*)", options, re.M)
    assert named and [name for name, _ in listed] == named, (command, named, listed)
print(len(commands), "commands")
