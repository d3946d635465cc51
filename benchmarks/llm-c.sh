#!/usr/bin/env bash
# llm-c.sh - llm.c's train_gpt2_fp32.cu, from described launches to an object
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: llm-c.sh CHECKOUT WORK [BUILD]
#
# CHECKOUT is llm.c, which is not changed. Its 17 kernels are searched by rules,
# on the cpu device, by the code of 'nvcc -O3 --use_fast_math', on launches as a
# small model makes them (llm-c.txt: 4 times 64 tokens, 256 channels, 4 heads, a
# vocabulary of 1000). The program itself calls cuBLAS, which only a GPU has, so
# they are described instead of recorded. Then that very command compiles the
# object through cupilot-launch. Prints what each search kept and what the
# object has; WORK holds the store and the logs.
#
# Exit status: 0 five kernels or more have a variant in the object, 1 fewer,
# 2 wrong use.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
source=$(cd "$1" && pwd)/train_gpt2_fp32.cu
mkdir -p "$2"
work=$(cd "$2" && pwd)
build=$(cd "${3:-$here/../build}" && pwd)
export PATH=$build/bin:$PATH
command=(nvcc -O3 --use_fast_math)

cd "$(dirname "$source")"
cupilot describe "$source" --from="$here/llm-c.txt" -o "$work/w.mlir" -- "${command[@]}"
cupilot evolve "$source" --workloads="$work/w.mlir" --store="$work/store" -v --accept-estimates -- "${command[@]}" \
  >"$work/evolve.out" 2>"$work/evolve.log" || [ $? = 1 ]
grep -E '^[^ ]|^  [0-9]+ candidates' "$work/evolve.log"
cupilot store list --store="$work/store"
cupilot-launch "${command[@]}" -c "$source" -o "$work/train.o" \
  -fplugin-arg-cupilot-store="$work/store" -fplugin-arg-cupilot-basis=modelled -Rpass=cupilot -Rpass-missed=cupilot 2>"$work/remarks"
sed -n 's/.*remark: //p' "$work/remarks"
taken=$(grep -c ': variant .*\[-Rpass=cupilot\]$' "$work/remarks" || true)
echo "$taken kernels have a variant in the object"
[ "$taken" -ge 5 ]
