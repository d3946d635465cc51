#!/bin/bash
# What a GPU answers to every form of the PTX instructions (ptx-rows has them).
#   benchmarks/ptx-rows.sh build FOLDER    where the toolkit is (CUDA_PATH)
#   benchmarks/ptx-rows.sh run FOLDER RESULTS [ANSWERS]   where the GPU is (sm_90,
#     with ptxas); less than a minute on an H200
# RESULTS gets answers.txt, a line of digests for each row, and NUMBER.raw with
# what the rows left whose answers are not those of ANSWERS.
# test/CpuDevice/Inputs/ptx-rows.txt has the H200's; test/CpuDevice/ptx-rows.test
# compares the cpu device with it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${2:?build or run, and a folder}
ptxas=${CUDA_PATH:-/usr/local/cuda}/bin/ptxas
case ${1:?build or run} in
build)
  mkdir -p "$folder"
  rows=$(ls "$here"/ptx-rows/*Rows.cpp "$here"/ptx-rows/{Module,Operands,Patterns}.cpp)
  # shellcheck disable=SC2086
  g++ -std=c++20 -O2 "$here"/ptx-rows/ptx-rows.cpp $rows -o "$folder/ptx-rows"
  # shellcheck disable=SC2086
  g++ -std=c++20 -O2 -I"${CUDA_PATH:-/usr/local/cuda}/include" "$here"/ptx-rows/gpu/ptx-rows-gpu.cpp $rows \
    -o "$folder/ptx-rows-gpu" -static-libstdc++ -static-libgcc \
    -L"${CUDA_PATH:-/usr/local/cuda}/lib64/stubs" -lcuda
  # ptxas says which of the forms there are.
  "$here/ptx_rows.py" "$folder/ptx-rows" "$ptxas" > "$folder/names.txt"
  ;;
run)
  results=${3:?a folder for the results}
  answers=${4:-$folder/names.txt}
  mkdir -p "$results/parts"
  export folder results answers ptxas
  # Where a part fails or hangs, each of its rows gets a process of its own.
  part() {
    timeout 40 "$folder/ptx-rows-gpu" "$answers" "$ptxas" "$results/parts" "$1" ||
      timeout 120 "$folder/ptx-rows-gpu" "$answers" "$ptxas" "$results/parts" "$1" one
  }
  export -f part
  last=$(($("$folder/ptx-rows" parts "$answers") - 1))
  seq 0 $last | xargs -P "$(nproc)" -I{} bash -c 'part {}' || echo "$0: some rows failed" >&2
  for number in $(seq 0 $last); do
    cat "$results/parts/$number.txt"
    mv "$results/parts/$number.raw" "$results/"
  done > "$results/answers.txt"
  rm -r "$results/parts"
  ;;
*)
  echo "$0: build or run, and a folder" >&2
  exit 2
  ;;
esac
