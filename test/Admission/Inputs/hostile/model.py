#!/usr/bin/env python3
"""The model of test/Evolution, whose code is hostile: of each answer the source is one of texts.py.

SECRET is the folder of what is secret; PROMPTS a file that gets all that models are told.
"""
import json
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
prompt = sys.stdin.read()
prompts = os.environ["PROMPTS"]
with open(prompts, "a") as log:
    print(prompt, file=log)
said = subprocess.run([sys.executable, f"{here}/../../../Evolution/Inputs/model.py"], input=prompt,
                      capture_output=True, text=True)
if said.returncode:
    sys.exit(said.returncode)
text = said.stdout
start = text.find("{")
answer = json.loads(text[start:text.rfind("}") + 1]) if start >= 0 else {}
if answer.get("source"):
    names = ("absolute", "by_macro", "pipe", "embedded", "parentheses", "macro_sum", "asks", "enters", "itself", "prints")
    with open(prompts) as log:
        turn = log.read().count("Rules for the source")
    folder = os.environ["TEXTS"]
    with open(f"{folder}/{names[turn % len(names)]}.cu", errors="replace") as file:
        answer["source"] = file.read().replace("void rows(", "void scale(")
print(json.dumps(answer) if answer else text)
