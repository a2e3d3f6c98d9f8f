"""Whole models for OpenVINO, run in OpenVINO: the answers of eager PyTorch."""

from __future__ import annotations

import pytest
import torch

from tests.harness.exporting import assert_same_answers, export
from tests.harness.rotation import taking_turns
from tests.models.zoo import ZOO

from .openvino import Exported

MODELS = [
    "mlp",
    "cnn",
    "unet",
    "lstm_tagger",
    "gru_seq2seq",
    "bert",
    "gpt2",
    "llama",
    "t5",
    "vit",
    "resnet50",
    "swin",
    "mobilenetv2",
    "whisper",
]


@pytest.mark.parametrize("name", taking_turns(MODELS))
def test_answers_are_eager_pytorch_s(name: str) -> None:
    """On the inputs it was captured on and at other sizes."""
    example = ZOO.build(name)
    if example.capture_first:
        program = export(example.captured(), target_runtime="openvino")
    else:
        given = example.inputs.copied()
        with torch.no_grad():
            program = export(
                example.model,
                given.args,
                kwargs=dict(given.kwargs),
                dynamic_shapes=example.dynamic_shapes,
                target_runtime="openvino",
            )
    exported = Exported.of(program)
    for inputs in (example.inputs, *example.others):
        assert_same_answers(exported, example.model, inputs)
