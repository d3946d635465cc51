#!/usr/bin/env bash
# What the dispatch costs a launch, against a CUDA run time that returns at
# once: programs of clang's plugin and of nvcc, with CUPILOT_RUNTIME=off too.
# Then what domains cost beside guards, in pairs of programs that run in turn.
# usage: benchmarks/dispatch.sh BUILD-DIR [FOLDER]
# With FOLDER, what it built is left there, linked with CUDA's run time as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(cd "$1" && pwd)
if [ $# -gt 1 ]; then work=$(mkdir -p "$2" && cd "$2" && pwd); else work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT; fi
cuda=$(sed -n 's/^CUPILOT_CUDA_PATH:[A-Z]*=//p' "$build/CMakeCache.txt")
export CUPILOT_CACHE_DIR=$work/cache PATH=$build/bin:$PATH
inputs=test/Plans/Inputs unit=benchmarks/dispatch/launches.cu store=$work/store

wide=benchmarks/dispatch/wide.cu
buffers=$(for _ in 1 2 3 4 5 6 7 8; do printf 'buffer f32 n=512 uniform, '; done)
if [ ! -d "$store" ]; then
  test/Plans/Inputs/fill-store.sh "$unit" "$store" >&2
  cupilot judge "$unit" --kernel wide --variant-file "$wide" --guard 'bx == 128; gx * 128 - n0 >= 0' \
    --workload "grid=4, block=128, args=[$buffers 512, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]" \
    --store "$store" -- -O2 >&2
fi
python3 benchmarks/dispatch/domains.py none "$store"
rm -rf "$work/store-domains" && cp -r "$store" "$work/store-domains"
python3 benchmarks/dispatch/domains.py put "$work/store-domains"
g++ -O2 -I"$cuda/include" -c benchmarks/dispatch/stub-cudart.cpp -o "$work/stub.o"
g++ -O2 -c benchmarks/dispatch/bench.cpp -o "$work/bench.o"
clang="/usr/lib/llvm-22/bin/clang++ -Wno-unknown-cuda-version --cuda-path=$cuda -isystem $cuda/include --cuda-gpu-arch=sm_90 -O2"
$clang -fplugin="$build/lib/cupilot.so" -fplugin-arg-cupilot-store="$store" -fplugin-arg-cupilot-basis=modelled -c "$unit" -o "$work/clang.o"
$clang -fplugin="$build/lib/cupilot.so" -fplugin-arg-cupilot-store="$work/store-domains" -fplugin-arg-cupilot-basis=modelled -c "$unit" -o "$work/clang-domains.o"
compilers=clang
if [ -x "$cuda/bin/nvcc" ]; then
  cupilot-launch "$cuda/bin/nvcc" -arch=sm_90 -O2 -fplugin-arg-cupilot-store="$store" -fplugin-arg-cupilot-basis=modelled -c "$unit" -o "$work/nvcc.o"
  compilers="clang nvcc"
fi
for c in $compilers; do
  g++ "$work/$c.o" "$work/bench.o" "$work/stub.o" -lbenchmark -lpthread -Wl,-rpath,'$ORIGIN' -o "$work/$c-stub"
  if [ $# -gt 1 ]; then
    g++ "$work/$c.o" "$work/bench.o" -L"$cuda/lib64" -lcudart_static -lbenchmark -lpthread -ldl -lrt -Wl,-rpath,'$ORIGIN' -o "$work/$c-gpu"
  fi
  for mode in on off; do
    echo "$c, variants $mode"
    CUPILOT_RUNTIME=$mode "$work/$c-stub" --benchmark_repetitions=7 --benchmark_min_time=0.05 --benchmark_report_aggregates_only=true \
      --benchmark_counters_tabular=true 2>/dev/null | grep -E 'median' || true
  done
done
g++ "$work/clang-domains.o" "$work/bench.o" "$work/stub.o" -lbenchmark -lpthread -Wl,-rpath,'$ORIGIN' -o "$work/clang-domains-stub"
echo "clang, guards against guards and domains"
python3 benchmarks/dispatch/domains.py pair "$work/clang-stub" "$work/clang-domains-stub"
