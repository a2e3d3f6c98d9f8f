"""What has to work with onnx and onnxruntime, and without torch.

    python file_checks.py FOLDER

FOLDER holds `small.pt2` and takes what is written. Prints one line for each check, and ends with 1
where one fails.
"""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.checker
import onnxruntime

import sardonyx

OPSETS = (13, 18, 21)


def outputs(path: Path) -> list[np.ndarray]:
    """Of one run on inputs that are the same each time."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {}
    for each in session.get_inputs():
        shape = [dim if isinstance(dim, int) else 3 for dim in each.shape]
        feed[each.name] = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return list(session.run(None, feed))


def convert_for_every_opset(folder: Path) -> None:
    """Models that onnx's full checker takes, and that give the same."""
    found = []
    for opset in OPSETS:
        path = folder / f"opset{opset}.onnx"
        sardonyx.convert(folder / "small.pt2", opset_version=opset).save(path)
        onnx.checker.check_model(path, full_check=True)
        found.append(outputs(path))
    for other in found[1:]:
        for first, second in zip(found[0], other, strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


def optimize(folder: Path) -> None:
    """A file and a ModelProto, whose answers stay what they are."""
    source, target = folder / "opset18.onnx", folder / "optimized.onnx"
    sardonyx.optimize(source, target)
    again = sardonyx.optimize(onnx.load(source)).model
    assert isinstance(again, onnx.ModelProto)
    onnx.checker.check_model(again, full_check=True)
    for first, second in zip(outputs(source), outputs(target), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


def model_proto(folder: Path) -> None:
    """A program as a ModelProto."""
    proto = sardonyx.convert(folder / "small.pt2").model_proto
    onnx.checker.check_model(proto, full_check=True)


def commands(folder: Path) -> None:
    """inspect, run and diff."""
    model = folder / "opset18.onnx"
    for words in (("inspect", model), ("run", model, "--random"), ("diff", model, model)):
        ended = subprocess.run(
            [sys.executable, "-m", "sardonyx", *map(str, words)],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr


CHECKS: tuple[Callable[[Path], None], ...] = (
    convert_for_every_opset,
    optimize,
    model_proto,
    commands,
)


def main(folder: Path) -> int:
    """Runs all checks; prints how each ended."""
    failed = 0
    for check in CHECKS:
        try:
            check(folder)
        except Exception:
            print(f"failed {check.__name__}\n{traceback.format_exc()}")
            failed += 1
        else:
            print(f"passed {check.__name__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
