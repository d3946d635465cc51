#!/bin/sh
# Times the gate with all checks on a softmax over 4096 rows of 4096 floats.
#   benchmarks/gate-softmax.sh [BUILD_DIR]    (a release build)
set -eu
build=${1:-build}
here=$(dirname "$0")
time "$build/bin/cupilot" judge "$here/gate-softmax.cu" --kernel softmaxRow --variant onePass \
  --guard 'bx == 256' --json \
  --workload 'grid=4096, block=256, args=[buffer f32 n=16777216 normal, buffer f32 n=16777216 output, 4096, 4096]' \
  -- -O2
