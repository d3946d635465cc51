#!/usr/bin/env bash
# nvcc-sources.sh - extraction over public units that nvcc compiles
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: nvcc-sources.sh CHECKOUTS [NAME...] [OPTIONS]
#
# CHECKOUTS holds a folder for each repository of the list, by the last part of
# its name. nvcc-sources.txt beside this script has the form of
# public-units.txt, but its flags are nvcc's. Each unit is compiled by nvcc to
# PTX and goes through 'cupilot extract', which compares slices with the unit by
# clang; then nvcc compiles every slice alone, and the identity of its kernel's
# PTX is compared with the unit's.
#
# Options:
#   -j N         units at once (default 1)
#   --again      do not skip what is done
#   --report     print the table of what is done, and run nothing
#   --pick N     print a list instead: N units of HeCBench by a seeded choice,
#                and llm.c's; --seed N (default 19) is another choice
#
# Rows are kept as JSON in RESULTS (default nvcc-sources.results here). The
# table goes to standard output.
# CUPILOT, CLANG, CUDA name cupilot, clang++ and the toolkit; LIST another list.
# Exit status: 0 nothing failed, 1 something did, 2 wrong use.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cupilot=${CUPILOT:-$here/../build/bin/cupilot}
cuda=${CUDA:-/usr/local/cuda}
list=${LIST:-$here/nvcc-sources.txt}
if [ $# -lt 1 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
for needed in "$cupilot" "$cuda/bin/nvcc"; do
  if [ ! -x "$needed" ]; then
    echo "nvcc-sources.sh: error: no '$needed'" >&2
    exit 2
  fi
done
exec python3 "$here/nvcc_sources.py" --list "$list" --cupilot "$(realpath "$cupilot")" \
  --clang "${CLANG:-/usr/lib/llvm-22/bin/clang++}" --cuda "$cuda" \
  --results "${RESULTS:-nvcc-sources.results}" "$@"
