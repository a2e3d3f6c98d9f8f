"""The types of options name what the native library knows."""

from __future__ import annotations

from typing import get_args

from sardonyx import _native
from sardonyx._base.choices import Runtime


def test_runtimes_are_those_of_the_library() -> None:
    assert list(get_args(Runtime)) == _native.target_names()
