"""Writes down the calls of a module while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .declining import DeclinedError
from .fakes import Fakes
from .rules import Rules
from .signature import Placeholders
from .tensor import QuickTensor

_TORCH = str(Path(torch.__file__).parent)
# What reads or changes a tensor without an operator that could be recorded.
_BEHIND_OPERATORS = frozenset(
    {
        "tolist", "numpy", "data_ptr", "__array__", "__dlpack__", "untyped_storage", "storage",
        "__deepcopy__", "__reduce_ex__", "__set__", "register_hook", "requires_grad_", "set_",
        "as_subclass", "backward", "storage_offset", "__delete__", "swap_tensors", "_typed_storage",
    }
)  # fmt: skip


# As torch.export has it, whose program may be run again and again.
_RECORDED_AS = {torch.ops.aten.lift_fresh.default: torch.ops.aten.lift_fresh_copy.default}


class Recorder(SchemaCheckMode):
    """Sees calls before autograd, with composite operators whole.

    A mode of that place has to be of a class that PyTorch knows; of the one it is derived from
    nothing is used but the name.
    """

    def __init__(self, placeholders: Placeholders, fakes: Fakes) -> None:
        TorchDispatchMode.__init__(self, torch._C.DispatchKey.PreDispatch)
        self.graph = placeholders.graph
        self.modules: list[tuple[str, str, str]] = []
        self._placeholders = placeholders
        self._weights = dict(placeholders.of_weights)
        self._rules = Rules(fakes)
        self._traces: dict[tuple[tuple[CodeType, int], ...], str] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.is_autocast_enabled("cpu"):
            raise DeclinedError("autocast")
        if not isinstance(func, torch._ops.OpOverload):
            raise DeclinedError(f"no rule for {func}")
        func = _RECORDED_AS.get(func, func)
        result = self._rules.result(func, args, kwargs)
        node = self.graph.create_node(
            "call_function",
            func,
            tuple(self.said(arg) for arg in args),
            {name: self.said(arg) for name, arg in kwargs.items()},
            name=func.overloadpacket.__name__,
        )
        node.meta["nn_module_stack"] = {k: (path, kind) for k, path, kind in self.modules}
        node.meta["stack_trace"] = self._trace()
        node.meta["val"] = result
        self._belongs(result, node)
        return result

    def _belongs(self, result: Any, node: torch.fx.Node) -> None:
        if result is None:
            return
        if isinstance(result, (list, tuple)):
            import operator

            for index, each in enumerate(result):
                if each is None:
                    continue
                if not isinstance(each, torch.Tensor):
                    raise DeclinedError("lists of lists of tensors")
                item = self.graph.create_node("call_function", operator.getitem, (node, index))
                item.meta = {**node.meta, "val": each}
                self._belongs(each, item)
        elif type(result) is QuickTensor:
            result.made_by = node
        else:  # a weight that the operator gave back
            self._weights[id(result)] = node

    def said(self, argument: Any) -> Any:
        """An argument as nodes have it."""
        if isinstance(argument, torch.Tensor):
            node = (
                argument.made_by
                if type(argument) is QuickTensor
                else self._weights.get(id(argument))
            )
            if node is None:
                if type(argument) is QuickTensor:
                    raise DeclinedError("a tensor that no call has made")
                path = self.modules[-1][1] if self.modules else ""
                node = self._placeholders.constant(argument, path)
                self._weights[id(argument)] = node
            return node
        if isinstance(argument, (list, tuple)):
            return [self.said(each) for each in argument]
        if isinstance(argument, (torch.SymFloat, torch.SymBool)):
            raise DeclinedError("a number computed of sizes")
        return argument

    def _trace(self) -> str:
        """The lines of forward() methods that run, which torch.export keeps as well, without the
        code on them, innermost last."""
        places: list[tuple[CodeType, int]] = []
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            if code is _ROOT.__code__:
                break
            if code.co_name == "forward" and not code.co_filename.startswith(_TORCH):
                places.append((code, frame.f_lineno))
            frame = frame.f_back
        index = tuple(places)
        known = self._traces.get(index)
        if known is None:
            known = self._traces[index] = "".join(
                f'  File "{code.co_filename}", line {line}, in {code.co_name}\n'
                for code, line in reversed(places)
            )
        return known

    @contextmanager
    def watching(self, model: torch.nn.Module) -> Iterator[None]:
        """Within it, calls know the module they are in. Declines modules of several names."""
        paths: dict[int, str] = {}
        for path, module in model.named_modules(remove_duplicate=False):
            if id(module) in paths:
                raise DeclinedError(f"the module {path} is also {paths[id(module)]}")
            paths[id(module)] = path
        called: dict[str, int] = {}
        before = torch.nn.Module.__call__
        stack = self.modules

        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            path = paths.get(id(module))
            if path is None:
                return before(module, *args, **kwargs)
            times = called.get(path, 0)
            called[path] = times + 1
            kind = type(module)
            key = f"{path}@{times}" if times else path
            stack.append((key, path, f"{kind.__module__}.{kind.__qualname__}"))
            try:
                return before(module, *args, **kwargs)
            finally:
                stack.pop()

        torch.nn.Module.__call__ = call  # type: ignore[method-assign]
        try:
            yield
        finally:
            torch.nn.Module.__call__ = before  # type: ignore[method-assign]


class Overseer(TorchFunctionMode):
    """Declines what goes past operators; changes of the gradient mode are not recorded."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in _BEHIND_OPERATORS:
            raise DeclinedError(f"the model calls {name}()")
        if func is torch._C._set_grad_enabled:
            if args != (False,):
                raise DeclinedError("the model takes gradients")
        elif name in ("_enter_autocast", "_exit_autocast"):
            raise DeclinedError("autocast")
        return func(*args, **(kwargs or {}))


def run(model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The outermost frame that a call's place is looked for in."""
    return model(*args, **kwargs)


_ROOT = run
