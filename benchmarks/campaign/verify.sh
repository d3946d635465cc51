#!/usr/bin/env bash
# verify.sh - the gate again over all variants that the campaign kept
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: verify.sh [--check] [--device DEVICE]
#
# Runs cupilot verify, with these options, over the stores variants/norm,
# relaxed and same. Without --check they get the domains that were found.
# CUPILOT names the program, build/bin/cupilot beside the sources if unset.
# Exit status: 1 where a variant no longer passes or could not be judged.
# The last result: ../results/2026-11-28-gate-12.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case "${1:-}" in --help | -h) sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
status=0
for contract in norm relaxed same; do
  echo "== $contract"
  "${CUPILOT:-$here/../../build/bin/cupilot}" verify --store "$here/variants/$contract" "$@" -- \
    -O2 --cuda-gpu-arch=sm_90a || status=1
done
exit $status
