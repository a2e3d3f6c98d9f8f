"""Tuples, named tuples, dictionaries, enumerations and strings."""

# ruff: noqa: PLC0206, FLY002, UP006, UP035, SIM118, B007, SIM108
from collections import OrderedDict
from enum import Enum
from typing import Dict, List, NamedTuple, Tuple

import torch
from torch import Tensor, nn

from .table import ROWS, SIGNS, case, grid, noise


class Point(NamedTuple):
    left: Tensor
    right: Tensor


class Counted(NamedTuple):
    value: Tensor
    count: int = 3


class Mode(Enum):
    ADD = 1
    MULTIPLY = 2


@case(*ROWS)
def tuple_results(x: Tensor) -> Tuple[Tensor, Tuple[Tensor, int]]:
    return x, (x + 1, x.size(0))


@case(*ROWS)
def tuple_unpacked(x: Tensor) -> Tensor:
    a, (b, c) = x, (x + 1, x * 2)
    return a + b - c


@case(*ROWS)
def tuple_indexed(x: Tensor) -> Tensor:
    pair = (x, x + 1, 3)
    return pair[0] * pair[-1] + pair[1:][0] + len(pair)


@case((grid(2), (grid(2), 3)), (grid(3), (grid(3), 4)))
def tuple_input(x: Tensor, pair: Tuple[Tensor, int]) -> Tensor:
    y, n = pair
    return x * n + y


@case((grid(2), ((grid(2), grid(1)), grid(2) + 1)), (grid(3), ((grid(3), grid(1)), grid(3))))
def tuple_input_nested(x: Tensor, state: Tuple[Tuple[Tensor, Tensor], Tensor]) -> Tensor:
    (a, b), c = state
    return x + a * b - c


@case((grid(2), 3), (grid(3), 0))
def tuple_carried(x: Tensor, n: int) -> Tuple[Tensor, Tensor]:
    state = (x, x * 0)
    for _ in range(n):
        state = (state[0] + state[1], state[0])
    return state


@case(*SIGNS)
def tuple_of_branches(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        pair = (x, 1)
    else:
        pair = (x * 2, 2)
    return pair[0] * pair[1]


@case(*ROWS)
def tuple_returned_by_function(x: Tensor) -> Tensor:
    low, high = _extremes(x)
    return high - low


def _extremes(x: Tensor) -> Tuple[Tensor, Tensor]:
    return x.min(), x.max()


@case(*ROWS)
def tuple_compared(x: Tensor) -> Tensor:
    if (1, 2) == (1, 2):
        x = x + 1
    return x


@case(*ROWS)
def named_made(x: Tensor) -> Tensor:
    point = Point(x + 1, right=x * 2)
    return point.left * point.right + point[0]


@case(*ROWS)
def named_default(x: Tensor) -> Tensor:
    counted = Counted(x)
    return counted.value * counted.count


@case(*ROWS)
def named_result(x: Tensor) -> Point:
    return Point(x, x + 1)


@case(*SIGNS)
def named_of_branches(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        point = Point(x, x + 1)
    else:
        point = Point(x * 2, x)
    return point.left - point.right


@case((grid(2), 3), (grid(3), 0))
def named_carried(x: Tensor, n: int) -> Point:
    point = Point(x, x * 0)
    for i in range(n):
        point = Point(point.left + i, point.right + point.left)
    return point


@case((grid(2), Point(grid(2), grid(2) + 1)), (grid(3), Point(grid(3), grid(3) + 1)))
def named_input(x: Tensor, point: Point) -> Tensor:
    return x + point.left * point.right


@case(*ROWS)
def dict_made(x: Tensor) -> Tensor:
    found = {"a": x + 1, "b": x * 2}
    found["c"] = found["a"] * found["b"]
    return found["c"] + found["a"]


@case(*ROWS)
def dict_result(x: Tensor) -> Dict[str, Tensor]:
    return {"a": x + 1, "b": x * 2}


@case(*ROWS)
def dict_iterated(x: Tensor) -> Tensor:
    found = {"a": x + 1, "b": x * 2}
    total = torch.zeros_like(x)
    for name in found:
        total = total * 2 + found[name]
    for name, value in found.items():
        total = total + value
    for value in found.values():
        total = total - value
    for name in found.keys():
        total = total * 1.5
    return total


@case(*ROWS)
def dict_in_order(x: Tensor) -> Tensor:
    scales = {3: 2, 1: 7, 2: -1}
    total = x
    for key, scale in sorted(scales.items()):
        total = total * key + scale
    return total


@case(*ROWS)
def dict_asked(x: Tensor) -> Tensor:
    found = {"a": x + 1}
    if "b" in found:
        x = x + 1
    if "a" in found:
        x = x + 2
    other = found.get("c")
    if other is None:
        x = x + 4
    return x + found.get("a", x) + len(found)


@case(*ROWS)
def dict_of_integers(x: Tensor) -> Tensor:
    table = {1: 10, 2: 20}
    table[3] = 30
    table.update({2: 25})
    return x * table[2] + table.pop(3) + len(table)


@case(*ROWS)
def dict_set_default(x: Tensor) -> Tensor:
    found: Dict[str, Tensor] = {}
    found["a"] = x
    y = found.setdefault("a", x * 2)
    z = found.setdefault("b", x * 3)
    del found["a"]
    return y + z + len(found)


@case(*ROWS)
def dict_of_lists(x: Tensor) -> Tensor:
    found: Dict[str, List[Tensor]] = {"a": [x]}
    found["a"].append(x + 1)
    return torch.cat(found["a"])


@case((grid(2), {"a": grid(2), "b": grid(1)}), (grid(3), {"a": grid(3), "b": grid(1)}))
def dict_input(x: Tensor, given: Dict[str, Tensor]) -> Tensor:
    if "a" in given:
        x = x + given["a"]
    return x * given["b"]


@case(*SIGNS)
def dict_of_branches(x: Tensor) -> Tensor:
    found = {"a": x}
    if bool(x.sum() > 0):
        found["a"] = x * 2
    else:
        found["a"] = x - 1
    return found["a"]


@case((grid(2), 3), (grid(3), 0))
def dict_carried(x: Tensor, n: int) -> Tensor:
    found = {"a": x, "b": x * 0}
    for i in range(n):
        found["b"] = found["b"] + found["a"] * i
        found["a"] = found["a"] + 1
    return found["a"] - found["b"]


@case(*ROWS)
def dict_comprehension(x: Tensor) -> Tensor:
    found = {i: x * i for i in [1, 2, 3]}
    return found[1] + found[3]


@case(*ROWS)
def dict_ordered(x: Tensor) -> Tensor:
    found: Dict[str, Tensor] = OrderedDict()
    found["x"] = x + 1
    found["y"] = x * 2
    return torch.cat(list(found.values()))


@case(*ROWS)
class EnumModule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mode = Mode.MULTIPLY

    def forward(self, x: Tensor) -> Tensor:
        if self.mode == Mode.ADD:
            return x + 1
        return x * 2


@case(*SIGNS)
def enum_compared(x: Tensor) -> Tensor:
    mode = Mode.ADD
    if x.size(1) == 4:
        mode = Mode.MULTIPLY
    if mode == Mode.MULTIPLY:
        return x * mode.value
    return x + 1


@case(*ROWS)
def string_join(x: Tensor) -> Tensor:
    text = ",".join(["a", "b", "c"])
    if text == "a,b,c" and "b" in text and text[0] == "a" and text[2:3] == "b":
        return x + len(text)
    return x


@case(*ROWS)
def string_loop(x: Tensor) -> Tensor:
    for letter in "ab":
        if letter == "b":
            x = x * 2
        else:
            x = x + 1
    return x


@case(*ROWS)
def string_cases(x: Tensor) -> Tensor:
    text = " Ab ".strip().lower().replace("b", "c")
    if text.endswith("c") and text.find("c") == 1 and not text.isdigit():
        x = x + 1
    if f"{text}_{3}" == "ac_3":
        x = x * 2
    return x + int("42")


@case(*ROWS)
def string_dispatch(x: Tensor) -> Tensor:
    total = torch.zeros_like(x)
    for name in ["sin", "cos", "other"]:
        if name == "sin":
            total = total + torch.sin(x)
        elif name == "cos":
            total = total + torch.cos(x)
        else:
            total = total * 2
    return total


@case((noise(3, 4), None), (noise(5, 4), None))
def optional_tuple(x: Tensor, state: Tuple[Tensor, Tensor] | None = None) -> Tensor:
    if state is None:
        state = (torch.zeros(4), torch.ones(4))
    return x * state[1] + state[0]


@case((noise(3, 4), (noise(4), noise(4))), (noise(5, 4), (noise(4), noise(4))))
def optional_tuple_given(x: Tensor, state: Tuple[Tensor, Tensor] | None = None) -> Tensor:
    if state is None:
        state = (torch.zeros(4), torch.ones(4))
    return x * state[1] + state[0]
