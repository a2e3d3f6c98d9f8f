"""Scripted programs drawn at random: branches and loops in one another that write to tensors, fill
lists and return early. `python -m tests.torchscript.drawn 0 200` judges those of 200 seeds."""

from __future__ import annotations

import argparse
import copy
import importlib.util
import random
import re
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import torch

import sardonyx

# What an expression of each kind may be; {kind} is another one. The first are those without.
_EXPRESSIONS = {
    "int": (
        ("k", "n", "x.size(0)", "2", "-1", "len(rows)"),
        ("({int} + {int})", "({int} - {int})", "({int} // 2)", "({int} % 3)", "max({int}, {int})"),
    ),
    "at": (("0", "-1"), ("({int}) % x.size(0)",)),
    "column": (("0", "-1", "2"), ("({int}) % 4",)),
    "float": (("f", "0.5", "-1.25"), ("({float} * 0.5)", "float({int})", "float({scalar})")),
    "scalar": (
        ("s",),
        (
            "m[{at}, {column}]",
            "x[{at}, {column}]",
            "v[{at}]",
            "{row}.sum()",
            "torch.tanh({scalar})",
        ),
    ),
    "row": (
        ("r", "q"),
        ("x[{at}]", "m[{at}]", "({row} + {row})", "({row} * {float})", "{matrix}.mean(0)"),
    ),
    "column_of": (("v",), ("{matrix}.sum(1)", "m[:, {column}]", "torch.sin({column_of})")),
    "matrix": (("m", "x"), ("({matrix} + {row})", "torch.tanh({matrix})", "{matrix}.flip(0)")),
    "truth": (
        ("b", "not b"),
        (
            "bool({scalar} > 0.2)",
            "{int} < {int}",
            "{int} % 2 == 0",
            "({truth}) and ({truth})",
            "({truth}) or ({truth})",
            "len(rows) > 1",
        ),
    ),
}
_STATEMENTS = (
    "m = {matrix} * 1",
    "r = {row}",
    "q = {row} * 1",
    "r, q = q, r",
    "s = {scalar}",
    "v = {column_of} * 1",
    "k = ({int}) % 11",
    "f = min(max({float}, -8.0), 8.0)",
    "b = {truth}",
    "m[{at}] = {row}",
    "m[{at}, {column}] = {scalar}",
    "m[:, {column}] += {column_of}",
    "m[{at}] *= {float}",
    "m[{int}:{int}] = {float}",
    "v[{at}] = {float}",
    "r += {row}",
    "rows.append({row} * 1)",
    "if len(rows) > 1:\n    r = rows.pop()",
    "if len(rows) > 0:\n    q = rows[-1] * 2",
    "numbers.append(({int}) % 5)",
    "if len(numbers) > 0:\n    numbers[0] = k",
    "numbers = numbers[1:]",
)
_LOOPS = (
    "for {i} in range(x.size(0)):",
    "for {i} in range(x.size(0) - 1, -1, -1):",
    "for {i} in range(({int}) % 4, ({int}) % 6, 2):",
    "{i} = 0\nwhile {i} < 3 and ({truth}):\n    {i} += 1",
)
_RETURN = "return m, r, q, v, s, k, f, b, len(rows), sum(numbers)"
_HEAD = """from typing import List, Tuple
import torch
from torch import Tensor
Results = Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, int, float, bool, int, int]
def program(x: Tensor, n: int) -> Results:
    m, r, q, v, s = x.clone(), torch.zeros(4), x[0] * 0.5, x[:, 1] * 1, x.sum()
    k, f, b = 1, 0.75, bool(x[0, 0] > 0)
    rows: List[Tensor] = []
    numbers: List[int] = [3]
"""


class _Drawing:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.loops = 0

    def filled(self, template: str, depth: int = 2) -> str:
        return re.sub(r"\{(\w+)\}", lambda hole: self.expression(hole[1], depth), template)

    def expression(self, kind: str, depth: int) -> str:
        plain, deeper = _EXPRESSIONS[kind]
        if kind in ("int", "at") and self.counters and self.random.random() < 0.3:
            counter = self.random.choice(self.counters)
            return counter if kind == "int" else f"{counter} % x.size(0)"
        if depth == 0 or self.random.random() < 0.35:
            return self.random.choice(plain)
        return self.filled(self.random.choice(deeper), depth - 1)

    def write(self, indent: int, text: str) -> None:
        self.lines += ["    " * indent + line for line in text.split("\n")]

    def block(self, indent: int, depth: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            choice = self.random.random() if depth else 1.0
            if choice < 0.3:
                self.branch(indent, depth, in_loop)
            elif choice < 0.5:
                self.loop(indent, depth)
            elif choice < 0.58:
                self.write(indent, self.filled("if {truth}:"))
                leaves = ["break", "continue"] if in_loop else [_RETURN]
                self.write(indent + 1, self.random.choice(leaves))
            else:
                self.write(indent, self.filled(self.random.choice(_STATEMENTS)))

    def branch(self, indent: int, depth: int, in_loop: bool) -> None:
        self.write(indent, self.filled("if {truth}:"))
        self.block(indent + 1, depth - 1, in_loop)
        if self.random.random() < 0.5:
            self.write(indent, "else:")
            self.block(indent + 1, depth - 1, in_loop)

    def loop(self, indent: int, depth: int) -> None:
        self.loops += 1
        counter = f"i{self.loops}"
        template = self.random.choice(_LOOPS).replace("{i}", counter)
        self.write(indent, self.filled(template))
        self.counters.append(counter)
        self.block(indent + 1, depth - 1, True)
        self.counters.pop()


def source(seed: int) -> str:
    """The program of a seed; it is of x of [rows, 4] and of the number n."""
    drawing = _Drawing(seed)
    for _ in range(2):
        drawing.block(1, 3, False)
    drawing.write(1, _RETURN)
    return _HEAD + "\n".join(drawing.lines) + "\n"


def runs() -> list[tuple[torch.Tensor, int]]:
    """What programs are run with; the first is the example."""
    made = torch.Generator().manual_seed(1)
    drawn = [(torch.randn(rows, 4, generator=made), n) for rows, n in ((3, 2), (1, 0), (5, 3))]
    return [*drawn, (-torch.rand(2, 4, generator=made), 1), (torch.rand(4, 4, generator=made), 5)]


def judged(seed: int, folder: Path) -> str:
    """ "equal", "refused" with the code, or what is wrong."""
    path = folder / f"drawn_{seed}.py"
    path.write_text(source(seed), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scripted: Any = torch.jit.script(module.program)
    try:
        model = sardonyx.export(scripted, runs()[0], dynamic_shapes={"x": {0: "rows"}, "n": None})
    except sardonyx.OnnxExporterError as error:
        return "refused: " + "".join(sorted({each.code for each in error.diagnostics}))
    session = ort.InferenceSession(model.model_proto.SerializeToString())
    for x, n in runs():
        # The interpreter without what it makes of a program that ran before.
        wanted = module.program(copy.deepcopy(x), n)
        found = session.run(None, {"x": x.numpy(), "n": np.array(n)})
        # What the program leaves in x, where it writes to it, comes behind its results.
        results = zip(found[: len(wanted)], wanted, strict=True)
        for place, (ours, theirs) in enumerate(results):
            if not np.allclose(ours, np.asarray(theirs), rtol=2e-3, atol=2e-3, equal_nan=True):
                return f"wrong: result {place} of {tuple(x.shape)}, {n}: {ours} for {theirs}"
    return "equal"


def main() -> None:
    """Prints what is wrong as it is found, then how many came out how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.end):
            verdict = judged(seed, Path(folder))
            counts[verdict.split(": result")[0]] += 1
            if verdict.startswith("wrong"):
                print(seed, verdict, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
