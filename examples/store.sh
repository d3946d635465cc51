#!/usr/bin/env bash
# Makes examples/store, which --like examples names: what the rules translator
# finds for small kernels, on launches that are described here and in store.txt.
# Neither GPU nor network is needed; the same kernels give the same store.
# usage: examples/store.sh BUILD-DIR
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(cd "${1:-build}" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH CUPILOT_CACHE_DIR=$work/cache

search() { # SOURCE DESCRIBE-OPTIONS...
  local source=$1; shift
  cupilot describe "$source" "$@" -o "$work/launches.mlir" -- -O2
  # No record of nvcc's: the same store comes out wherever it is made.
  cupilot evolve "$source" --workloads "$work/launches.mlir" --store "$work/store" --compiler=clang \
    --population 10 --generations 1 --accept-estimates -- -O2 || [ $? = 1 ] # 1: nothing accepted.
}

search examples/nbody.cu --workload \
  'gravity::accelerate: grid=8, block=128, args=[buffer f32 n=4000 uniform seed=1, buffer f32 n=1000 output, buffer f32 n=1000 output, buffer f32 n=1000 output, 1000, 0.01]'
search benchmarks/calibration/kernels.cu --from examples/store.txt

rm -f "$work"/store/journal*
cupilot store check --store "$work/store"
rm -rf examples/store && cp -r "$work/store" examples/store
cupilot store list --store examples/store
