#!/usr/bin/env bash
# arenas.sh - recording programs that put everything into one allocation, on a real GPU
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: arenas.sh prepare BUILD FOLDER [LLM_C]   what a GPU machine needs
#        arenas.sh measure FOLDER                 there; results under $OUT
#
# Records arenas.cu with PTX (marked copies of its kernels), without it (replays
# with noise), with too little memory for copies, with a small budget of time,
# interrupted, and with descriptions of large contents; then llm.c's
# train_gpt2_fp32.cu, of the checkout LLM_C, with descriptions, if there is cuBLAS.
# Says whether the program's results stay the same and what replays gave. Takes
# three minutes at most.
set -u
here=$(cd "$(dirname "$0")" && pwd)
nvcc() { "${CUDA:-/usr/local/cuda}/bin/nvcc" -w -O3 "$@"; }
case "${1:-}" in
prepare)
  [ $# -ge 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
  mkdir -p "$3/bin" "$3/lib" && cp "$0" "$3" && cp "$2/bin/cupilot-capture" "$3/bin" &&
    cp "$2/lib/libcupilot-capture.so" "$3/lib" || exit 1
  nvcc -gencode arch=compute_90,code=sm_90 -o "$3/bin/arenas-sass" "$here/arenas.cu" || exit
  nvcc -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 -o "$3/bin/arenas" "$here/arenas.cu" || exit
  [ $# -ge 4 ] || exit 0
  cp "$here/../llm_c_data.py" "$3/bin"
  for form in '' -sass; do
    nvcc --use_fast_math -gencode arch=compute_90,code=sm_90 $([ -n "$form" ] || echo -gencode arch=compute_90,code=compute_90) \
      "$4/train_gpt2_fp32.cu" -lcublas -lcublasLt -o "$3/bin/llm$form" || echo "not built: llm$form" >&2
  done
  exit ;;
measure) [ $# -eq 2 ] && FOLDER=$(cd "$2" && pwd) ;;
esac
[ -n "${FOLDER:-}" ] || { sed -n '/^# usage/,/^# Rec/p' "$0" >&2; exit 2; }
out=${OUT:-$FOLDER/out}; mkdir -p "$out"
work=$(mktemp -d); cd "$FOLDER/bin" || exit 1
tool=$PWD/cupilot-capture
exec > >(tee "$out/RESULT.txt") 2>&1
begin=$(date +%s)
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
grep -h MemAvailable /proc/meminfo
now() { date +%s.%N; }
took() { awk "BEGIN { printf \"%.1f s\", $(now) - $1 }"; }
show() { # FOLDER: each kernel with its kept launches, bytes, replays, remarks
  [ -f "$1/launches.json" ] && python3 - "$1" <<'PY'
import collections, json, sys
r = json.load(open(sys.argv[1] + "/launches.json"))
rows = collections.defaultdict(list)
for l in r["launches"]: rows[l["kernel"]].append(l)
for name in sorted(rows, key=lambda n: -sum(l["cost"] for l in rows[n])):
    kept = [l for l in rows[name] if l["kept"]]
    if any(l.get("library") for l in rows[name]): continue
    print("   %-44s launches %5d kept %d MB %s replays %s" % (name[:44], sum(l["count"] for l in rows[name]), len(kept), ["%.2f" % (sum(b["size"] for b in l["buffers"]) / 1e6) for l in kept], [l.get("replay", "-")[:60] for l in kept]))
    for text in sorted({t for l in rows[name] for t in l.get("remarks", []) + l.get("obstacles", [])}): print("       " + text)
    for text in sorted({b["generator"] for l in kept for b in l["buffers"] if "generator" in b})[:4]: print("       " + text)
for text in r.get("notes", []) + r.get("failures", []): print("   note:", text)
PY
}
try() { # NAME LIMIT OPTIONS -- PROGRAM ARGS...
  name=$1; limit=$2; shift 2; options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  [ -x "$1" ] || { echo "== $name: not here"; return; }
  [ $(($(date +%s) - begin)) -lt 150 ] || { echo "== $name: no time left"; return; }
  echo "== $name: cupilot-capture ${options[*]} -- $*"
  s=$(now); timeout "$limit" "$@" >"$work/plain" 2>&1; echo "  plain: status $?, $(took $s)"
  s=$(now); timeout "$limit" "$tool" -o "$work/$name.data" "${options[@]}" -- "$@" >"$work/$name.out" 2>"$work/$name.err"
  echo "  recorded: status $?, $(took $s); results $(cmp -s "$work/plain" "$work/$name.out" && echo same || echo other); $(du -sm "$work/$name.data" | cut -f1) MB"
  show "$work/$name.data"
  grep -a 'cupilot.*\(error\|warning\|hint\|gave the same\| s: \)' "$work/$name.err" | head -8
  cp "$work/$name.err" "$out/$name.table"; cp "$work/$name.data/launches.json" "$out/$name.json"
}
try marked 60 --confirm -- ./arenas 6144
try inferred 90 --confirm -- ./arenas-sass 6144
diff <(cat "$work/marked.out") <(cat "$work/inferred.out") >/dev/null && echo "  both programs made the same"
try tight 60 --confirm -- ./arenas 6144 4000
try tight-sass 60 --per-kernel 1 -- ./arenas-sass 6144 4000
try budget 60 --max-seconds 1 -- ./arenas 6144
try described 60 --confirm --contents describe -- ./arenas 6144
echo "== interrupted"
s=$(now); timeout -s INT 6 "$tool" -o "$work/int.data" -- ./arenas 6144 0 wait >/dev/null 2>"$out/interrupted.table"
echo "  status $?, $(took $s)"; show "$work/int.data" | sed -n 1,6p; ls "$work/int.data" | grep -c bin
export LD_LIBRARY_PATH=${CUDA:-/usr/local/cuda}/lib64:${LD_LIBRARY_PATH:-}
if [ -x llm ] && ldd llm | grep -q 'not found'; then
  echo "== llm.c: $(ldd llm | grep 'not found' | head -1)"
elif [ -x llm ] && (cd "$work" && python3 "$FOLDER/bin/llm_c_data.py" .); then
  cd "$work" && cp "$FOLDER/bin/llm" "$FOLDER/bin/llm-sass" .
  try llm 100 --contents describe -- ./llm -i train.bin -j val.bin
  try llm-sass 100 --per-kernel 1 --contents describe -- ./llm-sass -i train.bin -j val.bin
fi
cd / && rm -rf "$work"
echo "done after $(($(date +%s) - begin)) s"
