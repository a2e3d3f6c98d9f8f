"""Which diagnostics of an export are reported, and which are errors."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from sardonyx._base.errors import Diagnostic, OnnxExporterError
from sardonyx._base.log import LOGGER

_LEVELS = {"note": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


@dataclass(frozen=True)
class DiagnosticOptions:
    """Options of the diagnostics of `dynamo_export`.

    - `verbosity_level`: what is below this level of Python's logging is not logged.
    - `warnings_as_errors`: whether a warning ends the export.
    """

    verbosity_level: int = logging.INFO
    warnings_as_errors: bool = False

    def honour(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Logs them to the logger "sardonyx"; raises OnnxExporterError for warnings that are to be
        errors, all of them in one."""
        found = list(diagnostics)
        for diagnostic in found:
            level = _LEVELS[diagnostic.severity]
            if level >= self.verbosity_level:
                LOGGER.log(level, "%s: %s", diagnostic.code, diagnostic.message)
        warnings = [d for d in found if d.severity == "warning"]
        if self.warnings_as_errors and warnings:
            raise OnnxExporterError("\n".join(d.message for d in warnings), warnings)
