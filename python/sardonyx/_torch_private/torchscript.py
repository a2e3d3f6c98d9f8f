"""TorchScript: graphs, schemas, and what torch.jit.trace records.

Importing this module imports no torch; its functions do.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@cache
def native() -> Any:
    """PyTorch's native module: the classes of graphs, their types, and of scripted functions."""
    return importlib.import_module("torch._C")


def class_of_graph(name: str) -> type:
    """PyTorch's class of a graph's parts: "Value" or "Node"."""
    found: type = getattr(native(), name)
    return found


@cache
def tracer_warning() -> type[Warning]:
    """What torch.jit.trace warns with."""
    kind: type[Warning] = importlib.import_module("torch.jit").TracerWarning
    return kind


def is_tracing() -> bool:
    """Whether torch.jit.trace records what runs now."""
    return native()._get_tracing_state() is not None


@contextmanager
def untraced() -> Iterator[None]:
    """Within it, torch.jit.trace sees nothing."""
    state = native()._get_tracing_state()
    native()._set_tracing_state(None)
    try:
        yield
    finally:
        native()._set_tracing_state(state)


def traced_value(tensor: torch.Tensor) -> Any:
    """The value of the recorded graph that a tensor is."""
    return native()._get_value_trace(tensor)


def all_schemas() -> list[Any]:
    """Of all operators."""
    return list(native()._jit_get_all_schemas())


def schemas_of(op: str) -> list[Any]:
    """Of the overloads of "mylib::op"; none where there is no such operator."""
    return list(native()._jit_get_schemas_for_operator(op))


def overload_name(packet: str, *args: Any, **kwargs: Any) -> str:
    """Of the overload of "mylib::op" that takes these arguments; RuntimeError for none."""
    return str(native()._jit_resolve_packet(packet, *args, **kwargs))


def function_of(name: str, graph: Any) -> Any:
    """A scripted function of a graph."""
    return native()._create_function_from_graph(name, graph)


def functions_in_python() -> tuple[Any, ...]:
    """The modules that hold PyTorch's own functions."""
    return (
        importlib.import_module("torch"),
        native()._nn,
        native()._fft,
        native()._linalg,
        native()._special,
    )


def functions_of_torch() -> Any:
    """What holds PyTorch's functions where those of Python do not hide them."""
    return native()._VariableFunctions


def functions_by_name() -> Any:
    """The module by which torch.nn looks functions up."""
    return importlib.import_module("torch._VF")


def function_table() -> dict[int, str]:
    """By the id of a function of Python, the operator that TorchScript calls for it."""
    table: dict[int, str] = importlib.import_module("torch.jit._builtins")._get_builtin_table()
    return table


def scripted_functions() -> list[Any]:
    """The functions of Python that have been scripted."""
    return list(importlib.import_module("torch.jit._state")._jit_caching_layer)


def native_module(module: torch.jit.ScriptModule) -> Any:
    """The module as TorchScript's interpreter has it."""
    return module._c


def methods_of(module: torch.jit.ScriptModule) -> list[Any]:
    """All methods of a scripted module."""
    own = native_module(module)
    return [own._get_method(name) for name in own._method_names()]


def method_of(module: torch.jit.ScriptModule, name: str) -> Any:
    """One method of a scripted module."""
    return native_module(module)._get_method(name)


def has_method(module: torch.jit.ScriptModule, name: str) -> bool:
    """Whether a scripted module has that method."""
    return bool(native_module(module)._has_method(name))


def class_name(held: Any) -> str:
    """The qualified name of a TorchScript object's class."""
    return str(held._type().qualified_name())


def converted(model: Any, args: tuple[Any, ...]) -> torch.fx.GraphModule:
    """What PyTorch's converter makes of a scripted model before it captures that itself, for all
    sizes."""
    converter: Any = importlib.import_module("torch._export.converter").TS2EPConverter(model, args)
    found: list[torch.fx.GraphModule] = []

    def keep(module: torch.fx.GraphModule, _constants: Any) -> Any:
        found.append(module)
        return SimpleNamespace(state_dict=converter.name_to_param | converter.name_to_buffer)

    converter.retrace_as_exported_program = keep
    converter.convert()
    (module,) = found
    return module
