"""Dynamic dimensions that become numbers, or get a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sardonyx import _native
from sardonyx._base.errors import usage_error

Numbers = Mapping[str, int]


def native_dims(fixed: Numbers | None, maximum: Numbers | None = None) -> _native.DimOptions:
    """The native library's record of them. UsageError for what is no name and number."""
    native = _native.DimOptions()
    native.fixed = _checked("fixed", fixed)
    native.max = _checked("max", maximum)
    return native


def _checked(option: str, numbers: Numbers | None) -> dict[str, int]:
    if numbers is not None and not isinstance(numbers, Mapping):
        raise usage_error(
            f"{option} is a {type(numbers).__name__}, not a dict", f'write {option}={{"batch": 1}}'
        )
    for name, number in (numbers or {}).items():
        is_size = isinstance(number, int) and not isinstance(number, bool) and number >= 0
        if not isinstance(name, str) or not is_size:
            raise usage_error(
                f"{option} has {name!r}: {number!r}, and not the name of a dimension and a size",
                f'write {option}={{"batch": 1}}',
            )
    return dict(numbers or {})


def numbers(option: str, texts: Iterable[str]) -> dict[str, int]:
    """Of "batch=1,sequence=128", as commands take them."""
    found: dict[str, int] = {}
    for text in (part for each in texts for part in each.split(",")):
        name, _, digits = text.rpartition("=")
        if not name or not digits.isdecimal():
            raise usage_error(f"{option} is NAME=N,..., not {text!r}")
        if found.setdefault(name, int(digits)) != int(digits):
            raise usage_error(f"{option} has two numbers for {name}")
    return found
