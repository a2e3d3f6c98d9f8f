"""Makes the small files from which `make fuzz` sets out: python -m tests.fuzz.make_corpus

They are committed; this says how they came about.
"""

from __future__ import annotations

import io
import json
import pickle
import random
import tempfile
import warnings
import zipfile
from pathlib import Path

import onnx
import safetensors.torch
import torch
from torch.distributed import checkpoint

from tests.hf.gguf_files import F32, Q4_0, write_gguf

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


class Inner(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]))
        self.sizes = {"wide": 3, "narrow": 1}

    def forward(self, x: torch.Tensor, mode: str) -> tuple[torch.Tensor, torch.Tensor | None]:
        if mode == "none":
            return x, None
        return x * self.scale, x[:, : self.sizes[mode]]


class Language(torch.nn.Module):
    """Lists, dicts, tuples, optionals, texts, while and break."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList([Inner(), Inner()])

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        kept: list[torch.Tensor] = []
        for i, part in enumerate(self.parts):
            y, rest = part(x, "wide" if i == 0 else "none")
            kept.append(y)
            if rest is not None:
                kept += [rest + 1]
        i = 0
        while i < x.size(0):
            if i > 4:
                break
            kept.append(x * i)
            i += 1
        return {"all": torch.stack(kept), f"last_{len('ab')}": kept[-1]}


EXPRESSIONS = (
    "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(-1))",
    "Max(Integer(1), FloorDiv(Symbol('s0', integer=True), Integer(3)))",
    "Mod(Pow(Symbol('s1', integer=True), Integer(2)), Integer(7))",
    "And(GreaterThan(Symbol('u0', integer=True), Integer(0)), Ne(Symbol('s0'), Rational(1, 2)))",
)

GRAPHS = {
    "branches": """<ir_version: 9, opset_import: ["" : 20]>
agraph (float[n, 3] x, bool c) => (float[n, 3] y) <float[3] w = {1.0, 2.0, 3.0}>
{
  a = Mul(x, w)
  t = Transpose<perm = [1, 0]>(a)
  b = Transpose<perm = [1, 0]>(t)
  y = If (c) <
    then_branch = g1 () => (float[n, 3] z) { z = Add(b, w) },
    else_branch = g2 () => (float[n, 3] z) { z = Identity(b) }
  >
}""",
    "loop": """<ir_version: 9, opset_import: ["" : 20, "own" : 1]>
agraph (float[n, 3] x, int64 count) => (float[n, 3] y, float[k, n, 3] all)
{
  keep = Constant<value = bool {1}>()
  y, all = Loop (count, keep, x) <
    body = g1 (int64 i, bool keep_in, float[n, 3] held) =>
        (bool keep_out, float[n, 3] next, float[n, 3] row) {
      keep_out = Identity(keep_in)
      two = Constant<value = float {2.0}>()
      next = own.twice(held, two)
      row = Relu(next)
    }
  >
}
<domain: "own", opset_import: ["" : 20]>
twice (a, b) => (c) { d = Mul(a, b)  c = Identity(d) }""",
    "shapes": """<ir_version: 9, opset_import: ["" : 20]>
agraph (float[n, 4, 8] x, float[8, 8] v) => (float[n, m] y)
<float[8] bias = {1, 2, 3, 4, 5, 6, 7, 8}, int64[1] minus = {-1}, int64[1] zero = {0}>
{
  s = Shape(x)
  n = Gather<axis = 0>(s, zero)
  to = Concat<axis = 0>(n, minus)
  a = MatMul(x, v)
  b = Add(a, bias)
  mean = ReduceMean(b, minus)
  c = Sub(b, mean)
  square = Mul(c, c)
  var = ReduceMean(square, minus)
  root = Sqrt(var)
  d = Div(c, root)
  p = Softmax<axis = -1>(d)
  y = Reshape(p, to)
}""",
    "convolution": """<ir_version: 9, opset_import: ["" : 20]>
agraph (float[n, 2, h, w] x, float[2, 2, 3, 3] k) => (uint8[n, 2, h, w] y)
<float[2] scale = {1, 2}, float[2] shift = {0, 1}, float[2] mean = {0, 0}, float[2] var = {1, 1},
 float step = {0.5}, uint8 zero = {128}>
{
  a = Conv<pads = [1, 1, 1, 1]>(x, k)
  b = BatchNormalization(a, scale, shift, mean, var)
  c = Relu(b)
  q = QuantizeLinear(c, step, zero)
  d = DequantizeLinear(q, step, zero)
  y = QuantizeLinear(d, step, zero)
}""",
    "attention": """<ir_version: 13, opset_import: ["" : 28]>
agraph (float[b, s, 8] x, float[b, 2, past, 4] k_past, float[b, 2, past, 4] v_past,
        float[b, 2, 4, 4] state, float[b, s, 2] decay, float[9, 2] cos, float[9, 2] sin,
        int64[b, s] places) => (float[b, s, 8] y, float[b, s, 8] z, float[b, 2, 4, 4] next)
<float[8] weight = {1, 2, 3, 4, 5, 6, 7, 8}>
{
  n = RMSNormalization<axis = -1>(x, weight)
  q = RotaryEmbedding<num_heads = 2>(n, cos, sin, places)
  a, k, v = Attention<q_num_heads = 2, kv_num_heads = 2, is_causal = 1, softcap = 2.0>
    (q, n, x, , k_past, v_past)
  g = Gelu<approximate = "tanh">(a)
  y = SwiGLU(g, x)
  z, next = LinearAttention<q_num_heads = 2, kv_num_heads = 2, update_rule = "gated_delta">
    (q, n, x, state, decay, decay)
}""",
    "recurrence": """<ir_version: 13, opset_import: ["" : 28]>
agraph (float[s, b, 3] x, float[1, 16, 3] w, float[1, 16, 4] r, float[1, 32] bias, int32[b] lens)
  => (float[s, 1, b, 4] y, float[b, s] p)
{
  y, h, c = LSTM<hidden_size = 4>(x, w, r, bias, lens)
  last = Squeeze(h)
  two = Constant<value = int64 {1}>()
  q = CumProd(x, two)
  t = Swish<alpha = 1.5>(q)
  axes = Constant<value = int64[1] {2}>()
  m = ReduceMean<keepdims = 0>(t, axes)
  p = Transpose<perm = [1, 0]>(m)
}""",
    "images": """<ir_version: 13, opset_import: ["" : 28]>
agraph (float[n, 4, h, w] x, float[n, 9, 9, 2] grid, uint8[n, 4] bits, float[4, 4, 3, 3] k,
        float[n, 18, h, w] moved) => (float[n, 4, 9, 9] y, float[n, 4, h, w] z, uint8[n, 4] b)
<float[4] scale = {1, 2, 3, 4}, float[4] shift = {0, 1, 0, 1}>
{
  g = GroupNormalization<num_groups = 2>(x, scale, shift)
  i = Mish(g)
  y = GridSample<mode = "linear">(i, grid)
  z = DeformConv<pads = [1, 1, 1, 1]>(x, k, moved)
  o = BitwiseNot(bits)
  a = BitwiseAnd(o, bits)
  b = BitwiseXor(a, o)
}""",
}


def put_checkpoints() -> None:
    held = {"fc.weight": torch.randn(2, 32), "fc.bias": torch.ones(2)}
    _put("safetensors-header", "small", safetensors.torch.save(held, {"format": "pt"}))
    index = {"metadata": {"total_size": 264}, "weight_map": {name: f"{name}-1" for name in held}}
    _put("shard-index", "small", json.dumps(index).encode())
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        metadata = {"general.architecture": "llama", "general.alignment": 32, "tokens": ["a", "b"]}
        kinds = {"fc.weight": Q4_0, "fc.bias": F32}
        write_gguf(folder / "m.gguf", metadata, {n: (held[n], kinds[n]) for n in held})
        _put("gguf-header", "small", (folder / "m.gguf").read_bytes())
        with warnings.catch_warnings(action="ignore"):
            checkpoint.save(held, checkpoint_id=folder / "held", no_dist=True)
        _put("distributed-metadata", "small", (folder / "held" / ".metadata").read_bytes())
        piece = io.BytesIO()
        torch.save(torch.randn(3, 2).t(), piece)
        _put("distributed-piece", "transposed", piece.getvalue())


def main() -> None:
    put_checkpoints()
    n = torch.export.Dim("n", min=2)
    x = (torch.randn(4, 3),)
    file, weightless = io.BytesIO(), io.BytesIO()
    torch.export.save(torch.export.export(Small(), x, dynamic_shapes=({0: n},)), file)
    torch.export.save(torch.export.export(Weightless(), x, dynamic_shapes=({0: n},)), weightless)
    archive = zipfile.ZipFile(weightless)
    model_json = next(name for name in archive.namelist() if name.endswith("models/model.json"))
    _put("json", "weightless", archive.read(model_json))
    _put("pt2", "small", file.getvalue())
    for name, model in (("scripted", Scripted()), ("language", Language())):
        script = io.BytesIO()
        torch.jit.save(torch.jit.script(model), script)
        _put("torchscript", name, script.getvalue())
        inside = zipfile.ZipFile(script)
        code = next(name for name in inside.namelist() if name.endswith("code/__torch__.py"))
        _put("torchscript-source", name, inside.read(code))
        data = next(name for name in inside.namelist() if "data.pkl" in name)
        _put("pickle", f"{name}_data", inside.read(data))
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
    for seed in range(4):  # what a plug-in does is drawn from any bytes
        _put("plugin", f"drawn_{seed}", b"\1\x0f\0" + random.Random(seed).randbytes(400))
    for name, text in GRAPHS.items():
        message = onnx.parser.parse_model(text).SerializeToString()
        _put("onnx", name, message)
        _put("optimize", name, message)
        _put("targets", name, message)


def _put(target: str, name: str, content: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
