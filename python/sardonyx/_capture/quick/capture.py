"""Quick capture of one module."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from sardonyx._base import torch_versions
from sardonyx._base.state import raise_interrupt
from sardonyx._capture.wanted import SCALAR, Insistence, Leaf, size_of

from .declining import DeclinedError, none_forgotten
from .surroundings import run_again_where_declined

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from .program import QuickProgram


def quick_capture(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    export: Callable[[], ExportedProgram],
    *,
    leaves: Sequence[Leaf] = (),
) -> QuickProgram:
    """The program of one run of the model on tensors that hold nothing.

    `leaves` say of the inputs' dimensions what they are called: those of one name are one size.
    `export` captures it by torch.export, for those who ask for that program. DeclinedError says
    what quick capture is not sure of; the model's own errors count as such, too, so that
    torch.export is the one to tell of them.
    """
    from .interning import inequalities_remembered
    from .interrupts import interrupts_wait
    from .lengths import LengthError, lengths_are_sizes

    def capture() -> QuickProgram:
        with (
            run_again_where_declined(),
            interrupts_wait(),
            none_forgotten(),
            inequalities_remembered(),
        ):
            return _captured(model, args, dict(kwargs), dynamic_shapes, export, leaves=leaves)

    try:
        try:
            return capture()
        except LengthError:
            with lengths_are_sizes():
                return capture()
    except DeclinedError:
        raise
    except Exception as error:
        raise_interrupt(error)
        raise DeclinedError(f"{type(error).__name__}: {error}".splitlines()[0]) from error


def _captured(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
    export: Callable[[], ExportedProgram],
    *,
    leaves: Sequence[Leaf],
) -> QuickProgram:
    import torch
    from torch._dispatch.python import enable_python_dispatcher
    from torch._export import non_strict_utils
    from torch._export.utils import _compiling_state_context
    from torch.export import _trace
    from torch.fx.experimental.proxy_tensor import disable_autocast_cache
    from torch.utils import _pytree as pytree

    from .bodies import bodies_uncompiled
    from .fakes import Fakes
    from .interning import interned
    from .modules import watching
    from .program import QuickProgram, QuickSignature
    from .recording import Overseer, Recorder, run
    from .regions import finish
    from .signature import Placeholders, output_specs
    from .solving import hearing_the_model, solve
    from .state import unchanged
    from .ways import Ways

    _check(model)
    args, kwargs, _, dynamic_shapes, _check_more = _trace._process_export_inputs(
        model, args, kwargs, dynamic_shapes
    )
    # In pieces: putting caches of fake tensors together takes long, and nothing here needs them.
    with mock.patch.object(non_strict_utils, "tree_map_with_path", _mapped_leaves):
        fake_mode, inputs, in_spec, equalities, signature, dynamic_shapes = (
            non_strict_utils.make_fake_inputs(
                model,
                args,
                kwargs,
                dynamic_shapes,
                prefer_deferred_runtime_asserts_over_guards=True,
            )
        )
    _join_sizes(inputs, leaves)
    placeholders = Placeholders(model, args, kwargs, inputs)
    recorder = Recorder(placeholders, Fakes(fake_mode))
    recorder.watchers = (
        non_strict_utils._NonStrictTorchFunctionHandler(),
        Overseer(recorder),
    )
    ways = Ways(recorder, fake_mode.shape_env)
    given = [placeholders.quick(each) for each in inputs]
    with (
        torch.no_grad(),
        disable_autocast_cache(),
        warnings.catch_warnings(),
        _trace._ignore_backend_decomps(),
        watching(model, recorder.modules) as called,
        _compiling_state_context(),
        torch_versions.fx_tracing(),
        non_strict_utils._override_builtin_ops(),
        bodies_uncompiled(),
        interned(),
        enable_python_dispatcher(),
        hearing_the_model() as by_model,
        ways.followed(),
        recorder.watching(),
    ):
        # Sizes stand in arguments as they are: the native walk takes those.
        warnings.filterwarnings("ignore", "Raw Sym")

        def ran() -> tuple[list[Any], Any]:
            with unchanged(model) as assigned:
                # Within, as torch.export does it: caches may compute as they are put together.
                quick_args, quick_kwargs = pytree.tree_unflatten(given, in_spec)
                result = run(called, quick_args, quick_kwargs)
                for buffer, now in assigned.changes():
                    if ways.are_several:
                        raise DeclinedError("a buffer is assigned behind a branch")
                    recorder.assign(buffer, now)
            return pytree.tree_flatten(result)

        outputs, out_spec = ways.given(ran)
    recorder.graph.output(tuple(recorder.said(each) for each in outputs))
    recorder.check()
    finish(recorder.graph)
    # Not a GraphModule, which writes code of the graph that nobody runs: a fifth of the time.
    graph_module: Any = SimpleNamespace(graph=recorder.graph, meta={})
    solve(
        fake_mode,
        lambda: non_strict_utils.produce_guards_and_solve_constraints(
            fake_mode=fake_mode,
            gm=graph_module,
            dynamic_shapes=dynamic_shapes,
            equalities_inputs=equalities,
            original_signature=signature,
        ),
        by_model,
    )
    sig = QuickSignature(placeholders.specs, output_specs(recorder.graph))
    artifact: Any = SimpleNamespace(
        aten=SimpleNamespace(gm=graph_module, sig=sig), fake_mode=fake_mode
    )
    graph_module.meta["inline_constraints"] = (
        _trace._get_inline_constraints(fake_mode) if fake_mode.shape_env is not None else {}
    )
    ranges = _trace._get_range_constraints(model, artifact, args, kwargs, dynamic_shapes)
    names = _trace._get_forward_arg_names(model, args, kwargs)
    call = SimpleNamespace(in_spec=in_spec, out_spec=out_spec, forward_arg_names=names)
    return QuickProgram(
        graph=recorder.graph,
        graph_signature=sig,
        state_dict=placeholders.state_dict,
        constants=placeholders.constants,
        range_constraints=ranges,
        module_call_graph=[SimpleNamespace(fqn="", signature=call)],
        example_inputs=(args, kwargs),
        export=export,
        notes=ways.notes(),
    )


def _join_sizes(inputs: Sequence[Any], leaves: Sequence[Leaf]) -> None:
    """Has the sizes that the user calls by one name be one symbol."""
    first: dict[str, Any] = {}
    for value, leaf in zip(inputs, leaves, strict=False):
        for axis, wanted in leaf.dims.items():
            size = value if axis == SCALAR else size_of(value, axis)
            if wanted.insistence is Insistence.SHOULD_VARY and hasattr(size, "node"):
                torch_versions.join_sizes(first.setdefault(str(wanted.name), size), size)


def _mapped_leaves(function: Callable[..., Any], tree: Any) -> tuple[list[Any], Any]:
    """What the function gives of each leaf and its path, and the tree's spec; a tree again where
    only paths are asked for."""
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten_with_path(tree)
    given = [function(path, leaf) for path, leaf in leaves]
    if all(leaf is None for _, leaf in leaves):
        mapped: Any = pytree.tree_unflatten(given, spec)
        return mapped  # type: ignore[no-any-return]
    return given, spec


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
