#!/bin/bash
# Installs everything the project needs on a Debian 12 machine with Python 3.11: system packages
# (as root, or with sudo) and a virtual environment. Quick when nothing is missing.
#
#   VENV    the virtual environment (default: .venv in the checkout)
#   PYTHON  the Python that makes it (default: python3.11, else python3)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}

system_packages=(
  git make g++ ccache mold
  libsimdjson-dev libprotozero-dev libcli11-dev libfmt-dev libhwy-dev zlib1g-dev
  libcpp-httplib-dev pkg-config
  libgtest-dev libbenchmark-dev
)
case ${1:-} in
  --tidy) system_packages+=(clang-tidy) ;;
  --aarch64) system_packages+=(g++-aarch64-linux-gnu qemu-user) ;;
  --elsewhere) system_packages+=(debootstrap) ;;
  --screenshots) system_packages+=(chromium pngquant) ;;
  --browser) system_packages+=(chromium) ;;
  --wasm) system_packages+=(binaryen dpkg-dev nodejs) ;;
  --site) system_packages+=(doxygen) ;;
  --fuzz) system_packages+=(clang-19 libclang-rt-19-dev llvm-19) ;;
esac

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install_system_packages() {
  command -v dpkg-query >/dev/null || {
    echo "setup: no dpkg here; install these yourself: ${system_packages[*]}" >&2
    return
  }
  local missing=() package
  for package in "${system_packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return; fi
  echo "setup: installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

make_venv() {
  if [[ -x $venv/bin/pip ]]; then return; fi
  local python=${PYTHON:-$(command -v python3.11 || command -v python3)}
  # Debian splits the standard library: venv and the headers come in packages of their own.
  if [[ $python == /usr/bin/* ]]; then
    system_packages=(python3-venv python3-dev)
    install_system_packages
  fi
  echo "setup: making $venv with $("$python" --version)"
  "$python" -m venv "$venv"
}

install_python_packages() {
  local stamp
  stamp=$venv/.sardonyx-$(cat tools/requirements.txt tools/constraints.txt tools/setup.sh |
    sha256sum | cut -c1-16)
  if [[ -e $stamp ]]; then return; fi
  echo "setup: installing Python packages into $venv"
  # torch first and alone: its index of CPU builds may be configured for pip on this machine, and
  # nothing that depends on torch may pull another build of it. Imports compile what they need.
  "$venv/bin/pip" install -qq --no-compile -c tools/constraints.txt torch==2.13.0
  "$venv/bin/pip" install -qq --no-compile -c tools/constraints.txt -r tools/requirements.txt
  # Where a variable of the environment keeps Python from writing that, as in many containers,
  # every process would compile PyTorch anew.
  if [[ -n ${PYTHONDONTWRITEBYTECODE:-} ]]; then
    "$venv/bin/python" -m compileall -q -j 0 "$venv/lib" >/dev/null 2>&1 || true
  fi
  rm -f "$venv"/.sardonyx-*
  touch "$stamp"
}

install_system_packages
make_venv
install_python_packages
