"""Releases of other packages: which were tested, and which do not fit together."""

from __future__ import annotations

import functools
import importlib.util
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .errors import UntestedReleaseWarning
from .tested_versions import TESTED

if TYPE_CHECKING:
    from packaging.requirements import Requirement

# Packages whose requirements on each other are looked at.
_RELATED = (
    "torch", "torchvision", "torchaudio", "transformers", "tokenizers", "safetensors", "diffusers",
    "numpy", "onnx", "onnx-ir", "onnxscript", "onnxruntime", "onnxruntime-genai",
)  # fmt: skip
_warned: set[str] = set()
_lock = threading.Lock()


class Conflict(NamedTuple):
    """`package` requires `requirement` ("torch>=2.6"), and `other` of `installed` does not fit."""

    package: str
    version: str
    requirement: str
    other: str
    installed: str

    def __str__(self) -> str:
        return (
            f"{self.package} {self.version} needs {self.requirement}, and {self.other} "
            f"{self.installed} is installed"
        )

    @property
    def help(self) -> str:
        """The command that installs a version that fits."""
        return f"pip install '{self.requirement}'"


def installed(package: str) -> str | None:
    """The version of an installed package; it is not imported."""
    from importlib import metadata  # takes longer to import than all else here

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def tested_range(package: str) -> tuple[str, str] | None:
    """The oldest and the newest tested release, "2.9" and "2.15"; None for other packages."""
    found = TESTED.get(package)
    return None if found is None else (_minor(found[0]), _minor(found[1]))


def is_tested(package: str, version: str | None = None) -> bool:
    """Whether the release, by default the installed one, lies within the tested range. Patch
    releases count as their minor release, and a package that is not installed as tested."""
    version = version or installed(package)
    between = TESTED.get(package)
    if version is None or between is None:
        return True
    return _release(between[0]) <= _release(version) <= _release(between[1])


def fitting(package: str) -> str:
    """A requirement that the tested releases of a package satisfy: "torch>=2.9,<2.16"."""
    oldest, newest = TESTED[package]
    major, minor = _release(newest)
    return f"{package}>={_minor(oldest)},<{major}.{minor + 1}"


def warn_untested(package: str) -> None:
    """Warns of an installed release outside of the tested range, once in a process."""
    with _lock:
        if package in _warned:
            return
        _warned.add(package)
    if is_tested(package):
        return
    oldest, newest = TESTED[package]
    warnings.warn(
        f"{package} {installed(package)} is not among the tested releases, {_minor(oldest)} to "
        f"{_minor(newest)}; pip install '{fitting(package)}' installs one that is",
        UntestedReleaseWarning,
        stacklevel=4,
    )


def conflicts(packages: Iterable[str] = _RELATED) -> Iterator[Conflict]:
    """The installed packages of these that require another release of an installed one, by their
    metadata. None where the package `packaging`, which reads it, is not installed."""
    for package in packages:
        for requirement in _requirements(package):
            found = installed(requirement.name)
            if found is not None and not requirement.specifier.contains(found, prereleases=True):
                yield Conflict(
                    package, str(installed(package)), _text(requirement), requirement.name, found
                )


def required(package: str, others: Sequence[str]) -> list[str]:
    """What an installed package requires of `others`, in their order: "torch>=2.4"."""
    texts = {
        requirement.name.lower().replace("_", "-"): _text(requirement)
        for requirement in _requirements(package)
        if requirement.specifier
    }
    return [texts[other] for other in others if other in texts]


def _requirements(package: str) -> Iterator[Requirement]:
    """The requirements of an installed package that hold here; none where `packaging`, which reads
    them, is not installed."""
    from importlib import metadata

    if importlib.util.find_spec("packaging") is None or installed(package) is None:
        return
    for line in metadata.requires(package) or ():
        requirement = _that_holds(line)
        if requirement is not None:
            yield requirement


@functools.cache
def _that_holds(line: str) -> Requirement | None:
    """A requirement of packages' metadata; None where it is none here."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return None
    # The extra that a package names after another one holds wherever both are used.
    extras = ("", requirement.name)
    marker = requirement.marker
    holds = marker is None or any(marker.evaluate({"extra": each}) for each in extras)
    return requirement if holds else None


def _text(requirement: Requirement) -> str:
    return f"{requirement.name}{requirement.specifier}"


def _release(version: str) -> tuple[int, int]:
    """Major and minor: (2, 15) of "2.15.0a0+git123"."""
    numbers = [int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:2]]
    return (numbers[0] if numbers else 0, numbers[1] if len(numbers) > 1 else 0)


def _minor(version: str) -> str:
    return ".".join(map(str, _release(version)))
