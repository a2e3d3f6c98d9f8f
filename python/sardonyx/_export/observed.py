"""The calls that an `InputObserver` has seen."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx._base.errors import usage_error
from sardonyx._capture.shapes.dynamic_shapes import shaped_like
from sardonyx._torch_private import pytree

_PLAIN = (bool, int, float, str)


@dataclass
class Call:
    """One call.

    Attributes:
        values: what was passed of tensors and what holds some, by name, copied.
        settings: numbers and texts that are not the defaults.
        positional: how many of `values` were passed by position, at most.
        outputs: the tensors that came of it, copied, and None.
        seconds: how long it took.
    """

    values: dict[str, Any]
    settings: dict[str, Any]
    positional: int
    outputs: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    def finish(self, result: Any, seconds: float) -> None:
        """Keeps what came of it."""
        self.seconds = seconds
        leaves = pytree.tree_leaves(result)
        self.outputs = [_copy(x) for x in leaves if x is None or isinstance(x, torch.Tensor)]


class ObservedCalls:
    """The calls of one method, and what their inputs have in common."""

    def __init__(self, signature: inspect.Signature, missing: Mapping[str | int, Any]) -> None:
        """`missing` is what inputs are that a call leaves out, by name or position."""
        self.calls: list[Call] = []
        self._signature = signature
        self._names = list(signature.parameters)
        of_kind = {p.kind: p.name for p in signature.parameters.values()}
        self._rest = of_kind.get(inspect.Parameter.VAR_POSITIONAL)
        self._keywords = of_kind.get(inspect.Parameter.VAR_KEYWORD)
        self._missing = {self._name_of(key): value for key, value in missing.items()}

    def _name_of(self, key: str | int) -> str:
        if isinstance(key, int) and key < len(self._names):
            return self._names[key]
        if isinstance(key, str) and (key in self._names or self._keywords):
            return key
        raise usage_error(
            f"value_if_missing names {key!r}, which is no input", ", ".join(self._names)
        )

    def add(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """Keeps the inputs of a call."""
        self.calls.append(self._call(args, kwargs, copied=True))
        return self.calls[-1]

    def _call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], copied: bool) -> Call:
        given = dict(self._signature.bind(*args, **kwargs).arguments)
        given.update(given.pop(self._keywords, {}) if self._keywords else {})
        settings, values = {}, {}
        for name, value in given.items():
            if isinstance(value, _PLAIN):
                # torch.export cannot take settings within **kwargs; generate() passes some that
                # change nothing, and so torch.onnx leaves them out, too.
                known = self._signature.parameters.get(name)
                if known is not None and known.default != value:
                    settings[name] = value
            elif value is not None:
                values[name] = pytree.tree_map(_copy, value) if copied else value
        for name, value in self._missing.items():
            values.setdefault(name, value)
        return Call(values, settings, len(args))

    def inputs(self) -> dict[str, list[Any]]:
        """What each call passed of each input, in forward()'s order; None where it was left out."""
        settings = self.calls[0].settings
        for call in self.calls[1:]:
            if call.settings != settings:
                raise usage_error(f"calls differ in {settings} and {call.settings}")
        names = dict.fromkeys(name for call in self.calls for name in call.values)
        last = len(self._names)
        order = {name: place for place, name in enumerate(self._names)}
        ordered = sorted(names, key=lambda name: order.get(name, last))
        return {name: [call.values.get(name) for call in self.calls] for name in ordered}

    def leaves(self, name: str) -> tuple[Any, list[list[torch.Tensor | None]]]:
        """How an input is built, and its tensors in every call that passed it."""
        passed = [value for value in self.inputs()[name] if _holds(value)]
        flat = [pytree.tree_flatten(value) for value in passed or self.inputs()[name][:1]]
        counts = {len(tensors) for tensors, _ in flat}
        if len(counts) != 1:
            raise usage_error(
                f"'{name}' has {' and '.join(map(str, sorted(counts)))} tensors in different calls"
            )
        return flat[0][1], [tensors for tensors, _ in flat]

    def free(self, name: str, batch: bool = False) -> list[list[int]]:
        """For each tensor of an input, the dims that vary."""
        found = []
        for place, several in enumerate(zip(*self.leaves(name)[1], strict=True)):
            shapes = [tuple(each.shape) for each in several if isinstance(each, torch.Tensor)]
            if len({len(shape) for shape in shapes}) > 1:
                raise usage_error(f"tensor {place} of '{name}' has different ranks: {shapes}")
            axes = range(len(shapes[0])) if shapes else ()
            varies = [len({shape[axis] for shape in shapes}) > 1 for axis in axes]
            found.append([axis for axis in axes if varies[axis] or (batch and axis == 0)])
        return found

    def dynamic_shapes(self, batch_of: set[int | str] | bool | None) -> Any:
        """As torch.export takes them."""
        dynamic = torch.export.Dim.DYNAMIC
        shapes: dict[str, Any] = {}
        for name in self.inputs():
            free = self.free(name, self._has_batch(name, batch_of))
            leaves = [dict.fromkeys(axes, dynamic) for axes in free]
            shapes[name] = shaped_like(self.leaves(name)[0], leaves)
        if self._all_positional():
            return tuple(shapes.values())
        shapes |= dict.fromkeys(self.calls[0].settings)
        extra = {name: shape for name, shape in shapes.items() if name not in self._names}
        if not extra or self._keywords is None:
            return shapes
        return {n: s for n, s in shapes.items() if n in self._names} | {self._keywords: extra}

    def _has_batch(self, name: str, batch_of: set[int | str] | bool | None) -> bool:
        if isinstance(batch_of, bool) or not batch_of:
            return bool(batch_of)
        return name in batch_of or (name in self._names and self._names.index(name) in batch_of)

    def _all_positional(self) -> bool:
        """Whether every input was passed by position in every call, and nothing else was."""
        inputs = list(self.inputs())
        return (
            self._rest is None
            and not self.calls[0].settings
            and inputs == self._names[: len(inputs)]
            and all(call.positional >= len(call.values) for call in self.calls)
        )

    def call_of(self, chosen: tuple[Any, ...] | dict[str, Any] | int | None) -> Call:
        """A call by its number, one with these inputs, or the first that leaves least out."""
        if isinstance(chosen, tuple):
            return self._call(chosen, {}, copied=False)
        if isinstance(chosen, dict):
            return self._call((), chosen, copied=False)
        if chosen is None:
            return min(self.calls, key=lambda call: (self._ones(call), self.left_out(call)))
        if not -len(self.calls) <= chosen < len(self.calls):
            raise usage_error(f"there is no call {chosen}: {len(self.calls)} were kept")
        return self.calls[chosen]

    def _ones(self, call: Call) -> int:
        """How many dims that vary are 1 in the call: a program that is captured with them knows
        too well what they are."""
        ones = 0
        for name, value in call.values.items():
            tensors = pytree.tree_leaves(value)
            for tensor, axes in zip(tensors, self.free(name), strict=False):
                if isinstance(tensor, torch.Tensor):
                    ones += sum(tensor.shape[axis] == 1 for axis in axes)
        return ones

    def left_out(self, call: Call) -> int:
        """How many tensors the call did not pass."""
        return sum(
            len(self.leaves(name)[1][0])
            for name in self.inputs()
            if not _holds(call.values.get(name))
        )

    def completed(self, call: Call) -> dict[str, Any]:
        """The inputs of a call, empty tensors where it left some out."""
        values = {}
        for name in self.inputs():
            value = call.values.get(name)
            if not _holds(value):
                spec, several = self.leaves(name)
                free = self.free(name)
                empty = [_emptied(x, axes) for x, axes in zip(several[0], free, strict=True)]
                value = pytree.tree_unflatten(empty, spec)
            values[name] = value
        return values

    def flat(self, call: Call) -> list[torch.Tensor]:
        """The tensors of the completed inputs."""
        return pytree.tree_leaves(list(self.completed(call).values()))

    def arguments(self, call: Call, as_pair: bool) -> Any:
        """A tuple of positional inputs or a dict of the others; or a pair of both."""
        values = self.completed(call)
        positional = self._all_positional()
        settings = self.calls[0].settings
        if self._rest is not None and self._rest in values:
            if not as_pair:
                raise usage_error(
                    f"*{self._rest} cannot be passed by keyword", "ask with as_args_kwargs=True"
                )
            before = self._names[: self._names.index(self._rest)]
            args = [values.pop(name) for name in before if name in values]
            return (*args, *values.pop(self._rest)), values | settings
        if positional:
            args = list(values.values())
            return (tuple(args), {}) if as_pair else tuple(args)
        return ((), values | settings) if as_pair else values | settings


def _holds(value: Any) -> bool:
    """Whether there is a tensor in it: an empty cache is a cache that is left out."""
    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value))


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _emptied(value: Any, axes: list[int]) -> Any:
    """Nothing along the last dim that varies; zeros where none does."""
    if not isinstance(value, torch.Tensor):
        return value
    shape = list(value.shape)
    if axes:
        shape[axes[-1]] = 0
    return value.new_zeros(shape)
