"""torch.distributions while a model is captured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock


@contextmanager
def unvalidated_distributions() -> Iterator[None]:
    """Within it, distributions validate their arguments only where a caller asks for it.

    By default they do, to help people find mistakes (Python's -O turns it off). No capture can
    evaluate this check: it is data-dependent, and a model cannot raise.
    """
    package: Any = sys.modules.get("torch.distributions")
    if package is None:
        yield
        return
    with mock.patch.object(package.Distribution, "_validate_args", False):
        yield
