#!/usr/bin/env python3
"""Prints of each journal: generations, candidates, and how many have a parent that is itself an offspring."""
import json
import sqlite3
import sys

for path in sys.argv[1:]:
    journal = sqlite3.connect(path)
    (generations,) = journal.execute("select count(*) from generation").fetchone()
    rows = journal.execute("select genome, made from candidate order by id").fetchall()
    parents = {genome: json.loads(made)["parents"] for genome, made in rows}
    second = [genome for genome, own in parents.items() if any(parents.get(each) for each in own)]
    print(f"{path}: {generations} generations, {len(rows)} candidates, {len(second)} of offspring")
