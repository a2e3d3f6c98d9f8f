"""Programs in files: a graph, and a file of its weights."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from weakref import WeakKeyDictionary

from sardonyx import _native
from sardonyx._model.program import ONNXProgram

# Where a program was read from, and where it was last written to.
_READ: WeakKeyDictionary[ONNXProgram, Path] = WeakKeyDictionary()
_WRITTEN: WeakKeyDictionary[ONNXProgram, Path] = WeakKeyDictionary()


def weights_of(path: str | os.PathLike[str]) -> Path:
    """The file of the weights of a graph."""
    return Path(f"{os.fspath(path)}.data")


def save(program: ONNXProgram, path: str | os.PathLike[str]) -> None:
    """Writes a program. A second component with the same program in the same folder is links to the
    files of the first, so that the weights are there once."""
    here = Path(path)
    before = _WRITTEN.get(program)
    if before is not None and before.parent == here.parent and before.exists():
        _link(before, here)
        _link(weights_of(before), weights_of(here))
        return
    program.save(here, external_data=True)
    weights_of(here).touch()  # of a model without weights, too
    _WRITTEN[program] = here


def load(path: str | os.PathLike[str]) -> ONNXProgram:
    """Reads a program; its weights stay in their file."""
    program = ONNXProgram(_native.read_model(os.fspath(path)))
    _READ[program] = Path(path)
    return program


def path_of(program: ONNXProgram) -> Path | None:
    """The file that a program was read from; None for one that was exported."""
    return _READ.get(program)


def _link(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)
