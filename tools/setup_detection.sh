#!/bin/bash
# Installs torchvision, with the PyTorch that it is for, into a virtual environment of its own, for
# `make detection`: 6 GB, since the registry's builds of both are for CUDA.
#
#   DETECTION   the virtual environment (default: .cache/detection)
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${DETECTION:-.cache/detection}

stamp=$folder/.sardonyx-$(sha256sum "$0" | cut -c1-16)
if [[ -e $stamp ]]; then exit; fi
if [[ ! -x $folder/bin/pip ]]; then python3 -m venv "$folder"; fi
"$folder/bin/pip" install -qq torch==2.14.1 torchvision==0.29.1 numpy onnx onnxruntime pytest
rm -f "$folder"/.sardonyx-*
touch "$stamp"
