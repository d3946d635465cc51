#!/bin/sh
# Mutation score of the gate over all kernels of test/Gate/Kernels, and six variants of the campaign (mutation-variants.txt).
#   benchmarks/mutation-score.sh BUILD [LIMIT] [SEED] [RESULTS.jsonl]
# BUILD: a build tree. LIMIT: mutants of each kernel (default 50). Survivors are run on 1,000 independent inputs. With RESULTS, an interrupted run goes on.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
results=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Variants get the comments that cupilot mutate reads, behind their text, so that lines stay.
grep -v '^#' "$root/benchmarks/mutation-variants.txt" | while IFS='|' read -r path kernel launch; do
  path=$(echo "$path" | tr -d ' ')
  {
    cat "$root/benchmarks/campaign/variants/$path"
    printf '\n// kernel:%s\n// workload:%s\n' "$kernel" "$launch"
  } >"$work/$(basename "$path")"
done
"$build/bin/cupilot" mutate "$root"/test/Gate/Kernels/*.cu "$work"/*.cu \
  --limit="${2:-50}" --seed="${3:-1}" --independent=1000 \
  --equivalent="$root/benchmarks/mutation-survivors.md" \
  --workers="${WORKERS:-2}" ${results:+--results="$results" --resume} \
  --minimum=99 -- --cuda-gpu-arch=sm_90a
