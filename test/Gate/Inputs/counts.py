"""Compares the counts of docs/Gate.md, "What finds which fault", with the
directives in the files: counts.py DOC FOLDER."""

import pathlib
import re
import sys

doc, folder = sys.argv[1:]
text = pathlib.Path(doc).read_text()
table = text.split("## What finds which fault")[1].split("\n## ")[0]
said = {}
for name, wrong, right in re.findall(r"([\w-]+\.cu) (\d+), (\d+)", table):
    if name in said:
        sys.exit(f"{name} is counted twice")
    said[name] = int(wrong), int(right)
held = {}
for path in pathlib.Path(folder).glob("*.cu"):
    words = re.findall(r"^// (\w+): ", path.read_text(), re.M)
    held[path.name] = (words.count("cheat") + words.count("bounded"), words.count("honest"))
for name in sorted(said.keys() | held.keys()):
    if said.get(name) != held.get(name):
        print(f"{name}: the table says {said.get(name)}, the file has {held.get(name)} (wrong, right)")
# What no test names is judged by nobody.
tests = "".join(p.read_text() for p in pathlib.Path(folder).parent.glob("*.test"))
for name in sorted(held):
    if f"Escapes/{name}" not in tests:
        print(f"{name}: no test judges it")
print(f"{len(held)} files compared")
