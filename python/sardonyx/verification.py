"""Compares models with PyTorch: as a whole, value by value, and down to the part that is at fault.

infos = verify_onnx_program(program, compare_intermediates=True)
find_mismatch(model, args).pretty_print_tree()
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._graph_info import GraphInfo, find_mismatch
from ._inputs import values_in
from ._intermediates import compare_intermediate_values
from ._node_data import save_node_data_from_verification_info
from ._tolerances import Tolerances, not_close

if TYPE_CHECKING:
    import torch

    from ._program import ONNXProgram

__all__ = [
    "GraphInfo",
    "OnnxBackend",
    "VerificationInfo",
    "VerificationOptions",
    "find_mismatch",
    "save_node_data_from_verification_info",
    "verify",
    "verify_onnx_program",
]

_PIECE = 1 << 20  # elements that are compared at a time
_EDGES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1000000.0)


class OnnxBackend(enum.Enum):
    """What runs the ONNX model."""

    REFERENCE = "ONNXReferenceEvaluator"
    ONNX_RUNTIME_CPU = "CPUExecutionProvider"
    ONNX_RUNTIME_CUDA = "CUDAExecutionProvider"


@dataclasses.dataclass
class VerificationOptions:
    """How a model is compared with PyTorch.

    Attributes:
        flatten: unpack nested inputs into the model's flat ones; a converted model has no others.
        ignore_none: leave None out of PyTorch's outputs; False refuses models that return it.
        check_shape: whether shapes must be equal, not only broadcast to each other.
        check_dtype: whether element types must be equal.
        backend: what runs the model.
        rtol, atol: relative and absolute tolerance.
        remained_onnx_input_idx: the inputs that the model is given, where it has not all of them.
        acceptable_error_percentage: the share of elements, 0.0 to 1.0, that may differ.
    """

    flatten: bool = True
    ignore_none: bool = True
    check_shape: bool = True
    check_dtype: bool = True
    backend: OnnxBackend = OnnxBackend.ONNX_RUNTIME_CPU
    rtol: float = 1e-3
    atol: float = 1e-7
    remained_onnx_input_idx: Sequence[int] | None = None
    acceptable_error_percentage: float | None = None

    def tolerances(self) -> Tolerances:
        """What counts as equal."""
        share = self.acceptable_error_percentage
        if share is not None and not 0.0 <= share <= 1.0:
            raise ValueError("If set, acceptable_error_percentage should be between 0.0 and 1.0")
        return Tolerances(self.rtol, self.atol, self.check_shape, self.check_dtype, share or 0.0)


@dataclasses.dataclass
class VerificationInfo:
    """How far a value of the ONNX model is from PyTorch's.

    Attributes:
        name: of the value, an output of the model or an intermediate one.
        max_abs_diff, max_rel_diff: the largest differences; infinite where only one is finite.
        abs_diff_hist, rel_diff_hist: how many elements differ by how much: counts, and the edges of
            the bins.
        expected_dtype, actual_dtype: PyTorch's and the model's element type.
    """

    name: str
    max_abs_diff: float
    max_rel_diff: float
    abs_diff_hist: tuple[torch.Tensor, torch.Tensor]
    rel_diff_hist: tuple[torch.Tensor, torch.Tensor]
    expected_dtype: torch.dtype
    actual_dtype: torch.dtype

    @classmethod
    def from_tensors(
        cls,
        name: str,
        expected: torch.Tensor | float | bool,
        actual: torch.Tensor | float | bool,
    ) -> VerificationInfo:
        """Compares two tensors of one shape, or numbers. NaN equals NaN, and infinity itself."""
        return _compared(name, expected, actual).info()

    def asdict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "name": self.name,
            "max_abs_diff": self.max_abs_diff,
            "max_rel_diff": self.max_rel_diff,
            "abs_diff_hist": [part.tolist() for part in self.abs_diff_hist],
            "rel_diff_hist": [part.tolist() for part in self.rel_diff_hist],
            "expected_dtype": str(self.expected_dtype),
            "actual_dtype": str(self.actual_dtype),
        }


class _Largest:
    """The largest of many differences, and how many there are of which size.

    In Python's own memory: tensors that stay would lie scattered between the large ones that go,
    whose memory could not be used again.
    """

    def __init__(self) -> None:
        self.largest = 0.0
        self.counts = [0.0] * (len(_EDGES) - 1)

    def add(self, values: torch.Tensor) -> None:
        import torch

        if values.numel() == 0:
            return
        self.largest = max(self.largest, float(values.max()))
        within = values.clamp(max=_EDGES[-1]).float()
        found = torch.histogram(within, bins=torch.tensor(_EDGES)).hist.tolist()
        self.counts = [had + new for had, new in zip(self.counts, found, strict=True)]

    def histogram(self) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        return torch.tensor(self.counts), torch.tensor(_EDGES)


@dataclasses.dataclass
class _Comparison:
    name: str
    absolute: _Largest
    relative: _Largest
    expected_dtype: torch.dtype
    actual_dtype: torch.dtype

    def info(self) -> VerificationInfo:
        return VerificationInfo(
            self.name,
            self.absolute.largest,
            self.relative.largest,
            self.absolute.histogram(),
            self.relative.histogram(),
            self.expected_dtype,
            self.actual_dtype,
        )


def _compared(name: str, expected: Any, actual: Any) -> _Comparison:
    import torch

    want, got = torch.as_tensor(expected), torch.as_tensor(actual)
    absolute, relative = _Largest(), _Largest()
    # In pieces: differences are computed in float64, which would take many times the memory.
    pieces = (part.reshape(-1).split(_PIECE) for part in _alike(want, got))
    for wanted, given in zip(*pieces, strict=True):
        for kind, found in zip((absolute, relative), _differences(wanted, given), strict=True):
            kind.add(found)
    return _Comparison(name, absolute, relative, want.dtype, got.dtype)


def _alike(want: torch.Tensor, got: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both on the CPU and of one shape. ValueError where they are not of one."""
    import torch

    want = want.detach().resolve_conj().resolve_neg().cpu()
    got = got.detach().cpu()
    if want.is_complex() and not got.is_complex():
        want = torch.view_as_real(want)
    if want.shape != got.shape:
        raise ValueError(f"shapes {list(want.shape)} and {list(got.shape)} differ")
    return want, got


def _differences(want: torch.Tensor, got: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Absolute and relative ones."""
    import torch

    wide = torch.complex128 if want.is_complex() else torch.float64
    want, got = want.to(wide), got.to(wide)
    absolute = (want - got).abs()
    same = (want == got) | (want.isnan() & got.isnan())
    absolute = absolute.masked_fill(same, 0.0).nan_to_num(nan=float("inf"), posinf=float("inf"))
    relative = (absolute / (want.abs() + 1e-7)).nan_to_num(nan=float("inf"), posinf=float("inf"))
    return absolute, relative.masked_fill(same, 0.0)


def verify_onnx_program(
    onnx_program: ONNXProgram,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    compare_intermediates: bool = False,
) -> list[VerificationInfo]:
    """Compares what a program gives in ONNX Runtime with its ExportedProgram in eager PyTorch.

    On the example inputs of the ExportedProgram when none are given. With `compare_intermediates`
    every value that both have is compared, in the order of computing, outputs too: both sides run
    side by side, a few dozen nodes at a time, and only values that are still needed are held.

    Raises ValueError for a program without an ExportedProgram or without inputs.
    """
    exported = onnx_program.exported_program
    if exported is None:
        raise ValueError(
            "The ONNX program does not contain an exported_program. "
            "Please provide an exported_program to verify the ONNX program."
        )
    if args is None and kwargs is None:
        if exported.example_inputs is None:
            raise ValueError(
                "No example inputs provided and the exported_program does not contain example "
                "inputs. Please provide arguments to verify the ONNX program."
            )
        args, kwargs = exported.example_inputs
    args, kwargs = args or (), kwargs or {}
    if compare_intermediates:
        pairs = compare_intermediate_values(onnx_program, args, kwargs)
    else:
        pairs = _outputs(onnx_program, args, kwargs)
    return [found.info() for found in [_compared(*pair) for pair in pairs]]


def _outputs(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    got = program(*args, **kwargs)
    yield from zip(program.output_names, eager_outputs(program, args, kwargs), got, strict=False)


def eager_outputs(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """What the ExportedProgram gives in eager PyTorch, flat, without None."""
    import copy

    import torch

    assert program.exported_program is not None
    with torch.no_grad():
        results = program.exported_program.module()(
            *copy.deepcopy(args), **copy.deepcopy(dict(kwargs))
        )
    return values_in(results)


def verify(  # noqa: PLR0917 (as PyTorch has it)
    model: torch.nn.Module,
    input_args: torch.Tensor | tuple[Any, ...],
    input_kwargs: Mapping[str, Any] | None = None,
    do_constant_folding: bool = True,
    dynamic_axes: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    training: Any = None,
    opset_version: int | None = None,
    keep_initializers_as_inputs: bool = True,
    verbose: bool = False,
    fixed_batch_size: bool = False,
    use_external_data: bool = False,
    additional_test_inputs: Sequence[tuple[Any, ...]] | None = None,
    options: VerificationOptions | None = None,
) -> None:
    """Exports a model and compares it with PyTorch on the inputs and on additional ones.

    Raises AssertionError where the outputs differ by more than the options allow, ValueError for
    options that cannot be meant.
    """
    from . import _export

    options = options or VerificationOptions()
    tolerances = options.tolerances()
    args = input_args if isinstance(input_args, (tuple, list)) else (input_args,)
    program = _export.export(
        model,
        tuple(args),
        kwargs=input_kwargs,
        dynamic_axes=None if fixed_batch_size else dynamic_axes,
        input_names=input_names,
        output_names=output_names,
        opset_version=opset_version,
        do_constant_folding=do_constant_folding,
        training=training,
        verbose=verbose,
    )
    del keep_initializers_as_inputs, use_external_data  # how it would be saved; nothing is
    for inputs in (tuple(args), *(additional_test_inputs or ())):
        kwargs = dict(input_kwargs or {})
        want = eager_outputs_of(model, inputs, kwargs, options.ignore_none)
        got = _run(program, inputs, kwargs, options)
        if len(want) != len(got):
            raise AssertionError(f"PyTorch has {len(want)} outputs, the model {len(got)}")
        for name, expected, actual in zip(program.output_names, want, got, strict=True):
            if (text := not_close(actual, expected, tolerances)) is not None:
                raise AssertionError(f"output '{name}': {text}")


def eager_outputs_of(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    ignore_none: bool = True,
) -> list[Any]:
    """A module's outputs, flat; the module's buffers are put back to what they were."""
    import copy

    import torch
    from torch.utils import _pytree as pytree

    kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with torch.no_grad():
        results = model(*copy.deepcopy(args), **copy.deepcopy(dict(kwargs)))
        for name, buffer in model.named_buffers():
            if name in kept:
                buffer.copy_(kept[name])
    if not ignore_none and any(leaf is None for leaf in pytree.tree_leaves(results)):
        raise AssertionError("PyTorch returns None, which an ONNX model has no value for")
    return values_in(results)


def _run(
    program: ONNXProgram,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    options: VerificationOptions,
) -> Sequence[Any]:
    if options.remained_onnx_input_idx is not None:
        from torch.utils import _pytree as pytree

        leaves = pytree.tree_leaves((args, dict(kwargs)))
        args, kwargs = tuple(leaves[i] for i in options.remained_onnx_input_idx), {}
    if options.backend is OnnxBackend.REFERENCE:
        return program.call_reference(*args, **kwargs)
    from ._runtime_options import ONNXRuntimeOptions

    providers = [options.backend.value]
    return program(*args, **kwargs, options=ONNXRuntimeOptions(execution_providers=providers))
