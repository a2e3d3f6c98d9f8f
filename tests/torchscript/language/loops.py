"""Loops: their counts, what they carry, and how they are left."""

# ruff: noqa: B905, SIM108, UP006, UP035
from typing import List, Tuple

import torch
from torch import Tensor

from .table import ROWS, SIGNS, case, grid, noise, number

COUNTS = ((grid(2), 3), (grid(4), 0), (grid(1), 7))
TENSOR_COUNTS = ((grid(2), number(3)), (grid(4), number(0)), (grid(1), number(7)))


@case(*COUNTS)
def for_count(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x + 1
    return x


@case(*TENSOR_COUNTS)
def for_tensor_count(x: Tensor, n: Tensor) -> Tensor:
    for i in range(int(n)):
        x = x * 1.5 + i
    return x


@case(*TENSOR_COUNTS)
def for_item_count(x: Tensor, n: Tensor) -> Tensor:
    count: int = int(n.item())
    for i in range(count):
        x = x + i
    return x


@case(*ROWS)
def for_rows(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total = total + x[i] * i
    return total


@case(*ROWS)
def for_over_tensor(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for row in x:
        total = total * 2 + row
    return total


@case(*ROWS)
def for_len(x: Tensor) -> Tensor:
    total = 0.0
    for i in range(len(x)):
        total = total + float(x[i].sum())
    return x + total


@case((grid(2), 1, 5), (grid(3), 4, 4), (grid(3), 5, 2), (grid(3), -3, 3))
def for_from_to(x: Tensor, start: int, end: int) -> Tensor:
    for i in range(start, end):
        x = x + i
    return x


@case((grid(2), 0, 9, 2), (grid(3), 1, 2, 5), (grid(3), 9, 0, 3))
def for_step(x: Tensor, start: int, end: int, step: int) -> Tensor:
    for i in range(start, end, step):
        x = x * 0.5 + i
    return x


@case(*COUNTS)
def for_down(x: Tensor, n: int) -> Tensor:
    for i in range(n - 1, -1, -1):
        x = x * 0.5 + i
    return x


@case(*ROWS)
def for_reversed_rows(x: Tensor) -> Tensor:
    state = torch.zeros(4)
    for i in range(x.size(0) - 1, -1, -1):
        state = torch.tanh(state + x[i])
    return state


@case(*COUNTS)
def for_two_carried(x: Tensor, n: int) -> Tuple[Tensor, Tensor]:
    a, b = x, x * 0
    for _ in range(n):
        a, b = a + b, a - b
    return a, b


@case(*COUNTS)
def for_swapped(x: Tensor, n: int) -> Tensor:
    a, b = x, x * 2
    for _ in range(n):
        a, b = b, a
    return a - b * 3


@case(*COUNTS)
def for_counter(x: Tensor, n: int) -> Tuple[Tensor, int]:
    count = 10
    for i in range(n):
        count += i * 2
    return x * count, count


@case(*COUNTS)
def for_float_carried(x: Tensor, n: int) -> Tensor:
    scale = 1.0
    for _ in range(n):
        scale = scale * 0.5 + 0.25
    return x * scale


@case(*COUNTS)
def for_bool_carried(x: Tensor, n: int) -> Tensor:
    flag = False
    for _ in range(n):
        flag = not flag
    if flag:
        return x
    return -x


@case(*COUNTS)
def for_last_value(x: Tensor, n: int) -> Tensor:
    last = -1
    for i in range(n):
        last = i
    return x + last


@case(*ROWS)
def for_invariant(x: Tensor) -> Tensor:
    y = torch.exp(x)
    total = torch.zeros_like(x)
    for i in range(x.size(0)):
        total = total + y[i] * x
    return total


@case((grid(2), 3, 2), (grid(2), 0, 5), (grid(3), 2, 0))
def for_nested(x: Tensor, n: int, m: int) -> Tensor:
    for i in range(n):
        for j in range(m):
            x = x + i * j + 0.5
    return x


@case(*ROWS)
def for_triangle(x: Tensor) -> Tensor:
    total = torch.zeros(1)
    for i in range(x.size(0)):
        for j in range(i, x.size(0)):
            total = total + x[i, 0] * x[j, 1]
    return total


@case((grid(2), 3), (grid(2), 0), (grid(3), 5))
def for_nested_carried_between(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        y = x * 0
        for j in range(i):
            y = y + x / (j + 1)
        x = x + y
    return x


@case(*ROWS)
def for_written_rows(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    for i in range(x.size(0)):
        y[i] = x[i] * i
    return y


@case(*ROWS)
def for_added_rows(x: Tensor) -> Tensor:
    y = x.clone()
    for i in range(1, x.size(0)):
        y[i] += y[i - 1]
    return y


@case(*ROWS)
def for_grows(x: Tensor) -> Tensor:
    y = x[:0]
    for i in range(x.size(0)):
        y = torch.cat([y, x[i : i + 1] * 2])
    return y


@case(*ROWS)
def for_doubles(x: Tensor) -> Tensor:
    y = x[:1]
    for _ in range(x.size(0)):
        y = torch.cat([y, y])
    return y.sum(0)


@case(*COUNTS)
def while_count(x: Tensor, n: int) -> Tensor:
    i = 0
    while i < n:
        x = x + i
        i += 1
    return x


@case((grid(2),), (grid(1) + 90,), (grid(4) / 10,))
def while_sum(x: Tensor) -> Tensor:
    while bool(x.sum() < 100):
        x = x * 2 + 1
    return x


@case((grid(2),), (grid(1) + 90,), (grid(4) / 10,))
def while_tensor_condition(x: Tensor) -> Tensor:
    while x.abs().max() < 50:
        x = x * 3
    return x


@case((grid(2), 3), (grid(2), 0), (grid(3), 50))
def while_two_conditions(x: Tensor, n: int) -> Tuple[Tensor, int]:
    i = 0
    while i < n and bool(x.abs().max() < 100):
        x = x * 2
        i += 1
    return x, i


@case((grid(2), 3), (grid(2), 0), (grid(3), 50))
def while_or(x: Tensor, n: int) -> Tensor:
    i = 0
    while i < n or bool(x.abs().max() < 100):
        x = x * 2 + 0.01
        i += 1
    return x


@case((number(27),), (number(1),), (number(6),))
def while_collatz(n: Tensor) -> Tuple[Tensor, int]:
    steps = 0
    while bool(n != 1):
        if bool(n % 2 == 0):
            n = n // 2
        else:
            n = n * 3 + 1
        steps += 1
    return n, steps


@case((48, 18), (7, 0), (13, 5))
def while_gcd(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return a


@case((grid(2), 5), (grid(3), 0), (grid(3), 2))
def while_true_break(x: Tensor, n: int) -> Tensor:
    i = 0
    while True:
        if i >= n:
            break
        x = x + i
        i += 1
    return x


@case(*SIGNS)
def for_break(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            break
        total = total + x[i]
    return total


@case(*SIGNS)
def for_continue(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        if bool(x[i].sum() < 0):
            continue
        total = total + x[i]
    return total


@case((grid(6, low=-9.0),), (grid(3),), (grid(1),))
def for_break_and_continue(x: Tensor) -> Tuple[Tensor, int]:
    total = torch.zeros(4)
    used = 0
    for i in range(x.size(0)):
        if i == 1:
            continue
        if bool(x[i, 0] > 1):
            break
        total = total + x[i]
        used += 1
    return total, used


@case(*SIGNS)
def for_return(x: Tensor) -> Tensor:
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            return x[i] * 10
    return x[0]


@case((grid(6, low=-9.0),), (grid(3),), (grid(1),))
def for_return_index(x: Tensor) -> int:
    for i in range(x.size(0)):
        if bool(x[i, 3] > 0.5):
            return i
    return -1


@case((grid(2), 3), (grid(2), 0), (grid(3), 50))
def while_return(x: Tensor, n: int) -> Tensor:
    i = 0
    while i < n:
        x = x * 2
        if bool(x.max() > 100):
            return x - 100
        i += 1
    return x


@case(*SIGNS)
def for_nested_break(x: Tensor) -> Tensor:
    total = torch.zeros(1)
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            if bool(x[i, j] > 0):
                break
            total = total + x[i, j]
    return total


@case(*SIGNS)
def for_nested_return(x: Tensor) -> Tensor:
    for i in range(x.size(0)):
        for j in range(4):
            if bool(x[i, j] > 0.5):
                return x[i, j] * 2
    return x[0, 0]


@case(*ROWS)
def for_parity(x: Tensor) -> Tensor:
    y = x[0]
    for i in range(x.size(0)):
        if i % 2 == 0:
            y = y + x[i]
        else:
            y = y - x[i] * 2
    return y


@case(*SIGNS)
def for_branch_on_data(x: Tensor) -> Tensor:
    y = torch.zeros(4)
    for i in range(x.size(0)):
        if bool(x[i].mean() > 0):
            y = y + x[i]
        elif bool(x[i, 0] < -5):
            y = y - 1
        else:
            y = y * 2 + 0.5
    return y


@case(*ROWS)
def for_maximum(x: Tensor) -> Tuple[float, int]:
    best, where = -1e9, 0
    for i in range(x.size(0)):
        value = float(x[i].sum())
        if value > best:
            best = value
            where = i
    return best, where


@case((noise(6, 2, 3),), (noise(1, 5, 3),), (noise(3, 1, 3),))
def for_scan(x: Tensor) -> Tensor:
    state = torch.zeros(x.size(1), 3)
    states: List[Tensor] = []
    for t in range(x.size(0)):
        state = torch.tanh(state + x[t])
        states.append(state)
    return torch.stack(states)


@case((noise(2, 6, 3),), (noise(5, 1, 3),))
def for_unbind(x: Tensor) -> Tensor:
    state = torch.zeros(x.size(0), 3)
    for step in x.unbind(1):
        state = torch.sigmoid(state * 0.5 + step)
    return state


@case(*ROWS)
def for_static(x: Tensor) -> Tensor:
    for i in range(4):
        x = x + x[:, i : i + 1]
    return x


@case(*ROWS)
def for_static_with_break(x: Tensor) -> Tensor:
    for i in range(4):
        if i == 2:
            break
        x = x * 2
    return x


@case(*SIGNS)
def for_static_break_on_data(x: Tensor) -> Tensor:
    for i in range(4):
        if bool(x[0, i] > 0):
            break
        x = x * 2 - 1
    return x


@case(*SIGNS)
def for_static_return_on_data(x: Tensor) -> Tensor:
    for i in range(3):
        if bool(x.sum() > i):
            return x * i
    return x - 1


@case((grid(2), 600), (grid(1), 600))
def for_many(x: Tensor, n: int) -> Tensor:
    for _ in range(300):
        x = x * 0.99 + 0.01
    return x + n


@case(*COUNTS)
def for_unused_body(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        _ = x * i
    return x


@case((grid(3), 2), (grid(5), 3))
def for_slices(x: Tensor, width: int) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total = total + x[i : i + width].sum(0)
    return total


@case(*ROWS)
def for_dtype_changes_before(x: Tensor) -> Tensor:
    total = torch.zeros(4, dtype=torch.int64)
    for i in range(x.size(0)):
        total = total + (x[i] > 0).to(torch.int64)
    return total


@case(*ROWS)
def for_enumerate(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i, row in enumerate(x):
        total = total + row * i
    return total


@case((grid(2), noise(2, 4)), (grid(5), noise(5, 4)))
def for_zip(x: Tensor, y: Tensor) -> Tensor:
    total = torch.zeros(4)
    for a, b in zip(x, y):
        total = total + a * b
    return total


@case((grid(2), noise(2, 4)), (grid(5), noise(5, 4)))
def for_enumerate_zip(x: Tensor, y: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i, (a, b) in enumerate(zip(x, y)):
        total = total + a * b * i
    return total


@case(*ROWS)
def for_fibonacci(x: Tensor) -> Tensor:
    a, b = 0, 1
    for _ in range(x.size(0)):
        a, b = b, a + b
    return x * a


@case((noise(3, 3), 4), (noise(3, 3), 0))
def for_matrix_power(x: Tensor, n: int) -> Tensor:
    y = torch.eye(3)
    for _ in range(n):
        y = y @ x
    return y


@case((torch.tensor([2.0, 9.0]),), (torch.tensor([100.0, 0.5]),))
def while_newton(x: Tensor) -> Tensor:
    y = x
    while bool((y * y - x).abs().max() > 1e-3):
        y = (y + x / y) / 2
    return y


@case((torch.tensor([3, 1, 2]),), (torch.tensor([5, 4, 3, 2, 1]),), (torch.tensor([7]),))
def for_bubble_sort(x: Tensor) -> Tensor:
    y = x.clone()
    for i in range(y.size(0)):
        for j in range(y.size(0) - 1 - i):
            if bool(y[j] > y[j + 1]):
                first = y[j].clone()
                y[j] = y[j + 1]
                y[j + 1] = first
    return y


@case((torch.tensor([1, 3, 5, 7]), 5), (torch.tensor([2, 4]), 9), (torch.tensor([8]), 8))
def while_bisect(x: Tensor, wanted: int) -> int:
    low, high = 0, x.size(0)
    while low < high:
        middle = (low + high) // 2
        if int(x[middle]) < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@case((grid(2), 0.5), (grid(2), 8.0))
def while_float(x: Tensor, limit: float) -> Tensor:
    step = 0.125
    while step < limit:
        x = x + step
        step = step * 2
    return x


@case(*SIGNS)
def truths_written_in_a_loop(x: Tensor) -> Tuple[Tensor, int]:
    seen = torch.zeros(x.size(0), dtype=torch.bool)
    count = 0
    for i in range(x.size(0)):
        if bool(seen.any()) and float(x[i].max()) > 1.9:
            return seen, count
        seen[i] = bool(x[i].sum() > 0)
        count += 1
    return seen, count
