"""Decoders whose modules keep states in attributes, next to the cache that they are passed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import sardonyx
from sardonyx.hf.components.module_states import CacheAndStates, cache_after_first_run
from sardonyx.hf.evaluation.greedy import greedy
from tests.architectures.tiny import PROFILES, tiny_config

from .test_genai import assert_its_tokens


@pytest.fixture
def model() -> Any:
    torch.manual_seed(0)
    config = tiny_config("recurrent_gemma", PROFILES[0])
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def test_states_are_inputs_and_outputs(model: Any, tmp_path: Path) -> None:
    report = sardonyx.hf.export(model, tmp_path / "out", verify=True)
    assert report.task == "text-generation-with-past"
    assert report.verified["equal"] == report.verified["tokens"]
    (part,) = report.parts
    caches = [name for name in part.inputs if name.startswith("past_key_values.")]
    assert caches == [
        f"past_key_values.{name}"
        for name in (
            "2.key", "2.value", "0.conv1d_state", "0.recurrent_state", "1.conv1d_state",
            "1.recurrent_state",
        )
    ]  # fmt: skip
    assert part.inputs["past_key_values.0.recurrent_state"][0] == "batch_size"
    # The model has none of the export's states.
    assert all(each.conv1d_state is None for each in model.modules() if hasattr(each, "rg_lru"))


def test_rows_with_padding(model: Any, tmp_path: Path) -> None:
    sardonyx.hf.export(model, tmp_path / "out")
    ids = torch.randint(3, 50, (3, 9), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, :4] = 0
    got = sardonyx.hf.load(tmp_path / "out").generate(ids, mask, max_new_tokens=6)
    assert torch.equal(got, greedy(model, ids, mask, 6))


def test_in_onnxruntime_genai(model: Any, tmp_path: Path) -> None:
    sardonyx.hf.export(model, tmp_path / "out", runtime="onnxruntime-genai")
    assert_its_tokens(model, tmp_path / "out", 1)


class Keeping(torch.nn.Module):
    """Fills the cache that it is passed, returns none, and keeps something."""

    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.kept: Any = None
        self.counted = torch.nn.Buffer(torch.zeros(1))
        self._kept = kept

    def forward(self, x: torch.Tensor, cache: Any, use_cache: bool) -> dict[str, torch.Tensor]:
        cache["key"] = x
        self.kept = self._kept(self, x)
        return {"logits": x}


@pytest.mark.parametrize(
    ("kept", "is_found"),
    [
        (lambda model, x: x + 1, True),
        (lambda model, x: x[0], False),
        (lambda model, x: 3, False),
        (lambda model, x: (model.counted.add_(1), x)[1], False),
    ],
    ids=["state of the rows", "of no row", "number", "buffer that is written to"],
)
def test_what_counts_as_a_state(kept: Any, is_found: bool) -> None:
    cache: dict[str, Any] = {}
    x = torch.randn(2, 3)
    found = cache_after_first_run(Keeping(kept), "cache", cache, {"x": x})
    assert isinstance(found, CacheAndStates) == is_found


def test_no_static_cache(model: Any, tmp_path: Path) -> None:
    with pytest.raises(sardonyx.UsageError, match="SX2012"):
        sardonyx.hf.export(model, tmp_path / "out", static_cache=32)
