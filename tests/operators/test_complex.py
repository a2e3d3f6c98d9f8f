"""Complex tensors and Fourier transforms."""

# A row reads as a program: the lambda stays though the function could be named alone.
# ruff: noqa: PLW0108

from __future__ import annotations

import torch

from tests.operators.check import Case, check, table
from tests.operators.inputs import complexes, floats, ints, of
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
    (lambda z: z.abs(), Z),
    (lambda z: z.angle(), Z),
    (lambda z: z.conj(), Z),
    (lambda z: z.conj() * z, Z),
    (lambda z: z.real, Z),
    (lambda z: z.imag, Z),
    (lambda z: z.real + z.imag, Z),
    (lambda z: torch.view_as_real(z), Z),
    (lambda x: torch.view_as_complex(x), floats(3, 2)),
    (lambda x, y: torch.complex(x, y), floats(3), floats(3, seed=9)),
    (lambda x, y: torch.polar(x, y), floats(3).abs(), floats(3, seed=9)),
    (lambda z: z.sgn(), of(0j, 3 + 4j, -2j)),
    (lambda z: z.exp(), Z),
    (lambda z: z.log(), Z),
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
    (lambda z, w: z @ w.mT, Z, W),
    (lambda z, x: z @ x.to(z.dtype), Z, floats(4, 2)),
    (lambda z: torch.zeros_like(z), Z),
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
