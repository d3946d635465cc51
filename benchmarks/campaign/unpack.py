#!/usr/bin/env python3
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unpacks recordings of the campaign, after a comparison of digests with campaign.json.

  unpack.py FOLDER [ID...]   recordings and stores of these searches (all), as FOLDER/calls/ID and so on
  unpack.py --kept [ID...]   what these searches kept: contract, variant, ratio with its interval

The digest of a folder is the SHA-256 of the lines "PATH\\0SHA-256 of the file\\n" of its files, sorted by path."""

import hashlib
import json
import os
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))


def file_digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def folder_digest(folder):
    total = hashlib.sha256()
    for path in sorted(os.path.join(where, f) for where, _, files in os.walk(folder) for f in files):
        total.update(f"{os.path.relpath(path, folder)}\0{file_digest(path)}\n".encode())
    return "sha256:" + total.hexdigest()


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    with open(os.path.join(HERE, "campaign.json")) as f:
        manifest = json.load(f)
    wanted = sys.argv[2:] or [s["id"] for s in manifest["searches"]]
    searches = [s for s in manifest["searches"] if s["id"] in wanted]
    for unknown in set(wanted) - {s["id"] for s in searches}:
        sys.exit(f"unpack.py: error: campaign.json has no search '{unknown}'")
    if sys.argv[1] == "--kept":
        for s in searches:
            for k in s["kept"]:
                print(f"{s['id']}: {k['kernel'].split('(')[0]}, {k['contract']}: {k['variant']}, {k['ratio']:.2f}x "
                      f"[{k['low']:.2f}, {k['high']:.2f}], {k['basis']} on {k['device']}")
        return 0
    archive = os.path.join(HERE, manifest["archive"])
    if "sha256:" + file_digest(archive) != manifest["digest"]:
        sys.exit(f"unpack.py: error: {archive} is not the archive that campaign.json describes")
    folders = {folder: digest for s in searches for folder, digest in s["members"].items()}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and "/".join(member.name.split("/")[:2]) in folders:
                tar.extract(member, sys.argv[1], filter="data")
    for folder, digest in folders.items():
        if folder_digest(os.path.join(sys.argv[1], folder)) != digest:
            sys.exit(f"unpack.py: error: {folder} differs from what campaign.json says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
