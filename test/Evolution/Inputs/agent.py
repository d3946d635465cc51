#!/usr/bin/env python3
"""A model with tools for tests: dialogues on the kernel of scale.cu; what is no dialogue, model.py answers.

A command for --provider exec: the prompt on standard input, the request in $CUPILOT_REQUEST. With --calls it reads
{"messages": [{"role", "text"}], "tools": [...]} and prints the calls of its turn, for servers that have tool calls.
With --spool DIR it answers the prompts in a folder until nobody asks any more. What it does follows from the
conversation alone; LOG names a file that gets a line for each turn.
"""
import glob
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "Inputs"))
from scale_variants import text as variant

PLAN = {"launches": [{"kernel": "scale", "grid": ["gx", "gy", "gz"], "block": ["bx", "by", "bz"], "shared": "shared", "cluster": []}],
        "scratch": [], "tensor_maps": []}
WHOLE = {"plan": PLAN, "guard": {"conditions": [], "align": [], "disjoint": []}, "tunables": [],
         "carried_out": ["unroll{factor=8}"], "notes": "unrolled more, after a look at the bench"}
# The first one makes every mistake on its way, and ends well.
GOOD = [[("profile", {})],
        [("compile", {"source": variant(8, end=" oops")})],
        [("rm", {"path": "/"})],
        [("judge", {"source": variant(8, rough=" * 1.0002f")})],
        [("time", {"sauce": 7})],
        [("time", {"source": variant(10)}), ("knowledge", {"query": "unroll", "most": 1})],
        [("variant", {"name": "g0_v0"})],
        [("tried", {})],
        [("submit", {"source": variant(10)})],
        [("submit", {**WHOLE, "source": variant(10)})]]


def turn(messages, alone):
    """The calls of this turn; \\p alone: one is all that can be made."""
    text = "\n".join(m["text"] for m in messages)
    number = int((re.findall("you are number ([0-9]+)", text) or ["1"])[0])
    count = sum(1 for m in messages if m["role"] == "assistant")
    if "LOG" in os.environ:
        with open(os.environ["LOG"], "a") as log:
            print("turn", number, count + 1, file=log)
    script = GOOD
    if alone:
        script = [[call] for calls in GOOD for call in calls]
    if number == 1:
        return script[min(count, len(script) - 1)]
    if number == 2:  # It never ends.
        return [("knowledge", {"query": "gate", "most": 1})]
    return [("time", {"source": variant(16)})] if count == 0 else []  # It never hands in what it has.


def from_text(prompt):
    """A conversation, as one prompt has it."""
    answers = len(re.findall("^<<<<<<<< your earlier answer", prompt, re.M))
    return [{"role": "user", "text": prompt}] + [{"role": "assistant", "text": ""}] * answers


def answer(prompt, messages):
    if '"tool": NAME' not in prompt:
        return subprocess.run([HERE + "/model.py"], input=prompt, text=True, stdout=subprocess.PIPE, check=True).stdout
    calls = turn(messages, True)
    if not calls:
        return "I think that I am done."
    name, arguments = calls[0]
    return "Let me see.\n" + json.dumps({"tool": name, "arguments": arguments})


if sys.argv[1:] == ["--calls"]:
    request = json.load(sys.stdin)
    print(json.dumps(turn(request["messages"], False)))
elif sys.argv[1:2] == ["--spool"]:
    folder, parent = sys.argv[2], os.getppid()
    while os.getppid() == parent:
        for path in glob.glob(folder + "/*.prompt.txt"):
            there = path.replace(".prompt.txt", ".answer.txt")
            if not os.path.exists(there):
                prompt = open(path).read()
                text = answer(prompt, from_text(prompt))
                open(there + ".part", "w").write(text)
                os.rename(there + ".part", there)
        time.sleep(0.1)
else:
    prompt = sys.stdin.read()
    print(answer(prompt, from_text(prompt)))
