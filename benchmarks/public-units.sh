#!/usr/bin/env bash
# public-units.sh - extraction over translation units of public CUDA projects
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public-units.sh [OPTIONS] CHECKOUTS [NAME...]
#
# CHECKOUTS holds a folder for each repository of the list, by the last part of
# its name (HeCBench, cuda-samples). public-units.txt beside this script has one
# translation unit a line, fields with " | " between them:
#   repository | commit | source | flags
# Each is parsed by clang (syntax only, for sm_90), and goes through 'cupilot
# extract', which compiles the slice of every kernel alone. NAMEs choose units
# that hold one of them in "project/source".
#
# Options:
#   -j N          units at once (default 1)
#   --sample N    N units, spread over the list, the same ones every time
#   --again       do not skip what is done
#   --recheck     take the identity of every slice again, by 'cupilot identify'
#   --report      print the table of what is done, and run nothing
#   --limit S     seconds for one step of a unit (default 600)
#
# Rows are kept as JSON in RESULTS (default public-units.results here), so that
# a run that was stopped goes on; public_units.py describes them. The table with
# totals and every failure goes to standard output.
# CUPILOT, CLANG, CUDA name cupilot, clang++ and the toolkit; LIST another list.
# Exit status: 0 nothing failed, 1 something did, 2 wrong use.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cupilot=${CUPILOT:-$here/../build/bin/cupilot}
clang=${CLANG:-/usr/lib/llvm-22/bin/clang++}
cuda=${CUDA:-/usr/local/cuda}
list=${LIST:-$here/public-units.txt}
if [ $# -lt 1 ] || [ "$1" = --help ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
for needed in "$cupilot" "$clang" "$list" "$cuda/include/cuda_runtime.h"; do
  if [ ! -r "$needed" ]; then
    echo "public-units.sh: error: no '$needed'" >&2
    exit 2
  fi
done
exec python3 "$here/public_units.py" --list "$list" --cupilot "$(realpath "$cupilot")" \
  --clang "$clang" --cuda "$cuda" --results "${RESULTS:-public-units.results}" "$@"
