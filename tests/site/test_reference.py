"""The reference of Python names what there is."""

from __future__ import annotations

import importlib
import re

import pytest
from tools.build_site import PYTHON

NAMES = re.findall(r"^::: (\S+)$", "\n".join(PYTHON.values()), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_reference(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    parent = importlib.import_module(module)
    assert hasattr(parent, attribute) or importlib.import_module(name)
