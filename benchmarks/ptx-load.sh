#!/usr/bin/env bash
# ptx-load.sh - PTX modules of public units on the cpu device, against ptxas
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: ptx-load.sh CHECKOUTS [NAME...]
#        ptx-load.sh --report
#
# CHECKOUTS holds a folder for each repository of the list (nvcc-sources.txt,
# else LIST), by the last part of its name. nvcc compiles each unit to PTX;
# ptx-load (benchmarks/ptx) loads the module twice, the second time with what
# the machine cache has, and says which kernels cannot run; ptxas -O3 compiles
# the same module. Of every COMPILE-th unit (8) all kernels are compiled, too.
# NAMEs choose units by a part of their name.
#
# Rows are kept in RESULTS (default ptx-load.results here), a file of JSON for
# each unit; what is there is not done again. --report prints the tables of what
# is there. TOOL, CUDA, ARCH name ptx-load, the toolkit, the architecture
# (sm_90). Times are of the processor.
# Exit status: 0 nothing failed, 1 something did, 2 wrong use.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=${RESULTS:-ptx-load.results}
if [ $# -lt 1 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
if [ "$1" = --report ]; then
  exec python3 "$here/ptx/ptx_load.py" --report --results "$results"
fi
tool=${TOOL:-$here/../build/bin/ptx-load}
cuda=${CUDA:-/usr/local/cuda}
for needed in "$tool" "$cuda/bin/nvcc" "$cuda/bin/ptxas"; do
  if [ ! -x "$needed" ]; then
    echo "ptx-load.sh: error: no '$needed'" >&2
    exit 2
  fi
done
exec python3 "$here/ptx/ptx_load.py" --list "${LIST:-$here/nvcc-sources.txt}" --tool "$(realpath "$tool")" \
  --cuda "$cuda" --arch "${ARCH:-sm_90}" --every "${COMPILE:-8}" --results "$results" "$@"
