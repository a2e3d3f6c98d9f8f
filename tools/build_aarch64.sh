#!/bin/bash
# The command line for Linux on ARM, cross-compiled here and run under qemu: what it writes must be
# the bytes that this machine's writes.
#
#   tools/build_aarch64.sh NATIVE     (the command of this machine; `make aarch64` calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
native=$(realpath "$1")
build=build-aarch64
packages=$PWD/$build/packages
# Libraries for ARM are unpacked into a folder: installed, Debian's do not stand beside this
# machine's.
libraries=(libsimdjson-dev libsimdjson14 libfmt-dev libfmt9 zlib1g-dev zlib1g libcli11-dev libprotozero-dev)

download() {
  local state=$PWD/$build/apt
  if [[ -e $packages/done ]]; then return; fi
  mkdir -p "$state"/{lists/partial,cache/archives/partial} "$packages"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o APT::Sandbox::User=root -o Dir::State="$state" -o Dir::State::status=/dev/null
    -o Dir::Cache="$state/cache")
  "${apt[@]}" update
  (cd "$state" && "${apt[@]}" download "${libraries[@]}")
  local package
  for package in "$state"/*.deb; do dpkg -x "$package" "$packages"; done
  touch "$packages/done"
}

run() {
  qemu-aarch64 -L /usr/aarch64-linux-gnu \
    -E "LD_LIBRARY_PATH=$packages/usr/lib/aarch64-linux-gnu:$packages/lib/aarch64-linux-gnu" \
    "$build/bin/sardonyx" "$@"
}

same() { # <name> <words of the command, without -o>
  local name=$1
  shift
  run "$@" -o "$build/$name-aarch64.onnx" >/dev/null
  "$native" "$@" -o "$build/$name.onnx" >/dev/null
  cmp "$build/$name.onnx" "$build/$name-aarch64.onnx"
  echo "aarch64: $name: the bytes of this machine"
}

download
[[ -e $build/build.ninja ]] || cmake -S . -B "$build" -G Ninja \
  -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DCMAKE_BUILD_TYPE=Release \
  -DSARDONYX_PYTHON=OFF -DSARDONYX_TESTS=OFF -DSARDONYX_MOLD=OFF
ninja -C "$build" -j"${JOBS:-2}" --quiet sardonyx_cli
corpus=tests/fuzz/corpus
run --version
same pt2 convert "$corpus/pt2/small"
same torchscript convert "$corpus/torchscript/language" --input 'x:float32[n,3]'
for model in "$corpus"/optimize/*; do same "$(basename "$model")" optimize "$model"; done
