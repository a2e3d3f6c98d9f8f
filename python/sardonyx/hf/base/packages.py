"""The packages that checkpoints need, imported only where one is read."""

from __future__ import annotations

from typing import Any

from sardonyx._base import packages
from sardonyx._base.errors import OnnxExporterError, UsageError, refusal
from sardonyx._base.versions import conflicts, installed, required, warn_untested

# What of a package's requirements decides whether it fits the others that are installed.
_FITTING = ("torch", "tokenizers", "huggingface-hub", "safetensors")
# Of an error's text, which may be long.
_MAX = 300


def package(name: str, what: str) -> Any:
    """The package; SX2006 says what needs it where it is not installed."""
    return packages.package(name, what, code="SX2006")


def transformers() -> Any:
    """The package transformers. Raises SX2006 where it is missing, lacks what every export needs,
    or does not fit the other packages installed; the help names versions of those that do."""
    package("torch", "the export of a checkpoint")
    release = installed("transformers")
    try:
        found = package("transformers", "the export of a checkpoint")
    except OnnxExporterError as error:
        if release is None:
            raise
        raise _unfit(release, _error_text(error.__cause__ or error)) from error
    except Exception as error:  # a release for another PyTorch may raise anything
        raise _unfit(release, f"{type(error).__name__}: {_error_text(error)}") from error
    from sardonyx._transformers_private.features import needed

    if not found.is_torch_available():
        raise _unfit(release, f"it does not take PyTorch {installed('torch')}")
    if lacks := [feature.reason for feature in needed() if not feature.available]:
        raise refusal(
            "SX2006",
            f"transformers {found.__version__} is installed, and is too old or too new: "
            f"{'; '.join(lacks)}",
            "pip install --upgrade transformers, or the one that `sardonyx doctor` names",
            UsageError,
        )
    for each in conflicts(("transformers",)):
        if each.other == "torch":  # transformers would go on as if there were no torch
            raise refusal("SX2006", str(each), each.help, UsageError)
    for tested in ("torch", "transformers"):
        warn_untested(tested)
    return found


def _unfit(release: str | None, why: str) -> OnnxExporterError:
    wanted = ", ".join(required("transformers", _FITTING))
    return refusal(
        "SX2006",
        f"transformers {release} does not fit the packages that are installed: {why}",
        f"transformers {release} wants {wanted}"
        if wanted
        else "pip install --upgrade transformers",
        UsageError,
    )


def _error_text(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:_MAX] or type(error).__name__


def lacking(what: str, error: ImportError) -> OnnxExporterError:
    """What transformers says of packages that `what` needs, as SX2006."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return refusal(
        "SX2006", f"{what} needs packages that are not installed: {' '.join(lines)}", "", UsageError
    )
