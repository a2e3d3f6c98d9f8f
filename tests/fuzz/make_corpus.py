"""Makes the small files from which `make fuzz` sets out: python tests/fuzz/make_corpus.py

They are committed; this says how they came about.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import onnx
import torch

CORPUS = Path(__file__).parent / "corpus"


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x).relu()
        y[:, 0] = y.shape[0]
        return torch.cat([y, x[:, :1]], 1)


class Weightless(torch.nn.Module):
    """Whose archive is whole with its model alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.relu().reshape(-1, 3)
        y[:, 0] = y.shape[0] * 2
        return torch.cat([y, x[:, :1].expand(-1, 2)], 1)


class Scripted(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = x.sum()
        for i in range(3):
            if bool(total > 1.5):
                total = total * 2 + i
        return total


EXPRESSIONS = (
    "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(-1))",
    "Max(Integer(1), FloorDiv(Symbol('s0', integer=True), Integer(3)))",
    "Mod(Pow(Symbol('s1', integer=True), Integer(2)), Integer(7))",
    "And(GreaterThan(Symbol('u0', integer=True), Integer(0)), Ne(Symbol('s0'), Rational(1, 2)))",
)

TEXT_GRAPH = """<ir_version: 9, opset_import: ["" : 20]>
agraph (float[n, 3] x, bool c) => (float[n, 3] y) <float[3] w = {1.0, 2.0, 3.0}>
{
  a = Mul(x, w)
  t = Transpose<perm = [1, 0]>(a)
  b = Transpose<perm = [1, 0]>(t)
  y = If (c) <
    then_branch = g1 () => (float[n, 3] z) { z = Add(b, w) },
    else_branch = g2 () => (float[n, 3] z) { z = Identity(b) }
  >
}"""


def main() -> None:
    n = torch.export.Dim("n", min=2)
    x = (torch.randn(4, 3),)
    file, weightless = io.BytesIO(), io.BytesIO()
    torch.export.save(torch.export.export(Small(), x, dynamic_shapes=({0: n},)), file)
    torch.export.save(torch.export.export(Weightless(), x, dynamic_shapes=({0: n},)), weightless)
    archive = zipfile.ZipFile(weightless)
    model_json = next(name for name in archive.namelist() if name.endswith("models/model.json"))
    _put("json", "weightless", archive.read(model_json))
    _put("pt2", "small", file.getvalue())
    script = io.BytesIO()
    torch.jit.save(torch.jit.script(Scripted()), script)
    _put("torchscript", "scripted", script.getvalue())
    inside = zipfile.ZipFile(script)
    code = next(name for name in inside.namelist() if name.endswith("code/__torch__.py"))
    _put("torchscript-source", "scripted", inside.read(code))
    _put(
        "pickle", "script_data", inside.read(next(n for n in inside.namelist() if "data.pkl" in n))
    )
    for protocol in (2, 4):
        held = {"a": [1, 2.5, "text", None, True], "b": (b"bytes", {3: -(2**40)})}
        _put("pickle", f"plain_{protocol}", pickle.dumps(held, protocol))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a/data.txt", "text " * 40)
        made.writestr(zipfile.ZipInfo("b"), b"stored")
    _put("zip", "two", packed.getvalue())
    for i, text in enumerate(EXPRESSIONS):
        _put("srepr", f"expression_{i}", text.encode())
    message = onnx.parser.parse_model(TEXT_GRAPH).SerializeToString()
    _put("onnx", "branches", message)
    _put("optimize", "branches", message)


def _put(target: str, name: str, content: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
