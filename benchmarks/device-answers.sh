#!/bin/bash
# What a GPU answers where a kernel could tell it from the cpu device
# (device-answers.cu says what).
#   benchmarks/device-answers.sh build FOLDER   where the toolkit is (CUDA_PATH)
#   benchmarks/device-answers.sh run FOLDER [RESULTS]   where the GPU is (sm_90)
# RESULTS (FOLDER by default) gets answers.txt, digests.txt, and NAME.planes.gz
# for the functions of the special unit.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${2:?build or run, and a folder}
case ${1:?build or run} in
build)
  mkdir -p "$folder"
  "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" -std=c++17 -O2 -arch=sm_90 -cudart static \
    -Xcompiler -static-libstdc++,-static-libgcc "$here/device-answers.cu" -o "$folder/device-answers"
  ;;
run)
  results=${3:-$folder}
  "$folder/device-answers" "$results"
  gzip -9 -f "$results"/*.planes
  ;;
*)
  echo "$0: build or run, and a folder" >&2
  exit 2
  ;;
esac
