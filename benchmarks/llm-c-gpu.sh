#!/usr/bin/env bash
# llm-c-gpu.sh - llm.c's train_gpt2_fp32.cu on a GPU, by four commands
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: llm-c-gpu.sh CHECKOUT WORK [BUILD]
#
# CHECKOUT is llm.c, which is not changed. WORK gets random weights of GPT-2 124M and tokens (llm_c_data.py), the program as 'nvcc -O3
# --use_fast_math -arch=sm_90' builds it, its recording (every kept launch is replayed), a search by rules of the six kernels with the most time,
# the program rebuilt through cupilot-launch, and the comparison of both. Needs a GPU of compute capability 9.0, cuBLAS, Python with NumPy.
#
# PROGRAM=train_gpt2 takes the bfloat16 program instead, with weights of its own (-e d12) and STEPS (16) steps. llm.c f1e2ace does not compile it with
# CUDA 13, where cudaMemAdvise takes a cudaMemLocation: WORK gets a copy in which that one argument in llmc/cuda_utils.cuh is changed.
#
# Prints what each command says and how long it takes. Exit status: that of the comparison; 2 wrong use.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
source=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2" || exit 2
export PATH=$(cd "${3:-$here/../build}" && pwd)/bin:$PATH
program=${PROGRAM:-train_gpt2_fp32}
flags=(-O3 --use_fast_math -arch=sm_90)
libraries=(-lcublas -lcublasLt)
arguments=(-i train.bin -j val.bin)
case $program in
  train_gpt2_fp32) ;;
  train_gpt2)
    flags+=(-std=c++17)
    libraries+=(-lnvidia-ml)
    arguments+=(-e d12 -x "${STEPS:-16}")
    mkdir -p llm.c && cp -r "$source/llmc" "$source/train_gpt2.cu" llm.c || exit
    source=$PWD/llm.c
    [ "$(nvcc --version | sed -n 's/.*release \([0-9]*\).*/\1/p')" -lt 13 ] ||
      sed -i 's/PreferredLocation, cudaCpuDeviceId/PreferredLocation, cudaMemLocation{cudaMemLocationTypeHost, 0}/' llm.c/llmc/cuda_utils.cuh
    ;;
  *)
    echo "llm-c-gpu.sh: PROGRAM is train_gpt2_fp32 or train_gpt2, not '$program'" >&2
    exit 2
    ;;
esac
say() {
  local begin=$(date +%s%N)
  "$@"
  local status=$?
  echo "== status $status, $((($(date +%s%N) - begin) / 1000000)) ms: $*"
  return $status
}
python3 "$here/llm_c_data.py" . || exit
say nvcc "${flags[@]}" "$source/$program.cu" "${libraries[@]}" -o plain || exit
./plain "${arguments[@]}" >plain.out || exit
say ./plain "${arguments[@]}" | tail -2
say cupilot capture --confirm -o app.mlir -- ./plain "${arguments[@]}" >capture.out
du -sh app.data
say cupilot-launch --record-commands compile_commands.json nvcc "${flags[@]}" -c "$source/$program.cu" -o train.o || exit
say cupilot evolve -p . --workloads app.mlir --device cuda --top 6 --generations 2 --population 8 -v 2>evolve.log
cupilot store list
say cupilot-launch nvcc "${flags[@]}" -c "$source/$program.cu" -o train.o -Rpass=cupilot || exit
say cupilot-launch nvcc "${flags[@]}" train.o "${libraries[@]}" -o tuned || exit
say cupilot compare --runs=4 -- ./tuned "${arguments[@]}"
