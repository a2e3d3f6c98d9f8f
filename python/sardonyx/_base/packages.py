"""Packages that are imported only where needed: which one is missing, and what to do."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

from .errors import OnnxExporterError, refusal
from .versions import conflicts, installed, warn_untested

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
    text, help_text = f"{what} needs the package {name}: {error}", f"pip install {install}"
    is_absent = isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]
    # One that is installed may not load beside another.
    if not is_absent and (version := installed(install)) is not None:
        text = f"{what} needs the package {name}, and {version} cannot be imported: {error}"
        found = [each for each in conflicts() if install in {each.package, each.other}]
        text += "".join(f"; {each}" for each in found)
        help_text = "; ".join(each.help for each in found) or f"{help_text} --force-reinstall"
    return refusal(code, text, help_text, OnnxExporterError)


def needing_torch(module: str, error: ModuleNotFoundError) -> Callable[[str], NoReturn]:
    """A `__getattr__` for `module`, which could not import what needs torch: it can be imported,
    and its names raise SX1016. Raises `error` where another package is missing."""
    if error.name != "torch":
        raise error

    def getattr_(name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise missing("torch", f"{module}.{name}", error) from error

    return getattr_


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
    warn_untested("torch")
    return torch
