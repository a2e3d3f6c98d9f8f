"""torch.export and torch.onnx: their options, their less public ways, and what they print."""

from __future__ import annotations

import importlib
import inspect
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from . import fake_tensors
from .probing import MissingError, Probe, has, lookup, patched

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


def _find_guards() -> None:
    from torch.export import ExportedProgram

    if "_guards_code" not in ExportedProgram.__annotations__:
        raise MissingError("this PyTorch's ExportedProgram has no _guards_code")


GUARDS_CODE = Probe("conditions on sizes that torch.export recorded", _find_guards)


def guards_code(program: ExportedProgram) -> list[str]:
    """The conditions on sizes under which a program was captured, as Python's text."""
    if not GUARDS_CODE.available:
        return []
    return list(getattr(program, "_guards_code", None) or [])


# Where the flag behind torch.onnx.is_in_onnx_export() has been: a plain module variable of the new
# exporter, and a property of the old one's global settings. The first that exists is set.
_EXPORT_FLAGS = (
    ("torch.onnx._internal.exporter._flags", None, "_is_onnx_exporting"),
    ("torch.onnx._internal.torchscript_exporter._globals", "GLOBALS", "in_onnx_export"),
    ("torch.onnx._globals", "GLOBALS", "in_onnx_export"),
)


def _find_flag() -> None:
    if _export_flag() is None:
        raise MissingError("this PyTorch keeps it in a place that is not known")


def _export_flag() -> tuple[Any, str] | None:
    """The object and the attribute of it that say whether an export runs."""
    for module_name, holder_name, attribute in _EXPORT_FLAGS:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        holder: Any = module if holder_name is None else getattr(module, holder_name, None)
        if holder is not None and hasattr(holder, attribute):
            return holder, attribute
    return None


EXPORT_FLAG = Probe("torch.onnx.is_in_onnx_export()", _find_flag)


@contextmanager
def torch_sees_onnx_export() -> Iterator[None]:
    """Within it, torch.onnx.is_in_onnx_export() is true."""
    if (flag := _export_flag()) is None:
        yield
        return
    holder, attribute = flag
    before = getattr(holder, attribute)
    setattr(holder, attribute, True)
    try:
        yield
    finally:  # a property, which mock.patch.object() would delete
        setattr(holder, attribute, before)


def capture_options() -> dict[str, Any]:
    """Options of torch.export.export() that this PyTorch has, of those that we want."""
    import torch

    known = inspect.signature(torch.export.export).parameters
    # Sizes that must be equal are checked when the model runs instead of refusing to capture.
    wanted = {"prefer_deferred_runtime_asserts_over_guards": True}
    return {name: value for name, value in wanted.items() if name in known}


_INLINING = tuple(
    f"torch._export.passes.replace_{kind}_with_hop_pass" for kind in ("set_grad", "autocast")
)
INLINING = Probe(
    "code of a graph into which regions are inlined",
    *(has(module, "node_inline_") for module in _INLINING),
    has("torch.fx", "GraphModule.recompile"),
)


@contextmanager
def compiled_once_after_inlining() -> Iterator[None]:
    """Within it, torch.export compiles a graph when all regions without gradients, or of autocast,
    are inlined. It compiles the graph and those of all regions that are left after each of them:
    most of the time for a model with a hundred `torch.no_grad()`."""
    if not INLINING.available:
        yield
        return
    graph_module = lookup("torch.fx", "GraphModule")

    def deferred(inline: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def inlined(node: Any) -> Any:
            with patched(graph_module, "recompile", lambda _: None):
                return inline(node)

        return inlined

    with ExitStack() as stack:
        for name in _INLINING:
            module = importlib.import_module(name)
            stack.enter_context(patched(module, "node_inline_", deferred(module.node_inline_)))
        yield


def _draft() -> Any:
    import torch

    public = getattr(torch.export, "draft_export", None)
    return public or lookup("torch.export._draft_export", "draft_export")


def _find_draft() -> None:
    _draft()


DRAFT = Probe("draft export", _find_draft)


def draft_export(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
) -> ExportedProgram:
    """torch.export.draft_export, which went from a private to a public place."""
    program: ExportedProgram = _draft()(
        model, args, kwargs=dict(kwargs), dynamic_shapes=dynamic_shapes, strict=False
    )
    return program


def report_of_draft(program: ExportedProgram) -> Any:
    """What draft export had to assume; None of other programs."""
    return getattr(program, "_report", None)


DERIVATIVES = Probe("models that take derivatives", has("torch.export._trace", "_export"))


def export_with_derivatives(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
) -> ExportedProgram:
    """What torch.export.export() captures, below autograd: derivatives that the model takes itself
    are operators there."""
    program: ExportedProgram = lookup("torch.export._trace", "_export")(
        model,
        args,
        kwargs=dict(kwargs),
        dynamic_shapes=dynamic_shapes,
        strict=False,
        pre_dispatch=False,
        **capture_options(),
    )
    return program


# What torch.func's derivatives leave in a program captured above autograd, beside operators that
# compute with the example's values.
_DERIVATIVES = frozenset(
    ("_unwrap_for_grad", "_jvp_increment_nesting", "_enter_dual_level", "_make_dual")
)


def lacks_derivatives(program: ExportedProgram) -> bool:
    """Whether the model takes derivatives that torch.export.export() did not see."""
    import torch

    graphs = [g for g in program.graph_module.modules() if isinstance(g, torch.fx.GraphModule)]
    nodes = (node for module in graphs for node in module.graph.nodes)
    return any(getattr(node.target, "__name__", "") in _DERIVATIVES for node in nodes)


_CONFIG = "torch.fx.experimental._config"
SIZES_ONE = Probe(
    "sizes of 0 and 1 that stay dynamic", has(_CONFIG, "patch", "backed_size_oblivious")
)


@contextmanager
def sizes_one_stay_dynamic() -> Iterator[None]:
    """Within it, a dimension that is 0 or 1 in the example does not become constant by that."""
    if not SIZES_ONE.available:
        yield
        return
    with lookup(_CONFIG).patch(backed_size_oblivious=True):
        yield


REFINED = Probe(
    "dimensions as torch.export suggests them",
    has("torch.export.dynamic_shapes", "refine_dynamic_shapes_from_suggested_fixes"),
)


def refined_shapes(error: Exception | None, shapes: Any) -> Any:
    """`shapes` with the corrections that torch.export's `error` suggests; None when it has none."""
    message = getattr(error, "msg", None)
    if not REFINED.available or not isinstance(message, str) or "Suggested fixes" not in message:
        return None
    refine = lookup("torch.export.dynamic_shapes", "refine_dynamic_shapes_from_suggested_fixes")
    try:
        return refine(message, shapes)
    except Exception:
        return None


def is_constraint_violation(error: BaseException | None) -> bool:
    """Whether a capture ended since the model takes other sizes than the user declared."""
    kind = lookup("torch.fx.experimental.symbolic_shapes").ConstraintViolationError
    return isinstance(error, kind)


def flat_inputs(program: ExportedProgram, args: Any, kwargs: Any) -> list[Any]:
    """The leaves of a program's arguments, in the order of its placeholders."""
    flat: list[Any]
    flat, _ = program._get_flat_args_with_check(args, kwargs)
    return flat


_FLAT_WEIGHTS = r"self\.(\w+\.)*_flat_weights\[\d+\](, )?"


def _print_nothing(*_args: Any, **_options: Any) -> None:
    pass


def _without_printing() -> AbstractContextManager[Any]:
    try:
        trace = lookup("torch.export._trace")
    except MissingError:
        return nullcontext()
    made: AbstractContextManager[Any] = patched(trace, "print", _print_nothing, create=True)
    return made


@contextmanager
def quiet_capture() -> Iterator[None]:
    """Within it, PyTorch does not log the failures of strategies, nor print the graph up to there:
    the error we raise says them. Nor does it warn of the weights that recurrent modules list."""
    loggers = [
        *(logging.getLogger(f"torch.{name}") for name in ("_guards", "_dynamo", "fx", "export")),
        fake_tensors.logger(),  # which traces each operator that doesn't take its inputs
    ]
    # Python forgets what it knows of every logger where the level of one changes.
    loggers = [logger for logger in loggers if logger.level != logging.CRITICAL]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with _without_printing(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", rf"The tensor attributes? ({_FLAT_WEIGHTS})+ w")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
