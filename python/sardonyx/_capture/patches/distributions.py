"""torch.distributions while a model is captured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock


@contextmanager
def unvalidated_distributions() -> Iterator[None]:
    """Within it, distributions do not look at their arguments' values unless they are told to.

    That they do by default is a check for people (Python's -O leaves it out) which no capture can
    decide: it hangs on data, and a model has nothing to raise.
    """
    package: Any = sys.modules.get("torch.distributions")
    if package is None:
        yield
        return
    with mock.patch.object(package.Distribution, "_validate_args", False):
        yield
