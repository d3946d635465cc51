#!/usr/bin/env bash
# Everything from a bare Debian 12 to a finished demo or a passed test suite.
# Each step looks first whether it has been done.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'EOF'
usage: ./build.sh [OPTIONS] COMMAND

commands:
  demo     build, then run the main job on the programs in examples/: capture,
           evolve, rebuild, compare (neither GPU nor LLM is needed)
  check    build, then run all tests
  build    configure and build into build/
  deps     install what is missing (Debian 12; as root or with sudo)
  tidy     run clang-format and clang-tidy over the sources
  clean    remove the build folders

options:
  --cuda=auto     use the CUDA toolkit that is there, else Debian's (default)
  --cuda=debian   use Debian's nvidia-cuda-toolkit 11.8, even beside another
  --cuda=PATH     use the toolkit in PATH
  --build-dir=DIR build there instead of in build/
  --asan          build with AddressSanitizer and UBSan, in build-asan/
  --help          print this text

examples:
  ./build.sh demo
  ./build.sh --cuda=/opt/cuda-13.0 check
EOF
}

say() { printf '== %s\n' "$*"; }
die() { printf 'build.sh: error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf 'build.sh: note: %s\n' "$2" >&2; exit 2; }

cuda=auto build= preset=release command=
for arg in "$@"; do
  case "$arg" in
    --cuda=*) cuda=${arg#--cuda=} ;;
    --build-dir=*) build=${arg#--build-dir=} ;;
    --asan) preset=asan ;;
    --help|-h) usage; exit 0 ;;
    demo|check|build|deps|tidy|clean)
      [ -z "$command" ] || die "one command at a time, not '$command' and '$arg'"
      command=$arg ;;
    *) usage >&2; die "unknown argument '$arg'" ;;
  esac
done
[ -n "$command" ] || { usage >&2; exit 2; }
# The release build compiles several sources at once, which clang-tidy would not find.
[ "$command" != tidy ] || preset=dev
if [ -z "$build" ]; then
  case $preset in release) build=build ;; *) build=build-$preset ;; esac
fi

packages=(
  cmake ninja-build python3 make
  clang-22 clang-tools-22 lld-22 llvm-22-dev llvm-22-tools
  libclang-22-dev libclang-cpp22-dev libmlir-22-dev mlir-22-tools
  libstdc++-12-dev nlohmann-json3-dev libcurl4-openssl-dev libsqlite3-dev
  libboost-context-dev zlib1g-dev libzstd-dev liblz4-dev libgtest-dev libbenchmark-dev
)
[ "$preset" != asan ] || packages+=(libclang-rt-22-dev)
[ "$command" != tidy ] || packages+=(clang-format-22 clang-tidy-22)

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "'$*' needs root" "run ./build.sh deps as root once, or install sudo"
  fi
}

apt_install() { # WHAT PACKAGES...
  local what=$1; shift
  local missing=()
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "missing: ${missing[*]}" \
    "this is no Debian: install LLVM, Clang and MLIR 22 with their development files, CMake 3.25, Ninja, nlohmann/json, libcurl, SQLite, Boost.Context, GoogleTest; then ./build.sh again"
  say "installing $what: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # A broken foreign source must not stop us: apt's old lists may do, and the installation tells.
  [ -n "${apt_updated:-}" ] || { as_root apt-get -qq update || say "apt-get update had errors: going on"; apt_updated=1; }
  as_root apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get could not install: ${missing[*]}" \
        "cuPilot supports Debian 12 with its security updates enabled; LLVM 22 comes from there"
}

is_toolkit() { [ -n "${1:-}" ] && [ -e "$1/include/cuda_runtime.h" ] && [ -d "$1/nvvm/libdevice" ]; }

# Debian spreads the toolkit over /usr; clang wants one root.
debian_toolkit() {
  if ! installed nvidia-cuda-toolkit; then
    command -v apt-get >/dev/null || die "no CUDA toolkit was found" "install CUDA 13.0 and name it with --cuda=PATH"
    if ! apt-cache policy nvidia-cuda-toolkit 2>/dev/null | grep -q 'Candidate: [0-9]'; then
      say "enabling Debian's components contrib and non-free, for nvidia-cuda-toolkit"
      # apt takes two entries of one archive only when both name the same keys, or none.
      local key; key=$(sed -n 's/^Signed-By: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
      echo "deb ${key:+[signed-by=$key] }http://deb.debian.org/debian bookworm contrib non-free" |
        as_root tee /etc/apt/sources.list.d/cupilot-non-free.list >/dev/null
      apt_updated=
    fi
    say "no CUDA toolkit was found: installing Debian's 11.8 (1.6 GB to fetch, 5.4 GB on disk)"
    apt_install "the CUDA toolkit" nvidia-cuda-toolkit
  fi
  local multiarch; multiarch=$(gcc -print-multiarch 2>/dev/null || echo x86_64-linux-gnu)
  mkdir -p .deps/cuda/nvvm
  ln -sfn /usr/include .deps/cuda/include
  ln -sfn /usr/bin .deps/cuda/bin
  ln -sfn "/usr/lib/$multiarch" .deps/cuda/lib64
  ln -sfn /usr/lib/nvidia-cuda-toolkit/libdevice .deps/cuda/nvvm/libdevice
  cuda_path=$PWD/.deps/cuda
}

find_cuda() {
  case $cuda in
    auto)
      for candidate in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda; do
        if is_toolkit "$candidate"; then cuda_path=$candidate; return; fi
      done
      debian_toolkit ;;
    debian) debian_toolkit ;;
    *) is_toolkit "$cuda" || die "there is no CUDA toolkit in '$cuda'" \
         "it must hold include/cuda_runtime.h and nvvm/libdevice; --cuda=debian installs one"
       cuda_path=$(cd "$cuda" && pwd) ;;
  esac
}

deps() {
  apt_install "the build's packages" "${packages[@]}"
  find_cuda
  say "CUDA toolkit: $cuda_path"
}

build() {
  deps
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  local nvcc=; [ -x "$cuda_path/bin/nvcc" ] && nvcc=$cuda_path/bin/nvcc
  # Configured again only when something that it depends on is another.
  local key="$preset|$cuda_path|$PWD"
  if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/.configured" 2>/dev/null)" != "$key" ]; then
    say "configuring $build"
    cmake --preset "$preset" -B "$build" -DCUPILOT_CUDA_PATH="$cuda_path" -DCUPILOT_NVCC="$nvcc" \
      ${launcher[@]+"${launcher[@]}"} >"$build.log" 2>&1 || { cat "$build.log" >&2; rm -f "$build.log"; exit 2; }
    mv "$build.log" "$build/configure.log"
    printf '%s' "$key" >"$build/.configured"
  fi
  say "building"
  ninja -C "$build"
}

check() {
  build
  say "testing"
  local status=0
  "/usr/lib/llvm-22/bin/lit" -sv -j$(($(nproc) + 1)) --order=lexical -o "$build/test-results.json" "$build/test" "$build/test/Unit" "$build/benchmarks" || status=$?
  python3 - "$build/test-results.json" <<'EOF' || status=1
import json, sys
codes = [test["code"] for test in json.load(open(sys.argv[1]))["tests"]]
passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
failed = len(codes) - passed - skipped
if skipped:
    print(f"{skipped} skipped: this machine lacks what they ask for")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
EOF
  return "$status"
}

tidy() {
  build
  say "clang-format"
  git ls-files '*.cpp' '*.h' | xargs clang-format-22 --dry-run -Werror
  say "clang-tidy"
  run-clang-tidy-22 -quiet -p "$build" -clang-tidy-binary clang-tidy-22 "$PWD/(lib|tools)/.*" 2>/dev/null
}

case $command in
  deps) deps ;;
  build) build ;;
  check) check ;;
  demo) build; exec examples/demo.sh "$build" ;;
  tidy) tidy ;;
  clean) rm -rf build build-asan build-dev ;;
esac
