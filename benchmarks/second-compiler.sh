#!/usr/bin/env bash
# second-compiler.sh - what judging by a second compiler adds to searches
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: second-compiler.sh BUILD [OPTIONS OF EVOLVE]
#
# Searches each kernel of examples/store.txt by rules on the cpu device, twice:
# with '-- -O2 --compiler=clang', and with '-- -O2', where what is kept is also
# judged by the code of the toolkit's nvcc. Prints the processor seconds of
# both (all processes), their ratio, what nvcc said, and the median ratio.
# ONLY is a pattern of the kernels' names, when not all are searched. With
# --accept-estimates more is kept, and nvcc has more to judge.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd) && shift
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH CUPILOT_CACHE_DIR=$work/cache
source=$here/calibration/kernels.cu
options=("$@")
seconds() { # NAME COMPILER...
  local name=$1; shift
  rm -rf "$work/store"
  TIMEFORMAT='%U %S'
  { time cupilot evolve "$source" --only="$name" --workloads="$work/w.mlir" --store="$work/store" -v "${options[@]}" "$@" \
    -- -O2 >"$work/log" 2>&1 || [ $? = 1 ]; } 2>"$work/time"
  tail -1 "$work/time" | awk '{printf "%.1f", $1 + $2}'
}
printf '| kernel | clang, s | and nvcc, s | ratio | nvcc |\n|---|---|---|---|---|\n'
grep -v '^#' "$here/../examples/store.txt" | while IFS= read -r line; do
  name=${line%%:*}
  [[ $name =~ ${ONLY:-.} ]] || continue
  cupilot describe "$source" --workload "$line" -o "$work/w.mlir" -- -O2
  alone=$(seconds "$name" --compiler=clang)
  both=$(seconds "$name")
  said=$(sed -n 's/.*nvcc-[^:]*: [^:]*: //p' "$work/log" | paste -sd';')
  ratio=$(awk "BEGIN {printf \"%.2f\", $both / $alone}")
  echo "$ratio" >>"$work/ratios"
  printf '| %s | %s | %s | %s | %s |\n' "$name" "$alone" "$both" "$ratio" "${said:-nothing is kept}"
done
sort -n "$work/ratios" | awk '{a[NR] = $1} END {printf "\nmedian %.2f, largest %.2f, of %d kernels\n", a[int((NR + 1) / 2)], a[NR], NR}'
