"""One model and one example give the same file, whatever the process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.harness.command import command_path
from tests.harness.rotation import long_test

_PROGRAM = """
import hashlib, io, torch, sardonyx
torch.manual_seed(0)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    def forward(self, x, more):
        parts = {name: self.a(value) for name, value in more.items()}
        return {"sum": sum(parts.values()) + self.b(x), **parts}

model = Model().eval()
example = (torch.ones(2, 4), {name: torch.ones(2, 4) for name in "pqrs"})
shapes = ({0: "batch"}, {name: {0: "batch"} for name in "pqrs"})
for capture in ("torch", "auto", "trace"):
    out = io.BytesIO()
    sardonyx.export(model, example, out, dynamic_shapes=shapes, capture=capture)
    print(capture, hashlib.sha256(out.getvalue()).hexdigest())
"""


def files(seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@long_test(3)
def test_the_seed_of_hashes_changes_nothing() -> None:
    first = files("1")
    assert len(first) == 3
    assert len(first[0].split()[1]) == hashlib.sha256().digest_size * 2
    assert files("7") == first


class Tables(torch.nn.Module):
    """Constants that could be computed once, and weights that int4 searches scales for."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("t", torch.linspace(0.01, 9.7, 64))
        self.first, self.second = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)
        self.norm = torch.nn.BatchNorm1d(64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        t = self.t
        tables = t.exp() + t.sin() * t.log() + t.pow(0.37) + torch.erf(t) / t.cosh()
        return self.second(self.norm(self.first(x)).relu() * tables) / 8**0.5


# Where a machine has no fused multiply-add or wide vectors, glibc's exp and sin give other digits.
OLD_MACHINE = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",
    "SIMDJSON_FORCE_IMPLEMENTATION": "fallback",
}


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int4"])
def test_the_processor_s_instructions_change_nothing(tmp_path: Path, precision: str) -> None:
    torch.manual_seed(0)
    batch = torch.export.Dim("batch")
    program = torch.export.export(
        Tables().eval(), (torch.randn(3, 64),), dynamic_shapes=({0: batch},)
    )
    torch.export.save(program, tmp_path / "tables.pt2")
    made = []
    for name, environment in {"new": {}, "old": OLD_MACHINE}.items():
        out = tmp_path / f"{name}.onnx"
        words = [command_path(), "convert", tmp_path / "tables.pt2", "-o", out]
        words += [] if precision == "fp32" else ["--precision", precision]
        subprocess.run(words, env=os.environ | environment, check=True, capture_output=True)
        made.append(out.read_bytes())
    assert made[0] == made[1]
