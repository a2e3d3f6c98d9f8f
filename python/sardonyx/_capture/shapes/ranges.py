"""Dynamic dimensions that the model's own code bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import Diagnostic
from sardonyx._capture.guards.guards import BY_BRANCH, BY_CHECK, SizeGuards

from .dim_names import named_inputs
from .dim_spec import SCALAR, TAKEN_FOR, ConstantDimPolicy, DimRequest, Leaf, size_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# No memory has as many elements. PyTorch's own bounds of a size, 2**63, are divided where a
# multiple of it is asked for.
_ENDLESS = 1 << 48
_MAX_BEYOND = 64


def bounded_dims(
    program: ExportedProgram, leaves: Sequence[Leaf], guards: SizeGuards
) -> list[Diagnostic]:
    """What tells of each dimension that fewer sizes are known to be right for than the user said:
    an error where it must vary, and a branch of the model asks; a note where a check does, which
    raises of other sizes in PyTorch, too."""
    ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
    return [
        _note(name, axis, wanted, bounds, guards.asker_of_bound(symbol, _beyond(known)))
        for name, value, leaf in named_inputs(program, leaves)
        for axis, wanted in leaf.dims.items()
        if axis != SCALAR
        and (known := ranges.get(symbol := str(size_of(value, axis)))) is not None
        and known.lower != known.upper
        and (bounds := _narrower(known, wanted)) != ""
    ]


def is_least_raised(program: ExportedProgram, leaves: Sequence[Leaf]) -> bool:
    """Whether a size has to be more than the user said, as for `x[:, 4:7]`."""
    ranges = {str(symbol): known for symbol, known in program.range_constraints.items()}
    return any(
        (known := ranges.get(str(size_of(value, axis)))) is not None
        and "at least" in _narrower(known, wanted)
        for _, value, leaf in named_inputs(program, leaves)
        for axis, wanted in leaf.dims.items()
        if axis != SCALAR
    )


def _narrower(known: Any, wanted: DimRequest) -> str:
    """The bounds that the user did not say; empty where there are none."""
    least, most = _number(known.lower, 0), _number(known.upper, None)
    bounds = []
    if least is not None and least > max(wanted.least, TAKEN_FOR):
        bounds.append(f"at least {least}")
    if most is not None and (wanted.most is None or most < wanted.most):
        bounds.append(f"at most {most}")
    return " and ".join(bounds)


def _beyond(known: Any) -> list[int]:
    """Sizes outside of the bounds, next to them and as small as captures think of."""
    least, most = _number(known.lower, 0), _number(known.upper, None)
    below = [] if least is None else list(range(TAKEN_FOR, least))
    return [*below[:_MAX_BEYOND], *below[-_MAX_BEYOND:], *([] if most is None else [most + 1])]


def _number(bound: Any, infinite: int | None) -> int | None:
    text = str(bound)
    number = int(text) if text.lstrip("-").isdigit() else None
    return infinite if number is None or number >= _ENDLESS else number


def _note(name: str, axis: int, wanted: DimRequest, bounds: str, asker: str) -> Diagnostic:
    is_error = asker == BY_BRANCH and wanted.policy is ConstantDimPolicy.MUST_VARY
    called = f" ('{wanted.name}')" if wanted.name else ""
    dimension = f"dimension {axis} of input '{name}'{called} is dynamic, and "
    bounded = "say the bounds, as in Dim('name', min=..., max=...)"
    if asker == BY_CHECK:
        text = f"a check raises in PyTorch where it is not {bounds}: the model has no such check"
        return Diagnostic("SX1015", dimension + text, severity="note", help=bounded)
    return Diagnostic(
        "SX1015",
        f"{dimension}{asker} asks whether it is {bounds}: what it computes of other sizes is not "
        "in the model",
        severity="error" if is_error else "warning",
        help=f"{bounded}, or write the branch with torch.cond" if asker == BY_BRANCH else bounded,
    )
