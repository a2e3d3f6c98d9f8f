"""What the dimensions of a captured program are called, and which of them came out constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.source_location import Place
from sardonyx._torch_private.sizes import equal_sizes

from .dim_spec import SCALAR, ConstantDimPolicy, DimRequest, Leaf, size_of
from .sampled_sizes import number_at

if TYPE_CHECKING:
    from torch.export import ExportedProgram


class ConstantDim(NamedTuple):
    """A dimension that was to vary, and what the model's own code makes it."""

    input: str
    axis: int
    size: int | str  # an expression where some sizes are left
    wanted: DimRequest
    place: Place | None

    def warning(self) -> Diagnostic:
        """As of a dimension that should vary, but need not."""
        should = self.wanted._replace(policy=ConstantDimPolicy.SHOULD_VARY)
        return self._replace(wanted=should).diagnostic()

    def diagnostic(self) -> Diagnostic:
        """SX1011 where it must vary, SX1008 where it should, SX1012 where the model decides."""
        policy = self.wanted.policy
        what = f"input '{self.input}'"
        if self.axis != SCALAR:
            what = f"dimension {self.axis} of {what}"
        name = f" ('{self.wanted.name}')" if self.wanted.name else ""
        asked = "may be" if policy.is_left_to_model else "is declared"
        where = f", at {self.place}" if self.place else ""
        code, severity = _TOLD[policy]
        return Diagnostic(
            code,
            f"{what} {asked} dynamic{name}, and the model's own code makes it {self.size}{where}",
            severity=severity,
            help=_HELP if policy is ConstantDimPolicy.MUST_VARY else "",
            file=self.place.file if self.place else "",
            line=self.place.line if self.place else 0,
            function=self.place.function if self.place else "",
        )


_TOLD = {
    ConstantDimPolicy.MUST_VARY: ("SX1011", "error"),
    ConstantDimPolicy.SHOULD_VARY: ("SX1008", "warning"),
    ConstantDimPolicy.LEFT_TO_MODEL: ("SX1012", "warning"),
    ConstantDimPolicy.MAY_VARY: ("SX1012", "note"),
}
_HELP = (
    "change the code that specializes the size, or declare Dim.AUTO, which lets the model decide, "
    "or Dim.STATIC"
)


def constant_dims(
    program: ExportedProgram, leaves: Sequence[Leaf], places: Mapping[str, Place]
) -> list[ConstantDim]:
    """The dimensions that the user marked as dynamic, and that capture specialized.

    `places`: the lines that fixed sizes, by torch.export's names for these.
    """
    free = _free_sizes(program)
    found = []
    for name, value, leaf in named_inputs(program, leaves):
        for axis, wanted in leaf.dims.items():
            now = _size(value, axis)
            size: int | str | None = constant_size(program, now)
            if size is None:
                size = _restricted(now, wanted, free)
            if size is not None:
                found.append(
                    ConstantDim(name, axis, size, wanted, places.get(leaf.source_of(axis)))
                )
    return found


def _free_sizes(program: ExportedProgram) -> set[Any]:
    """The symbols that are sizes of inputs as they are."""
    values = [node.meta.get("val") for node in program.graph.find_nodes(op="placeholder")]
    sizes = [size for value in values for size in (value, *getattr(value, "shape", ()))]
    found = (size.node.expr for size in sizes if hasattr(size, "node"))
    return {each for each in found if each.is_Symbol}


def _restricted(size: Any, wanted: DimRequest, free: set[Any]) -> str | None:
    """The expression that captures have for a size, where the user declared that it may be any: 8
    times something, say. An expression of other inputs' sizes restricts nothing."""
    if wanted.policy is not ConstantDimPolicy.MUST_VARY or wanted.root is not None:
        return None
    if not hasattr(size, "node") or size.node.expr.is_Symbol:
        return None
    return None if size.node.expr.free_symbols <= free else str(size)


def equal_dims(program: ExportedProgram, leaves: Sequence[Leaf]) -> list[Diagnostic]:
    """A warning for each dimension that the user gave a name of its own, and that has to be equal
    to one with another name: the model has that name for both."""
    found: dict[str, Diagnostic] = {}
    names = symbol_names(program, leaves)
    for input_name, value, leaf in named_inputs(program, leaves):
        for axis, wanted in leaf.dims.items():
            size = str(_size(value, axis))
            has, asked = names.get(size), wanted.name
            is_asked = wanted.policy in (
                ConstantDimPolicy.MUST_VARY,
                ConstantDimPolicy.SHOULD_VARY,
            )
            if asked is None or has in (None, asked) or not is_asked:
                continue
            what = f"input '{input_name}'"
            if axis != SCALAR:
                what = f"dimension {axis} of {what}"
            text = f"{what} is declared dynamic ('{asked}'), and the model has it equal to '{has}'"
            help_text = f"call both '{has}', or change the code that needs them to be equal"
            found.setdefault(asked, Diagnostic("SX1008", text, severity="warning", help=help_text))
    return list(found.values())


def _size(value: Any, axis: int) -> Any:
    return value if axis == SCALAR else size_of(value, axis)


def constant_size(program: ExportedProgram, size: Any) -> int | None:
    """The one value that a size can have: a symbol that a guard fixed keeps its name. Draft export
    leaves SymInts of numbers."""
    if isinstance(size, int):
        return size
    if hasattr(size, "node") and size.node.expr.is_Integer:
        return int(size.node.expr)
    ranges = program.range_constraints.items()
    fixed = {str(each): int(known.lower) for each, known in ranges if known.lower == known.upper}
    if str(size) in fixed or not hasattr(size, "node"):
        return fixed.get(str(size))
    symbols = size.node.expr.free_symbols
    known = {symbol: fixed[str(symbol)] for symbol in symbols if str(symbol) in fixed}
    return number_at(size.node.expr, known) if len(known) == len(symbols) else None


def named_inputs(
    program: ExportedProgram, leaves: Sequence[Leaf]
) -> Iterator[tuple[str, Any, Leaf]]:
    """The user's inputs by name, with the values that capture computed with."""
    placeholders = program.graph.find_nodes(op="placeholder")
    values = {n.name: n.meta.get("val") for n in placeholders}
    user = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    for spec, leaf in zip(user, leaves, strict=False):
        name = getattr(spec.arg, "name", "")
        yield name, values.get(name), leaf


def symbol_names(program: ExportedProgram, leaves: Sequence[Leaf]) -> dict[str, str]:
    """What to call the program's symbols ("s77" -> "batch"), from the names of its inputs' leaves.

    A dimension that became an expression keeps its own text, and so does one that became constant;
    of one that the user said as an expression (2 * Dim("half")), the symbol in it has the name.
    """
    names: dict[str, str] = {}
    for _, value, leaf in named_inputs(program, leaves):
        for axis, wanted in leaf.dims.items():
            size = _size(value, axis)
            if not hasattr(size, "node") or constant_size(program, size) is not None:
                continue
            if str(size).isidentifier():
                if wanted.name is not None:
                    names.setdefault(str(size), wanted.name)
            elif wanted.root is not None and len(symbols := size.node.expr.free_symbols) == 1:
                names.setdefault(str(*symbols), wanted.root)
    return names


def least_sizes(program: ExportedProgram, leaves: Sequence[Leaf]) -> dict[str, int]:
    """What the program's symbols are at least, as the user declared the dimensions that they are;
    those that may be 0 left out."""
    least: dict[str, int] = {}
    for _, value, leaf in named_inputs(program, leaves):
        for axis, wanted in leaf.dims.items():
            size = str(_size(value, axis))
            if axis != SCALAR and size.isidentifier():
                least[size] = max(least.get(size, 0), wanted.least)
    return {symbol: size for symbol, size in least.items() if size > 0}


@contextmanager
def one_size_a_name(program: ExportedProgram, names: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Within it, the symbols of the program's inputs that have one name are one symbol; gives the
    names without those of symbols that another one stands for."""
    groups: dict[str, list[Any]] = {}
    for node in program.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        for size in (value, *getattr(value, "shape", ())):
            if hasattr(size, "node") and (name := names.get(str(size))) is not None:
                groups.setdefault(name, []).append(size)
    sizes = [(str(size), size) for group in groups.values() for size in group]
    with equal_sizes(groups.values()):
        gone = {symbol for symbol, size in sizes if str(size) != symbol}
        yield {symbol: name for symbol, name in names.items() if symbol not in gone}
