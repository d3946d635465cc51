#!/usr/bin/env bash
# run.sh - recording on a real GPU
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: run.sh prepare BUILD FOLDER [CHECKOUTS]   what a GPU machine needs
#        run.sh measure FOLDER                     there; results under $OUT
#
# Records forms.cu in every form, the programs in examples/, and public programs
# (CHECKOUTS holds cuda-samples and HeCBench): are all launches recorded, does
# their replay leave the same memory? What recording costs 10,000 launches of
# 50 us and 100,000 of 3 us.
set -u
here=$(cd "$(dirname "$0")" && pwd)
nvcc() { "${CUDA:-/usr/local/cuda}/bin/nvcc" -w -O2 -arch=sm_90 "$@"; }
case "${1:-}" in
prepare)
  [ $# -ge 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
  mkdir -p "$3/bin" "$3/lib" && cp "$0" "$3" && cp "$2/bin/cupilot-capture" "$3/bin" &&
    cp "$2/lib/libcupilot-capture.so" "$3/lib" || exit 1
  for source in "$here/forms.cu" "$here/overhead.cu" "$here/gpus.cu" "$here"/../../examples/*.cu; do
    nvcc -o "$3/bin/$(basename "$source" .cu)" "$source" || echo "not built: $source" >&2
  done
  [ $# -ge 4 ] || exit 0
  for name in attention softmax heat2d jacobi; do
    nvcc -I"$4/HeCBench/src/$name-cuda" -o "$3/bin/hec-$name" "$4/HeCBench/src/$name-cuda"/*.cu || echo "not built: $name" >&2
  done
  for name in simpleStreams simpleZeroCopy streamOrderedAllocation simpleMultiGPU; do
    source=$(find "$4/cuda-samples/Samples" -name "$name.cu" | head -1)
    nvcc -I"$4/cuda-samples/Common" -o "$3/bin/sample-$name" "$source" || echo "not built: $name" >&2
  done
  exit ;;
measure) [ $# -eq 2 ] && FOLDER=$(cd "$2" && pwd) ;;
esac
[ -n "${FOLDER:-}" ] || { sed -n '/^# usage/,/^# Rec/p' "$0" >&2; exit 2; }
out=${OUT:-$FOLDER/out}; mkdir -p "$out"
work=$(mktemp -d); cd "$FOLDER/bin" || exit 1
tool=$PWD/cupilot-capture
exec > >(tee "$out/RESULT.txt") 2>&1
python=$(command -v python3)
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
summary() { # FOLDER: launches, kernels, kept, replays
  $python - "$1" <<'PY'
import collections, json, sys
try: r = json.load(open(sys.argv[1] + "/launches.json"))
except Exception as e: print("   no record:", e); sys.exit()
L = r["launches"]; kept = [l for l in L if l["kept"]]
print("   launches %d timed %d kernels %d classes %d kept %d processes %s" % (sum(l["count"] for l in L), sum(l.get("timed", l["count"]) for l in L), len({l["kernel"] for l in L}), len(L), len(kept), r.get("processes")))
print("   replays", dict(collections.Counter(l.get("replay", "-").split(":")[0] for l in kept)), "structs", sum(any("struct" in x for x in l.get("remarks", [])) for l in kept))
bad = [(l["kernel"][:50], l.get("replay"), l.get("obstacles")) for l in kept if l.get("replay", "same") != "same" or l.get("obstacles")]
for b in bad[:14]: print("   ", b)
for l in L:
    if not l["kept"] and l.get("obstacles"): print("    not kept:", l["kernel"][:50], l["obstacles"][:2])
for n in r.get("notes", []) + r.get("failures", []): print("    note:", n)
PY
}
try() { # NAME LIMIT PROGRAM ARGS...
  name=$1; limit=$2; shift 2
  [ -x "$1" ] || command -v "$1" >/dev/null || { echo "== $name: not here"; return; }
  echo "== $name: $*"
  s=$(date +%s.%N); timeout $limit "$@" >$work/$name.plain 2>&1 </dev/null; p=$?; e=$(date +%s.%N)
  timeout $limit $tool -o $work/$name.data --timing -- "$@" >$work/$name.t.out 2>$work/$name.t.err </dev/null; ts=$?; t=$(date +%s.%N)
  echo "  timing:"; summary $work/$name.data >$work/s; head -1 $work/s
  f0=$(date +%s.%N)
  timeout $limit $tool -o $work/$name.data --confirm -- "$@" >$work/$name.out 2>$work/$name.err </dev/null; f=$?; f1=$(date +%s.%N)
  echo "  full:"; summary $work/$name.data
  echo "  status plain $p timing $ts full $f; seconds plain, timing, full+confirm $($python -c "print('%.2f %.2f %.2f' % ($e-$s, $t-$e, $f1-$f0))"); MB $(du -sm $work/$name.data | cut -f1); program says: $(grep -h -a -o 'launches [0-9]*' $work/$name.out | tail -1); output $(cmp -s $work/$name.plain $work/$name.out && echo same || echo other)"
  grep -a 'cupilot.*\(error\|warning\|hint\)' $work/$name.err | head -3
  cp $work/$name.err "$out/tables.$name" 2>/dev/null; cat "$out/tables.$name" >>"$out/tables.txt"; rm "$out/tables.$name"
}
for mode in "" forms streams graph fork segv exit kill abort fault; do try forms-$mode 60 ./forms $mode; done
cp $work/forms-forms.data/launches.json "$out/forms.json"
try heat 60 ./heat 512 512 20
(cd $work && tar czf "$out/heat.tgz" heat.data)
try nbody 60 ./nbody 4096
try softmax 60 ./softmax 512 1000
try hec-attention 60 ./hec-attention 8192 8192 3 100
try hec-softmax 60 ./hec-softmax 100000 784 1 20
try hec-heat2d 60 ./hec-heat2d 2048 2048 200
try hec-jacobi 60 ./hec-jacobi
try simpleStreams 60 ./sample-simpleStreams
try simpleZeroCopy 60 ./sample-simpleZeroCopy
try streamOrdered 60 ./sample-streamOrderedAllocation
try simpleMultiGPU 60 ./sample-simpleMultiGPU
try gpus 60 ./gpus
try forms-many 100 ./forms many
echo "== overhead: time from first to last launch, five rounds each, alternating"
for what in "10000 50" "100000 3"; do
  for round in 1 2 3 4 5; do
    echo "plain $what $(./overhead $what)"
    $tool -o $work/o.data --timing -- ./overhead $what 2>/dev/null | sed "s/^/timing $what /"
    $tool -o $work/o.data -- ./overhead $what 2>/dev/null | sed "s/^/full $what /"
  done
done | tee "$out/overhead.txt" | $python -c '
import sys, statistics as s, collections
t = collections.defaultdict(list)
for l in sys.stdin:
    w = l.split(); t[w[1], w[2], w[0]].append(float(w[3]))
for k in sorted(t): print("  %s launches of %s us, %-6s median %.4f s  %s; ratio to plain %.4f" % (*k, s.median(t[k]), ["%.4f" % x for x in t[k]], s.median(t[k]) / s.median(t[k[0], k[1], "plain"])))'
echo "== several GPUs: $(nvidia-smi -L | wc -l)"
echo "== python (shared libraries, driver API by other ways)"
cat >$work/t.py <<'PY'
import torch
a = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
for _ in range(20): b = torch.softmax(a @ a, -1)
torch.cuda.synchronize(); print("sum %.4f" % b.float().sum().item())
PY
try torch 120 $python $work/t.py
rm -rf $work; echo done
