"""`x.unsqueeze_(0)` and its like: the same tensor with other sizes from then on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import Sizes, is_static
from sardonyx._torch_private import modes, operators

_aten = torch.ops.aten

# What gives a view of the sizes that each makes.
VIEW_OF: dict[Any, Any] = {
    _aten.unsqueeze_.default: _aten.unsqueeze.default,
    _aten.squeeze_.default: _aten.squeeze.default,
    _aten.squeeze_.dim: _aten.squeeze.dim,
    _aten.squeeze_.dims: _aten.squeeze.dims,
    _aten.t_.default: _aten.t.default,
    _aten.transpose_.default: _aten.transpose.int,
    _aten.swapaxes_.default: _aten.swapaxes.default,
    _aten.swapdims_.default: _aten.swapdims.default,
}


@dataclass(frozen=True)
class _Geometry:
    dims: Sizes
    steps: Sizes
    made_by: torch.fx.Node

    def give_to(self, tensor: QuickTensor) -> None:
        if is_static((*self.dims, *self.steps)):
            modes.set_geometry(tensor, self.dims, self.steps)
        tensor.dims, tensor.steps, tensor.made_by = self.dims, self.steps, self.made_by


@dataclass(frozen=True)
class InPlaceView:
    """A call that gave a tensor another geometry."""

    tensor: QuickTensor
    before: _Geometry
    after: _Geometry

    @staticmethod
    def of(
        tensor: torch.Tensor, graph: torch.fx.Graph, call: Callable[[], QuickTensor]
    ) -> InPlaceView:
        """`call` writes down the call, and gives a view that lies as the tensor does from then on.
        Declines weights, and what stands outside of this graph."""
        made_by = getattr(tensor, "made_by", None)
        if type(tensor) is not QuickTensor or made_by is None or made_by.graph is not graph:
            raise DeclinedError("a tensor of another graph, or a weight, gets other sizes in place")
        _keep_geometry(tensor, graph)
        view = call()
        if is_static(view.dims) is not is_static(tensor.dims) or view.made_by is None:
            raise DeclinedError("a tensor loses its dynamic sizes in place")
        before = _Geometry(tensor.dims, tensor.steps, made_by)
        return InPlaceView(tensor, before, _Geometry(view.dims, view.steps, view.made_by))

    def apply(self) -> torch.Tensor:
        """Gives the tensor its new geometry, and gives the tensor."""
        self.after.give_to(self.tensor)
        return self.tensor

    def undo(self) -> None:
        """As it was before the call."""
        self.before.give_to(self.tensor)


def _keep_geometry(tensor: QuickTensor, graph: torch.fx.Graph) -> None:
    """What the nodes so far say of the tensor stays as it is."""
    kept = QuickTensor.of(tensor.dims, tensor.steps, tensor.dtype)
    for node in graph.nodes:
        if node.meta.get("val") is tensor:
            node.meta["val"] = kept
            if not all(operators.is_overload(user.target) for user in node.users):
                raise DeclinedError("a tensor gets other sizes in place that a branch has read")
