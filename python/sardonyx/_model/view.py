"""A model in the browser."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError

if TYPE_CHECKING:
    from .program import ONNXProgram

_folders: list[tempfile.TemporaryDirectory[str]] = []


def view(program: ONNXProgram | str | os.PathLike[str], *, weights: bool = False) -> Any:
    """Opens Netron on a program or an ONNX file, and returns the address that it serves.

    A program is written to a temporary file that lives as long as the process; without `weights`
    only what it computes. Needs the package netron; OnnxExporterError where it is missing.
    """
    try:
        import netron
    except ImportError as error:
        raise OnnxExporterError("looking at a model needs Netron: pip install netron") from error
    if isinstance(program, (str, os.PathLike)):
        return netron.start(os.fspath(program))
    folder = tempfile.TemporaryDirectory(prefix="sardonyx-")
    _folders.append(folder)
    path = Path(folder.name) / "model.onnx"
    program.save(path, include_initializers=weights, keep_initializers_as_inputs=not weights)
    return netron.start(str(path))
