"""What the installed diffusers has of what we use of it."""

from __future__ import annotations

from typing import NamedTuple


class Feature(NamedTuple):
    """A feature of ours; `reason` says what diffusers lacks where it is not available."""

    name: str
    available: bool
    reason: str


def features() -> list[Feature]:
    """All of them; none where diffusers is not installed."""
    try:
        import diffusers
    except ImportError:
        return []
    base = getattr(diffusers, "ConfigMixin", None)
    lacking = [n for n in ("from_config", "load_config") if not hasattr(base, n)]
    reason = f"models of this diffusers have no {', '.join(lacking)}" if lacking else ""
    return [Feature("pipelines of diffusers", not reason, reason)]
