"""Fake-tensor tracing of one module."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._base.state import raise_interrupt
from sardonyx._capture.meta_tracer.fallback import DeclinedError, none_forgotten
from sardonyx._capture.meta_tracer.isolation.side_effects import run_again_where_declined
from sardonyx._capture.shapes.dim_spec import SCALAR, ConstantDimPolicy, Leaf, size_of
from sardonyx._torch_private import sizes as torch_sizes

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from sardonyx._capture.meta_tracer.isolation.state import Assigned

    from .program import QuickProgram


def quick_capture(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    export: Callable[[], ExportedProgram],
    *,
    leaves: Sequence[Leaf] = (),
    size_branches: bool = False,
    stops_at_ifs: bool = False,
) -> QuickProgram:
    """The program of one run of the model on tensors that hold nothing.

    `leaves` say of the inputs' dimensions what they are called: those of one name are one size.
    `size_branches` has both sides of Python's branches on sizes be in the program.
    `stops_at_ifs` has ConvertibleIfError raised where the former needs no two branches.
    `export` captures it by torch.export, for those who ask for that program. DeclinedError says
    what fake-tensor tracing is not sure of; the model's own errors count as such, too, so that
    torch.export is the one to tell of them.
    """
    from sardonyx._capture.meta_tracer.control_flow.if_conversion import (
        UnconvertedIfError,
        stopping_at_convertible_ifs,
    )
    from sardonyx._capture.meta_tracer.isolation.interrupts import interrupts_wait
    from sardonyx._capture.meta_tracer.tracer.tensor_len import LengthError, lengths_are_sizes

    assigned: list[torch.Tensor] = []  # buffers, by some branches
    unconverted: set[tuple[str, int]] = set()

    def capture() -> QuickProgram:
        try:
            return once()
        except _AssignedInBranchError as error:  # no way knew yet that another one assigns it
            assigned.extend(error.buffers)
            return capture()
        except UnconvertedIfError:  # is in `unconverted` now
            return capture()

    def once() -> QuickProgram:
        with run_again_where_declined(), interrupts_wait(), none_forgotten():
            return _captured(
                model,
                args,
                dict(kwargs),
                dynamic_shapes,
                export,
                leaves=leaves,
                size_branches=size_branches,
                assigned_in_branches=assigned,
                unconverted=unconverted,
            )

    try:
        try:
            if not size_branches:
                with stopping_at_convertible_ifs() if stops_at_ifs else nullcontext():
                    return capture()
        except LengthError:
            pass
        with lengths_are_sizes():
            return capture()
    except DeclinedError:
        raise
    except Exception as error:
        raise_interrupt(error)
        raise DeclinedError(f"{type(error).__name__}: {error}".splitlines()[0]) from error


class _AssignedInBranchError(DeclinedError):
    """A branch assigns buffers; all others are to say what these hold there."""

    def __init__(self, buffers: list[torch.Tensor]) -> None:
        super().__init__("a buffer is assigned behind a branch")
        self.buffers = buffers


def _captured(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
    export: Callable[[], ExportedProgram],
    *,
    leaves: Sequence[Leaf],
    size_branches: bool,
    assigned_in_branches: Sequence[torch.Tensor],
    unconverted: set[tuple[str, int]],
) -> QuickProgram:
    from sardonyx._capture.meta_tracer.control_flow import higher_order_ops  # noqa: F401 (says what control flow is)
    from sardonyx._capture.meta_tracer.control_flow.branch_exploration import BranchExplorer
    from sardonyx._capture.meta_tracer.control_flow.size_loops import SizeLoops
    from sardonyx._capture.meta_tracer.entry.examples import generic_inputs
    from sardonyx._capture.meta_tracer.isolation.state import unchanged, warn_of_attributes
    from sardonyx._capture.meta_tracer.meta.fake_kernels import FakeKernels
    from sardonyx._capture.meta_tracer.symbolic.multiples import as_multiple
    from sardonyx._capture.meta_tracer.symbolic.periodic import chosen, exact_quotient
    from sardonyx._capture.meta_tracer.symbolic.size_samples import SizeSamples, bounds_of
    from sardonyx._capture.meta_tracer.symbolic.solving import hearing_the_model, solve
    from sardonyx._capture.meta_tracer.tracer.autocast_regions import finish
    from sardonyx._capture.meta_tracer.tracer.module_calls import watching
    from sardonyx._capture.meta_tracer.tracer.module_dtypes import conversions_recorded
    from sardonyx._capture.meta_tracer.tracer.tracer import FunctionObserver, Recorder, run
    from sardonyx._capture.patches.size_loops import loops_traced
    from sardonyx._torch_private import non_strict, operators, pytree, sizes
    from sardonyx._torch_private.fake_tensors import caches_disabled

    from .program import QuickProgram, QuickSignature
    from .signature import Placeholders, output_specs

    _check(model)
    example = generic_inputs(args, kwargs, leaves)
    with caches_disabled():  # FakeKernels remembers what operators gave
        may_be_empty = size_branches and any(leaf.may_be_empty for leaf in leaves)
        given = non_strict.FakeInputs.of(model, *example, dynamic_shapes, may_be_empty=may_be_empty)
    fake_mode = given.fake_mode
    _join_sizes(given.leaves, leaves)
    placeholders = Placeholders(model, given)
    recorder = Recorder(placeholders, FakeKernels(fake_mode))
    recorder.watchers = (
        non_strict.function_watcher(),
        FunctionObserver(recorder),
    )
    samples = None
    if size_branches and fake_mode.shape_env is not None:
        samples = SizeSamples(fake_mode.shape_env, bounds_of(given.leaves, leaves))
    ways = BranchExplorer(recorder, fake_mode.shape_env, samples, unconverted)
    loops = SizeLoops(recorder, ways)
    recorder.results.holds = ways.holds
    stand_ins = [placeholders.quick(each) for each in given.leaves]
    lost: dict[str, None] = {}  # attributes in which any run keeps tensors
    with (
        warnings.catch_warnings(),
        watching(model, recorder.modules) as called,
        non_strict.model_runs(),
        operators.bodies_uncompiled(),
        sizes.arithmetic_remembered(as_multiple, chosen, exact_quotient),
        sizes.quotients_rounded_as_integers(),
        sizes.fractions_reduced_by_term(),
        hearing_the_model() as by_model,
        ways.followed(),
        loops_traced(loops),
        recorder.watching(),
    ):
        # Sizes stand in arguments as they are: the native walk takes those.
        warnings.filterwarnings("ignore", "Raw Sym")

        def ran() -> tuple[list[Any], Any]:
            with unchanged(model) as assigned, conversions_recorded():
                # Within, as torch.export does it: caches may compute as they are put together.
                quick_args, quick_kwargs = pytree.tree_unflatten(stand_ins, given.spec)
                result = run(called, quick_args, quick_kwargs)
                changes = _Changes.of(assigned, assigned_in_branches)
                if changes.others and ways.are_several:
                    raise _AssignedInBranchError([buffer for buffer, _ in changes.others])
                for buffer, now in changes.others:
                    recorder.assign(buffer, now)
            lost.update(dict.fromkeys(assigned.attributes))
            results, spec = pytree.tree_flatten(result)
            return [*results, *changes.at_end], spec

        outputs, out_spec = ways.given(ran)
        warn_of_attributes(lost)
        for buffer in reversed(assigned_in_branches):
            recorder.assign(buffer, outputs.pop())
    recorder.graph.output(tuple(recorder.graph_argument(each) for each in outputs))
    recorder.check()
    finish(recorder.graph)
    # Not a GraphModule, which writes code of the graph that nobody runs: a fifth of the time.
    graph_module: Any = SimpleNamespace(graph=recorder.graph, meta={})
    # Behind branches, an answer holds for one side alone.
    left = set() if size_branches else _left_to_model(given.leaves, leaves)
    doubt = solve(fake_mode, lambda: given.solve(graph_module), by_model, left)
    sig = QuickSignature(placeholders.specs, output_specs(recorder.graph))
    ranges = given.ranges(graph_module, sig)
    if samples is not None:
        ranges = samples.from_least(ranges)
    names = given.argument_names()
    call = SimpleNamespace(in_spec=given.spec, out_spec=out_spec, forward_arg_names=names)
    return QuickProgram(
        graph=recorder.graph,
        graph_signature=sig,
        state_dict=placeholders.state_dict,
        constants=placeholders.constants,
        range_constraints=ranges,
        module_call_graph=[SimpleNamespace(fqn="", signature=call)],
        example_inputs=(given.args, given.kwargs) if example[0] is args else (args, kwargs),
        export=export,
        notes=ways.notes(),
        doubt=doubt,
        has_size_loops=loops.are_any,
    )


class _Changes(NamedTuple):
    """Of a run: what the buffers that branches assign hold at its end, and the other buffers that
    it assigned, with what they hold."""

    at_end: list[torch.Tensor]
    others: list[tuple[torch.Tensor, torch.Tensor]]

    @classmethod
    def of(cls, assigned: Assigned, in_branches: Sequence[torch.Tensor]) -> _Changes:
        changes = {id(before): (before, now) for before, now in assigned.changes()}
        at_end = [changes.pop(id(each), (each, each))[1] for each in in_branches]
        return cls(at_end, list(changes.values()))


def _left_to_model(inputs: Sequence[Any], leaves: Sequence[Leaf]) -> set[Any]:
    """The symbols of sizes that the model may fix, as the user says it of each of them."""
    left: set[Any] = set()
    others: set[Any] = set()
    for value, leaf in zip(inputs, leaves, strict=False):
        for axis, wanted in leaf.dims.items():
            size = value if axis == SCALAR else size_of(value, axis)
            if hasattr(size, "node"):
                known = left if wanted.policy.is_left_to_model else others
                known |= size.node.expr.free_symbols
    return left - others


def _join_sizes(inputs: Sequence[Any], leaves: Sequence[Leaf]) -> None:
    """Has the sizes that the user calls by one name be one symbol."""
    first: dict[str, Any] = {}
    for value, leaf in zip(inputs, leaves, strict=False):
        for axis, wanted in leaf.dims.items():
            size = value if axis == SCALAR else size_of(value, axis)
            if wanted.policy is ConstantDimPolicy.SHOULD_VARY and hasattr(size, "node"):
                torch_sizes.join_sizes(first.setdefault(str(wanted.name), size), size)


def _check(model: torch.nn.Module) -> None:
    """Declines modules of which more than operators would have to be seen."""
    import torch

    if isinstance(model, torch.fx.GraphModule):
        raise DeclinedError("a graph module")
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            raise DeclinedError(f"the module {name} is TorchScript")
        if any(isinstance(v, torch.ScriptObject) for v in vars(module).values()):
            raise DeclinedError(f"the module {name} holds a script object")
