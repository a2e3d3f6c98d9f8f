#!/bin/bash
# Other systems, each in a folder of its own: installs the wheel there without a compiler, runs the
# command and README's first export, and says what each took. Needs root, debootstrap and a network.
#
#   tools/try_elsewhere.sh PYTHON WHEEL      (`make elsewhere` calls it; both are Python 3.11's)
#
#   ROOTS   where the systems are kept from one run to the next (default: build-roots)
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
wheel=$(realpath "$2")
roots=$(realpath -m "${ROOTS:-build-roots}")
# Name, mirror and packages; all have a Python 3.11.
systems=(
  "bookworm http://deb.debian.org/debian python3 python3-venv"
  "jammy http://archive.ubuntu.com/ubuntu python3.11 python3.11-venv"
)

make_root() { # <name> <mirror> <package>...
  local name=$1 mirror=$2 root=$roots/$1 suite
  if [[ -e $root/made ]]; then return; fi
  rm -rf --one-file-system "$root"
  {
    debootstrap --variant=minbase --include=ca-certificates "$name" "$root" "$mirror"
    cp /etc/resolv.conf "$root/etc/"
    for suite in "$name" "$name-updates"; do echo "deb $mirror $suite main universe"; done |
      sed '/debian/s/ universe$//' >"$root/etc/apt/sources.list"
    chroot "$root" apt-get update
    chroot "$root" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${@:3}"
  } >"$roots/$name.log" 2>&1 || { tail -5 "$roots/$name.log" >&2; exit 1; }
  touch "$root/made"
}

leave() {
  awk -v at="$roots/" 'index($2, at) == 1 { print $2 }' /proc/mounts | xargs -r umount
}
trap leave EXIT

mkdir -p "$roots/wheels"
"$python" -m pip download -q -d "$roots/wheels" -c tools/constraints.txt numpy onnxruntime torch==2.13.0
for system in "${systems[@]}"; do
  read -ra words <<<"$system"
  make_root "${words[@]}"
  name=${words[0]}
  root=$roots/$name
  # The loader finds libraries beside a program by /proc.
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  rm -rf "$root/try"
  mkdir "$root/try"
  cp "$wheel" "$root/try/"
  cp tests/fuzz/corpus/pt2/small "$root/try/small.pt2"
  cp -l "$roots"/wheels/*.whl "$root/try/" 2>/dev/null || cp "$roots"/wheels/*.whl "$root/try/"
  awk '/^```python/ { on = 1; next } /^```/ { if (on) exit } on' README.md >"$root/try/first.py"
  chroot "$root" /bin/bash -euc '
    cd /try
    export PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS=
    if command -v cc c++ gcc g++ clang; then exit 1; fi
    ldd --version | sed -n "1s/^ldd //p"
    python3.11 -m venv venv
    install="venv/bin/pip install -q --no-index --find-links ."
    $install numpy
    TIMEFORMAT="%R s to install"
    time $install sardonyx
    venv/bin/sardonyx --version
    venv/bin/sardonyx convert small.pt2 -o small.onnx && echo "a file is converted"
    # That of Ubuntu 22.04 is a candidate, in which PyTorch 2.13 does not load.
    if ! venv/bin/python -c "import sys; sys.exit(sys.version_info.releaselevel != \"final\")"; then
      echo "no first export: Python is no final release"
      exit
    fi
    $install torch onnxruntime
    TIMEFORMAT="%R s for the first export"
    time venv/bin/python first.py
    venv/bin/sardonyx run model.onnx --random >ran && echo "the model runs"
  ' 2>&1 | sed "s/^/$name: /"
done
