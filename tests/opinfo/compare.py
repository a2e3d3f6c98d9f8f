"""When an answer counts as eager PyTorch's."""

from __future__ import annotations

import torch

from sardonyx._compare.tolerances import Tolerance, of_operator


def real_dtype(dtype: torch.dtype) -> torch.dtype:
    return {
        torch.complex64: torch.float32,
        torch.complex128: torch.float64,
        torch.complex32: torch.float16,
    }.get(dtype, dtype)


def form_differs(actual: torch.Tensor, expected: torch.Tensor) -> str | None:
    """Dtype and shape; a complex result is a real one with a trailing dimension of two."""
    if actual.dtype != real_dtype(expected.dtype):
        return f"dtype {name(actual.dtype)} for {name(expected.dtype)}"
    shape = tuple(expected.shape) + ((2,) if expected.is_complex() else ())
    if tuple(actual.shape) != shape:
        return f"shape {tuple(actual.shape)} for {shape}"
    return None


def as_expected_type(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Undoes the real view of complex results, so that rules compare like with like."""
    # Not view_as_complex: it refuses the strides that NumPy gives empty arrays.
    return torch.complex(actual[..., 0], actual[..., 1]) if expected.is_complex() else actual


def values_differ(
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance | None = None,
    scaled: bool = False,
) -> str | None:
    """NaN equals NaN and infinities must agree. `scaled`: absolute errors may grow with the
    largest value, as they do where products are summed."""
    limits = of_operator(expected.dtype) if tolerance is None else tolerance
    if expected.is_floating_point() and expected.element_size() == 1:  # torch compares none of them
        actual, expected = actual.float(), expected.float()
    if expected.numel() == 0 or torch.equal(actual, expected):
        return None
    if not (expected.is_floating_point() or expected.is_complex()):
        wrong = actual != expected
        return _describe(wrong, actual, expected) if wrong.any() else None
    if expected.is_complex():
        actual, expected = torch.view_as_real(actual), torch.view_as_real(expected)
    a, e = actual.to(torch.float64), expected.to(torch.float64)
    finite = e.abs()[e.isfinite()]
    scale = max(1.0, float(finite.max())) if scaled and finite.numel() else 1.0
    close = torch.isclose(a, e, rtol=limits.relative, atol=limits.absolute * scale, equal_nan=True)
    return None if close.all() else _describe(~close, actual, expected)


def name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _describe(wrong: torch.Tensor, actual: torch.Tensor, expected: torch.Tensor) -> str:
    where = tuple(int(i) for i in wrong.nonzero()[0])
    count = int(wrong.sum())
    got, want = actual[where].item(), expected[where].item()
    return f"values: {count} of {wrong.numel()} differ, at {where} {got!r} for {want!r}"
