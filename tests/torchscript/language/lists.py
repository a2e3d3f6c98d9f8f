"""Lists: filled, read and changed, in loops and branches."""

# ruff: noqa: RUF005, FURB192, UP006, UP035, B007
from typing import List, Tuple

import torch
from torch import Tensor

from .table import ROWS, SIGNS, case, grid, noise, number

COUNTS = ((grid(2), 3), (grid(4), 1), (grid(1), 7))
WITH_NONE = ((grid(2), 3), (grid(4), 0), (grid(1), 7))


@case(*COUNTS)
def append_stack(x: Tensor, n: int) -> Tensor:
    parts: List[Tensor] = []
    for i in range(n):
        parts.append(x * i)
    return torch.stack(parts)


@case(*COUNTS)
def append_stack_last(x: Tensor, n: int) -> Tensor:
    parts: List[Tensor] = []
    for i in range(n):
        parts.append(x + i)
    return torch.stack(parts, -1)


@case(*COUNTS)
def append_cat(x: Tensor, n: int) -> Tensor:
    parts: List[Tensor] = []
    for i in range(n):
        parts.append(x + i)
    return torch.cat(parts)


@case(*COUNTS)
def append_cat_columns(x: Tensor, n: int) -> Tensor:
    parts: List[Tensor] = []
    for i in range(n):
        parts.append(x + i)
    return torch.cat(parts, dim=1)


@case(*WITH_NONE)
def append_after_first(x: Tensor, n: int) -> Tensor:
    parts = [x]
    for i in range(n):
        parts.append(parts[-1] * 2)
    return torch.stack(parts)


@case(*WITH_NONE)
def append_before_and_after(x: Tensor, n: int) -> Tensor:
    parts = [x, x + 1]
    for i in range(n):
        parts.append(x * i)
    parts.append(x - 1)
    return torch.cat(parts)


@case(*WITH_NONE)
def append_twice(x: Tensor, n: int) -> Tensor:
    parts = [x]
    for i in range(n):
        parts.append(x * i)
        parts.append(x - i)
    return torch.stack(parts)


@case(*WITH_NONE)
def append_two_lists(x: Tensor, n: int) -> Tuple[Tensor, Tensor]:
    first, second = [x], [x * 2]
    for i in range(n):
        first.append(x * i)
        second.append(x - i)
    return torch.stack(first), torch.cat(second)


@case((grid(3),), (grid(5),), (grid(1, low=1.0),))
def append_where(x: Tensor) -> Tensor:
    parts = [x[0] * 0]
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            parts.append(x[i])
    return torch.stack(parts)


@case((grid(3),), (grid(5),), (grid(1, low=1.0),))
def append_one_or_other(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            parts.append(x[i])
        else:
            parts.append(-x[i] * 2)
    return torch.stack(parts)


@case((grid(3),), (grid(5),), (grid(1, low=1.0),))
def append_even(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        if i % 2 == 0:
            parts.append(x[i])
    return torch.stack(parts)


@case((grid(3),), (grid(5),), (grid(1, low=1.0),))
def append_until(x: Tensor) -> Tensor:
    parts = [x[0]]
    for i in range(x.size(0)):
        if bool(x[i, 3] > 1):
            break
        parts.append(x[i] + i)
    return torch.stack(parts)


@case((grid(2),), (grid(3) / 9,))
def append_while(x: Tensor) -> Tensor:
    parts = [x]
    while bool(parts[-1].abs().max() < 50):
        parts.append(parts[-1] * 2)
    return torch.stack(parts)


@case((grid(2),), (grid(3) / 9,))
def append_while_len(x: Tensor) -> Tensor:
    parts = [x]
    while len(parts) < x.size(0) + 2:
        parts.append(x * len(parts))
    return torch.cat(parts)


@case(*SIGNS)
def append_in_branch(x: Tensor) -> Tensor:
    parts = [x]
    if bool(x.sum() > 0):
        parts.append(x * 2)
    return torch.cat(parts)


@case(*SIGNS)
def append_in_branch_stack(x: Tensor) -> Tensor:
    parts = [x, x + 1]
    if bool(x.sum() > 0):
        parts.append(x * 2)
        parts.append(x * 3)
    return torch.stack(parts)


@case(*SIGNS)
def append_in_both_branches(x: Tensor) -> Tensor:
    parts = [x]
    if bool(x.sum() > 0):
        parts.append(x * 2)
    else:
        parts.append(x[:1])
    return torch.cat(parts)


@case(*SIGNS)
def append_many_branches(x: Tensor) -> Tensor:
    parts = [x]
    if bool(x.sum() > 0):
        parts.append(x * 2)
    if bool(x[0, 0] > -5):
        parts.append(x - 1)
    return torch.cat(parts) * len(parts)


@case(*WITH_NONE)
def length(x: Tensor, n: int) -> Tensor:
    parts = [x]
    for i in range(n):
        parts.append(x)
    return x * len(parts)


@case((grid(2), 3, 1), (grid(4), 2, 0), (grid(1), 7, 6))
def read_at(x: Tensor, n: int, at: int) -> Tensor:
    parts: List[Tensor] = []
    for i in range(n):
        parts.append(x * i)
    return parts[at] + parts[-1]


@case(*WITH_NONE)
def read_all(x: Tensor, n: int) -> Tensor:
    parts = [x]
    for i in range(n):
        parts.append(x * i)
    total = torch.zeros_like(x)
    for part in parts:
        total = total * 2 + part
    return total


@case(*WITH_NONE)
def read_each(x: Tensor, n: int) -> Tensor:
    parts = [x]
    for i in range(n):
        parts.append(x * i)
    total = torch.zeros_like(x)
    for i in range(len(parts)):
        total = total * 2 + parts[i]
    return total


@case(*WITH_NONE)
def list_result(x: Tensor, n: int) -> Tensor:
    parts = [x]
    for i in range(n):
        parts.append(x * i)
    parts = [part + 1 for part in parts]
    return torch.cat(parts)


@case(*ROWS)
def static_append(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(4):
        parts.append(x[:, i])
    return torch.stack(parts, 1)


@case(*ROWS)
def static_pop(x: Tensor) -> Tensor:
    parts = [x, x * 2, x * 3]
    last = parts.pop()
    first = parts.pop(0)
    return last - first + parts[0]


@case(*ROWS)
def static_insert(x: Tensor) -> Tensor:
    parts = [x, x * 2]
    parts.insert(1, x * 3)
    parts.insert(-1, x * 4)
    return torch.cat(parts)


@case(*ROWS)
def static_extend(x: Tensor) -> Tensor:
    parts = [x]
    parts.extend([x + 1, x + 2])
    parts += [x + 3]
    return torch.cat(parts + [x])


@case(*ROWS)
def static_slices(x: Tensor) -> Tensor:
    parts = [x, x + 1, x + 2, x + 3, x + 4]
    return torch.cat(parts[1:4]) + torch.cat(parts[::2]) + torch.cat(parts[-3:])


@case(*ROWS)
def static_set(x: Tensor) -> Tensor:
    parts = [x, x + 1]
    parts[0] = x * 9
    parts[-1] = parts[0] + parts[1]
    return torch.cat(parts)


@case(*ROWS)
def static_reverse(x: Tensor) -> Tensor:
    parts = [x, x + 1, x + 2]
    parts.reverse()
    return torch.cat(parts)


@case(*ROWS)
def static_copy(x: Tensor) -> Tensor:
    parts = [x, x + 1]
    other = parts.copy()
    other.append(x)
    same = parts
    same.append(x * 2)
    return torch.cat(other) * len(parts)


@case(*ROWS)
def static_clear(x: Tensor) -> Tensor:
    parts = [x, x + 1]
    parts.clear()
    parts.append(x * 3)
    return torch.cat(parts)


@case(*ROWS)
def static_repeat(x: Tensor) -> Tensor:
    return torch.cat([x, x + 1] * 2)


@case(*ROWS)
def list_of_ints(x: Tensor) -> Tensor:
    sizes = [1, 2, 3]
    sizes.append(x.size(1))
    total = 0
    for size in sizes:
        total += size
    return x * total + sum(sizes) + max(sizes) - min(sizes)


@case(*ROWS)
def list_of_floats(x: Tensor) -> Tensor:
    scales = [0.5, 1.5, 2.5]
    for scale in scales:
        x = x * scale
    return x


@case(*ROWS)
def list_of_ints_as_tensor(x: Tensor) -> Tensor:
    return x + torch.tensor([1, 2, 3, 4])


@case(*ROWS)
def list_of_sizes_as_tensor(x: Tensor) -> Tensor:
    return torch.tensor([x.size(0), x.size(1), 7]) * 2


@case(*ROWS)
def list_comprehension(x: Tensor) -> Tensor:
    return torch.cat([x * i for i in [1, 2, 3]])


@case(*ROWS)
def list_comprehension_rows(x: Tensor) -> Tensor:
    return torch.stack([row * 2 for row in x.unbind(0)])


@case(*ROWS)
def list_of_lists(x: Tensor) -> Tensor:
    table = [[x, x + 1], [x + 2]]
    table[1].append(x + 3)
    total = torch.zeros_like(x)
    for row in table:
        for each in row:
            total = total * 2 + each
    return total


@case((grid(2), [grid(2), grid(3)]), (grid(3), [grid(1), grid(4)]))
def list_input(x: Tensor, parts: List[Tensor]) -> Tensor:
    return torch.cat([x] + parts)


@case((grid(2), [grid(2), grid(2) + 1]), (grid(3), [grid(3), grid(3) * 2]))
def list_input_loop(x: Tensor, parts: List[Tensor]) -> Tensor:
    for i, part in enumerate(parts):
        x = x + part * i
    return x


@case((grid(2), [2, 3]), (grid(2), [5, 7]))
def list_input_ints(x: Tensor, counts: List[int]) -> Tensor:
    for count in counts:
        x = x * count
    return x


@case(*ROWS)
def split_parts(x: Tensor) -> Tensor:
    a, b = torch.split(x, [1, 3], dim=1)
    first, second = x.chunk(2, dim=1)
    return torch.cat([b, a, first - second], 1)


@case(*ROWS)
def split_columns(x: Tensor) -> Tensor:
    parts = torch.split(x, 2, dim=1)
    total = torch.zeros(x.size(0), 2)
    for part in parts:
        total = total + part
    return total * len(parts)


@case((noise(4, 2, 3),), (noise(7, 1, 3),))
def unbind_append(x: Tensor) -> Tensor:
    steps = x.unbind(0)
    outputs: List[Tensor] = []
    state = torch.zeros(x.size(1), 3)
    for i in range(len(steps)):
        state = state * 0.5 + steps[i]
        outputs.append(state)
    return torch.stack(outputs, 1)


@case((noise(4, 2, 3),), (noise(7, 1, 3),))
def unbind_reversed(x: Tensor) -> Tensor:
    inputs = x.unbind(0)
    outputs: List[Tensor] = []
    state = torch.zeros(x.size(1), 3)
    for i in range(len(inputs)):
        state = torch.tanh(state + inputs[len(inputs) - 1 - i])
        outputs += [state]
    outputs.reverse()
    return torch.stack(outputs)


@case(*WITH_NONE)
def ints_filled(x: Tensor, n: int) -> Tensor:
    counts = [1]
    for i in range(n):
        counts.append(i * 2)
    return x + len(counts)


@case(*COUNTS)
def ints_filled_tensor(x: Tensor, n: int) -> Tensor:
    counts: List[int] = []
    for i in range(n):
        counts.append(i * 2)
    return torch.tensor(counts)


@case(*COUNTS)
def floats_filled_tensor(x: Tensor, n: int) -> Tensor:
    found: List[float] = []
    for i in range(n):
        found.append(float(x[0, 0]) * i)
    return torch.tensor(found)


@case((grid(3),), (grid(5),), (grid(2),))
def ints_of_data(x: Tensor) -> Tensor:
    found: List[int] = []
    for i in range(x.size(0)):
        if bool(x[i].sum() > -100):
            found.append(i)
    return torch.tensor(found)


@case(*COUNTS)
def tuple_appended(x: Tensor, n: int) -> Tensor:
    firsts: List[Tensor] = []
    seconds: List[Tensor] = []
    for i in range(n):
        pair = (x * i, x + i)
        firsts.append(pair[0])
        seconds.append(pair[1])
    return torch.stack(firsts) + torch.stack(seconds)


@case((grid(3), 2), (grid(5), 3))
def set_in_loop(x: Tensor, n: int) -> Tensor:
    parts = [x, x + 1]
    for i in range(n):
        parts[0] = parts[0] + parts[1]
        parts[1] = parts[1] * 2
    return torch.cat(parts)


@case((grid(3), 5), (grid(5), 0))
def pop_and_append(x: Tensor, n: int) -> Tensor:
    window = [x, x + 1, x + 2]
    for i in range(n):
        first = window.pop(0)
        window.append(first * 0.5 + window[-1])
    return torch.stack(window)


@case((grid(3), 2), (grid(5), 4))
def nested_fill(x: Tensor, n: int) -> Tensor:
    rows: List[Tensor] = []
    for i in range(n):
        columns: List[Tensor] = []
        for j in range(x.size(0)):
            columns.append(x[j] * i)
        rows.append(torch.stack(columns))
    return torch.stack(rows)


@case((grid(3), 2), (grid(5), 4))
def nested_fill_one(x: Tensor, n: int) -> Tensor:
    parts: List[Tensor] = []
    for i in range(n):
        for j in range(x.size(0)):
            parts.append(x[j] * i)
    return torch.stack(parts)


@case((grid(3), number(2)), (grid(5), number(4)))
def sizes_of_data(x: Tensor, n: Tensor) -> Tensor:
    sizes = [int(n), 4]
    return torch.zeros(sizes) + x[0]


@case((grid(4), torch.tensor([1, 3])), (grid(6), torch.tensor([4, 2])))
def split_of_data(x: Tensor, lengths: Tensor) -> Tensor:
    sizes: List[int] = lengths.tolist()
    first, second = torch.split(x, sizes)
    return first.sum(0) - second.sum(0)


@case((grid(2),), (grid(5),))
def contains(x: Tensor) -> Tensor:
    if 4 in x.shape:
        x = x + 1
    if x.dim() in [1, 3]:
        x = x * 2
    return x


@case((grid(3),), (grid(5),))
def sorted_sizes(x: Tensor) -> Tensor:
    sizes = [3, 1, 2]
    sizes.sort()
    return x * sizes[0] + sorted([5, 4])[0] + sizes.index(2) + [1, 1, 2].count(1)


@case((grid(3),), (grid(5),))
def list_of_tuples(x: Tensor) -> Tensor:
    pairs = [(x, 1), (x * 2, 3)]
    total = torch.zeros_like(x)
    for each, scale in pairs:
        total = total + each * scale
    return total


@case((grid(3),), (grid(5),))
def all_any_lists(x: Tensor) -> Tensor:
    if all([x.dim() == 2, x.size(1) == 4]) and any([x.dim() == 3, True]):
        return x + 1
    return x


@case((grid(6),), (grid(3),))
def numbers_sorted(x: Tensor) -> Tuple[Tensor, int, int]:
    values: List[float] = []
    numbers: List[int] = []
    for i in range(x.size(0)):
        values.append(float(x[i, 0]) * (-1) ** i)
        numbers.append(int(x[i, 1] * 2))
    ordered = sorted(values)
    place = values.index(max(values))
    values.sort(reverse=True)
    numbers.sort()
    made = torch.tensor(values) * 10 + torch.tensor(ordered) + torch.tensor(numbers)
    return made, numbers.count(0), place


@case((torch.tensor([3, 3, 1, 2, 1]),), (torch.tensor([0]),))
def counted_by_data(x: Tensor) -> List[int]:
    counts = [0, 0, 0, 0]
    for i in range(x.size(0)):
        counts[int(x[i])] += 1
    return counts


@case((grid(3), torch.tensor(2)), (grid(5), torch.tensor(0)))
def set_at_a_place_of_data(x: Tensor, n: Tensor) -> Tensor:
    parts = [x, x * 2, x * 3]
    parts[int(n)] = x * 10
    return parts[0] + parts[1] * 100 + parts[2] * 10000
