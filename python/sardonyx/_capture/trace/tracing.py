"""Models that torch.export does not capture, by what torch.jit.trace saw of them."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from sardonyx._capture.guards.data_dependence import telling_of_elements
from sardonyx._capture.guards.specializations import Specializations
from sardonyx._capture.patches.restoration import module_kept
from sardonyx._capture.patches.spacing import own_linspace
from sardonyx._capture.patches.spectra import own_istft
from sardonyx._capture.shapes.dim_spec import Leaf, in_call_order, sources_of
from sardonyx._capture.shapes.dynamic_shapes import bound_inputs
from sardonyx._capture.source_location import Place
from sardonyx._capture.strategies.buffers import buffers_put_back
from sardonyx._capture.torchscript.modules import as_module
from sardonyx._capture.torchscript.program import Example, ScriptProgram, Source, traced_program
from sardonyx._capture.torchscript.scripted import decided_by_data
from sardonyx._torch_private import pytree, torchscript

from .indices import telling_of_indices
from .layouts import telling_of_strides
from .no_trace import checks_of_sizes
from .operator_calls import numbers_kept_in_operators
from .script_calls import numbers_kept_in_calls
from .trace_int_lists import numbers_kept_in_lists

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def traced(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    specializations: Specializations,
) -> torch.nn.Module:
    """A module of the operators that the example runs through, with the same parameters.

    Branches and loops of Python that depend on data are as the example took them; `specializations`
    gets their lines, and those of scripted functions, which stay what they are. Raises what
    torch.jit.trace raises.
    """
    bound = inspect.signature(model.forward).bind(*args, **kwargs)
    with torch.no_grad():
        with (
            _tracer_warnings(specializations),
            buffers_put_back(model),
            own_linspace(),
            own_istft(),
            numbers_kept_in_lists(specializations),
            checks_of_sizes(),
            numbers_kept_in_calls() as made,
            numbers_kept_in_operators(specializations, made),
        ):
            script = torch.jit.trace(model, bound.args, check_trace=False)
            object.__setattr__(script, _MADE, made)
        specializations.scripted += decided_by_data(script.inlined_graph)
        return as_module(script, bound.args, {})


def program_of_trace(
    model: torch.nn.Module,
    example: Example,
    specializations: Specializations,
    export: Callable[[], ExportedProgram],
) -> ScriptProgram:
    """What torch.jit.trace sees of the model, with sizes and scripted control flow kept.

    `specializations` gets the lines of Python whose branches and loops
    are as the example took them. Raises what torch.jit.trace raises, and ProgramError of what ONNX
    cannot say.
    """
    args, kwargs, leaves = example.args, example.kwargs, example.leaves
    values, spec = pytree.tree_flatten((args, dict(kwargs)))
    names = list(_names_of_leaves(model, args, kwargs))
    wanted = [*leaves, *(Leaf("", {}) for _ in values[len(leaves) :])]
    tensors = [
        (name, value, leaf)
        for name, value, leaf in zip(names, values, wanted, strict=True)
        if isinstance(value, torch.Tensor)
    ]

    def run(*given: torch.Tensor) -> Any:
        rest = iter(given)
        filled = [next(rest) if isinstance(v, torch.Tensor) else v for v in values]
        positional, keywords = pytree.tree_unflatten(filled, spec)
        results = [_as_tensor(r) for r in pytree.tree_leaves(model(*positional, **keywords))]
        found = tuple(r for r in results if r is not None)
        return found[0] if len(found) == 1 else found

    examples = tuple(tensor for _, tensor, _ in tensors)
    with (
        torch.no_grad(),
        _tracer_warnings(specializations),
        module_kept(model),
        buffers_put_back(model),
        _attached(model, run),
        own_linspace(),
        own_istft(),
        numbers_kept_in_lists(specializations),
        checks_of_sizes(),
        numbers_kept_in_calls() as made,
        numbers_kept_in_operators(specializations, made),
    ):
        script = torch.jit.trace_module(model, {_METHOD: examples}, check_trace=False)
        object.__setattr__(script, _MADE, made)
    return traced_program(Source(script, model, export, _METHOD), tensors, example)


_WORDS = re.compile(r"\w+")  # of a way to a leaf: "['state'][0]"
# The method that is traced, which calls the module as the user does.
_METHOD = "_sardonyx_traced"
# Functions that a trace calls and does not keep alive.
_MADE = "_sardonyx_made"


@contextmanager
def _attached(model: torch.nn.Module, method: Callable[..., Any]) -> Iterator[None]:
    object.__setattr__(model, _METHOD, partial(method))
    try:
        yield
    finally:
        object.__delattr__(model, _METHOD)


def _names_of_leaves(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[str]:
    """For each leaf of (args, kwargs), the parameter's name and the way to the leaf."""
    by_parameter: dict[str, list[str]] = {}
    for name, value in bound_inputs(model, args, kwargs).items():
        paths = [source.removeprefix(f"L['{name}']") for source in sources_of(name, value)]
        by_parameter[name] = [
            "_".join((name, *_WORDS.findall(path))) if path or len(paths) == 1 else f"{name}_{i}"
            for i, path in enumerate(paths)
        ]
    yield from in_call_order(model, args, kwargs, by_parameter)


def _as_tensor(result: Any) -> torch.Tensor | None:
    """What of a result a model has a value for."""
    if result is None or isinstance(result, str):
        return None
    return result if isinstance(result, torch.Tensor) else torch.tensor(result)


@contextmanager
def _tracer_warnings(specializations: Specializations) -> Iterator[None]:
    """Within it, `specializations` gets what PyTorch warns of as frozen by tracing, and what it
    should."""
    with (
        warnings.catch_warnings(record=True) as caught,
        telling_of_elements(specializations),
        telling_of_indices(specializations),
        telling_of_strides(specializations),
    ):
        warnings.simplefilter("always", torchscript.tracer_warning())
        yield
    for each in caught:
        if issubclass(each.category, torchscript.tracer_warning()):
            specializations.python.append(Place(each.filename, each.lineno))
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
