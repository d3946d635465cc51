#!/bin/bash
# Runs every fuzz target at once and keeps what it finds.
#
#   benchmarks/fuzz.sh PROGRAM INPUTS OUT SECONDS [MORE-INPUTS]
#
# PROGRAM is cupilot-fuzz (cmake --preset fuzz && cmake --build --preset fuzz);
# INPUTS has a folder for each target, as test/Fuzz/Inputs; so has MORE-INPUTS.
# A finding ends a process: it is kept, and another takes its place.
# OUT/summary.txt: processes, runs, CPU seconds, findings for each target.
set -u
program=$(realpath "$1") inputs=$(realpath "$2") out=$(realpath -m "$3") seconds=$4 more=${5:+$(realpath "$5")}
mkdir -p "$out/found" "$out/logs" "$out/corpus"
# Processes of each target: the more code it reaches, the more.
declare -A jobs=([module]=3 [ptx]=2 [lowering]=2 [gpubinary]=2 [record]=2 [nvcc]=2 [clang]=1 [object]=1 [counts]=1)
end=$((SECONDS + seconds))

one() {
  local target=$1 number=$2 left
  while left=$((end - SECONDS)); [ "$left" -gt 5 ]; do
    CUPILOT_FUZZ=$target "$program" -max_total_time="$left" -timeout=10 -rss_limit_mb=2048 \
      -dict="$out/words.$target" -print_final_stats=1 -reload=10 \
      -artifact_prefix="$out/found/$target-" "$out/corpus/$target" >> "$out/logs/$target-$number.log" 2>&1
    [ $? -eq 2 ] && break
  done
  times > "$out/logs/$target-$number.times"
}

for target in "${!jobs[@]}"; do
  mkdir -p "$out/corpus/$target"
  seeds=$target
  [ "$target" != lowering ] || seeds=ptx # It lowers what the reader reads.
  find "$inputs/$seeds" ${more:+"$more/$target"} -type f -exec cp -t "$out/corpus/$target" {} + 2> "$out/logs/copy"
  cat "$inputs/$seeds"/* | tr -cs 'A-Za-z0-9_.%$=<-' '\n' | awk 'length > 1 && length < 40' | sort -u |
    sed 's/.*/"&"/' > "$out/words.$target"
  for number in $(seq "${jobs[$target]}"); do
    one "$target" "$number" &
  done
done
wait

{
  echo "target processes runs cpu-seconds inputs findings"
  for target in $(printf '%s\n' "${!jobs[@]}" | sort); do
    runs=$(cat "$out"/logs/"$target"-*.log | awk '/stat::number_of_executed_units/ {s += $2} END {print s + 0}')
    # The second line of `times` is that of the children: minutes and seconds, user and system.
    cpu=$(for f in "$out"/logs/"$target"-*.times; do sed -n 2p "$f"; done | tr 'ms' '  ' |
      awk '{s += $1 * 60 + $2 + $3 * 60 + $4} END {printf "%d", s}')
    echo "$target ${jobs[$target]} $runs $cpu $(find "$out/corpus/$target" -type f | wc -l)" \
      "$(find "$out/found" -name "$target-*" | wc -l)"
  done
} | tee "$out/summary.txt"
awk 'NR > 1 {r += $3; c += $4; f += $6} END {printf "all: %d runs, %.2f CPU hours, %d findings\n", r, c / 3600, f}' \
  "$out/summary.txt" | tee -a "$out/summary.txt"
