"""Writes down the calls of a module while it runs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from sardonyx._capture.meta_tracer.control_flow.repeated_calls import CallHistory
from sardonyx._capture.meta_tracer.control_flow.scopes import Scopes
from sardonyx._capture.meta_tracer.entry.signature import Placeholders
from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.isolation.interrupts import raise_waiting
from sardonyx._capture.meta_tracer.meta.aliases import is_unaffected, may_be_written, roots
from sardonyx._capture.meta_tracer.meta.fake_kernels import PLAIN, FakeKernels
from sardonyx._capture.meta_tracer.meta.results import ResultFactory
from sardonyx._capture.meta_tracer.meta.rules import MetaRules
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import is_at_most_1
from sardonyx._capture.shapes.slices import SIZES_READ
from sardonyx._torch_private import fake_tensors, modes, operators

from .autocast_regions import MARKS
from .constant_values import ConstantValues
from .in_place_views import VIEW_OF, InPlaceView
from .sizes_in_tensors import held_sizes
from .stack_traces import StackTraces
from .symbolic_indices import is_symbolic_index, write_at
from .tensor_items import NUMBERS, TensorItems, held_by_constant
from .tensor_len import check_length
from .vmap import VmapLevels

# What reads or changes a tensor without an operator that could be recorded.
_BEHIND_OPERATORS = frozenset(
    {
        "numpy", "data_ptr", "__array__", "__dlpack__", "untyped_storage", "storage",
        "__deepcopy__", "__reduce_ex__", "__set__", "register_hook", "set_",
        "as_subclass", "backward", "storage_offset", "__delete__", "swap_tensors", "_typed_storage",
    }
)  # fmt: skip


# As torch.export has it, whose program may be run again and again.
_RECORDED_AS = {torch.ops.aten.lift_fresh.default: torch.ops.aten.lift_fresh_copy.default}
_SQUEEZE = torch.ops.aten.squeeze.dim
_ITEM = torch.ops.aten.item.default
_STRIDED = torch.ops.aten.as_strided.default
_TRUTH = torch.ops.aten.is_nonzero.default
_CONVERSIONS = frozenset(
    (torch.ops.aten.to.device, torch.ops.aten.to.dtype, torch.ops.aten.to.dtype_layout)
)
_CONVOLUTIONS = frozenset(
    (torch.ops.aten.conv1d.default, torch.ops.aten.conv2d.default, torch.ops.aten.conv3d.default)
)
_SHAPE: Any = torch.Tensor.shape
_READ_SIZES = frozenset(
    (
        _SHAPE.__get__, torch.Tensor.size, torch.Tensor.__len__, torch.Tensor.numel,
        torch.Tensor.nelement, torch.numel,
    )
)  # fmt: skip
_TRANSFORMED = "the model takes derivatives, or maps over a dimension"


@functools.cache
def _refusal(func: Any) -> str:
    """Why an operator is left to torch.export; empty where it is not."""
    from sardonyx._capture.quantized import makes_quantized

    if not operators.is_overload(func):
        return f"no rule for {func}"
    if func in modes.DUALS:
        return "the model takes derivatives"
    return f"{func} makes a quantized tensor" if makes_quantized(func) else ""


def _is_choosing_an_overload() -> bool:
    """Whether a number is read for an operator that has no overload for tensors there, or another
    one, too: eager PyTorch reads it then, and torch.export takes the other."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name in ("handler", "handle_dispatch_mode"):
        frame = frame.f_back
    return frame is not None and frame.f_code is modes.CHOOSING_AN_OVERLOAD


class Recorder(modes.OperatorMode):
    """Sees calls before autograd, with composite operators whole."""

    def __init__(self, placeholders: Placeholders, fake_kernels: FakeKernels) -> None:
        super().__init__()
        self.scopes = Scopes(placeholders.graph)
        self.modules: list[tuple[str, str, str]] = []  # those that run, outermost first
        self.fake_kernels = fake_kernels
        self.watchers: Sequence[TorchFunctionMode] = ()  # who see what is no operator
        self._placeholders = placeholders
        self._weights = dict(placeholders.of_weights)
        self._rules = MetaRules(fake_kernels)
        self.mapping = VmapLevels(self.results, self._write_one)
        self._traces = StackTraces()
        self.numbers = TensorItems()
        self._constants = ConstantValues()
        self.calls = CallHistory()
        # Takes sizes for which PyTorch raises where one is 0.
        self.on_sizes_above_0: Callable[[Sequence[Any]], None] = lambda _: None
        self.asked: Any = None  # the tensor whose truth Python asks for
        self._copies: list[torch.fx.Node] = []  # that the example does without
        self._strided: list[torch.fx.Node] = []  # that read memory, however it is seen
        self._writes: list[torch.fx.Node] = []
        self._assigned: list[torch.fx.Node] = []  # buffers
        self._entered: list[torch.fx.Node] = []  # regions under autocast
        self._is_a_leaf_made = False  # that would have a gradient, where gradients are on

    @property
    def graph(self) -> torch.fx.Graph:
        """The graph that calls are written to: a body's, while one runs."""
        return self.scopes.graph

    @property
    def results(self) -> ResultFactory:
        """What makes results."""
        return self._rules.results

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        raise_waiting()
        if modes.is_transformed():
            raise DeclinedError(_TRANSFORMED)
        if refusal := _refusal(func):
            raise DeclinedError(refusal)
        func = _RECORDED_AS.get(func, func)
        if func is _SQUEEZE and is_at_most_1(args[0].shape[args[1]] if args[0].dim() else 1):
            func, args = torch.ops.aten.select.int, (*args, 0)
        if func is _ITEM and _is_choosing_an_overload():
            raise RuntimeError("an operator takes a tensor for a number")  # asks another
        if func in VIEW_OF:
            return self.calls.result(func, partial(self._moved, func, args, kwargs)).apply()
        result = self.calls.result(func, partial(self._called, func, args, kwargs))
        if func in _CONVOLUTIONS:
            self.on_sizes_above_0(result.shape[2:])
        return result

    def _called(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], alike: Any = None
    ) -> Any:
        """Writes down a call, and says what it gives: what the operator `alike` would."""
        if func is _ITEM and (number := self._held(args[0])) is not None:
            return number
        levels = self.mapping.check(func, args) if self.mapping.is_open else None
        copies = self._rules.results.copies_of_views
        if func is _TRUTH:
            return self._truth(args[0])
        result = self._constants.result(func, args, kwargs, self._writes)
        if result is None:
            result = self._rules.result(alike or func, args, kwargs)
        if isinstance(result, NUMBERS) and self.numbers.knows(result, self.graph):
            return result
        place = self._place()
        if func in _CONVERSIONS:
            self._assert_kind(args[0], place)
        node = self.graph.create_node(
            "call_function",
            func,
            tuple(self.graph_argument(arg) for arg in args),
            {name: self.graph_argument(arg) for name, arg in kwargs.items()},
            name=modes.name_in(self.graph, func),
        )
        node.meta = {**place, "val": None if isinstance(result, PLAIN) else result}
        if isinstance(result, PLAIN):
            return result
        if self._rules.results.copies_of_views > copies:
            self._copies.append(node)
        if func is _STRIDED:
            self._read_memory(node)
        if operators.schema_of(func).is_mutable and func is not torch.ops.aten.detach_.default:
            self._writes.append(node)
        self._belongs(result, node)
        if levels:
            for each in result if isinstance(result, list) else [result]:
                if type(each) is QuickTensor:
                    each.levels = levels
        return result

    def _moved(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> InPlaceView:
        """Writes down a call that gives its tensor other sizes."""
        return InPlaceView.of(
            args[0], self.graph, partial(self._called, func, args, kwargs, VIEW_OF[func])
        )

    def _truth(self, tensor: torch.Tensor) -> bool:
        """Of a tensor of one element, of which Python asks it. No call is written down: whatever
        hangs on it is decided with it."""
        known = self._constants.of(tensor, self._writes)
        if known is not None:
            return bool(known)
        self.asked = tensor
        try:
            result = self._rules.result(_TRUTH, (tensor,), {})
        except fake_tensors.decided_by_data():
            if tensor.dtype is torch.bool:
                raise
            # What PyTorch would have to know is a number; the question is whether it is 0.
            truth = QuickTensor.of((), (), torch.bool)
            result = self._rules.result(_TRUTH, (truth,), {})
        finally:
            self.asked = None
        return bool(result)

    def _read_memory(self, node: torch.fx.Node) -> None:
        is_body = self.graph is not self.scopes.outermost.graph
        if is_body and any(root.op == "placeholder" for root in roots(node)):
            raise DeclinedError("as_strided in a branch, of what lies outside of it")
        self._strided.append(node)

    def _held(self, tensor: torch.Tensor) -> Any:
        node = self.graph_argument(tensor)
        number = held_by_constant(node)
        if number is not None and may_be_written(node, self._writes):
            raise DeclinedError("a number that a constant holds, which may have been written to")
        number = held_sizes(node, self._writes) if number is None else number
        if number is None and (known := self._constants.of(tensor, self._writes)) is not None:
            return known.item()
        return number

    def _place(self) -> dict[str, Any]:
        return {
            "nn_module_stack": {k: (path, kind) for k, path, kind in self.modules},
            "stack_trace": self._traces.here(_ROOT.__code__),
        }

    def write(
        self, op: Any, args: tuple[Any, ...], given: Any, kwargs: dict[str, Any] | None = None
    ) -> torch.fx.Node:
        """Writes down a call whose arguments are nodes, also of bodies, and what it gives."""
        node = self.graph.create_node("call_function", op, args, kwargs or {})
        node.meta = {**self._place(), "val": given}
        if any(each.graph is not self.graph for each in self._writes):  # in its bodies
            self._writes.append(node)
        self._belongs(given, node)
        return node

    @property
    def count_of_writes(self) -> int:
        """How many calls have written to a tensor."""
        return len(self._writes)

    def may_share_memory(self, node: torch.fx.Node) -> None:
        """Writes to what the call gives, or was given, are not sure."""
        self._copies += [node, *node.all_input_nodes]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it, calls are seen; while PyTorch asks what a call is, they are not."""
        with ExitStack() as stack:
            for watcher in self.watchers:
                stack.enter_context(watcher)
            stack.enter_context(self)
            yield

    def _write_one(self, func: Any, args: tuple[Any, ...], given: Any) -> None:
        """Writes down a call of a Python function that gives one thing. How that lies in memory is
        not known."""
        node = self.graph.create_node("call_function", func, tuple(map(self.graph_argument, args)))
        node.meta = {**self._place(), "val": given if type(given) is QuickTensor else None}
        if type(given) is QuickTensor:
            given.made_by = node
            self._copies.append(node)

    def assign(self, buffer: torch.Tensor, now: torch.Tensor) -> None:
        """Writes down what a buffer holds at the end, as torch.export has it."""
        self._assigned.append(self.graph_argument(buffer))
        made_by = self.graph_argument(now)
        torch.ops.aten.copy_.default(buffer, now)
        if isinstance(made_by, torch.fx.Node):  # the line that computed it
            self._writes[-1].meta |= {**made_by.meta, "val": self._writes[-1].meta["val"]}

    def make_leaf(self, tensor: torch.Tensor) -> None:
        """Sees requires_grad_(), of which nothing comes where gradients are off, as they are while
        a model is captured."""
        if type(tensor) is not QuickTensor or torch.is_grad_enabled():
            raise DeclinedError("the model calls requires_grad_()")
        self._is_a_leaf_made = True

    def mark(self, func: Any, args: tuple[Any, ...]) -> None:
        """Writes down where a region begins, or ends."""
        self.calls.result(func, partial(self._marked, func, args))

    def _marked(self, func: Any, args: tuple[Any, ...]) -> None:
        if self._is_a_leaf_made and func is modes.SET_GRADIENTS and args[0]:
            raise DeclinedError("gradients are on after the model called requires_grad_()")
        if func is modes.EXIT_AUTOCAST:
            args = (self._entered.pop(),)
        node = self.graph.create_node("call_function", func, args)
        node.meta = {**self._place(), "val": None}
        if func is modes.ENTER_AUTOCAST:
            self._entered.append(node)

    def check(self) -> None:
        """Declines what only the whole run tells, once it is over."""
        written = {
            node: set().union(*map(roots, node.all_input_nodes))
            for node in (self._writes if self._copies else ())
        }
        for copy in self._copies:
            own = roots(copy)
            if any(own & all_ and not is_unaffected(copy, node) for node, all_ in written.items()):
                raise DeclinedError("whether writes go to a copy or a view depends on sizes")
        unsure = set().union(*map(roots, self._copies))
        if any(unsure & roots(node) for node in self._strided):
            raise DeclinedError("how a tensor lies in memory, which as_strided reads, is not sure")
        given = self.graph.output_node().all_input_nodes
        if self._assigned and set(self._assigned) & set().union(*map(roots, given)):
            raise DeclinedError("the model gives a buffer that it assigned, as it was before")

    def _assert_kind(self, tensor: torch.Tensor, place: dict[str, Any]) -> None:
        """What torch.export asserts before a conversion."""
        kind: dict[str, Any] = {
            "dtype": tensor.dtype,
            "device": tensor.device,
            "layout": tensor.layout,
        }
        node = self.graph_argument(tensor)
        node = self.graph.create_node("call_function", modes.ASSERT_KIND, (node,), kind)
        node.meta = {**place, "val": None}

    def _belongs(self, result: Any, node: torch.fx.Node) -> None:
        if result is None:
            return
        if isinstance(result, NUMBERS):
            self.numbers.note(result, node)
        elif isinstance(result, (list, tuple)):
            import operator

            for index, each in enumerate(result):
                if each is None:
                    continue
                if not isinstance(each, (torch.Tensor, *NUMBERS)):
                    raise DeclinedError("lists of lists of tensors")
                item = self.graph.create_node("call_function", operator.getitem, (node, index))
                item.meta = {**node.meta, "val": each}
                self._belongs(each, item)
        elif type(result) is QuickTensor:
            if result.made_by is not None and result.made_by.graph is not node.graph:
                self.scopes.at_end_of_body(partial(setattr, result, "made_by", result.made_by))
            result.made_by = node
        else:  # a weight that the operator gave back
            before = self._weights.get(id(result))
            if before is not None and before.graph is not node.graph:
                put_back = partial(self._weights.__setitem__, id(result), before)
                self.scopes.at_end_of_body(put_back)
            self._weights[id(result)] = node

    def graph_argument(self, argument: Any) -> Any:
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
            return self.scopes.here(node)
        if isinstance(argument, (list, tuple)):
            return [self.graph_argument(each) for each in argument]
        if not isinstance(argument, NUMBERS):
            return argument
        node = self.numbers.graph_argument(argument)
        # Within a body, numbers of the graphs around it stand as they are.
        return node if getattr(node, "graph", self.graph) is self.graph else argument


class FunctionObserver(modes.FunctionMode):
    """Tells the recorder of functions that call no operator, and declines what bypasses operators.

    PyTorch tells modes of this class of autocast and of torch.func.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in _BEHIND_OPERATORS:
            raise DeclinedError(f"the model calls {name}()")
        if getattr(func, "__module__", "") == modes.TRANSFORMS:
            return self._recorder.mapping.called(func, args, self._recorder.calls)
        if func is torch.Tensor.requires_grad_:
            self._recorder.make_leaf(args[0])
        if func in MARKS:
            self._recorder.mark(func, args)
            return func(*args) if func is modes.SET_GRADIENTS else None
        if func in _READ_SIZES:
            _mark_read(args[0])
        if func is torch.Tensor.__len__:
            check_length(args[0])
        if func is torch.as_tensor and _is_of_sizes(args[:1]):
            func = torch.tensor  # which keeps them symbolic, and gives the same
        if func is torch.Tensor.tolist:
            return _listed(args[0])
        if func is torch.Tensor.__setitem__ and is_symbolic_index(args[1]):
            return write_at(*args)
        if func is torch.Tensor.contiguous:
            QuickTensor.is_copied_where_unsure = True
            try:
                return func(*args, **(kwargs or {}))
            finally:
                QuickTensor.is_copied_where_unsure = False
        return func(*args, **(kwargs or {}))


def _mark_read(tensor: Any) -> None:
    if type(tensor) is QuickTensor and tensor.made_by is not None:
        tensor.made_by.meta[SIZES_READ] = True


def _is_of_sizes(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_of_sizes, value))
    return isinstance(value, (torch.SymInt, torch.SymFloat))


def _listed(tensor: torch.Tensor) -> Any:
    """The numbers that a tensor holds, as torch.export reads them."""
    if tensor.dim() == 0:
        return tensor.item()
    return [_listed(each) for each in tensor.unbind(0)]


def run(model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The outermost frame that a call's place is looked for in."""
    return model(*args, **kwargs)


_ROOT = run
