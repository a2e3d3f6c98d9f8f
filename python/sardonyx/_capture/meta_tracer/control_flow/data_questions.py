"""Questions of data as tensors, which a branch asks when the program runs."""

from __future__ import annotations

from typing import Any

import torch

from sardonyx._capture.meta_tracer.meta.results import dims_of
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.relations import denied
from sardonyx._capture.meta_tracer.tracer.tracer import Recorder
from sardonyx._torch_private import sizes as torch_sizes

_aten = torch.ops.aten
_COMPARING = {
    "==": _aten.eq.Scalar,
    "!=": _aten.ne.Scalar,
    "<": _aten.lt.Scalar,
    "<=": _aten.le.Scalar,
    ">": _aten.gt.Scalar,
    ">=": _aten.ge.Scalar,
}

_OF_TENSORS = {
    "==": _aten.eq.Tensor,
    "!=": _aten.ne.Tensor,
    "<": _aten.lt.Tensor,
    "<=": _aten.le.Tensor,
    ">": _aten.gt.Tensor,
    ">=": _aten.ge.Tensor,
}


class ConditionTensors:
    """Writes conditions on data into the graph where the program asks for them."""

    def __init__(self, recorder: Recorder, env: Any) -> None:
        self._recorder = recorder
        self._env = env

    def node(self, relation: Any) -> torch.fx.Node | None:
        """What gives the truth, 0-d; None where it is no tensor's, and no comparison of whole
        numbers."""
        held = self._held(relation)
        if held is not None:
            return self._is_true(held)
        opposite = denied(relation)
        refused = None if opposite is None else self._held(opposite)
        if refused is not None:
            return self._compared(refused, "==", 0)
        sign = getattr(relation, "rel_op", None)
        if sign not in _COMPARING:
            return None
        return (
            self._of_integers(relation, sign)
            or self._of_one(relation, sign)
            or self._of_reals(relation, sign)
        )

    def of(self, tensor: torch.Tensor) -> torch.fx.Node | None:
        """The truth of a tensor of one element, 0-d."""
        node = self._recorder.graph_argument(tensor)
        return self._is_true(self._one(node))

    def _is_true(self, held: torch.fx.Node) -> torch.fx.Node:
        return held if _dtype(held) is torch.bool else self._compared(held, "!=", 0)

    def _of_integers(self, relation: Any, sign: str) -> torch.fx.Node | None:
        difference = relation.lhs - relation.rhs
        if not difference.is_integer:
            return None
        number = self._env.create_symintnode(difference, hint=None)
        kind = {"dtype": torch.int64}
        held = self._written(_aten.scalar_tensor.default, (number,), torch.int64, kind)
        return self._compared(held, sign, 0)

    def _of_one(self, relation: Any, sign: str) -> torch.fx.Node | None:
        """A number that a tensor holds beside one that is known, both as Python has them."""
        number, other = relation.lhs, relation.rhs
        if number.is_number:
            number, other, sign = other, number, relation.reversed.rel_op
        held = self._held(number)
        if held is None or not other.is_number:
            return None
        wide = self._written(_aten.to.dtype, (held, torch.float64), torch.float64)
        return self._compared(wide, sign, float(other))

    def _of_reals(self, relation: Any, sign: str) -> torch.fx.Node | None:
        """Of real numbers that are computed of sizes, in Python's precision."""
        if any(map(torch_sizes.is_of_data, relation.free_symbols)):
            return None
        kind = {"dtype": torch.float64}
        sides = [
            self._written(
                _aten.scalar_tensor.default,
                (float(side) if side.is_number else self._real(side),),
                torch.float64,
                kind,
            )
            for side in (relation.lhs, relation.rhs)
        ]
        return self._written(_OF_TENSORS[sign], tuple(sides), torch.bool)

    def _real(self, number: Any) -> Any:
        return (
            torch.sym_float(self._env.create_symintnode(number, hint=None))
            if (number.is_integer)
            else self._env.create_symfloatnode(number, hint=None)
        )

    def _held(self, number: Any) -> torch.fx.Node | None:
        """The 0-d tensor that a number was read from."""
        read = self._recorder.numbers.made_by(number)
        if read is None or not isinstance(read.args[0], torch.fx.Node):
            return None
        return self._one(self._recorder.scopes.here(read.args[0]))

    def _one(self, tensor: torch.fx.Node) -> torch.fx.Node:
        """The element of a tensor of one."""
        if not dims_of(tensor.meta["val"]):
            return tensor
        return self._written(_aten.reshape.default, (tensor, []), _dtype(tensor))

    def _compared(self, tensor: torch.fx.Node, sign: str, number: Any) -> torch.fx.Node:
        return self._written(_COMPARING[sign], (tensor, number), torch.bool)

    def _written(
        self, func: Any, args: tuple[Any, ...], dtype: torch.dtype, kwargs: Any = None
    ) -> torch.fx.Node:
        made = QuickTensor.of((), (), dtype)
        node = self._recorder.write(func, args, made, kwargs)
        made.made_by = node
        return node


def _dtype(node: torch.fx.Node) -> torch.dtype:
    dtype: torch.dtype = node.meta["val"].dtype
    return dtype
