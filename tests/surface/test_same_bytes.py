"""One model and one example give the same file, whatever the process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

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


def test_the_seed_of_hashes_changes_nothing() -> None:
    first = files("1")
    assert len(first) == 3
    assert len(first[0].split()[1]) == hashlib.sha256().digest_size * 2
    assert files("7") == first
