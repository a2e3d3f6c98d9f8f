#!/bin/bash
# The wheel for Linux on ARM, cross-compiled here and tried under qemu: what its command and its
# package write must be the bytes that this machine's write.
#
#   tools/build_aarch64.sh PYTHON BUILD     (Python 3.11 and the build of this machine;
#                                            `make aarch64` calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
native=$(realpath "$2")
. tools/wheel_tools.sh
. tools/arm_packages.sh
build=$PWD/build-aarch64
packages=$build/packages
libraries=(libsimdjson-dev libsimdjson14 libfmt-dev libfmt9 zlib1g-dev zlib1g libcli11-dev
  libprotozero-dev libpython3.11-dev libpython3.11-stdlib libpython3.11-minimal python3.11-minimal
  libexpat1 libffi8 python3-numpy libblas3 liblapack3 libgfortran5)

make_wheel() {
  rm -rf "$build"/{raw,dist,unpacked}
  _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=.cpython-311-aarch64-linux-gnu.so \
    CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} CXX=aarch64-linux-gnu-g++ \
    "$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$build/raw" \
    --config-settings=build-dir="$build/wheel" \
    --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" \
    --config-settings=cmake.define.SARDONYX_AARCH64_PACKAGES="$packages" \
    --config-settings=cmake.define.SARDONYX_MOLD=OFF \
    --config-settings=cmake.define.SARDONYX_SELF_CONTAINED=ON
  # Nothing is left to graft; auditwheel says which machines take it.
  local wheel
  wheel=$(ls "$build"/raw/*.whl)
  auditwheel repair -w "$build/dist" "$wheel"
  wheel=$(ls "$build"/dist/*.whl)
  "$python" -m zipfile -e "$wheel" "$build/unpacked"
  check_size "$wheel"
}

qemu() {
  local lib=$packages/usr/lib/aarch64-linux-gnu
  qemu-aarch64 -L /usr/aarch64-linux-gnu \
    -E "LD_LIBRARY_PATH=$lib:$packages/lib/aarch64-linux-gnu:$lib/blas:$lib/lapack" "$@"
}

run() {
  local command
  command=$(ls "$build"/unpacked/sardonyx-*.data/scripts/sardonyx)
  qemu "$command" "$@"
}

in_python() {
  qemu -E PYTHONHOME="$packages/usr" \
    -E PYTHONPATH="$build/unpacked:$packages/usr/lib/python3/dist-packages" \
    "$packages/usr/bin/python3.11" "$@"
}

same() { # <name> <words of the command, without -o>
  local name=$1
  shift
  run "$@" -o "$build/$name-aarch64.onnx" >/dev/null
  "$native/bin/sardonyx" "$@" -o "$build/$name.onnx" >/dev/null
  cmp "$build/$name.onnx" "$build/$name-aarch64.onnx"
  echo "aarch64: $name: the bytes of this machine"
}

unpack_arm "$packages" bookworm "${libraries[@]}"
# Python.h finds its configuration for ARM beside itself.
ln -sfn ../aarch64-linux-gnu "$packages/usr/include/python3.11/aarch64-linux-gnu"
make_wheel
chmod +x "$build"/unpacked/sardonyx-*.data/scripts/sardonyx
corpus=tests/fuzz/corpus
run --version
same pt2 convert "$corpus/pt2/small"
same torchscript convert "$corpus/torchscript/language" --input 'x:float32[n,3]'
for model in "$corpus"/optimize/*; do same "$(basename "$model")" optimize "$model"; done
in_python - "$corpus/pt2/small" "$build/pt2-python.onnx" <<'PYTHON'
import platform
import sys

import sardonyx

sardonyx.convert(sys.argv[1]).save(sys.argv[2])
print(f"aarch64: the package {sardonyx.__version__} in Python on {platform.machine()}")
PYTHON
cmp "$build/pt2.onnx" "$build/pt2-python.onnx"
