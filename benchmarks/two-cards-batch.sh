#!/bin/sh
# two-cards-batch.sh CUPILOT FOLDER [ARCH]: writes a batch of 16 candidates of one kernel for two-cards.sh into FOLDER. The
# kernel is a polynomial of 64 steps on 4 Mi numbers; the candidates unroll its loop differently.
set -eu
mkdir -p "$2"
cd "$2"
{
  echo '#define BODY(N) int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float x = in[i], y = 1; _Pragma(N) for (int k = 0; k < 64; ++k) y = y * x + 0.5f; out[i] = y;'
  echo '__global__ void original(const float *in, float *out, int n) { BODY("unroll 1") }'
  for n in 1 2 3 4 5 6 7 8 10 12 14 16 20 24 32 64; do
    echo "__global__ void by$n(const float *in, float *out, int n) { BODY(\"unroll $n\") }"
  done
} > poly.cu
variants=
for n in 1 2 3 4 5 6 7 8 10 12 14 16 20 24 32 64; do
  variants="$variants --variant by$n"
done
# Status 3: the results are not there yet.
"$1" judge poly.cu --kernel original $variants --device spool:batches \
  --workload "grid=16384, block=256, args=[buffer f32 n=4194304 uniform seed=1, buffer f32 n=4194304 output, 4194304]" \
  -- -O2 "--cuda-gpu-arch=${3:-sm_90}" || [ $? -eq 3 ]
ls -d batches/batch-*
