"""What no model says, with what the refusal says and the line that it shows."""

# ruff: noqa: UP006, UP035, SIM108
from collections.abc import Callable
from typing import Any, List

import torch
from torch import Tensor, nn

REFUSED: dict[str, tuple[Any, str, str]] = {}


def refused(pattern: str, line: str) -> Callable[[Any], Any]:
    """Registers a program of a tensor of [n, 4]; `pattern` is of the message, `line` the user's."""

    def register(program: Any) -> Any:
        made = program() if isinstance(program, type) else program
        REFUSED[program.__name__] = made, pattern, line
        return program

    return register


@refused("sizes differ from run to run", "parts.append(x[:i])")
def append_uneven(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[:i])
    return torch.cat(parts)


@refused("sizes differ from run to run", "parts.append(x[i, x[i] > 0])")
def append_uneven_rows(x: Tensor) -> Tensor:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[i, x[i] > 0])
    return torch.cat(parts)


@refused("elements of different types or sizes", "if bool")
def append_uneven_in_branch(x: Tensor) -> Tensor:
    parts = [x]
    if bool(x.sum() > 0):
        parts.append(x[0:1])
    return torch.cat(parts)


@refused("into how many parts it cuts", "x.split(2)")
def split_rows(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for part in x.split(2):
        total = total * 2 + part.sum(0)
    return total


@refused("after one branch and .* after the other", "if bool")
def ranks_differ(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x
    else:
        y = x[0]
    return y


@refused("writes to the result of a branch", "z.add_(1)")
def written_after_branch(x: Tensor) -> Tensor:
    y = x * 2
    z = y
    if bool(x.sum() > 0):
        z = x * 3
    z.add_(1)
    return y + z


@refused("a text that only a run tells is compared", "if str")
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


@refused("a list that a loop filled", "")
def list_returned(x: Tensor) -> List[Tensor]:
    parts: List[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x * i)
    return parts


@refused("which the next call would see", "self.seen = ")
class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = torch.zeros(4)

    def forward(self, x: Tensor) -> Tensor:
        self.seen = self.seen + x[0]
        return x + self.seen
