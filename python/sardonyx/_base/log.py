"""Whether exports tell how they go although nobody asked them by `verbose`."""

from __future__ import annotations

_enabled = False


def enable_log() -> None:
    """From here on every export tells its steps on standard error."""
    global _enabled  # noqa: PLW0603 (that is what the module is for)
    _enabled = True


def disable_log() -> None:
    """From here on exports tell their steps with `verbose=True` only."""
    global _enabled  # noqa: PLW0603 (as above)
    _enabled = False


def is_log_enabled() -> bool:
    """Whether `enable_log` was called last."""
    return _enabled
