"""Numbers: integers, floats and truths, of sizes, of inputs and of data."""

# ruff: noqa: RUF005, UP006, UP035, RUF046, RET505
import math
from typing import List, Tuple

import torch
from torch import Tensor

from .table import ROWS, SIGNS, case, grid, number

INTS = ((grid(2), 7), (grid(3), -7), (grid(3), 2))
FLOATS = ((grid(2), 2.5), (grid(3), -1.25), (grid(3), 0.5))


@case(*INTS)
def int_arithmetic(x: Tensor, n: int) -> Tensor:
    return x * (n + 3) - (n - 1) * 2 + (-n)


@case(*INTS)
def int_division(x: Tensor, n: int) -> Tensor:
    return x * (n // 3) + n % 3 + n / 4


@case(*INTS)
def int_comparisons(x: Tensor, n: int) -> Tensor:
    count = 0
    if n > 2:
        count += 1
    if n >= 2:
        count += 2
    if n < 2:
        count += 4
    if n <= 2:
        count += 8
    if n == 2:
        count += 16
    if n != 2:
        count += 32
    return x + count


@case(*INTS)
def int_min_max(x: Tensor, n: int) -> Tensor:
    return x * min(n, 3) + max(n, 5) - abs(n)


@case(*INTS)
def int_power(x: Tensor, n: int) -> Tensor:
    return x * n**2 + 2**3


@case(*INTS)
def int_to_float(x: Tensor, n: int) -> Tensor:
    return x * float(n) + float(3) / 2


@case(*INTS)
def int_results(x: Tensor, n: int) -> Tuple[Tensor, int, int, float]:
    return x, n + 1, n * 2, n / 2


@case(*FLOATS)
def float_arithmetic(x: Tensor, f: float) -> Tensor:
    return x * (f + 1.5) - (f - 1) * 2 + (-f) / 4


@case(*FLOATS)
def float_comparisons(x: Tensor, f: float) -> Tensor:
    if f > 0:
        x = x * f
    if f == 0.5:
        x = x + 1
    return x


@case((grid(2), 2.5), (grid(3), 1.25), (grid(3), 0.5))
def float_functions(x: Tensor, f: float) -> Tensor:
    return x * math.sqrt(f) + math.pi


@case(*FLOATS)
def float_to_int(x: Tensor, f: float) -> Tensor:
    return x * int(f) + math.floor(f) - math.ceil(f)


@case(*FLOATS)
def float_min_max(x: Tensor, f: float) -> Tensor:
    return x * min(f, 1.0) + max(f, 0.0) - abs(f)


@case(*ROWS)
def constant_functions(x: Tensor) -> Tensor:
    return x * math.exp(0.5) + math.log(2.0) + math.sin(1.0) + math.pow(2.0, 0.5) + math.tanh(1.0)


@case(*ROWS)
def sizes(x: Tensor) -> Tensor:
    n, m = x.shape
    return x.reshape(m, n) * n + x.numel() + x.size(-1) + x.ndim


@case(*ROWS)
def sizes_divided(x: Tensor) -> Tensor:
    n = x.size(0) * x.size(1)
    return x.reshape(n // 2, 2) / float(n)


@case(*ROWS)
def sizes_compared(x: Tensor) -> Tensor:
    return x * max(x.size(0), 3) + min(x.size(0), 2)


@case(*ROWS)
def sizes_results(x: Tensor) -> Tuple[int, int, bool]:
    return x.size(0), x.numel(), x.size(0) > 1


@case(*ROWS)
def sizes_lists(x: Tensor) -> Tensor:
    shape = list(x.shape)
    shape[0] = shape[0] * 2
    shape.append(1)
    return torch.ones(shape)


@case(*ROWS)
def sizes_sliced(x: Tensor) -> Tensor:
    return x.reshape(x.shape[:1] + [2, 2])


@case(*ROWS)
def sizes_ceil(x: Tensor) -> Tensor:
    half = (x.size(0) + 1) // 2
    return x[:half]


@case(*ROWS)
def sizes_math(x: Tensor) -> Tensor:
    return x * math.ceil(x.size(0) / 2) + int(math.floor(x.size(0) / 3))


@case(*SIGNS)
def item_arithmetic(x: Tensor) -> Tensor:
    total = x.sum().item()
    return x * total + total


@case(*SIGNS)
def item_float(x: Tensor) -> Tensor:
    total = float(x.sum())
    return x * (total * 0.5 + 1.0)


@case(*SIGNS)
def item_int(x: Tensor) -> Tensor:
    total = int(x.sum() * 3)
    return x * total + total // 2 + total % 3


@case(*SIGNS)
def item_result(x: Tensor) -> Tuple[int, float, bool]:
    return int(x.sum()), float(x.mean()), bool(x.max() > 1)


@case((grid(5), number(2)), (grid(5), number(4)), (grid(3), number(0)))
def item_slice(x: Tensor, n: Tensor) -> Tensor:
    return x[: int(n)] * 2


@case((grid(5), number(2)), (grid(5), number(4)), (grid(3), number(0)))
def item_index(x: Tensor, n: Tensor) -> Tensor:
    k = int(n)
    return x[k % x.size(0)]


@case((grid(5), number(2)), (grid(5), number(4)), (grid(3), number(0)))
def item_size(x: Tensor, n: Tensor) -> Tensor:
    return torch.ones(int(n) + 1, 4) * x[0]


@case((grid(5), number(2)), (grid(5), number(4)), (grid(3), number(0)))
def item_arange(x: Tensor, n: Tensor) -> Tensor:
    return torch.arange(int(n), int(n) + 3) * 2


@case((grid(4), number(2)), (grid(8), number(4)))
def item_reshape(x: Tensor, n: Tensor) -> Tensor:
    return x.reshape(int(n), -1)


@case(*SIGNS)
def bool_logic(x: Tensor) -> Tuple[bool, bool, bool]:
    a = bool(x.sum() > 0)
    b = bool(x.max() > 1)
    return a and b, a or b, not a


@case(*SIGNS)
def bool_as_number(x: Tensor) -> Tensor:
    positive = bool(x.sum() > 0)
    return x + int(positive) + float(positive)


@case(*SIGNS)
def bool_equality(x: Tensor) -> Tensor:
    a = bool(x.sum() > 0)
    b = bool(x.mean() > 1)
    if a == b:
        return x
    return -x


@case(*ROWS)
def augmented(x: Tensor) -> Tensor:
    n = 3
    n += 2
    n -= 1
    n *= 4
    n = n // 3
    y = x.clone()
    y += 1
    y *= 2
    y -= x
    y /= n
    return y


@case(*INTS)
def scalar_mixed(x: Tensor, n: int) -> Tensor:
    y = x.to(torch.int64) * n + True
    z = y * 0.5
    return z + n


@case(*INTS)
def scalar_tensors(x: Tensor, n: int) -> Tensor:
    t = torch.tensor(n)
    u = torch.tensor(2.5)
    return x * t + u + torch.tensor([n, 1, 2, 3])


@case(*FLOATS)
def scalar_full(x: Tensor, f: float) -> Tensor:
    return torch.full([2, 4], f) + torch.full_like(x[:1], 3)


@case(*INTS)
def scalar_arange(x: Tensor, n: int) -> Tensor:
    return torch.arange(0, abs(n)) + torch.arange(1.0, 2.0, 0.25).sum()


@case(*INTS)
def shifted(x: Tensor, n: int) -> Tensor:
    return torch.roll(x, 1, 1) + (3 & 6) + (1 | 4) + (5 ^ 1) + (1 << 3)


@case(*ROWS)
def round_trip(x: Tensor) -> Tensor:
    return x + round(2.6) + int("3") + float("0.5")


@case(*ROWS)
def divmod_of_sizes(x: Tensor) -> Tensor:
    n, rest = divmod(x.size(0), 2)
    return x * n + rest


@case(*INTS)
def sum_of_list(x: Tensor, n: int) -> Tensor:
    values: List[int] = [n, n + 1, 3]
    return x * sum(values) + max(values) + min(values)


@case(*SIGNS)
def tensor_chain(x: Tensor) -> Tensor:
    n = x.argmax()
    return x.reshape(-1)[n] * 2 + n


@case(*SIGNS)
def tensor_of_items(x: Tensor) -> Tensor:
    return torch.tensor([float(x[0, 0]), 1.5, float(x[0, 1])])


@case(*ROWS)
def infinite(x: Tensor) -> Tensor:
    best = float("inf")
    least = -float("inf")
    return torch.clamp(x, least, best) + torch.full_like(x, math.inf).clamp(max=1.0)


@case(*ROWS)
def inequality_of_floats(x: Tensor) -> Tensor:
    scale = 1.0 / x.size(0)
    if scale < 0.3:
        return x * scale
    else:
        return x


@case((grid(3), 1.0, 5), (grid(4), 2.0, 3))
def mixed_inputs(x: Tensor, f: float, n: int) -> Tensor:
    return x * f * n + f**2 + n % 2 + f / n


@case((grid(3), 5), (grid(3), 0), (grid(3), 8))
def bits_of_integers(x: Tensor, n: int) -> Tuple[int, int, int, int, int]:
    return n & 3, n | 8, n ^ 5, n << 2, n >> 1


@case((torch.arange(3), 5), (torch.arange(4), 0))
def powers_are_floats(x: Tensor, n: int) -> Tuple[Tensor, float, float]:
    return x * n**2, 2**n, 0.5**n


@case((grid(3), 2.5), (grid(3), 0.5), (grid(3), 1.5))
def functions_of_floats(x: Tensor, a: float) -> Tuple[float, float, float, float, float, bool]:
    return (
        math.fmod(a, 0.7),
        math.atan2(a, 2.0),
        math.log1p(a),
        math.degrees(a),
        math.log(a) / math.log(2.0),
        math.isnan(a) or math.isinf(a),
    )


@case((torch.tensor([4, -9, 8]),), (torch.tensor([1]),))
def shifted_tensors(x: Tensor) -> Tuple[Tensor, Tensor]:
    return (x.abs() >> 1) & 3, x.abs() << 2
