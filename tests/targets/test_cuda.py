"""Models for ONNX Runtime's CUDA provider: how many nodes they have, and that what its CPU provider
runs of them answers as PyTorch does. No GPU is needed; the kernels are those of tools/kernels."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
import transformers

import sardonyx
from sardonyx import _native
from sardonyx._runtime.session import open_session
from tests.harness import assert_exports
from tests.models.unet import GatedGelu

RUNTIME = "onnxruntime-cuda"
RECORD = Path(__file__).resolve().parents[2] / "tools" / "kernels" / "cuda" / "1.31.json"
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "vocab_size": 50}


class Logits(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.model(input_ids, attention_mask=attention_mask)[0]
        return result


def bert() -> torch.nn.Module:
    config = transformers.BertConfig(**SIZES, intermediate_size=64)
    return transformers.BertModel(config, add_pooling_layer=False)


def gpt2() -> torch.nn.Module:
    config = transformers.GPT2Config(
        n_embd=32,
        n_layer=3,
        n_head=2,
        vocab_size=50,
        use_cache=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel(config)


def llama() -> torch.nn.Module:
    config = transformers.LlamaConfig(
        **SIZES, intermediate_size=64, num_key_value_heads=1, use_cache=False
    )
    return transformers.LlamaForCausalLM(config)


def exported(model: torch.nn.Module, *args: torch.Tensor, **options: Any) -> onnx.ModelProto:
    program = sardonyx.export(model.eval(), args, target_runtime=RUNTIME, **options)
    onnx.checker.check_model(program.model_proto, full_check=True)
    return program.model_proto


# A layer of Llama: norm and sum, one product for queries, keys and values with its Split, two
# rotary embeddings, Attention, product; norm and sum, two products, Sigmoid, two Mul, product.
@pytest.mark.parametrize(
    ("make", "layer", "others"), [(bert, 12, 19), (gpt2, 12, 17), (llama, 14, 20)]
)
def test_nodes_of_a_layer(make: Any, layer: int, others: int) -> None:
    ids = torch.ones(2, 8, dtype=torch.int64)
    free = {name: {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=64)}
            for name in ("input_ids", "attention_mask")}  # fmt: skip
    torch.manual_seed(0)
    model = Logits(make()).eval()
    graph = exported(model, ids, ids, dynamic_shapes=free).graph
    assert len(graph.node) == 3 * layer + others, Counter(n.op_type for n in graph.node)
    assert {node.op_type for node in graph.node if node.domain} <= {
        "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
    }  # fmt: skip
    other = torch.ones(1, 5, dtype=torch.int64)
    assert_exports(model, (ids, ids), None, free, [(other, other)], target_runtime=RUNTIME)


def without_gated_gelus(model: onnx.ModelProto) -> onnx.ModelProto:
    """With BiasSplitGelu, which the CPU provider does not have, as its source computes it."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:]
    for node in model.graph.node:
        if node.op_type != "BiasSplitGelu":
            made.graph.node.append(node)
            continue
        (x, bias), (y,) = node.input, node.output
        steps = [
            ("Add", [x, bias], [f"{y}_sum"], {}),
            ("Split", [f"{y}_sum"], [f"{y}_left", f"{y}_right"], {"axis": -1, "num_outputs": 2}),
            ("Gelu", [f"{y}_right"], [f"{y}_gate"], {}),
            ("Mul", [f"{y}_left", f"{y}_gate"], [y], {}),
        ]
        made.graph.node.extend(onnx.helper.make_node(op, i, o, **a) for op, i, o, a in steps)
    return made


@pytest.mark.parametrize("half", [False, True])
def test_gates_of_diffusion_are_one_operator(half: bool) -> None:
    torch.manual_seed(0)
    model, x = GatedGelu(32, 1280).eval(), torch.randn(2, 5, 32)
    length = torch.export.Dim("length", max=64)
    made = exported(model, x, dynamic_shapes=({1: length},))
    if half:
        program = sardonyx.export(model, (x,), dynamic_shapes=({1: length},))
        made, _ = sardonyx.optimize(program.model_proto, runtime=RUNTIME, precision="fp16")
    kinds = [node.op_type for node in made.graph.node if node.op_type != "Cast"]
    assert kinds == ["MatMul", "BiasSplitGelu"]
    running = open_session(without_gated_gelus(made).SerializeToString())
    for each in (x, torch.randn(2, 7, 32)):
        (result,) = running.run(None, {"x": each.numpy()})
        with torch.no_grad():
            wanted = model(each)
        assert (torch.from_numpy(result) - wanted).abs().max() < (2e-2 if half else 1e-5)


def test_gates_of_other_widths_stay() -> None:
    made = exported(GatedGelu(32, 64).eval(), torch.randn(2, 5, 32))
    assert "BiasSplitGelu" not in {node.op_type for node in made.graph.node}


@pytest.mark.parametrize(
    ("runtime", "opset", "kind"),
    [
        ("webgpu", 23, "InstanceNormalization"),
        (RUNTIME, 21, "InstanceNormalization"),
        # The provider has InstanceNormalization of opsets below 22 alone.
        (RUNTIME, 23, "LayerNormalization"),
    ],
)
def test_groups_are_normalized_as_instances(runtime: Any, opset: int, kind: str) -> None:
    """ONNX Runtime has no kernel of GroupNormalization, and would expand it to many nodes."""
    model = torch.nn.GroupNorm(2, 8).eval()
    free = ({0: torch.export.Dim("batch"), 2: torch.export.Dim("height", max=64)},)
    x, other = torch.randn(2, 8, 6, 4), torch.randn(1, 8, 3, 4)
    options = {"target_runtime": runtime, "opset_version": opset}
    program = sardonyx.export(model, (x,), dynamic_shapes=free, **options)
    kinds = {node.op_type for node in program.model_proto.graph.node}
    assert kind in kinds
    assert_exports(model, (x,), None, free, [(other,)], **options)


@pytest.mark.parametrize("half", [False, True])
def test_groups_as_instances(half: bool) -> None:
    """Five nodes; mean and variance are of float32 in half precision, too."""
    torch.manual_seed(0)
    model = torch.nn.GroupNorm(2, 8).eval()
    for each in model.parameters():
        torch.nn.init.normal_(each)
    free = ({0: torch.export.Dim("batch")},)
    x = torch.randn(2, 8, 6, 4) + 3
    options: dict[str, Any] = {"target_runtime": RUNTIME, "opset_version": 23}
    program = sardonyx.export(model, (x,), dynamic_shapes=free, **options)
    proto = program.model_proto
    if half:
        proto, _ = sardonyx.optimize(proto, runtime=RUNTIME, precision="fp16")
    kinds = [node.op_type for node in proto.graph.node if node.op_type != "Cast"]
    assert kinds == ["Reshape", "LayerNormalization", "Reshape", "Mul", "Add"]
    running = open_session(proto.SerializeToString())
    for each in (x, torch.randn(1, 8, 6, 4)):
        (result,) = running.run(None, {running.get_inputs()[0].name: each.numpy()})
        with torch.no_grad():
            wanted = model(each)
        assert (torch.from_numpy(result) - wanted).abs().max() < (2e-2 if half else 1e-5)


@pytest.mark.parametrize("norm", [torch.nn.InstanceNorm1d, torch.nn.InstanceNorm2d])
def test_instances_as_layers(norm: type[torch.nn.Module]) -> None:
    model = norm(8, affine=True).eval()
    x = torch.randn(2, 8, 6, 4) if norm is torch.nn.InstanceNorm2d else torch.randn(2, 8, 6)
    options: dict[str, Any] = {"target_runtime": RUNTIME, "opset_version": 23}
    program = sardonyx.export(model, (x,), **options)
    kinds = {node.op_type for node in program.model_proto.graph.node}
    assert "LayerNormalization" in kinds
    assert_exports(model, (x,), None, None, [], **options)


class Images(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_pool2d(self.norm(self.conv(x)).relu(), 2)


def test_images_in_half_precision_have_no_casts_and_no_batch_norms() -> None:
    model = exported(Images().half(), torch.ones(1, 3, 8, 8, dtype=torch.float16))
    assert [node.op_type for node in model.graph.node] == ["Conv", "Relu", "MaxPool"]
    # The provider has MaxPool of opsets below 22 alone.
    assert [each.version for each in model.opset_import if not each.domain] == [21]


def test_what_runs_on_the_cpu_is_reported() -> None:
    class Bits(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x & (x + 1)

    model = exported(Bits(), torch.ones(4, dtype=torch.int64))
    _, report = sardonyx.optimize(model, runtime=RUNTIME)
    reasons = [each.reason for each in report.declined if each.rule == "placement"]
    assert reasons == [
        "runs on the CPU, between copies: ONNX Runtime's CUDA provider has no kernel of BitwiseAnd"
    ]


@pytest.mark.parametrize("runtime", [RUNTIME, "webgpu"])
def test_a_model_for_the_cpu_alone_is_warned_of(
    runtime: str, recwarn: pytest.WarningsRecorder
) -> None:
    class Bits(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x ^ y

    def warnings_of(model: torch.nn.Module, *inputs: torch.Tensor, runtime: str) -> list[str]:
        recwarn.clear()
        sardonyx.export(model, inputs, target_runtime=runtime)
        return [str(each.message) for each in recwarn if "of no node" in str(each.message)]

    words = torch.ones(4, dtype=torch.int64)
    (warning,) = warnings_of(Bits(), words, words, runtime=runtime)
    assert "runs on the CPU" in warning
    model = sardonyx.export(Bits(), (words, words)).model_proto
    recwarn.clear()
    _, report = sardonyx.optimize(model, runtime=runtime)
    assert [each.code for each in report.notes] == ["SX1507"]
    (told,) = (str(each.message) for each in recwarn)
    assert told.startswith(f"{report.notes[0].message} [SX1507]")
    assert not sardonyx.optimize(model, runtime="onnxruntime").report.notes
    assert not warnings_of(torch.nn.ReLU(), torch.ones(4), runtime=runtime)
    assert not warnings_of(torch.nn.Identity(), words, runtime=runtime)
    assert not warnings_of(Bits(), words, words, runtime="onnxruntime")


@pytest.mark.parametrize("name", [RUNTIME, "onnxruntime-genai-cuda"])
def test_fused_operators_have_kernels(name: str) -> None:
    contrib = {row[0] for row in json.loads(RECORD.read_text())["contrib"]}
    (table,) = [each for each in _native.target_tables() if each["name"] == name]
    made = [row["after"] for row in table["fusions"] if row["after"].startswith("com.microsoft.")]
    assert made
    assert {each.split("(")[0].removeprefix("com.microsoft.") for each in made} <= contrib
