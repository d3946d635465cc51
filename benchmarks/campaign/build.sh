#!/usr/bin/env bash
# build.sh - the campaign's programs as shared libraries, plain and with stores
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: build.sh OUT [STORES]
#
# OUT/original gets all kernels as nvcc compiles them, OUT/variant those with the
# variants of the freest contract: STORES/norm where it has one, else
# STORES/relaxed, else STORES/same. OUT/same gets the variants under "same" of
# those that have a freer one, too (01, 03, 63 and 97). STORES is the folder
# "variants" beside this script if not given.
# torch_compare.py times the libraries.
# CUPILOT_LAUNCH names the launcher, build/bin/cupilot-launch if unset.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2; }
launch=${CUPILOT_LAUNCH:-$here/../../build/bin/cupilot-launch}
flags=(-O2 -arch=sm_90a -Xcompiler -fPIC)
mkdir -p "$1"
out=$(cd "$1" && pwd)
stores=${2:-$here/variants}
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# link FOLDER NAME: as a user's build links, but for the folder.
link() { nvcc -shared -o "$1/$2.so" "$objects/$2.o"; }

# variant CONTRACT SOURCE NAME FOLDER: whether that store has a variant of a
# kernel of SOURCE; then FOLDER gets the library.
variant() {
  CUPILOT_STORE=$stores/$1 "$launch" nvcc "${flags[@]}" -Rpass=cupilot -c "$2" -o "$objects/$3.o" 2>"$objects/remarks" ||
    { cat "$objects/remarks" >&2; exit 1; }
  grep ': variant v_' "$objects/remarks" && link "$4" "$3"
}

mkdir -p "$out/original"
for source in "$here"/*.cu; do
  name=$(basename "$source" .cu)
  nvcc "${flags[@]}" -c "$source" -o "$objects/$name.o"
  link "$out/original" "$name"
done
for kind in variant same; do
  rm -rf "${out:?}/$kind" && mkdir -p "$out/$kind"
done
for source in "$here"/*.cu; do
  name=$(basename "$source" .cu)
  for contract in norm relaxed same; do
    variant "$contract" "$source" "$name" "$out/variant" || continue
    [ "$contract" = same ] || variant same "$source" "$name" "$out/same" || :
    break
  done
done
for kind in variant same; do
  echo "$kind: $(find "$out/$kind" -name '*.so' | wc -l) kernels"
done
