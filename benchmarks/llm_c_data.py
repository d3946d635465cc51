#!/usr/bin/env python3
"""Random weights of GPT-2 124M and token files, as llm.c's train_gpt2_fp32.cu reads them.

Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
See LICENSE for license information.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

usage: llm_c_data.py FOLDER [STEPS]

Writes gpt2_124M.bin, train.bin (STEPS batches of 4 times 1024 tokens, default 16) and val.bin into FOLDER. Numbers follow from a
seed: normal weights of standard deviation 0.02, tokens of Zipf's law.
"""
import os
import sys

import numpy as np

LAYERS, HEADS, CHANNELS, VOCABULARY, PADDED, LENGTH = 12, 12, 768, 50257, 50304, 1024
MODEL, TOKENS = 20240326, 20240520


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] == "--help":
        sys.exit(__doc__)
    folder, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 16
    rng = np.random.default_rng(1)

    def normal(count):
        return rng.standard_normal(count, dtype=np.float32) * np.float32(0.02)

    def ones(count):
        return np.ones(count, np.float32)

    def zeros(count):
        return np.zeros(count, np.float32)

    c, l = CHANNELS, LAYERS
    head = np.zeros(256, np.int32)
    head[:8] = [MODEL, 3, LENGTH, VOCABULARY, LAYERS, HEADS, CHANNELS, PADDED]
    with open(os.path.join(folder, "gpt2_124M.bin"), "wb") as out:
        head.tofile(out)
        for part in (normal(PADDED * c), normal(LENGTH * c), ones(l * c), zeros(l * c),
                     normal(l * 3 * c * c), zeros(l * 3 * c), normal(l * c * c), zeros(l * c),
                     ones(l * c), zeros(l * c), normal(l * 4 * c * c), zeros(l * 4 * c),
                     normal(l * c * 4 * c), zeros(l * c), ones(c), zeros(c)):
            part.astype(np.float32).tofile(out)
    for name, batches in (("train.bin", steps), ("val.bin", 20)):
        count = batches * 4 * 1024 + 1
        head = np.zeros(256, np.int32)
        head[:3] = [TOKENS, 1, count]
        tokens = np.minimum(rng.zipf(1.3, count) - 1, VOCABULARY - 1).astype(np.uint16)
        with open(os.path.join(folder, name), "wb") as out:
            head.tofile(out)
            tokens.tofile(out)


if __name__ == "__main__":
    main()
