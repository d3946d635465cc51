#!/usr/bin/env bash
# build.sh - the campaign's programs as shared libraries, plain and with stores
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: build.sh OUT [STORES]
#
# OUT/original gets all kernels as nvcc compiles them, OUT/variant those of
# which STORES/ID has variants (STORES/ID-norm where there is one), OUT/same
# those of STORES/ID-same: variants of 01, 03, 63 and 97 under the contract
# "same". STORES is the folder "store" beside this script if not given.
# torch_compare.py times the libraries.
# CUPILOT_LAUNCH names the launcher, build/bin/cupilot-launch if unset.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2; }
launch=${CUPILOT_LAUNCH:-$here/../../build/bin/cupilot-launch}
flags=(-O2 -arch=sm_90a -Xcompiler -fPIC)
mkdir -p "$1"
out=$(cd "$1" && pwd)
stores=${2:-$here/store}
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# link FOLDER NAME: as a user's build links, but for the folder.
link() { nvcc -shared -o "$1/$2.so" "$objects/$2.o"; }

mkdir -p "$out/original"
for source in "$here"/*.cu; do
  name=$(basename "$source" .cu)
  nvcc "${flags[@]}" -c "$source" -o "$objects/$name.o"
  link "$out/original" "$name"
done
for kind in variant same; do
  folder=$out/$kind
  rm -rf "$folder" && mkdir -p "$folder"
  for source in "$here"/*.cu; do
    name=$(basename "$source" .cu)
    store=$stores/${name%%-*}
    if [ $kind = same ]; then store+=-same
    elif compgen -G "$store-norm/builds/*.json" >/dev/null; then store+=-norm; fi
    [ -d "$store" ] || continue
    CUPILOT_STORE=$store "$launch" nvcc "${flags[@]}" -Rpass=cupilot \
      -c "$source" -o "$objects/$name.o" 2>"$objects/remarks" ||
      { cat "$objects/remarks" >&2; exit 1; }
    grep ': variant v_' "$objects/remarks" && link "$folder" "$name"
  done
  echo "$kind: $(find "$folder" -name '*.so' | wc -l) kernels"
done
