#!/usr/bin/env bash
# held-out-sizes.sh - public programs at sizes that no proof knew
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: held-out-sizes.sh CHECKOUTS WORK [NAME...]
#
# CHECKOUTS is the folder of zjin-lcf/HeCBench (public-programs.txt names the
# commit). Each program of held-out-sizes.txt is built by cupilot-cpucc and
# recorded at six sizes, in WORK/NAME; what is there is not recorded again. The
# gate then judges each kernel as a variant of itself on the launches of the
# first size, and the launches of the other five are held against the domain.
# The table goes to standard output: by kernel time, the share of the launches
# that lie inside, and the clauses that sent the others away.
#
# BUILD names the build tree, MINIMUM the least share in percent.
# Exit status: 0, 1 where the share is smaller or a recorded launch lies
# outside, 2 wrong use.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ] || [ ! -d "$1/src" ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
run() { python3 "$here/held_out_sizes.py" --build "${BUILD:-$here/../build}" "$@"; }
run record "$@" >&2
run judge "$@" >&2
shift
run report "$@" --minimum "${MINIMUM:-90}"
