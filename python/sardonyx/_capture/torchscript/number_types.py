"""Numbers of which an archive's code says less than the program in memory knows.

`1e10` stands there as `10000000000`, as do all whole numbers from there to 1e17: read again, also
by PyTorch, torch.full() gives integers. And a number of Python that tracing met where a tensor is
wanted, as in `x + 1.5`, is a constant tensor of float64, which no longer tells that it was a
number: beside integers the sum would be float64, where it was float32.
"""

from __future__ import annotations

import io
import math
import pickle
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import torch

from sardonyx._torch_private import pytree, torchscript

# Texts are passed over. A blank before the digits gives way to the point behind them, so that what
# stands behind it stays where the archive's table of source lines has it.
_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"'
    r"| ?(?<![\w.])(?P<sign>-?)(?P<digits>\d{11,17})(?![\w.])"
    r"|\bCONSTANTS\.c(?P<constant>\d+)\b"
)


def with_numbers(data: bytes, program: Any) -> bytes:
    """The archive of the program where these are written as what they are. RuntimeError where the
    program has something else that PyTorch writes alike."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        codes = [name for name in archive.namelist() if name.endswith(".py")]
        texts = {name: archive.read(name).decode() for name in codes}
        tokens = [m for text in texts.values() for m in _TOKEN.finditer(text)]
        numbers = _wrapped(archive, program) if any(m["constant"] for m in tokens) else {}
        if not numbers and not any(m["digits"] for m in tokens):
            return data
        reals, integers = _constants(program, float), _constants(program, int)

        def written(found: re.Match[str]) -> str:
            if found["constant"]:
                return numbers.get(int(found["constant"]), found[0])
            value = int(found["digits"]) if found["digits"] else None
            if value not in reals:
                return found[0]
            if value in integers:
                raise RuntimeError(
                    f"{value} is a real number and an integer of the program, which PyTorch saves "
                    "alike; make both the same"
                )
            return f"{found['sign']}{found['digits']}."

        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w") as target:
            for name in archive.namelist():
                text = texts.get(name)
                made = archive.read(name) if text is None else _TOKEN.sub(written, text)
                target.writestr(name, made)
    return changed.getvalue()


def _constants(program: Any, kind: type) -> set[int]:
    """The numbers of that type in the program that may be written so, without their signs."""
    found = set()
    for node in _nodes(program, "prim::Constant"):
        for value in pytree.tree_leaves(node.output().toIValue()):
            if (
                isinstance(value, (int, float))
                and type(value) is kind
                and 1e10 <= abs(value) < 1e17
            ):
                found.add(abs(int(value)))
    return found


def _wrapped(archive: zipfile.ZipFile, program: Any) -> dict[int, str]:
    """The constants of the archive that were numbers, where that makes a difference, as code."""
    wrapped, others = set(), set()
    for node in _nodes(program, "prim::Constant"):
        if node.output().type().kind() != "TensorType":
            continue
        value = node.output().toIValue()
        # PyTorch gives numbers for tensors that were ones, and still knows it.
        if type(value) in _HELD_IN:
            if math.isfinite(value) and any(_decides(u.user, value) for u in node.output().uses()):
                wrapped.add((_HELD_IN[type(value)], value))
        elif isinstance(value, torch.Tensor) and value.numel() == 1 and not value.dim():
            others.add((value.dtype, value.item()))
    if not wrapped:
        return {}
    if wrapped & others:
        alike = ", ".join(str(value) for _, value in wrapped & others)
        raise RuntimeError(
            f"{alike} is a number and a tensor of the program, which PyTorch saves alike; give the "
            "tensor a dimension"
        )
    root = archive.namelist()[0].split("/")[0]
    found = {}
    for number, value in enumerate(_Constants(archive, root).load()):
        if isinstance(value, torch.Tensor) and not value.dim():
            key = value.dtype, value.item()
            if key in wrapped:
                found[number] = repr(key[1])
    return found


_HELD_IN = {float: torch.float64, int: torch.int64}


def _decides(node: Any, number: float) -> bool:
    """Whether a tensor of the number's type would make another result than the number."""
    for value in node.inputs():
        kind = value.type()
        if kind.kind() != "TensorType" or value.node().kind() == "prim::Constant":
            continue
        dtype = kind.dtype()
        if dtype is None or not kind.dim() or dtype is torch.bool:
            return True
        if isinstance(number, float) and not (dtype.is_floating_point or dtype.is_complex):
            return True
    return False


class _Constants(pickle.Unpickler):
    """The constants of an archive that PyTorch wrote a moment ago."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        self._archive = archive
        self._root = root
        super().__init__(io.BytesIO(archive.read(f"{root}/constants.pkl")))

    def persistent_load(self, pid: Any) -> Any:
        _, kind, key, _, _ = pid
        data = bytearray(self._archive.read(f"{self._root}/constants/{key}"))
        dtype = kind.dtype if hasattr(kind, "dtype") else torch.uint8
        untyped = torch.frombuffer(data, dtype=torch.uint8).untyped_storage() if data else None
        if untyped is None:
            untyped = torch.UntypedStorage(0)
        return torch.storage.TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


def _nodes(program: Any, kind: str) -> Iterator[Any]:
    """Of its methods, with what they call; one holds no longer than its graph."""
    graphs: list[Any]
    if isinstance(program, torch.jit.ScriptFunction):
        graphs = [program.inlined_graph]
    else:
        graphs = [method.inlined_graph for method in torchscript.methods_of(program)]
    for graph in graphs:
        yield from graph.findAllNodes(kind)
