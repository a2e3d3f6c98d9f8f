#!/bin/bash
# Installs the tools that `make bench-makers`, `bench-optimize` and `bench-llm` compare with ours
# into a virtual environment of their own. It sees the packages of the development environment and
# changes none of them.
#
#   VENV   the development environment (default: .venv in the checkout)
#   PEERS  the virtual environment of the peers (default: .venv-peers)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
peers=${PEERS:-.venv-peers}

# What they need beyond the development environment; nothing of that may be installed again.
packages=(onnxslim==0.1.* onnxsim onnxoptimizer colorama rich markdown-it-py mdurl pygments
  onnxruntime-genai openvino openvino-telemetry)

stamp=$peers/.sardonyx-$(sha256sum "$0" | cut -c1-16)
if [[ -e $stamp ]]; then exit; fi
if [[ ! -x $peers/bin/pip ]]; then "$venv/bin/python" -m venv "$peers"; fi
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
own=$("$peers/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$site" > "$own/development.pth"
for package in "${packages[@]}"; do
  "$peers/bin/pip" install -qq --no-deps --only-binary :all: "$package" ||
    echo "setup: no $package here; the bench goes on without it" >&2
done
rm -f "$peers"/.sardonyx-*
touch "$stamp"
