"""Questions that fix sizes which the user leaves to the model (Dim.AUTO): the program is that of
fake-tensor tracing, with a warning. Models that ask data where nothing answers end early."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._base.state import ending_at_data

AUTO = Dim.AUTO

ort = pytest.importorskip("onnxruntime")


class Positions(torch.nn.Module):
    """A table for four patches, of images in patches of 8 x 8."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = torch.nn.Conv2d(3, 5, 8, 8)
        self.table = torch.nn.Parameter(torch.randn(1, 4, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.patches(x).flatten(2).transpose(1, 2) + self.table


class Repeats(torch.nn.Module):
    def forward(self, x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        for count in counts.tolist():
            for _ in range(count):
                x = torch.cat([x, x])
        return x


class Squeezed(torch.nn.Module):
    """Of images of three to five rows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.avg_pool2d(x, (3, 2)).squeeze(2).transpose(1, 2)


def no_export(*_: Any, **__: Any) -> Any:
    pytest.fail("torch.export was asked")


@pytest.mark.parametrize("shapes", [{"x": {0: AUTO, 2: AUTO, 3: AUTO}}, "auto"])
def test_a_product_of_automatic_sizes_that_a_table_fixes_is_warned_of(
    shapes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.export, "export", no_export)
    model = Positions().eval()
    with pytest.warns(sardonyx.errors.SpecializationWarning, match=r"shape\[2\]//8"):
        program = sardonyx.export(model, (torch.randn(2, 3, 16, 16),), dynamic_shapes=shapes)
    session = ort.InferenceSession(program.model_proto.SerializeToString())
    for size in ((2, 3, 16, 16), (5, 3, 18, 23), (1, 3, 19, 16)):
        x = torch.randn(size)
        (found,) = session.run(None, {"x": x.numpy()})
        torch.testing.assert_close(torch.from_numpy(found), model(x), atol=1e-4, rtol=1e-4)


def test_named_sizes_that_a_table_fixes_are_left_to_torch_export() -> None:
    inputs, shapes = (torch.randn(2, 3, 16, 16),), {"x": {2: Dim("h"), 3: Dim("w")}}
    with pytest.raises(sardonyx.errors.CaptureError, match="asks of its sizes whether"):
        sardonyx.export(Positions(), inputs, dynamic_shapes=shapes, capture="quick")


def test_a_capture_ends_at_data_where_the_caller_knows_something_else_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.export, "export", no_export)
    inputs = (torch.randn(5, 3), torch.tensor([2, 3]))
    with ending_at_data(), pytest.raises(sardonyx.errors.CaptureError) as caught:
        sardonyx.export(Repeats(), inputs)
    assert "fake-tensor tracing" in str(caught.value)
    assert "DataDependent" in type(caught.value.__cause__).__name__


def test_draft_export_is_not_tried_where_data_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "sardonyx._capture.strategies.strategies"
    monkeypatch.setattr(f"{module}.draft", lambda *_, **__: pytest.fail("draft export was tried"))
    inputs = (torch.randn(5, 3), torch.tensor([2, 3]))
    with pytest.raises(sardonyx.errors.CaptureError, match="DataDependent"):
        sardonyx.export(Repeats(), inputs)


@pytest.mark.parametrize("shapes", [({0: "n", 2: AUTO, 3: "w"},), "auto"])
def test_automatic_sizes_behind_an_axis_that_squeeze_removes_are_the_examples(
    shapes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.export, "export", no_export)
    model = Squeezed()
    warned = pytest.warns(sardonyx.errors.SpecializationWarning, match="dimension 2")
    with nullcontext() if shapes == "auto" else warned:
        program = sardonyx.export(model, (torch.randn(2, 4, 3, 10),), dynamic_shapes=shapes)
    dims = program.model_proto.graph.input[0].type.tensor_type.shape.dim
    assert [bool(dim.dim_param) for dim in (dims[0], *dims[2:])] == [True, False, True]
    session = ort.InferenceSession(program.model_proto.SerializeToString())
    for size in ((2, 4, 3, 10), (1, 4, 3, 5)):
        x = torch.randn(size)
        (found,) = session.run(None, {"x": x.numpy()})
        torch.testing.assert_close(torch.from_numpy(found), model(x))


def test_other_sizes_behind_an_axis_that_squeeze_removes_are_rejected() -> None:
    with pytest.raises(sardonyx.errors.CaptureError, match="removes axis 2"):
        sardonyx.export(
            Squeezed(), (torch.randn(2, 4, 3, 10),), dynamic_shapes=({2: "h", 3: AUTO},)
        )
