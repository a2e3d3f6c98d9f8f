"""Whole models equal eager PyTorch at the example's sizes and at two others."""

from __future__ import annotations

import pytest

from tests.harness import assert_exports

from .zoo import ZOO


@pytest.mark.parametrize("name", list(ZOO))
def test_answers_are_eager_pytorch_s(name: str) -> None:
    example = ZOO.build(name)
    assert_exports(
        example.model,
        example.inputs.args,
        example.inputs.kwargs,
        example.dynamic_shapes,
        example.others,
        capture_first=example.capture_first,
    )
