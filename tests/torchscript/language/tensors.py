"""Tensors: indexing, slices, views that are written through, in-place operators."""

# Annotated with typing's List and Dict, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import Tuple

import torch
import torch.nn.functional as F
from torch import Tensor

from .table import ROWS, case, grid, noise, number


@case(*ROWS)
def indexed(x: Tensor) -> Tensor:
    return x[0] + x[-1] + x[:, 1].sum() + x[0, 2] + x[..., -1].mean()


@case(*ROWS)
def sliced(x: Tensor) -> Tensor:
    return x[1:].sum() + x[:, 1:3] + x[:, ::2] - x[:-1].sum() + x[-2:, 1:2].sum()


@case(*ROWS)
def sliced_none(x: Tensor) -> Tensor:
    return x[:, None] * x[None] + x[..., None, 0:1]


@case(*ROWS)
def masked(x: Tensor) -> Tensor:
    return x[x > 0] * 2


@case(*ROWS)
def masked_written(x: Tensor) -> Tensor:
    y = x.clone()
    y[y < 0] = 0.0
    return y


@case((grid(3), torch.tensor([0, 2])), (grid(5), torch.tensor([1, 1, 4])))
def gathered(x: Tensor, at: Tensor) -> Tensor:
    return x[at] + x[at, 1:2] + x.index_select(0, at)


@case((grid(3), torch.tensor([0, 2])), (grid(5), torch.tensor([1, 3])))
def gathered_written(x: Tensor, at: Tensor) -> Tensor:
    y = x.clone()
    y[at] = 1.0
    y[at, 0] += 5
    return y


@case(*ROWS)
def rows_written(x: Tensor) -> Tensor:
    y = x.clone()
    y[0] = 5
    y[:, 1] += 1
    y[-1, 2:] = x[0, :2]
    return y


@case(*ROWS)
def steps_written(x: Tensor) -> Tensor:
    y = x.clone()
    y[:, ::2] = 0
    y[:, 1::2] *= 3
    return y


@case(*ROWS)
def view_written(x: Tensor) -> Tensor:
    y = x.clone()
    view = y.view(-1)
    view[0] = 7
    view.mul_(2)
    return y + view.sum()


@case(*ROWS)
def transpose_written(x: Tensor) -> Tensor:
    y = x.clone()
    t = y.t()
    t[0].fill_(1.5)
    return y


@case(*ROWS)
def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.add_(1).mul_(2).sub_(x).clamp_(-1, 3)
    torch.relu_(y)
    return y


@case(*ROWS)
def in_place_functions(x: Tensor) -> Tensor:
    y = F.relu(x.clone(), inplace=True)
    y = F.dropout(y, 0.5, training=False)
    return y.zero_() + x


@case(*ROWS)
def copied(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    y.copy_(x)
    y[0].copy_(x[-1] * 2)
    return y


@case(*ROWS)
def made(x: Tensor) -> Tensor:
    n = x.size(0)
    return torch.zeros(n, 4) + torch.ones([n, 4]) * 2 + torch.eye(4)[:1] + x.new_zeros(n, 4)


@case(*ROWS)
def made_like(x: Tensor) -> Tensor:
    y = torch.zeros_like(x, dtype=torch.int64) + torch.ones_like(x).long()
    return y.to(x.dtype) + torch.full_like(x, 2.5)


@case(*ROWS)
def made_with_dtype(x: Tensor) -> Tensor:
    y = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    return y + torch.arange(x.size(1), dtype=torch.float32, device=x.device)


@case(*ROWS)
def types(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    return x.int(), x.to(torch.float64), (x > 0).float() + x.type_as(x)


@case(*ROWS)
def shapes(x: Tensor) -> Tensor:
    y = x.unsqueeze(0).expand(2, -1, -1).permute(1, 0, 2)
    return y.reshape(x.size(0), -1).flatten(0).view(-1, 2).squeeze(0).transpose(0, -1)


@case(*ROWS)
def reduced(x: Tensor) -> Tensor:
    values, at = x.max(dim=1)
    return values + at + x.sum(1) + x.mean(-1) - x.min(1).values + x.argmin(1) + x.std(1)


@case(*ROWS)
def sorted_top(x: Tensor) -> Tuple[Tensor, Tensor]:
    values, at = torch.topk(x, 2, dim=1)
    ordered, _ = torch.sort(x, dim=1, descending=True)
    return values + ordered[:, :2], at


@case((noise(2, 3, 4), noise(2, 4, 5)), (noise(4, 3, 4), noise(4, 4, 5)))
def products(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a, b) + a @ b + torch.einsum("bij,bjk->bik", a, b)


@case(*ROWS)
def functions(x: Tensor) -> Tensor:
    y = F.softmax(x, dim=-1) + F.log_softmax(x, -1) + F.gelu(x) + F.layer_norm(x, [4])
    return F.pad(y, [1, 1]) + F.leaky_relu(x, 0.1).sum()


@case((noise(2, 3, 8, 8), noise(4, 3, 3, 3)), (noise(1, 3, 5, 9), noise(4, 3, 3, 3)))
def images(x: Tensor, w: Tensor) -> Tensor:
    y = F.conv2d(x, w, padding=1)
    y = F.max_pool2d(y, 2) + F.avg_pool2d(y, 2)
    y = F.interpolate(y, scale_factor=2.0, mode="nearest")
    return F.adaptive_avg_pool2d(y, [1, 1]).flatten(1)


@case((noise(2, 3, 8, 8),), (noise(1, 3, 5, 9),))
def images_of_sizes(x: Tensor) -> Tensor:
    size = [x.size(2) * 2, x.size(3) // 2]
    return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


@case((torch.tensor([[1, 2], [0, 4]]), noise(5, 3)), (torch.tensor([[1, 2, 3]]), noise(5, 3)))
def embedded(ids: Tensor, table: Tensor) -> Tensor:
    return F.embedding(ids, table).sum(1) + F.one_hot(ids, 5).float().mean()


@case(*ROWS)
def where_chosen(x: Tensor) -> Tensor:
    y = torch.where(x > 0, x, x * 0.1)
    return y.masked_fill(x > 1, 9.0) + torch.clamp(x, min=0)


@case(*ROWS)
def cumulated(x: Tensor) -> Tensor:
    return torch.cumsum(x, 0) + torch.cumsum(x, dim=1) + torch.tril(x) + torch.flip(x, [1])


@case((grid(3), number(1)), (grid(5), number(3)))
def selected_by_tensor(x: Tensor, at: Tensor) -> Tensor:
    return x[at] + x.select(0, int(at))


@case(*ROWS)
def nonzero_rows(x: Tensor) -> Tensor:
    return torch.nonzero(x > 0).sum(0) + torch.nonzero(x > 0).size(0)


@case(*ROWS)
def any_all(x: Tensor) -> Tensor:
    return (x > 1).any(1) & ~(x > 0).all(1) | (x[:, 0] == 2)


@case((noise(2, 4, 8), noise(2, 6, 8)), (noise(1, 3, 8), noise(1, 9, 8)))
def attended(q: Tensor, k: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    return torch.softmax(scores, -1) @ k + F.scaled_dot_product_attention(q, k, k)


@case((noise(2, 4, 8), torch.tensor([4, 2])), (noise(3, 6, 8), torch.tensor([1, 6, 3])))
def length_mask(x: Tensor, lengths: Tensor) -> Tensor:
    mask = torch.arange(x.size(1))[None, :] < lengths[:, None]
    return (x * mask.unsqueeze(-1)).sum(1) / lengths.unsqueeze(1)


@case((noise(4, 4), noise(4)), (noise(6, 4), noise(4)))
def broadcast(x: Tensor, y: Tensor) -> Tensor:
    return x * y + y.unsqueeze(0) - x[:, :1] * y


@case(*ROWS)
def repeated(x: Tensor) -> Tensor:
    return x.repeat(2, 1) + x.repeat_interleave(2, dim=0)


@case(*ROWS)
def meshed(x: Tensor) -> Tensor:
    rows, columns = torch.meshgrid(torch.arange(x.size(0)), torch.arange(4), indexing="ij")
    return rows * columns + x


@case(*ROWS)
def norms(x: Tensor) -> Tensor:
    return x / x.norm(2, 1, keepdim=True) + F.normalize(x, dim=1) + torch.norm(x)


@case(*ROWS)
def scattered(x: Tensor) -> Tensor:
    at = torch.zeros(x.size(0), 1, dtype=torch.int64)
    return torch.zeros_like(x).scatter_(1, at, 1.0) + x.gather(1, at)


@case(*ROWS)
def stacked_shapes(x: Tensor) -> Tensor:
    return torch.stack([x, x * 2], dim=1).view(x.size(0), 2, -1).sum(1)
