#!/usr/bin/env bash
# run.sh - cupilot-runner on a real GPU
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: run.sh prepare BUILD FOLDER   what a GPU machine needs, into FOLDER
#        run.sh measure FOLDER         there; prints, results under $OUT
#
# Ceilings beside torch's copy; 50 bad kernels in a row with a right one after
# each tenth; how many candidates a minute; compute-sanitizer; true differences;
# 200 comparisons of a kernel with itself.
set -u
here=$(cd "$(dirname "$0")" && pwd)
case "${1:-}" in
prepare)
  [ $# -eq 3 ] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
  mkdir -p "$3" && cp "$here"/{recipes.py,summary.py,kernels.cu,run.sh} "$3" &&
    cp "$2/bin/cupilot-runner" "$2/test/Runner/make-batch" "$3" &&
    "${CUDA:-/usr/local/cuda}/bin/nvcc" -cubin -arch=sm_90 -o "$3/kernels.cubin" "$here/kernels.cu"
  exit ;;
measure) [ $# -eq 2 ] && FOLDER=$2 ;;
esac
[ -n "${FOLDER:-}" ] || { sed -n '/^# usage/,/^# Ceil/p' "$0" >&2; exit 2; }
cd "$FOLDER"; OUT=${OUT:-/tmp/runner-out}; mkdir -p "$OUT"; export CUPILOT_CACHE_DIR=/tmp/runner-cache
W=/tmp/runner-work; rm -rf $W; mkdir -p $W
python3 recipes.py $W/recipes
for n in self other bad rate san; do ./make-batch $W/recipes/$n.json $W/$n || echo "make-batch failed: $n"; done
t() { local b=$(date +%s.%N); timeout "$@"; echo "== exit $? seconds $(echo "$(date +%s.%N) - $b" | bc 2>/dev/null || python3 -c "import time,sys;print(time.time()-$b)") : ${*:2:3}"; }
t 60 ./cupilot-runner --list
t 100 ./cupilot-runner --ceilings > $OUT/ceilings.json; python3 -c "
import json; j=json.loads(open('$OUT/ceilings.json').read().split('== exit')[0])
for k,v in j['ceilings'].items(): print(k, '%.4g' % v['value'], v['unit'], v.get('by'), {a:'%.4g'%b for a,b in v['ways'].items()})
print('missing', j['missing'], j.get('clocks_before'), j.get('clocks_after'))"
timeout 60 python3 -c "
import torch
a=torch.rand(1<<30,device='cuda'); b=torch.empty_like(a)
best=9
for i in range(12):
  s=torch.cuda.Event(True); e=torch.cuda.Event(True); s.record(); b.copy_(a); e.record(); torch.cuda.synchronize(); best=min(best,s.elapsed_time(e))
print('torch copy 4 GiB: %.4g B/s' % (2*4*(1<<30)/best*1e3))"
for n in bad rate san other self; do
  t 170 ./cupilot-runner $W/$n 2> $OUT/$n.log; tail -2 $OUT/$n.log
done
t 30 ./cupilot-runner $W/bad 2>&1 | tail -2
python3 summary.py $W
nvidia-smi --query-gpu=clocks.sm,clocks.mem,temperature.gpu,memory.used --format=csv
ls /dev/shm /tmp | grep cupilot-runner | head
tar czf $OUT/results.tar.gz -C $W self/results other/results bad/results rate/results san/results
