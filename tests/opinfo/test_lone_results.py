"""One result of an operator that has several, the others unread: nothing may hang on those."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch.utils import _pytree as pytree

import sardonyx
from tests.harness import Session
from tests.opinfo.capture import prepare
from tests.opinfo.catalogue import Case, op_info
from tests.opinfo.compare import values_differ
from tests.opinfo.pool import quiet

quiet()

OPERATORS = [
    "_batch_norm_with_update", "_native_batch_norm_legit", "aminmax", "broadcast_tensors", "chunk",
    "cummax", "cummin", "frexp", "geqrf", "hsplit", "kthvalue", "linalg.cholesky_ex", "linalg.eigh",
    "linalg.inv_ex", "linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex",
    "linalg.qr", "linalg.slogdet", "linalg.solve_ex", "linalg.svd", "lu", "lu_unpack",
    "max.reduction_with_dim", "min.reduction_with_dim", "mode", "native_batch_norm",
    "native_group_norm", "native_layer_norm", "nn.functional.adaptive_max_pool2d",
    "nn.functional.max_pool1d", "nn.functional.max_pool2d", "nn.functional.max_pool3d",
    "nn.functional.multi_head_attention_forward", "qr", "sort", "split", "split.list_args",
    "split_with_sizes", "std_mean", "std_mean.unbiased", "svd", "tensor_split", "topk",
    "triangular_solve", "unsafe_chunk", "unsafe_split", "var_mean", "var_mean.unbiased",
]  # fmt: skip


class Lone(torch.nn.Module):
    def __init__(self, call: torch.nn.Module, place: int) -> None:
        super().__init__()
        self.call, self.place = call, place

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        return results(self.call, tensors)[self.place]


def results(call: torch.nn.Module, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [x for x in pytree.tree_leaves(call(*tensors)) if isinstance(x, torch.Tensor)]


@pytest.mark.parametrize("op", OPERATORS)
def test_each_result_alone(op: str) -> None:
    sample = next(iter(op_info(op).sample_inputs("cpu", torch.float32, requires_grad=False)))
    case = Case(op, "float32", "sample", 0, "function", dynamic=False)
    call, tensors = prepare(case, sample)
    together = computed(call, tensors)[: len(results(call, tensors))]
    assert len(together) > 1
    for place, expected in enumerate(together):
        alone = computed(Lone(call, place), tensors)[0]
        assert values_differ(alone, expected) is None


def computed(call: torch.nn.Module, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What the model answers, then what it writes to; the sweep holds that against eager PyTorch,
    where all results are read."""
    program = torch.export.export(call, tuple(tensors))
    model = sardonyx.export(program, decompose=False).model_proto.SerializeToString()
    return Session(model).run(list(tensors))
