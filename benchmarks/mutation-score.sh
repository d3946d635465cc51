#!/bin/sh
# Mutation score of the gate over all kernels of test/Gate/Kernels, and six variants of the campaign (mutation-variants.txt).
#   benchmarks/mutation-score.sh BUILD [LIMIT] [SEED] [RESULTS.jsonl] [-- FLAGS]
# BUILD: a build tree. LIMIT: mutants of each kernel (default 50). Survivors are run on 1,000 independent inputs. With RESULTS, an interrupted run goes on.
# FLAGS: clang's (default --cuda-gpu-arch=sm_90a), or a command of nvcc, as in "-- nvcc -arch=sm_90a": then the mutants are those of the text, as nvcc compiles them.
# WORKERS (default 2) processes share the mutants of all kernels, so that none waits for another at a kernel's end. One more run then judges what is
# left (mutants in the place of those that do not count) and prints the score.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
shift
limit=
seed=
results=
for name in limit seed results; do
  [ $# -gt 0 ] && [ "$1" != -- ] || break
  eval "$name=\$1"
  shift
done
if [ $# -gt 0 ]; then
  [ "$1" = -- ] || { echo "mutation-score.sh: flags come behind --, not '$1'" >&2; exit 2; }
  shift
fi
[ $# -gt 0 ] || set -- --cuda-gpu-arch=sm_90a
limit=${limit:-50}
seed=${seed:-1}
workers=${WORKERS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=${results:-$work/results.jsonl}
# Variants get the comments that cupilot mutate reads, behind their text, so that lines stay.
grep -v '^#' "$root/benchmarks/mutation-variants.txt" | while IFS='|' read -r path kernel launch; do
  path=$(echo "$path" | tr -d ' ')
  {
    cat "$root/benchmarks/campaign/variants/$path"
    printf '\n// kernel:%s\n// workload:%s\n' "$kernel" "$launch"
  } >"$work/$(basename "$path")"
done
mutate() { # OPTIONS FLAGS..., with OPTIONS in one word
  options=$1
  shift
  # shellcheck disable=SC2086 # Several options.
  "$build/bin/cupilot" mutate "$root"/test/Gate/Kernels/*.cu "$work"/v_*.cu \
    --limit="$limit" --seed="$seed" --independent=1000 \
    --equivalent="$root/benchmarks/mutation-survivors.md" \
    --results="$results" --resume $options -- "$@"
}
processes=
part=0
while [ "$part" -lt "$workers" ]; do
  mutate "--part=$part/$workers --workers=1" "$@" >"$work/part.$part" 2>&1 &
  processes="$processes $!"
  part=$((part + 1))
done
# Whoever ends this script ends them.
trap 'kill $processes 2>/dev/null; rm -rf "$work"; exit 130' INT TERM
part=0
for process in $processes; do
  wait "$process" || { cat "$work/part.$part" >&2; exit 1; }
  part=$((part + 1))
done
trap 'rm -rf "$work"' INT TERM
mutate "--workers=$workers --minimum=99" "$@"
