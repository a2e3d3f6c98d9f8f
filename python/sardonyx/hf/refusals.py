"""Errors about checkpoints, each with its diagnostic."""

from __future__ import annotations

from collections.abc import Iterable

from sardonyx._base.errors import Diagnostic, OnnxExporterError, ProgramError


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
