#!/bin/bash
# The pictures of docs/viewer.md: a small BERT, exported for two opsets, in the viewer, and on the page
# of `sardonyx serve`.
#
#   PYTHON=.venv/bin/python tools/take_viewer_screenshots.sh      (`make screenshots` calls it)
set -euo pipefail
cd "$(dirname "$0")/.."
command=${BUILD:-build}/bin/sardonyx
scratch=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -r "$scratch"' EXIT

"${PYTHON:-python3}" - "$scratch" <<'PYTHON'
import sys

import torch
import transformers

import sardonyx

torch.manual_seed(0)
config = transformers.BertConfig(
    hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128, vocab_size=500
)
model = transformers.BertForSequenceClassification(config).eval()
args, shapes = (torch.randint(0, 500, (2, 16)),), ({0: "batch", 1: "tokens"},)
for name, opset in (("bert", 20), ("bert-opset18", 18)):
    program = sardonyx.export(model, args, dynamic_shapes=shapes, opset_version=opset)
    program.save(f"{sys.argv[1]}/{name}.onnx")
PYTHON
"$command" inspect "$scratch/bert.onnx" --html "$scratch/graph.html"
"$command" diff "$scratch/bert-opset18.onnx" "$scratch/bert.onnx" --html "$scratch/both.html" >/dev/null

take() { # <name> <address> <fragment> <width> <height> [<further option>]
  timeout 90 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --virtual-time-budget=4000 --window-size="$4,$5" "${@:6}" --screenshot="$scratch/$1.png" \
    "$2#$3" >/dev/null 2>&1
  pngquant 64 --force --output "docs/screenshots/$1.png" "$scratch/$1.png"
  echo "docs/screenshots/$1.png"
}

take viewer-1-graph "file://$scratch/graph.html" \
  node/node_scaled_dot_product_attention_4_Softmax 1280 800
take viewer-2-both "file://$scratch/both.html" node/node_gelu_Mul_1 1280 800
take viewer-3-narrow "file://$scratch/graph.html" \
  value/bert.encoder.layer.0.intermediate.dense.weight 500 900 \
  --blink-settings=preferredColorScheme=0

# The last model of the page is the one that it shows.
"$command" serve "$scratch/bert-opset18.onnx" >"$scratch/address" 2>/dev/null &
server=$!
for _ in {1..100}; do [[ -s $scratch/address ]] || sleep 0.1; done
address=$(<"$scratch/address")
curl -sf -X POST "${address}models/1/run?runtime=onnxruntime-cpu&precision=int4" >/dev/null
take serve "$address" "" 1280 800 --disable-features=IsolateSandboxedIframes
