#!/bin/bash
# Builds the wheel, installs it into a folder of its own, and runs from there what a user would.
#
#   tools/check_wheel.sh PYTHON BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
build=$(realpath -m "$2-wheel")

# The build folder is kept, so that a second time is quick. The first time ccache has the objects
# of BUILD, if the compiler is called by the same name: Python's configuration would say g++.
CXX=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$2/CMakeCache.txt")
export CXX
rm -rf "$build/dist" "$build/site"
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
echo "wheel: $(basename "$build"/dist/*.whl), $(du -k "$build"/dist/*.whl | cut -f1) KB, runs"
