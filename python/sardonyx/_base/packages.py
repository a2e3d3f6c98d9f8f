"""Packages that are imported only where needed: which one is missing, and what to do."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import OnnxExporterError, refusal

# Older releases of torch.export lack what capture asks of it (Dim.AUTO, non-strict capture).
_OLDEST_TORCH = (2, 6)


def package(name: str, what: str, code: str = "SX1016") -> Any:
    """The package `name`, which `what` needs; SX1016 where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing(name, what, error, code) from error


def missing(name: str, what: str, error: ImportError, code: str = "SX1016") -> OnnxExporterError:
    """The error for a package that could not be imported."""
    install = name.partition(".")[0].replace("_", "-")
    return refusal(
        code,
        f"{what} needs the package {name}: {error}",
        f"pip install {install}",
        OnnxExporterError,
    )


def torch_for(what: str) -> Any:
    """The package torch, new enough to export; SX1016 where it is not."""
    torch = package("torch", what)
    numbers = torch.__version__.split(".")[:2]
    if all(n.isdigit() for n in numbers) and tuple(map(int, numbers)) < _OLDEST_TORCH:
        oldest = ".".join(map(str, _OLDEST_TORCH))
        raise refusal(
            "SX1016",
            f"PyTorch {torch.__version__} is installed, and {what} needs {oldest} or newer",
            f"pip install --upgrade 'torch>={oldest}'",
            OnnxExporterError,
        )
    return torch
