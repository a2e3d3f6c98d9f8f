"""The exceptions of the package, and the diagnostics they carry."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong, or worth knowing.

    `code` ("SX1301") is stable and listed in docs/diagnostics.md. `severity` is "note", "warning"
    or "error". Fields that say nothing are empty; `line` is then 0.
    """

    code: str
    message: str
    severity: str = "error"
    help: str = ""
    op: str = ""
    node: str = ""
    module_path: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    contexts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As printed: the severity with the code, the message, the place and the help."""
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        if self.op:
            lines.append(f"  operator: {self.op}" + (f", node {self.node}" if self.node else ""))
        if self.module_path:
            lines.append(f"  module: {self.module_path}")
        if self.file:
            inside = f", in {self.function}" if self.function else ""
            lines.append(f"  --> {self.file}:{self.line}{inside}")
        lines += [f"  {context}" for context in self.contexts]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


class OnnxExporterError(RuntimeError):
    """The base class of every error of the exporter. `diagnostics` has each cause."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)


class UsageError(OnnxExporterError, ValueError):
    """An invalid argument: an unknown opset, more names than inputs."""


class CaptureError(OnnxExporterError):
    """torch.export could not capture the model; the message holds what each strategy said."""


class ProgramError(OnnxExporterError):
    """A captured program, or a file of one, is invalid."""


class ConversionError(OnnxExporterError):
    """The program cannot be converted to ONNX; every reason is in `diagnostics`."""


class UnsupportedOperatorError(ConversionError):
    """The program calls operators that have no translation; all of them are in `diagnostics`."""


class SymbolicValueError(OnnxExporterError):
    """A symbolic function cannot take an argument, which is `value`."""

    def __init__(self, message: str, value: Any = None) -> None:
        super().__init__(message if value is None else f"{message} (of {value!r})")


class OnnxExporterWarning(UserWarning):
    """The base class of the warnings of the exporter."""


class UntestedReleaseWarning(OnnxExporterWarning):
    """A package is of a release that Sardonyx was not tested with (docs/compatibility.md)."""


class SpecializationWarning(OnnxExporterWarning):
    """The model holds for some of the sizes, or of the data, alone that were asked for."""


class LowAccuracyWarning(OnnxExporterWarning):
    """The outputs of a quantized model are far from those in float, on the samples."""


class SaveError(OnnxExporterError):
    """The model cannot be written."""


class VerificationError(OnnxExporterError):
    """The model's answers are not those of the PyTorch model."""


# Tracebacks and pickles name the public module.
for _each in (
    OnnxExporterError, UsageError, CaptureError, ProgramError, ConversionError,
    UnsupportedOperatorError, SymbolicValueError, OnnxExporterWarning, UntestedReleaseWarning,
    LowAccuracyWarning, SpecializationWarning, SaveError, VerificationError,
):  # fmt: skip
    _each.__module__ = "sardonyx.errors"

# What a model that is specialized is warned of by.
_SPECIALIZED = frozenset({"SX1008", "SX1012", "SX1013", "SX1015"})


def warn(note: Diagnostic, stacklevel: int) -> None:
    """Issues the note as a Python warning, with its code and its help."""
    category = SpecializationWarning if note.code in _SPECIALIZED else OnnxExporterWarning
    text = f"{note.message} [{note.code}]" + (f"\n  help: {note.help}" if note.help else "")
    warnings.warn(text, category, stacklevel=stacklevel + 1)


_BY_STAGE: dict[str, type[OnnxExporterError]] = {
    "SX10": UsageError,
    "SX11": ProgramError,
    "SX12": ProgramError,
    "SX16": SaveError,
    "SX19": VerificationError,
    "SX20": ProgramError,
}


def from_native(text: bytes, diagnostics: bytes) -> OnnxExporterError:
    """The exception for an error of the native library: its text, and its diagnostics as JSON."""
    records = diagnostics_from_native(diagnostics)
    return class_of(records)(text.decode("utf-8", "replace"), records)


def diagnostics_from_native(diagnostics: bytes) -> list[Diagnostic]:
    """Diagnostics of the native library, from JSON."""
    records = []
    for fields in json.loads(diagnostics):
        fields["contexts"] = tuple(fields["contexts"])
        records.append(Diagnostic(**fields))
    return records


def class_of(diagnostics: Sequence[Diagnostic]) -> type[OnnxExporterError]:
    """The most telling class for these diagnostics."""
    codes = {diagnostic.code for diagnostic in diagnostics}
    if "SX1300" in codes:
        return UnsupportedOperatorError
    first = min(codes, default="")
    return _BY_STAGE.get(first[:4], ConversionError)


def usage_error(message: str, help: str = "") -> OnnxExporterError:  # noqa: A002 (the diagnostic's own word)
    """A UsageError with one diagnostic of code SX1001."""
    return refusal("SX1001", message, help, UsageError)


def refusal(
    code: str,
    message: str,
    help: str = "",  # noqa: A002 (the diagnostic's own word)
    kind: type[OnnxExporterError] = ProgramError,
) -> OnnxExporterError:
    """The error with one diagnostic."""
    return refusals([Diagnostic(code, message, help=help)], kind)


def refusals(
    diagnostics: Iterable[Diagnostic], kind: type[OnnxExporterError] = ProgramError
) -> OnnxExporterError:
    """The error with several diagnostics; what several of them advise is said once, at the end."""
    found = list(diagnostics)
    lines = [f"error[{each.code}]: {each.message}" for each in found]
    lines += [f"  help: {text}" for text in dict.fromkeys(each.help for each in found) if text]
    return kind("\n".join(lines), found)


def unwritable(path: str | os.PathLike[str], error: OSError) -> OnnxExporterError:
    """What is raised where the system does not let a file or folder be written."""
    return refusal(
        "SX1601",
        f"cannot write {os.fspath(path)}: {error}",
        "what was there before is untouched",
        SaveError,
    )


def failure(error: Exception) -> dict[str, Any]:
    """What a command says with `--json` when it fails: every diagnostic, without empty fields."""
    found = error.diagnostics if isinstance(error, OnnxExporterError) else ()
    if not found:
        text = str(error) if isinstance(error, OnnxExporterError) else _headed(error)
        found = (Diagnostic("SX1005", text),)
    records = [{k: v for k, v in asdict(each).items() if v} for each in found]
    return {"ok": False, "diagnostics": records}


def failure_text(error: Exception) -> str:
    """What a command prints when it fails."""
    if not isinstance(error, OnnxExporterError):
        return f"error: {error}" if isinstance(error, OSError) else f"error: {_headed(error)}"
    return str(error) if error.diagnostics else f"error: {error}"


def _headed(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
