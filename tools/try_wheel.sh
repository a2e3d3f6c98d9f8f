#!/bin/bash
# Installs a wheel into a bare environment and uses it: without a compiler on the path, and without
# anything that the wheel does not bring, but for numpy.
#
#   tools/try_wheel.sh PYTHON WHEEL
set -euo pipefail
python=$1
wheel=$(realpath "$2")
root=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$python" -m venv bare
# What numpy takes to download is not the wheel's.
bare/bin/pip install -q numpy 2>"$folder/pip.log" || { cat "$folder/pip.log" >&2; exit 1; }

start=$(date +%s.%N)
env -i PATH="$folder/bare/bin" HOME="$folder" bare/bin/pip install -q --no-index "$wheel"
taken=$(awk "BEGIN { print $(date +%s.%N) - $start }")
awk "BEGIN { exit !($taken < 5) }" || echo "try_wheel: pip took $taken s, more than 5" >&2

cat >small.py <<'PYTHON'
import sys

import sardonyx

assert "torch" not in sys.modules
print(sardonyx.__version__)
PYTHON
version=$(env -i PATH="$folder/bare/bin" bare/bin/python small.py)
printed=$(env -i PATH="$folder/bare/bin" bare/bin/sardonyx --version)
[[ $printed == *"$version"* ]] || {
  echo "try_wheel: the package is $version, the command prints '$printed'" >&2
  exit 1
}
# The command finds its own interpreter, and the package its native command.
env -i bare/bin/sardonyx doctor --json | grep -q '"find_package"'
env -i bare/bin/python -m sardonyx --version | grep -qF "$version"
# All that needs no torch.
mkdir files
cp "$root/tests/fuzz/corpus/pt2/small" files/small.pt2
env -i PATH=/usr/bin:/bin bare/bin/python "$root/tests/installed/bare_checks.py" files >checks 2>&1 ||
  { cat checks >&2; exit 1; }
# What the policy of manylinux takes for granted; everything else must come from the wheel itself.
allowed='^(linux-vdso|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libz|/lib.*/ld-linux.*)\.so'
site=$(bare/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
while IFS= read -r file; do
  ldd "$file" 2>/dev/null | awk -v site="$site" 'index($0, site) == 0 { print $1 }' |
    grep -vE "$allowed" | sed "s|^|$file links |" >>foreign || true
done < <(find "$site/sardonyx" "$site"/sardonyx.* bare/bin/sardonyx -type f \
  \( -name '*.so*' -o -name sardonyx \))
if [[ -s foreign ]]; then cat foreign >&2; exit 1; fi
# The library for C++ and C.
config=$(env -i PATH="$folder/bare/bin" bare/bin/python -m sardonyx --cmake-dir)
[[ -f $config/sardonyx-config.cmake ]]
ls "$site"/sardonyx-*.dist-info/licenses | grep -q LICENSE
echo "installed in $taken s; the command and the package say $version"
