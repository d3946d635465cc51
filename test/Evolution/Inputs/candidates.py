"""Prints all that a journal holds of candidates."""
import sqlite3, sys

journal = sqlite3.connect(sys.argv[1])
columns = "genome, outcome, reason, device, ratio, source, plan, guard, evidence, carried, made, finding"
for row in journal.execute(f"SELECT {columns} FROM candidate ORDER BY genome"):
    for name, value in zip(columns.split(", "), row):
        print(name, value)
for row in journal.execute("SELECT number, module FROM generation ORDER BY number"):
    print(*row)
