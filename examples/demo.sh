#!/usr/bin/env bash
# The main job on the example programs: capture on the cpu device, evolve with
# the rules translator, rebuild with the plugin, run both, compare, one table.
# usage: examples/demo.sh BUILD-DIR
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(cd "${1:-build}" && pwd)
work=$build/demo
store=$work/store
rm -rf "$work" && mkdir -p "$work"
export PATH=$build/bin:$PATH CUPILOT_CACHE_DIR=$work/cache
say() { printf '\n== %s\n' "$*"; }

say "no GPU is used: the searches keep what the cost model calls faster (--accept-estimates), and the builds take it"
echo "(basis=modelled). A GPU may measure some of it as no faster. Without these two, only what the model is sure of is kept, and"
echo "builds take what was measured."

status=0
for source in examples/*.cu; do
  name=$(basename "$source" .cu)
  say "$name: build for the cpu device and capture"
  cupilot-cpucc -O2 "$source" -o "$work/$name"
  cupilot capture -o "$work/$name.workloads.mlir" -- "$work/$name" | tee "$work/$name.out"

  say "$name: evolve"
  cupilot evolve "$source" --workloads "$work/$name.workloads.mlir" --store "$store" --seed 1 \
    --accept-estimates -- -O2 || [ $? = 1 ] # 1: nothing accepted, which the table shows.

  say "$name: rebuild with -fplugin=cupilot and run"
  cupilot-cpucc -O2 -fplugin="$build/lib/cupilot.so" -fplugin-arg-cupilot-store="$store" \
    -fplugin-arg-cupilot-basis=modelled -Rpass=cupilot -Rpass-missed=cupilot "$source" -o "$work/$name.new" 2>"$work/$name.remarks" ||
    { cat "$work/$name.remarks" >&2; exit 3; }
  CUPILOT_RUNTIME=stats "$work/$name.new" >"$work/$name.new.out" 2>"$work/$name.stats"
  cat "$work/$name.new.out" "$work/$name.stats"
  if [ "$(grep -i checksum "$work/$name.out")" = "$(grep -i checksum "$work/$name.new.out")" ] ||
     { grep -q PASSED "$work/$name.out" && grep -q PASSED "$work/$name.new.out"; }; then
    echo "results agree" >"$work/$name.verdict"
  else
    echo "RESULTS DIFFER" >"$work/$name.verdict"
    status=1
  fi
done

say "what the builds took (times are modelled on an H200, not measured)"
cupilot store list --store "$store"
for source in examples/*.cu; do
  name=$(basename "$source" .cu)
  printf '%-12s %s; ' "$name" "$(cat "$work/$name.verdict")"
  sed -n 's/.*remark: //p' "$work/$name.remarks" | sort -u | paste -sd'|' | sed 's/|/; /g'
done
exit $status
