"""What no model says, with what the refusal says and the line that it shows."""

# Branches are if statements, as in the code that is rejected.
# ruff: noqa: SIM108
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

REFUSED: dict[str, tuple[Any, str, str]] = {}


def refused(pattern: str, line: str) -> Callable[[Any], Any]:
    """Registers a program of a tensor of [n, 4]; `pattern` is of the message, `line` the user's."""

    def register(program: Any) -> Any:
        made = program() if isinstance(program, type) else program
        REFUSED[program.__name__] = made, pattern, line
        return program

    return register


@refused("after one branch and .* after the other", "for i in range")
def ranks_of_runs(x: Tensor) -> Tensor:
    y = x.sum()
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            y = y.unsqueeze(0)
    return y


@refused("has a data-dependent rank", "if bool")
def ranks_of_outputs(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x
    else:
        y = x[0]
    return y


@refused("after one branch and .* after the other", "")
def ranks_of_a_function(x: Tensor) -> Tensor:
    return _row(x) + 1


def _row(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x
    else:
        y = x[0]
    return y


@refused("writes to what may be 'mul', depending on data", "z.add_(1)")
def written_after_branch(x: Tensor) -> Tensor:
    y = x * 2
    z = y
    if bool(x.sum() > 0):
        z = x * 3
    z.add_(1)
    return y + z


@refused("writes to what may be 'row0', depending on data", "whole[0] = ")
def read_behind_a_write(x: Tensor) -> Tensor:
    whole = x * 1
    row = torch.zeros(4)
    if bool(x.sum() > 0):
        row = whole[0]
    whole[0] = 5.0
    return whole + row


@refused("writes to 'mul', which it is given from outside", "whole.add_(1)")
def view_of_an_earlier_run(x: Tensor) -> Tensor:
    whole = x * 1
    row = torch.zeros(4)
    for i in range(x.size(0)):
        whole.add_(1)
        if bool(x[i].sum() > 0):
            row = whole[i]
    return whole + row


@refused("a list is unpacked into 2 elements", "first, second = ")
def rows_taken_apart(x: Tensor) -> Tensor:
    first, second = x.unbind(0)
    return first + second


@refused("a data-dependent string is compared", "if str")
def text_of_data(x: Tensor) -> Tensor:
    if str(int(x.sum())) == "3":
        return x + 1
    return x


@refused("a key of a dictionary is the integer", "found[i] = ")
def dict_filled(x: Tensor) -> Tensor:
    found = {0: x}
    for i in range(x.size(0)):
        found[i] = x * i
    return found[0]


@refused("a list or a dictionary is changed that is one of several", "either.append")
def list_of_either_branch(x: Tensor) -> Tensor:
    one, other = [x], [x * 2]
    if bool(x.sum() > 0):
        either = one
    else:
        either = other
    either.append(x * 3)
    return torch.cat(one) + len(other)


@refused("stands in a list with a data-dependent length", "whole.mul_")
def views_in_a_list(x: Tensor) -> Tensor:
    whole = x * 1
    rows: list[Tensor] = []
    for i in range(whole.size(0)):
        rows.append(whole[i])
    whole.mul_(5)
    return torch.stack(rows)


@refused("stands in a list with a data-dependent length", "")
def accumulator_in_a_list(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    sums: list[Tensor] = []
    for i in range(x.size(0)):
        total += x[i]
        sums.append(total)
    return torch.stack(sums)


@refused("SX1704", "total.add_")
def two_names_in_a_loop(x: Tensor) -> Tensor:
    total, seen = x * 1, x * 2
    result = x * 0
    for i in range(x.size(0)):
        total.add_(i)
        result = result + seen
        seen = total
    return result
