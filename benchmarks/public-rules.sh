#!/usr/bin/env bash
# public-rules.sh - public programs as they are, searched by rules on a GPU
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public-rules.sh prepare BUILD FOLDER CHECKOUTS
#        public-rules.sh measure FOLDER [BUILD [NAME...]]
#
# prepare draws 12 of HeCBench's programs in public-programs.txt: those with the smallest SHA-256 of "COMMIT NAME", where COMMIT is this
# checkout's (SEED names another). They run with the arguments of their own makefiles. Programs whose makefile runs nothing, or on a file
# that is not in the checkout, are left out before the draw, with the reason. Into FOLDER go the sources that they include, the
# list, and the strategies.
#
# measure, on the machine with the GPU, does for each what a user would: "nvcc -O3 -arch=sm_90" (with lambdas for the device and constexpr
# functions allowed), cupilot capture, cupilot evolve by rules (those two of its kernels with the most time), the build once more through
# cupilot-launch, cupilot compare. Searches go beside each other; their runners take turns on the GPU, and comparisons come one after the
# other at the end. A program that runs for longer than RUN seconds (8), or of which no launch is kept, gets 10 as its last argument, which
# is how often it repeats its work, and then the arguments of public-programs.txt. Nothing takes longer than its limit: CAPTURE (60), COMPARE
# (40) seconds; a search makes and judges nothing after SEARCH (200) seconds, and its last checks end after CHECKS (300) more. DEVICE=cpu tries
# all of it without a GPU, with the arguments of public-programs.txt. NAMEs choose programs, so that each has more cores. The programs are dealt
# to the GPUs that GPUS lists ("0").
#
# Logs, tables and stores are in FOLDER/results; results/table.md has a line for each program. Exit status: 0, 2 wrong use.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# This script was tried on them.
tried=" rotary-cuda libor-cuda relu-cuda "
usage() {
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
}

trim() {
  local t=$1
  t=${t#"${t%%[![:space:]]*}"}
  printf '%s' "${t%"${t##*[![:space:]]}"}"
}

# The arguments that the makefile in $1 runs its program with. Fails where it runs none.
makefile_arguments() {
  local line
  line=$(cd "$1" && make -n run 2>/dev/null | grep -m1 -E '^[[:space:]]*\./') || return
  line=$(trim "${line%%[>|&;]*}")
  [ "${line#* }" = "$line" ] || printf '%s' "${line#* }"
}

# Files that the program gets: arguments with a slash or a suffix of letters.
named_files() {
  local word
  for word in $1; do
    case $word in
      -*) ;;
      */* | *.[A-Za-z]*) echo "$word" ;;
    esac
  done
}

# A line for each program that may be drawn: hash, name, sources, flags, arguments, smaller arguments.
candidates() {
  local repository commit folder sources flags small passed name dir arguments file
  # shellcheck disable=SC2034 # Fields are read in their order.
  while IFS='|' read -r repository commit folder sources flags small passed; do
    [ "$(trim "$repository")" = zjin-lcf/HeCBench ] || continue
    folder=$(trim "$folder")
    name=${folder##*/}
    dir=$checkout/$folder
    case $tried in *" $name "*)
      echo "left out: $name: this script was tried on it" >&2
      continue ;;
    esac
    if ! arguments=$(makefile_arguments "$dir"); then
      echo "left out: $name: its makefile runs no program" >&2
      continue
    fi
    for file in $(named_files "$arguments"); do
      if [ ! -e "$dir/$file" ]; then
        echo "left out: $name: '$file' is not in the checkout" >&2
        continue 2
      fi
    done
    printf '%s|%s|%s|%s|%s|%s\n' "$(printf '%s %s' "$seed" "$name" | sha256sum | cut -d' ' -f1)" "$name" "$(trim "$sources")" \
      "$(trim "$flags")" "${arguments:--}" "$(trim "$small")"
  done <"$here/public-programs.txt"
}

prepare() {
  [ $# -eq 3 ] && [ -d "$1" ] && [ -d "$3" ] || usage
  local folder=$2 hash name sources flags arguments small file
  checkout=$(cd "$3/HeCBench" && pwd) || exit 2
  seed=${SEED:-$(git -C "$here" rev-parse HEAD)}
  mkdir -p "$folder/results"
  folder=$(cd "$folder" && pwd)
  candidates 2>"$folder/results/left-out.txt" | sort >"$folder/results/drawn-from.txt"
  echo "$seed" >"$folder/results/seed.txt"
  head -n "${PROGRAMS:-12}" "$folder/results/drawn-from.txt" >"$folder/programs.txt"
  cp -r "$here/public-rules.sh" "$here/../strategies" "$folder"
  while IFS='|' read -r hash name sources flags arguments small; do
    [ "$flags" != - ] || flags=
    # What the sources include, and what the program reads.
    (cd "$checkout/src/$name" && for file in $sources; do
      # shellcheck disable=SC2086 # Flags are words.
      nvcc -M $flags "$file" | tr -d '\\' | tr ' ' '\n' | grep -v ':$' | xargs -r realpath -qe
    done; for file in $(named_files "$arguments $small"); do realpath -qe "$file"; done) | grep "^$checkout/" | sort -u |
      (cd "$checkout" && xargs -r realpath --relative-to=. | xargs -r cp --parents -t "$folder")
    echo "${hash:0:12} $name ${arguments}"
  done <"$folder/programs.txt"
}

# Runs "$@" in the program's folder for at most $1 seconds, and says into the log how it ended.
limited() {
  local limit=$1 begin status
  shift
  begin=$(date +%s%N)
  timeout -k 5 "$limit" "$@" </dev/null
  status=$?
  echo "== status $status, $((($(date +%s%N) - begin) / 1000000)) ms: $*"
  return $status
}

# One program's compile commands into $2, with $1 in front.
build() {
  local launcher=$1 to=$2 file
  for file in $sources; do
    # shellcheck disable=SC2086 # Launcher and flags are words.
    $launcher nvcc -O3 -w -arch=sm_90 --expt-relaxed-constexpr --extended-lambda $runtime $flags -c "$PWD/$file" -o "$out/$(basename "$file").o" ${report:-} || return
  done
  # shellcheck disable=SC2046,SC2086
  nvcc -arch=sm_90 $runtime $(for file in $sources; do echo "$out/$(basename "$file").o"; done) -o "$to" -lm
}

# Steps of one program; each reads what the one before it left in $out.
step_build() { build "cupilot-launch --record-commands $out/compile_commands.json" "$out/plain"; }
# shellcheck disable=SC2046,SC2086
step_capture() {
  [ -x "$out/plain" ] || return
  local few=$arguments each
  case ${arguments##* } in
    *[!0-9]* | ? | 10) ;;
    *) few="${arguments% *} 10" && [ "${arguments% *}" != "$arguments" ] || few=10 ;;
  esac
  [ "$device" = cuda ] || { arguments=$small few=$small; }
  for each in "$arguments" "$few" "$small"; do
    if [ "$device" = cuda ]; then
      limited "${RUN:-8}" "$out/plain" $each >"$log/plain.txt" || continue
    fi
    echo "$each" >"$out/arguments"
    limited "${CAPTURE:-60}" cupilot capture --per-kernel=2 --max-launch-mb=2048 --max-mb=3072 -o "$out/app.mlir" -- "$out/plain" $each
    ! grep -q 'cupilot.workload ' "$out/app.mlir" || return 0
  done
}
step_search() {
  [ -s "$out/app.mlir" ] || return
  local all=${SEARCH:-200}
  local until=$(($(date +%s) + all))
  search() {
    local seconds=$1
    shift
    [ "$seconds" -ge 20 ] || return
    limited $((seconds + ${CHECKS:-300})) cupilot evolve -p "$out" --workloads "$out/app.mlir" --store "$out/store" --device "$device" \
      --strategies "$folder/strategies" --jobs "${JOBS:-2}" --max-seconds "$seconds" -v "$@"
  }
  # What one search keeps is in the store, whatever becomes of the next.
  search $((all * 2 / 3)) --top 1 --generations 1 --population "${POPULATION:-16}"
  search $((until - $(date +%s))) --top 2 --generations 2 --population 12 --seed 2
  cupilot store list --store "$out/store"
}
step_tune() {
  [ -d "$out/store/kernels" ] || return
  report=-Rpass=cupilot CUPILOT_STORE=$out/store build cupilot-launch "$out/tuned"
}
# shellcheck disable=SC2046
step_compare() {
  [ -x "$out/tuned" ] || return
  # One comparison at a time on a GPU.
  (flock 9 && limited "${COMPARE:-40}" cupilot compare --runs="${RUNS:-5}" --tolerance=1e-5 --ignore='[Tt]ime|GB/s|[Bb]andwidth|FLOP|hroughput' -- "$out/tuned" $(cat "$out/arguments")) 9>"$folder/work/gpu$CUDA_VISIBLE_DEVICES"
}

is_chosen() { [ ${#chosen[@]} -eq 0 ] || [[ " ${chosen[*]} " = *" $1 "* ]]; }

# Does step $1 of all programs, $2 at a time.
all() {
  local step=$1 most=$2 hash name sources flags arguments small index=0 gpus
  read -ra gpus <<<"${GPUS:-0}"
  while IFS='|' read -r hash name sources flags arguments small; do
    is_chosen "$name" || continue
    index=$((index + 1))
    while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do wait -n; done
    (
      [ "$flags" != - ] || flags=
      [ "$arguments" != - ] || arguments=
      [ "$small" != - ] || small=
      out=$folder/work/$name log=$folder/results/$name
      mkdir -p "$out" "$log"
      export CUDA_VISIBLE_DEVICES=${gpus[index % ${#gpus[@]}]}
      cd "$folder/src/$name" && "step_$step" >"$log/$step.txt" 2>&1
    ) &
  done <"$folder/programs.txt"
  wait
  echo "$step: $(($(date +%s) - start)) s"
}

# What searches and comparisons found, from what they print.
table() {
  local hash name rest log
  first() { grep -hm1 -E "$1" "$2" 2>/dev/null; }
  echo "| program | arguments | best variants: share, ratio, interval | all kernels: originals us, variants us, ratio | wall time | results |"
  echo "|---|---|---|---|---|---|"
  while IFS='|' read -r hash name rest; do
    is_chosen "$name" || continue
    log=$folder/results/$name
    echo "| $name | $(cat "$folder/work/$name/arguments" 2>/dev/null) | $(grep -hE '^ +[0-9.]+% +[0-9.]+x' "$log/search.txt" 2>/dev/null |
      sed -E 's/ +/ /g; s/^ //; s/\(.*//' | sort -u | paste -sd';') | $(first 'all kernels$' "$log/compare.txt" | awk '{print $1 ", " $2 ", " $3}') |$(
      first 'originals / variants:' "$log/compare.txt" | cut -d: -f2-) |$(first '^results:' "$log/compare.txt" | cut -d: -f2-) |"
  done <"$folder/programs.txt"
}

measure() {
  [ $# -ge 1 ] && [ -r "$1/programs.txt" ] || usage
  folder=$(cd "$1" && pwd)
  PATH=$(cd "${2:-$here/../build}" && pwd)/bin:$PATH
  chosen=("${@:3}")
  export PATH CUPILOT_CACHE_DIR=${CUPILOT_CACHE_DIR:-$folder/work/cache}
  device=${DEVICE:-cuda}
  # The cpu device stands in for the shared library.
  runtime=
  [ "$device" = cuda ] || runtime="-cudart shared"
  start=$(date +%s)
  { nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nvcc --version | tail -1; nproc; } >"$folder/results/machine.txt" 2>&1
  all build 16
  all capture "${CAPTURES:-4}"
  all search 12
  all tune 12
  all compare 12
  for name in $(cut -d'|' -f2 "$folder/programs.txt"); do
    cp -r "$folder/work/$name/store/kernels" "$folder/results/$name/" 2>/dev/null
  done
  table | tee -a "$folder/results/table.md"
}

case ${1:-} in
  prepare) shift; prepare "$@" ;;
  measure) shift; measure "$@" ;;
  *) usage ;;
esac
