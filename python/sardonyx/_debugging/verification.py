"""Compares models with PyTorch, as a whole or value by value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._compare.differences import VerificationInfo, compared
from sardonyx._compare.options import OnnxBackend, VerificationOptions
from sardonyx._export.export import export
from sardonyx._model.inputs import values_in
from sardonyx._runtime.options import ONNXRuntimeOptions

from .intermediates import compare_intermediate_values

if TYPE_CHECKING:
    import torch

    from sardonyx._model.program import ONNXProgram


def verify_onnx_program(
    onnx_program: ONNXProgram,
    args: tuple[Any, ...] | None = None,
    kwargs: dict[str, Any] | None = None,
    compare_intermediates: bool = False,
) -> list[VerificationInfo]:
    """Compares what a program gives in ONNX Runtime with its ExportedProgram in eager PyTorch.

    On the example inputs of the ExportedProgram when none are given. With `compare_intermediates`
    every value is compared, in the order of computing, outputs too: both sides run side by side, a
    few dozen nodes at a time, and only values that are still needed are held. What the optimized
    model has fused away is compared in a translation that is not optimized. The list is a
    Comparison then, which tells how many of how many values were compared, the first that differs,
    and ties.

    Raises ValueError for a program without an ExportedProgram or without inputs.
    """
    captured = onnx_program.captured
    if captured is None:
        raise ValueError(
            "The ONNX program does not contain an exported_program. "
            "Please provide an exported_program to verify the ONNX program."
        )
    if args is None and kwargs is None:
        if captured.example_inputs is None:
            raise ValueError(
                "No example inputs provided and the exported_program does not contain example "
                "inputs. Please provide arguments to verify the ONNX program."
            )
        args, kwargs = captured.example_inputs
    args, kwargs = args or (), kwargs or {}
    if compare_intermediates:
        return compare_intermediate_values(onnx_program, args, kwargs)
    pairs = _outputs(onnx_program, args, kwargs)
    return [found.info() for found in [compared(*pair) for pair in pairs]]


def _outputs(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    got = program(*args, **kwargs)
    yield from zip(program.output_names, eager_outputs(program, args, kwargs), got, strict=False)


def eager_outputs(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """What the captured program gives in eager PyTorch, flat, without None.

    TorchScript is run as it is: its loops and branches need not be ones that torch.export takes.
    """
    import copy

    import torch

    runnable = program.captured
    if not hasattr(runnable, "module"):
        runnable = program.exported_program
    with torch.no_grad():
        results = runnable.module()(*copy.deepcopy(args), **copy.deepcopy(dict(kwargs)))
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
    options = options or VerificationOptions()
    options.check()
    args = input_args if isinstance(input_args, (tuple, list)) else (input_args,)
    program = export(
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
            if (text := options.difference(actual, expected)) is not None:
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

    from sardonyx._torch_private import pytree

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
        from sardonyx._torch_private import pytree

        leaves = pytree.tree_leaves((args, dict(kwargs)))
        args, kwargs = tuple(leaves[i] for i in options.remained_onnx_input_idx), {}
    if options.backend is OnnxBackend.REFERENCE:
        return program.call_reference(*args, **kwargs)
    providers = [options.backend.value]
    return program(*args, **kwargs, options=ONNXRuntimeOptions(execution_providers=providers))
