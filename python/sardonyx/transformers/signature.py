"""What a graph takes and returns, in terms of the model's own arguments and results.

It is recorded in the metadata of an exported component: `in_spec` and `out_spec` hold JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx._base.errors import OnnxExporterError, refusal, usage_error
from sardonyx._model.inputs import feed_of, values_in
from sardonyx._model.program import ONNXProgram
from sardonyx._transformers_private.caches import is_cache
from sardonyx._transformers_private.structures import flatten, symbolic_leaves, unflatten
from sardonyx._transformers_private.trees import Number


@dataclass(frozen=True)
class GraphInput:
    """An input that a graph declares: its name, and its sizes, which are names where they vary."""

    name: str
    shape: Sequence[int | str | None]
    dtype: torch.dtype


@dataclass(frozen=True)
class Signature:
    """Which inputs the tensors of each argument are, and which outputs those of the result.

    Attributes:
        arguments: by argument the names of graph inputs, in the order of its tensors.
        caches: arguments that a run may leave out, or give without tokens.
        description: of the result, as `structures` has it.
        results: the names of graph outputs, in the order of the result's tensors and numbers.
        numbers: those of them that are numbers of a cache, as a size that it holds.
        fixed: by argument the elements, as lists, that the graph has for it; it takes no others.
    """

    arguments: Mapping[str, Sequence[str]]
    caches: Sequence[str]
    description: Any
    results: Sequence[str]
    numbers: Sequence[str] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tensors(self) -> list[str]:
        """The names of graph outputs, in the order of the result's tensors."""
        return [name for name in self.results if name not in self.numbers]

    @property
    def in_spec(self) -> str:
        """The arguments as JSON."""
        return json.dumps({"arguments": self.arguments, "caches": self.caches, "fixed": self.fixed})

    @property
    def out_spec(self) -> str:
        """The result as JSON."""
        return json.dumps(
            {
                "description": self.description,
                "results": self.results,
                "numbers": list(self.numbers),
            }
        )

    @classmethod
    def of(cls, in_spec: str, out_spec: str) -> Signature:
        """Reads both again."""
        return cls(**json.loads(in_spec), **json.loads(out_spec))

    def feed(self, given: Mapping[str, Any], declared: Sequence[GraphInput]) -> dict[str, Any]:
        """The graph's inputs by name, for arguments of the model. A cache that is not given, or
        that is empty, is a cache of no tokens. UsageError where another argument is missing."""
        for argument, values in self.fixed.items():
            value = given.get(argument)
            if value is not None and value.tolist() != values:
                raise usage_error(
                    f"the graph was exported for {argument}={values}, which its number of steps "
                    f"depends on; it was called with {value.tolist()}",
                    "export the model with an example of these values",
                )
        feed: dict[str, Any] = {}
        missing = []
        for argument, names in self.arguments.items():
            leaves = flatten(given.get(argument))[0]
            if len(leaves) == len(names):
                feed.update(zip(names, leaves, strict=True))
            elif leaves or argument not in self.caches:
                missing.append(f"{argument} ({len(names)} tensors, got {len(leaves)})")
        if missing:
            raise usage_error(f"the graph takes {', '.join(missing)}")
        sizes = _sizes_in(feed, declared)
        for each in declared:
            if each.name not in feed:
                shape = [
                    size if isinstance(size, int) else sizes.get(size, 0) for size in each.shape
                ]
                feed[each.name] = torch.zeros(shape, dtype=each.dtype)
        return feed

    def result(self, outputs: Mapping[str, torch.Tensor]) -> Any:
        """What the model returns, of the graph's outputs by name."""
        return unflatten([outputs[name] for name in self.results], self.description)


def _sizes_in(feed: Mapping[str, Any], declared: Sequence[GraphInput]) -> dict[Any, int]:
    """The sizes that the given inputs have, by the names of the graph's dimensions."""
    return {
        size: int(length)
        for each in declared
        if each.name in feed
        for size, length in zip(each.shape, feed[each.name].shape, strict=False)
    }


def signature_of(
    program: ONNXProgram,
    inputs: Mapping[str, Any],
    result: Any,
    fixed: Mapping[str, torch.Tensor] | None = None,
) -> Signature:
    """The signature of a program that was exported for these inputs, and of what the model returned
    for them in eager PyTorch, with the arguments `fixed` that are constants of the program.

    SX1016 where arguments or results hold something that is no input or output of the program.
    """
    feed = feed_of(program.captured, (), inputs)
    names = _names_by_tensor(program.input_names, feed)
    taken: dict[int, int] = {}  # a tensor may be several arguments
    arguments = {
        argument: _named(flatten(value)[0], names, f"argument '{argument}'", taken)
        for argument, value in inputs.items()
    }
    leaves, description = flatten(result, _result_spec(program))
    numbers = _names_of_numbers(program)
    values = values_in(result)
    others = [name for name in program.output_names if name not in numbers]
    outputs = _names_by_tensor(others[: len(values)], values)
    unused = iter(numbers)
    for leaf in leaves:
        if isinstance(leaf, Number):
            outputs[id(leaf)] = [next(unused)]
    return Signature(
        {argument: found for argument, found in arguments.items() if found},
        [name for name, value in inputs.items() if is_cache(value)],
        description,
        _named(leaves, outputs, "the result", None),
        numbers,
        {name: value.tolist() for name, value in (fixed or {}).items()},
    )


def _result_spec(program: ONNXProgram) -> Any:
    """The TreeSpec of the result in the captured program, if it has one."""
    return getattr(getattr(program.captured, "call_spec", None), "out_spec", None)


def _names_of_numbers(program: ONNXProgram) -> list[str]:
    """The outputs that are numbers of caches and other objects, as the sizes they hold."""
    symbolic = symbolic_leaves(_result_spec(program))
    if not any(symbolic):
        return []
    specs = program.captured.graph_signature.output_specs
    results = [spec.arg for spec in specs if spec.kind.name == "USER_OUTPUT"]
    # As in `values_in`: None and strings of a result are no outputs.
    flags = [
        flag
        for flag, argument in zip(symbolic, results, strict=True)
        if not hasattr(argument, "value") or not isinstance(argument.value, (str, type(None)))
    ]
    return [name for name, flag in zip(program.output_names, flags, strict=False) if flag]


def _names_by_tensor(names: Sequence[str], values: Sequence[Any]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, value in zip(names, values, strict=True):
        found.setdefault(id(value), []).append(name)
    return found


def _named(
    leaves: Sequence[Any],
    names: Mapping[int, list[str]],
    where: str,
    taken: dict[int, int] | None,
) -> list[str]:
    """The names of tensors. One that stands in several places of a result is one output or several,
    which are equal; arguments have an input for each place, and `taken` counts those that have got
    their names."""
    found = []
    for leaf in leaves:
        known = names.get(id(leaf), [])
        at = 0 if taken is None else taken.get(id(leaf), 0)
        if taken is not None:
            taken[id(leaf)] = at + 1
        if at >= len(known):
            raise refusal(
                "SX1016",
                f"{where} holds a tensor of shape {list(leaf.shape)} that the exported model does "
                "not know of",
                "export the model with sardonyx.export()",
                OnnxExporterError,
            )
        found.append(known[at])
    return found
