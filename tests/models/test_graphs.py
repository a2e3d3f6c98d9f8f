"""How many nodes models need, and that sizes are not moved about where the program knows them."""

from __future__ import annotations

import onnx
import pytest

from tests.harness import export

from .zoo import ZOO

# Nodes of the optimised graph that torch.onnx.export of PyTorch 2.13 makes with onnxscript 0.7 of
# the same small models. It fails on t5 and swin, and on recurrent nets of dynamic length.
TORCH_NODES = {
    "mlp": 7,
    "cnn": 12,
    "unet": 63,
    "bert": 120,
    "distilbert": 119,
    "roberta": 134,
    "gpt2": 138,
    "llama": 187,
    "mistral": 191,
    "qwen2": 193,
    "qwen3": 215,
    "gemma": 186,
    "phi": 191,
    "bart": 295,
    "whisper": 288,
    "vit": 98,
    "convnext": 74,
    "resnet50": 45,
    "regnet": 74,
    "mobilenetv2": 100,
    "segformer": 263,
    "detr": 344,
    "clip": 234,
}


def graph_of(name: str) -> onnx.GraphProto:
    model: onnx.ModelProto = export(ZOO.build(name).captured()).model_proto
    return model.graph


@pytest.mark.parametrize("name", TORCH_NODES)
def test_no_more_nodes_than_pytorch_s_exporter(name: str) -> None:
    assert len(graph_of(name).node) <= TORCH_NODES[name]


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "vit"])
def test_sizes_are_read_once_and_directly(name: str) -> None:
    """One Shape for each size that varies, of one element, used as it is."""
    graph = graph_of(name)
    shapes = [node for node in graph.node if node.op_type == "Shape"]
    assert len(shapes) <= 2
    read = {node.output[0] for node in shapes}
    detours = [
        node.op_type
        for node in graph.node
        if node.op_type in ("Gather", "Slice", "Unsqueeze", "Cast") and node.input[0] in read
    ]
    assert not detours
