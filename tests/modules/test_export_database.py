"""PyTorch's own examples of what torch.export captures, and of their rewritten forms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from torch._export.db.case import ExportCase, SupportLevel
from torch._export.db.examples import all_examples, get_rewrite_cases

from tests.harness import assert_exports, capture


def _cases() -> Iterator[ExportCase]:
    for _, case in sorted(all_examples().items()):
        yield case
        yield from get_rewrite_cases(case)


@pytest.mark.parametrize("strict", [False, True], ids=["traced", "strict"])
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_example(case: ExportCase, strict: bool) -> None:
    try:
        program = capture(
            case.model, case.example_args, case.example_kwargs, case.dynamic_shapes, strict=strict
        )
    except Exception as error:
        # PyTorch says which of its examples are not captured yet.
        if case.support_level is SupportLevel.SUPPORTED:
            raise
        pytest.skip(f"torch.export cannot capture it yet: {error}")
    others = () if case.extra_args is None else (case.extra_args,)
    assert_exports(program, case.example_args, case.example_kwargs, other_inputs=others)
