"""Whether an export is going on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_exporting = 0


def is_in_onnx_export() -> bool:
    """Whether the code that asks runs while a model is captured for export.

    PyTorch's own `torch.onnx.is_in_onnx_export()` says the same during our capture.
    """
    return _exporting > 0


@contextmanager
def exporting() -> Iterator[None]:
    """Within it, `is_in_onnx_export()` is true."""
    global _exporting  # noqa: PLW0603 (that is what the module is for)
    _exporting += 1
    try:
        yield
    finally:
        _exporting -= 1
