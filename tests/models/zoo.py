"""All models by name."""

from __future__ import annotations

from . import plain, transformers_text, transformers_vision
from .example import ZOO, Example, Size

__all__ = ["ZOO", "Example", "Size", "plain", "transformers_text", "transformers_vision"]
