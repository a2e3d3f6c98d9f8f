"""PyTorch's ShapesSpec, which says what sizes are dynamic, in terms of torch.export.Dim."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sardonyx._base.errors import usage_error

from .probing import Probe, has, lookup, patched

_MODULE = "torch.fx.experimental.dynamic_spec"
_KINDS = ("TensorSpec", "ObjectSpec", "DictSpec", "SeqSpec", "ParamsSpec", "ShapesSpec", "ShapeVar")

SPECS = Probe("dynamic_shapes as a ShapesSpec", has(_MODULE, *_KINDS, "_DYNAMIC_SPEC_ATTR"))


def dynamic_shapes_of(model: Any, given: Any) -> Any:
    """`given`, or what forward() was decorated with, by parameter where it is a specification."""
    declared = _declared_with(model)
    if declared is not None:
        if given is not None:
            raise usage_error("pass dynamic_shapes or decorate forward() with them, not both")
        given = declared
    # A module that nobody imported has made none.
    if type(given).__module__ != _MODULE or not SPECS.available:
        return given
    return _by_parameter(given, inspect.signature(getattr(model, "forward", model)))


@contextmanager
def undeclared(model: Any) -> Iterator[None]:
    """Within it, torch.export does not see how forward() was decorated, besides the dimensions that
    it is given."""
    if _declared_with(model) is None:
        yield
        return
    forward = getattr(model, "forward", model)
    with patched(getattr(forward, "__func__", forward), _attribute(), None):
        yield


def _declared_with(model: Any) -> Any:
    name = _attribute()
    return getattr(getattr(model, "forward", model), name, None) if name else None


def _attribute() -> str:
    """What the decorator sets; empty where nobody can have used it."""
    if _MODULE not in sys.modules or not SPECS.available:
        return ""
    return str(lookup(_MODULE, "_DYNAMIC_SPEC_ATTR"))


def _by_parameter(spec: Any, signature: inspect.Signature) -> dict[str, Any]:
    """What a dimension is computed from by more than a factor and a summand, Dim cannot say, and is
    found by the capture. Assumptions are left out: the capture asserts what the model needs."""
    params = spec if isinstance(spec, lookup(_MODULE, "ParamsSpec")) else spec._params
    if params is None:
        return {}
    parts = {**params._named_args, **(params._varkw or {})}
    if params._varargs is not None:
        kinds = {each.kind: name for name, each in signature.parameters.items()}
        parts[kinds.get(inspect.Parameter.VAR_POSITIONAL, "args")] = params._varargs
    dims = _Dims()
    for each in parts.values():  # a variable may come after what is computed from it
        dims.of(each)
    return {name: dims.of(each) for name, each in parts.items()}


class _Dims:
    """A Dim for each variable."""

    def __init__(self) -> None:
        self._dims: dict[Any, Any] = {}
        self._names: set[str] = set()

    def of(self, spec: Any) -> Any:
        """What torch.export takes in the place of a specification."""
        import torch

        if isinstance(spec, lookup(_MODULE, "TensorSpec")):
            sizes = {axis: self._size(size) for axis, size in enumerate(spec)}
            return {axis: size for axis, size in sizes.items() if size is not None}
        if isinstance(spec, lookup(_MODULE, "SeqSpec")):
            return [self.of(each) for each in spec._entries]
        if isinstance(spec, (lookup(_MODULE, "DictSpec"), lookup(_MODULE, "ObjectSpec"), Mapping)):
            return {name: self.of(each) for name, each in spec.items()}
        if isinstance(spec, (list, tuple)):
            return [self.of(each) for each in spec]
        # A number; of one that is dynamic, torch.export wants no name.
        return torch.export.Dim.DYNAMIC if isinstance(spec, torch.SymInt) else None

    def _size(self, size: Any) -> Any:
        """The Dim of a variable, of its multiple and a summand, or a hint."""
        import torch

        if not isinstance(size, torch.SymInt):
            return size
        if isinstance(size, lookup(_MODULE, "ShapeVar").__bases__[0]):
            return self._named(size.sympy_sym, size)
        expression = size.node.expr
        symbols = list(expression.free_symbols)
        known = self._dims.get(symbols[0]) if len(symbols) == 1 else None
        if known is None:
            return torch.export.Dim.DYNAMIC
        factor = expression.coeff(symbols[0])
        rest = expression - factor * symbols[0]
        if not (factor.is_Integer and rest.is_Integer and factor > 0):
            return torch.export.Dim.DYNAMIC
        multiple = known if factor == 1 else int(factor) * known
        return multiple if rest == 0 else multiple + int(rest)

    def _named(self, symbol: Any, variable: Any) -> Any:
        import torch

        if symbol not in self._dims:
            name = str(variable.name or "size")
            name = name if name.isidentifier() else "size"
            count = 1
            while (unique := name if count == 1 else f"{name}_{count}") in self._names:
                count += 1
            self._names.add(unique)
            least = variable.min if variable.min is not None else 0
            self._dims[symbol] = torch.export.Dim(unique, min=least, max=variable.max)
        return self._dims[symbol]
