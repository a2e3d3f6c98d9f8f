"""Branches: on data, on sizes, on what is known, and early returns."""

# ruff: noqa: SIM108, RET505, UP045, UP006, UP035
from typing import List, Optional, Tuple

import torch
from torch import Tensor

from .table import ROWS, SIGNS, case, grid, number


@case(*SIGNS)
def if_sum(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        return x * 2
    else:
        return x - 1


@case(*SIGNS)
def if_tensor(x: Tensor) -> Tensor:
    if x.sum() > 0:
        x = x * 2
    return x


@case(*SIGNS)
def if_item(x: Tensor) -> Tensor:
    if x.sum().item() > 0:
        x = x * 2
    return x


@case(*SIGNS)
def if_ternary(x: Tensor) -> Tensor:
    return x * 2 if bool(x.mean() > 0) else x - 1


@case(*SIGNS)
def if_ternary_number(x: Tensor) -> Tensor:
    return x * (2 if bool(x.mean() > 0) else 3)


@case(*SIGNS)
def if_elif(x: Tensor) -> Tensor:
    if bool(x.sum() > 5):
        y = x + 1
    elif bool(x.sum() > -5):
        y = x + 2
    elif bool(x.sum() > -20):
        y = x + 3
    else:
        y = x + 4
    return y


@case(*SIGNS)
def if_nested(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        if bool(x[0, 0] > 0):
            y = x
        else:
            y = -x
    else:
        y = x * 0
    return y


@case(*SIGNS)
def if_early(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        return x
    y = x.abs()
    if bool(y.max() > 5):
        return y
    return y + x


@case(*SIGNS)
def if_early_nested(x: Tensor) -> Tensor:
    if bool(x.sum() > -10):
        if bool(x.sum() > 0):
            return x + 1
        y = x + 2
    else:
        y = x + 3
    return y * 2


@case(*SIGNS)
def if_many_results(x: Tensor) -> Tuple[Tensor, int, float, bool]:
    n, scale, flag, y = 1, 0.5, False, x
    if bool(x.sum() > 0):
        y = x + 1
        n = 7
        flag = True
    else:
        scale = 2.5
    return y * scale, n, scale, flag


@case(*SIGNS)
def if_sizes_differ(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x[:1]
    else:
        y = torch.cat([x, x])
    return y.sum(0)


@case(*SIGNS)
def if_sizes_differ_out(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x[:1]
    else:
        y = torch.cat([x, x])
    return y


@case(*ROWS)
def if_size(x: Tensor) -> Tensor:
    if x.size(0) > 3:
        return x[:3]
    return torch.cat([x, x])


@case(*ROWS)
def if_even_size(x: Tensor) -> Tensor:
    if x.shape[0] % 2 == 0:
        y = x.reshape(-1, 2).sum(1)
    else:
        y = x.sum(1)
    return y.sum()


@case(*ROWS)
def if_dim(x: Tensor) -> Tensor:
    if x.dim() == 2:
        return x.sum(1)
    return x


@case(*ROWS)
def if_dtype(x: Tensor) -> Tensor:
    if x.dtype == torch.float32:
        return x * 2
    return x


@case((grid(2), True), (grid(3), False))
def if_bool_input(x: Tensor, flag: bool) -> Tensor:
    if flag:
        return x
    return -x


@case((grid(2), 1), (grid(3), 2), (grid(3), 9))
def if_int_input(x: Tensor, mode: int) -> Tensor:
    if mode == 1:
        return x
    elif mode == 2:
        return -x
    return x * 0


@case((grid(2), number(1)), (grid(3), number(0)))
def if_tensor_input(x: Tensor, flag: Tensor) -> Tensor:
    if bool(flag):
        x = x * 3
    return x


@case((grid(2), torch.tensor(True)), (grid(3), torch.tensor(False)))
def if_bool_tensor(x: Tensor, flag: Tensor) -> Tensor:
    if flag:
        x = x * 3
    return x


@case(*SIGNS)
def if_and(x: Tensor) -> Tensor:
    if bool(x.sum() > -10) and bool(x[0, 0] < 0):
        x = x * 2
    return x


@case(*SIGNS)
def if_or(x: Tensor) -> Tensor:
    if bool(x.sum() > 0) or bool(x[0, 0] < -5):
        x = x * 2
    return x


@case(*SIGNS)
def if_not(x: Tensor) -> Tensor:
    if not bool(x.sum() > 0):
        x = x * 2
    return x


@case(*SIGNS)
def if_and_size(x: Tensor) -> Tensor:
    if x.size(0) > 1 and bool(x.sum() > 0):
        x = x * 2
    return x


@case(*SIGNS)
def if_chained(x: Tensor) -> Tensor:
    if -10.0 < x.sum().item() < 5.0:
        x = x * 2
    return x


@case(*SIGNS)
def if_shadowed(x: Tensor) -> Tensor:
    y = x
    if bool(x.sum() > 0):
        x = y + 1
        y = x * 2
    return x + y


@case(*SIGNS)
def if_assert(x: Tensor) -> Tensor:
    assert x.size(1) == 4
    assert x.dim() == 2, "two dimensions"
    if bool(x.sum() > 0):
        x = x * 2
    return x


@case(*ROWS)
def if_raise(x: Tensor) -> Tensor:
    if bool(x.max() > 100):
        raise RuntimeError("too large")
    return x * 2


@case(*ROWS)
def if_raise_with_value(x: Tensor) -> Tensor:
    if x.size(1) != 4:
        raise ValueError(f"expected 4, got {x.size(1)}")
    return x * 2


@case((grid(2), None), (grid(3), None))
def optional_none(x: Tensor, y: Optional[Tensor]) -> Tensor:
    if y is None:
        y = torch.ones_like(x)
    return x + y


@case((grid(2), grid(2)), (grid(3), grid(3)))
def optional_given(x: Tensor, y: Optional[Tensor] = None) -> Tensor:
    if y is not None:
        return x + y
    return x


@case((grid(2),), (grid(3),))
def optional_default(x: Tensor, y: Optional[Tensor] = None, scale: float = 2.0) -> Tensor:
    if y is None:
        return x * scale
    return x + y


@case((grid(2), 3), (grid(3), 4))
def optional_int(x: Tensor, n: Optional[int] = None) -> Tensor:
    if n is None:
        n = 1
    return x * n


@case(*SIGNS)
def optional_local(x: Tensor) -> Tensor:
    y: Optional[Tensor] = None
    if x.size(1) == 4:
        y = x + 1
    if y is not None:
        return y
    return x


@case(*ROWS)
def optional_unwrapped(x: Tensor) -> Tensor:
    y: Optional[Tensor] = x * 2
    assert y is not None
    return y + 1


@case(*ROWS)
def optional_list(x: Tensor) -> Tensor:
    parts: List[Optional[Tensor]] = [x, None, x * 2]
    total = torch.zeros_like(x)
    for part in parts:
        if part is not None:
            total = total + part
    return total


@case((grid(2), "relu"), (grid(3), "relu"))
def string_relu(x: Tensor, mode: str) -> Tensor:
    if mode == "relu":
        return torch.relu(x)
    elif mode == "tanh":
        return torch.tanh(x)
    return x


@case(*ROWS)
def string_default(x: Tensor, mode: str = "tanh") -> Tensor:
    if mode in ["tanh", "sigmoid"]:
        return torch.tanh(x)
    return x


@case(*ROWS)
def string_methods(x: Tensor) -> Tensor:
    name = "a_b_c"
    n = len(name.split("_"))
    if name.startswith("a") and name.upper() == "A_B_C":
        n += 1
    return x * n


@case(*ROWS)
def string_format(x: Tensor) -> Tensor:
    text = "{}-{}".format("a", 3)
    if text == "a-3":
        return x + 1
    return x


@case(*SIGNS)
def if_number_of_tensor(x: Tensor) -> Tensor:
    n = int(x.sum())
    if n > 3:
        y = x * n
    else:
        y = x - n
    return y


@case(*SIGNS)
def if_writes(x: Tensor) -> Tensor:
    y = x.clone()
    if bool(x.sum() > 0):
        y[0] = 5.0
    return y


@case(*SIGNS)
def if_writes_in_place(x: Tensor) -> Tensor:
    y = x.clone()
    if bool(x.sum() > 0):
        y.mul_(2)
    else:
        y.add_(1)
    return y


@case(*SIGNS)
def if_writes_view(x: Tensor) -> Tensor:
    y = x.clone()
    z = y[0]
    if bool(x.sum() > 0):
        z.fill_(3.0)
    return y + z


@case(*SIGNS)
def if_both_return_tuples(x: Tensor) -> Tuple[Tensor, Tensor]:
    if bool(x.sum() > 0):
        return x, x + 1
    return x * 2, x


@case(*SIGNS)
def if_lists(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        parts = [x, x + 1]
    else:
        parts = [x * 2, x]
    return torch.cat(parts)


@case(*SIGNS)
def if_deep(x: Tensor) -> Tensor:
    y = x
    for i in range(3):
        if bool(y.sum() > i):
            if bool(y.mean() > 1):
                y = y - 1
            else:
                y = y + 1
        else:
            y = y * 2
    return y


@case(*SIGNS)
def if_is_any(x: Tensor) -> Tensor:
    if torch.any(x > 1.5):
        x = torch.where(x > 1.5, torch.zeros_like(x), x)
    if torch.all(x < 1):
        x = x + 1
    return x


@case((grid(2),), (grid(2) * 0,))
def if_is_nonzero(x: Tensor) -> Tensor:
    if torch.is_nonzero(x.abs().sum()):
        return x + 1
    return x - 1


@case((grid(2), grid(2)), (grid(2), grid(2) + 1))
def if_equal(x: Tensor, y: Tensor) -> Tensor:
    if torch.equal(x, y):
        return x
    return y * 2


@case(*SIGNS)
def with_no_grad(x: Tensor) -> Tensor:
    with torch.no_grad():
        y = x * 2
    return y + 1


@case(*SIGNS)
def with_no_grad_branch(x: Tensor) -> Tensor:
    with torch.no_grad():
        if bool(x.sum() > 0):
            x = x * 2
    return x


@case(*SIGNS)
def ranks_differ(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x
    else:
        y = x[0]
    return y.reshape(-1)


@case(*SIGNS)
def ranks_differ_behind(x: Tensor) -> Tuple[Tensor, Tensor, List[int]]:
    if x.size(0) == 1:
        x = x[0]
    y = torch.relu(x)
    sizes: List[int] = []
    for i in range(y.dim()):
        sizes.append(y.size(i))
    if bool(y.sum() > 3):
        y = y * 2
    total = y.sum(-1)
    return (y + 1).flatten(), total.reshape(-1), sizes[-1:]


@case(*SIGNS)
def ranks_differ_twice(x: Tensor) -> Tensor:
    y = x
    if bool(x.sum() > 0):
        y = x[0]
    if bool(x[0, 0] < -1):
        y = y.unsqueeze(0)
    return y.mean(-1).reshape(-1, 1)


@case(*SIGNS)
def ranks_of_what_nothing_reads(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        part = x[0]
        y = x + part
    else:
        part = x * 2
        y = x - part
    return y * 2


@case(*SIGNS)
def ranks_differ_inside(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x
        if bool(x.sum() > 3):
            y = x[0]
        y = y * 3
    else:
        y = x - 1
    return y.sum()
