"""Writes down the calls of a module while it runs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .aliases import roots
from .declining import DeclinedError
from .fakes import Fakes
from .numbers import NUMBERS, Numbers
from .rules import Rules
from .signature import Placeholders
from .tensor import QuickTensor
from .traces import Traces

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
# Forward derivatives, which torch.export does not see as such.
_DERIVATIVES = frozenset({torch.ops.aten._make_dual.default, torch.ops.aten._unpack_dual.default})
_ASSERTION = torch.ops.aten._assert_tensor_metadata.default
_CONVERSIONS = frozenset(
    (torch.ops.aten.to.device, torch.ops.aten.to.dtype, torch.ops.aten.to.dtype_layout)
)
# torch.func, whose transforms torch.export keeps as calls.
_TRANSFORMS = "torch._functorch.predispatch"
_TRANSFORMED = "the model takes derivatives, or maps over a dimension"


@functools.cache
def _refusal(func: Any) -> str:
    """Why an operator is left to torch.export; empty where it is not."""
    from sardonyx._capture.quantized import makes_quantized

    if not isinstance(func, torch._ops.OpOverload):
        return f"no rule for {func}"
    if func in _DERIVATIVES:
        return "the model takes derivatives"
    return f"{func} makes a quantised tensor" if makes_quantized(func) else ""


class Recorder(SchemaCheckMode):
    """Sees calls before autograd, with composite operators whole.

    A mode of that place has to be of a class that PyTorch knows; of the one it is derived from
    nothing is used but the name.
    """

    def __init__(self, placeholders: Placeholders, fakes: Fakes) -> None:
        TorchDispatchMode.__init__(self, torch._C.DispatchKey.PreDispatch)
        self.graph = placeholders.graph
        self.modules: list[tuple[str, str, str]] = []  # those that run, outermost first
        self._placeholders = placeholders
        self._weights = dict(placeholders.of_weights)
        self._rules = Rules(fakes)
        self._traces = Traces()
        self._numbers = Numbers()
        self._copies: list[torch.fx.Node] = []  # that the example does without
        self._writes: list[torch.fx.Node] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.is_autocast_enabled("cpu"):
            raise DeclinedError("autocast")
        if torch._C._functorch.peek_interpreter_stack() is not None:
            raise DeclinedError(_TRANSFORMED)
        if refusal := _refusal(func):
            raise DeclinedError(refusal)
        func = _RECORDED_AS.get(func, func)
        copies = self._rules.results.copies_of_views
        result = self._rules.result(func, args, kwargs)
        place = {
            "nn_module_stack": {k: (path, kind) for k, path, kind in self.modules},
            "stack_trace": self._traces.here(_ROOT.__code__),
        }
        if func in _CONVERSIONS:
            self._assert_kind(args[0], place)
        node = self.graph.create_node(
            "call_function",
            func,
            tuple(self.said(arg) for arg in args),
            {name: self.said(arg) for name, arg in kwargs.items()},
            name=self.graph._target_to_str(func.overloadpacket.__name__),
        )
        node.meta = {**place, "val": result}
        if self._rules.results.copies_of_views > copies:
            self._copies.append(node)
        if func._schema.is_mutable:
            self._writes.append(node)
        self._belongs(result, node)
        return result

    def check(self) -> None:
        """Declines what only the whole run tells."""
        unsure = set().union(*map(roots, self._copies))
        if self._copies and any(
            unsure & roots(source) for node in self._writes for source in node.all_input_nodes
        ):
            raise DeclinedError("whether writes go to a copy or a view depends on sizes")

    def _assert_kind(self, tensor: torch.Tensor, place: dict[str, Any]) -> None:
        """What torch.export asserts before a conversion."""
        kind: dict[str, Any] = {
            "dtype": tensor.dtype,
            "device": tensor.device,
            "layout": tensor.layout,
        }
        said = self.said(tensor)
        node = self.graph.create_node("call_function", _ASSERTION, (said,), kind)
        node.meta = {**place, "val": None}

    def _belongs(self, result: Any, node: torch.fx.Node) -> None:
        if result is None:
            return
        if isinstance(result, NUMBERS):
            self._numbers.note(result, node)
        elif isinstance(result, (list, tuple)):
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
        return self._numbers.said(argument) if isinstance(argument, NUMBERS) else argument


class Overseer(TorchFunctionMode):
    """Declines what goes past operators; changes of the gradient mode are not recorded."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in _BEHIND_OPERATORS:
            raise DeclinedError(f"the model calls {name}()")
        if getattr(func, "__module__", "") == _TRANSFORMS:
            raise DeclinedError(_TRANSFORMED)
        if func is torch._C._set_grad_enabled:
            if args != (False,):
                raise DeclinedError("the model takes gradients")
        elif name in ("_enter_autocast", "_exit_autocast"):
            raise DeclinedError("autocast")
        elif func is torch.Tensor.contiguous:
            QuickTensor.is_copied_where_unsure = True
            try:
                return func(*args, **(kwargs or {}))
            finally:
                QuickTensor.is_copied_where_unsure = False
        return func(*args, **(kwargs or {}))


def run(model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The outermost frame that a call's place is looked for in."""
    return model(*args, **kwargs)


_ROOT = run
