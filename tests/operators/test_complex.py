"""Complex tensors and Fourier transforms."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch

from tests.operators.check import Case, check, refused, table
from tests.operators.inputs import INF, NAN, complexes, floats, ints, of, specials
from tests.opinfo.rules import scaled

Z = complexes(3, 4)
W = complexes(3, 4, seed=9)


@table(
    (lambda z, w: z + w, Z, W),
    (lambda z, w: z - w, Z, W),
    (lambda z, w: z * w, Z, W),
    (lambda z, w: z / w, Z, W),
    (lambda z: z * 2, Z),
    (lambda z: z * (1 + 2j), Z),
    (lambda z: z + 1, Z),
    (lambda z: 1 / z, Z),
    (lambda z: -z, Z),
    (lambda z: z**2, Z),
    (lambda z: z**0.5, Z),
    (lambda z, x: z * x, Z, floats(4)),
    (lambda z, x: z + x, Z, ints(4)),
    (lambda z, w: z == w, Z, Z.clone()),
    (lambda z, w: z != w, Z, W),
    (lambda x: (x == 2 - 1j, x != 2 + 0j, x == 2 + 0j), ints(4).float()),
    (lambda z: z.abs(), Z),
    (lambda z: z.angle(), Z),
    (lambda z: z.conj(), Z),
    (lambda z: z.conj() * z, Z),
    (lambda z: torch.ops.aten._conj_copy(z), Z),
    (lambda z: z.real, Z),
    (lambda z: z.imag, Z),
    (lambda z: z.real + z.imag, Z),
    (lambda z: torch.view_as_real(z), Z),
    (lambda x: torch.view_as_complex(x), floats(3, 2)),
    (lambda x, y: torch.complex(x, y), floats(3), floats(3, seed=9)),
    (lambda x, y: torch.polar(x, y), floats(3).abs(), floats(3, seed=9)),
    (lambda z: z.sgn(), of(0j, 3 + 4j, -2j)),
    (lambda z: z.exp(), Z),
    (lambda z: z.exp(), of(-1000 + 2j, -1000 + 0j, 1000 + 0j)),
    (lambda z: z.log(), Z),
    # Exponentials overflow from 88 on; of numbers 700 apart eager gives NaN.
    (lambda z: torch.logcumsumexp(z, 1), Z * 100),
    (lambda z: z.logsumexp(1), Z),
    (lambda z: z.cumprod(1), Z),
    (lambda z: z.var(1), Z),
    (lambda z: torch.std_mean(z, 0), Z),
    (lambda z: z.acos() + z.asin() + z.atan(), Z),
    (lambda z: z.acosh() + z.asinh() + z.atanh(), Z),
    (lambda z: z.tan() + z.sinh() + z.cosh(), Z),
    (lambda z: torch.log1p(z) + torch.expm1(z), Z * 1e-3),
    (lambda z, w: z**w, Z, W),
    (lambda z: z.nonzero(), of(0j, 1j, 2 + 0j)),
    (lambda z: torch.where(z.real > 0, 2.0, z), complexes(3, 4)),
    (lambda z: torch.where(z.real > 0, z, 2j), complexes(3, 4)),
    (lambda z: z.scatter(0, of(1, 1, 0), z + 1, reduce="add"), complexes(3)),
    refused(
        "SX1301 products of complex numbers at an index",
        lambda z: z.scatter(0, of(1, 1, 0), z + 1, reduce="multiply"),
        complexes(3),
    ),
    (lambda z: torch.vander(z), complexes(4)),
    (lambda z: torch.vander(z, 3, increasing=True), complexes(4)),
    (lambda z: torch.linalg.vander(z, N=4), complexes(2, 3)),
    (lambda z: z.to(torch.bool), of(0j, 1j, 2 + 0j)),
    (lambda z: z.view(torch.float32), Z),
    (lambda z: z.roll(1, 0).tril(), Z),
    (lambda z: z.repeat(2, 1).diagonal(), Z),
    (lambda z, w: torch.einsum("ij,kj->ik", z, w), Z, W),
    (lambda z, w, x: torch.addmm(x, z, w.mT, beta=2, alpha=1j), Z, W, complexes(3, 3)),
    (lambda z, w: torch.vdot(z[0], w[0]), Z, W),
    (lambda z: torch.nn.functional.pad(z, (1, 2), value=3), Z),
    (lambda z: z.masked_fill(z.real > 0, 1j), Z),
    (lambda z: z.index_select(1, torch.tensor([2, 0])), Z),
    (lambda z, w: torch.nn.functional.conv1d(z[None], w[:, None, :2].repeat(1, 3, 1)), Z, W),
    (lambda z: z.sqrt(), Z),
    (lambda z: z.sin(), Z),
    (lambda z: z.cos(), Z),
    (lambda z: z.tanh(), Z),
    (lambda z: z.sigmoid(), Z),
    (lambda z: z.reciprocal(), Z),
    (lambda z: z.square(), Z),
    (lambda z: z.sum(), Z),
    (lambda z: z.sum(-1), Z),
    (lambda z: z.mean(0), Z),
    (lambda z: z.nan_to_num(1.0), torch.complex(specials(), specials().flip(0))),
    (lambda z: z.reciprocal(), torch.complex(of(INF, 2, -INF, NAN), of(2, -INF, INF, INF))),
    (lambda z: 1 / z, torch.complex(of(INF, 2.0, 1e30, NAN), of(0, -INF, -1e30, 1))),
    (lambda z: torch.randn_like(z, dtype=torch.float64) * 0, Z),
    (lambda z: z.prod(1), Z),
    (lambda z: z.cumsum(1), Z),
    (lambda z: z.reshape(-1), Z),
    (lambda z: z.t(), Z),
    (lambda z: z[1:, ::2], Z),
    (lambda z: z[..., None], Z),
    (lambda z: z.flip(-1), Z),
    (lambda z: z.mH, Z),
    (lambda z: z.expand(2, 3, 4), Z),
    (lambda z, w: torch.cat([z, w], -1), Z, W),
    (lambda z, w: torch.stack([z, w], -1), Z, W),
    (lambda z, w: torch.where(z.real > 0, z, w), Z, W),
    (lambda z: torch.where(z.real > 0, z, 2.0), Z),
    (lambda z: torch.where(z.real > 0, 3 - 2j, z), Z),
    (lambda z: torch.where(z.real > 0, 1 + 0j, 0j), Z),
    (lambda z, w: z @ w.mT, Z, W),
    (lambda z, x: z @ x.to(z.dtype), Z, floats(4, 2)),
    (lambda z: torch.zeros_like(z), Z),
    # Half of the variance, which is 1, is each part's.
    (lambda z: torch.randn_like(z.repeat(99, 9)).abs().square().mean().round(), Z),
    (lambda z: torch.randn(4096, dtype=z.dtype).imag.square().mean().mul(4).round() + z, Z),
    (lambda z: torch.randn_like(z.repeat(99, 9), dtype=torch.float32).square().mean().round(), Z),
    (lambda z: torch.full_like(z, 1 + 2j), Z),
    (lambda z: z.to(torch.complex128), Z),
    (lambda x: x.to(torch.complex64), floats(3)),
    (lambda x: x.to(torch.complex64) * 1j, ints(3)),
    (lambda z: torch.isnan(z), of(complex("nan"), 1 + 1j)),
    (lambda z: torch.isfinite(z), of(complex("inf"), 1 + 1j)),
    (lambda z: z.clone().mul_(2j), Z),
    (lambda z: torch.linalg.vector_norm(z, dim=1), Z),
    (
        lambda q, f: torch.view_as_real(torch.view_as_complex(q.reshape(2, 3, 2, 2)) * f).flatten(
            2
        ),
        floats(2, 3, 4),
        complexes(3, 2),
    ),
    (lambda x: torch.fft.fft(x), floats(3, 8)),
    (lambda x: torch.fft.fft(x), Z),
    (lambda x: torch.fft.fft(x, n=6), floats(3, 8)),
    (lambda x: torch.fft.fft(x, n=10, dim=0), floats(3, 8)),
    (lambda x: torch.fft.fft(x, norm="ortho"), floats(3, 7)),
    (lambda x: torch.fft.ifft(x), Z),
    (lambda x: torch.fft.ifft(x, norm="forward"), Z),
    (lambda x: torch.fft.rfft(x), floats(3, 8)),
    (lambda x: torch.fft.rfft(x), floats(3, 7)),
    (lambda x: torch.fft.rfft(x, n=5, dim=0, norm="ortho"), floats(3, 8)),
    (lambda x: torch.fft.irfft(x), Z),
    (lambda x: torch.fft.irfft(x, n=7), Z),
    (lambda x: torch.fft.irfft(torch.fft.rfft(x), n=x.shape[-1]), floats(3, 9)),
    (lambda x: torch.fft.hfft(x), Z),
    (lambda x: torch.fft.ihfft(x), floats(3, 8)),
    (lambda x: torch.fft.fft2(x), floats(2, 3, 4)),
    (lambda x: torch.fft.ifft2(x), complexes(2, 3, 4)),
    (lambda x: torch.fft.rfft2(x), floats(2, 3, 4)),
    (lambda x: torch.fft.irfft2(x, s=(3, 5)), complexes(2, 3, 3)),
    (lambda x: torch.fft.fftn(x, dim=(0, 2)), floats(2, 3, 4)),
    (lambda x: torch.fft.rfftn(x), floats(2, 3, 4)),
    (lambda x: torch.fft.fftshift(x), floats(4, 5)),
    (lambda x: torch.fft.ifftshift(x, dim=1), floats(4, 5)),
    (lambda x: torch.fft.fftfreq(5) * x[0], floats(3)),
    (lambda x: torch.fft.rfftfreq(6, 0.5) * x[0], floats(3)),
    (lambda x: torch.stft(x, 8, 4, return_complex=True), floats(2, 32)),
    (lambda x: torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True), floats(32)),
    (
        lambda x: torch.stft(
            x,
            8,
            3,
            window=torch.hann_window(6),
            win_length=6,
            center=False,
            normalized=True,
            return_complex=True,
        ),
        floats(2, 32),
    ),
    (
        lambda x: torch.stft(x, 8, 4, onesided=False, pad_mode="constant", return_complex=True),
        floats(2, 32),
    ),
    (
        lambda x: torch.istft(
            torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True),
            8,
            4,
            window=torch.hann_window(8),
        ),
        floats(2, 32),
    ),
)
def test_complex(case: Case) -> None:
    check(case, scaled)


ENDS = of(-INF, -100.0, -1.5, -0.0, 0.0, 1.5, 100.0, INF, NAN)


def plane(x: torch.Tensor) -> torch.Tensor:
    """All complex numbers with these parts."""
    return torch.complex(x[:, None].expand(-1, x.numel()), x.expand(x.numel(), -1))


@table(
    (lambda x: torch.view_as_real(plane(x).acos()), ENDS),
    (lambda x: torch.view_as_real(plane(x).acosh()), ENDS),
    (lambda x: torch.view_as_real(plane(x).asin()), ENDS),
    (lambda x: torch.view_as_real(plane(x).asinh()), ENDS),
    (lambda x: torch.view_as_real(plane(x).atan()), ENDS),
    (lambda x: torch.view_as_real(plane(x).atanh()), ENDS),
    (lambda x: torch.view_as_real(plane(x).cos()), ENDS),
    (lambda x: torch.view_as_real(plane(x).cosh()), ENDS),
    (lambda x: torch.view_as_real(plane(x).exp()), ENDS),
    (lambda x: torch.view_as_real(plane(x).expm1()), ENDS),
    (lambda x: torch.view_as_real(plane(x).log()), ENDS),
    (lambda x: torch.view_as_real(plane(x).log1p()), ENDS),
    (lambda x: torch.view_as_real(plane(x).reciprocal()), ENDS),
    (lambda x: torch.view_as_real(plane(x).rsqrt()), ENDS),
    (lambda x: torch.view_as_real(plane(x).sigmoid()), ENDS),
    (lambda x: torch.view_as_real(plane(x).sin()), ENDS),
    (lambda x: torch.view_as_real(plane(x).sinh()), ENDS),
    (lambda x: torch.view_as_real(plane(x).sqrt()), ENDS),
    (lambda x: torch.view_as_real(plane(x).tan()), ENDS),
    (lambda x: torch.view_as_real(plane(x).tanh()), ENDS),
    (lambda z: torch.view_as_real(z.sqrt()), of(3e38 + 0j, -3e38 + 1e38j, 2e-38 - 1e-38j)),
)
def test_complex_to_the_ends(case: Case) -> None:
    check(case, scaled)
