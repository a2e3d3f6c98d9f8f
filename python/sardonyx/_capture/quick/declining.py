"""How quick capture says that it leaves a model to torch.export."""

from __future__ import annotations


class DeclinedError(Exception):
    """Something that quick capture is not sure of; the message says what."""
