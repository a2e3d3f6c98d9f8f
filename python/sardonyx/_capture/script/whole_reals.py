"""Real numbers that PyTorch writes into an archive's code as integers.

`1e10` stands there as `10000000000`, as do all whole numbers from there to 1e17: read again, also by
PyTorch, torch.full() gives integers. What is in memory still knows.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

# Texts are passed over. A blank before the digits gives way to the point behind them, so that what
# stands behind it stays where the archive's table of source lines has it.
_DIGITS = re.compile(
    r'"(?:[^"\\\n]|\\.)*"| ?(?<![\w.])(?P<sign>-?)(?P<digits>\d{11,17})(?![\w.])'
)


def with_points(data: bytes, program: Any) -> bytes:
    """The archive of the program with a point behind such numbers. RuntimeError where the program
    has one of them as an integer, too."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        codes = [name for name in archive.namelist() if name.endswith(".py")]
        texts = {name: archive.read(name).decode() for name in codes}
        if not any(m["digits"] for text in texts.values() for m in _DIGITS.finditer(text)):
            return data
        reals, integers = _constants(program, float), _constants(program, int)

        def written(found: re.Match[str]) -> str:
            value = int(found["digits"] or 0)
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
                made = archive.read(name) if text is None else _DIGITS.sub(written, text)
                target.writestr(name, made)
    return changed.getvalue()


def _constants(program: Any, kind: type) -> set[int]:
    """The numbers of that type in the program that may be written so, without their signs."""
    found = set()
    for graph in _graphs(program):
        for node in graph.findAllNodes("prim::Constant"):
            for value in pytree.tree_leaves(node.output().toIValue()):
                if type(value) is kind and 1e10 <= abs(value) < 1e17:
                    found.add(abs(int(value)))
    return found


def _graphs(program: Any) -> Iterator[Any]:
    """With what they call."""
    if isinstance(program, torch.jit.ScriptFunction):
        yield program.inlined_graph
        return
    for name in program._c._method_names():
        yield program._c._get_method(name).inlined_graph
