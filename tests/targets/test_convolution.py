"""Convolutions that ONNX Runtime's CPU provider has not: a test a rule."""

from __future__ import annotations

import numpy as np
import pytest

from tests.targets import alone

IMAGE = np.ones((1, 1, 4), np.float32)
KERNEL = np.ones((1, 1, 2), np.float32)
MISSING = "NOT_IMPLEMENTED"


def test_convolution_of_doubles() -> None:
    with pytest.raises(Exception, match=MISSING):
        alone.run("Conv", IMAGE.astype(np.float64), KERNEL.astype(np.float64))


def test_transposed_convolution_of_doubles() -> None:
    with pytest.raises(Exception, match=MISSING):
        alone.run("ConvTranspose", IMAGE.astype(np.float64), KERNEL.astype(np.float64))


def test_output_padding_of_a_stride() -> None:
    with pytest.raises(Exception, match="output_padding"):
        alone.run("ConvTranspose", IMAGE, KERNEL, dilations=[3], output_padding=[2])
