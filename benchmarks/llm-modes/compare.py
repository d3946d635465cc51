#!/usr/bin/env python3
"""Searches a kernel with models as cupilot does, and in another way, and compares what came.

    compare.py MODE OUT SOURCE WORKLOADS [EVOLVE-OPTIONS...] -- FLAGS

MODE is code-crossover, no-roofline, no-retrieval or prose. EVOLVE-OPTIONS go to both searches: --provider (spool:DIR
too: each search gets a folder of its own below it), --preset, --seed, --device, --like ... OUT gets a store and a
recording of each, and table.json. What was there before is gone on with: an answer is never asked for twice.
"""
import json
import os
import sqlite3
import subprocess
import sys

MODES = {"code-crossover": ["--crossover", "code"], "no-roofline": ["--no-roofline"],
         "no-retrieval": ["--no-retrieval"], "prose": ["--prose"]}
PASSED = ("accepted", "slower", "duplicate", "passed")


def first_outcome(outcome, stages):
    """What the first answer came to: later stages say what they were to mend."""
    return stages[1]["trouble"].split(":")[0] if len(stages) > 1 else outcome


def figures(store):
    path = os.path.join(store, "journal.sqlite")
    if not os.path.exists(path):
        return None
    rows = []
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        for outcome, ratio, made in db.execute("select outcome, ratio, made from candidate order by id"):
            how = json.loads(made or "{}")
            rows.append((outcome, ratio or 0, how.get("parents", []), how.get("stages", [])))
    calls = [c for r in rows for s in r[3] for c in s.get("calls", [])]
    offspring = [r for r in rows if r[2]]
    first = [first_outcome(r[0], r[3]) for r in offspring]
    share = lambda n: n / len(offspring) if offspring else None
    return {
        "candidates": len(rows), "offspring": len(offspring),
        "offspring_compile_at_first": share(sum(o in PASSED + ("gate",) for o in first)),
        "offspring_pass_at_first": share(sum(o in PASSED for o in first)),
        "offspring_pass": share(sum(r[0] in PASSED for r in offspring)),
        "accepted": sum(r[0] == "accepted" for r in rows),
        "best": max((r[1] for r in rows if r[0] == "accepted"), default=1),
        "calls": len(calls), "tokens": sum(c["prompt_tokens"] + c["answer_tokens"] for c in calls),
        "cost": sum(c["cost"] for c in calls)}


def options_of(name, options):
    """Folders of answers are each search's own."""
    result = []
    for at, option in enumerate(options):
        before = options[at - 1] if at else ""
        if option.startswith("--provider=") or before == "--provider":
            for kind in ("spool:", "replay:"):
                if kind in option:
                    head, tail = option.split(kind, 1)
                    folder, *rest = tail.split(",")
                    option = head + kind + ",".join([os.path.join(folder, name)] + rest)
        result.append(option)
    return result


def main():
    if len(sys.argv) < 6 or sys.argv[1] not in MODES or "--" not in sys.argv:
        sys.exit(__doc__)
    mode, out, source, workloads = sys.argv[1:5]
    split = sys.argv.index("--")
    options, flags = sys.argv[5:split], sys.argv[split:]
    table, status = {}, 0
    for name, more in (("as-it-is", []), (mode, MODES[mode])):
        store = os.path.join(out, name)
        own = options_of(name, options)
        command = ["cupilot", "evolve", source, "--workloads", workloads, "--translator", "llm", "--store", store] + own + more
        if not any("replay:" in o for o in own):
            command += ["--record", os.path.join(out, name + ".calls")]
        if os.path.exists(os.path.join(store, "journal.sqlite")):
            command.append("--resume")
        code = subprocess.run(command + flags).returncode
        if code > 1:  # 1: nothing was accepted, which is an answer, too.
            status = code
        table[name] = figures(store)
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "table.json"), "w") as f:
        json.dump(table, f, indent=1)
    for key in next((t for t in table.values() if t), {}):
        values = [(t or {}).get(key) for t in table.values()]
        text = ["-" if v is None else f"{v:.3f}" if isinstance(v, float) else str(v) for v in values]
        print(f"{key:28}" + "".join(f"{v:>16}" for v in text))
    return status


if __name__ == "__main__":
    sys.exit(main())
