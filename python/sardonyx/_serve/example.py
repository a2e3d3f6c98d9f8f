"""Runs `model.py:function`, and exports what it returns."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from sardonyx._base.errors import Diagnostic, OnnxExporterError, refusal, refusals
from sardonyx._export.export import export
from sardonyx._model.program import ONNXProgram


def exported(script: Path, function: str) -> ONNXProgram:
    """The model of the function, exported.

    The function returns a model and a tuple of example inputs, and after these, where it wants to,
    a dict of further arguments of sardonyx.export(); or an ONNXProgram.

    Raises OnnxExporterError: SX1032 for what the user's code raises, and for what it returns.
    """
    try:
        made = getattr(_loaded(script), function, None)
        if not callable(made):
            raise refusal("SX1032", f"{script.name} has no function {function}")
        returned = made()
    except OnnxExporterError:
        raise
    except (Exception, SystemExit) as error:
        raise refusals([raised(error, script.parent)]) from error
    return _exported(returned, f"{script.name}:{function}")


def _exported(returned: Any, name: str) -> ONNXProgram:
    if isinstance(returned, ONNXProgram):
        return returned
    if not isinstance(returned, tuple) or len(returned) not in (2, 3):
        raise refusal(
            "SX1032",
            f"{name} returns {type(returned).__name__}, not a model and its example inputs",
            "return model, (x, y) or model, (x, y), {'dynamic_shapes': ...}",
        )
    options = returned[2] if len(returned) == 3 else {}
    if not isinstance(options, Mapping):
        raise refusal("SX1032", f"the options that {name} returns are {type(options).__name__}")
    return export(returned[0], returned[1], **options)


def _loaded(script: Path) -> ModuleType:
    sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[script.stem] = module
    spec.loader.exec_module(module)
    return module


def raised(error: BaseException, folder: Path) -> Diagnostic:
    """What the user's code raised, at the innermost line in its own folder."""
    file, line, inside = "", 0, ""
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(folder):
            file, line, inside = frame.filename, frame.lineno or 0, frame.name
    if isinstance(error, SyntaxError) and error.filename:
        file, line, inside = error.filename, error.lineno or 0, ""
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Diagnostic("SX1032", message, file=file, line=line, function=inside)


def own_files(folder: Path) -> list[str]:
    """The files in the folder and below that were imported."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return sorted({file for file in files if file and Path(file).is_relative_to(folder)})
