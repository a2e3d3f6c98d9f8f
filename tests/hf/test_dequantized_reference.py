"""Models with block-wise quantized weights are compared with PyTorch with the dequantized weights:
the error of quantization is not the error of a wrong model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

import sardonyx
from sardonyx._optimize.precision import HeldWeight
from sardonyx.hf.checkpoints.dequantized_reference import DequantizedValues

from .checkpoints import llama, t5


@pytest.mark.parametrize("make", [t5, llama])
def test_few_bits_are_told_from_a_wrong_model(make: Any, tmp_path: Path) -> None:
    report = sardonyx.hf.export(
        make(tmp_path / "model"), tmp_path / "out", precision="int4", verify=True
    )
    assert report.verified["equal"] < 40
    held = report.verified["held"]
    assert (held["tokens"], held["equal"], held["different"]) == (40, 40, [])
    assert held["weights in another form"] == []


def test_weights_that_are_joined(tmp_path: Path) -> None:
    report = sardonyx.hf.export(
        llama(tmp_path / "model"), tmp_path / "out", precision="int8", runtime="onnxruntime-genai",
        verify=True,
    )  # fmt: skip
    held = report.verified["held"]
    assert held["weights in another form"] == []
    assert held["factors are rounded"]


def test_a_tied_table_is_in_blocks_in_both_places(tmp_path: Path) -> None:
    folder = llama(tmp_path / "model", tie_word_embeddings=True)
    report = sardonyx.hf.export(folder, tmp_path / "out", precision="int4", verify=True)
    assert report.verified["held"]["equal"] == 40
    graph = onnx.load(tmp_path / "out" / "model.onnx").graph
    names = {each.name for each in graph.initializer if "embed_tokens" in each.name}
    whole = {"model.embed_tokens.weight"}
    assert not names & whole
    assert {name.rpartition("_")[2] for name in names} >= {"int8", "int4"}


def test_a_wrong_weight_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = HeldWeight.values

    def wrong(weight: HeldWeight) -> torch.Tensor | None:
        found = right(weight)
        return found if found is None or "down_proj" not in weight.name else 1.2 * found

    monkeypatch.setattr(HeldWeight, "values", wrong)
    with pytest.raises(sardonyx.VerificationError, match=r"SX1901.*as they are held in blocks"):
        sardonyx.hf.export(
            llama(tmp_path / "model"), tmp_path / "out", precision="int4", verify=True
        )


def test_experts_stand_for_a_stack() -> None:
    """Each expert is held for itself; PyTorch has one parameter of all, turned or not."""

    class Held:
        type, is_table, made_of = "int4", False, ("experts",)

        def __init__(self, number: int, rows: torch.Tensor) -> None:
            self.name, self._rows = f"experts.{number}", rows

        def values(self) -> torch.Tensor:
            return self._rows

    model = torch.nn.Module()
    model.experts = torch.nn.Parameter(torch.randn(3, 4, 6))
    wanted = model.experts.detach() + 0.01
    held: Any = [Held(i, each.T) for i, each in enumerate(wanted)]
    values = DequantizedValues()
    values.take(held)
    assert values.put(model) == []
    torch.testing.assert_close(model.experts.detach(), wanted)
