"""The logger `sardonyx`, and whether exports print their steps without `verbose=True`."""

from __future__ import annotations

import logging

LOGGER = logging.getLogger("sardonyx")
LOGGER.addHandler(logging.NullHandler())  # a library prints no records that nobody asked for

_enabled = False


def enable_log() -> None:
    """Every later export prints its steps on standard error."""
    global _enabled  # noqa: PLW0603 (that is what the module is for)
    _enabled = True


def disable_log() -> None:
    """Later exports print their steps with `verbose=True` only."""
    global _enabled  # noqa: PLW0603 (as above)
    _enabled = False


def is_log_enabled() -> bool:
    """Whether `enable_log` was called last."""
    return _enabled
