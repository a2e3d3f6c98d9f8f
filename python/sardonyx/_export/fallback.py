"""Operators without a translation, decomposed by PyTorch: those operators, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import ConversionError, Diagnostic, OnnxExporterError
from sardonyx._base.overloads import overload_of
from sardonyx._capture.context import capturing
from sardonyx._capture.shapes.dim_names import constant_dims
from sardonyx._torch_private import operators

from . import flex_attention

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# No translation for the operator, or one that refuses these arguments.
_CURABLE = frozenset({"SX1300", "SX1301", "SX1302"})
# A decomposition may call what needs taking apart itself.
_ROUNDS = 4


def convert_or_decompose(
    program: ExportedProgram, convert: Callable[[ExportedProgram], Any]
) -> tuple[Any, list[Diagnostic]]:
    """`convert(program)`; where that lacks operators, of the program with them decomposed.

    Returns the result and a note for each operator that was decomposed. Raises the ConversionError
    of the program as it was captured when decomposing does not help.
    """
    notes: list[Diagnostic] = []
    first: ConversionError | None = None
    for _ in range(_ROUNDS):
        try:
            return convert(program), notes
        except ConversionError as error:
            first = first or error
            names = {d.op for d in error.diagnostics if d.code in _CURABLE and d.op}
            curable = all(d.code in _CURABLE for d in error.diagnostics)
            operators = names - {flex_attention.NAME}
            table = _decompositions(operators) if curable else {}
            if not curable or len(table) < len(operators) or not names:
                raise first from None
            if _hangs_on_sizes(program, error):
                raise first from None
            try:
                captured, program = program, _run(program, table)
            except Exception as failure:
                raise first from failure
            notes += getattr(captured, "told_by_torch", ())  # of one that was captured quickly
            notes += [_note(name) for name in sorted(names)]
        except OnnxExporterError as error:
            # What PyTorch made of the operator is not even read: say what was there before.
            if first is None:
                raise
            raise first from error
    assert first is not None
    raise first


def _hangs_on_sizes(program: ExportedProgram, error: ConversionError) -> bool:
    """Whether an argument that has to be known is a size in what TorchScript's reader read: of
    traced programs torch.export takes the example's for it, and says nothing."""
    is_script = getattr(program, "leaves", None) is not None
    return is_script and any(d.code == "SX1302" for d in error.diagnostics)


def _note(name: str) -> Diagnostic:
    text = f"{name} has no translation of its own here and was decomposed by PyTorch"
    return Diagnostic("SX1310", text, severity="note", op=name)


def _run(program: ExportedProgram, table: dict[Any, Any]) -> ExportedProgram:
    on_demand = getattr(program, "exported", None)  # of one that was captured quickly
    leaves = getattr(program, "leaves", ())  # of one that TorchScript's reader read
    program = program if on_demand is None else on_demand()
    if fixed := constant_dims(program, leaves, {}):
        raise ValueError(f"captured by torch.export, {fixed[0].warning().message}")
    before = _guards(program)
    with capturing(), flex_attention.spelt_out(program):
        decomposed: ExportedProgram = program.run_decompositions(table)
    # A decomposition that branches on a size holds for sizes like the captured ones alone.
    if new := _guards(decomposed)[len(before) :]:
        raise ValueError(f"decomposed by PyTorch, the program would hold only where {new[0]}")
    return decomposed


def _guards(program: ExportedProgram) -> list[str]:
    """What tracing has assumed of the symbolic sizes so far."""
    for node in program.graph.nodes:
        mode = getattr(node.meta.get("val"), "fake_mode", None)
        if mode is not None and mode.shape_env is not None:
            return [str(guard.expr) for guard in mode.shape_env.guards]
    return []


def _decompositions(names: Iterable[str]) -> dict[Any, Any]:
    """PyTorch's decomposition of each operator ("aten::pad") that has one."""
    import torch

    from sardonyx.ops import aten_decompositions

    core = torch.export.default_decompositions()
    own = aten_decompositions()
    found: dict[Any, Any] = {}
    for name in names:
        overload = overload_of(name)
        for known in (own, core, operators.decompositions()):
            if overload is not None and overload in known:
                found[overload] = known[overload]
                break
    return found
