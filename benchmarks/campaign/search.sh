#!/usr/bin/env bash
# search.sh - one search of the campaign
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: search.sh ID OUT --provider SPEC --device DEVICE [OPTIONS]
#
# ID is a problem's number ("23"); 01, 03, 63 and 97, which are searched under
# a relaxed contract, also come as 01-same and so on. 01-norm and 03-norm begin
# with what was found for 01 and 03, under a bound of the norm, too: that cuts
# one factor of each product off, where torch rounds both. OUT gets the workloads,
# the store and, as OUT/calls, the recording: calls of models and the device's
# answers. What was recorded is not asked for again, so a search goes on where it
# was left. replay.sh repeats the searches of the archive.
# CUPILOT names the program, build/bin/cupilot beside the sources if unset;
# CAMPAIGN_LIKE the store that 01-norm and 03-norm begin with, variants/relaxed
# if unset.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2; }
id=$1 out=$2
shift 2
sources=("$here/${id%%-*}"-*.cu)
[ -e "${sources[0]}" ] || { echo "search.sh: error: no kernel '$id' in $here" >&2; exit 2; }
kernel=$(basename "${sources[0]}" .cu)
cupilot=${CUPILOT:-$here/../../build/bin/cupilot}
flags=(-O2 --cuda-gpu-arch=sm_90a)
contract=() generations=3
case $id in
  01 | 03 | 63 | 97) contract=(--contract 'relaxed(0.004)') ;;
  *-norm) contract=(--contract 'relaxed(0.004, 0.00035)' --like "${CAMPAIGN_LIKE:-variants/relaxed}") ;;
esac
case $id in
  23 | 40 | 97) generations=2 ;; # They take the gate or the card longest.
  *-same | *-norm) generations=1 ;;
esac
mkdir -p "$out"
out=$(cd "$out" && pwd)
record=(--record "$out/calls" --resume)
case " $* " in
  *replay:*) record=() ;; # There is a recording.
esac
cd "$here"
[ -e "$out/workloads.mlir" ] ||
  "$cupilot" describe "$kernel.cu" --from "$kernel.txt" -o "$out/workloads.mlir" -- "${flags[@]}"
evolve() {
  "$cupilot" evolve "$kernel.cu" --workloads "$out/workloads.mlir" --store "$out/store" --translator llm \
    ${record[@]+"${record[@]}"} --population 3 --repairs 1 --kernel-calls 30 ${contract[@]+"${contract[@]}"} "$@"
}
if [ "$id" = 95 ]; then # Two kernels: the rows, and the mean of their losses.
  evolve --only='crossEntropy(' --generations 3 "$@" -- "${flags[@]}"
  evolve --only='meanLoss(' --generations 1 "$@" -- "${flags[@]}"
else
  evolve --generations $generations "$@" -- "${flags[@]}"
fi
