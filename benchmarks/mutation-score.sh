#!/bin/sh
# Mutation score of the gate over all kernels of test/Gate/Kernels.
#   benchmarks/mutation-score.sh BUILD [LIMIT] [SEED] [RESULTS.jsonl]
# BUILD: a build tree. LIMIT: mutants of each kernel (default 30). Survivors are run on 1,000 independent inputs. With RESULTS, an interrupted run goes on.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
results=${4:-}
exec "$build/bin/cupilot" mutate "$root"/test/Gate/Kernels/*.cu \
  --limit="${2:-30}" --seed="${3:-1}" --independent=1000 \
  --equivalent="$root/benchmarks/mutation-survivors.md" \
  --workers="${WORKERS:-2}" ${results:+--results="$results" --resume} \
  --minimum=97
