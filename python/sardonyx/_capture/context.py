"""What holds while a program is captured, whatever captures it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sardonyx._base.state import exporting, one_capture_at_a_time
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private import sizes as torch_sizes
from sardonyx._torch_private.builtin_functions import typed_as_in_python
from sardonyx._torch_private.sympy_caches import larger_sympy_caches

from .meta_tracer.symbolic.interning import parts_remembered, relations_remembered
from .patches.bits import bits_of_sizes
from .patches.distributions import unvalidated_distributions
from .patches.generators import generators_left_out
from .patches.keywords import keywords_as_parameters
from .patches.quotients import divmod_of_sizes
from .patches.recurrences import whole_recurrences
from .patches.recurrent import whole_recurrent_operators
from .patches.spacing import linspace_of_sizes
from .patches.spectra import istft_of_sizes
from .patches.tensor_indices import plain_indices
from .shapes.missing_shapes import shapes_of_fake_quantization, shapes_of_least_squares
from .shapes.shape_tensors import shapes_as_tensors

if TYPE_CHECKING:
    import torch


@contextmanager
def capturing(model: torch.nn.Module | None = None, keywords: Iterable[str] = ()) -> Iterator[None]:
    """What holds while a model is captured with arguments by these keywords, and is put back
    afterwards."""
    with (
        one_capture_at_a_time(),
        exporting(),
        keywords_as_parameters(model, keywords),
        torch_export.torch_sees_onnx_export(),
        torch_export.quiet_capture(),
        typed_as_in_python(),
        whole_recurrences(model),
        whole_recurrent_operators(),
        shapes_of_least_squares(),
        shapes_of_fake_quantization(),
        shapes_as_tensors(),
        unvalidated_distributions(),
        plain_indices(),
        _arithmetic_of_sizes(),
        linspace_of_sizes(),
        istft_of_sizes(),
        generators_left_out(),
    ):
        yield


@contextmanager
def _arithmetic_of_sizes() -> Iterator[None]:
    with (
        divmod_of_sizes(),
        bits_of_sizes(),
        torch_sizes.negative_divisors_rounded(),
        torch_sizes.floors_left_as_they_are(),
        larger_sympy_caches(),
        relations_remembered(),
        parts_remembered(),
    ):
        yield
