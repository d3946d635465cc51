#!/bin/sh
# Judges the variants of this folder against the kernels of UNIT, and keeps
# them in STORE. usage: fill-store.sh UNIT STORE [FILE...]
set -e
inputs=$(dirname "$0") unit=$1 store=$2
shift 2
wanted=" ${*:-two_pass cluster tma by_four by_two} "
keep() { # KERNEL FILE PLAN GUARD WORKLOAD...
  kernel=$1 file=$2 plan=$3 guard=$4
  shift 4
  case "$wanted" in *" ${file%.cu} "*) ;; *) return ;; esac
  for workload; do set -- "$@" --workload "$workload"; shift; done
  cupilot judge "$unit" --kernel "$kernel" --variant-file "$inputs/$file" --plan "$plan" --guard "$guard" "$@" --store "$store" -- -O2
}
sum='args=[buffer f32 n=20000 uniform, buffer f32 n=1 output,'
keep total two_pass.cu 'scratch=(n ceildiv 4096) * 4; block=(256, 1, 1); launch partial: grid=(n ceildiv 4096, 1, 1); launch combine: grid=(1, 1, 1)' \
  'gx - 1 == 0; gy - 1 == 0; gz - 1 == 0; bx - 256 == 0; by - 1 == 0; bz - 1 == 0; n - 4097 >= 0; disjoint x n * 4, out 4' \
  "grid=1, block=256, $sum 20000]"
keep total cluster.cu 'launch clustered: grid=(8, 1, 1); cluster=(8, 1, 1)' \
  'gx - 1 == 0; gy - 1 == 0; gz - 1 == 0; bx - 256 == 0; by - 1 == 0; bz - 1 == 0; 4096 - n >= 0; n - 1 >= 0; disjoint x n * 4, out 4' \
  "grid=1, block=256, $sum 4000]"
keep doubled tma.cu 'launch tiles: tensormap=in f32 extents(w, h) strides(w * 4) box(32, 8)' \
  'bx - 32 == 0; by - 8 == 0; bz - 1 == 0; w mod 4 == 0; w - 1 >= 0; h - 1 >= 0; 65536 - w >= 0; 65536 - h >= 0; align in 16; disjoint in w * h * 4, out w * h * 4' \
  'grid=3x3, block=32x8, args=[buffer f32 n=1920 uniform, buffer f32 n=1920 output, 96, 20]'
keep scale by_four.cu '' 'bx - 128 == 0; gx * 128 - n >= 0; n mod 4 == 0; align x 16' 'grid=32, block=128, args=[buffer f32 n=4096 uniform, 2, 4096]'
keep scale by_two.cu '' 'bx - 128 == 0; gx * 128 - n >= 0; n mod 2 == 0; align x 8' 'grid=32, block=128, args=[buffer f32 n=4096 uniform, 2, 4096]'
