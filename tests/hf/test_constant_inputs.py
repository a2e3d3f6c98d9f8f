"""What is known while a model is captured, and what a run writes to it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

import sardonyx
from sardonyx import CaptureError
from sardonyx.hf.base.constant_inputs import KnownValues, with_known

from .checkpoints import saved


def test_what_a_run_writes_to_is_no_longer_known() -> None:
    computed = torch.full((2,), 7.0)
    with KnownValues({"sizes": torch.tensor([2, 3])}) as known:
        rows = int(known.tensors["sizes"][0])
        made = torch.zeros(3, rows)
        made[0] = 1.0
        assert float(made.sum()) == 2.0  # what is known is written to as well
        made[1] = computed
        total = made.sum()
    assert float(total) == 16.0
    torch.testing.assert_close(made, torch.tensor([[1.0, 1.0], [7.0, 7.0], [0.0, 0.0]]))


def test_a_run_may_not_write_to_what_has_been_looked_at() -> None:
    computed = torch.ones(2)
    with KnownValues({"sizes": torch.tensor([2])}) as known:
        made = torch.zeros(3, int(known.tensors["sizes"][0]))
        row = made[0]
        with pytest.raises(CaptureError, match="writes what a run computes"):
            made[0] = computed
        assert float(row.sum()) == 0.0


def test_rows_of_what_is_known_are_known() -> None:
    with KnownValues({"sizes": torch.tensor([[2, 3], [4, 5]])}) as known:
        assert [int(row.prod()) for row in known.tensors["sizes"]] == [6, 20]


def test_tables_of_positions_are_written_image_by_image(tmp_path: Path) -> None:
    torch.manual_seed(0)
    widths = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1}
    config = transformers.Siglip2Config(
        text_config={**widths, "num_attention_heads": 4, "vocab_size": 100},
        vision_config={**widths, "num_attention_heads": 4, "num_patches": 16, "patch_size": 4},
    )
    folder = saved(transformers.Siglip2Model(config).eval(), tmp_path / "checkpoint")
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    assert report.task == "zero-shot-image-classification"
    assert report.verified["different"] == []
    assert report.parts[0].inputs["pixel_values"][1:] == [256, 48]


class _Sized(torch.nn.Module):
    """Of an image's patches, those that its size counts."""

    def forward(self, patches: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        counts = sizes[:, 0] * sizes[:, 1]
        return patches[: int(counts[0])].sum(0)


class _OfOneSize(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self._known = {"sizes": torch.tensor([[2, 3]])}

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = with_known(_Sized(), self._known, {})(patches=patches)
        return found


def test_quick_capture_takes_what_is_known() -> None:
    patches = torch.randn(8, 4)
    made = sardonyx.export(_OfOneSize(), (patches,), capture="quick")
    torch.testing.assert_close(made(patches)[0], patches[:6].sum(0))
