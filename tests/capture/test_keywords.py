"""`forward(self, x, **kw)` with dynamic shapes, in every way that users say them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import pytest
import torch

import sardonyx
from sardonyx._capture.patches.keywords import call_signature, keywords_as_parameters

AUTO = torch.export.Dim.AUTO
CAPTURES = ("auto", "quick", "torch", "trace")


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


torch.export.register_dataclass(Pair, serialized_type_name="tests.capture.test_keywords.Pair")


class Sum(torch.nn.Module):
    def forward(self, x: torch.Tensor, **kw: Any) -> torch.Tensor:
        for leaf in torch.utils._pytree.tree_leaves(kw):
            x = x + leaf
        return x


class Passing(torch.nn.Module):
    """As transformers' decorators of deprecated parameters: what is passed has another name."""

    def forward(self, x: torch.Tensor, new: torch.Tensor | None = None, **kw: Any) -> torch.Tensor:
        new = kw.pop("old", new)
        return x if new is None else x * new


def at(batch: int) -> torch.Tensor:
    return torch.arange(batch * 3.0).reshape(batch, 3)


SHAPES: dict[str, Any] = {
    "flat": {"x": {0: "b"}, "y": {0: "b"}, "z": {0: "b"}},
    "of **kw together": {"x": {0: "b"}, "kw": {"y": {0: "b"}, "z": {0: "b"}}},
    "a tuple with an entry for each": ({0: "b"}, {0: "b"}, {0: "b"}),
    "a tuple with one for **kw": ({0: "b"}, {"y": {0: "b"}, "z": {0: "b"}}),
    "hints": {"x": {0: AUTO}, "y": {0: AUTO}, "kw": {"z": {0: AUTO}}},
    "every dimension": "auto",
}


@pytest.mark.parametrize("capture", CAPTURES)
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_every_form_of_shapes(shapes: Any, capture: str) -> None:
    program = sardonyx.export(
        Sum(), (at(2),), kwargs={"y": at(2), "z": at(2)}, dynamic_shapes=shapes, capture=capture
    )
    assert program.input_names == ["x", "y", "z"]
    (result,) = program(at(5), y=at(5), z=at(5))
    torch.testing.assert_close(result, 3 * at(5))
    # By keyword, in another order.
    (result,) = program(at(5), z=2 * at(5), y=at(5))
    torch.testing.assert_close(result, 4 * at(5))


@pytest.mark.parametrize("capture", CAPTURES)
def test_structures_in_them(capture: str) -> None:
    def inputs(batch: int) -> dict[str, Any]:
        return {"nested": {"a": at(batch), "b": [at(batch)]}, "pair": Pair(at(batch), at(batch))}

    row = {0: "b"}
    shapes = {"x": row, "kw": {"nested": {"a": row, "b": [row]}, "pair": [row, row]}}
    program = sardonyx.export(
        Sum(), (at(2),), kwargs=inputs(2), dynamic_shapes=shapes, capture=capture
    )
    (result,) = program(at(4), **inputs(4))
    torch.testing.assert_close(result, 5 * at(4))


@pytest.mark.parametrize("capture", CAPTURES)
def test_shapes_of_a_part_of_them(capture: str) -> None:
    program = sardonyx.export(
        Sum(),
        (at(2),),
        kwargs={"y": at(2), "z": at(1)},
        dynamic_shapes={"x": {0: "b"}, "y": {0: "b"}},
        capture=capture,
    )
    shapes = {name: shape for name, _, shape in program._model.inputs}
    assert shapes == {"x": ["b", 3], "y": ["b", 3], "z": [1, 3]}


@pytest.mark.parametrize("dynamo", [True, False])
def test_names_and_axes_of_the_older_interface(dynamo: bool) -> None:
    program = sardonyx.export(
        Sum(),
        (at(2),),
        kwargs={"y": at(2)},
        input_names=["first", "second"],
        dynamic_axes={"first": {0: "b"}, "second": {0: "b"}},
        dynamo=dynamo,
    )
    assert program.input_names == ["first", "second"]
    torch.testing.assert_close(program(at(5), y=at(5))[0], 2 * at(5))


@pytest.mark.parametrize("capture", CAPTURES)
def test_the_former_name_of_a_parameter(capture: str) -> None:
    for name in ("new", "old"):
        program = sardonyx.export(
            Passing(),
            (at(2),),
            kwargs={name: at(2)},
            dynamic_shapes={"x": {0: "b"}, name: {0: "b"}},
            capture=capture,
        )
        assert program.input_names == ["x", name]
        torch.testing.assert_close(program(at(5), **{name: at(5)})[0], at(5) * at(5))


def test_the_module_is_as_it_was_afterwards() -> None:
    before = dict(vars(Sum.forward))
    sardonyx.export(Sum(), (at(2),), kwargs={"y": at(2)}, dynamic_shapes="auto")
    assert dict(vars(Sum.forward)) == before
    with keywords_as_parameters(Sum(), ["y"]):
        assert list(inspect.signature(Sum().forward).parameters) == ["x", "y"]
    assert dict(vars(Sum.forward)) == before


@pytest.mark.parametrize("name", ["a-b", "class", "x"])
def test_keywords_that_cannot_be_parameters(name: str) -> None:
    class Positional(torch.nn.Module):
        def forward(self, x: torch.Tensor, /, **kw: torch.Tensor) -> torch.Tensor:
            return x + kw[name]

    model = Positional()
    assert call_signature(model.forward, [name]) == inspect.signature(model.forward)
    with pytest.raises(sardonyx.errors.OnnxExporterError, match="no name of a parameter"):
        sardonyx.export(model, (at(2),), kwargs={name: at(2)}, dynamic_shapes="auto")


def test_shapes_for_what_is_not_passed() -> None:
    for shapes in ({"x": None, "w": {0: "b"}}, {"kw": {"w": {0: "b"}}}):
        with pytest.raises(sardonyx.errors.OnnxExporterError, match="'w'"):
            sardonyx.export(Sum(), (at(2),), kwargs={"y": at(2)}, dynamic_shapes=shapes)
