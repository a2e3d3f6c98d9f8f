"""What differs between PyTorch 2.8 and the newest release: all of it is in this file."""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram
    from torch.utils._pytree import TreeSpec

# Where the flag behind torch.onnx.is_in_onnx_export() has been: a plain module variable of the new
# exporter, and a property of the old one's global settings. The first that exists is set.
_EXPORT_FLAGS = (
    ("torch.onnx._internal.exporter._flags", None, "_is_onnx_exporting"),
    ("torch.onnx._internal.torchscript_exporter._globals", "GLOBALS", "in_onnx_export"),
    ("torch.onnx._globals", "GLOBALS", "in_onnx_export"),
)


def _patched(*args: Any, **kwargs: Any) -> AbstractContextManager[Any]:
    """mock.patch.object(), imported where it is used: it brings asyncio, which takes as long to
    import as all that `sardonyx.optimize` needs besides."""
    from unittest import mock

    patch: AbstractContextManager[Any] = mock.patch.object(*args, **kwargs)
    return patch


@contextmanager
def torch_sees_onnx_export() -> Iterator[None]:
    """Within it, torch.onnx.is_in_onnx_export() is true."""
    for module_name, holder_name, attribute in _EXPORT_FLAGS:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        holder: Any = module if holder_name is None else getattr(module, holder_name, None)
        if holder is None or not hasattr(holder, attribute):
            continue
        before = getattr(holder, attribute)
        setattr(holder, attribute, True)
        try:
            yield
        finally:
            setattr(holder, attribute, before)
        return
    yield


def quick_capture_is_known() -> bool:
    """Whether quick capture was held against torch.export of this PyTorch: both ask it the same."""
    return True


@contextmanager
def fx_tracing() -> Iterator[None]:
    """Within it, torch.fx.is_fx_tracing()'s flag is set, as it is while torch.export traces."""
    from torch.fx import _symbolic_trace

    module: Any = _symbolic_trace
    if hasattr(module, "_is_fx_tracing_context"):  # a flag of each thread, since 2.14
        with module._is_fx_tracing_context(True):
            yield
        return
    with _patched(module, "_is_fx_tracing_flag", True):
        yield


def capture_options() -> dict[str, Any]:
    """Options of torch.export.export() that this PyTorch has, of those that we want."""
    import torch

    known = inspect.signature(torch.export.export).parameters
    # Sizes that must be equal are checked when the model runs instead of refusing to capture.
    wanted = {"prefer_deferred_runtime_asserts_over_guards": True}
    return {name: value for name, value in wanted.items() if name in known}


def draft_export(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
) -> ExportedProgram:
    """torch.export.draft_export, which went from a private to a public place."""
    import torch

    draft = getattr(torch.export, "draft_export", None)
    if draft is None:
        draft = importlib.import_module("torch.export._draft_export").draft_export
    program: ExportedProgram = draft(
        model, args, kwargs=dict(kwargs), dynamic_shapes=dynamic_shapes, strict=False
    )
    return program


def export_with_derivatives(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
) -> ExportedProgram:
    """What torch.export.export() captures, below autograd: derivatives that the model takes itself
    are operators there."""
    trace = importlib.import_module("torch.export._trace")
    program: ExportedProgram = trace._export(
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


@contextmanager
def sizes_one_stay_dynamic() -> Iterator[None]:
    """Within it, a dimension that is 0 or 1 in the example does not become constant by that."""
    config = importlib.import_module("torch.fx.experimental._config")
    if not hasattr(config, "backed_size_oblivious"):
        yield
        return
    with config.patch(backed_size_oblivious=True):
        yield


def refined_shapes(error: Exception | None, shapes: Any) -> Any:
    """`shapes` with the corrections that torch.export's `error` suggests; None when it has none."""
    import torch

    module: Any = torch.export.dynamic_shapes
    refine = getattr(module, "refine_dynamic_shapes_from_suggested_fixes", None)
    message = getattr(error, "msg", None)
    if refine is None or not isinstance(message, str) or "Suggested fixes" not in message:
        return None
    try:
        return refine(message, shapes)
    except Exception:
        return None


_FLAT_WEIGHTS = r"self\.(\w+\.)*_flat_weights\[\d+\](, )?"


def list_makers() -> None:
    """Has PyTorch list the functions that make tensors. It does so where a device is first chosen
    by `with torch.device(...)`, and keeps the list: those that stand in for others meanwhile would
    be in it for good, and the others be made on the CPU."""
    from torch.utils import _device

    getattr(_device, "_device_constructors", bool)()


@contextmanager
def quiet_capture() -> Iterator[None]:
    """Within it, PyTorch does not log the failures of strategies, nor print the graph up to there:
    the error we raise says them. Nor does it warn of the weights that recurrent modules list."""
    trace: Any = importlib.import_module("torch.export._trace")
    loggers = [
        logging.getLogger(f"torch.{name}") for name in ("_guards", "_dynamo", "fx", "export")
    ]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with _patched(trace, "print", create=True), warnings.catch_warnings():
            warnings.filterwarnings("ignore", rf"The tensor attributes? ({_FLAT_WEIGHTS})+ w")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def children_of(spec: TreeSpec) -> list[TreeSpec]:
    """The children of a pytree spec, which became a method."""
    children = getattr(spec, "children", None)
    return list(children() if children is not None else spec.children_specs)


@contextmanager
def equal_sizes(groups: Iterable[Sequence[Any]]) -> Iterator[None]:
    """Within it, the SymInts of each group are one: a symbol among them is said as the first is."""
    undo: dict[Any, dict[Any, Any]] = {}
    try:
        for first, *others in groups:
            for other in others:
                env, symbol, known = first.node.shape_env, other.node.expr, first.node.expr
                if symbol == known:
                    continue
                if not symbol.is_symbol:
                    symbol, known = known, symbol
                if symbol.is_symbol and symbol not in known.free_symbols:
                    undo.setdefault(env, dict(env.replacements))
                    env.replacements[symbol] = known
                    _forget_sizes(env)
        yield
    finally:
        for env, before in undo.items():
            env.replacements.clear()
            env.replacements.update(before)
            _forget_sizes(env)


def join_sizes(first: Any, other: Any) -> None:
    """Has two SymInts of one environment be one size from now on."""
    env, symbol, known = first.node.shape_env, other.node.expr, first.node.expr
    if symbol != known and symbol.is_symbol and known.is_symbol:
        env._set_replacement(symbol, known, "dimensions of one name")


def _forget_sizes(env: Any) -> None:
    """Drops what a ShapeEnv remembers of its replacements."""
    env._update_version_counter()
    if hasattr(env, "_replacements_version_counter"):  # a second one, since 2.12
        env._replacements_version_counter += 1


@contextmanager
def watching_sizes(on_fixed: Callable[[list[str]], None]) -> Iterator[None]:
    """Within it, `on_fixed` is called with the names of a size ("L['x'].size()[0]") that capture
    makes constant, while it does."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    kind: Any = ShapeEnv
    narrowed, replaced = kind._update_var_to_range, kind._set_replacement

    def tell(env: Any, symbol: Any) -> None:
        on_fixed(names_of_sizes(env, (symbol,)))

    def narrow(env: Any, symbol: Any, *args: Any, **kwargs: Any) -> Any:
        result = narrowed(env, symbol, *args, **kwargs)
        if env.var_to_range[symbol].is_singleton():
            tell(env, symbol)
        return result

    def replace(env: Any, symbol: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if target.is_number:
            tell(env, symbol)
        try:
            return replaced(env, symbol, target, *args, **kwargs)
        except AssertionError:
            # It halves ranges that end near 2**63 in floats, and asserts that nothing is lost. The
            # two stay two, whose equality is still asked.
            return None

    kind._update_var_to_range, kind._set_replacement = narrow, replace
    try:
        yield
    finally:
        kind._update_var_to_range, kind._set_replacement = narrowed, replaced


def names_of_sizes(env: Any, symbols: Iterable[Any]) -> list[str]:
    """What symbols stand for: "L['x'].size()[0]"."""
    sources = getattr(env, "var_to_sources", {})
    found = [source for symbol in symbols for source in sources.get(symbol, ())]
    # A source's name became a property.
    return [s.name if isinstance(s.name, str) else s.name() for s in found]


def canonical_relation(relation: Any) -> Any:
    """A relation of sizes in the one form of those that say the same."""
    from torch.fx.experimental import symbolic_shapes

    return symbolic_shapes.canonicalize_bool_expr(relation)


@contextmanager
def watching_questions(on_asked: Callable[[Any, Any], None]) -> Iterator[None]:
    """Within it, `on_asked` is called with the ShapeEnv and each relation of sizes that capture
    takes for true because the example's sizes have it, while it does."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    kind: Any = ShapeEnv
    logged = getattr(kind, "_log_guard", None)
    if logged is None:
        yield
        return

    def log(env: Any, prefix: str, relation: Any, *args: Any, **kwargs: Any) -> Any:
        if prefix == "eval":  # others are assertions, and what nothing hangs on
            on_asked(env, relation)
        return logged(env, prefix, relation, *args, **kwargs)

    kind._log_guard = log
    try:
        yield
    finally:
        kind._log_guard = logged


@contextmanager
def watching_truths(on_answered: Callable[[Any, bool], None]) -> Iterator[None]:
    """Within it, `on_answered` is called with each relation of sizes that Python asks the truth of,
    and the answer. What sympy knows of any positive number is such a relation, too.
    """
    import sympy
    from torch.fx.experimental.sym_node import SymNode

    kind: Any = SymNode
    asked = kind.guard_bool
    known = {sympy.true, sympy.false, True, False}
    names = ("eq", "ne", "gt", "ge", "lt", "le")

    def comparing(name: str) -> Callable[[Any, Any], Any]:
        compare, relation = getattr(kind, name), getattr(sympy, name.capitalize())

        def compared(node: Any, other: Any) -> Any:
            made = compare(node, other)
            if made._expr in known and node.expr.free_symbols:
                made.compared = relation(node.expr, other.expr, evaluate=False)
            return made

        return compared

    def ask(node: Any, file: str, line: int) -> Any:
        answer = asked(node, file, line)
        on_answered(getattr(node, "compared", node.expr), answer)
        return answer

    with ExitStack() as stack:
        stack.enter_context(_patched(kind, "guard_bool", ask))
        for name in names:
            stack.enter_context(_patched(kind, name, comparing(name)))
        yield


@contextmanager
def answering_of_data(answer: Callable[[Any], bool | None]) -> Iterator[None]:
    """Within it, a truth that capture cannot know, since it hangs on data, is what `answer` gives
    for its SymNode; where that is None, capture fails as it does."""
    from torch.fx.experimental import symbolic_shapes
    from torch.fx.experimental.sym_node import SymNode

    kind: Any = SymNode
    asked, hidden = kind.guard_bool, symbolic_shapes.uninteresting_files

    def ask(node: Any, file: str, line: int) -> Any:
        try:
            return asked(node, file, line)
        except decided_by_data():
            if (answered := answer(node)) is None:
                raise
            return answered

    def hidden_with_this() -> set[str]:  # so that errors name who asked
        return {*hidden(), __file__}

    with (
        _patched(kind, "guard_bool", ask),
        _patched(symbolic_shapes, "uninteresting_files", hidden_with_this),
    ):
        yield


def is_of_data(symbol: Any) -> bool:
    """Whether a symbol stands for a number that data decide."""
    from torch.utils._sympy.symbol import SymT, symbol_is_type

    return bool(symbol_is_type(symbol, (SymT.UNBACKED_INT, SymT.UNBACKED_FLOAT)))


@functools.cache
def decided_by_data() -> tuple[type[Exception], ...]:
    """What capture raises where it would have to know data."""
    from torch._subclasses.fake_tensor import DataDependentOutputException
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    return (DataDependentOutputException, GuardOnDataDependentSymNode)


@contextmanager
def limiting_sizes(most: int, in_all: int, stop: type[BaseException]) -> Iterator[None]:
    """Within it, capture ends with `stop` where it asks something of sizes that takes an expression
    of more than `most` terms to say, or more than `in_all` with all that it has asked."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    kind: Any = ShapeEnv
    asked = kind._maybe_evaluate_static
    total = 0

    @functools.wraps(asked)  # with what forgets its answers
    def ask(env: Any, relation: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal total
        terms = _count_terms(relation, most)
        total += terms
        if terms > most or total > in_all:
            raise stop
        return asked(env, relation, *args, **kwargs)

    kind._maybe_evaluate_static = ask
    try:
        yield
    finally:
        kind._maybe_evaluate_static = asked


def _count_terms(expression: Any, most: int) -> int:
    """How many terms it has, or one more than `most`."""
    left, count = [expression], 0
    while left and count <= most:
        count += 1
        left.extend(left.pop().args)
    return count
