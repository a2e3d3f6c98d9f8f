#!/bin/bash
# Builds the wheel, installs it into a folder of its own, and runs from there what a user would; then
# into an environment that has numpy and nothing else, where all that needs no torch has to work.
#
#   tools/check_wheel.sh PYTHON BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=$1
build=$(realpath -m "$2-wheel")

# The build folder is kept, so that a second time is quick. The first time ccache has the objects
# of BUILD, if the compiler is called by the same name: Python's configuration would say g++.
CXX=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$2/CMakeCache.txt")
export CXX
rm -rf "$build/dist" "$build/site" "$build/bare"
"$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$build/dist" \
  --config-settings=build-dir="$build/cmake" --config-settings=cmake.define.SARDONYX_WERROR=ON
"$python" -m pip install -q --no-deps --target "$build/site" "$build"/dist/sardonyx-*.whl

cd "$build" # away from the checkout, whose own package must not be found
version=$(PYTHONPATH=$build/site "$python" - <<'PYTHON'
import sys

import sardonyx

assert sardonyx.__file__.endswith("/site/sardonyx/__init__.py"), sardonyx.__file__
assert "torch" not in sys.modules, "importing sardonyx imports torch"
print(sardonyx.__version__)
PYTHON
)
printed=$("$build/site/bin/sardonyx" --version)
[[ $printed == *"$version"* ]] || {
  echo "check_wheel: the package is $version, the command prints '$printed'" >&2
  exit 1
}

# numpy is a link to this interpreter's, so that nothing is downloaded.
"$python" -m venv --without-pip "$build/bare"
bare=$build/bare/bin/python
"$python" -m pip --python "$bare" install -q --no-deps "$build"/dist/sardonyx-*.whl
numpy=$("$python" -c 'import pathlib, numpy; print(pathlib.Path(numpy.__file__).parent)')
ln -s "$numpy" "$numpy"[.-]* "$("$bare" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/"
mkdir "$build/bare/files"
cp "$root/tests/fuzz/corpus/pt2/small" "$build/bare/files/small.pt2"
env -i PATH=/usr/bin:/bin "$bare" "$root/tests/installed/bare_checks.py" "$build/bare/files" \
  >"$build/bare/checks" 2>&1 || { cat "$build/bare/checks" >&2; exit 1; }
echo "wheel: $(basename "$build"/dist/*.whl), $(du -k "$build"/dist/*.whl | cut -f1) KB, runs"
