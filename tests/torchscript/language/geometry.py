"""In-place changes of a tensor's sizes, which everyone who holds the tensor sees."""

from torch import Tensor

from .table import ROWS, SIGNS, case, grid, noise

SQUARES = ((noise(3, 3),), (noise(5, 5) * 2,), (-noise(2, 2),))


@case(*ROWS)
def unsqueezed_in_place(x: Tensor) -> tuple[Tensor, Tensor, int]:
    made = x * 2
    same = made
    made.unsqueeze_(1)
    made += 1
    return made * same.size(0), same.squeeze_(1) + x, same.dim()


@case(*ROWS)
def swapped_in_place(x: Tensor) -> Tensor:
    made = x[None].exp().transpose_(0, 2)
    made = made.swapaxes_(0, 1).swapdims_(1, 2)
    return made * made.size(-1) + made.shape[0]


@case(*ROWS)
def turned_in_a_list(x: Tensor) -> tuple[Tensor, int]:
    held = [x * 1, x * 2]
    held[0].t_()
    held[0][0] = 7.0
    return held[0] @ held[1], held[0].size(0)


def turn(x: Tensor) -> int:
    x.t_()
    return x.size(0)


@case(*ROWS)
def turned_by_a_function(x: Tensor) -> Tensor:
    made = x + 1
    size = turn(made)
    return made * size


@case(*SIGNS, (grid(2, low=1.0),))
def unsqueezed_in_a_branch(x: Tensor) -> Tensor:
    made = x * 1
    if bool(x.sum() > 0):
        made.unsqueeze_(0).squeeze_(0)
        made += 3
    return made


@case(*SQUARES)
def turned_in_a_branch(x: Tensor) -> Tensor:
    made = x * 1
    seen = made
    if bool(x.sum() > 0):
        made.t_()
    made += 1
    return made * seen.size(0)


@case(*ROWS)
def data_of_a_tensor(x: Tensor) -> Tensor:
    made = x * 1
    made.data.add_(2)
    return made + x.data
