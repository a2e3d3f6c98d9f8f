"""What becomes of a program: exported once, and compared with eager PyTorch at many sizes."""

from __future__ import annotations

import contextlib
import copy
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

import onnx
import onnxruntime as ort
import torch

import sardonyx
from sardonyx._compare.tensors import difference
from sardonyx._compare.tolerances import Tolerance, of_operator

from .conditioning import casts_no_numbers, hangs_on_rounding, makes_nan, makes_nothing
from .programs import EXAMPLE, Program

# The example, then small, empty, equal and large ones.
SIZES = [
    EXAMPLE,
    *(
        {"n": n, "m": m}
        for n, m in (
            (2, 2), (3, 5), (4, 3), (7, 2), (2, 9), (6, 6), (1, 3), (5, 1), (1, 1), (0, 3), (5, 0),
            (0, 0), (0, 1), (1, 0), (8, 4), (3, 3), (10, 2), (2, 3), (9, 7),
        )
    ),
]  # fmt: skip

# Of a loop: one that adds to int8 until it exceeds 127 never ends.
_MAX_TRIPS = 1000

# What eager PyTorch gives: results, and the inputs that it wrote to, by their places.
Eager = tuple[list[torch.Tensor], dict[int, torch.Tensor]]


@dataclass(frozen=True)
class Verdict:
    """`kind` is "right", "not captured", "refused", or what is wrong; `runs` how many sizes were
    compared, `limits` at how many ONNX Runtime's kernels refused to compute of nothing."""

    kind: str
    detail: str = ""
    runs: int = 0
    limits: int = 0

    @property
    def is_fault(self) -> bool:
        return self.kind not in ("right", "not captured", "refused")


def judge(program: Program, *, quick: bool = False, optimize: bool = True) -> Verdict:
    """Exports the program and runs it at all sizes that its capture holds for: from 0 on, where
    PyTorch captures it so, else from 2 on."""
    verdict = Verdict("not captured")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for smallest in (0, None):
            try:
                made = sardonyx.export(
                    program.module(),
                    program.values(EXAMPLE),
                    dynamic_shapes=program.dynamic_shapes(smallest),
                    capture="quick" if quick else "torch",
                    optimize=optimize,
                )
            except sardonyx.OnnxExporterError as error:
                verdict = _refused(error)
            except Exception as error:
                return Verdict("crash", f"{type(error).__name__}: {str(error)[:300]}")
            else:
                return _compared(program, made, 2 if smallest is None else 0)
            if verdict.kind != "not captured":
                break
    return verdict


def _refused(error: sardonyx.OnnxExporterError) -> Verdict:
    codes = sorted({d.code for d in error.diagnostics})
    said = "; ".join(f"{d.code} {d.op}: {d.message}" for d in error.diagnostics)[:300]
    if type(error).__name__ == "CaptureError":
        return Verdict("not captured", said[:100])
    # SX1304 says itself that it is a defect.
    return Verdict("defect" if "SX1304" in codes else "refused", said)


def _compared(program: Program, made: Any, smallest: int) -> Verdict:
    try:
        message = made.model_proto
        onnx.checker.check_model(message, full_check=True)
    except Exception as error:
        return Verdict("not well formed", str(error)[:300])
    try:
        session = _session(message)
    except Exception as error:
        return Verdict("not loaded", str(error)[:300])
    runs = limits = 0
    # A size of 1 that squeeze drops in PyTorch is kept in the model, as its note says.
    told = any(note.code == "SX1313" for note in made.notes)
    # PyTorch's capture says that nothing has a diagonal of one element, and counts with that.
    of_nothing = any("diagonal(" in line.text for line in program.lines)
    example = _eager(program, program.values(EXAMPLE))
    for sizes in SIZES:
        if min(sizes.values()) < smallest or (told and _loses_axes(program, made, sizes)):
            continue
        if of_nothing and 0 in sizes.values():
            continue
        verdict = _at(program, made, session, example, sizes)
        if verdict is None:
            continue
        if verdict.is_fault and (
            _is_limit(program, made, example, sizes, verdict)
            or _has_negative_sizes(made.exported_program, program.values(sizes))
        ):
            limits += 1
            continue
        if verdict.is_fault:
            return Verdict(verdict.kind, f"{sizes}: {verdict.detail}", runs)
        runs += 1
        limits += verdict.limits
    return Verdict("right", runs=runs, limits=limits)


def _is_known(program: Program, values: tuple[torch.Tensor, ...], got: list[torch.Tensor]) -> bool:
    """Whether a difference is one of rounding, or a limit of docs/reliability.md: the sign of NaN,
    which no operator tells, what casts make of NaN and infinities, `einsum` of 1 against 0."""

    def run() -> list[torch.Tensor]:
        results, written = _eager(program, values) or ([], {})
        return [*results, *written.values()]

    of_signs = any("copysign(" in line.text or "signbit(" in line.text for line in program.lines)
    of_letters = any("einsum(" in line.text for line in program.lines)
    return (
        (of_signs and makes_nan(run))
        or (of_letters and makes_nothing(run) and makes_nan(run))
        or casts_no_numbers(run)
        or hangs_on_rounding(run, got)
    )


def _session(message: onnx.ModelProto, *, fused: bool = True) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if not fused:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(message.SerializeToString(), options)


def _is_limit(
    program: Program, made: Any, example: Eager | None, sizes: dict[str, int], verdict: Verdict
) -> bool:
    """Whether ONNX Runtime refuses to compute of nothing, or is right once it fuses no nodes: its
    FusedMatMul leaves sums of no elements as the memory was."""
    if not makes_nothing(partial(_eager, program, program.values(sizes))):
        return False
    if verdict.kind == "fails at run time":
        return True
    again = _at(program, made, _session(made.model_proto, fused=False), example, sizes)
    return again is not None and not again.is_fault


def _at(
    program: Program, made: Any, session: Any, example: Eager | None, sizes: dict[str, int]
) -> Verdict | None:
    """None where eager PyTorch refuses the sizes, or the capture does not hold for them."""
    values = program.values(sizes)
    if not _takes(made, values):
        return None
    eager = _eager(program, values)
    if eager is None:
        return None
    wanted, written = eager
    # Whether reshape gives a view, through which inputs are written to, hangs on sizes: the model
    # does as its capture did, which docs/reliability.md lists.
    if example is not None and list(example[1]) != list(written):
        return None
    outputs = len(wanted)
    wanted += [
        now
        for i, now in written.items()
        if not _is_returned(made, made.input_names[i], now, wanted)
    ]
    try:
        feed = dict(zip(made.input_names, values, strict=True))
        got = _run(session, feed)
    except Exception as error:
        return _unless_capture(made, values, wanted, Verdict("fails at run time", str(error)[:300]))
    # A write to no element (diff of no rows is a view) changes an input's version alone.
    if len(got) == outputs and all(
        difference(now, values[i], _tolerance(now)) is None for i, now in written.items()
    ):
        del wanted[outputs:]
    if len(got) != len(wanted):
        return Verdict("wrong", f"{len(got)} outputs for {len(wanted)}")
    # Attention to nothing has the shape of its query in PyTorch, whatever batch its values have.
    attends = any("scaled_dot_product_attention(" in line.text for line in program.lines)
    for name, have, want in zip(made.output_names, got, wanted, strict=True):
        if attends and have.numel() == want.numel() == 0 and have.shape != want.shape:
            return Verdict("right", limits=1)
        found = difference(have, want, _tolerance(want))
        if found is not None:
            verdict = Verdict("wrong", f"{name}: {found}")
            if _is_known(program, values, got):
                return Verdict("right", limits=1)
            return _unless_capture(made, values, wanted, verdict)
    return Verdict("right")


def _is_returned(made: Any, name: str, now: torch.Tensor, results: list[torch.Tensor]) -> bool:
    """Whether what an input was changed to is among the results, and no output of its own."""
    return f"{name}_updated" not in made.output_names and any(
        each.dtype == now.dtype and difference(each, now, _tolerance(now)) is None
        for each in results
    )


def _loses_axes(program: Program, made: Any, sizes: dict[str, int]) -> bool:
    """Whether a size of 1 is given, or gives results of fewer axes than the model's have."""
    if 1 in sizes.values():
        return True
    here = _eager(program, program.values(sizes))
    if here is None:
        return True
    axes = [len(dims or ()) for _, _, dims in made._model.outputs]
    return any(v.dim() < known for v, known in zip(here[0], axes, strict=False))


def _eager(program: Program, values: tuple[torch.Tensor, ...]) -> Eager | None:
    """None where it refuses the sizes."""
    given = copy.deepcopy(values)
    before = [v._version for v in given]
    try:
        with torch.no_grad(), _uncompiled():
            results = list(program.module()(*given))
    except Exception:
        return None
    written = {i: v for i, v in enumerate(given) if v._version != before[i]}
    return results, written


@contextlib.contextmanager
def _uncompiled() -> Iterator[None]:
    """Control flow by PyTorch's own kernels: what users call compiles it first, which took half of
    a hunt's time."""
    operators: Any = torch.ops.higher_order

    def loop(condition: Callable[..., Any], body: Callable[..., Any], carried: Any) -> Any:
        trips = itertools.count()

        def goes_on(*values: Any) -> Any:
            if next(trips) > _MAX_TRIPS:
                raise RuntimeError("a drawn loop that has no end")
            return condition(*values)

        return operators.while_loop(goes_on, body, carried, ())

    with (
        mock.patch.object(torch, "cond", operators.cond),
        mock.patch.object(torch._higher_order_ops, "while_loop", loop),
    ):
        yield


def _run(session: Any, feed: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    from sardonyx._runtime.session import run

    taken = {i.name for i in session.get_inputs()}
    names = [o.name for o in session.get_outputs()]
    return run(session, {k: v for k, v in feed.items() if k in taken}, names)


def _takes(made: Any, values: tuple[torch.Tensor, ...]) -> bool:
    """Whether the model's inputs have these sizes: those that vary may be any, those of one name
    are equal."""
    known: dict[str, int] = {}
    for (_, _, dims), value in zip(made._model.inputs, values, strict=True):
        for dim, size in zip(dims or (), value.shape, strict=True):
            wanted = known.setdefault(dim, size) if isinstance(dim, str) else dim
            if wanted is not None and wanted != size:
                return False
    return True


def _has_negative_sizes(captured: Any, values: tuple[torch.Tensor, ...]) -> bool:
    """Whether the captured program has tensors of -1 elements for these inputs, as x[1:] of none
    has there."""
    nodes = list(captured.graph.nodes)
    shapes = [getattr(node.meta.get("val"), "shape", ()) for node in nodes]
    given = [shape for node, shape in zip(nodes, shapes, strict=True) if node.op == "placeholder"]
    known = {
        size.node.expr: actual
        for shape, value in zip(given[-len(values) :], values, strict=True)
        for size, actual in zip(shape, value.shape, strict=True)
        if isinstance(size, torch.SymInt)
    }
    sizes = {size.node.expr for shape in shapes for size in shape if isinstance(size, torch.SymInt)}
    return any(size.subs(known).is_negative for size in sizes)


def _unless_capture(
    made: Any, values: tuple[torch.Tensor, ...], wanted: list[torch.Tensor], verdict: Verdict
) -> Verdict | None:
    """None where the captured graph itself does not hold for the sizes, or PyTorch's own without
    writes does not: torch.export assumed so."""
    captured = made.exported_program
    try:
        with torch.no_grad():
            captured.module()(*copy.deepcopy(values))  # refuses sizes that it took for others
            results = torch.fx.Interpreter(captured.graph_module).run(*copy.deepcopy(values))
    except Exception:
        return None
    if not _are(results, wanted):
        return None
    # Whether reshape gives a view hangs on sizes, too.
    try:
        with torch.no_grad():
            plain = captured.run_decompositions({}).module(check_guards=False)
            results = plain(*copy.deepcopy(values))
    except Exception:
        return verdict
    return verdict if _are(results, wanted) else None


def _are(results: Any, wanted: list[torch.Tensor]) -> bool:
    tensors = [r for r in results if isinstance(r, torch.Tensor)]
    return all(
        difference(have, want, _tolerance(want)) is None
        for have, want in zip(tensors, wanted, strict=False)
    )


def _tolerance(want: torch.Tensor) -> Tolerance:
    """That of a few operators, relative to the largest element: sums may cancel."""
    tolerance = of_operator(want.dtype).widened(4)
    if not want.is_floating_point() or want.numel() == 0:
        return tolerance
    finite = want[want.isfinite()].abs()
    largest = max(1.0, float(finite.max())) if finite.numel() else 1.0
    return Tolerance(tolerance.relative, tolerance.absolute * largest)


def shrunk(program: Program, verdict: Verdict, **how: Any) -> tuple[Program, Verdict]:
    """The program with as few lines as show the same kind of fault."""
    index = len(program.lines) - 1
    while index >= 0:
        smaller = program.without(index)
        if smaller.lines and smaller.results():
            found = judge(smaller, **how)
            if found.kind == verdict.kind:
                program, verdict = smaller, found
        index = min(index, len(program.lines)) - 1
    return program, verdict


def signature(program: Program, verdict: Verdict) -> str:
    """What findings of one cause have in common: the kind, and the lines without their names."""
    lines = [re.sub(r"\b[vabc]\d*\b", "_", line.text) for line in program.lines]
    return f"{verdict.kind}: " + "; ".join(lines)
