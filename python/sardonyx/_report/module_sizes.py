"""How many bytes of a model's weights each of its modules has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sardonyx import _native


@dataclass
class ModuleSize:
    """A module, or one of its own weights, with what is below it; the largest first."""

    path: str
    bytes: int = 0
    children: dict[str, ModuleSize] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def largest(self) -> list[ModuleSize]:
        """The children by size, those of one size by name."""
        return sorted(self.children.values(), key=lambda child: (-child.bytes, child.path))

    def each(self, depth: int) -> Iterator[ModuleSize]:
        """It and those below it, `depth` levels of them."""
        yield self
        if depth > 0:
            for child in self.largest():
                yield from child.each(depth - 1)


def module_sizes(model: _native.Model) -> ModuleSize:
    """The tree of modules by the names of the weights that the model reads."""
    from sardonyx import _native

    root = ModuleSize("")
    for name, _, _, size, is_weight, _ in _native.constants(model):
        if not is_weight:
            continue
        at = root
        at.bytes += size
        path = ""
        for part in name.split("."):
            path = f"{path}.{part}" if path else part
            at = at.children.setdefault(part, ModuleSize(path))
            at.bytes += size
    return root


def in_words(size: int) -> str:
    """ "12.3 MB"."""
    amount, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{amount:.0f} {units[0]}" if units[0] == "B" else f"{amount:.1f} {units[0]}"
