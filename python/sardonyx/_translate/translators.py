"""Custom translators: which operator they are for, and how they are called."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sardonyx import _native
from sardonyx._base.errors import usage_error

from .building import building
from .constants import flattened
from .script import evaluating

Function = Callable[..., Any]


@dataclass
class Translators:
    """By operator ("mylib::foo" for every overload, "mylib::foo.bar" for one), for calls without
    and with complex tensors. What went wrong in one of them is in `errors`."""

    plain: dict[str, _native.Translator] = field(default_factory=dict)
    complex: dict[str, _native.Translator] = field(default_factory=dict)
    errors: list[Exception] = field(default_factory=list)

    def add(self, name: str, function: Function) -> None:
        """For all calls of an operator."""
        self.add_plain(name, function)
        self.add_complex(name, function)

    def add_plain(self, name: str, function: Function) -> None:
        """For calls without complex tensors."""
        self.plain[name] = self._guarded(called_with_arguments(function))

    def add_complex(self, name: str, function: Function) -> None:
        """For calls that take or give complex tensors, which are pairs of real numbers."""
        self.complex[name] = self._guarded(called_with_arguments(function))

    def add_native(self, name: str, translate: _native.Translator) -> None:
        """One that takes what the native library gives."""
        self.plain[name] = self.complex[name] = self._guarded(translate)

    def add_table(self, table: Mapping[Any, Any] | None) -> None:
        """A custom_translation_table: operators to functions, or to lists whose last one counts."""
        for target, functions in (table or {}).items():
            last = functions[-1] if isinstance(functions, (list, tuple)) else functions
            self.add(operator_name(target), last)

    def _guarded(self, translate: _native.Translator) -> _native.Translator:
        def guarded(
            present: _native.Emitter,
            op: str,
            arguments: list[_native.Argument],
            outputs: list[_native.Output],
        ) -> Sequence[Any]:
            try:
                with _calling(present):
                    return flattened(translate(present, op, arguments, outputs))
            except Exception as error:
                self.errors.append(error)
                raise

        return guarded


@contextlib.contextmanager
def _calling(present: _native.Emitter) -> Iterator[None]:
    """Within it, sardonyx.op and onnxscript's operators add nodes."""
    with building(present), evaluating():
        yield


def operator_name(target: Any) -> str:
    """ "mylib::foo.bar" of torch.ops.mylib.foo.bar, what torch.library.custom_op returned, a name,
    or a Python function that stands in captured graphs (torch.sym_not, operator.mul)."""
    if isinstance(target, str):
        if "::" not in target:
            raise usage_error(f"{target!r} is no operator: names are 'namespace::operator'")
        return _native.resolve_target(target)
    from sardonyx._torch_private import operators

    if operators.is_overload(target):
        return _native.resolve_target(target.name())
    if operators.is_packet(target):
        return operators.packet_name(target)
    overload = operators.overload_of_custom_op(target)
    if overload is not None:
        return _native.resolve_target(overload.name())
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    if not callable(target) or not module or not name:
        raise usage_error(f"{target!r} is no operator")
    return _native.resolve_target(f"{module}.{name}")


def called_with_arguments(function: Function) -> _native.Translator:
    """A translator that calls `function` as the operator was called."""
    if not callable(function):
        raise usage_error(f"{function!r} is no function that could translate an operator")

    def translate(
        _present: _native.Emitter,
        op: str,
        arguments: list[_native.Argument],
        _outputs: list[_native.Output],
    ) -> Any:
        positional, named = bind(function, op, arguments)
        return function(*positional, **named)

    return translate


def bind(
    function: Function, op: str, arguments: Sequence[_native.Argument]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that `function` can take. It need not have a parameter for those that have
    their default values; TypeError for others."""
    parameters = _parameters(function)
    free = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    variadic = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any_name = any(p.kind == p.VAR_KEYWORD for p in parameters)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, value, keyword_only, has_default, default in arguments:
        if not keyword_only and (variadic or len(positional) < free):
            positional.append(value)
        elif name in names:
            named[name] = value
        elif value is None or (has_default and _same(value, default)):
            continue
        elif takes_any_name:
            named[name] = value
        else:
            raise TypeError(
                f"the translator of {op} takes no argument {name!r}, which is {value!r}"
            )
    return positional, named


def _parameters(function: Function) -> list[inspect.Parameter]:
    # An onnxscript function says itself what it takes.
    held = getattr(function, "function", None) or getattr(function, "func", None) or function
    return list(inspect.signature(held).parameters.values())


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
