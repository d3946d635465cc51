#!/bin/bash
# The cpu device's self-checking programs on a real GPU: what they expect must
# be what the hardware does.
#   benchmarks/device-tests-on-gpu.sh build FOLDER   where clang 22 is (CUDA_PATH: the toolkit)
#   benchmarks/device-tests-on-gpu.sh run FOLDER     where the GPU is (sm_90a)
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${2:?build or run, and a folder}
cuda=${CUDA_PATH:-/usr/local/cuda}
programs="async barriers clusters device-cub device-groups device-math device-random device-std \
  device-types functions hopper mma proxies \
  ptx-memory ptx-threads ptx-values techniques waiting wgmma wgmma-order wmma"
case ${1:?build or run} in
build)
  mkdir -p "$folder"
  for p in $programs; do
    clang++-22 -Wno-unknown-cuda-version --cuda-path="$cuda" -I"$cuda/include/cccl" \
      -isystem "$cuda/include" --cuda-gpu-arch=sm_90a -O2 -std=c++20 -static-libstdc++ -static-libgcc \
      "$here/test/CpuDevice/Inputs/$p.cu" -o "$folder/$p" -L"$cuda/lib64" -lcudart_static -ldl -lrt \
      -lpthread || exit 1
  done
  ;;
run)
  bad=0
  for p in $programs; do
    if timeout 60 "$folder/$p" > "$folder/$p.txt" 2>&1; then
      echo "$p passed"
    else
      echo "$p FAILED"
      tail -3 "$folder/$p.txt"
      bad=1
    fi
  done
  exit $bad
  ;;
esac
