"""Loops of Python over dynamic sizes: each body is run once, and is the body of a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.aliases import roots, written
from sardonyx._capture.meta_tracer.meta.results import dims_of
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import is_by_data, same
from sardonyx._capture.meta_tracer.tracer.autocast_regions import finish
from sardonyx._capture.meta_tracer.tracer.tracer import Recorder
from sardonyx._capture.patches.collected_rows import CollectedRows
from sardonyx._capture.patches.size_loops import UNSET, Items, State
from sardonyx._torch_private import operators, pytree
from sardonyx._torch_private import sizes as torch_sizes

from .branch_exploration import BranchExplorer
from .closures import keeping_objects
from .higher_order_ops import TracedBody, given_to, looped
from .repeated_calls import CallHistory
from .scopes import Scope

_LOOP = "a loop over a dynamic size"


class SizeLoops:
    """Captures such loops with the branches in their bodies."""

    def __init__(self, recorder: Recorder, branches: BranchExplorer) -> None:
        self.are_any = False
        self._recorder = recorder
        self._branches = branches

    def loop(
        self,
        over: Items,
        body: Callable[..., State],
        before: State,
        collected: Sequence[str],
    ) -> State:
        """What the variables of `before` hold behind the loop, and what was `collected`."""
        self.are_any = self._branches.meets_loops = True
        result: State = self._recorder.calls.result(
            _LOOP, lambda: self._recorded(over, body, before, collected)
        )
        return result

    def _recorded(
        self,
        over: Items,
        body: Callable[..., State],
        before: State,
        collected: Sequence[str],
    ) -> State:
        recorder = self._recorder
        is_in_region = torch.is_grad_enabled() or torch.is_autocast_enabled("cpu")
        if recorder.mapping.is_open or is_in_region:
            raise DeclinedError("a loop over a dynamic size in a region of its own")
        names = [name for name, value in before.items() if _is_carried(value)]
        rows = Rows(collected)
        while True:
            rebound: set[str] = set()
            carried_inputs = [0, *(before[name] for name in names)]
            carried = [self._carried(each) for each in carried_inputs]
            step = self._step(
                over, body, before, names=names, carried=carried, rebound=rebound, rows=rows
            )
            assigned = [name for name in names if name in rebound or not _is_tensor(before[name])]
            if assigned == names and rows.are_made:
                break
            rows.make(over.count)
            names = assigned  # the others are tensors that the body writes to in place
        nodes = [recorder.graph_argument(each) for each in carried_inputs]
        _check_writes(step.scope, nodes)
        going = self._condition(carried[0] < over.count, carried)
        results = looped(recorder, carried_inputs, carried, going, step)
        after = {**before, **dict(zip(names, results[1:], strict=True))}
        return {**{name: after[name] for name in before}, **rows.collected()}

    def _carried(self, before: Any) -> Any:
        is_int = isinstance(before, (int, torch.SymInt))
        return self._recorder.fake_kernels.number() if is_int else before

    def _step(
        self,
        over: Items,
        body: Callable[..., State],
        before: State,
        *,
        names: Sequence[str],
        carried: list[Any],
        rebound: set[str],
        rows: Rows,
    ) -> TracedBody:
        """The body of the loop. `rebound` gets the names that have another object at its end."""
        recorder = self._recorder
        torch._check(carried[0] >= 0)
        torch._check(carried[0] < over.count)
        if torch_sizes.is_fixed(carried[0]):
            # PyTorch takes a count that is 1 for sizes of 2 and more for 1, and the index for 0.
            carried[0] = self._carried(0)
            torch._check(carried[0] >= 0)
        index = carried[0]
        around, recorder.calls = recorder.calls, CallHistory()
        try:
            with recorder.scopes.opened() as scope, keeping_objects(body, before):
                given = [given_to(scope, each) for each in carried]
                values = {**before, **dict(zip(names, given[1:], strict=True))}

                def run() -> tuple[list[Any], Any]:
                    after = body(over.item(index), *values.values())
                    rows.write(index, after)
                    return _given(values, after, names, rebound)

                leaves, _ = self._branches.given_in_body(run)
                leaves = [index + 1, *map(self._apart, leaves)]
                recorder.graph.output(tuple(recorder.graph_argument(each) for each in leaves))
                finish(recorder.graph)
        finally:
            recorder.calls = around
        return TracedBody(scope, leaves, pytree.tree_flatten(tuple(leaves))[1])

    def _condition(self, is_within: Any, carried: Sequence[Any]) -> TracedBody:
        recorder = self._recorder
        with recorder.scopes.opened() as scope:
            for each in carried:
                given_to(scope, each)
            recorder.graph.output((recorder.graph_argument(is_within),))
        return TracedBody(scope, [is_within], None)

    def _apart(self, leaf: Any) -> Any:
        """A result that lies in no memory of what the body was given."""
        if not isinstance(leaf, torch.Tensor):
            return leaf
        node = self._recorder.graph_argument(leaf)
        is_given = any(root.op == "placeholder" for root in roots(node))
        return leaf.clone() if is_given else leaf


class Rows:
    """The elements that a loop collects: of each list, a tensor of them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._kinds: dict[str, tuple[tuple[Any, ...], torch.dtype]] = {}
        self._tensors: dict[str, torch.Tensor] = {}

    @property
    def are_made(self) -> bool:
        """Whether the tensors are there. Before that, runs of the body tell what elements are."""
        return self._tensors.keys() >= set(self._names)

    def make(self, count: Any) -> None:
        """Makes them."""
        for name, (dims, dtype) in self._kinds.items():
            if name not in self._tensors:
                self._tensors[name] = torch.zeros((count, *dims), dtype=dtype)

    def write(self, index: Any, after: State) -> None:
        """Writes the elements of one run of the body."""
        for name in self._names:
            element = after.get(name)
            if type(element) is not QuickTensor or is_by_data(dims_of(element)):
                raise DeclinedError("a loop collects no tensors, or such of data-dependent sizes")
            kind = dims_of(element), element.dtype
            dims, dtype = self._kinds.setdefault(name, kind)
            if dtype != kind[1] or len(dims) != len(kind[0]) or not all(map(same, dims, kind[0])):
                raise DeclinedError("a loop collects tensors of several types or sizes")
            if name in self._tensors:
                self._tensors[name].select(0, index).copy_(element)

    def collected(self) -> dict[str, CollectedRows]:
        """What was collected."""
        return {name: CollectedRows(tensor) for name, tensor in self._tensors.items()}


def _given(
    values: State, after: State, names: Sequence[str], rebound: set[str]
) -> tuple[list[Any], Any]:
    """What the body leaves in the variables that are carried."""
    for name, value in values.items():
        now = after.get(name, UNSET)
        if name in names:
            rebound |= {name} if now is not value else set()
        elif value is not UNSET and not _is_unchanged(value, now):
            raise DeclinedError(f"a loop over a dynamic size changes {name!r}, no tensor")
    return pytree.tree_flatten([after.get(name, UNSET) for name in names])


def _check_writes(scope: Scope, carried: Sequence[Any]) -> None:
    """Declines a body that writes to memory which it also has in another way."""
    placeholders = [node for node in scope.graph.nodes if node.op == "placeholder"]
    given = dict(zip(placeholders, carried, strict=False)) | {
        placeholder: node for node, placeholder in scope.read.items()
    }
    tensors = {each: node for each, node in given.items() if isinstance(node, torch.fx.Node)}
    for each in _written(scope.graph) & tensors.keys():
        own = roots(tensors[each])
        others = (node for other, node in tensors.items() if other is not each)
        if any(own & roots(node) for node in others):
            raise DeclinedError("a loop over a dynamic size writes to two views of a tensor")


def _written(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """The placeholders that calls may write to."""
    found: set[torch.fx.Node] = set()
    for node in graph.nodes:
        schema = operators.schema_of(node.target) if node.op == "call_function" else None
        if schema is not None and schema.is_mutable:
            arguments: list[torch.fx.Node] = []
            torch.fx.map_arg(list(written(node.target, node.args, node.kwargs)), arguments.append)
            found = found.union(*map(roots, arguments))
        elif any(each.op == "get_attr" for each in node.all_input_nodes):  # has bodies
            found = found.union(*map(roots, node.all_input_nodes))
    return {node for node in found if node.op == "placeholder"}


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _is_carried(value: Any) -> bool:
    is_number = isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)
    return is_number or isinstance(value, torch.Tensor)


def _is_unchanged(before: Any, after: Any) -> bool:
    if before is after:
        return True
    return (
        type(before) is type(after) and isinstance(before, (bool, float, str)) and before == after
    )
