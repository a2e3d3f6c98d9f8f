"""`max()` and `min()` of Python while a model is captured: of numbers, sizes and tensors."""

from __future__ import annotations

import pytest
import torch

import sardonyx


class Chosen(torch.nn.Module):
    """Choices among numbers alone, and among numbers and a size, from every kind of collection."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        numbers = [3, 1.5, 2]
        assert max(numbers) == max(each for each in numbers) == max(set(numbers)) == 3
        assert type(min(2, 2.0)) is int
        assert type(min(2.0, 2)) is float
        assert max([], default=7) == 7
        assert max("ab", "b") == "b"
        assert max(numbers, key=lambda each: -each) == 1.5
        for nothing in ([], iter(())):
            with pytest.raises(ValueError, match="empty"):
                max(nothing)
        size = max(each for each in (3, x.shape[0], 2))
        return x[:1] * size + min([x.shape[0] + 4, 6]) + max(x[0], x[-1])


@pytest.mark.parametrize("capture", ["auto", "torch"])
def test_numbers_sizes_and_tensors(capture: str) -> None:
    dims = ({0: torch.export.Dim("rows", min=1)},)
    model = Chosen()
    program = sardonyx.export(
        model, (torch.tensor([4.0, 1, 9, 2, 3]),), dynamic_shapes=dims, capture=capture
    )
    for rows in (1, 2, 3, 8):
        x = torch.arange(rows) * 1.5 + 1
        torch.testing.assert_close(program(x)[0], model(x))
