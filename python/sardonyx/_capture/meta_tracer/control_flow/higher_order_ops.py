"""Control flow: each body is run once, into a graph of its own.

Tensors that a body reads from the graphs around it become operands. Sizes do not: they are in its
arguments as they are everywhere. The types of a call's results follow from those of its bodies'
results.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.aliases import roots
from sardonyx._capture.meta_tracer.meta.results import dims_of, steps_of
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import is_static, same
from sardonyx._capture.meta_tracer.tracer.autocast_regions import finish
from sardonyx._capture.meta_tracer.tracer.tracer import Recorder
from sardonyx._torch_private import operators, pytree, sizes
from sardonyx._torch_private.questions import relation_that_may_fail

from .closures import unchanged_by_running
from .scopes import Scope, held, share_what_they_read

_ops = torch.ops.higher_order
# Symbols of data.
Known = AbstractSet[Any]


@dataclass
class TracedBody:
    """The body of a branch or loop after its run: its graph, and the leaves and structure of its
    results."""

    scope: Scope
    leaves: list[Any]
    spec: Any
    graph_values: list[Any] = field(
        default_factory=list
    )  # as its graph has them, where that has no output

    @property
    def tensors(self) -> list[QuickTensor]:
        """Its leaves. Declines what is none."""
        if any(type(each) is not QuickTensor for each in self.leaves):
            raise DeclinedError("a body gives something else than tensors")
        return self.leaves


def cond(
    recorder: Recorder,
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """One of two bodies."""
    pred = _truth_of_sizes(recorder, pred)
    one, other = (traced_body(recorder, fn, (), operands) for fn in (true_fn, false_fn))
    if one.spec != other.spec:
        raise DeclinedError("branches give results of different structure")
    given = recorder.fake_kernels.within(
        lambda fake: _ops.cond(
            fake(pred), lambda *_: fake(one.leaves), lambda *_: fake(other.leaves), ()
        )
    )
    _write_branches(recorder, recorder.graph_argument(pred), (one, other), given)
    return pytree.tree_unflatten(given, one.spec)


def _truth_of_sizes(recorder: Recorder, pred: Any) -> Any:
    """A predicate that sympy takes for always so, since sizes are positive to it, as a tensor."""
    relation = relation_that_may_fail(pred)
    if relation is None:
        return pred
    from .data_questions import ConditionTensors  # needs this module

    node = ConditionTensors(recorder, pred.node.shape_env).node(relation)
    if node is None:
        raise DeclinedError(f"torch.cond of {relation}")
    return node.meta["val"]


def branched(
    recorder: Recorder, truth: torch.fx.Node, ways: tuple[TracedBody, TracedBody], known: Known
) -> tuple[list[Any], Any]:
    """The results of one of two branches that run to the end of a program, and their structure.

    `known`: the data-dependent symbols that were there before the branch.
    """
    one, other = ways
    if one.spec != other.spec:
        raise DeclinedError("two ways give results of different structure")
    pairs = list(zip(one.leaves, other.leaves, strict=True))
    places = [i for i, pair in enumerate(pairs) if _are_tensors(*pair, known)]
    for ran in ways:
        ran.scope.graph.output(tuple(ran.graph_values[i] for i in places))
        finish(ran.scope.graph)
    given = [_either(recorder, *pairs[i], known) for i in places]
    _write_branches(recorder, truth, ways, given)
    leaves = list(one.leaves)
    for i, made in zip(places, given, strict=True):
        leaves[i] = made
    return leaves, one.spec


def _are_tensors(a: Any, b: Any, known: Known) -> bool:
    """Declines what is not a tensor and differs between both branches."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return True
    if isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt) and _is_one(a, b, known):
        return False
    if type(a) is type(b) and isinstance(a, (bool, int, float, str, type(None))) and a == b:
        return False
    raise DeclinedError("two ways give something else than tensors")


def _is_one(a: Any, b: Any, known: Known) -> bool:
    """Whether two sizes are one that was there before."""
    return same(a, b) and (is_static((a,)) or sizes.symbols_of_data(a) <= known)


def _either(recorder: Recorder, a: torch.Tensor, b: torch.Tensor, known: Known) -> QuickTensor:
    """What one of two tensors is."""
    first, second = dims_of(a), dims_of(b)
    if a.dtype != b.dtype or len(first) != len(second):
        raise DeclinedError("two ways give tensors of other types or ranks")
    sizes = zip(first, second, strict=True)
    dims = [m if _is_one(m, n, known) else recorder.fake_kernels.number() for m, n in sizes]
    return recorder.results.dense(tuple(dims), a.dtype)


def _write_branches(
    recorder: Recorder, truth: Any, ways: tuple[TracedBody, TracedBody], given: list[Any]
) -> None:
    read = share_what_they_read([each.scope for each in ways])
    bodies = [
        held(recorder.graph, ran.scope.graph, name)
        for ran, name in zip(ways, ("true_graph", "false_graph"), strict=True)
    ]
    recorder.write(_ops.cond, (truth, *bodies, tuple(read)), given)


def while_loop(
    recorder: Recorder,
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried_inputs: Sequence[Any],
    additional_inputs: Sequence[Any] = (),
) -> Any:
    """A body as long as another one says so. Carried numbers are open within, and behind it."""
    if additional_inputs:
        raise DeclinedError("a loop with inputs of its own")
    number = recorder.fake_kernels.number
    carried = [number() if isinstance(x, (int, torch.SymInt)) else x for x in carried_inputs]
    going, step = (traced_body(recorder, fn, carried) for fn in (cond_fn, body_fn))
    return looped(recorder, carried_inputs, carried, going, step)


def looped(
    recorder: Recorder,
    carried_inputs: Sequence[Any],
    carried: Sequence[Any],
    going: TracedBody,
    step: TracedBody,
) -> Any:
    """A loop whose bodies have run: `step`, and `going`, which gives whether the loop goes on.
    `carried`: what their first placeholders were made for."""
    number = recorder.fake_kernels.number
    if len(step.leaves) != len(carried) or len(going.leaves) != 1:
        raise DeclinedError("a loop carries something else than it gives")
    if any(isinstance(each, torch.SymInt) and sizes.is_fixed(each) for each in carried):
        raise DeclinedError("a loop whose body fixes a number that it carries")
    may_share = _may_share_memory(step)
    given = [_carried(*each) for each in zip(carried, step.leaves, strict=True)]
    given = [number() if isinstance(each, (int, torch.SymInt)) else each for each in given]
    read = share_what_they_read([going.scope, step.scope])
    bodies = [
        held(recorder.graph, ran.scope.graph, name)
        for ran, name in ((going, "while_loop_cond_graph"), (step, "while_loop_body_graph"))
    ]
    operands = tuple(recorder.graph_argument(each) for each in carried_inputs)
    arguments = (*bodies, operands, tuple(read))
    return _recorded(recorder, _ops.while_loop, arguments, given, step.spec, may_share=may_share)


def scan(
    recorder: Recorder,
    combine_fn: Callable[..., Any],
    init: Sequence[Any],
    xs: Sequence[Any],
    additional_inputs: Sequence[Any] = (),
) -> Any:
    """A body for each slice, which carries something and gives something."""
    if additional_inputs:
        raise DeclinedError("a scan with inputs of its own")
    length, slices = _slices(recorder, xs)
    ran = traced_body(recorder, combine_fn, (*init, *slices))
    may_share = _may_share_memory(ran)
    carry = [_carried(*each) for each in zip(init, ran.tensors, strict=False)]
    given = [*carry, *(_stacked(recorder, length, each) for each in ran.tensors[len(init) :])]
    read = share_what_they_read([ran.scope])
    body = held(recorder.graph, ran.scope.graph, "scan_combine_graph")
    operands = [[recorder.graph_argument(each) for each in group] for group in (init, xs)]
    arguments = (body, *operands, tuple(read))
    return _recorded(recorder, _ops.scan, arguments, given, ran.spec, may_share=may_share)


def map_(recorder: Recorder, f: Callable[..., Any], xs: Sequence[Any], args: Sequence[Any]) -> Any:
    """A body for each slice."""
    length, slices = _slices(recorder, xs)
    ran = traced_body(recorder, f, slices, args)
    given = [_stacked(recorder, length, each) for each in ran.tensors]
    read = share_what_they_read([ran.scope])
    body = held(recorder.graph, ran.scope.graph, "body_graph")
    operands = [recorder.graph_argument(each) for each in xs]
    return _recorded(recorder, _ops.map_impl, (body, operands, read), given, ran.spec)


def associative_scan(
    recorder: Recorder,
    combine_fn: Callable[..., Any],
    xs: Sequence[Any],
    additional_inputs: Sequence[Any] = (),
) -> Any:
    """A body on pairs of what it made so far."""
    if additional_inputs:
        raise DeclinedError("a scan with inputs of its own")
    _, first = _slices(recorder, xs)
    _, second = _slices(recorder, xs)
    ran = traced_body(recorder, combine_fn, (*first, *second))
    for made, slice_ in zip(ran.tensors, first, strict=True):
        _carried(slice_, made)
    given = [recorder.results.dense(dims_of(x), x.dtype) for x in xs]
    read = share_what_they_read([ran.scope])
    body = held(recorder.graph, ran.scope.graph, "associative_scan_combine_graph")
    operands = [recorder.graph_argument(each) for each in xs]
    arguments = (body, operands, tuple(read))
    return _recorded(recorder, _ops.associative_scan, arguments, given, ran.spec)


def hints_wrapper(
    recorder: Recorder,
    body_fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    hints: Any,
) -> Any:
    """A body that runs once."""
    if kwargs:
        raise DeclinedError("a region with named inputs")
    ran = traced_body(recorder, body_fn, (), args)
    read = share_what_they_read([ran.scope])
    body = held(recorder.graph, ran.scope.graph, "hints_wrapper_body_graph")
    given = [_again(each) for each in ran.tensors]
    recorder.write(_ops.hints_wrapper, (body, tuple(read), {}), given, {"hints": hints})
    return pytree.tree_unflatten(given, ran.spec)


def _of_release(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, which leaves out options that other releases pass and that say nothing, and
    declines those that say something."""
    known = inspect.signature(rule).parameters

    def called(recorder: Recorder, *args: Any, **options: Any) -> Any:
        for option, value in options.items():
            if option not in known and value:
                raise DeclinedError(f"{name} with {option}={value!r}")
        given = {option: value for option, value in options.items() if option in known}
        return rule(recorder, *args, **given)

    return called


# By the operator's name, since PyTorch's releases do not all have all of them.
_RULES: dict[str, Callable[..., Any]] = {
    "cond": cond,
    "while_loop": while_loop,
    "scan": scan,
    "map_impl": map_,
    "associative_scan": associative_scan,
    "hints_wrapper": hints_wrapper,
}
for _name, _rule in _RULES.items():
    if (_op := getattr(_ops, _name, None)) is not None:
        _op.py_impl(Recorder)(_of_release(_name, _rule))


def traced_body(
    recorder: Recorder,
    function: Callable[..., Any],
    own: Sequence[Any],
    others: Sequence[Any] = (),
) -> TracedBody:
    """Runs a body. Of `own` it has placeholders, in this order, before those of what it reads."""
    with recorder.scopes.opened() as scope, recorder.watching(), unchanged_by_running(function):
        given = [given_to(scope, each) for each in own]
        leaves, spec = pytree.tree_flatten(function(*given, *others))
        recorder.graph.output(tuple(recorder.graph_argument(each) for each in leaves))
        finish(recorder.graph)
    return TracedBody(scope, leaves, spec)


def _recorded(
    recorder: Recorder,
    operator: Any,
    arguments: tuple[Any, ...],
    results: list[Any],
    spec: Any,
    *,
    may_share: bool = False,
) -> Any:
    """Records a call of an operator with bodies; its results, as the body has them. `may_share`:
    they may lie in memory of the arguments."""
    node = recorder.write(operator, arguments, results)
    if may_share:
        recorder.may_share_memory(node)
    return pytree.tree_unflatten(results, spec)


def given_to(scope: Scope, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = _again(value)
        value.made_by = scope.placeholder(value)
    else:
        scope.placeholder(value)
    return value


def _again(tensor: torch.Tensor) -> QuickTensor:
    return QuickTensor.of(dims_of(tensor), steps_of(tensor), tensor.dtype)


def _slices(recorder: Recorder, xs: Sequence[torch.Tensor]) -> tuple[Any, list[QuickTensor]]:
    """The number of slices, and a first one of each."""
    kinds = [(dims_of(x)[1:], x.dtype) for x in xs]
    return dims_of(xs[0])[0], [recorder.results.dense(*kind) for kind in kinds]


def _stacked(recorder: Recorder, length: Any, tensor: torch.Tensor) -> QuickTensor:
    return recorder.results.dense((length, *dims_of(tensor)), tensor.dtype)


def _carried(before: Any, after: Any) -> Any:
    """What a loop gives of something it carries. Declines what changes its kind on the way."""
    if not isinstance(before, torch.Tensor):
        if isinstance(after, (int, torch.SymInt)):
            return after
        raise DeclinedError("a loop carries a number and gives something else")
    if type(after) is not QuickTensor or after.dtype != before.dtype:
        raise DeclinedError("a loop carries tensors of another type than it gives")
    old, new = dims_of(before), dims_of(after)
    if len(old) != len(new) or not all(map(same, old, new)):
        raise DeclinedError("a loop carries tensors of other sizes than it gives")
    return _again(after)


def _may_share_memory(ran: TracedBody) -> bool:
    """Whether results may lie where inputs or one another do. Declines where they do, which PyTorch
    refuses, and where it matters since the body writes."""
    output: Any = ran.scope.graph.output_node().args[0]
    seen: set[torch.fx.Node] = set()
    may_share = False
    for node in output:
        if not isinstance(node, torch.fx.Node):
            continue
        own = roots(node)
        if own & seen or any(root.op == "placeholder" for root in own):
            may_share = True
            if node.op == "placeholder" or node in seen or _writes(ran.scope.graph):
                raise DeclinedError("a loop gives what shares memory with what it was given")
        seen |= {*own, node}
    return may_share


def _writes(graph: torch.fx.Graph) -> bool:
    schemas = [operators.schema_of(node.target) for node in graph.nodes]
    return any(schema is not None and schema.is_mutable for schema in schemas)
