"""Runs a model and the program it was made of side by side, value by value.

ONNX Runtime gets the model in parts of a few dozen nodes, each fed with what the parts before gave.
PyTorch runs up to the same values. What neither needs any more is let go at once.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sardonyx._model.inputs import feed_of
from sardonyx._model.program import ONNXProgram
from sardonyx._run.session import open_session, run

from .placeholders import placed

if TYPE_CHECKING:
    import torch.fx

# How much of the model runs at once: nodes, and bytes of the values that are compared.
_NODES_AT_ONCE = 48
_BYTES_AT_ONCE = 64 << 20

Pair = tuple[str, Any, Any]


class _Part(NamedTuple):
    begin: int
    end: int
    values: list[tuple[str, str]]  # (value of the model, node of the program)


def compare_intermediate_values(
    program: ONNXProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Pair]:
    """(name, PyTorch's value, the model's) of what both compute, in the order of computing."""
    exported = program.exported_program
    assert exported is not None
    from sardonyx import _native

    model = program._model
    names = [name for name, _, _ in model.inputs]
    values = feed_of(exported, args, kwargs)
    held: dict[str, Any] = dict(zip(names, values, strict=True))
    functional = exported.run_decompositions({})
    eager = _Eager(functional, args, kwargs)
    parts = list(_parts(model, eager, _outputs_by_node(program, functional)))
    models = _needed_later(model, parts)
    for part, (inputs, needed) in zip(parts, models, strict=True):
        cut = _native.extract(model, part.begin, part.end, [name for name, _ in part.values])
        outputs = [name for name, _, _ in cut.outputs]
        if outputs:
            got = dict(zip(outputs, _run(cut, {n: held[n] for n in inputs}, outputs), strict=True))
        else:
            got = {}
        for name, node in part.values:
            for reached in eager.until(node):
                yield name, reached, got[name]
        held.update(got)
        for name in [name for name in held if name not in needed]:
            del held[name]


def _run(cut: Any, feed: Mapping[str, Any], outputs: list[str]) -> list[Any]:
    from sardonyx import _native

    try:
        message: str | bytes = _native.serialize(
            cut, include_initializers=True, keep_initializers_as_inputs=False
        )
    except Exception:
        part = ONNXProgram(cut)
        part.initialize_inference_session()
        try:
            return run(part._session, feed, outputs)
        finally:
            part.release()
    return run(open_session(message), feed, outputs)


def _parts(model: Any, eager: _Eager, outputs: Mapping[str, str]) -> Iterator[_Part]:
    """The model's nodes in parts, with the values that the program has, too.

    A value bears its node's name, unless it is an output, which has a name of its own; where
    PyTorch's node is one of several results, it is the one that takes it.
    """
    from sardonyx import _native

    nodes = _native.nodes(model)
    begin, values, size = 0, [], 0
    for i, (_, _, _, captured, names, typed) in enumerate(nodes):
        for name in names:
            node = outputs.get(name, name)
            if name and (name in outputs or eager.names.get(node) == captured):
                values.append((name, node))
                size += eager.sizes.get(node, 0)
        full = i + 1 - begin >= _NODES_AT_ONCE or size >= _BYTES_AT_ONCE
        if (full and typed) or i + 1 == len(nodes):
            yield _Part(begin, i + 1, values)
            begin, values, size = i + 1, [], 0


def _needed_later(model: Any, parts: list[_Part]) -> list[tuple[list[str], set[str]]]:
    """For each part what it reads, and what the parts behind it read."""
    from sardonyx import _native

    reads = [
        [name for name, _, _ in _native.extract(model, part.begin, part.end, []).inputs]
        for part in parts
    ]
    result: list[tuple[list[str], set[str]]] = []
    needed: set[str] = set()
    for read in reversed(reads):
        result.append((read, set(needed)))
        needed |= set(read)
    return result[::-1]


def _outputs_by_node(program: ONNXProgram, functional: Any) -> dict[str, str]:
    """The node behind each of the model's outputs that is a tensor.

    The model has the outputs of the captured signature, then what the program mutates without its
    signature saying so.
    """
    captured = _given_out(program.exported_program)
    made = _given_out(functional)
    user = [spec for spec in made if spec.kind.name == "USER_OUTPUT"]
    mutated = {spec.target: spec for spec in made if spec.kind.name != "USER_OUTPUT"}
    specs: list[Any] = []
    users = iter(user)
    for spec in captured:
        is_user = spec.kind.name == "USER_OUTPUT"
        specs.append(next(users, None) if is_user else mutated.pop(spec.target, None))
    specs += mutated.values()
    return {
        name: spec.arg.name
        for name, spec in zip(program.output_names, specs, strict=False)
        if type(getattr(spec, "arg", None)).__name__ == "TensorArgument"
    }


def _given_out(program: Any) -> list[Any]:
    return [
        spec
        for spec in program.graph_signature.output_specs
        if spec.kind.name != "TOKEN"
        and not (
            type(spec.arg).__name__ == "ConstantArgument"
            and isinstance(spec.arg.value, (str, type(None)))
        )
    ]


class _Eager:
    """The program in eager PyTorch, node by node, as far as somebody asks."""

    def __init__(self, functional: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        import torch

        module = functional.graph_module
        self._interpreter = torch.fx.Interpreter(module)
        self._nodes = list(module.graph.nodes)
        self._next = 0
        self._env: dict[torch.fx.Node, Any] = self._interpreter.env
        self._uses: Counter[torch.fx.Node] = Counter()
        self._values: dict[str, Any] = {}
        self.names = {node.name: _producer(node) for node in self._nodes}
        self.sizes = {node.name: _size(node) for node in self._nodes}
        values = iter(placed(functional, copy.deepcopy(args), copy.deepcopy(dict(kwargs))))
        self._interpreter.args_iter = values
        self._last = _last_readers(self._nodes)

    def until(self, name: str) -> list[Any]:
        """The value of the node of this name, once it is reached; none where there is no tensor."""
        import torch

        if name in self._values:
            return [self._values.pop(name)]
        with torch.no_grad():
            while self._next < len(self._nodes):
                node = self._nodes[self._next]
                self._next += 1
                if node.op == "output":
                    break
                value = self._interpreter.run_node(node)
                self._env[node] = value
                for dead in self._last.get(node, ()):
                    self._env.pop(dead, None)
                if node.name == name:
                    return [value] if isinstance(value, (torch.Tensor, int, float, bool)) else []
        found = [value for node, value in self._env.items() if node.name == name]
        return [value for value in found if isinstance(value, torch.Tensor)]


def _producer(node: torch.fx.Node) -> str:
    """The node that the converter knows as the origin: of a getitem, what it takes from."""
    import operator

    while node.op == "call_function" and node.target is operator.getitem:
        node = cast("torch.fx.Node", node.args[0])
    return node.name


def _size(node: torch.fx.Node) -> int:
    """The bytes of a node's value in the example, 0 where nothing tells."""
    import torch

    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return 0
    count = value.element_size()
    for size in value.shape:
        hint = size if isinstance(size, int) else getattr(size.node, "hint", None)
        count *= int(hint) if hint is not None else 1
    return count


def _last_readers(nodes: list[torch.fx.Node]) -> dict[torch.fx.Node, list[torch.fx.Node]]:
    """What is read for the last time at each node. What the program returns is kept."""
    last: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    seen: set[torch.fx.Node] = set()
    for node in reversed(nodes):
        if node.op == "output":
            seen.update(node.all_input_nodes)
            continue
        for read in node.all_input_nodes:
            if read not in seen:
                seen.add(read)
                last.setdefault(node, []).append(read)
        if node not in seen:
            seen.add(node)
            last.setdefault(node, []).append(node)
    return last
