"""Inputs and outputs of a program that is captured quickly, named as torch.export names them."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.meta.tensor import QuickTensor
from sardonyx._capture.meta_tracer.symbolic.sizes import plain
from sardonyx._capture.meta_tracer.tracer.tensor_items import NUMBERS
from sardonyx._torch_private.non_strict import FakeInputs


class Placeholders:
    """The placeholders of a graph: weights in front, then what the user gives."""

    def __init__(self, model: torch.nn.Module, given: FakeInputs) -> None:
        from sardonyx._torch_private import pytree

        self.graph = torch.fx.Graph()
        self.specs: list[InputSpec] = []
        self.state_dict: dict[str, Any] = model.state_dict(keep_vars=True)
        self.constants: dict[str, Any] = {}
        self.of_weights: dict[int, torch.fx.Node] = {}
        self._of_inputs: dict[int, torch.fx.Node] = {}
        self._of_leaves: list[torch.fx.Node] = []
        paths, _ = pytree.tree_flatten_with_path(given.bound())
        names = ["_".join(_key_text(key).lower() for key in path) for path, _ in paths]
        leaves = pytree.tree_leaves((given.args, given.kwargs))
        if [id(leaf) for _, leaf in paths] != [id(leaf) for leaf in leaves]:
            raise DeclinedError("inputs in another order than forward() names them")
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if len({id(tensor) for tensor in tensors}) != len(tensors):
            raise DeclinedError("one tensor stands in several places")
        taken = set(names)
        if len(taken) != len(names):
            raise DeclinedError("inputs of one name")
        self._weights(model, taken)
        self._taken = taken
        self._of_attributes = _tensors_in_attributes(model)
        self._lifted = 0
        self._inputs_begin = len(self.specs)
        for name, leaf in zip(names, given.leaves, strict=True):
            self._input(name, leaf)

    def _weights(self, model: torch.nn.Module, taken: set[str]) -> None:
        kept = set(self.state_dict)
        tables = (
            (InputKind.PARAMETER, "p_", model.named_parameters(remove_duplicate=False)),
            (InputKind.BUFFER, "b_", model.named_buffers(remove_duplicate=False)),
        )
        for kind, prefix, weights in tables:
            for target, tensor in weights:
                if type(tensor) not in _PLAIN or tensor.device.type != "cpu":
                    raise DeclinedError(f"{target} is no plain tensor of the CPU")
                name = prefix + re.sub(r"[^a-zA-Z0-9]", "_", target).lower()
                if name in taken:
                    raise DeclinedError(f"two inputs called {name}")
                taken.add(name)
                node = self._placeholder(name, tensor)
                self.of_weights[id(tensor)] = node
                persistent = None if kind is InputKind.PARAMETER else target in kept
                if persistent is False:
                    self.constants[target] = tensor
                spec = InputSpec(kind, TensorArgument(name), target, persistent)
                self.specs.append(spec)

    def _input(self, name: str, leaf: Any) -> None:
        argument: Any
        if isinstance(leaf, torch.Tensor):
            if leaf.requires_grad:
                raise DeclinedError(f"the input {name} takes gradients")
            if leaf.device.type != "cpu" or leaf.layout is not torch.strided:
                raise DeclinedError(f"the input {name} is no plain tensor of the CPU")
            if any(step != plain(step) for step in leaf.stride() if type(step) is int):
                raise DeclinedError(f"the layout of the input {name}")
            argument = TensorArgument(name)
        elif isinstance(leaf, torch.SymInt):
            argument = SymIntArgument(name)
        elif leaf is None or isinstance(leaf, (int, float, str, bool)):
            argument = ConstantArgument(name, leaf)
        else:
            raise DeclinedError(f"the input {name} is a {type(leaf).__name__}")
        node = self._placeholder(name, leaf)
        self._of_leaves.append(node)
        if isinstance(leaf, torch.Tensor):
            self._of_inputs[id(leaf)] = node
        self.specs.append(InputSpec(InputKind.USER_INPUT, argument, None))

    def constant(self, tensor: torch.Tensor, path: str) -> torch.fx.Node:
        """The placeholder of a tensor that is neither parameter nor buffer, and which the module
        at that path is the first to use."""
        if type(tensor) not in _PLAIN or tensor.device.type != "cpu" or tensor.is_quantized:
            raise DeclinedError("a constant that is no plain tensor of the CPU")
        if isinstance(tensor, torch.nn.Parameter):
            raise DeclinedError("a parameter that the model does not know")
        target = self._of_attributes.get(id(tensor))
        if target is None:
            target = f"{path}.lifted_tensor_{self._lifted}".removeprefix(".")
            self._lifted += 1
        name = "c_" + re.sub(r"[^a-zA-Z0-9]", "_", target).lower()
        if name in self._taken:
            raise DeclinedError(f"two inputs called {name}")
        self._taken.add(name)
        before = next(iter(self._of_leaves), None)
        if before is None:
            raise DeclinedError("a constant of a model without inputs")
        with self.graph.inserting_before(before):
            node = self._placeholder(name, tensor)
        self.constants[target] = tensor
        spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(name), target, None)
        self.specs.insert(self._inputs_begin, spec)
        self._inputs_begin += 1
        return node

    def _placeholder(self, name: str, value: Any) -> torch.fx.Node:
        node = self.graph.create_node("placeholder", name, name=name)
        # FX appends a number to names of Python's builtins, such as `input`; torch.export does not.
        node.name = name
        node.meta["val"] = value
        return node

    def quick(self, leaf: Any) -> Any:
        """What the model is run on for an input of torch.export's."""
        if not isinstance(leaf, torch.Tensor):
            return leaf
        dims, steps = tuple(map(plain, leaf.shape)), tuple(map(plain, leaf.stride()))
        made = QuickTensor.of(dims, steps, leaf.dtype)
        made.made_by = self._of_inputs[id(leaf)]
        return made


_PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


def _tensors_in_attributes(model: torch.nn.Module) -> dict[int, str]:
    """Tensors that modules hold besides parameters and buffers, and what they are called."""
    found: dict[int, str] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        for attribute, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.setdefault(id(value), f"{path}.{attribute}".removeprefix("."))
    return found


def _key_text(key: Any) -> str:
    if hasattr(key, "key"):
        return re.sub(r"[^a-zA-Z0-9]", "_", str(key.key))
    return str(key.idx) if hasattr(key, "idx") else str(key.name)


def output_specs(graph: torch.fx.Graph) -> list[OutputSpec]:
    """What the program gives. Declines what only torch.export can say."""
    specs = []
    for given in graph.output_node().args[0]:  # type: ignore[union-attr]
        argument: Any
        if isinstance(given, torch.fx.Node):
            is_tensor = isinstance(given.meta["val"], torch.Tensor)
            argument = (TensorArgument if is_tensor else SymIntArgument)(given.name)
        elif given is None or isinstance(given, (int, float, str, bool)):
            argument = ConstantArgument("", given)
        elif isinstance(given, NUMBERS):
            argument = SymIntArgument("")
        else:
            raise DeclinedError(f"the model gives a {type(given).__name__}")
        specs.append(OutputSpec(OutputKind.USER_OUTPUT, argument, None))
    return specs
