"""What the dimensions of a captured program are called, and what became of named ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .shapes import SCALAR, Names

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def dims_made_constant(program: ExportedProgram, names: Sequence[Names]) -> list[str]:
    """What to say of each named dimension that capture made constant."""
    return [
        f"dimension {axis} of input '{value_name}' was to be dynamic ('{name}'), "
        f"and the model's own code makes it {size}"
        for value_name, value, leaf in _named_inputs(program, names)
        for axis, name in leaf.items()
        if axis != SCALAR and (size := _constant(program, _size(value, axis))) is not None
    ]


def _constant(program: ExportedProgram, size: Any) -> int | None:
    """The one value that a size can have: a symbol that a guard fixed keeps its name."""
    if isinstance(size, int):
        return size
    bounds = {str(symbol): known for symbol, known in program.range_constraints.items()}
    known = bounds.get(str(size))
    return int(known.lower) if known is not None and known.lower == known.upper else None


def _named_inputs(
    program: ExportedProgram, names: Sequence[Names]
) -> Iterator[tuple[str, Any, Names]]:
    placeholders = program.graph.find_nodes(op="placeholder")
    values = {n.name: n.meta.get("val") for n in placeholders}
    user = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    for spec, leaf in zip(user, names, strict=False):
        name = getattr(spec.arg, "name", "")
        yield name, values.get(name), leaf


def symbol_names(program: ExportedProgram, names: Sequence[Names]) -> dict[str, str]:
    """What to call the program's symbols ("s77" -> "batch"), from the names of its inputs' leaves.

    A dimension that became an expression keeps its own text, and so does one that became constant.
    Two symbols of one name become `name` and `name_1`: the program does not know them equal.
    """
    result: dict[str, str] = {}
    for _, value, leaf in _named_inputs(program, names):
        for axis, name in leaf.items():
            size = value if axis == SCALAR else _size(value, axis)
            symbol = str(size)
            if not hasattr(size, "node") or not symbol.isidentifier() or symbol in result:
                continue
            result[symbol] = _unused(name, set(result.values()))
    return result


def _size(value: Any, axis: int) -> Any:
    shape = getattr(value, "shape", ())
    return shape[axis] if -len(shape) <= axis < len(shape) else None


def _unused(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    count = 1
    while f"{name}_{count}" in taken:
        count += 1
    return f"{name}_{count}"
