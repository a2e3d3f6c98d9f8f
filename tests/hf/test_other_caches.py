"""Caches that cannot be inputs and outputs."""

from __future__ import annotations

import pytest
import transformers

import sardonyx
from sardonyx.hf.components.decoders import decoder_part
from tests.architectures.tiny import PROFILES, tiny_config


def test_one_that_keeps_the_first_run_apart_is_refused() -> None:
    config = tiny_config("unlimited_ocr", PROFILES[0])
    model = transformers.UnlimitedOcrForConditionalGeneration(config).eval()
    with pytest.raises(
        sardonyx.ProgramError, match=r"SX2009.*'0.key' is \[0\] after the first run"
    ):
        decoder_part(model, config)
