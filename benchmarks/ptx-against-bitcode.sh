#!/usr/bin/env bash
# ptx-against-bitcode.sh - kernels by PTX and by bitcode on the cpu device
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: ptx-against-bitcode.sh exact|default CHECKOUTS [NAME...]
#        ptx-against-bitcode.sh --report
#
# Programs are those of public-programs.txt (else LIST), whose repositories lie
# in CHECKOUTS by the last part of their names, and the ones of this repository
# (examples, test/CpuDevice/Inputs). cupilot-cpucc builds each, nvcc makes PTX
# of the same sources, and the program runs with libcupilot-pairs.so before it:
# the first launches of each kernel run both ways from the same memory
# (PairedLaunches.cpp). A pair's verdict is
#   bits      every byte of device memory is the same afterwards
#   same      not so, but each is within the contract "same" of the other, both
#             against the float64 run of the bitcode
#   else      what is wrong
# exact: clang does not contract, nvcc neither, and it divides and takes roots
# exactly (no --use_fast_math); default: the programs' own flags. Pairs are
# timed in turns once both are compiled.
#
# Rows are kept in RESULTS (default ptx-pairs.results here), a file of JSON for
# each program and mode; what is there is not done again. --report prints the
# tables of what is there.
# BUILD names the build folder, CUPILOT_CPUCC the compiler, PAIRS the library,
# CUDA the toolkit, LIMIT the seconds of processor time for a run (300).
# Exit status: 0 no exception, 1 some, 2 wrong use.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=${RESULTS:-ptx-pairs.results}
if [ $# -lt 1 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
if [ "$1" = --report ]; then
  exec python3 "$here/ptx/ptx_pairs.py" --report --results "$results"
fi
if [ $# -lt 2 ] || { [ "$1" != exact ] && [ "$1" != default ]; }; then
  echo "ptx-against-bitcode.sh: error: 'exact' or 'default', and the checkouts" >&2
  exit 2
fi
build=${BUILD:-$here/../build}
cpucc=${CUPILOT_CPUCC:-$build/bin/cupilot-cpucc}
pairs=${PAIRS:-$build/lib/libcupilot-pairs.so}
cuda=${CUDA:-/usr/local/cuda}
for needed in "$cpucc" "$pairs" "$cuda/bin/nvcc"; do
  if [ ! -x "$needed" ]; then
    echo "ptx-against-bitcode.sh: error: no '$needed'" >&2
    exit 2
  fi
done
exec python3 "$here/ptx/ptx_pairs.py" --list "${LIST:-$here/public-programs.txt}" --cpucc "$(realpath "$cpucc")" \
  --pairs "$(realpath "$pairs")" --cuda "$cuda" --limit "${LIMIT:-300}" --results "$results" "$@"
