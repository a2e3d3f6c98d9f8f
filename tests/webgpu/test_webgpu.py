"""A sample of `make webgpu`: answers and nodes of models on ONNX Runtime's WebGPU provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

import sardonyx
from sardonyx._runtime.session import open_session

from .checking import MOST, missing, outcome, placed
from .models import MODELS
from .zoo import zoo_outcome

_MISSING = missing()
runs = pytest.mark.skipif(bool(_MISSING), reason=_MISSING or "runs")


@runs
@pytest.mark.parametrize(("name", "precision"), [("resnet", "fp32"), ("llama", "int4")])
def test_answers(name: str, precision: str, tmp_path: Path) -> None:
    found = outcome(name, tmp_path, precision)
    assert found.difference is not None
    assert found.difference < MOST[precision]
    assert found.webgpu > 20
    assert not found.strays
    if name == "resnet":
        assert not found.off


@runs
def test_places_in_half_precision(tmp_path: Path) -> None:
    """A software Vulkan has no float16, so that nothing is run; where nodes are is known before."""
    found = outcome("bert", tmp_path, "fp16")
    assert found.webgpu > 50
    assert not found.strays
    assert found.copies <= 1


@runs
@pytest.mark.parametrize(("name", "nodes", "copies"), [
    ("bert", 75, 2), ("gpt2", 69, 2), ("llama", 82, 2), ("counting-llama", 93, 2),
    ("t5", 168, 3), ("whisper", 193, 1),
])  # fmt: skip
def test_models_of_the_zoo_at_other_sizes(
    name: str, nodes: int, copies: int, tmp_path: Path
) -> None:
    """Positions of a dynamic length are computed on WebGPU; inputs alone are copied."""
    found = zoo_outcome(name, tmp_path)
    assert found.difference is not None
    assert found.difference < MOST["fp32"]
    assert not found.strays
    assert (found.webgpu, found.copies) == (nodes, copies)


LOG = """\
[V:onnxruntime:, session_state.cc:1353 VerifyEachNodeIsAssignedToAnEp]  Node(s) placed on \
[CPUExecutionProvider]. Number of nodes: 3
[V:onnxruntime:, session_state.cc:1355 VerifyEachNodeIsAssignedToAnEp]   Cast (of_input)
[V:onnxruntime:, session_state.cc:1355 VerifyEachNodeIsAssignedToAnEp]   Shape (size)
[V:onnxruntime:, session_state.cc:1355 VerifyEachNodeIsAssignedToAnEp]   CumSum (sums)
[V:onnxruntime:, session_state.cc:1353 VerifyEachNodeIsAssignedToAnEp]  Node(s) placed on \
[WebGpuExecutionProvider]. Number of nodes: 1
[V:onnxruntime:, session_state.cc:1355 VerifyEachNodeIsAssignedToAnEp]   Mul (product)
[I:onnxruntime:, transformer_memcpy.cc:393 AddCopyNode] Add MemcpyFromHost after a for WebGpuExecu
[I:onnxruntime:, transformer_memcpy.cc:393 AddCopyNode] Add MemcpyFromHost after b for WebGpuExecu
"""


def test_what_strays() -> None:
    text = "g (int64[n] x) => (float[n] y) { a = Cast<to=1>(x) b = CumSum(a, a) y = Mul(a, b) }"
    graph = onnx.parser.parse_graph(text)
    for node, name in zip(graph.node, ("of_input", "sums", "product"), strict=True):
        node.name = name
    webgpu, off, strays = placed(LOG, onnx.helper.make_model(graph))
    assert webgpu == 1
    assert off == {"Cast": 1, "Shape": 1, "CumSum": 1, "MemcpyFromHost": 2}
    assert strays == {"CumSum": 1, "MemcpyFromHost": 1}


@pytest.mark.parametrize("name", ["bert", "llama"])
@pytest.mark.parametrize("precision", ["fp16", "fp16+int4"])
def test_half_precision_on_the_cpu(name: str, precision: Any) -> None:
    """The same nodes, computed by the CPU provider, next to PyTorch."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    with torch.no_grad():
        wanted = torch.utils._pytree.tree_leaves(model.eval()(**inputs))
    program = sardonyx.export(model, (), kwargs=inputs, target_runtime="webgpu")
    made, _ = sardonyx.optimize(program.model_proto, runtime="webgpu", precision=precision)
    leaves = torch.utils._pytree.tree_leaves(list(inputs.values()))
    names = [each.name for each in made.graph.input]
    feeds = {n: leaf.numpy() for n, leaf in zip(names, leaves, strict=True)}
    results = open_session(made.SerializeToString()).run(None, feeds)
    most = 0.3 if "int4" in precision else 2e-2
    for result, want in zip(results, wanted, strict=True):
        assert np.abs(result - want.numpy()).max() < most * float(want.abs().max())
