"""Models without data: exported as an architecture, given weights when they are saved."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import safetensors.torch
import torch

import sardonyx
from tests.harness.rotation import long_test


class MyModel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(42.0))

    def forward(self, x):
        return self.weight + x


def test_the_example_of_the_page(tmp_path: Path) -> None:
    with sardonyx.enable_fake_mode():
        my_nn_module = MyModel()
        arg1 = torch.randn(2, 2, 2)
    onnx_program = sardonyx.export(my_nn_module, (arg1,), dynamo=True)
    onnx_program.save(
        bare := tmp_path / "my_model_without_initializers.onnx",
        include_initializers=False,
        keep_initializers_as_inputs=True,
    )
    assert [value.name for value in onnx.load(bare).graph.input] == ["x", "weight"]
    with pytest.raises(sardonyx.SaveError, match="SX1604"):
        onnx_program.save(tmp_path / "no.onnx")
    onnx_program.apply_weights({"weight": torch.tensor(42.0)})
    onnx_program.save(tmp_path / "my_model_with_initializers.onnx")
    x = torch.randn(2, 2, 2)
    torch.testing.assert_close(onnx_program(x)[0], x + 42)


def test_the_context_is_an_option_of_dynamo_export() -> None:
    with sardonyx.enable_fake_mode() as fake_context:
        model, x = MyModel(), torch.randn(2, 2)
    assert isinstance(fake_context, sardonyx.ONNXFakeContext)
    options = sardonyx.ExportOptions(fake_context=fake_context)
    with pytest.warns(DeprecationWarning, match="dynamo_export"):
        program = sardonyx.dynamo_export(model, x, export_options=options)
    program.apply_weights({"weight": torch.tensor(1.0)})
    torch.testing.assert_close(program(torch.ones(2, 2))[0], torch.full((2, 2), 2.0))


class Tables(torch.nn.Module):
    """What stands in no checkpoint: a table, a mask, a scale; and noise."""

    def __init__(self, noisy: bool = False) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        table = torch.zeros(10, 4)
        place = torch.arange(10).unsqueeze(1).float()
        table[:, 0::2] = torch.sin(place / torch.tensor([1.0, 10.0]))
        table[:, 1::2] = torch.empty(2).fill_(3.0)
        self.register_buffer("table", table, persistent=False)
        self.register_buffer("mask", torch.tril(torch.ones(4, 4)).bool(), persistent=False)
        self.scale = torch.full((4,), 2.0) ** -0.5
        self.register_buffer("noise", torch.rand(4) if noisy else torch.ones(4), persistent=False)

    def forward(self, x):
        y = self.fc(x) + self.table[: x.shape[0]]
        return (y * self.scale) @ self.mask.to(y.dtype) + self.noise


def test_what_is_computed_when_a_model_is_built_needs_no_checkpoint() -> None:
    with sardonyx.enable_fake_mode():
        model, x = Tables(), torch.randn(4, 4)
    real, x = Tables(), torch.randn(4, 4)
    for exported in (model, torch.export.export(model, (x,))):
        program = sardonyx.export(exported, (x,))
        program.apply_weights(real.state_dict())
        torch.testing.assert_close(program(x)[0], real(x).detach(), rtol=1e-4, atol=1e-5)


def test_what_is_random_is_asked_for() -> None:
    with sardonyx.enable_fake_mode():
        model, x = Tables(noisy=True), torch.randn(4, 4)
    program = sardonyx.export(model, (x,))
    real = Tables(noisy=True)
    program.apply_weights(real.state_dict())
    with pytest.raises(sardonyx.SaveError, match="no data: 'noise'"):
        program.model_proto  # noqa: B018 (it is made when it is asked for)
    program.apply_weights({"noise": real.noise})
    x = torch.randn(4, 4)
    torch.testing.assert_close(program(x)[0], real(x).detach(), rtol=1e-4, atol=1e-5)


def test_memory_that_nobody_wrote_to_is_asked_for() -> None:
    class Unwritten(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            held = torch.empty(4)
            held[:2] = 1.0
            self.register_buffer("held", held, persistent=False)

        def forward(self, x):
            return x + self.held

    with sardonyx.enable_fake_mode():
        model, x = Unwritten(), torch.randn(4)
    with pytest.raises(sardonyx.SaveError, match="'held'"):
        sardonyx.export(model, (x,)).save(io.BytesIO())


def test_a_llama_from_its_configuration_and_shards(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=100, use_cache=False,
    )  # fmt: skip
    torch.manual_seed(0)
    real = transformers.LlamaForCausalLM(config).eval()
    real.save_pretrained(tmp_path, max_shard_size="100KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    with sardonyx.enable_fake_mode():
        model = transformers.LlamaForCausalLM(config).eval()
        ids = torch.zeros(2, 7, dtype=torch.long)
    program = sardonyx.export(model, (ids,), dynamic_shapes={"input_ids": {0: "b", 1: "s"}})
    program.apply_weights(tmp_path)
    ids = torch.randint(0, 100, (3, 9))
    with torch.no_grad():
        torch.testing.assert_close(program(ids)[0], real(ids).logits, rtol=1e-4, atol=1e-5)


def test_weights_without_data_in_the_ir_model() -> None:
    with sardonyx.enable_fake_mode():
        model, x = MyModel(), torch.randn(2)
    program = sardonyx.export(model, (x,))
    weight = program.model.graph.initializers["weight"]
    assert weight.const_value is not None
    with pytest.raises(sardonyx.OnnxExporterError, match="has no data yet"):
        weight.const_value.numpy()
    program.apply_weights({"weight": torch.tensor(1.0)})
    torch.testing.assert_close(program(torch.ones(2))[0], torch.full((2,), 2.0))


def test_a_module_on_the_meta_device() -> None:
    with torch.device("meta"):
        model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
    program = sardonyx.export(model, (x,))
    real = torch.nn.Linear(4, 3)
    program.apply_weights(real.state_dict())
    x = torch.randn(2, 4)
    torch.testing.assert_close(program(x)[0], real(x).detach(), rtol=1e-4, atol=1e-5)


_LARGE = """
import resource, sys
import torch, sardonyx
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

class Large(torch.nn.Module):
    def __init__(self):
        super().__init__()
        wide = 41_000
        self.layers = torch.nn.ModuleList(
            [torch.nn.Linear(wide, wide, dtype=torch.bfloat16) for _ in range(42)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x

with sardonyx.enable_fake_mode():
    model, x = Large(), torch.randn(1, 41_000, dtype=torch.bfloat16)
assert sum(p.numel() for p in model.parameters()) > 70e9
program = sardonyx.export(model, (x,))
program.save(sys.argv[1], include_initializers=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@long_test(2)
def test_seventy_billion_parameters_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    run = subprocess.run(
        [sys.executable, "-c", _LARGE, str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) < 2000  # MiB, PyTorch's own 400 among them
    assert len(onnx.load(path, load_external_data=False).graph.node) >= 84


_SHARDS = """
import resource, sys
import torch, sardonyx

class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            [torch.nn.Linear(4096, 4096, bias=False) for _ in range(8)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

with sardonyx.enable_fake_mode():
    model, x = Layers(), torch.randn(1, 4096)
program = sardonyx.export(model, (x,))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
program.apply_weights(sys.argv[1])
program.save(sys.argv[2], external_data=True)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@long_test(0)
def test_shards_go_to_the_file_without_passing_through_memory(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    for i in range(8):
        weight = torch.full((4096, 4096), float(i))
        safetensors.torch.save_file({f"layers.{i}.weight": weight}, folder / f"{i}.safetensors")
        del weight
    path = tmp_path / "model.onnx"
    run = subprocess.run(
        [sys.executable, "-c", _SHARDS, str(folder), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) < 100  # MiB, of 512 written
    assert (tmp_path / "model.onnx.data").stat().st_size >= 8 * 4096 * 4096 * 4
    held = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    assert all((held[f"layers.{i}.weight"] == i).all() for i in range(8))


@long_test(3)
def test_a_device_is_first_chosen_while_something_is_captured() -> None:
    program = """
import torch, sardonyx
class Chooses(torch.nn.Module):
    def forward(self, x):
        with torch.device("cpu"):
            return x + torch.zeros(3)
sardonyx.export(Chooses(), (torch.ones(3),))
with torch.device("meta"):
    made = [torch.randn(2), torch.rand(2), torch.randperm(2), torch.randint(9, (2,))]
print({each.device.type for each in made})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{'meta'}"
