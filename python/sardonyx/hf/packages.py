"""The packages that checkpoints need, imported only where one is read."""

from __future__ import annotations

from typing import Any

from sardonyx._base import packages
from sardonyx._base.errors import OnnxExporterError, UsageError, refusal
from sardonyx._base.versions import conflicts, warn_untested

# Where transformers takes any cache apart into tensors, which caches of every architecture need.
_OLDEST_TRANSFORMERS = (5, 2)


def package(name: str, what: str) -> Any:
    """The package; SX2006 says what needs it where it is not installed."""
    return packages.package(name, what, code="SX2006")


def transformers() -> Any:
    """The package transformers; SX2006 where it is missing or too old."""
    package("torch", "the export of a checkpoint")
    found = package("transformers", "the export of a checkpoint")
    version = tuple(int(part) for part in found.__version__.split(".")[:2])
    if version < _OLDEST_TRANSFORMERS:
        oldest = ".".join(map(str, _OLDEST_TRANSFORMERS))
        raise refusal(
            "SX2006",
            f"transformers {found.__version__} is installed, and {oldest} or newer is needed",
            "pip install --upgrade transformers",
            UsageError,
        )
    for each in conflicts(("transformers",)):
        if each.other == "torch":  # transformers would go on as if there were no torch
            raise refusal("SX2006", str(each), each.help, UsageError)
    warn_untested("transformers")
    return found


def lacking(what: str, error: ImportError) -> OnnxExporterError:
    """What transformers says of packages that `what` needs, as SX2006."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return refusal(
        "SX2006", f"{what} needs packages that are not installed: {' '.join(lines)}", "", UsageError
    )
