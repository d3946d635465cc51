#!/usr/bin/env python3
"""Holds the includes of lib and include against the table of docs/Architecture.md.

usage: picture.py ROOT

Each row of the table "Parts" names a folder of lib and the folders whose headers
it includes. An include that the table does not have, a use that no include
needs, a folder without a row, and a cycle are errors.
"""
import os
import re
import sys

ROW = re.compile(r"^\| `(\w+)` \|.*\|([^|]*)\|\s*$")
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]cupilot/(\w+)/')
RELATIVE = re.compile(r'^\s*#\s*include\s+"(?:\.\./)+(\w+)/')


def table(root):
    rows, inside = {}, False
    with open(os.path.join(root, "docs", "Architecture.md"), encoding="utf-8") as page:
        for line in page:
            if line.startswith("## "):
                inside = line.strip() == "## Parts"
            row = ROW.match(line)
            if inside and row:
                rows[row.group(1)] = set(re.findall(r"`(\w+)`", row.group(2)))
    return rows


def sources(folder):
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".cpp", ".c", ".h", ".td", ".def", ".inc")):
                yield os.path.join(path, name)


def includes(root, part):
    """Folder of cupilot/ -> "file:line" of the first include of it."""
    found = {}
    for folder in (os.path.join(root, "lib", part), os.path.join(root, "include", "cupilot", part)):
        for path in sources(folder):
            with open(path, encoding="utf-8") as text:
                for number, line in enumerate(text, 1):
                    match = INCLUDE.match(line) or RELATIVE.match(line)
                    if match and match.group(1) != part and os.path.isdir(os.path.join(root, "lib", match.group(1))):
                        found.setdefault(match.group(1), f"{os.path.relpath(path, root)}:{number}")
    return found


def cycle(graph):
    """A cycle of \\p graph as a list of parts, or nothing."""
    done = set()

    def walk(part, way):
        if part in way:
            return way[way.index(part):] + [part]
        if part in done:
            return None
        for use in sorted(graph.get(part, ())):
            if found := walk(use, way + [part]):
                return found
        done.add(part)
        return None

    for part in sorted(graph):
        if found := walk(part, []):
            return found
    return None


def main(root):
    rows, errors = table(root), []
    folders = {name for name in os.listdir(os.path.join(root, "lib"))
               if os.path.isdir(os.path.join(root, "lib", name))}
    if not rows:
        errors.append("docs/Architecture.md: error: no table under '## Parts'")
    errors += [f"docs/Architecture.md: error: lib/{name} has no row" for name in sorted(folders - rows.keys())]
    errors += [f"docs/Architecture.md: error: there is no lib/{name}" for name in sorted(rows.keys() - folders)]
    graph = {}
    for part in sorted(folders & rows.keys()):
        found = includes(root, part)
        graph[part] = set(found)
        errors += [f"{where}: error: {part} includes {use}, which the table does not allow"
                   for use, where in sorted(found.items()) if use not in rows[part]]
        errors += [f"docs/Architecture.md: error: {part} is said to use {use}, and includes nothing of it"
                   for use in sorted(rows[part] - set(found))]
    if way := cycle(graph):
        errors.append("error: the folders form a cycle: " + " -> ".join(way))
    print("\n".join(errors) if errors else f"{len(graph)} parts, {sum(map(len, graph.values()))} arrows, no cycle")
    return 1 if errors else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
