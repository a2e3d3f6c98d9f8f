"""Operators of PyTorch: overloads, their schemas, kernels and decompositions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .probing import MissingError, Probe, has, lookup, patched


@cache
def overload_type() -> type:
    """The class of torch.ops.aten.relu.default."""
    kind: type = importlib.import_module("torch._ops").OpOverload
    return kind


@cache
def packet_type() -> type:
    """The class of torch.ops.aten.relu."""
    kind: type = importlib.import_module("torch._ops").OpOverloadPacket
    return kind


def is_overload(target: Any) -> bool:
    """Whether it is one overload of an operator."""
    return isinstance(target, overload_type())


def is_packet(target: Any) -> bool:
    """Whether it is an operator with all of its overloads."""
    return isinstance(target, packet_type())


def schema_of(target: Any) -> Any:
    """The schema of an overload; None of what has none, as functions of Python."""
    return getattr(target, "_schema", None)


def packet_name(packet: Any) -> str:
    """ "aten::relu" of torch.ops.aten.relu."""
    return str(packet._qualified_op_name)


def overload_of_custom_op(definition: Any) -> Any:
    """The overload behind what torch.library.custom_op returns; None of anything else."""
    found = getattr(definition, "_opoverload", None)
    return found if is_overload(found) else None


def is_composite(overload: Any) -> bool:
    """Whether PyTorch computes the operator by others, whether or not it takes gradients."""
    import torch

    return torch._C._dispatch_has_kernel_for_dispatch_key(
        overload.name(), "CompositeImplicitAutograd"
    )


@cache
def dropout_gives_its_input() -> bool:
    """Whether torch.export takes what dropout gives without training for the tensor itself, as it
    is; older releases take it for a copy."""
    import torch

    fake_mode = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
    dispatcher = importlib.import_module("torch._dispatch.python").enable_python_dispatcher
    with fake_mode(), dispatcher():
        given = torch.empty(1)
        return torch.ops.aten.dropout.default(given, 0.5, False) is given


def _find_kernels() -> None:
    import torch

    overload = torch.ops.aten.lstm.input
    for needed in ("py_kernels", "_dispatch_cache"):
        if not hasattr(overload, needed):
            raise MissingError(f"overloads of this PyTorch have no {needed}")
    lookup("torch._subclasses.fake_tensor", "FakeTensor")
    lookup("torch._subclasses.functional_tensor", "FunctionalTensor")
    kernel_keys()


WHOLE_RECURRENCES = Probe("recurrent layers as one operator each", _find_kernels)


def forget_dispatch(overload: Any) -> None:
    """Drops which of its kernels an operator was found to use."""
    overload._dispatch_cache.clear()


def kernel_keys() -> tuple[Any, ...]:
    """Where an overload's `py_kernels` has kernels that stand for it in captured programs; the
    table is full from now on."""
    importlib.import_module("torch._decomp.decompositions")
    keys = importlib.import_module("torch._C").DispatchKey
    return (keys.CompositeImplicitAutograd, keys.Autograd, keys.Meta)


def decompositions() -> dict[Any, Any]:
    """PyTorch's decompositions, by overload."""
    table: dict[Any, Any] = importlib.import_module("torch._decomp").decomposition_table
    return table


def quantized_decomposed() -> Any:
    """The namespace of operators that quantize and dequantize, whose module defines them when it is
    imported."""
    import torch

    importlib.import_module("torch.ao.quantization.fx._decomposed")
    return torch.ops.quantized_decomposed


# Writes the asked index down as an operator, where torch.vmap holds it.
_INDEXING = "torch._dynamo._trace_wrapped_higher_order_op"
INDICES = Probe("reading at indices that torch.vmap holds", has(_INDEXING, "mod_index"))


def indices_as_operators() -> Any:
    """A mode within which `x[i]` with a tensor `i` is an operator."""
    return importlib.import_module(_INDEXING).TransformGetItemToIndex()


@contextmanager
def index_function(function: Callable[..., Any]) -> Iterator[None]:
    """Within it, that function stands for PyTorch's autograd.Function that reads at indices, where
    PyTorch has loaded it."""
    import sys

    module = sys.modules.get(_INDEXING)
    if module is None or not INDICES.available:
        yield
        return
    with patched(module, "mod_index", function):
        yield


# Compiles the bodies of torch.cond and others before it calls them. Where it is not there, these
# call torch.compile() themselves.
_COMPILES = ("torch._higher_order_ops.utils", "_hop_compile_and_call")


@contextmanager
def bodies_uncompiled() -> Iterator[None]:
    """Within it, PyTorch calls control flow's operators without compiling their bodies before. A
    compilation under a dispatch mode leaves TorchDynamo unable to compile torch.cond for the rest
    of the process."""
    module = importlib.import_module(_COMPILES[0])
    if not hasattr(module, _COMPILES[1]):

        def uncompiled(function: Any = None, **_: Any) -> Any:
            return (lambda decorated: decorated) if function is None else function

        with patched(importlib.import_module("torch"), "compile", uncompiled):
            yield
        return

    def called(function: Callable[..., Any], args: Any, kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))

    with patched(module, _COMPILES[1], called):
        yield


# Makes what pack_padded_sequence and its like return.
_PACKS = ("torch.nn.utils.rnn", "_packed_sequence_init")


@contextmanager
def watching_packed_sequences(on_packed: Callable[[], None]) -> Iterator[None]:
    """Within it, `on_packed` is called wherever sequences are packed. No mode: a run of torch.cond
    under a dispatch mode has TorchDynamo skip its frames for the rest of the process."""
    module = importlib.import_module(_PACKS[0])
    packs = getattr(module, _PACKS[1], None)
    if packs is None:
        yield
        return

    def packed(*args: Any, **kwargs: Any) -> Any:
        on_packed()
        return packs(*args, **kwargs)

    with patched(module, _PACKS[1], packed):
        yield


# Shapes of operators that torch.export cannot tell from their kernels.
_SHAPES = ("torch._subclasses.fake_impls", "op_implementations_dict")
SHAPES_OF_OTHERS = Probe("torch.linalg.lstsq", has(*_SHAPES))


@contextmanager
def shape_function(overload: Any, function: Callable[..., Any]) -> Iterator[None]:
    """Within it, `function(mode, overload, *args)` says what an operator gives of fake tensors that
    PyTorch has nothing for."""
    if not SHAPES_OF_OTHERS.available:
        yield
        return
    module, name = _SHAPES
    known: dict[Any, Any] = getattr(importlib.import_module(module), name)
    if overload in known:
        yield
        return
    known[overload] = function
    try:
        yield
    finally:
        del known[overload]
