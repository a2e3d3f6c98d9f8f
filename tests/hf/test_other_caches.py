"""Caches that cannot be inputs and outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
import transformers

import sardonyx.hf
from sardonyx.hf.components.decoders import decoder_part
from sardonyx.hf.conversion import graphs
from tests.architectures.tiny import PROFILES, tiny_config


def test_one_that_keeps_the_first_run_apart_is_refused() -> None:
    config = tiny_config("unlimited_ocr", PROFILES[0])
    model = transformers.UnlimitedOcrForConditionalGeneration(config).eval()
    with pytest.raises(
        sardonyx.ProgramError, match=r"SX2009.*'0.key' is \[0\] after the first run"
    ):
        decoder_part(model, config)


def test_one_that_the_model_itself_does_not_take_for_several_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task without a cache is named where capture fails, and the model's own reason."""

    def captured(*_: object) -> None:
        raise sardonyx.CaptureError("none could")

    config = tiny_config("reformer", PROFILES[0])
    config.is_decoder, config.axial_pos_embds = True, False
    transformers.ReformerModelWithLMHead(config).save_pretrained(tmp_path)
    monkeypatch.setattr(graphs, "captured", captured)
    with pytest.raises(
        sardonyx.ProgramError, match=r"SX2009.*does not run with its cache(.|\n)*--task text-gen"
    ):
        sardonyx.hf.export(tmp_path, tmp_path / "out")
