"""Runs a model and the program it was made of side by side, value by value.

ONNX Runtime gets the model in parts of a few dozen nodes, each fed with what the parts before gave.
PyTorch runs up to the same values. What neither needs any more is let go at once.

What an optimized model has fused away is compared in a second run, of a translation of the same
program that is not optimized and hands every value out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx import _native
from sardonyx._base.heap import give_back
from sardonyx._compare.comparison import Comparison
from sardonyx._compare.differences import VerificationInfo, compared, differing_shapes
from sardonyx._export.convert import translated_with_values
from sardonyx._model.inputs import feed_of
from sardonyx._model.program import ONNXProgram
from sardonyx._runtime.session import open_session, run

from .choices import Choice, may_choose
from .eager import Eager, Place, maker_of
from .placeholders import outputs_of

if TYPE_CHECKING:
    import torch

# How much of the model runs at once: nodes, and bytes of the values that are compared.
_NODES_AT_ONCE = 48
_BYTES_AT_ONCE = 64 << 20
_PREFIX = "value::"  # of the outputs that hold the program's values

# Which of the program's values a value of the model is, by its name and its captured node.
_KeyOf = Callable[[str, str], str | None]
_Infos = dict[str, VerificationInfo]


def compare_intermediate_values(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Comparison:
    """Every tensor that the program computes, beside what the model has for it, and its outputs."""
    # Operators that the export decomposed are decomposed in it, too.
    translated, exported = translated_with_values(program)
    own = _SideBySide(program._model, _own_values(program, exported), exported, args, kwargs)
    infos = own.compared()
    outputs = _outputs(program, exported, own.eager, own.outputs)
    places = own.eager.places
    fused = places.keys() - infos.keys() - {key for key, _ in outputs}
    if fused:

        def key_of(name: str, _captured: str) -> str | None:
            key = name.removeprefix(_PREFIX)
            return key if key != name and key in fused else None

        rest = _SideBySide(translated, key_of, exported, args, kwargs)
        infos |= {key: replace(info, in_model=False) for key, info in rest.compared().items()}
    missing = [key for key in places if key in fused and key not in infos]
    return Comparison(_in_order(infos, outputs, places), len(places), missing)


def _own_values(program: ONNXProgram, exported: Any) -> _KeyOf:
    """A value bears its node's name, unless it is an output, which has a name of its own; where
    PyTorch's node is one of several results, it is the one that takes it. One that nobody reads is
    in no model, whatever has its name."""
    outputs = set(program.output_names)
    pairs = [(node, maker_of(node)) for node in exported.graph.nodes]
    makers = {node.name: maker.name for node, maker in pairs if node.users or node is maker}
    return lambda name, node: name if makers.get(name) == node and name not in outputs else None


def _outputs(
    program: ONNXProgram, exported: Any, eager: Eager, got: Mapping[str, Any]
) -> list[tuple[str, VerificationInfo]]:
    """The model's outputs beside what the program has at its end, each with its value's key."""
    import torch

    found = []
    wanted = outputs_of(exported, eager.results(), eager.written())
    for name, (key, want) in zip(program.output_names, wanted, strict=False):
        if name in got and isinstance(want, (torch.Tensor, int, float, bool)):
            info = _info(name, want, got[name])
            found.append((key, _tie_or_not(info, eager.choices.get(key), want, got[name])))
    return found


def _in_order(
    infos: _Infos, outputs: list[tuple[str, VerificationInfo]], places: Mapping[str, Place]
) -> list[VerificationInfo]:
    """As the program computes them, with where they come from; what it returns unchanged last."""

    def placed(key: str, info: VerificationInfo) -> tuple[int, VerificationInfo]:
        place = places.get(key)
        if place is None:
            return len(places), info
        return place.position, replace(
            info,
            operator=place.operator,
            module_path=place.module_path,
            location=place.location,
        )

    every = [placed(key, info) for key, info in (*infos.items(), *outputs)]
    return [info for _, info in sorted(every, key=lambda pair: pair[0])]


def _info(name: str, want: Any, got: Any) -> VerificationInfo:
    try:
        return compared(name, want, got).info()
    except ValueError:
        return differing_shapes(name, want, got)


def _tie_or_not(
    info: VerificationInfo, choice: Choice | None, want: Any, got: Any
) -> VerificationInfo:
    if choice is None or info.wrong_elements == 0:
        return info
    return replace(info, is_tie=choice.is_tie(got, want))


class _Part(NamedTuple):
    begin: int
    end: int
    values: list[tuple[str, str]]  # (value of the model, key of the program's)


class _SideBySide:
    """A model and its program on the same arguments.

    Attributes:
        eager: the program, as far as it has run.
        outputs: the model's own outputs, after compared().
    """

    def __init__(
        self,
        model: Any,
        key_of: _KeyOf,
        exported: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._model = model
        names = [name for name, _, _ in model.inputs]
        self._held: dict[str, Any] = dict(zip(names, feed_of(exported, args, kwargs), strict=True))
        self._parts = list(_parts(model, key_of, exported))
        self._wanted_outputs = {name for name, _, _ in model.outputs if not _is_value(name)}
        self.outputs: dict[str, Any] = {}
        wanted = {key for part in self._parts for _, key in part.values}
        self.eager = Eager(exported, args, kwargs, wanted)

    def compared(self) -> _Infos:
        """The values that both have, by key."""
        infos: _Infos = {}
        read = _needed_later(self._model, self._parts)
        for part, (inputs, needed) in zip(self._parts, read, strict=True):
            got = self._run(part, inputs, needed)
            for name, key in part.values:
                want = self.eager.value_of(key)
                if want is None:
                    continue
                infos[key] = info = self._compared(key, want, got[name])
                if info.is_tie:  # what follows is to follow from the same choice
                    got[name] = want
            self.outputs |= {n: got[n] for n in self._wanted_outputs & got.keys()}
            self._held.update(got)
            for name in [name for name in self._held if name not in needed]:
                del self._held[name]
            del got
            give_back()
        return infos

    def _compared(self, key: str, want: torch.Tensor, got: torch.Tensor) -> VerificationInfo:
        info = _info(key, want, got)
        return _tie_or_not(info, self.eager.choices.pop(key, None), want, got)

    def _run(self, part: _Part, inputs: Sequence[str], needed: set[str]) -> dict[str, Any]:
        values = [name for name, _ in part.values]
        cut = _native.extract(self._model, part.begin, part.end, values)
        wanted = needed | self._wanted_outputs | set(values)
        outputs = [name for name, _, _ in cut.outputs if name in wanted]
        if not outputs:
            return {}
        results = _run(cut, {name: self._held[name] for name in inputs}, outputs)
        return dict(zip(outputs, results, strict=True))


def _is_value(name: str) -> bool:
    return name.startswith(_PREFIX)


def _run(cut: Any, feed: Mapping[str, Any], outputs: list[str]) -> list[Any]:
    try:
        message: str | bytes = _native.serialize(
            cut, include_initializers=True, keep_initializers_as_inputs=False
        )
    except Exception:
        part = ONNXProgram(cut)
        part.initialize_inference_session()
        try:
            return run(part._session, feed, outputs)
        finally:
            part.release()
    return run(open_session(message), feed, outputs)


def _parts(model: Any, key_of: _KeyOf, exported: Any) -> Iterator[_Part]:
    """The model's nodes in parts, with the values that the program has, too.

    A part ends behind what chooses among numbers, so that PyTorch's choice can be put in the place
    of another that is as right.
    """
    sizes = {node.name: _size(node) for node in exported.graph.nodes}
    choosing = {node.name for node in exported.graph.nodes if may_choose(maker_of(node))}
    nodes = _native.nodes(model)
    begin, size = 0, 0
    values: list[tuple[str, str]] = []
    for i, (_, _, _, captured, names, typed) in enumerate(nodes):
        is_choice = False
        for name in names:
            key = key_of(name, captured) if name else None
            if key is not None:
                values.append((name, key))
                size += sizes.get(key, 0)
                is_choice |= key in choosing
        full = i + 1 - begin >= _NODES_AT_ONCE or size >= _BYTES_AT_ONCE
        if ((full or is_choice) and typed) or i + 1 == len(nodes):
            yield _Part(begin, i + 1, values)
            begin, values, size = i + 1, [], 0


def _needed_later(model: Any, parts: list[_Part]) -> list[tuple[list[str], set[str]]]:
    """For each part what it reads, and what the parts behind it read."""
    reads = [
        [name for name, _, _ in _native.extract(model, part.begin, part.end, []).inputs]
        for part in parts
    ]
    result: list[tuple[list[str], set[str]]] = []
    needed: set[str] = set()
    for read in reversed(reads):
        result.append((read, set(needed)))
        needed |= set(read)
    return result[::-1]


def _size(node: torch.fx.Node) -> int:
    """The bytes of a node's value in the example, 0 where nothing tells."""
    import torch

    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return 0
    count = value.element_size()
    for size in value.shape:
        hint = size if isinstance(size, int) else getattr(size.node, "hint", None)
        count *= int(hint) if hint is not None else 1
    return count
