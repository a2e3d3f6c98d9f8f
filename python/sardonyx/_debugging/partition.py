"""Parts of a captured program that can be run and exported on their own."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sardonyx._capture.capture import capture
from sardonyx._capture.shapes.dynamic_shapes import prepare

from .choices import choice_of, may_choose
from .eager import maker_of, name_of
from .placeholders import placed

if TYPE_CHECKING:
    import torch
    import torch.fx


def essential(node: torch.fx.Node) -> bool:
    """Whether a node computes something, rather than taking tuples apart or checking sizes."""
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    name = name_of(node)
    return "assert" not in name and not name.startswith("aten::sym_")


class Part(NamedTuple):
    """A part as a module, the values it takes and gives by their names in the program."""

    module: torch.fx.GraphModule
    inputs: list[str]
    outputs: list[str]
    weights: dict[str, torch.Tensor]


class Source:
    """A functional program as a row of nodes, its weights and what its inputs were given."""

    def __init__(
        self,
        module: torch.fx.GraphModule,
        weights: dict[str, tuple[str, Any]],
        given: dict[str, Any],
    ) -> None:
        """`weights`: name and tensor by placeholder; `given`: the inputs' values by placeholder."""
        self.module, self.weights, self.given = module, weights, given
        self.nodes = [node for node in module.graph.nodes if node.op == "call_function"]
        self._by_name = {node.name: node for node in self.nodes}
        self._position = {node: i for i, node in enumerate(self.nodes)}

    @staticmethod
    def of(model: Any, args: tuple[Any, ...]) -> Source:
        """Captures `model`, or takes an ExportedProgram as it is."""
        import torch

        captured: torch.export.ExportedProgram
        if isinstance(model, torch.export.ExportedProgram):
            captured = model
        else:
            dynamic = prepare(model, args, {}, None)
            captured = capture(model, args, {}, dynamic, report=lambda _: None).program
        functional = captured.run_decompositions({})
        values = placed(functional, args, {})
        weights: dict[str, tuple[str, Any]] = {}
        given: dict[str, Any] = {}
        placeholders = functional.graph.find_nodes(op="placeholder")
        specs = functional.graph_signature.input_specs
        for node, spec, value in zip(placeholders, specs, values, strict=True):
            if spec.kind.name == "USER_INPUT":
                given[node.name] = value
            else:
                weights[node.name] = (str(spec.target), value)
        return Source(functional.graph_module, weights, given)

    def middle(self, begin: int, end: int) -> int | None:
        """Where to halve: as many operators before as behind; None where there is only one."""
        places = [i for i in range(begin, end) if essential(self.nodes[i])]
        if len(places) < 2:
            return None
        # What takes a tuple apart stays with what makes it.
        return places[len(places) // 2]

    def inputs(self, begin: int, end: int) -> list[str]:
        """The names of the values that the nodes read and others make, weights not among them."""
        names: dict[str, None] = {}
        for node in self.nodes[begin:end]:
            for read in node.all_input_nodes:
                inside = begin <= self._position.get(read, -1) < end
                if not inside and read.op != "get_attr" and read.name not in self.weights:
                    names[read.name] = None
        return list(names)

    def part(
        self,
        begin: int,
        end: int,
        values: Mapping[str, Any] | None = None,
        every: bool = False,
    ) -> Part:
        """The nodes begin to end - 1. Values that are numbers are written into the code. It gives
        what is read behind it, or `every` tensor that it computes."""
        import torch

        graph = torch.fx.Graph()
        root = torch.nn.Module()
        made: dict[torch.fx.Node, Any] = {}
        inputs: list[str] = []
        weights: dict[str, torch.Tensor] = {}

        def outside(node: torch.fx.Node) -> Any:
            if node.op == "get_attr":
                target = str(node.target)
                setattr(root, target, getattr(self.module, target))
                return graph.get_attr(target)
            if node.name in self.weights:
                name, value = self.weights[node.name]
                if not isinstance(value, torch.Tensor):
                    return value
                weights[name] = value
                label = name.replace(".", "_")
                root.register_buffer(label, value.detach())
                return graph.get_attr(label)
            value = (values or self.given).get(node.name, node.meta.get("val"))
            if not isinstance(value, torch.Tensor):
                return value
            inputs.append(node.name)
            return graph.placeholder(node.name)

        nodes = self.nodes[begin:end]
        own = set(nodes)
        order = [read for node in nodes for read in node.all_input_nodes if read not in own]
        # Placeholders stand first.
        for read in sorted(dict.fromkeys(order), key=lambda n: n.name in self.weights):
            made[read] = outside(read)
        for node in nodes:
            made[node] = graph.node_copy(node, lambda n: made[n])
        outputs = [node for node in nodes if self._is_output(node, own, every)]
        graph.output(tuple(made[node] for node in outputs))
        return Part(
            torch.fx.GraphModule(root, graph), inputs, [node.name for node in outputs], weights
        )

    @staticmethod
    def _is_output(node: torch.fx.Node, own: set[torch.fx.Node], every: bool) -> bool:
        import torch

        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return False
        return every or any(user not in own for user in node.users)

    def tie(self, name: str, values: Mapping[str, Any], got: Any, want: Any) -> str | None:
        """The operator that chose the places `want`, where the model took `got` among equal
        numbers; `values` holds what the operator read."""
        maker = maker_of(self._by_name[name])
        reads = maker.all_input_nodes
        if not may_choose(maker) or not reads or reads[0].name not in values:
            return None
        choice = choice_of(maker, {reads[0]: values[reads[0].name]})
        return choice.operator if choice is not None and choice.is_tie(got, want) else None

    def run(
        self, begin: int, end: int, values: Mapping[str, Any], every: bool = False
    ) -> dict[str, Any]:
        """What eager PyTorch gives for the part's outputs, and for the numbers it makes."""
        import copy

        import torch

        part = self.part(begin, end, values, every)
        with torch.no_grad():
            results = part.module(*(copy.deepcopy(values[name]) for name in part.inputs))
        found = dict(zip(part.outputs, results, strict=True))
        for node in self.nodes[begin:end]:
            value = node.meta.get("val")
            if isinstance(value, (int, float, bool)):
                found[node.name] = value
        return found
