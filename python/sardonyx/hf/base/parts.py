"""A part of a model that becomes one ONNX file, and the modules that such parts are."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from .constant_inputs import with_known
from .example import BATCH, Dims, Tensors

# What is given for tokens where images stand between them: [batch, length, width].
EMBEDDINGS = "inputs_embeds"
# Sizes of images, which most processors make the same for all.
_OF_IMAGES = frozenset(("height", "width"))


@dataclass(frozen=True)
class Part:
    """A part of a model that becomes one ONNX file.

    Attributes:
        name: of the file, without ".onnx".
        module: takes a dict of tensors, by the names of the ONNX model's inputs, and returns a
            tuple of tensors. It holds the model as `model`, under which its weights are named.
        inputs: an example.
        dims: the axes of the inputs that may vary, and their names.
        outputs: what is returned, by name.
        one_token: the same for one token at a time, where a model may not be captured for any
            number of them.
        one_row: the same for a batch of one, where the model's code may take the number of rows of
            an input for a constant.
        is_one_row: whether it is such a part itself.
        unpadded: the same for one image or sound of the example's size, none of which is padding,
            where a model may count by its mask.
        loops: whether it certainly may not, since its code does more calls for more tokens.
        must_vary: names of sizes without which it is of no use: a text that is to grow.
        known: what is the same in all runs, and so is no input: the sizes of images, and masks.
        fails_with_cache: why the model itself fails on the example, whose cache is its own; empty
            where it runs.
    """

    name: str
    module: torch.nn.Module
    inputs: Tensors
    dims: Dims
    outputs: tuple[str, ...]
    one_token: Part | None = None
    one_row: Part | None = None
    is_one_row: bool = False
    unpadded: Part | None = None
    loops: bool = False
    must_vary: frozenset[str] = frozenset()
    known: Tensors = field(default_factory=dict)
    fails_with_cache: str = ""

    @property
    def tokens(self) -> str:
        """The input of tokens or of what stands for them, [batch, length, ...]."""
        return EMBEDDINGS if EMBEDDINGS in self.inputs else "input_ids"

    def with_fewer_dims(self) -> Iterator[Part]:
        """The same where less may vary: all but the sizes of images, and then rows alone."""
        names = {name for axes in self.dims.values() for name in axes.values()}
        for kept in dict.fromkeys((frozenset(names - _OF_IMAGES), frozenset(names & {BATCH}))):
            if kept != names:
                yield self._with_dims(kept)

    def of_one_row(self) -> Part:
        """The same for a batch of one."""
        inputs, dims = dict(self.inputs), dict(self.dims)
        for name, axes in self.dims.items():
            for axis in (axis for axis, size in axes.items() if size == BATCH):
                inputs[name] = inputs[name].narrow(axis, 0, 1).contiguous()
            dims[name] = {axis: size for axis, size in axes.items() if size != BATCH}
        return replace(self, inputs=inputs, dims=dims, is_one_row=True)

    @property
    def sizes_of_images(self) -> set[tuple[str, int]]:
        """The axes that are their heights and widths, with the inputs that have them."""
        return {
            (name, axis)
            for name, axes in self.dims.items()
            for axis, size in axes.items()
            if size in _OF_IMAGES
        }

    def _with_dims(self, kept: frozenset[str]) -> Part:
        dims = {
            name: {axis: size for axis, size in axes.items() if size in kept}
            for name, axes in self.dims.items()
        }
        row = self.one_row and self.one_row._with_dims(kept)
        return replace(self, dims=dims, one_row=row)

    def with_input_names(self, message: str) -> str:
        """A message about the captured program, with the names of the ONNX model's inputs. The
        captured program has all of them in one input, `inputs`."""
        names = {re.sub(r"\W", "_", name): name for name in self.inputs}
        return re.sub(r"\binputs_(\w+)", lambda found: names.get(found[1], found[0]), message)


def variants(part: Part) -> Iterator[Part]:
    """The part, and all that may be captured in its place."""
    yield part
    for other in (part.one_token, part.one_row, part.unpadded):
        if other is not None:
            yield from variants(other)


def without_padding(
    one: Part, masks: Collection[str], having: Callable[[Tensors], torch.nn.Module]
) -> Part | None:
    """The part of one row without those of its inputs that are `masks`, which say that nothing is
    padding, and are known to the module that `having` makes; None where they do not, or there are
    none."""
    known = {name: value for name, value in one.inputs.items() if name in masks}
    if not known or not all(bool((value == 1).all()) for value in known.values()):
        return None
    inputs = {name: value for name, value in one.inputs.items() if name not in masks}
    dims: Dims = {name: {} for name in inputs}
    return Part(one.name, having(known), inputs, dims, one.outputs, known=known)


class ForwardWrapper(torch.nn.Module):
    """Calls the model by keyword, and returns chosen outputs alone."""

    def __init__(
        self, model: torch.nn.Module, outputs: Sequence[str], known: Tensors | None = None
    ) -> None:
        super().__init__()
        self.model = model
        self._outputs = tuple(outputs)
        self._known = known or {}

    def forward(self, inputs: Tensors) -> tuple[torch.Tensor, ...]:
        """The chosen outputs, in their order."""
        call = with_known(self.model, self._known, fixed_arguments(self.model))
        found = named_outputs(call(**inputs))
        return tuple(found[name] for name in self._outputs)


def fixed_arguments(model: torch.nn.Module, use_cache: bool = False) -> dict[str, Any]:
    """Arguments that are the same in every call, of those that forward() takes."""
    taken = accepted(model)
    return {"use_cache": use_cache} if "use_cache" in taken else {}


def accepted(model: torch.nn.Module) -> set[str]:
    """The parameters of forward()."""
    return set(inspect.signature(model.forward).parameters)


def named_outputs(result: Any) -> dict[str, torch.Tensor]:
    """The tensors that a model returned, by name; those in tuples have a number behind it."""
    if isinstance(result, torch.Tensor):
        return {"output": result}
    items = result.items() if isinstance(result, Mapping) else enumerate(result)
    found: dict[str, torch.Tensor] = {}
    for key, value in items:
        name = key if isinstance(key, str) else f"output_{key}"
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            tensors = [(i, each) for i, each in enumerate(value) if isinstance(each, torch.Tensor)]
            found |= {f"{name}.{i}": each for i, each in tensors}
        elif isinstance(value, Mapping) and not hasattr(value, "layers"):
            found |= {f"{name}.{k}": v for k, v in named_outputs(value).items()}
    return found
