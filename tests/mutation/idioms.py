"""Writes as people write them: indexing of every kind, caches, masks, loops, `out=`, statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .programs import Program, numbers

IDIOMS: list[Program] = []
DYNAMIC = torch.export.Dim.DYNAMIC


def idiom(
    *example: Tensor,
    others: tuple[tuple[Tensor, ...], ...] = (),
    dynamic: Any = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        IDIOMS.append(Program(run.__name__, run, example, others, dynamic))
        return run

    return register


ROWS = ({0: DYNAMIC},)


@idiom(numbers(4, 6), others=((numbers(9, 6),),), dynamic=ROWS)
def assigns_a_column(x: Tensor) -> Tensor:
    x = x.clone()
    x[:, 0] = 1
    return x


@idiom(numbers(4, 6), others=((numbers(9, 6),),), dynamic=ROWS)
def writes_to_its_input(x: Tensor) -> Tensor:
    x[:, 1:3] += 2
    return x * 2


@idiom(numbers(4, 6))
def returns_the_written_input(x: Tensor) -> Tensor:
    return x.add_(1)


@idiom(numbers(4, 6), numbers(6))
def assigns_a_broadcast_row(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x[1:3] = y
    return x


@idiom(numbers(4, 6), numbers(1, 6, dtype=torch.int64))
def assigns_another_dtype(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x[:2] = y
    return x


@idiom(numbers(4, 6), torch.tensor([0, 2, -1]))
def assigns_rows_by_tensor(x: Tensor, index: Tensor) -> Tensor:
    x = x.clone()
    x[index] = 7
    return x


@idiom(numbers(4, 6), torch.tensor([0, -2]), torch.tensor([5, -1]))
def assigns_points_by_two_tensors(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    x = x.clone()
    x[rows, columns] = torch.tensor([1.5, -1.5])
    return x


@idiom(numbers(4, 6), torch.tensor([[0, 3], [1, 2]]), torch.tensor([[5, -1], [2, 2]]))
def assigns_points_by_matrices(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    x = x.clone()
    x[rows, columns] = torch.arange(4.0).view(2, 2)
    return x


@idiom(numbers(3, 4, 5), torch.tensor([0, 2]), torch.tensor([4, -3]))
def assigns_by_tensors_apart(x: Tensor, first: Tensor, last: Tensor) -> Tensor:
    x = x.clone()
    x[first, :, last] = torch.arange(8.0).view(2, 4)
    return x


@idiom(numbers(3, 4, 5), torch.tensor([[0, 1], [2, -1]]), torch.tensor([1, -2]))
def assigns_by_tensors_of_two_ranks(x: Tensor, first: Tensor, last: Tensor) -> Tensor:
    x = x.clone()
    x[first, 1:3, last] = 4
    return x


@idiom(numbers(3, 4, 5), torch.tensor([0, 2, 0]))
def adds_up_at_repeated_rows(x: Tensor, rows: Tensor) -> Tensor:
    x = x.clone()
    x.index_put_((rows,), torch.ones(4, 5), accumulate=True)
    return x


@idiom(numbers(3, 4, 5), torch.tensor([1, 3]))
def assigns_in_the_middle(x: Tensor, index: Tensor) -> Tensor:
    x = x.clone()
    x[:, index] = torch.arange(10.0).view(2, 5)
    return x


@idiom(numbers(4, 6), numbers(4, 6, dtype=torch.bool))
def assigns_where_a_mask_holds(x: Tensor, mask: Tensor) -> Tensor:
    x = x.clone()
    x[mask] = -1
    return x


@idiom(numbers(4, 6), numbers(4, dtype=torch.bool))
def assigns_rows_of_a_mask(x: Tensor, mask: Tensor) -> Tensor:
    x = x.clone()
    x[mask] = 0
    return x


@idiom(numbers(4, 6), numbers(4, 6, dtype=torch.bool), numbers(24, seed=4))
def scatters_under_a_mask(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    return x.clone().masked_scatter_(mask, source)


@idiom(numbers(4, 6))
def assigns_none_and_ellipsis(x: Tensor) -> Tensor:
    x = x.clone()
    x[..., 1] = 3
    x[None, 2] = 5
    return x


@idiom(numbers(4, 6), others=((numbers(5, 6),),), dynamic=ROWS)
def assigns_the_last_row(x: Tensor) -> Tensor:
    x = x.clone()
    x[-1] = x[0]
    return x


@idiom(numbers(4, 6), others=((numbers(5, 6),),), dynamic=ROWS)
def shifts_by_one(x: Tensor) -> Tensor:
    shifted = x.new_zeros(x.shape)
    shifted[:, 1:] = x[:, :-1].clone()
    shifted[:, 0] = 2
    return shifted


@idiom(
    numbers(4, 6, dtype=torch.int64), others=((numbers(5, 6, dtype=torch.int64),),), dynamic=ROWS
)
def shifts_tokens_right(x: Tensor) -> Tensor:
    shifted = x.new_zeros(x.shape)
    shifted[:, 1:] = x[:, :-1].clone()
    shifted[:, 0] = 2
    shifted.masked_fill_(shifted == -9, 1)
    return shifted


@idiom(numbers(4, 6))
def fills_in_a_loop(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    for i in range(x.shape[1]):
        out[:, i] = x[:, : i + 1].sum(1)
    return out


@idiom(numbers(2, 3, 8), numbers(2, 1, 8), torch.tensor([1]))
def updates_a_cache(cache: Tensor, new: Tensor, position: Tensor) -> Tensor:
    cache.index_copy_(1, position, new)
    return cache.sum(1)


@idiom(numbers(2, 3, 8), numbers(2, 2, 8))
def updates_a_cache_by_slice(cache: Tensor, new: Tensor) -> Tensor:
    cache[:, 1:3] = new
    return cache @ new.transpose(1, 2)


@idiom(numbers(4, 6))
def sees_later_writes_through_older_views(x: Tensor) -> tuple[Tensor, ...]:
    x = x.clone()
    row, column, flat = x[1], x[:, 1], x.view(-1)
    row.add_(1)
    column.mul_(2)
    flat[7] = 9
    return row, column, flat, x


@idiom(numbers(4, 6))
def writes_through_overlapping_slices(x: Tensor) -> tuple[Tensor, ...]:
    x = x.clone()
    a, b = x[:3], x[2:]
    a.add_(1)
    b.mul_(3)
    a.sub_(2)
    return a, b, x


@idiom(numbers(4, 6))
def writes_what_nothing_reads(x: Tensor) -> Tensor:
    scratch = torch.empty_like(x)
    scratch[0] = 1
    scratch.add_(3)
    return x + 1


@idiom(numbers(4, 6), numbers(4, 6, dtype=torch.float64))
def keeps_its_dtype(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x.add_(y)
    x *= y
    x.div_(torch.tensor(3.0, dtype=torch.float64))
    return x


@idiom(numbers(4, 6, dtype=torch.int32), numbers(4, 6, dtype=torch.int64))
def integers_keep_their_dtype(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x.add_(y).mul_(3)
    x.cumsum_(1)
    x.remainder_(7)
    return x


@idiom(numbers(4, 6, dtype=torch.bool), numbers(4, 6, dtype=torch.bool, seed=2))
def logic_in_place(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x &= y
    x |= ~y
    x ^= y
    x.logical_not_()
    return x


@idiom(numbers(4, 6, dtype=torch.uint8), numbers(4, 6, dtype=torch.uint8, seed=2))
def bits_in_place(x: Tensor, y: Tensor) -> Tensor:
    x = x.clone()
    x &= y
    x |= 5
    x.bitwise_xor_(y)
    x.bitwise_not_()
    return x


@idiom(numbers(4, 6))
def chains_of_in_place_activations(x: Tensor) -> Tensor:
    x = x.clone()
    x.relu_().sigmoid_().tanh_().exp_().sqrt_()
    torch.nn.functional.relu(x.sub_(2), inplace=True)
    torch.nn.functional.leaky_relu_(x[0].neg_(), 0.1)
    return x


@idiom(numbers(4, 6))
def comparisons_in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y[0].gt_(0)
    y[1].eq_(y[1])
    y[2].logical_and_(y[0])
    return y


@idiom(numbers(4, 6), torch.tensor([[0, 1], [2, 3], [1, 1], [5, 0]]), numbers(4, 2, seed=3))
def scatters(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    x = x.clone()
    x.scatter_(1, index, source)
    x.scatter_add_(1, index.flip(0), source)
    x.scatter_(1, index[:1], 2.0)
    return x


@idiom(numbers(4, 6), torch.tensor([2, 0]))
def index_forms(x: Tensor, index: Tensor) -> Tensor:
    x = x.clone()
    x.index_fill_(1, index, 4)
    x.index_add_(0, index, torch.ones(2, 6), alpha=2)
    x.index_copy_(1, index, torch.zeros(4, 2))
    return x


@idiom(numbers(4, 4))
def triangles_in_place(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.clone(), x.clone()
    return a.tril_(1), b.triu_(-1)


@idiom(numbers(4, 4), numbers(4, 4, seed=1), numbers(4, 4, seed=2))
def products_in_place(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    x = x.clone()
    x.addmm_(a, b, beta=0.5).addcmul_(a, b, value=2).lerp_(a, 0.25)
    return x


@idiom(numbers(5, 3))
def fills_a_diagonal(x: Tensor) -> Tensor:
    return x.clone().fill_diagonal_(8)


@idiom(numbers(8, 3))
def fills_a_wrapped_diagonal(x: Tensor) -> Tensor:
    return x.clone().fill_diagonal_(8, wrap=True)


@idiom(numbers(3, 3, 3))
def fills_a_cubic_diagonal(x: Tensor) -> Tensor:
    return x.clone().fill_diagonal_(8)


@idiom(numbers(4, 6))
def changes_its_shape_in_place(x: Tensor) -> tuple[Tensor, ...]:
    y = x.clone()
    row = y[0]
    y.unsqueeze_(0)
    y.transpose_(1, 2)
    y[0, 0] = 5
    y.squeeze_(0)
    y.t_()
    return y, row


@idiom(numbers(4, 6), numbers(4, 6, seed=1))
def writes_out(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty_like(x)
    torch.add(x, y, out=out)
    torch.mul(out, 2, out=out)
    return out


@idiom(numbers(4, 6), numbers(4, 6, seed=1))
def writes_out_through_a_view(x: Tensor, y: Tensor) -> Tensor:
    out = torch.zeros(8, 6)
    torch.sub(x, y, out=out[2:6])
    return out


@idiom(numbers(4, 6))
def writes_several_outs(x: Tensor) -> tuple[Tensor, Tensor]:
    values, indices = torch.empty(4), torch.empty(4, dtype=torch.int64)
    torch.max(x, 1, out=(values, indices))
    return values, indices


@idiom(numbers(4, 6))
def copies_between_its_halves(x: Tensor) -> Tensor:
    x = x.clone()
    x[:, :3].copy_(x[:, 3:].clone())
    x[0, 3:].copy_(x[1, :3])
    return x


@idiom(numbers(3, 4))
def rotates_pairs(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    out[..., ::2] = -x[..., 1::2]
    out[..., 1::2] = x[..., ::2]
    return out


@idiom(numbers(4, 6), others=((numbers(3, 6),),), dynamic=ROWS)
def pads_by_hand(x: Tensor) -> Tensor:
    out = x.new_full((x.shape[0] + 2, 8), -1.0)
    out[1:-1, 1:-1] = x
    return out


@idiom(numbers(4, 6), others=((numbers(3, 6),),), dynamic=ROWS)
def swin_masks(x: Tensor) -> Tensor:
    mask = torch.zeros((1, x.shape[0], 6, 1))
    count = 0
    for rows in (slice(0, -2), slice(-2, -1), slice(-1, None)):
        for columns in (slice(0, 2), slice(2, None)):
            mask[:, rows, columns, :] = count
            count += 1
    return x * mask[0, :, :, 0]


@idiom(numbers(2, 4, 6))
def sets_entries_of_entries(x: Tensor) -> Tensor:
    x = x.clone()
    x[0][1][2] = 9
    x[1, :, 2:4][:, 1] += 1
    return x


@idiom(numbers(4, 6))
def reshapes_a_transposed_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    copied = x.t().reshape(-1)
    copied[0] = 100
    return x, copied


@idiom(numbers(4, 6))
def contiguous_of_a_transposed_is_a_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    copied = x.t().contiguous()
    copied[0] = 100
    return x, copied


@idiom(numbers(4, 6))
def another_dtype_is_a_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    copied = x.to(torch.float64)
    copied[0] = 100
    return x, copied


@idiom(numbers(4, 6))
def dropout_in_evaluation_is_no_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    same = torch.nn.functional.dropout(x, 0.5, training=False)
    same[0] = 100
    return x, same


@idiom(numbers(4, 6))
def expanded_and_filled(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    wide = x[:, :1].expand(4, 6)
    wide.fill_(3)
    return x, wide


@idiom(numbers(4, 6))
def a_column_of_an_expanded_tensor_filled(x: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.zeros(1, 6).expand(4, 6)
    mask[:, 2].fill_(1)
    mask[0, 4:].fill_(3)
    return x * mask, mask


@idiom(numbers(7))
def one_element_of_each_overlapping_window(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    windows = x.unfold(0, 3, 1)
    windows[:, 0].add_(1)
    windows[1:, 2].mul_(2)
    return x, windows


@idiom(numbers(4, 1))
def reads_an_expanded_view_after_a_write(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    wide = x.expand(4, 5)
    x.add_(1)
    return wide, x


@idiom(numbers(4), numbers(3))
def reads_broadcast_views_after_a_write(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    x, y = x.clone()[:, None], y.clone()
    a, b = torch.broadcast_tensors(x, y)
    x.mul_(2)
    y.add_(1)
    return a, b


@idiom(numbers(4, 6, dtype=torch.complex64))
def writes_the_real_part(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone()
    x.real.add_(1)
    x.imag[0] = 2
    return x.real, x.imag


@idiom(numbers(4, 6))
def writes_pairs_of_complex_numbers(x: Tensor) -> Tensor:
    x = x.clone()
    z = torch.view_as_complex(x.view(4, 3, 2))
    z.mul_(1j)
    return x


@idiom(numbers(2, 3, 4))
def batch_statistics_by_hand(x: Tensor) -> Tensor:
    mean = torch.zeros(3)
    mean.mul_(0.9).add_(x.mean((0, 2)), alpha=0.1)
    return x - mean[:, None]


@idiom(numbers(4, 6))
def adds_to_a_column_of_an_arange(x: Tensor) -> Tensor:
    grid = torch.arange(24, dtype=torch.float32).view(4, 6)
    grid[:, 0] += x[:, 0]
    grid[0, :].sub_(x[0])
    return grid


@idiom(numbers(4, 6), others=((numbers(6, 6),),), dynamic=ROWS)
def writes_half_of_the_rows(x: Tensor) -> Tensor:
    x = x.clone()
    x[: x.shape[0] // 2] = 0
    return x


@idiom(numbers(4, 6))
def copies_and_then_overwrites(x: Tensor) -> Tensor:
    out = torch.empty(4, 6)
    out.copy_(x)
    out.zero_()
    out.add_(x)
    return out


@idiom(numbers(3, 4))
def splits_and_writes_each_part(x: Tensor) -> tuple[Tensor, ...]:
    x = x.clone()
    a, b = x.chunk(2, 1)
    a.mul_(2)
    b.add_(a)
    return x, a, b


@idiom(numbers(4, 6))
def stacks_views(x: Tensor) -> Tensor:
    x = x.clone()
    rows = list(x.unbind(0))
    rows[0].add_(rows[1])
    rows[2].zero_()
    return torch.stack(rows) + x


@idiom(numbers(4, 6))
def zero_sized_writes(x: Tensor) -> Tensor:
    x = x.clone()
    x[2:2] = 5
    x[:, 6:].add_(1)
    return x


@idiom(torch.tensor(3.0))
def writes_a_scalar(x: Tensor) -> Tensor:
    x = x.clone()
    x += 1
    x.unsqueeze(0)[0] = x * 2
    return x
