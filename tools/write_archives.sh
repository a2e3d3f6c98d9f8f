#!/bin/bash
# Has releases of PyTorch write TorchScript archives, with the answers that they give: the test data
# of tests/torchscript/archives, one zip a release.
#
#   tools/write_archives.sh FOLDER 1.13.1 2.0.1 2.6.0     (FOLDER/torch-1.13.1.zip, ...)
#
# SARDONYX_ARCHIVES=FOLDER has tests/torchscript/test_archives.py read these beside those of the tree.
#
# The registry's wheels for x86-64 need CUDA, those for ARM do not: Debian's Python for ARM is
# unpacked into a folder, and runs them under qemu.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "$1")
shift
work=${WORK:-$root/build-archives}
mkdir -p "$out" "$work"

. "$root/tools/arm_packages.sh"

# Debian's Python $2 out of the release $1, in $work/python$2.
unpack_python() {
  local release=$1 version=$2
  local packages=("python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib"
    libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g libbz2-1.0 liblzma5 libexpat1 libuuid1 libcrypt1)
  [[ $version == 3.9 ]] && packages+=(libffi7 libssl1.1) || packages+=(libffi8 libssl3)
  unpack_arm "$work/python$version" "$release" "${packages[@]}"
}

# What PyTorch imports, in Python alone.
unpack_modules() {
  if [[ -e $work/modules/done ]]; then return; fi
  python3 -m pip install -q --no-deps --target "$work/modules" \
    filelock 'typing-extensions<4.14' 'sympy==1.13.1' 'networkx<3.3' jinja2 'mpmath<1.4' fsspec
  python3 -m pip install -q --no-deps --no-binary :all: --target "$work/modules" 'markupsafe<2.1'
  touch "$work/modules/done"
}

run() { # <version of Python> <folder of PyTorch> <words of its command line>
  local base=$work/python$1 torch=$2
  shift 2
  local libraries=$base/lib/aarch64-linux-gnu:$base/usr/lib/aarch64-linux-gnu:$torch/torch.libs
  # Of newer processors PyTorch uses what this emulator does not have.
  qemu-aarch64 -cpu cortex-a57 -L "$base" -E "LD_LIBRARY_PATH=$libraries" -E "PYTHONHOME=$base/usr" \
    -E "PYTHONPATH=$torch:$work/modules" -E OMP_NUM_THREADS=1 \
    "$base/usr/bin/$(basename "$base")" "$@"
}

for version in "$@"; do
  python=3.11 release=bookworm
  case $version in 1.*) python=3.9 release=bullseye ;; esac
  unpack_python "$release" "$python"
  unpack_modules
  torch=$work/torch-$version
  rm -rf "$torch" "$work/wheel"
  python3 -m pip download -q --no-deps --only-binary=:all: --implementation cp \
    --python-version "${python/./}" --abi "cp${python/./}" \
    --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 \
    -d "$work/wheel" "torch==$version"
  unzip -q "$work"/wheel/*.whl -d "$torch"
  written=$work/written
  rm -rf "$written"
  mkdir "$written"
  run "$python" "$torch" "$root/tests/torchscript/archives/write.py" "$written"
  (cd "$written" && rm -f "$out/torch-$version.zip" && zip -qX9 "$out/torch-$version.zip" -- *)
  rm -rf "$torch" "$work/wheel"
done
