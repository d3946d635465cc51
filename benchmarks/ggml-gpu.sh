#!/usr/bin/env bash
# ggml-gpu.sh - ggml's CUDA backend on a GPU: recorded, searched by rules, built again, tested
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: ggml-gpu.sh STEP GGML WORK [BUILD]
#
# GGML is a checkout of ggml, which is not changed. Each STEP ends within STEP_SECONDS (540) and goes on where it was interrupted:
#
# build    the backend for one architecture without FlashAttention (GGML_CUDA_FA=OFF), and test-backend-ops, by nvcc and CMake through
#          cupilot-launch with JOBS processes (all cores). Again, if it says that it is not done.
# record   cupilot capture of test-backend-ops on the operations of ggml_backend.py, at 512 tokens.
# search   cupilot evolve by rules on the GPU for the kernels of KERNELS below, SEARCHES (6) at a time with CANDIDATES (4) processes each. A
#          search makes and judges nothing after SEARCH (240) seconds. Their stores together are WORK/store. ONLY=TEXT: those whose line in
#          KERNELS contains TEXT.
# rebuild  the units of these kernels once more, with the store.
# test     ggml's own tests of the operations with originals and with variants: results, launches, kernel times (cupilot compare).
# sizes    the same for the cases of ggml_backend.py at 512 tokens, and at five sizes that were chosen before: 1, 77, 509, 1024, 16. Then by
#          kernel time, how much of the launches of kernels with variants took them.
# perf     ggml's own times (test-backend-ops perf) of the 512 tokens, originals and variants in turns. ggml launches each operation so that it may begin
#          before the one before it ends (GGML_CUDA_PDL=1), and so variants are that wait before anything else. Both are timed without that, too.
#
# WORK/results has what each step says. Exit status: that of the step; 2 wrong use.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 3 ] || [ ! -e "$2/include/ggml.h" ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
step=$1
ggml=$(cd "$2" && pwd)
mkdir -p "$3/results"
work=$(cd "$3" && pwd)
export PATH=$(cd "${4:-$here/../build}" && pwd)/bin:$PATH
export CUPILOT_CACHE_DIR=${CUPILOT_CACHE_DIR:-$work/cache}
jobs=${JOBS:-$(nproc)}
until=$(($(date +%s) + ${STEP_SECONDS:-540}))
tokens=512
sizes="1 77 509 1024 16"
# Unit and kernel, and the names of ggml's tests of them.
KERNELS="
scale|scale_f32(
clamp|op_clamp_kernel<float>
unary|unary_op_kernel<&op_silu(
unary|unary_op_kernel<&op_gelu(
unary|unary_op_kernel<&op_relu(
unary|unary_op_kernel<&op_sqr(
unary|leaky_relu_kernel<float>
unary|unary_gated_op_kernel<
norm|void norm_f32<1024>
norm|rms_norm_f32<1024, false, false>
norm|l2_norm_f32<1024>
norm|rms_norm_back_f32<1024>
sumrows|reduce_rows_f32<false>
mean|reduce_rows_f32<true>
"
OPERATIONS=SCALE,CLAMP,LEAKY_RELU,SQR,SILU,GELU,RELU,SWIGLU,NORM,RMS_NORM,RMS_NORM_BACK,L2_NORM,SUM_ROWS,MEAN
ops=$work/build/bin/test-backend-ops

say() {
  local begin=$(date +%s%N)
  "$@"
  local status=$?
  echo "== status $status, $((($(date +%s%N) - begin) / 1000000)) ms: $*" >&2
  return $status
}
# Runs "$@" for as long as the step has, at most.
limited() { say timeout -k 5 "$((until - $(date +%s)))" "$@"; }
cases() { [ -s "$work/cases-$1.txt" ] || python3 "$here/ggml_backend.py" cases "$ggml" "$1" >"$work/cases-$1.txt"; }
make_backend() { limited cmake --build "$work/build" --parallel "$jobs" --target test-backend-ops; }
store_of() { echo "$work/stores/$(echo "$1" | tr -c 'a-z0-9\n' _)"; }

step_build() {
  [ -e "$work/build/CMakeCache.txt" ] ||
    say cmake -S "$ggml" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90 -DGGML_CUDA_FA=OFF -DGGML_CUDA_NCCL=OFF \
      -DGGML_NATIVE=OFF -DGGML_CCACHE=OFF -DGGML_BUILD_TESTS=ON -DGGML_BUILD_EXAMPLES=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
      -DCMAKE_CUDA_COMPILER_LAUNCHER=cupilot-launch -DCMAKE_SHARED_LINKER_FLAGS=-s >"$work/results/configure.txt" || return
  make_backend >"$work/results/build.txt" 2>&1
  local status=$?
  tail -n 3 "$work/results/build.txt"
  return $status
}

step_record() {
  cases $tokens
  # Tensors of one operation share an allocation: each gets its own range.
  limited cupilot capture --max-seconds=200 --per-kernel=1 --whole-mb=0 -o "$work/app.mlir" -- "$ops" test -b CUDA0 --test-file "$work/cases-$tokens.txt" \
    >"$work/results/record.txt" 2>&1
  local status=$?
  grep -vE 'OK$' "$work/results/record.txt" | head -n 60
  du -sh "$work/app.data"
  return $status
}

search() {
  local store=$(store_of "$1") resume=
  [ ! -s "$store/journal.sqlite" ] || resume=--resume
  limited cupilot evolve -p "$work/build" --workloads "$work/app.mlir" --store "$store" --only "$1" --device cuda --jobs "${CANDIDATES:-4}" \
    --max-seconds "${SEARCH:-240}" --generations 1 --population "${POPULATION:-8}" -v $resume
}
step_search() {
  local unit kernel log
  # What no search has ended yet.
  while IFS='|' read -r unit kernel; do
    [ -n "$unit" ] && [[ "$unit|$kernel" = *"${ONLY:-}"* ]] || continue
    log=$work/results/search-$(basename "$(store_of "$kernel")").txt
    ! grep -qE '^expected by|no variant was accepted' "$log" 2>/dev/null || continue
    while [ "$(jobs -rp | wc -l)" -ge "${SEARCHES:-6}" ]; do wait -n; done
    [ $((until - $(date +%s))) -ge 60 ] || break
    search "$kernel" >"$log" 2>&1 </dev/null &
  done <<<"$KERNELS"
  wait
  # One store: a kernel's files have names of their own.
  rm -rf "$work/store"
  mkdir "$work/store"
  for store in "$work"/stores/*/; do
    [ ! -d "$store/kernels" ] || (cd "$store" && find . -mindepth 1 -maxdepth 1 ! -name 'journal*' -exec cp -r {} "$work/store/" \;)
  done
  grep -hE '^ +[0-9.]+% ' "$work"/results/search-*.txt | sort -u
  grep -LE '^expected by|no variant was accepted' "$work"/results/search-*.txt | sed 's/^/not done: /'
  cupilot store check --store "$work/store"
  cupilot store list --store "$work/store"
}

step_rebuild() {
  local unit
  export CUPILOT_STORE=$work/store NVCC_APPEND_FLAGS=-Rpass=cupilot
  # The objects from before know nothing of the store.
  for unit in $(cut -d'|' -f1 <<<"$KERNELS" | sort -u); do
    find "$work/build" -name "$unit.cu.o" ! -newer "$work/store" -delete
  done
  make_backend >"$work/results/rebuild.txt" 2>&1
  local status=$?
  grep -o 'remark: .*' "$work/results/rebuild.txt" | sort -u
  tail -n 1 "$work/results/rebuild.txt"
  return $status
}

compare() {
  local name=$1
  shift
  limited cupilot compare --runs=0 --json --ignore='MB free' -- "$ops" "$@" >"$work/results/$name.json" 2>"$work/results/$name.err"
  local status=$?
  if [ -s "$work/results/$name.json" ]; then
    python3 "$here/ggml_backend.py" summary "$work/results/$name.json" | tee "$work/results/$name.txt"
  else
    tail -n 3 "$work/results/$name.err"
  fi
  return $status
}
step_test() { compare test test -b CUDA0 -o "$OPERATIONS"; }
step_sizes() {
  local each status=0
  for each in $tokens $sizes; do
    cases "$each"
    echo "# $each tokens"
    compare "size-$each" test -b CUDA0 --test-file "$work/cases-$each.txt" || status=$?
  done
  echo "# the five sizes"
  python3 "$here/ggml_backend.py" inside $(for each in $sizes; do find "$work/results" -name "size-$each.json" -size +0; done) | tee "$work/results/inside.txt"
  return $status
}
step_perf() {
  local mode pdl
  cases $tokens
  for pdl in 1 0; do
    for mode in off apply off apply; do
      echo "# GGML_CUDA_PDL=$pdl CUPILOT_RUNTIME=$mode"
      GGML_CUDA_PDL=$pdl CUPILOT_RUNTIME=$mode limited "$ops" perf -b CUDA0 --test-file "$work/cases-$tokens.txt" | grep -E 'us/run' || return
    done
  done | tee "$work/results/perf.txt"
}

case $step in
  build | record | search | rebuild | test | sizes | perf) "step_$step" ;;
  *)
    echo "ggml-gpu.sh: STEP is build, record, search, rebuild, test, sizes or perf, not '$step'" >&2
    exit 2
    ;;
esac
