#!/usr/bin/env bash
# public-programs.sh - public CUDA programs with a check of their own, on the cpu device
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: public-programs.sh CHECKOUTS [LIST] [NAME...]
#
# CHECKOUTS holds a folder for each repository that LIST names, by the last part
# of its name (HeCBench, cuda-samples). LIST (public-programs.txt beside this
# script) has one program a line, fields with " | " between them:
#   repository | commit | folder | sources | flags | arguments | passed
# Each is built by cupilot-cpucc, or with COMPILER=nvcc by "nvcc -arch=sm_90
# -cudart shared" with what clang allows unasked, and run in its folder, for at most
# a minute of processor time; nvcc's programs run with the cpu device's libraries on
# the loader's path.
# Its own "passed" is exit status 0 and, where the last field is no "-", a line
# that this extended regular expression matches, none that says FAIL, and no
# fault or refusal of the cpu device, which some programs do not look for.
# NAMEs choose programs by their folder. The table goes to standard output.
#
# PROGRAMS names a folder where built programs are kept: one that is there is
# not built again. CPUCC names the compiler, NVCC nvcc, CUDALIBS the folder with the
# cpu device's libcudart.so.13, LIMIT the seconds of processor time for a run, OPTIMIZE
# its -O flag.
# Exit status: 0 all passed, 1 some did not, 2 wrong use.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cpucc=${CPUCC:-$here/../build/bin/cupilot-cpucc}
compiler=${COMPILER:-cpucc}
libraries=${CUDALIBS:-$here/../build/lib/cupilot-cuda}
limit=${LIMIT:-60}
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
  sed -n '/^# usage/,/^set/{/^#/p}' "$0" >&2
  exit 2
fi
checkouts=$(cd "$1" && pwd)
list=${2:-$here/public-programs.txt}
shift $(($# > 1 ? 2 : 1))
case $compiler in
  cpucc) build=("$cpucc") needed=$cpucc search=${LD_LIBRARY_PATH:-} ;;
  nvcc)
    build=("${NVCC:-nvcc}" -arch=sm_90 --expt-relaxed-constexpr --extended-lambda -cudart shared) needed=$libraries/libcuda.so.1
    search=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ;;
  *) echo "public-programs.sh: error: COMPILER is cpucc or nvcc, not '$compiler'" >&2; exit 2 ;;
esac
if [ ! -x "$needed" ] || [ ! -r "$list" ]; then
  echo "public-programs.sh: error: no '$needed' or no '$list'" >&2
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A checkout of another commit is another program.
check_commit() {
  [ -e "$1/.git" ] || return 0
  local is
  is=$(git -C "$1" rev-parse HEAD) || return 0
  case $is in "$2"*) ;; *)
    echo "public-programs.sh: warning: $1 is at $is, not $2" >&2 ;;
  esac
}

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN{printf "%.1f", b - a}'; }

total=0 passed=0 known=""
echo "| program | arguments | build, s | run, s | verdict |"
echo "|---|---|---|---|---|"
while IFS='|' read -r repository commit folder sources flags arguments pattern; do
  trim() { local t=$1; t=${t#"${t%%[![:space:]]*}"}; printf '%s' "${t%"${t##*[![:space:]]}"}"; }
  repository=$(trim "$repository")
  case $repository in "" | "#"*) continue ;; esac
  commit=$(trim "$commit") folder=$(trim "$folder") sources=$(trim "$sources")
  flags=$(trim "$flags") arguments=$(trim "$arguments") pattern=$(trim "$pattern")
  name=$(basename "$folder")
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  fi
  root=$checkouts/${repository##*/}
  case $known in *"$root "*) ;; *) check_commit "$root" "$commit"; known="$known$root " ;; esac
  total=$((total + 1))
  verdict="" run_time=""
  [ "$flags" != "-" ] || flags=""
  [ "$arguments" != "-" ] || arguments=""
  start=$(now)
  program=$work/program
  [ -z "${PROGRAMS:-}" ] || program=$PROGRAMS/${repository##*/}__${folder//\//__}
  if [ ! -d "$root/$folder" ]; then
    verdict="not there"
  # shellcheck disable=SC2086 # Fields of the list are words.
  elif [ ! -x "$program" ] && ! (cd "$root/$folder" && eval timeout 300 '"${build[@]}"' "${OPTIMIZE:--O2}" -w "$flags" $sources -o "$program" -lm) \
    >"$work/build.log" 2>&1; then
    verdict="does not build: $(grep -m1 -E 'error|undefined' "$work/build.log" | cut -c1-120)"
  fi
  build_time=$(since "$start")
  if [ -z "$verdict" ]; then
    start=$(now)
    # shellcheck disable=SC2086
    (cd "$root/$folder" && ulimit -t "$limit" -c 0 && eval LD_LIBRARY_PATH='"$search"' timeout -k 5 $((limit * 10)) '"$program"' $arguments) </dev/null >"$work/run.log" 2>&1
    status=$?
    run_time=$(since "$start")
    if [ $status -eq 124 ] || [ $status -eq 137 ] || [ $status -eq 152 ]; then
      verdict="time out"
    elif [ $status -ne 0 ]; then
      verdict="exit status $status: $(grep -m1 -E 'cupilot|rror|FAIL|Assert' "$work/run.log" | cut -c1-160)"
    elif grep -q -E '^cupilot: (device fault|error)' "$work/run.log"; then
      verdict="fault: $(grep -m1 -E '^cupilot:' "$work/run.log" | cut -c1-160)"
    elif grep -q -E 'FAIL' "$work/run.log"; then
      verdict="failed: $(grep -m1 -E 'FAIL' "$work/run.log" | cut -c1-120)"
    elif [ "$pattern" != "-" ] && ! grep -q -E -- "$pattern" "$work/run.log"; then
      verdict="did not say that it passed"
    else
      verdict="passed"
      passed=$((passed + 1))
    fi
    rm -f "$work/program"
  fi
  echo "| ${repository##*/}/$folder | ${arguments:--} | $build_time | ${run_time:--} | ${verdict//|//} |"
done <"$list"
echo
echo "$passed of $total passed."
[ "$passed" -eq "$total" ]
