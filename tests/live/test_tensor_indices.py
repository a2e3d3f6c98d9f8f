"""Masks that say of one query and one key what a tensor holds there, as transformers has them."""

from __future__ import annotations

import onnxruntime
import pytest
import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

import sardonyx


class Padding(torch.nn.Module):
    """May key `k` of row `b` be looked at, for all rows and keys."""

    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        def allowed(row: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
            return mask[row, key]

        keys = torch.vmap(allowed, in_dims=(None, 0))
        rows, columns = mask.shape
        with TransformGetItemToIndex():
            return torch.vmap(keys, in_dims=(0, None))(torch.arange(rows), torch.arange(columns))


@pytest.mark.parametrize("capture", ["torch", "auto"])
def test_a_mask_read_at_tensors(capture: str) -> None:
    dims = {"mask": {0: torch.export.Dim("rows"), 1: torch.export.Dim("keys")}}
    program = sardonyx.export(
        Padding(), (torch.ones(2, 5),), dynamic_shapes=dims, capture=capture, dynamo=True
    )
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    mask = torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]])
    (got,) = session.run(None, {session.get_inputs()[0].name: mask.numpy()})
    assert torch.equal(torch.from_numpy(got), Padding()(mask))
