"""How a command ends: its result or its error, as JSON or text, and the exit code."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .errors import (
    OnnxExporterError,
    OnnxExporterWarning,
    UsageError,
    failure,
    failure_text,
)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Within it, our warnings are lines of text: the place in our code that gives one tells the
    user of a command nothing."""
    show = warnings.showwarning

    def show_plainly(message: Any, category: type[Warning], *place: Any, **options: Any) -> None:
        if issubclass(category, OnnxExporterWarning):
            print(f"warning: {message}", file=sys.stderr)
        else:
            show(message, category, *place, **options)

    warnings.showwarning = show_plainly
    try:
        yield
    finally:
        warnings.showwarning = show


def run_command(
    as_json: bool,
    work: Callable[[], tuple[dict[str, Any], str]],
    failures: tuple[type[Exception], ...] = (OnnxExporterError, OSError),
) -> int:
    """Prints the JSON object or the text that the work gives, and errors to standard error.

    Exceptions of other classes than `failures` are raised. Returns the exit code: 0, 1 for a
    failure, 2 for wrong usage.
    """
    try:
        result, text = work()
    except failures as error:
        if as_json:
            print(_json(failure(error)))
        else:
            print(failure_text(error), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    print(_json({"ok": True, **result}) if as_json else text)
    return 0


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
