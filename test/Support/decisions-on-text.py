#!/usr/bin/env python3
"""Finds decisions that are taken on text: comparisons of outcomes, reasons and
faults with literals, and of anything with a word of a table of reasons.

usage: decisions-on-text.py ROOT ALLOWED | --self-test

ALLOWED has an entry a line, "PATH: TEXT: why it may stay"; an entry covers the
findings in PATH whose source holds TEXT. An entry that covers none is an
error, as a finding that no entry covers."""
import pathlib
import re
import sys
import tempfile

# The last word of a variable's or member's name, as "reason" of "GateReason".
NAMES = ("outcome reason why verdict fault failure status kind remark refusal "
         "message finding basis compiler half mode").split()
KEYS = "outcome|reason|kind|verdict|fault|status|basis|message"
LITERAL = r'"(?:[^"\\]|\\.)*"'
PREFIX = ("starts_with|ends_with|contains|contains_insensitive|equals_insensitive"
          "|consume_front|consume_back|find")
NAME = r"\b(\w+)(?:\(\))?"
JSON = (r'(?:getString\("(?:%s)"\)(?:\s*\.value_or\([^()]*\))?'
        r'|\.value\("(?:%s)",[^()]*\)|\["(?:%s)"\])' % (KEYS, KEYS, KEYS))
COMPARISONS = [
    re.compile(NAME + r"\s*[!=]=\s*" + LITERAL),
    re.compile(LITERAL + r"\s*[!=]=\s*(?:\w+(?:\.|->))*" + NAME),
    re.compile(NAME + r"\s*(?:\.|->)(?:" + PREFIX + r")\(\s*" + LITERAL),
    re.compile(r"StringSwitch<[^;()]*>\(\s*(?:\*?\w+(?:\.|->))*" + NAME),
    re.compile(r"StringRef\(\s*(?:\*?\w+(?:\.|->))*(\w+)\s*\)\s*(?:\.(?:" + PREFIX
               + r")\(\s*|[!=]=\s*)" + LITERAL),
]
JSON_COMPARISONS = [
    re.compile(JSON + r"\s*[!=]=\s*" + LITERAL),
    re.compile(JSON + r"\s*\.(?:" + PREFIX + r")\(\s*" + LITERAL),
    re.compile(r"StringSwitch<[^;()]*>\([^;]{0,60}?" + JSON),
]
WORD_COMPARISON = re.compile(r"(?:[!=]=\s*(%s))|(?:(%s)\s*[!=]=)" %
                             (LITERAL, LITERAL))
# A row of a table: ROW(Name, "word", ...
ROW = re.compile(r'^[A-Z_]+\(\s*\w+,\s*"([a-z0-9-]+)"', re.M)
# Tables of other things: counters, figures of a GPU.
OTHER_TABLES = {"Metrics.def", "RuntimeSymbols.def", "GpuFigure.def"}


def is_named(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")[-1] \
        in NAMES


def without_comments(text):
    def blank(m):
        whole = m.group(0)
        return whole if whole[0] in "\"'" else re.sub(r"[^\n]", " ", whole)
    return re.sub(LITERAL + r"|'(?:[^'\\]|\\.)'|//[^\n]*|/\*.*?\*/", blank,
                  text, flags=re.S)


def words_of(root):
    words = set()
    for table in [*root.glob("include/**/*.def"), *root.glob("lib/**/*.def")]:
        if table.name not in OTHER_TABLES:
            words.update(ROW.findall(table.read_text()))
    return words


def findings(root):
    words = words_of(root)
    for folder in ("lib", "include", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".c"):
                continue
            text = without_comments(path.read_text())
            spans = [m.span() for p in COMPARISONS for m in p.finditer(text)
                     if is_named(m.group(1))]
            spans += [m.span() for p in JSON_COMPARISONS
                      for m in p.finditer(text)]
            # Words with a dash are no others'.
            spans += [m.span() for m in WORD_COMPARISON.finditer(text)
                      if (m.group(1) or m.group(2)).strip('"') in words
                      and "-" in m.group(0)]
            lines = {text.count("\n", 0, begin): text[begin:end]
                     for begin, end in spans}
            source = path.read_text().splitlines()
            for line, found in sorted(lines.items()):
                whole = " ".join(part.strip() for part in
                                 source[line:line + found.count("\n") + 1])
                yield str(path.relative_to(root)), line + 1, whole


def check(root, allowed):
    entries = [line.split(": ", 2) for line in allowed.splitlines()
               if line and not line.startswith("#")]
    broken = [e for e in entries if len(e) != 3 or not e[2].strip()]
    used, bad = set(), 0
    for entry in broken:
        print("entry without a reason:", ": ".join(entry))
    for path, line, source in findings(root):
        covering = [i for i, e in enumerate(entries)
                    if len(e) == 3 and e[0] == path and e[1] in source]
        used.update(covering)
        if not covering:
            bad += 1
            print(f"{path}:{line}: {source}")
    unused = [": ".join(e) for i, e in enumerate(entries)
              if i not in used and e not in broken]
    for entry in unused:
        print("entry that covers nothing:", entry)
    return bad + len(broken) + len(unused)


PLANTED = """
if (O.Outcome == "accepted") f();
if ("race" != Fault.Kind) f();
if (F->Why.starts_with("it waits")) f();
return StringSwitch<int>(R.Reason).Default(0);
if (O->getString("outcome").value_or("") != "found") f();
if (Word == "no-variant") f();
if (Verdict.Message
        .contains("race")) f();
if (StringRef(R.Compiler).starts_with("nvcc")) f();
"""
RIGHT = """
if (O.Outcome == Outcome::Accepted) f(); // Outcome == "accepted"
if (Path == "a.cu") f();
print("Reason == ");
"""


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for part in ("include", "lib", "tools"):
            (root / part).mkdir()
        (root / "include/Reasons.def").write_text(
            'CUPILOT_REASON(NoVariant, "no-variant", "text")\n')
        (root / "lib/right.cpp").write_text(RIGHT)
        assert check(root, "") == 0, "what is right was found"
        (root / "lib/planted.cpp").write_text(PLANTED)
        found = {line for _, line, _ in findings(root)}
        assert found == {2, 3, 4, 5, 6, 7, 8, 10}, found
        allowed = 'lib/planted.cpp: "accepted": it is planted\n'
        assert check(root, allowed) == 7
        assert check(root, allowed + "lib/gone.cpp: x: why\n") == 8
        assert check(root, "lib/planted.cpp: race\n") == 9
    print("planted comparisons are found")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        root, allowed = map(pathlib.Path, sys.argv[1:])
        sys.exit(1 if check(root, allowed.read_text()) else 0)
