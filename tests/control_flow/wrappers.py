"""Regions that only run a body, lists of tensors, `out=`, and random numbers in place."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .operators import cond
from .programs import ROWS, Program, joins, negative, numbers, positive

WRAPPERS: list[Program] = []
wrapper = joins(WRAPPERS)


@wrapper(numbers(4, 3), others=((numbers(6, 3),),), dynamic=ROWS)
def enables_gradients(x: Tensor) -> Tensor:
    with torch.enable_grad():
        y = x * 2
    return y + 1


@wrapper(numbers(4, 3))
def writes_without_gradients(x: Tensor) -> Tensor:
    y = x.clone()
    with torch.enable_grad():
        y[0] += 1
    with torch.set_grad_enabled(True):
        z = y.sum(0)
        y[1].zero_()
    return y * z


@wrapper(numbers(4, 3), others=((numbers(6, 3),),), dynamic=ROWS)
def multiplies_under_autocast(x: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ x.t()
        z = y.softmax(1) + x.sum()
    return z + 1


@wrapper(numbers(4, 3))
def nests_autocast(x: Tensor) -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ x.t()
        with torch.autocast("cpu", enabled=False):
            z = y.float() @ x
        w = torch.nn.functional.linear(z, x)
    return y, z, w


@wrapper(numbers(4, 3), numbers(1, 1, 4))
def casts_what_pytorch_casts(x: Tensor, signal: Tensor) -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        product = torch.tensordot(x, x.t(), 1)
        kernel = torch.ones(2, 1, 3)
        same = torch.convolution(signal, kernel, None, [1], [0], [1], False, [0], 1)
    return product, same


@wrapper(positive(4, 3), others=((negative(4, 3),),))
def branches_under_autocast(x: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        y = cond(x.sum() > 0, lambda x: x @ x.t(), lambda x: x @ x.t() + 1, (x,))
    return y * 2


@wrapper(numbers(4, 3))
def hints_at_a_region(x: Tensor) -> Any:
    if not torch.compiler.is_exporting():
        return x.relu(), x.sum()
    return torch.ops.higher_order.hints_wrapper(
        lambda x: (x.relu(), x.sum()), (x,), {}, hints={"outer": True}
    )


@wrapper(numbers(4, 3), numbers(4, 3, seed=1))
def adds_to_lists(x: Tensor, y: Tensor) -> Any:
    tensors = [x.clone(), y.clone()]
    torch._foreach_add_(tensors, 1.5)
    torch._foreach_mul_(tensors, [y, x])
    torch._foreach_sub_(tensors, [1.0, 2.0])
    return tensors


@wrapper(numbers(4, 3), numbers(4, 3, seed=1))
def computes_lists(x: Tensor, y: Tensor) -> Any:
    sums = torch._foreach_add([x, y], [y, x], alpha=2)
    return torch._foreach_sqrt(torch._foreach_abs(sums)), torch._foreach_maximum([x, y], 0.0)


@wrapper(numbers(4, 3), numbers(4, 3, seed=1))
def writes_lists_of_views(x: Tensor, y: Tensor) -> Any:
    x, y = x.clone(), y.clone()
    torch._foreach_neg_([x[0], y[:, 1]])
    torch._foreach_copy_([x[1], x[2]], [y[1], y[2]])
    torch._foreach_zero_([y[3]])
    torch._foreach_lerp_([x[3]], [y[0]], 0.25)
    torch._foreach_addcmul_([x[0]], [y[0]], [y[1]], 2.0)
    torch._foreach_clamp_min_([y[0]], 0.0)
    return x, y


@wrapper(numbers(4, 3), numbers(3, 4, seed=1))
def gives_out_the_product(x: Tensor, y: Tensor) -> Any:
    out = torch.empty(4, 4)
    torch.matmul(x, y, out=out)
    torch.addmm(out, x, y, out=out)
    wide = torch.zeros(4, 3, dtype=torch.float64)
    torch.add(x, 1, out=wide)
    return out, wide


@wrapper(numbers(4, 3), numbers(4, 3, seed=1))
def gives_out_into_views(x: Tensor, y: Tensor) -> Any:
    out = torch.zeros(2, 4, 3)
    torch.cat([x[:2], y[:2]], out=out[0])
    torch.where(x > 0, x, y, out=out[1]) if False else torch.maximum(x, y, out=out[1])
    values, places = torch.zeros(4, 2), torch.zeros(4, 2, dtype=torch.int64)
    torch.topk(x, 2, out=(values, places))
    return out, values, places


@wrapper(numbers(4, 3), numbers(4, 3, seed=1))
def gives_out_comparisons(x: Tensor, y: Tensor) -> Any:
    flags = torch.zeros(4, 3, dtype=torch.bool)
    torch.gt(x, y, out=flags)
    floats = torch.zeros(4, 3)
    torch.eq(x, x, out=floats)
    torch.sum(y, 1, out=floats[:, 0])
    return flags, floats
