"""What tensors of a fake mode would hold: the operators that made them, run again for real.

Rotary frequencies, masks and tables of positions are computed when a model is built and stand in no
checkpoint. What a model of fake tensors does is written down, which takes no memory to speak of,
and only what leads to such a tensor is ever computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from sardonyx._base.state import is_in_onnx_export
from sardonyx._torch_private import fake_tensors, operators, pytree, state

from .meta_tracer.meta.aliases import written

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# What memory that nobody has written to holds: a result that is the same for both is right.
_UNWRITTEN = (0, 1)


class _Call(NamedTuple):
    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any


class RecordingFakeMode(fake_tensors.FakeTensorMode):
    """A fake mode that remembers what was called in it, but for what a capture calls."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._calls: list[_Call] = []
        self._depth = 0

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """As FakeTensorMode does."""
        self._depth += 1
        try:
            results = super().dispatch(func, types, args, kwargs)
        finally:
            self._depth -= 1
        # What an operator calls to find its shapes says nothing more than the operator.
        if self._depth == 0 and not is_in_onnx_export():
            self._calls.append(_Call(func, tuple(args), dict(kwargs or {}), results))
        return results

    def value_of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """What `tensor` would hold; None where that is random, or was made outside of the mode."""
        with fake_tensors.unset_fake_temporarily(), torch.no_grad():
            calls = self._leading_to(tensor)
            if any(torch.Tag.nondeterministic_seeded in call.operator.tags for call in calls):
                return None
            try:
                first, second = (_replayed(calls, tensor, filling) for filling in _UNWRITTEN)
            except Exception:
                return None
            if first is None or second is None or not torch.equal(first, second):
                return None
            return first

    def _leading_to(self, tensor: torch.Tensor) -> list[_Call]:
        """The calls that write the memory of `tensor`, and what they read, in order."""
        needed = {_memory(tensor)}
        found: list[_Call] = []
        for call in reversed(self._calls):
            if needed.isdisjoint(map(_memory, _written(call))):
                continue
            found.append(call)
            needed |= set(map(_memory, _tensors((call.args, call.kwargs))))
        return found[::-1]


def _written(call: _Call) -> Iterator[torch.Tensor]:
    yield from _tensors(call.results)
    yield from _tensors(list(written(call.operator, call.args, call.kwargs)))


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    return (leaf for leaf in pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor))


def _memory(tensor: torch.Tensor) -> int:
    return state.memory_of(tensor)


def _place(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (_memory(tensor), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)


def _replayed(calls: Iterable[_Call], wanted: torch.Tensor, filling: int) -> torch.Tensor | None:
    real: dict[int, torch.Tensor] = {}

    def known(leaf: Any) -> Any:
        if isinstance(leaf, torch.device):
            return torch.device("cpu")
        return real[id(leaf)] if isinstance(leaf, fake_tensors.FakeTensor) else leaf

    # An alias that no operator made (of a module's __setattr__, of a capture) is of the same place.
    found: torch.Tensor | None = None
    for call in calls:
        args, kwargs = pytree.tree_map(known, (call.args, call.kwargs))
        results = call.operator(*args, **kwargs)
        if "empty" in operators.schema_of(call.operator).name:
            results.fill_(filling)
        for fake, made in zip(_tensors(call.results), _tensors(results), strict=True):
            real[id(fake)] = made
            if fake is wanted or _place(fake) == _place(wanted):
                found = made
    return found


def computed_constants(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """The values of buffers that are in no state dict, and of tensors that are no buffers, where
    they are fake and computed when the module was built."""
    values: dict[str, torch.Tensor] = {}
    for name, tensor in program.constants.items():
        if not isinstance(tensor, fake_tensors.FakeTensor):
            continue
        mode = tensor.fake_mode
        value = mode.value_of(tensor) if isinstance(mode, RecordingFakeMode) else None
        if value is not None:
            values[name] = value.contiguous()
    return values
