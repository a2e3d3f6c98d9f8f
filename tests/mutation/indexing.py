"""Every way to index a tensor, read and written: those that the TorchScript exporter lists as
unsupported, and the others. A written value is given whole and at every shape that broadcasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .programs import Program, numbers

DATA = (3, 4, 5)


def at(*places: Any) -> Tensor:
    return torch.tensor(*places)


@dataclass(frozen=True)
class Pattern:
    name: str
    # The index, given the tensors that it is made of.
    index: Callable[[tuple[Tensor, ...]], Any]
    tensors: tuple[Tensor, ...] = ()
    # Rows may vary in number where the index leaves them alone.
    dynamic: bool = False


def masks(*shape: int) -> Tensor:
    return numbers(*shape, dtype=torch.bool, seed=3)


PATTERNS = [
    # The TorchScript page's list: reading.
    Pattern("negative_places", lambda t: (t[0], t[1]), (at([[1, 2], [2, -3]]), at([-2, 3]))),
    # Writing.
    Pattern("two_tensors_of_rank_2", lambda t: (t[0], t[1]), (at([[1, 2], [2, 1]]), at([2, 3]))),
    Pattern("tensors_apart", lambda t: (t[0], slice(None), t[1]), (at([1, 2]), at([1, 2]))),
    Pattern("negative_places_in_both", lambda t: (t[0], t[1]), (at([1, -2]), at([-2, 3]))),
    Pattern("rank_2_and_a_slice", lambda t: (t[0], slice(1, 3)), (at([[0, 2], [1, 1]]),)),
    # And the others.
    Pattern("one_place", lambda t: 1),
    Pattern("last_place", lambda t: -1),
    Pattern("places_of_two_axes", lambda t: (1, -2)),
    Pattern("slice", lambda t: slice(1, 3)),
    Pattern("slice_from_the_end", lambda t: slice(-2, None)),
    Pattern("every_other", lambda t: (slice(None), slice(None, None, 2)), dynamic=True),
    Pattern("slice_past_the_end", lambda t: (slice(None), slice(2, 100)), dynamic=True),
    Pattern("empty_slice", lambda t: (slice(None), slice(3, 1)), dynamic=True),
    Pattern("ellipsis", lambda t: (..., 2), dynamic=True),
    Pattern("ellipsis_in_the_middle", lambda t: (0, ..., slice(1, 4))),
    Pattern("new_axis", lambda t: (None, slice(None), 1), dynamic=True),
    Pattern("new_axes_between", lambda t: (slice(None), None, 1, None), dynamic=True),
    Pattern("tensor", lambda t: t[0], (at([0, 2]),)),
    Pattern("tensor_of_one", lambda t: t[0], (at([-1]),)),
    Pattern("tensor_of_rank_0", lambda t: t[0], (at(1),)),
    Pattern("tensor_of_rank_2", lambda t: t[0], (at([[0, 2], [2, 1]]),)),
    Pattern("empty_tensor", lambda t: t[0], (torch.zeros(0, dtype=torch.int64),)),
    Pattern("small_integers", lambda t: t[0], (at([0, 2]).to(torch.int32),)),
    Pattern("tensor_second", lambda t: (slice(None), t[0]), (at([1, 3, -4]),), True),
    Pattern("tensor_last", lambda t: (..., t[0]), (at([4, 0]),), True),
    Pattern("tensor_and_place", lambda t: (t[0], 1), (at([0, 2]),)),
    Pattern("place_and_tensor", lambda t: (1, t[0]), (at([3, 0]),)),
    Pattern("place_slice_tensor", lambda t: (1, slice(1, 3), t[0]), (at([3, 0]),)),
    Pattern("tensor_slice_place", lambda t: (t[0], slice(1, 3), -1), (at([2, 0]),)),
    Pattern("slice_tensor_slice", lambda t: (slice(1), t[0], slice(2, 4)), (at([2, 0]),)),
    Pattern("two_last", lambda t: (slice(None), t[0], t[1]), (at([1, 3]), at([4, -5])), True),
    Pattern("two_broadcast", lambda t: (t[0], t[1]), (at([[0], [2]]), at([1, 3, 0]))),
    Pattern("three", lambda t: (t[0], t[1], t[2]), (at([0, 2]), at([3, 1]), at([4, 4]))),
    Pattern("three_of_ranks", lambda t: (t[0], t[1], t[2]), (at([[0], [2]]), at([3, 1]), at([4]))),
    Pattern(
        "tensors_apart_of_rank_2",
        lambda t: (t[0], slice(1, 4), t[1]),
        (at([[0, 2], [1, 2]]), at([-1, 3])),
    ),
    Pattern("tensor_new_axis_tensor", lambda t: (t[0], None, t[1]), (at([0, 2]), at([1, 3]))),
    Pattern("new_axis_tensor", lambda t: (None, t[0]), (at([0, 2]),)),
    Pattern("tensor_ellipsis_tensor", lambda t: (t[0], ..., t[1]), (at([0, 2]), at([1, 3]))),
    Pattern("list", lambda t: [0, 2]),
    Pattern("lists", lambda t: ([0, 2], slice(None), [1, -1])),
    Pattern("mask", lambda t: t[0], (masks(*DATA),)),
    Pattern("mask_of_rows", lambda t: t[0], (masks(3),)),
    Pattern("mask_of_two_axes", lambda t: t[0], (masks(3, 4),)),
    Pattern("mask_second", lambda t: (slice(None), t[0]), (masks(4),), True),
    Pattern("mask_last", lambda t: (..., t[0]), (masks(5),), True),
    Pattern("mask_and_slice", lambda t: (t[0], slice(1, 3)), (masks(3),)),
    Pattern("mask_and_place", lambda t: (t[0], 2), (masks(3),)),
    Pattern("mask_of_none", lambda t: t[0], (torch.zeros(3, dtype=torch.bool),)),
    Pattern("mask_of_all", lambda t: t[0], (torch.ones(3, 4, dtype=torch.bool),)),
    Pattern("mask_and_tensor", lambda t: (t[0], t[1]), (at([True, False, True]), at([3, 0]))),
    Pattern(
        "mask_apart_from_tensor",
        lambda t: (t[0], slice(None), t[1]),
        (at([True, True, False]), at([3, 0])),
    ),
    Pattern("mask_from_the_data", lambda t: t[0] > 0, (numbers(3, 4, seed=8),)),
]


# torch.export refuses to read these itself (2.13), as it does writing at a 0-d tensor.
UNCAPTURED_READS = {"mask_and_tensor", "mask_apart_from_tensor"}
UNCAPTURED_WRITES = {"tensor_of_rank_0"}


def reads() -> list[Program]:
    programs = []
    for pattern in PATTERNS:
        if pattern.name in UNCAPTURED_READS:
            continue

        def run(x: Tensor, *tensors: Tensor, pattern: Pattern = pattern) -> Tensor:
            return x[pattern.index(tensors)]

        programs.append(
            program_of(f"reads_{pattern.name}", run, (numbers(*DATA), *pattern.tensors), pattern)
        )
    return programs


# Leading axes of the written value that are left out, and axes that are made 1.
VALUES: dict[str, Callable[[Tensor], Tensor]] = {
    "whole": lambda v: v,
    "number": lambda v: v.new_tensor(7.0),
    "without_the_first_axis": lambda v: v[:1].reshape(v.shape[1:]) if v.numel() and v.dim() else v,
    "first_axis_of_one": lambda v: v[:1] if v.numel() and v.dim() else v,
    "last_axis_of_one": lambda v: v[..., :1] if v.numel() and v.dim() else v,
    "with_an_axis_more": lambda v: v[None],
}


def writes() -> list[Program]:
    programs = []
    kinds = list(VALUES.items())
    for row, pattern in enumerate(PATTERNS):
        if pattern.name in UNCAPTURED_WRITES:
            continue
        read = numbers(*DATA)[pattern.index(pattern.tensors)]
        # A mask's choices are as many as the data says: its value must fit them.
        masked = "mask" in pattern.name
        for column, (name, shaped) in enumerate(kinds):
            if masked and name not in ("number", "last_axis_of_one", "first_axis_of_one"):
                continue
            if (row + column) % 2 and not masked and row > 4:
                continue
            value = shaped(numbers(*read.shape, seed=5) if read.dim() else numbers(1)[0])
            if masked and name == "last_axis_of_one" and read.dim() < 2:
                continue

            def run(x: Tensor, v: Tensor, *tensors: Tensor, pattern: Pattern = pattern) -> Tensor:
                x = x.clone()
                x[pattern.index(tensors)] = v
                return x

            example = (numbers(*DATA), value, *pattern.tensors)
            programs.append(program_of(f"writes_{name}_at_{pattern.name}", run, example, pattern))
    return programs


def program_of(name: str, run: Any, example: tuple[Tensor, ...], pattern: Pattern) -> Program:
    dynamic = pattern.dynamic and name.startswith("reads")
    others = ((numbers(6, *DATA[1:], seed=1), *example[1:]),) if dynamic else ()
    shapes = ({0: torch.export.Dim.DYNAMIC}, *(None for _ in example[1:])) if dynamic else None
    return Program(name, run, example, others, shapes)


def adds() -> list[Program]:
    """`x[index] += v`, which reads and writes, and accumulating writes at places that repeat."""
    programs = []
    uncaptured = UNCAPTURED_READS | UNCAPTURED_WRITES
    for pattern in [each for each in PATTERNS if each.name not in uncaptured]:

        def run(x: Tensor, *tensors: Tensor, pattern: Pattern = pattern) -> Tensor:
            x = x.clone()
            x[pattern.index(tensors)] += 2
            return x

        example = (numbers(*DATA), *pattern.tensors)
        programs.append(Program(f"adds_at_{pattern.name}", run, example))
    for name, tensors in {
        "rows": (at([0, 2, 0]),),
        "points": (at([0, 2, 0]), at([1, 1, -3])),
        "apart": (at([0, 2, 0]), at([3, -2, 3])),
        "planes": (at([[0, 2], [0, 0]]),),
    }.items():

        def accumulate(x: Tensor, *tensors: Tensor, name: str = name) -> Tensor:
            places = (tensors[0], None, tensors[1]) if name == "apart" else tensors
            x = x.clone()
            return torch.ops.aten.index_put_(x, list(places), x.new_tensor(1.5), True)

        programs.append(Program(f"accumulates_{name}", accumulate, (numbers(*DATA), *tensors)))
    return programs
