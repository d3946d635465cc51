"""A stack of feed-forward layers that uses an extension of its own for normalisation and activation.

Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

usage: python app.py [STEPS]

The extension is built beside this file, in build/, as PyTorch builds all extensions. docs/Tutorial.md walks through this example.
"""
import os
import sys

import torch
from torch.utils.cpp_extension import load

here = os.path.dirname(os.path.abspath(__file__))
os.makedirs(f"{here}/build", exist_ok=True)
norm_act = load(
    "norm_act",
    [f"{here}/norm_act.cu"],
    extra_cuda_cflags=["-O3"],
    build_directory=f"{here}/build",
    verbose="VERBOSE" in os.environ,
)

TOKENS, WIDTH, HIDDEN, LAYERS = 2048, 1024, 4096, 4
torch.manual_seed(1)
torch.set_float32_matmul_precision("high")


def random(*shape):
    return torch.randn(*shape, device="cuda") / shape[0] ** 0.5


layers = [(1 + 0.1 * random(WIDTH), random(WIDTH, HIDDEN), random(HIDDEN, WIDTH)) for _ in range(LAYERS)]
start = torch.randn(TOKENS, WIDTH, device="cuda")

for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    x = start * (1 + 0.01 * step)
    for weight, up, down in layers:
        x = x + norm_act.gelu(norm_act.rms_norm(x, weight, 1e-6) @ up) @ down
    if step % 20 == 0:
        print(f"step {step}: mean square {x.square().mean().item():.4f}")
