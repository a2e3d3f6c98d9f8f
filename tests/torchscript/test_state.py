"""What scripted modules keep in attributes for their next call: further outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import sardonyx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Attribute(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(3)

    def forward(self, x: Tensor) -> Tensor:
        before = self.state
        self.state = torch.tanh(x + self.state)
        return self.state * 2 + before


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.count += x.sum()
        return x + self.count


class Nested(nn.Module):
    """One part is called twice, the other once."""

    def __init__(self) -> None:
        super().__init__()
        self.one = Counter()
        self.other = Attribute()

    def forward(self, x: Tensor) -> Tensor:
        return self.other(self.one(self.one(x)))


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.ones(3))
        self.weight = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            self.kept = self.kept + x * self.weight
        for _ in range(int(x.abs().max()) + 1):
            self.kept = self.kept * 0.5
        return self.kept + 1


class Grown(nn.Module):
    """Its state has other sizes afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = torch.zeros(0)

    def forward(self, x: Tensor) -> Tensor:
        if len(self.cache) == 0:
            self.cache = torch.zeros_like(x)
        y = torch.cat([self.cache, x])
        if y.dim() != 1:
            raise ValueError("one dimension is needed")
        return y * 2


@pytest.mark.parametrize("module", [Attribute, Counter, Nested, Branches, Grown])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_state_afterwards_is_an_output(
    module: type[nn.Module], sign: float, tmp_path: Path
) -> None:
    scripted: Any = torch.jit.script(module().eval())
    x = torch.tensor([0.5, 1.5, 3.0]) * sign
    program = sardonyx.export(scripted, (torch.ones(3),))
    scripted.save(str(tmp_path / "model.pt"))
    from_file = sardonyx.convert(tmp_path / "model.pt", inputs=["x:float32[3]"])
    results = [program(x), from_file(x)]  # before the module changes what the model shares
    expected = scripted(x)
    names = [output.name for output in program.model_proto.graph.output]
    for found in results:
        torch.testing.assert_close(torch.as_tensor(found[0]), expected)
        for name, ours in zip(names[1:], found[1:], strict=True):
            path = name.removesuffix("_updated")
            torch.testing.assert_close(torch.as_tensor(ours), _at(scripted, path))
    assert sorted(names[1:]) == [f"{path}_updated" for path in _STATE[module]]


_STATE: dict[Any, list[str]] = {
    Attribute: ["state"],
    Counter: ["count"],
    Nested: ["one.count", "other.state"],
    Branches: ["kept"],
    Grown: ["cache"],
}


def _at(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def test_the_module_keeps_its_state() -> None:
    scripted: Any = torch.jit.script(Attribute())
    sardonyx.export(scripted, (torch.ones(3),))
    assert not scripted.state.any()


class Numbers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x + self.calls


def test_state_that_is_no_tensor_is_warned_of() -> None:
    program = sardonyx.export(torch.jit.script(Numbers()), (torch.ones(3),))
    assert [note.code for note in program.notes if note.severity == "warning"] == ["SX1215"]
    assert "'calls'" in next(n.message for n in program.notes if n.code == "SX1215")
    torch.testing.assert_close(torch.as_tensor(program(torch.ones(3))[0]), torch.full((3,), 2.0))


class Cached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.held = [torch.zeros(3)]

    def forward(self, x: Tensor) -> Tensor:
        self.held.append(x)
        return torch.stack(self.held)


def test_a_list_that_grows_is_warned_of() -> None:
    program = sardonyx.export(torch.jit.script(Cached()), (torch.ones(3),))
    assert "SX1215" in [note.code for note in program.notes]


class OnDevice(nn.Module):
    """As many packages keep one, for the tensors that they make."""

    def __init__(self) -> None:
        super().__init__()
        self.device = torch.device("cpu")
        self.elsewhere = torch.device("cuda:1")

    def forward(self, x: Tensor) -> Tensor:
        return x.to(self.device) + torch.ones(3, device=self.device)


def test_devices_in_attributes(tmp_path: Path) -> None:
    scripted: Any = torch.jit.script(OnDevice())
    program = sardonyx.export(scripted, (torch.ones(3),))
    torch.testing.assert_close(torch.as_tensor(program(torch.ones(3))[0]), torch.full((3,), 2.0))
    scripted.save(str(tmp_path / "model.pt"))
    sardonyx.convert(tmp_path / "model.pt", inputs=["x:float32[3]"])
