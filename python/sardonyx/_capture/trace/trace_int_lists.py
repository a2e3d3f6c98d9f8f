"""Numbers that stand in lists, or for lists, which torch.jit.trace writes as constants:
`torch.roll(x, x.size(0) - 1, 0)`, `avg_pool2d(x, x.size(3))`, `torch.tensor([x.size(0), 1])`. And
those that it keeps, though it asks for their index: `torch.linspace(0, 1, x.size(0))`."""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from sardonyx._capture.guards.specializations import Specializations
from sardonyx._capture.patches.patching import Replacement, replaced
from sardonyx._capture.source_location import user_place
from sardonyx._torch_private import torchscript


@contextmanager
def numbers_kept_in_lists(specializations: Specializations) -> Iterator[None]:
    """Within it, functions of PyTorch that take a number for a list get the list, of which tracing
    keeps what it holds, and tensors made of numbers are stacked of them. `specializations` gets the
    lines of convolutions whose strides, say, are such numbers: of these tracing keeps nothing."""
    others = _stand_ins(specializations)
    scripted = torchscript.function_table()
    # Functions that are scripted while the model is traced call these, too.
    names = {id(other): scripted[id(f)] for f, other in others.items() if id(f) in scripted}
    scripted.update(names)
    try:
        with replaced(_replacements(others, specializations)):
            yield
    finally:
        for each in names:
            del scripted[each]


class _Parameter(NamedTuple):
    position: int
    name: str
    length: int  # of the list that a number stands for


_BUILTINS = {types.BuiltinFunctionType, types.MethodDescriptorType}
# What torch.jit.trace records as the operator that they call, with numbers that are no tensors.
_CONVOLUTIONS = {f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)}


def _replacements(
    others: Mapping[Any, Any], specializations: Specializations
) -> Iterator[Replacement]:
    """For what modules call these functions, PyTorch's and others, and for methods of tensors."""
    for name, value in vars(torchscript.native().TensorBase).items():
        if name in vars(torch.Tensor):  # in Python, with other parameters
            continue
        if type(value) in _BUILTINS and _takes_numbers(value.__name__):
            yield Replacement(torch.Tensor, name, _keeping(value, specializations))
    yield Replacement(torch.Tensor, "split", _splitting(torch.Tensor.split, specializations))
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType):
            for name, value in list(vars(module).items()):
                if type(value) in _BUILTINS and (other := others.get(value)) is not None:
                    yield Replacement(module, name, other)
    # torch.nn calls some by a module that looks them up: torch._VF._pad_packed_sequence.
    named = torchscript.functions_by_name()
    for name in dir(torchscript.functions_of_torch()):
        if (other := others.get(getattr(torch, name, None))) is not None:
            yield Replacement(named, name, other)


def _stand_ins(specializations: Specializations) -> Mapping[Any, Any]:
    made: dict[Any, Any] = {
        f: _stacking(f, specializations) for f in (torch.tensor, torch.as_tensor)
    }
    for space in torchscript.functions_in_python():
        for value in vars(space).values():
            if type(value) not in _BUILTINS or value in made:
                continue
            if value.__name__ in _CONVOLUTIONS:
                made[value] = _telling(value, specializations)
            elif space is torch and value.__name__ in _without_results():
                made[value] = _by_operator(value)
            elif _takes_numbers(value.__name__):
                made[value] = _keeping(value, specializations)
    return made


# Types of which a tensor without dims may be.
_OF_NUMBERS = ("Tensor", "number", "int", "float")


@functools.cache
def _parameters() -> Mapping[str, tuple[_Parameter, ...]]:
    """Of ATen's operators, what takes a number for a list of a certain length, whichever overload
    it is."""
    lists: dict[str, set[_Parameter]] = {}
    others: dict[str, set[int]] = {}
    for schema in torchscript.all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        name = schema.name.removeprefix("aten::")
        for position, parameter in enumerate(schema.arguments):
            kind = str(parameter.type).removeprefix("Optional[").removesuffix("]")
            if kind.startswith("List[int") and parameter.N:
                each = _Parameter(position, parameter.name, parameter.N)
                lists.setdefault(name, set()).add(each)
            elif not parameter.kwarg_only and kind in _OF_NUMBERS:
                others.setdefault(name, set()).add(position)
    return {
        name: tuple(p for p in sorted(found) if p.position not in others.get(name, ()))
        for name, found in lists.items()
    }


@functools.cache
def _with_integers() -> frozenset[str]:
    """ATen's operators that take an integer and give tensors: those that tracing records."""
    schemas = torchscript.all_schemas()
    return frozenset(
        schema.name.removeprefix("aten::")
        for schema in schemas
        if schema.name.startswith("aten::")
        and any(str(each.type) in ("int", "Optional[int]") for each in schema.arguments)
        and any("Tensor" in str(each.type) for each in schema.returns)
    )


def _splitting(function: Any, specializations: Specializations) -> Callable[..., Any]:
    """Tensor.split, which is Python and makes an integer of a tensor."""

    native = torchscript.functions_of_torch()

    @functools.wraps(function)
    def split(self: torch.Tensor, split_size: Any, dim: int = 0) -> Any:
        if not _is_number(split_size):
            return function(self, split_size, dim)
        with specializations.keeping_integers():
            return native.split(self, split_size, dim)

    return split


@functools.cache
def _without_results() -> frozenset[str]:
    """ATen's operators that have a form without results: functions of their names record no
    numbers, `torch.unsafe_split(x, n)` for one."""
    schemas = torchscript.all_schemas()
    aten = [schema for schema in schemas if schema.name.startswith("aten::")]
    none = {schema.name for schema in aten if not schema.returns}
    some = {schema.name for schema in aten if schema.returns}
    return frozenset(name.removeprefix("aten::") for name in none & some)


def _by_operator(function: Any) -> Callable[..., Any]:
    """Of the operator, which operator_calls.py has recorded with its numbers."""
    operator = getattr(torch.ops.aten, function.__name__)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        has_numbers = any(map(_is_number, _leaves([*args[1:], *kwargs.values()])))
        return (operator if has_numbers else function)(*args, **kwargs)

    return called


def _takes_numbers(name: str) -> bool:
    return name in _parameters() or name in _with_integers()


def _keeping(function: Any, specializations: Specializations) -> Callable[..., Any]:
    parameters = _parameters().get(function.__name__, ())

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        for position, name, length in parameters:
            if position < len(given) and _is_number(given[position]):
                given[position] = [given[position]] * length
            elif name in kwargs and _is_number(kwargs[name]):
                kwargs[name] = [kwargs[name]] * length
        with specializations.keeping_integers():
            return function(*given, **kwargs)

    return called


def _telling(function: Any, specializations: Specializations) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        rest: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        for data in (0, 1, 2, "input", "weight", "bias"):
            rest.pop(data, None)
        has_number = any(map(_is_number, _leaves(list(rest.values()))))
        if has_number and (place := user_place()) is not None:
            specializations.python.append(place)
        return function(*args, **kwargs)

    return called


def _stacking(function: Any, specializations: Specializations) -> Callable[..., torch.Tensor]:
    """torch.tensor, of whose results tracing warns that they are constants, whatever they are."""

    @functools.wraps(function)
    def made(data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        is_list = isinstance(data, (list, tuple))
        leaves = [leaf for leaf in _leaves(data) if _is_traced(leaf)] if is_list else []
        with warnings.catch_warnings():
            if torchscript.is_tracing():
                warnings.simplefilter("ignore", torchscript.tracer_warning())
            plain = _plain(data) if is_list else data
            constant: torch.Tensor = function(plain, *args, **kwargs)
            if leaves and all(map(_is_number, leaves)):
                every = [leaf if _is_number(leaf) else function(leaf) for leaf in _leaves(data)]
                parts = [part.to(constant.device, constant.dtype) for part in every]
                return torch.stack(parts).reshape(constant.shape)
        if leaves and (place := user_place()) is not None:
            specializations.python.append(place)
        return constant

    return made


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, (list, tuple)):
        for item in data:
            yield from _leaves(item)
    else:
        yield data


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    return data.item() if _is_number(data) else data


def _is_number(value: Any) -> bool:
    return _is_traced(value) and value.dim() == 0


def _is_traced(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and torchscript.is_tracing()
