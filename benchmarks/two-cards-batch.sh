#!/bin/sh
# two-cards-batch.sh CUPILOT FOLDER [ARCH]: writes a batch for two-cards.sh into FOLDER: what a search by rules asks of a card about
# its first generation, 16 candidates of the n-body example with 131,072 bodies. Each is compared on three launches and timed on
# the largest one.
set -eu
source=$(realpath "$(dirname "$0")/../examples/nbody.cu")
arch=${3:-sm_90}
mkdir -p "$2"
cd "$2"
cp "$source" nbody.cu
launch() { # NAME ONLY BLOCKS BODIES
  echo "gravity::accelerate: name=$1, only=$2, grid=$3, block=256, args=[buffer f32 n=$((4 * $4)) uniform seed=1," \
    "buffer f32 n=$4 output, buffer f32 n=$4 output, buffer f32 n=$4 output, $4, 0.01]"
}
{ launch odd gate 3 700; launch even gate 4 1024; launch full card 512 131072; } > nbody.txt
"$1" describe nbody.cu --from nbody.txt -o nbody.mlir -- -O2 "--cuda-gpu-arch=$arch"
# One of 17 has the code of another. Status 3: the results are not there yet.
"$1" evolve nbody.cu --workloads nbody.mlir --store store --population 17 --generations 1 --compiler clang --large-mb=0 \
  --device spool:batches --no-wait -- -O2 "--cuda-gpu-arch=$arch" || [ $? -eq 3 ]
ls -d batches/batch-*
