#!/usr/bin/env bash
# What the clang plugin costs a compilation, as the ratio of medians of paired
# runs, one with and one without it in turn.
# usage: benchmarks/plugin-overhead.sh BUILD-DIR [RUNS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(cd "$1" && pwd) runs=${2:-15}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cuda=$(sed -n 's/^CUPILOT_CUDA_PATH:[A-Z]*=//p' "$build/CMakeCache.txt")
clang="/usr/lib/llvm-22/bin/clang++ -Wno-unknown-cuda-version --cuda-path=$cuda --cuda-gpu-arch=sm_90 -O2"
export CUPILOT_CACHE_DIR=$work/cache PATH=$build/bin:$PATH

cupilot-cpucc -O2 examples/nbody.cu -o "$work/nbody"
cupilot capture -o "$work/w.mlir" -- "$work/nbody" >/dev/null 2>&1
cupilot evolve examples/nbody.cu --workloads "$work/w.mlir" --store "$work/store" --accept-estimates \
  --population 6 --generations 1 -- -O2 >/dev/null 2>&1
# The same unit with the variant written into it by hand, as a second kernel.
{ cat examples/nbody.cu; sed 's/accelerate/accelerateVariant/' "$work"/store/kernels/*/variants/v_*.cu |
  sed 's/^namespace gravity/namespace variant/; s/gravity::/variant::/g'; } >"$work/byhand.cu"
echo 'int add(int a, int b) { return a + b; }' >"$work/plain.cpp"

plugin="-fplugin=$build/lib/cupilot.so -fplugin-arg-cupilot-store=$work/store -fplugin-arg-cupilot-basis=modelled"
compare() { # NAME BASE-COMMAND PLUGIN-COMMAND
  python3 - "$runs" "$@" <<'EOF'
import statistics, subprocess, sys, time
runs, name, base, plugin = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
def once(command):
    start = time.perf_counter()
    subprocess.run(command, shell=True, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start
once(base), once(plugin)
pairs = [(once(base), once(plugin)) for _ in range(runs)]
ratios = [b / a for a, b in pairs]
extra = statistics.median(b - a for a, b in pairs) * 1e3
print(f"{name}: ratio {statistics.median(ratios):.3f}, {extra:+.1f} ms (median of {runs} pairs)")
EOF
}
compare "no kernels" "/usr/lib/llvm-22/bin/clang++ -O2 -c $work/plain.cpp -o $work/a.o" \
  "/usr/lib/llvm-22/bin/clang++ -O2 $plugin -c $work/plain.cpp -o $work/b.o"
compare "kernels, no hit" "$clang -c examples/heat.cu -o $work/a.o" "$clang $plugin -c examples/heat.cu -o $work/b.o"
compare "hit, warm cache, against the variant by hand" "$clang -c $work/byhand.cu -o $work/a.o" \
  "$clang $plugin -c examples/nbody.cu -o $work/b.o"
