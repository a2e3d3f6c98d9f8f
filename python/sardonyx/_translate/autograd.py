"""torch.autograd.Functions in captured programs: those with a static method `symbolic`, or all, are
kept as one operator each; the others are captured by what their forward() computes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import OnnxExporterError
from sardonyx._torch_private import state, torchscript

from .symbolic_functions import registered_for, symbolic_translator

if TYPE_CHECKING:
    from .translators import Translators

_SPACE = "sardonyx_autograd"


@dataclass(frozen=True)
class FunctionOperator:
    """A torch.autograd.Function that is kept as one operator.

    `tensors` says which arguments are tensors, the operator's own; `arguments` are the others, part
    of what the operator is. The last ones go by keyword, under these names.
    """

    cls: Any
    op_name: str
    tensors: tuple[bool, ...]
    arguments: tuple[Any, ...]
    keywords: tuple[str, ...]
    several: bool

    def bound(self, tensors: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """What the Function was applied to, with these tensors."""
        values = [
            tensors.pop(0) if is_tensor else constant
            for is_tensor, constant in zip(self.tensors, self.arguments, strict=True)
        ]
        return _by_keyword(values, self.keywords)


def _by_keyword(values: list[Any], keywords: tuple[str, ...]) -> tuple[list[Any], dict[str, Any]]:
    free = len(values) - len(keywords)
    return values[:free], dict(zip(keywords, values[free:], strict=True))


_by_forward: ContextVar[bool] = ContextVar("_by_forward", default=False)
# Whether the forward() of a Function runs for what it computes.
_is_computed: ContextVar[bool] = ContextVar("_is_computed", default=False)
_kept: dict[Any, FunctionOperator] = {}
_library: list[Any] = []


@contextlib.contextmanager
def kept_functions(*, every: bool = False) -> Iterator[None]:
    """Within it, applying a Function with a `symbolic` (with `every`: any Function) puts one
    operator into the program that is captured."""
    base = state.class_of_apply()

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        values = (*args, *kwargs.values())
        if _is_kept(cls, values, every):
            return _apply(cls, values, tuple(kwargs))
        if torchscript.is_tracing():
            # torch.jit.trace sees a call into Python, which no archive can hold.
            return _forward(cls, list(args), kwargs, _Context())
        return super(base, cls).apply(*args, **kwargs)

    with contextlib.ExitStack() as stack:
        if not state.BOUND_APPLIES.available:
            for cls in filter(lambda cls: every or _has_symbolic(cls), state.function_classes()):
                stack.enter_context(_replaced(cls, "forward", _kept_forward(cls, every)))
        stack.enter_context(_replaced(base, "apply", classmethod(apply)))
        yield


def _is_kept(cls: Any, values: tuple[Any, ...], every: bool) -> bool:
    return (every or (_has_symbolic(cls) and not _by_forward.get())) and _fits(values)


def _has_symbolic(cls: Any) -> bool:
    return callable(getattr(cls, "symbolic", None))


def _kept_forward(cls: Any, every: bool) -> Any:
    """The forward() that an apply() calls which was bound to a name before the export. Of an
    apply() that is a function in C++, nothing else can be replaced."""
    own = cls.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        skipped = 0 if _has_setup_context(cls) else 1  # the context
        values = (*args[skipped:], *kwargs.values())
        if _is_computed.get() or not _is_kept(cls, values, every):
            return own(*args, **kwargs)
        return _apply(cls, values, tuple(kwargs))

    functools.update_wrapper(forward, own)  # its signature names the operator's parameters
    return staticmethod(forward)


@contextlib.contextmanager
def _replaced(cls: Any, name: str, function: Any) -> Iterator[None]:
    """Within it, the class has this attribute of its own."""
    own = vars(cls).get(name)
    setattr(cls, name, function)
    try:
        yield
    finally:
        if own is None:
            delattr(cls, name)
        else:
            setattr(cls, name, own)


@contextlib.contextmanager
def by_forward() -> Iterator[None]:
    """Within it, Functions are captured by what their forward() computes, whatever they have: a
    `symbolic` written for an exporter of PyTorch calls what that exporter alone has."""
    token = _by_forward.set(True)
    try:
        yield
    finally:
        _by_forward.reset(token)


def _fits(args: tuple[Any, ...]) -> bool:
    import torch

    plain = (torch.Tensor, int, float, bool, str, type(None))
    lists = (list, tuple)
    return any(isinstance(arg, torch.Tensor) for arg in args) and all(
        isinstance(arg, plain)
        or (isinstance(arg, lists) and all(isinstance(i, (int, float, str)) for i in arg))
        for arg in args
    )


def _apply(cls: Any, args: tuple[Any, ...], keywords: tuple[str, ...]) -> Any:
    import torch

    tensors = tuple(isinstance(arg, torch.Tensor) for arg in args)
    constants = tuple(
        None if is_tensor else (tuple(arg) if isinstance(arg, list) else arg)
        for arg, is_tensor in zip(args, tensors, strict=True)
    )
    key = (cls, tensors, tuple((type(c), c) for c in constants), keywords)
    if key not in _kept:
        _kept[key] = _define(cls, args, tensors, constants, keywords)
    operator = getattr(getattr(torch.ops, _SPACE), _kept[key].op_name)
    return operator(*(arg for arg, is_tensor in zip(args, tensors, strict=True) if is_tensor))


def _define(
    cls: Any,
    args: tuple[Any, ...],
    tensors: tuple[bool, ...],
    constants: tuple[Any, ...],
    keywords: tuple[str, ...],
) -> FunctionOperator:
    """An operator of the tensor arguments that computes forward()."""
    import torch

    if not _library:
        _library.append(torch.library.Library(_SPACE, "FRAGMENT"))
    positional = _names(cls, args[: len(args) - len(keywords)])
    every = zip((*positional, *keywords), tensors, strict=True)
    names = [name for name, is_tensor in every if is_tensor]
    op_name = re.sub(r"\W", "_", cls.__qualname__.split("<locals>.")[-1]) + f"_{len(_kept)}"
    with _not_captured():
        example = _forward(cls, *_by_keyword(list(args), keywords), _ContextOfOperator())
    several = isinstance(example, (tuple, list))
    returns = f"({', '.join(['Tensor'] * len(example))})" if several else "Tensor"
    parameters = ", ".join(f"Tensor {name}" for name in names)
    _library[0].define(f"{op_name}({parameters}) -> {returns}")
    kept = FunctionOperator(cls, op_name, tensors, constants, keywords, several)

    def compute(*given: Any) -> Any:
        result = _forward(cls, *kept.bound(list(given)), _ContextOfOperator())
        if not several:
            return _apart(result, given)
        return tuple(_apart(part, given) for part in result)

    _library[0].impl(op_name, compute, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{_SPACE}::{op_name}", compute, lib=_library[0])
    return kept


def _apart(result: Any, given: tuple[Any, ...]) -> Any:
    """An operator may not return its own input."""
    return result.clone() if any(result is tensor for tensor in given) else result


@contextlib.contextmanager
def _not_captured() -> Iterator[None]:
    from sardonyx._torch_private import contexts

    with contexts.not_captured():
        yield


def _names(cls: Any, args: tuple[Any, ...]) -> list[str]:
    parameters = list(inspect.signature(cls.forward).parameters.values())
    skipped = 0 if _has_setup_context(cls) else 1
    names = [p.name for p in parameters[skipped:] if p.kind == p.POSITIONAL_OR_KEYWORD]
    names += [f"arg{index}" for index in range(len(names), len(args))]
    return ["self_" if name == "self" else name for name in names[: len(args)]]


def _has_setup_context(cls: Any) -> bool:
    return bool(cls.setup_context is not state.single_level_function().setup_context)


class _Context:
    """What forward() is given for `ctx` where there is no backward pass."""

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def mark_dirty(self, *_tensors: Any) -> None:
        pass

    def mark_non_differentiable(self, *_tensors: Any) -> None:
        pass

    def set_materialize_grads(self, value: bool) -> None:
        pass


class _ContextOfOperator(_Context):
    """The same where forward() becomes one operator."""

    def mark_dirty(self, *_tensors: Any) -> None:
        raise OnnxExporterError("a Function that changes its inputs cannot be kept as one operator")


def _forward(cls: Any, args: list[Any], keywords: Mapping[str, Any], context: _Context) -> Any:
    import torch

    token = _is_computed.set(True)
    try:
        with torch.no_grad():
            if _has_setup_context(cls):
                return cls.forward(*args, **keywords)
            context.needs_input_grad = (False,) * len(args)
            return cls.forward(context, *args, **keywords)
    finally:
        _is_computed.reset(token)


def add_kept(translators: Translators, opset: int) -> None:
    """Adds a translator for each Function that was kept."""
    for kept in _kept.values():
        symbolic = getattr(kept.cls, "symbolic", None)
        function = symbolic or registered_for("prim::PythonOp", opset)
        translate = (
            _one_node(kept) if function is None else _by_symbolic(kept, function, symbolic is None)
        )
        translators.add_native(f"{_SPACE}::{kept.op_name}", translate)


def _by_symbolic(kept: FunctionOperator, function: Any, needs_name: bool) -> _native.Translator:
    """The symbolic function gets all arguments that the Function was applied to."""

    def with_all(g: Any, *tensors: Any) -> Any:
        arguments, keywords = kept.bound(list(tensors))
        if needs_name:
            keywords["name"] = kept.cls.__name__
        return function(g, *arguments, **keywords)

    return symbolic_translator(with_all)


def _one_node(kept: FunctionOperator) -> _native.Translator:
    """The node prim::PythonOp that the older exporter left in place of a Function."""

    def translate(
        emitter: _native.Emitter,
        _op: str,
        arguments: list[_native.Argument],
        outputs: list[_native.Output],
    ) -> Any:
        attributes: dict[str, Any] = {
            "name": kept.cls.__name__,
            "module": kept.cls.__module__,
        }
        for index, constant in enumerate(kept.arguments):
            if constant is not None and not kept.tensors[index]:
                attributes[f"arg{index}"] = constant
        inputs = [value for _, value, *_ in arguments]
        return emitter.node("prim", "PythonOp", inputs, attributes, len(outputs), None, {})

    return translate
