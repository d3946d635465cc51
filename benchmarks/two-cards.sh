#!/bin/sh
# two-cards.sh RUNNER BATCH FOLDER: how long a batch of candidates takes on one GPU of this host and on two, each from the
# beginning: on two, on one, on one, on two, so that what drifts does not count. RUNNER is cupilot-runner, BATCH a folder as
# --device spool:DIR writes it, FOLDER gets copies of it. benchmarks/two-cards-batch.sh makes one.
# Nothing else of cuPilot is needed.
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
  seconds=$(echo "$end $begin" | awk '{ printf "%.2f", $1 - $2 }')
  echo "$1: $seconds s; $(tail -1 "$folder/$1.log")"
  for card in 0 1; do
    echo "  device $card: $(grep -c "device $card: " "$folder/$1.log" || true) results"
  done
  grep -o '[^ ]*-time: .*' "$folder/$1.log" | sort > "$folder/$1.times"
}

run two-1 0,1
two=$seconds
run one-1 0
one=$seconds
run one-2 0
one=$(echo "$one $seconds" | awk '{ print $1 + $2 }')
run two-2 0,1
two=$(echo "$two $seconds" | awk '{ print $1 + $2 }')
echo "$one $two" | awk '{ printf "one card: %.2f s, two cards: %.2f s, twice each: %.3f of the time; asked: at most 0.55\n", $1, $2, $2 / $1 }'
# Calls and ratios must not depend on the number of cards; two runs on one card say how much they vary by themselves.
differ() { # NAME NAME
  awk 'NR == FNR { split($0, a, " x"); was[$1] = a[2]; said[$1] = a[1]; next }
       { split($0, b, " x"); if ($1 in was && was[$1] > 0) { n++; other += said[$1] != b[1]; d = b[2] / was[$1] - 1; d = d < 0 ? -d : d; if (d > most) most = d } }
       END { printf "%d ratios differ by %.2f %% at most, %d calls differ: ", n, 100 * most, other }' "$folder/$1.times" "$folder/$2.times"
  echo "$1 and $2"
}
differ one-1 one-2
differ one-1 two-1
differ one-2 two-2
