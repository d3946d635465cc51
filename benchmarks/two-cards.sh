#!/bin/sh
# two-cards.sh RUNNER BATCH FOLDER: how long a batch of candidates takes on one GPU of this host and on two, each from the
# beginning. RUNNER is cupilot-runner, BATCH a folder as --device spool:DIR or `cupilot judge --device spool:DIR` writes it,
# FOLDER gets copies of it. benchmarks/two-cards-batch.sh makes one.
# Nothing else of cuPilot is needed. Takes less than two minutes for 16 candidates.
set -eu
runner=$(realpath "$1") batch=$(realpath "$2")
mkdir -p "$3"
folder=$(realpath "$3")
export CUPILOT_CACHE_DIR="$folder/cache"
nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader 2> /dev/null || true
"$runner" --version
# The ceilings of a card are measured once and kept: that is not part of a generation.
for card in 0 1; do
  "$runner" --ceilings --devices=$card > "$folder/ceilings-$card.json"
done

run() { # NAME DEVICES
  rm -rf "${folder:?}/$1"
  cp -r "$batch" "$folder/$1"
  rm -rf "$folder/$1/results" "$folder/$1/attempts"
  begin=$(date +%s.%N)
  "$runner" "--devices=$2" "$folder/$1" 2> "$folder/$1.log" || true
  end=$(date +%s.%N)
  tail -1 "$folder/$1.log"
  for card in 0 1; do
    echo "  device $card: $(grep -c "device $card: " "$folder/$1.log" || true) results"
  done
  eval "$1=$(echo "$end $begin" | awk '{ printf "%.2f", $1 - $2 }')"
}

run two 0,1
run one 0
echo "one card: $one s, two cards: $two s"
echo "$one $two" | awk '{ printf "two cards take %.3f of the time of one; asked: at most 0.55\n", $2 / $1 }'
# Calls and ratios must not depend on the number of cards.
for name in one two; do
  grep -o '[^ ]*-time: .*' "$folder/$name.log" | sort > "$folder/$name.times"
done
awk 'NR == FNR { split($0, a, " x"); was[$1] = a[2]; next }
     { split($0, b, " x"); if ($1 in was && was[$1] > 0) { n++; d = b[2] / was[$1] - 1; d = d < 0 ? -d : d; if (d > most) most = d } }
     END { printf "%d ratios; on one and on two cards they differ by %.2f %% at most\n", n, 100 * most }' "$folder/one.times" "$folder/two.times"
