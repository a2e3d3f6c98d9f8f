"""Operators whose results depend on dynamic dimensions of their arguments."""

# Annotated with typing's List and Dict, as people write scripts.
# ruff: noqa: UP006, UP035
from typing import List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .table import ROWS, case, grid, noise

Several = List[Tensor]
IMAGES = ((noise(2, 3, 8, 8),), (noise(1, 3, 10, 12),))


@case(*ROWS)
def losses_of_numbers(x: Tensor) -> Several:
    y = x * 0.5 + 0.1
    return [
        functional.mse_loss(x, y),
        functional.l1_loss(x, y, reduction="sum"),
        functional.smooth_l1_loss(x, y, reduction="none"),
        functional.huber_loss(x, y, delta=0.5),
    ]


@case(*ROWS)
def losses_of_classes(x: Tensor) -> Several:
    classes, shares = torch.argmax(x, 1), torch.softmax(x, 1)
    logarithms = torch.log_softmax(x, 1)
    return [
        functional.cross_entropy(x, classes),
        functional.cross_entropy(x, shares, reduction="none"),
        functional.nll_loss(logarithms, classes, reduction="none"),
        functional.kl_div(logarithms, shares, reduction="batchmean"),
    ]


@case(*ROWS)
def losses_of_truths(x: Tensor) -> Several:
    y = (x > 0).float()
    return [
        functional.binary_cross_entropy_with_logits(x, y),
        functional.binary_cross_entropy(torch.sigmoid(x), y, reduction="none"),
        functional.soft_margin_loss(x, y * 2 - 1),
        functional.hinge_embedding_loss(x, y * 2 - 1),
        functional.poisson_nll_loss(x, y),
    ]


@case(*ROWS)
def losses_of_pairs(x: Tensor) -> Several:
    ones = torch.ones(x.size(0))
    return [
        functional.triplet_margin_loss(x, x + 1, x * 2),
        functional.cosine_embedding_loss(x, x + 1, ones),
        functional.margin_ranking_loss(x[:, 0], x[:, 1], ones, margin=0.5),
    ]


@case(*ROWS)
def likeness(x: Tensor) -> Several:
    return [
        functional.cosine_similarity(x, x + 1, 1),
        functional.cosine_similarity(x[:, None], x[None], dim=-1),
        functional.pairwise_distance(x, x * 2),
        functional.normalize(x, dim=1),
    ]


@case(*ROWS)
def products_of_kinds(x: Tensor) -> Several:
    return [
        torch.inner(x, x),
        torch.kron(x, torch.ones(2, 2)),
        torch.tensordot(x, x.t(), [[1], [0]]),
        torch.linalg.cross(x[:, :3], x[:, 1:]),
        torch.linalg.multi_dot([x, x.t(), x]),
        torch.addmv(x[:, 0], x, x[0]),
        torch.addr(x, x[:, 0], x[0]),
    ]


@case(*ROWS)
def matrices_apart(x: Tensor) -> Several:
    s = x.t() @ x + torch.eye(4)
    sign, logarithm = torch.linalg.slogdet(s)
    return [
        torch.linalg.inv(s),
        torch.det(s),
        sign,
        logarithm,
        torch.linalg.cholesky(s),
        torch.linalg.solve(s, x.t()),
        torch.linalg.matrix_power(s, 2),
        torch.trace(s),
    ]


@case(*ROWS)
def diagonals(x: Tensor) -> Several:
    return [
        torch.diag(x[:, 0]),
        torch.diag(x, 1),
        torch.diag_embed(x),
        torch.diagflat(x[0], -1),
        torch.tril_indices(4, 3, -1),
        torch.triu_indices(3, 4, 1),
    ]


@case(*ROWS)
def order_statistics(x: Tensor) -> Several:
    least, greatest = torch.aminmax(x, dim=1)
    return [
        torch.quantile(x, 0.3, dim=1),
        torch.quantile(x, torch.tensor([0.1, 0.9]), dim=0, keepdim=True),
        x.kthvalue(2, 1)[0],
        least,
        greatest,
        torch.msort(x),
        torch.histc(x.flatten(), bins=4, min=-2.0, max=2.0),
    ]


@case(*ROWS)
def taken_elements(x: Tensor) -> Several:
    return [
        torch.take(x, torch.tensor([0, 2])),
        torch.take_along_dim(x, x.argsort(1), 1),
        torch.isin((x * 2).long(), torch.tensor([1, 0])),
        torch.bincount((x.abs() * 3).long().flatten()),
    ]


@case(*ROWS)
def distinct_elements(x: Tensor) -> Several:
    y = (x * 2).long()
    values, places, counts = torch.unique(y, return_inverse=True, return_counts=True)
    return [torch.unique(y), values, places, counts, torch.unique_consecutive(y.flatten())]


@case(*ROWS)
def special_functions(x: Tensor) -> Several:
    return [
        torch.special.erfc(x),
        torch.special.log_ndtr(x),
        torch.logaddexp(x, x + 1),
        torch.special.i0(x),
        torch.special.logit(torch.sigmoid(x)),
        torch.polygamma(1, x.abs() + 1),
        torch.angle(x),
        torch.gcd((x * 4).long(), torch.tensor(6)),
    ]


@case((noise(4, 32),), (noise(2, 32),))
def spectra(x: Tensor) -> Several:
    half = torch.fft.rfft(x)
    return [
        half.abs(),
        torch.fft.irfft(half),
        torch.view_as_real(torch.fft.fft(x)),
        torch.fft.fftshift(x),
        torch.fft.rfftfreq(8),
    ]


@case((noise(2, 64),), (noise(3, 80),))
def spectra_in_time(x: Tensor) -> Tensor:
    window = torch.hann_window(16)
    return torch.view_as_real(torch.stft(x, 16, 4, window=window, return_complex=True))


@case(*ROWS)
def parts_and_wholes(x: Tensor) -> Several:
    parts = torch.tensor_split(x, 3, 1) + torch.tensor_split(x, [1, 3], dim=1) + torch.hsplit(x, 2)
    parts += [
        torch.column_stack([x, x[:, 0]]),
        torch.dstack([x, x]),
        torch.block_diag(x, x),
        torch.cartesian_prod(x[0], x[0]),
        torch.combinations(x[0], 3),
    ]
    return parts


@case(*ROWS)
def turned(x: Tensor) -> Several:
    return [torch.rot90(x), torch.rot90(x, 2, [0, 1]), torch.fliplr(x), torch.atleast_3d(x)]


@case(*ROWS)
def spaced_by_size(x: Tensor) -> Several:
    n = x.size(0)
    return [
        torch.linspace(0, 1, n),
        torch.linspace(-1.0, float(n), steps=n + 1),
        torch.logspace(0.0, 1.0, n),
        torch.range(0, 3),
    ]


@case(*ROWS)
def between_points(x: Tensor) -> Several:
    return [torch.trapezoid(x, dim=1), torch.cumulative_trapezoid(x, dim=1), torch.dist(x, x + 1)]


@case(*IMAGES)
def windows_as_columns(x: Tensor) -> Several:
    columns = functional.unfold(x[..., :8, :8], 2, stride=2)
    return [functional.unfold(x, 3, padding=1), functional.fold(columns, (8, 8), (2, 2), stride=2)]


@case((torch.tensor([[1, 2], [3, 4]]),), (torch.tensor([[1, 2], [3, 4], [0, 9]]),))
class Bags(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.EmbeddingBag(10, 3, mode="sum")

    def forward(self, x: Tensor) -> Tensor:
        return self.bags(x)


@case((grid(2),), (grid(3),))
def rolled(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    return x.roll(1, 0), torch.roll(x, [1, -1], [0, 1]), torch.roll(x, 1)


@case((5,), (0,), (1,), (2,), (8,))
def windows(length: int) -> Several:
    return [
        torch.hann_window(length),
        torch.hann_window(length, periodic=False),
        torch.hamming_window(length),
        torch.blackman_window(length, periodic=False),
        torch.bartlett_window(length, dtype=torch.float64).float(),
    ]


@case((noise(3), torch.tensor(-1)), (noise(3), torch.tensor(3)))
def expanded_to_a_size_of_data(x: Tensor, size: Tensor) -> Tensor:
    return x.expand(size)


@case((noise(1, 3), 2, -1), (noise(1, 3), 4, 3), (noise(1, 3), -1, -1))
def expanded_to_sizes_of_a_run(x: Tensor, rows: int, columns: int) -> Tensor:
    return x.expand(rows, columns)
