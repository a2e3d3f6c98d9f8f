"""Programs that each release saves: over the language, and operators that came and changed.

Run by releases since 1.13 on Python 3.9 and without NumPy, so in the forms that these know.
"""

# ruff: noqa: UP006, UP035, UP045
import math
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Mode(Enum):
    ADD = 1
    MULTIPLY = 2


class Point(NamedTuple):
    left: Tensor
    right: Tensor


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(self.layers(x), dim=-1)


class Division(nn.Module):
    def forward(self, x: Tensor, k: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        whole = torch.div(x, 0.7, rounding_mode="floor")
        return x / 3, k / 2, whole, torch.div(k, 2, rounding_mode="trunc"), k // 2 + k % 3


class Made(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        n = x.size(0)
        full = torch.full((n, 2), 1.5) + torch.full((2,), 2)
        return (
            full,
            torch.linspace(0.0, 1.0, steps=5) * n,
            torch.logspace(0.0, 1.0, steps=4),
            torch.arange(n) + torch.ones(n, dtype=torch.long),
            torch.eye(3) + torch.zeros(3, 3) + torch.full_like(x[:1, :3], 2),
        )


class Activations(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gelu, self.tanh = nn.GELU(), nn.GELU(approximate="tanh")
        self.each = nn.ModuleList(
            [nn.ELU(), nn.CELU(), nn.SELU(), nn.Hardswish(), nn.SiLU(), nn.Mish(), nn.Softplus(),
             nn.PReLU(), nn.Hardtanh(), nn.LogSigmoid(), nn.Softsign(), nn.Hardsigmoid(),
             nn.LeakyReLU(), nn.ReLU6(), nn.Tanhshrink(), nn.Softshrink()]
        )  # fmt: skip

    def forward(self, x: Tensor) -> List[Tensor]:
        found = [self.gelu(x), self.tanh(x), F.glu(x)]
        for layer in self.each:
            found.append(layer(x))
        return found


class Parts(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        a, b = x.chunk(2, 1)
        first, second = torch.split(x, [1, 3], 1)
        rows = torch.unbind(b, 1)
        return a + b, first, second * 2, torch.stack(rows), torch.cat([a, rows[0].unsqueeze(1)], 1)


class Loops(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, int]:
        total, count = torch.zeros_like(x), 0
        for i in range(n):
            if i == 3:
                continue
            total = total + x * i
            if bool(total.sum() > 50):
                break
            count += 1
        while bool(total.abs().max() > 1):
            total = total / 2
        return total, count


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            if x.size(0) > 3:
                return x[:3]
            return x * 2
        y = x - 1
        if bool(y.mean() < -1) and not bool(y.max() > 0):
            y = -y
        return y if bool(y.min() < 0) else y + 1


class Containers(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        point = Point(x + 1, x * 2)
        found: Dict[str, Tensor] = {"a": point.left, "b": point.right}
        found["c"] = found["a"] * found["b"]
        total = torch.zeros_like(x)
        for name, value in found.items():
            total = total + value * (2 if name == "c" else 1)
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            rows.append(x[i] * i)
        rows.reverse()
        return total, torch.stack(rows), torch.cat([r.unsqueeze(0) for r in rows[1:]])


class Options(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale: Optional[float] = 2.5
        self.mode = Mode.MULTIPLY

    def forward(self, x: Tensor, y: Optional[Tensor] = None) -> Tensor:
        assert x.dim() == 2, "a matrix, not {} dimensions".format(x.dim())  # noqa: UP032
        if self.mode == Mode.MULTIPLY:
            x = x * 3
        if y is None:
            y = torch.ones_like(x)
        scale = self.scale
        if scale is not None:
            y = y * scale
        return x + y


class Numbers(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, int, float]:
        n, total = x.size(0), float(x.sum().item())
        k = (n << 2) ^ 5 | 8
        root = math.sqrt(n) + math.floor(2.7) + n / 3 + n // 3 + n % 3
        return x * k, x + total * 0.5, max(n, 3) - min(n, 2), root


class Indexing(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        y = x.clone()
        y[:, 0] = 7.0
        y[1:, 2:] += 1
        rows = torch.tensor([1, 0])
        z = x.index_put((rows, rows), torch.tensor([5.0, 6.0]))
        return y, x[x > 0], x[rows], x.gather(1, torch.zeros_like(x).long()), z[..., None, ::2]


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
            nn.MaxPool2d(3, 2, 1), nn.Conv2d(4, 4, 3, padding="same", groups=2), nn.Dropout(),
            nn.ConvTranspose2d(4, 2, 2, stride=2), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
            nn.Linear(8, 3),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True)
        self.gru, self.cell = nn.GRU(6, 2), nn.LSTMCell(2, 2)

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        y, (h, _) = self.lstm(x)
        z, _ = self.gru(y)
        last, _ = self.cell(z[-1])
        return z, h, last


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        rows = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        y, (h, _) = self.lstm(rows)
        padded, _ = nn.utils.rnn.pad_packed_sequence(y)
        return padded, h


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(x, self.layer(x))


class ManyHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.MultiheadAttention(8, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tuple[Tensor, Optional[Tensor]]:
        return self.heads(x, x, x, key_padding_mask=mask)


class Images(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        return [
            F.interpolate(x, scale_factor=2.0),
            F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False),
            F.interpolate(x, size=[5, 7], mode="bilinear", align_corners=True),
            F.interpolate(x, size=[5, 7], mode="bicubic", align_corners=False),
            F.pad(x, [1, 2, 0, 1]), F.pad(x, [1, 1, 0, 2], mode="replicate"),
            F.pad(x, [1, 1, 2, 1], mode="reflect"), F.pixel_shuffle(x, 2),
            F.avg_pool2d(x, 2, ceil_mode=True), F.grid_sample(
                x, F.affine_grid(torch.eye(2, 3).unsqueeze(0), [1, 4, 3, 3], align_corners=False),
                align_corners=False),
            F.unfold(x, 2), F.local_response_norm(x, 2),
        ]  # fmt: skip


class Tables(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.bags = nn.Embedding(10, 4), nn.EmbeddingBag(10, 3, mode="mean")

    def forward(self, k: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        return self.table(k), self.bags(k), F.one_hot(k, 10)


class Reductions(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        most, where = x.max(1)
        values, places = x.topk(2)
        ordered, order = x.sort(dim=0, descending=True)
        return [
            x.sum(), x.mean(1, keepdim=True), x.std(0), x.var(1, unbiased=False), x.norm(),
            torch.norm(x, dim=1), x.logsumexp(1), most, where, x.argmax(), values, places,
            ordered, order, x.cumsum(1), x.prod(1), x.amin(0), (x > 0).any(1), x.median(1)[0],
            torch.linalg.norm(x), torch.std_mean(x)[0], x.abs().max(),
        ]  # fmt: skip


class Products(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> List[Tensor]:
        batch = x.unsqueeze(0).expand(2, -1, -1)
        return [
            x @ y, torch.einsum("ij,jk->ki", [x, y]), torch.bmm(batch, torch.stack([y, y])),
            torch.addmm(torch.ones(1), x, y, alpha=2.0), torch.tensordot(x, y, [[1], [0]]),
            torch.outer(x[0], y[0]), x.t().mv(x[:, 0]), F.linear(x, y.t()), torch.cdist(x, y.t()),
        ]  # fmt: skip


class Elementwise(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        return [
            torch.where(x > 0, x, -x), x.clamp(-0.5, 0.5), x.masked_fill(x < 0, -1e9), x.tril(),
            torch.roll(x, 1, 1), x.flip(0), x.pow(2) + x.exp().log1p(), torch.erf(x), x.round(),
            x.sign() * x.abs().sqrt(), F.normalize(x), F.cosine_similarity(x, x.flip(1)),
            torch.lerp(x, x * 2, 0.3), torch.nan_to_num(x / 0.0), x.to(torch.int64).to(torch.half),
            torch.floor_divide(x, 0.4), torch.remainder(x, 0.4), torch.fmod(x, 0.4),
            x.addcmul(x, x, value=0.5), torch.maximum(x, x * 2), x.softmax(0, dtype=torch.float64),
        ]  # fmt: skip


class Norms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.group, self.instance = nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)
        self.layer, self.batch = nn.LayerNorm([5]), nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(self.batch(self.instance(self.group(x))))


class Losses(nn.Module):
    def forward(self, x: Tensor, k: Tensor) -> List[Tensor]:
        y = x.softmax(1)
        return [
            F.cross_entropy(x, k), F.cross_entropy(x, k, label_smoothing=0.1), F.mse_loss(x, y),
            F.nll_loss(F.log_softmax(x, 1), k), F.smooth_l1_loss(x, y), F.huber_loss(x, y),
            F.binary_cross_entropy_with_logits(x, y), F.kl_div(y.log(), y), F.l1_loss(x, y),
        ]  # fmt: skip


class Reshapes(nn.Module):
    def forward(self, x: Tensor) -> List[Tensor]:
        n, m = x.shape
        return [
            x.view(-1), x.reshape(m, n), x.permute(1, 0), x.transpose(0, 1).contiguous().view(m, n),
            x.unsqueeze(1).expand(n, 3, m), x.repeat(2, 1), x.flatten().unflatten(0, [n, m]),
            x.narrow(1, 1, 2), x.squeeze(), x.movedim(0, 1), x.repeat_interleave(2, 1),
            torch.meshgrid([x[0], x[:, 0]], indexing="ij")[0], torch.broadcast_to(x, [2, n, m]),
        ]  # fmt: skip


@torch.jit.script
def halved(x: Tensor) -> Tensor:
    while bool(x.abs().max() > 1):
        x = x / 2
    return x


class Traced(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        y = self.last(x).view(x.shape[0], 2, -1).transpose(1, 2)
        return halved(y * 4) + torch.arange(x.shape[0]).view(-1, 1, 1)


class Case(NamedTuple):
    module: nn.Module
    inputs: List[str]  # as the command line has them told
    runs: List[Tuple[object, ...]]
    traced: bool = False


def cases() -> Dict[str, Case]:
    """The programs by name. Weights and examples are the same at every call."""
    torch.manual_seed(0)
    matrix = "x:float32[n,4]"
    two = [(torch.randn(3, 4),), (torch.randn(6, 4) - 0.5,)]
    signs = [(torch.ones(2, 4),), (torch.ones(5, 4),), (torch.randn(2, 4) - 3,)]
    image, small = torch.randn(1, 3, 8, 8), torch.randn(1, 4, 6, 5)
    found = {
        "perceptron": Case(Perceptron(), [matrix], two),
        "division": Case(
            Division(),
            ["x:float32[n]", "k:int64[m]"],
            [(torch.randn(5), torch.arange(7)), (torch.randn(2), torch.arange(3))],
        ),
        "made": Case(Made(), [matrix], two),
        "activations": Case(Activations(), [matrix], two),
        "parts": Case(Parts(), [matrix], two),
        "loops": Case(Loops(), [matrix, "n:int"], [(*run, n) for run in two for n in (0, 2, 7)]),
        "branches": Case(Branches(), [matrix], signs),
        "containers": Case(Containers(), [matrix], two),
        "options": Case(Options(), [matrix, "y:None"], two),
        "numbers": Case(Numbers(), [matrix], two),
        "indexing": Case(Indexing(), [matrix], two),
        "convolutions": Case(
            Convolutions(), ["x:float32[n,3,h,w]"], [(image,), (torch.randn(2, 3, 5, 8),)]
        ),
        "recurrent": Case(
            Recurrent(), ["x:float32[n,t,4]"], [(torch.randn(2, 5, 4),), (torch.randn(1, 3, 4),)]
        ),
        "packed": Case(
            Packed(),
            ["x:float32[t,n,4]", "lengths:int64[n]"],
            [
                (torch.randn(5, 3, 4), torch.tensor([2, 5, 1])),
                (torch.randn(4, 2, 4), torch.tensor([4, 3])),
            ],
        ),
        "attention": Case(
            Attention(), ["x:float32[n,t,8]"], [(torch.randn(2, 5, 8),), (torch.randn(1, 3, 8),)]
        ),
        "many_heads": Case(
            ManyHeads(),
            ["x:float32[t,n,8]", "mask:bool[n,t]"],
            [(torch.randn(4, 2, 8), torch.tensor([[False] * 4, [False, False, True, True]]))],
        ),
        "images": Case(Images(), ["x:float32[1,4,6,5]"], [(small,)]),
        "tables": Case(
            Tables(), ["k:int64[n,3]"], [(torch.tensor([[1, 2, 9]]),), (torch.ones(4, 3).long(),)]
        ),
        "reductions": Case(Reductions(), [matrix], two),
        "products": Case(
            Products(),
            ["x:float32[n,4]", "y:float32[4,3]"],
            [(*run, torch.randn(4, 3)) for run in two],
        ),
        "elementwise": Case(Elementwise(), [matrix], two),
        "norms": Case(Norms(), ["x:float32[n,4,h,5]"], [(torch.randn(2, 4, 6, 5),), (small,)]),
        "losses": Case(
            Losses(),
            [matrix, "k:int64[n]"],
            [(torch.randn(3, 4), torch.tensor([0, 3, 1])), (torch.randn(1, 4), torch.tensor([2]))],
        ),
        "reshapes": Case(Reshapes(), [matrix], two),
        "traced": Case(Traced(), [matrix], two, traced=True),
        "traced_convolutions": Case(
            Convolutions(),
            ["x:float32[n,3,h,w]"],
            [(image,), (torch.randn(2, 3, 5, 8),)],
            traced=True,
        ),
        "traced_attention": Case(
            Attention(),
            ["x:float32[n,t,8]"],
            [(torch.randn(2, 5, 8),), (torch.randn(1, 3, 8),)],
            traced=True,
        ),
    }
    if hasattr(F, "scaled_dot_product_attention"):
        found["scaled_attention"] = Case(
            ScaledAttention(), ["q:float32[n,2,t,4]"], [(torch.randn(1, 2, 5, 4),)]
        )
    return found


class ScaledAttention(nn.Module):
    def forward(self, q: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, q * 2, q + 1, is_causal=True)
