"""Loops of Python over dynamic sizes: each body is run once, and is the body of a loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.aliases import roots
from sardonyx._capture.meta_tracer.tracer.autocast_regions import finish
from sardonyx._capture.meta_tracer.tracer.tracer import Recorder
from sardonyx._capture.patches.size_loops import UNSET, Items, State
from sardonyx._torch_private import pytree

from .branch_exploration import BranchExplorer
from .closures import keeping_objects
from .higher_order_ops import TracedBody, given_to, looped
from .repeated_calls import CallHistory

_LOOP = "a loop over a dynamic size"


class SizeLoops:
    """Captures such loops with the branches in their bodies."""

    def __init__(self, recorder: Recorder, branches: BranchExplorer) -> None:
        self.are_any = False
        self._recorder = recorder
        self._branches = branches

    def loop(self, over: Items, body: Callable[..., State], before: State) -> State:
        """What the variables of `before` hold behind the loop."""
        self.are_any = True
        result: State = self._recorder.calls.result(
            _LOOP, lambda: self._recorded(over, body, before)
        )
        return result

    def _recorded(self, over: Items, body: Callable[..., State], before: State) -> State:
        recorder = self._recorder
        if recorder.mapping.is_open or torch.is_grad_enabled():
            raise DeclinedError("a loop over a dynamic size in a region of its own")
        names = [name for name, value in before.items() if _is_carried(value)]
        carried_inputs = [0, *(before[name] for name in names)]
        number = recorder.fake_kernels.number
        carried = [number() if isinstance(x, (int, torch.SymInt)) else x for x in carried_inputs]
        index = carried[0]
        torch._check(index >= 0)
        torch._check(index < over.count)
        around, recorder.calls = recorder.calls, CallHistory()
        try:
            with recorder.scopes.opened() as scope, keeping_objects(body, before):
                given = [given_to(scope, each) for each in carried]
                values = {**before, **dict(zip(names, given[1:], strict=True))}
                leaves, _ = self._branches.given_in_body(
                    lambda: self._run(over.item(index), body, values, names)
                )
                leaves = [index + 1, *map(self._apart, leaves)]
                recorder.graph.output(tuple(recorder.graph_argument(each) for each in leaves))
                finish(recorder.graph)
        finally:
            recorder.calls = around
        step = TracedBody(scope, leaves, pytree.tree_flatten(tuple(leaves))[1])
        going = self._condition(index < over.count, carried)
        results = looped(recorder, carried_inputs, carried, going, step)
        return {
            **dict.fromkeys(before, UNSET),
            **_kept(before),
            **dict(zip(names, results[1:], strict=True)),
        }

    def _condition(self, is_within: Any, carried: Sequence[Any]) -> TracedBody:
        recorder = self._recorder
        with recorder.scopes.opened() as scope:
            for each in carried:
                given_to(scope, each)
            recorder.graph.output((recorder.graph_argument(is_within),))
        return TracedBody(scope, [is_within], None)

    def _run(
        self, item: Any, body: Callable[..., State], values: State, names: list[str]
    ) -> tuple[list[Any], Any]:
        after = body(item, *values.values())
        for name, value in _kept(values).items():
            if name not in names and not _is_unchanged(value, after.get(name, UNSET)):
                raise DeclinedError(f"a loop over a dynamic size changes {name!r}, no tensor")
        return pytree.tree_flatten([after.get(name, UNSET) for name in names])

    def _apart(self, leaf: Any) -> Any:
        """A result that lies in no memory of what the body was given."""
        if not isinstance(leaf, torch.Tensor):
            return leaf
        node = self._recorder.graph_argument(leaf)
        is_given = any(root.op == "placeholder" for root in roots(node))
        return leaf.clone() if is_given else leaf


def _is_carried(value: Any) -> bool:
    is_number = isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)
    return is_number or isinstance(value, torch.Tensor)


def _kept(before: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that have a value, and that no loop may change."""
    return {n: v for n, v in before.items() if v is not UNSET and not _is_carried(v)}


def _is_unchanged(before: Any, after: Any) -> bool:
    if before is after:
        return True
    return (
        type(before) is type(after) and isinstance(before, (bool, float, str)) and before == after
    )
