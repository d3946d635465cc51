#!/usr/bin/env bash
# Calls to a model's interface with scripted faults, under AddressSanitizer with
# its search for leaks: how each ends, and whether one hangs or is lost.
# usage: benchmarks/llm-faults.sh [CALLS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -f build-asan/build.ninja ] || cmake --preset asan >/dev/null
ninja -C build-asan llm-faults >/dev/null
log=$(mktemp) && trap 'rm -f "$log"' EXIT
# What LLVM's allocators poison in our code, its libraries do not unpoison.
export ASAN_OPTIONS=detect_leaks=1:allow_user_poisoning=0:detect_stack_use_after_return=0 UBSAN_OPTIONS=halt_on_error=1
python3 test/LLM/Inputs/server.py --run "$log" build-asan/bin/llm-faults @PORT@ "${1:-1000}"
echo "no leak, no fault of memory"
