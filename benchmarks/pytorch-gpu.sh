#!/usr/bin/env bash
# pytorch-gpu.sh - a PyTorch extension on a GPU, by four commands
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: pytorch-gpu.sh WORK [BUILD]
#
# WORK gets examples/pytorch, its extension as torch.utils.cpp_extension builds it with PYTORCH_NVCC=cupilot-launch, a recording of the
# program (every kept launch is replayed), a search by rules of both kernels, the extension rebuilt, and the comparison of both. Needs a GPU,
# PyTorch with CUDA (PYTHON names the interpreter; default python3), ninja, and the CUDA toolkit of PyTorch's version (CUDA_HOME). Each part
# whose result is already in WORK is left out, so that the script can be run again.
#
# Prints what each command says and how long it takes. Exit status: that of the comparison; 2 wrong use.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
mkdir -p "$1"
build=$(cd "${2:-$here/../build}" && pwd)
cd "$1" || exit 2
export PATH=$build/bin:$PATH
python=${PYTHON:-python3}
export PYTORCH_NVCC=cupilot-launch CUPILOT_RECORD_COMMANDS=$PWD/compile_commands.json
say() {
  local begin=$(date +%s%N)
  "$@"
  local status=$?
  echo "== status $status, $((($(date +%s%N) - begin) / 1000000)) ms: $*"
  return $status
}
"$python" -c '
import torch
major, minor = torch.cuda.get_device_capability()
print("torch", torch.__version__, "CUDA", torch.version.cuda, torch.cuda.get_device_name(), f"{major}.{minor}")' | tee machine || exit
# PTX beside machine code: by it capture sees what a launch touches of torch's pools.
export TORCH_CUDA_ARCH_LIST="$(sed 's/.* //' machine)+PTX"
cp -n "$here/../examples/pytorch/"* . 2>/dev/null
[ -e build/norm_act.so ] || say env VERBOSE=1 "$python" app.py 1 || exit
[ -e plain.out ] || { say "$python" app.py >plain.out && cat plain.out || exit; }
[ -e app.mlir ] || say cupilot capture --confirm -o app.mlir -- "$python" app.py 20 || exit
du -sh app.data
[ -e searched ] || { say cupilot evolve -p . --workloads app.mlir --device cuda --generations 2 --population 6 -v 2>evolve.log && touch searched; }
cat evolve.log
say cupilot store list
touch norm_act.cu
say env VERBOSE=1 NVCC_APPEND_FLAGS=-Rpass=cupilot "$python" app.py 1 || exit
say cupilot compare --runs=10 -- "$python" app.py
