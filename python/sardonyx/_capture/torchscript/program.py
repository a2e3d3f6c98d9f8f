"""A program of TorchScript as what an export captures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, TensorArgument

from sardonyx import _native
from sardonyx._capture.quantized import rounding
from sardonyx._capture.shapes.dim_spec import Leaf
from sardonyx._torch_private import contexts, pytree

from .archive import ScriptArchive, archived
from .inputs import ExampleParameter, InputSpecs, leaves_by_parameter, parts_of, text_of_default
from .operators import Operators

if TYPE_CHECKING:
    from torch.export import ExportedProgram


@functools.cache
def _arange_counts_in_double() -> bool:
    """Whether the installed PyTorch counts what arange() to int64 gives before it cuts the end to
    an integer. Builds differ in it, so it is called: below 0.5 is one element, or none."""
    with contexts.computing():
        return torch.arange(0.5, dtype=torch.int64, device="cpu").numel() == 1


@dataclass
class ScriptProgram:
    """What the conversion and ONNXProgram read of an ExportedProgram."""

    archived: ScriptArchive
    names: list[str]  # of forward()'s parameters
    inputs: list[str]  # as the reader has them told
    graph_signature: Any
    call_spec: Any
    state_dict: Mapping[str, torch.Tensor]
    example_inputs: tuple[tuple[Any, ...], dict[str, Any]]
    run: Callable[..., Any]
    constants: Mapping[str, torch.Tensor]
    method: str  # of the archived module
    leaves: Sequence[Leaf]  # what is wanted of the inputs' dimensions
    export: Callable[[], ExportedProgram] = field(repr=False)
    # Whether Python computed with the sizes that the archive makes tensors of: it was traced for
    # this export.
    of_python: bool = False
    # Whether the model is as the older exporter has it: the types of quantized inputs' scale and
    # zero point, and outputs of any rank.
    is_older: bool = False
    _read: _native.Program | None = field(default=None, repr=False)
    _exported: ExportedProgram | None = field(default=None, repr=False)

    def read(self) -> _native.Program:
        """The native program. ProgramError with every line that cannot be said."""
        read, self._read = self._read, None
        return read or _native.read_script(
            self.archived.data,
            self.method,
            self.names,
            self.inputs,
            self.archived.weights,
            Operators(),
            self.of_python,
            self.is_older,
            not rounding.adds_before_rounding(),
            _arange_counts_in_double(),
        )

    def check(self) -> ScriptProgram:
        """Reads the program for the conversion, and raises what that raises."""
        self._read = self.read()
        return self

    def module(self) -> Callable[..., Any]:
        """What computes the same in PyTorch."""
        return self.run

    def exported(self) -> ExportedProgram:
        """The same as torch.export captures it, made when it is first asked for."""
        if self._exported is None:
            self._exported = self.export()
        return self._exported


class Source(NamedTuple):
    """What is read, what computes the same in PyTorch, and what has torch.export capture it."""

    script: Any
    run: Callable[..., Any]
    export: Callable[[], ExportedProgram]
    method: str = "forward"


class Example(NamedTuple):
    """The inputs, what is wanted of their leaves' dimensions, and whether the model's inputs have
    the older exporter's types: float64 for floats, float64 and int64 for the scale and zero point
    of a quantized tensor."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    leaves: Sequence[Leaf]
    doubles: bool = False


def script_program(source: Source, signature: inspect.Signature, example: Example) -> ScriptProgram:
    """Of a ScriptModule or ScriptFunction, whose parameters `signature` names, `self` first.

    Raises TypeError for arguments that are none of TorchScript's and where PyTorch's default dtype
    is not float32, what PyTorch raises of programs that it does not save, and ProgramError of what
    the program holds and ONNX cannot say.
    """
    bound = signature.bind(None, *example.args, **example.kwargs).arguments
    bound.pop("self")
    declared = _declared(source.script)
    leaves = list(leaves_by_parameter(bound, example.kwargs, example.leaves))
    texts = InputSpecs(leaves, doubles=example.doubles)
    given = [ExampleParameter(name, value, declared.get(name, "")) for name, value in bound.items()]
    made = _program(source, texts, given, list(declared), example)
    weights = made.archived.weights
    made.inputs += [
        text_of_default(name, parameter.default, weights)
        for name, parameter in signature.parameters.items()
        if name not in bound and parameter.default is not inspect.Parameter.empty
    ]
    return made.check()


def traced_program(
    source: Source, tensors: Sequence[tuple[str, torch.Tensor, Leaf]], example: Example
) -> ScriptProgram:
    """Of what tracing saw; the method takes the example's tensors in order, under their names.

    Raises as script_program() does.
    """
    texts = InputSpecs([leaf for _, _, leaf in tensors], doubles=example.doubles)
    given = [ExampleParameter(name, tensor) for name, tensor, _ in tensors]
    names = [name for name, _, _ in tensors]
    made = _program(source, texts, given, names, example)
    made.of_python = True
    parts = iter(texts.parts)
    given_leaves = pytree.tree_leaves((example.args, dict(example.kwargs)))
    made.graph_signature = _signature(
        [
            part
            for leaf in given_leaves
            for part in (islice(parts, parts_of(leaf)) if parts_of(leaf) else [("", leaf, False)])
        ]
    )
    return made.check()


def _program(
    source: Source,
    texts: InputSpecs,
    given: Sequence[ExampleParameter],
    names: list[str],
    example: Example,
) -> ScriptProgram:
    if torch.get_default_dtype() != torch.float32:
        raise TypeError("the default dtype is not float32, which TorchScript's code does not say")
    inputs = [texts.of(each) for each in given]
    kwargs = example.kwargs
    by_name = {each.name: kwargs[each.name] for each in given if each.name in kwargs}
    ordered = {**by_name, **{k: v for k, v in kwargs.items() if k not in by_name}}
    saved = archived(source.script)
    return ScriptProgram(
        archived=saved,
        names=names,
        inputs=inputs,
        graph_signature=_signature(texts.parts),
        call_spec=SimpleNamespace(in_spec=pytree.tree_structure((example.args, ordered))),
        state_dict=saved.weights,
        example_inputs=(example.args, ordered),
        run=source.run,
        constants={},
        method=source.method,
        leaves=example.leaves,
        is_older=example.doubles,
        export=source.export,
    )


def _declared(script: Any) -> dict[str, str]:
    """The parameters by name, and how TorchScript declares them."""
    is_function = isinstance(script, torch.jit.ScriptFunction)
    arguments = (script if is_function else script.forward).schema.arguments
    return {a.name: str(a.type) for a in (arguments if is_function else arguments[1:])}


def _signature(parts: Sequence[tuple[str, Any, bool]]) -> Any:
    specs = [
        InputSpec(
            kind=InputKind.USER_INPUT,
            arg=TensorArgument(name=name) if varies else ConstantArgument(name=name, value=value),
            target=None,
        )
        for name, value, varies in parts
    ]
    return SimpleNamespace(input_specs=specs, output_specs=[])
