"""What the sweep makes checkpoints of."""

from __future__ import annotations

import pytest
from bench.hf.checkpoints import foremost_tasks


@pytest.fixture(scope="module")
def foremost() -> dict[str, str]:
    return foremost_tasks()


def test_an_architecture_is_made_for_what_it_has_a_class_of_its_own_for(
    foremost: dict[str, str],
) -> None:
    assert foremost["shieldgemma2"] == "image-classification"
    assert foremost["gemma3"] == "image-text-to-text"


def test_one_without_is_made_by_the_class_that_it_is_lent(foremost: dict[str, str]) -> None:
    assert foremost["sam2_video"] == "mask-generation"
