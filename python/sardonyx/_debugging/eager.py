"""A captured program in eager PyTorch, node by node, as far as somebody asks.

The graph runs as it was captured, writes included; bodies that run where their call stands (what is
under no_grad or autocast) run node by node, too. A value's key is the name of its node, in a body
behind the body's: "submod_1/add".
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._torch_private import operators, state

from .choices import Choice, choice_of
from .placeholders import placed

if TYPE_CHECKING:
    import torch
    import torch.fx

# Operators that do no more than run their body, which is an argument of theirs.
_WRAPPERS = ("wrap_with_set_grad_enabled", "wrap_with_autocast")


class Place(NamedTuple):
    """Where a value arises."""

    position: int  # in the order of execution
    operator: str
    module_path: str
    location: str  # the user's "file:line"


class Eager:
    """The program on some arguments, which it does not change.

    Attributes:
        places: where each tensor that was computed so far arose, by key, in the order of execution.
        choices: how those that are places among other numbers were chosen.
    """

    def __init__(
        self,
        program: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        wanted: Collection[str] = (),
    ) -> None:
        """`wanted`: the keys of the values that value_of() will be asked for."""
        import torch

        self._program = program
        self._wanted = set(wanted)
        self._returned = {str(spec.arg.name) for spec in _named_outputs(program)}
        self._kept: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.choices: dict[str, Choice] = {}
        module = program.graph_module
        self._writes = any(_is_write(node) for part in _graphs(module) for node in part.nodes)
        self._placed = values = _apart(program, args, kwargs)
        self._versions = [state.writes_to(v) if isinstance(v, torch.Tensor) else 0 for v in values]
        self._results: list[Any] = []
        self._running = self._run(module, "", values)

    def value_of(self, key: str) -> Any:
        """The value of this key, once; None where the program does not compute it."""
        while key not in self._kept:
            if next(self._running, None) is None:
                return None
        return self._kept.pop(key)

    def results(self) -> list[Any]:
        """What the graph returns, once all of it has run."""
        for _ in self._running:
            pass
        return self._results

    def written(self) -> list[tuple[Any, Any]]:
        """The inputs that the program has written to, and what they are now: (InputSpec, tensor),
        after results()."""
        import torch

        specs = self._program.graph_signature.input_specs
        return [
            (spec, value)
            for spec, value, before in zip(specs, self._placed, self._versions, strict=True)
            if isinstance(value, torch.Tensor) and state.writes_to(value) != before
        ]

    def _run(self, module: Any, prefix: str, values: list[Any]) -> Iterator[bool]:
        """Runs a graph; stops behind each node."""
        import torch

        interpreter = torch.fx.Interpreter(module)
        interpreter.args_iter = iter(values)
        nodes = list(module.graph.nodes)
        last = _last_readers(nodes)
        for node in nodes:
            wrapped = _wrapped(node)
            with torch.no_grad():
                if node.op == "output":
                    results: Any = interpreter.map_nodes_to_values(node.args[0], node)
                    self._results = results
                elif wrapped is None:
                    interpreter.env[node] = interpreter.run_node(node)
            if wrapped is not None:
                yield from self._run_wrapped(interpreter, node, wrapped, prefix)
            elif node.op == "call_function":
                self._look(interpreter, node, prefix)
            for dead in last.get(node, ()):
                interpreter.env.pop(dead, None)
            yield True

    def _run_wrapped(
        self, interpreter: Any, node: torch.fx.Node, body: torch.fx.Node, prefix: str
    ) -> Iterator[bool]:
        """The body at once, in the mode that the wrapper sets."""
        module = interpreter.fetch_attr(str(body.target))
        inner = f"{prefix}{body.target}/"

        def run_body(*operands: Any) -> Any:
            for _ in self._run(module, inner, list(operands)):
                pass
            return self._results

        args, kwargs = interpreter.fetch_args_kwargs_from_env(node)
        args = tuple(run_body if arg is module else arg for arg in args)
        interpreter.env[node] = node.target(*args, **kwargs)  # type: ignore[operator]
        yield True

    def _look(self, interpreter: Any, node: torch.fx.Node, prefix: str) -> None:
        """Notes where a value arose, and keeps it as it is now where it is wanted."""
        import torch

        value = interpreter.env[node]
        maker = maker_of(node)
        if not isinstance(value, torch.Tensor) or _wrapped(maker) is not None:
            return
        key = prefix + node.name
        self.places[key] = _place(maker, len(self.places))
        if key in self._wanted:
            self._kept[key] = value.clone() if self._writes else value
        if key in self._wanted or key in self._returned:
            choice = choice_of(maker, interpreter.env)
            if choice is not None:
                self.choices[key] = choice


def _apart(program: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """What the placeholders get. What the program may write to is a copy."""
    values = placed(program, copy.deepcopy(args), copy.deepcopy(dict(kwargs)))
    written = {_root(node).name for node in program.graph.nodes if _is_write(node)}
    specs = program.graph_signature.input_specs
    copied = [
        i
        for i, spec in enumerate(specs)
        if spec.kind.name in ("BUFFER", "CONSTANT_TENSOR")
        or (spec.kind.name == "PARAMETER" and spec.arg.name in written)
    ]
    # All at once, so that what shares memory still does.
    for i, value in zip(copied, copy.deepcopy([values[i] for i in copied]), strict=True):
        values[i] = value
    return values


def _named_outputs(program: Any) -> Iterator[Any]:
    specs = program.graph_signature.output_specs
    return (spec for spec in specs if type(spec.arg).__name__ == "TensorArgument")


def _root(node: torch.fx.Node) -> torch.fx.Node:
    """What a node is a view of, if it is one of anything."""
    while node.op == "call_function" and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return node


def maker_of(node: torch.fx.Node) -> torch.fx.Node:
    """The call that a node takes its value from: of a getitem, what it takes it out of."""
    import operator

    while node.op == "call_function" and node.target is operator.getitem:
        node = node.args[0]  # type: ignore[assignment]
    return node


def name_of(node: torch.fx.Node) -> str:
    """ "aten::relu" of torch.ops.aten.relu.default."""
    schema = operators.schema_of(node.target)
    return str(schema.name) if schema is not None else getattr(node.target, "__name__", "?")


def _graphs(module: Any) -> Iterator[torch.fx.Graph]:
    import torch

    for each in module.modules():
        if isinstance(each, torch.fx.GraphModule):
            yield each.graph


def _is_write(node: torch.fx.Node) -> bool:
    schema = operators.schema_of(node.target)
    return schema is not None and bool(schema.is_mutable)


def _wrapped(node: torch.fx.Node) -> torch.fx.Node | None:
    """The node that holds the body of a wrapper; None of another node."""
    import torch

    if node.op != "call_function" or getattr(node.target, "__name__", "") not in _WRAPPERS:
        return None
    held = (a for a in node.args if isinstance(a, torch.fx.Node) and a.op == "get_attr")
    return next(held, None)


def _place(node: torch.fx.Node, position: int) -> Place:
    stack = node.meta.get("nn_module_stack") or {}
    path = str(next(reversed(stack.values()))[0]) if stack else ""
    return Place(position, name_of(node), path, _location(node.meta.get("stack_trace") or ""))


def _location(trace: str) -> str:
    """ "model.py:12" of the innermost line of a stack trace that is not PyTorch's own."""
    import torch

    own = torch.__path__[0]
    places = []
    for line in map(str.strip, trace.splitlines()):
        if line.startswith('File "'):
            file, _, rest = line.removeprefix('File "').partition('", line ')
            places.append((file, rest.split(",")[0]))
    users = [place for place in places if not place[0].startswith(own)]
    return ":".join((users or places)[-1]) if places else ""


def _last_readers(nodes: list[torch.fx.Node]) -> dict[torch.fx.Node, list[torch.fx.Node]]:
    """What is read for the last time at each node."""
    last: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    seen: set[torch.fx.Node] = set()
    for node in reversed(nodes):
        for read in (node, *node.all_input_nodes):
            if read not in seen:
                seen.add(read)
                last.setdefault(node, []).append(read)
    return last
