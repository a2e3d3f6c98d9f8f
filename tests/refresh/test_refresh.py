"""Weights of written models, replaced: the same bytes as a full export with the new ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from safetensors.torch import save_file
from torch.export import Dim

import sardonyx
from sardonyx._refresh.command import main
from tests.harness.json_output import told
from tests.hf.checkpoints import bert, mixtral, t5
from tests.hf.gguf_files import Q8_0
from tests.hf.test_gguf import lfm2
from tests.hf.test_quantized import written as quantized
from tests.models.example import unsettle


class Vision(torch.nn.Module):
    """Batch norms behind convolutions of both kinds, a layer scale, a normalized weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU()
        )
        self.second = torch.nn.ConvTranspose2d(8, 4, 2, bias=False)
        self.norm = torch.nn.BatchNorm2d(4)
        self.scale = torch.nn.Parameter(torch.rand(4, 1, 1))
        self.dense = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 5))
        self.register_buffer("shift", torch.rand(5), persistent=False)

    def forward(self, x: torch.Tensor) -> Any:
        x = self.norm(self.second(self.first(x))) * self.scale
        return self.dense(x.mean((2, 3))) + self.shift


class Tied(torch.nn.Module):
    """Embeddings that are the last layer's weight, and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(50, 64)
        self.layer = torch.nn.TransformerEncoderLayer(64, 4, 96, batch_first=True)
        self.head = torch.nn.Linear(64, 50, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> Any:
        return self.head(self.layer(self.embed(ids)))


def made(kind: Callable[[], torch.nn.Module], seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    model = kind().eval()
    with torch.no_grad():
        unsettle(model)
    if isinstance(model, Vision):  # in no state dict
        model.get_buffer("shift").copy_(torch.arange(5.0))
    return model


def exported(model: torch.nn.Module, path: Path, external: bool = False, **options: Any) -> Path:
    inputs = torch.rand(1, 3, 8, 8) if isinstance(model, Vision) else torch.ones(1, 7).long()
    program = sardonyx.export(model, (inputs,), **options)
    path.parent.mkdir(exist_ok=True)
    program.save(path, external_data=external)
    return path


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(path.parent.iterdir())}


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("kind", [Vision, Tied])
@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime-cpu"])
def test_a_refreshed_model_is_a_full_export(
    kind: Callable[[], torch.nn.Module], runtime: str, external: bool, tmp_path: Path
) -> None:
    old, new = made(kind, 0), made(kind, 1)
    path = exported(old, tmp_path / "a/m.onnx", external, target_runtime=runtime)
    wanted = exported(new, tmp_path / "b/m.onnx", external, target_runtime=runtime)
    torch.save(new.state_dict(), tmp_path / "new.pt")
    assert files(path) != files(wanted)
    assert main([str(path), str(tmp_path / "new.pt")]) == 0
    assert files(path) == files(wanted)


@pytest.mark.parametrize("precision", ["fp16", "int8", "int4", "fp16+int4"])
def test_weights_in_other_precisions(
    precision: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for number in range(2):
        model = made(Tied, number)
        program = sardonyx.export(model, (torch.ones(1, 7).long(),))
        wanted = sardonyx.Precision(precision, method="rtn") if "int" in precision else precision
        sardonyx.optimize(program, precision=wanted)
        paths.append(tmp_path / str(number) / "m.onnx")
        paths[-1].parent.mkdir()
        program.save(paths[-1], external_data=True)
        state = model.state_dict()
        del state["head.weight"]  # that of the embeddings
        save_file(state, tmp_path / f"{number}.safetensors")
    assert files(paths[0]) != files(paths[1])
    assert main([str(paths[0]), str(tmp_path / "1.safetensors"), "--json"]) == 0
    assert told(capsys.readouterr().out, "refresh")["unused"] == []
    assert files(paths[0]) == files(paths[1])


class Either(torch.nn.Module):
    """A branch whose quantized weight is read outside of it, too."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (y,) = torch.cond(
            x.sum() > 0, lambda x: (self.first(x),), lambda x: (self.second(x),), (x,)
        )
        return y + self.first(x)


def test_weights_of_bodies(tmp_path: Path) -> None:
    for number in (0, 1):
        model = made(Either, number)
        program = sardonyx.export(model, (torch.ones(2, 64),))
        sardonyx.optimize(program, precision=sardonyx.Precision("int4", method="rtn"))
        program.save(tmp_path / f"{number}.onnx")
        save_file(model.state_dict(), tmp_path / f"{number}.safetensors")
    assert main([str(tmp_path / "0.onnx"), str(tmp_path / "1.safetensors")]) == 0
    assert (tmp_path / "0.onnx").read_bytes() == (tmp_path / "1.onnx").read_bytes()


class Biased(torch.nn.Module):
    """Attention whose learned biases begin as zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(1, 1, 6, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        attend = torch.nn.functional.scaled_dot_product_attention
        return attend(x, x, x, attn_mask=self.bias)


def test_weights_that_begin_as_zeros() -> None:
    model, x = Biased().eval(), torch.rand(2, 3, 6, 8)
    program = sardonyx.export(model, (x,))
    torch.nn.init.normal_(model.bias)
    program.refresh(model.state_dict())
    torch.testing.assert_close(program(x)[0], model(x).detach())


class ManySteps(torch.nn.Module):
    """A constant of 40 steps. Each reads the one before it several times."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        bias = torch.full((2, 3), -math.inf)
        for step in range(40):
            bias = bias * 2
            bias[0, step % 3] = step
        return bias[:, : x.shape[0]]


def test_constants_of_many_steps_are_written() -> None:
    model = ManySteps()
    program = sardonyx.export(model, (torch.zeros(2),), dynamic_shapes=({0: Dim("length", max=3)},))
    assert len(program.model_proto.graph.node) <= 2
    x = torch.zeros(3)
    torch.testing.assert_close(program(x)[0], model(x))


@pytest.mark.parametrize("kind", [Vision, Tied])
def test_a_program_in_memory(kind: Callable[[], torch.nn.Module], tmp_path: Path) -> None:
    new = made(kind, 1)
    inputs = torch.rand(1, 3, 8, 8) if kind is Vision else torch.ones(1, 7).long()
    program = sardonyx.export(made(kind, 0), (inputs,))
    for _ in range(2):  # the record is made anew of what was refreshed
        program.refresh(new.state_dict())
        program.save(tmp_path / "m.onnx")
    (tmp_path / "full").mkdir()
    wanted = exported(new, tmp_path / "full/m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == wanted.read_bytes()


def test_all_that_does_not_fit_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = made(Vision, 0)
    path = exported(model, tmp_path / "a/m.onnx", external=True)
    state = model.state_dict()
    state["first.0.weight"] = torch.rand(8, 3, 5, 5)
    state["norm.running_var"] = state["norm.running_var"].double()
    del state["scale"]
    torch.save({"state_dict": state | {"more": torch.ones(1)}, "epoch": 3}, tmp_path / "new.pt")
    before = files(path)
    assert main([str(path), str(tmp_path / "new.pt"), "--json"]) == 1
    failed = json.loads(capsys.readouterr().out)
    assert [each["code"] for each in failed["diagnostics"]] == ["SX1821"] * 3
    text = json.dumps(failed)
    assert "'first.0.weight' is float32[8,3,3,3] in the model, and float32[8,3,5,5]" in text
    assert "'norm.running_var' is float32[4] in the model, and float64[4]" in text
    assert "the checkpoint has no 'scale', float32[4,1,1]" in text
    assert files(path) == before


def test_another_place_and_the_same_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = made(Tied, 0), made(Tied, 1)
    monkeypatch.chdir(tmp_path)
    path = exported(old, Path("a/m.onnx"), external=True)
    wanted = exported(new, Path("b/m.onnx"), external=True)
    save_file({k: v for k, v in new.state_dict().items() if k != "head.weight"}, "c.safetensors")
    Path("new").mkdir()
    before = files(path)
    assert main(["a/m.onnx", "c.safetensors", "-o", "new/m.onnx"]) == 0
    assert files(Path("new/m.onnx")) == files(wanted)
    assert main(["a/m.onnx", "c.safetensors", "-o", "a/other.onnx"]) == 1
    assert "would share the data file" in capsys.readouterr().err
    assert files(path) == before


def test_a_model_that_was_changed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = made(Vision, 0)
    path = exported(model, tmp_path / "a/m.onnx")
    torch.save(model.state_dict(), tmp_path / "new.pt")
    assert main([str(path), str(tmp_path / "none.pt")]) == 2
    changed = onnx.load(path)
    changed.graph.node[0].attribute[0].ints[0] += 1
    onnx.save(changed, path)
    assert main([str(path), str(tmp_path / "new.pt")]) == 1
    assert "SX1820" in capsys.readouterr().err
    del changed.metadata_props[:]
    onnx.save(changed, path)
    assert main([str(path), str(tmp_path / "new.pt")]) == 1
    assert "has no record" in capsys.readouterr().err


class Filled(Either):
    """With a tensor in an attribute, too."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([super().forward(x), torch.full((x.shape[0], 1), 3.0)], 1)


def a_body(graph: onnx.GraphProto) -> None:
    (branch,) = (node for node in graph.node if node.op_type == "If")
    (added,) = (each for each in branch.attribute[0].g.node if each.op_type == "Gemm")
    added.attribute.append(onnx.helper.make_attribute("alpha", 2.0))


def a_tensor(graph: onnx.GraphProto) -> None:
    (filled,) = (node for node in graph.node if node.op_type == "ConstantOfShape")
    filled.attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(np.full(1, 4, np.float32)))


@pytest.mark.parametrize("change", [a_body, a_tensor])
def test_changes_within_nodes_are_refused(
    change: Callable[[onnx.GraphProto], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, path = made(Filled, 0), tmp_path / "m.onnx"
    rows = {"x": {0: torch.export.Dim("n")}}
    sardonyx.export(model, (torch.ones(2, 64),), dynamic_shapes=rows).save(path)
    torch.save(model.state_dict(), tmp_path / "new.pt")
    assert main([str(path), str(tmp_path / "new.pt")]) == 0
    changed = onnx.load(path)
    change(changed.graph)
    onnx.save(changed, path)
    assert main([str(path), str(tmp_path / "new.pt")]) == 1
    assert "SX1820" in capsys.readouterr().err


def test_models_with_functions(tmp_path: Path) -> None:
    for number in (0, 1):
        model = made(Tied, number)
        program = sardonyx.export(
            model, (torch.ones(1, 7).long(),), export_modules_as_functions=True
        )
        program.save(tmp_path / f"{number}.onnx")
        torch.save(model.state_dict(), tmp_path / f"{number}.pt")
    assert main([str(tmp_path / "0.onnx"), str(tmp_path / "1.pt")]) == 0
    assert (tmp_path / "0.onnx").read_bytes() == (tmp_path / "1.onnx").read_bytes()
    changed = onnx.load(tmp_path / "0.onnx")
    changed.functions[0].node[0].attribute.append(onnx.helper.make_attribute("other", 2))
    onnx.save(changed, tmp_path / "0.onnx")
    assert main([str(tmp_path / "0.onnx"), str(tmp_path / "1.pt")]) == 1


def test_numbers_beyond_half_precision_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = made(Tied, 0)
    program = sardonyx.export(model, (torch.ones(1, 7).long(),))
    sardonyx.optimize(program, precision="fp16")
    program.save(tmp_path / "m.onnx")
    with torch.no_grad():
        model.get_parameter("layer.linear1.weight")[0, 0] = 1e6
    torch.save(model.state_dict(), tmp_path / "new.pt")
    before = (tmp_path / "m.onnx").read_bytes()
    assert main([str(tmp_path / "m.onnx"), str(tmp_path / "new.pt")]) == 1
    assert "'layer.linear1.weight': its numbers are beyond" in capsys.readouterr().err
    assert (tmp_path / "m.onnx").read_bytes() == before


def test_a_transformers_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [bert(tmp_path / str(number), seed=number) for number in range(2)]
    for path in paths:
        sardonyx.hf.export(path, out=path.with_name(f"out-{path.name}"), precision="int8")
    model, wanted = (tmp_path / f"out-{number}" / "model.onnx" for number in range(2))
    config = json.loads((paths[1] / "config.json").read_text())
    (paths[1] / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1.0}))
    assert main([str(model), str(paths[1])]) == 1
    assert "'layer_norm_eps' of the configuration is 1e-12 in the model" in capsys.readouterr().err
    (paths[1] / "config.json").write_text(json.dumps(config))
    assert main([str(model), str(paths[1])]) == 0
    assert model.read_bytes() == wanted.read_bytes()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        # Experts that transformers makes one weight of, and that are coded one by one.
        (mixtral, {"precision": "int4", "runtime": "onnxruntime-cpu"}),
        # Both decoders in one model, and a factor that is worked into a norm.
        (t5, {"precision": "fp16"}),
    ],
)
def test_weights_that_are_made_of_several(
    kind: Callable[..., Path], options: dict[str, Any], tmp_path: Path
) -> None:
    paths = [kind(tmp_path / str(seed), seed=seed) for seed in range(2)]
    for path in paths:
        sardonyx.hf.export(path, out=path.with_name(f"out-{path.name}"), **options)
    models = sorted((tmp_path / "out-0").glob("*.onnx"))
    assert len(models) == (4 if kind is t5 else 1)
    for model in models:
        assert main([str(model), str(paths[1])]) == 0
        assert model.read_bytes() == (tmp_path / "out-1" / model.name).read_bytes()


# In the last two the codes have the names of the weights that they stand for.
@pytest.mark.parametrize("name", ["gptq", "fp8", "nf4"])
def test_checkpoints_in_few_bits(name: str, tmp_path: Path) -> None:
    paths = []
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        paths.append(quantized(tmp_path / str(seed), name, seed)[0])
        sardonyx.hf.export(paths[-1], tmp_path / f"out-{seed}", precision="fp16")
    model, wanted = (tmp_path / f"out-{seed}" / "model.onnx" for seed in range(2))
    assert model.read_bytes() != wanted.read_bytes()
    assert main([str(model), str(paths[1])]) == 0
    assert model.read_bytes() == wanted.read_bytes()


def test_a_gguf_file(tmp_path: Path) -> None:
    for seed in range(2):
        lfm2(tmp_path / f"{seed}.gguf", Q8_0, seed)
        sardonyx.hf.export(tmp_path / f"{seed}.gguf", tmp_path / f"out-{seed}")
    model, wanted = (tmp_path / f"out-{seed}" / "model.onnx" for seed in range(2))
    assert model.read_bytes() != wanted.read_bytes()
    assert main([str(model), str(tmp_path / "1.gguf")]) == 0
    assert model.read_bytes() == wanted.read_bytes()
