"""From a sample to a captured program with its inputs and eager's answers."""

from __future__ import annotations

import functools
import io
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import sympy
import torch
import torch._dynamo.config
from torch._subclasses import fake_impls
from torch.export import Dim, ExportedProgram
from torch.utils import _pytree as pytree

from tests.opinfo.catalogue import Case, op_info
from tests.opinfo.rules import is_random

Stored = tuple[str, tuple[int, ...], bytes]


@dataclass
class Trial:
    """Inputs and what eager PyTorch answers to them."""

    inputs: list[torch.Tensor]
    expected: list[torch.Tensor]
    scalars: tuple[int, ...] = ()  # outputs that are Python numbers in eager PyTorch
    # Eager's answers to the same inputs where half types are made float32, rounded at the end.
    in_float32: Callable[[], list[torch.Tensor]] | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        return [_store(t) for t in self.inputs], [_store(t) for t in self.expected], self.scalars

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        inputs, expected, self.scalars = state
        self.in_float32 = None
        self.inputs = [_restore(s) for s in inputs]
        self.expected = [_restore(s) for s in expected]


@dataclass(frozen=True)
class LiveCall:
    """What was captured: for exporters that capture it themselves."""

    module: torch.nn.Module
    tensors: tuple[torch.Tensor, ...]
    dynamic: bool


@dataclass
class Captured:
    """A case after torch.export, or why there is nothing to convert."""

    status: str  # "captured", "uncapturable", or "unfit" when eager PyTorch refuses the call
    reason: str = ""
    trials: list[Trial] = field(default_factory=list)  # the second is at other sizes
    targets: list[str] = field(default_factory=list)
    archive: bytes | None = None  # compressed .pt2; None when it cannot be serialized
    program: ExportedProgram | None = None
    live: LiveCall | None = None  # not kept

    def exported(self) -> ExportedProgram:
        if self.program is None:
            self.program = torch.export.load(io.BytesIO(self.archived()))
        return self.program

    def unloadable(self) -> str:
        """Why torch cannot load again what it saved; empty when it can."""
        try:
            self.exported()
        except Exception as error:
            return f"torch.export.load: {_headline(error)}"
        return ""

    def saved(self) -> bool:
        """Whether torch.export can save the program."""
        if self.archive is None and self.program is not None:
            self.archive = _archive(self.program)
        return self.archive is not None

    def archived(self) -> bytes:
        """The bytes of a .pt2 file."""
        assert self.archive is not None
        return zlib.decompress(self.archive)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "program": None, "live": None}


class OperatorCall(torch.nn.Module):
    """Calls an operator with a sample's arguments; only its tensors are inputs."""

    def __init__(self, function: Callable[..., Any], variant: str, leaves: list[Any], spec: Any):
        super().__init__()
        self.function = function
        self.inplace = variant == "inplace"
        self.leaves = [None if isinstance(v, torch.Tensor) else (v,) for v in leaves]
        self.spec = spec

    def forward(self, *tensors: torch.Tensor) -> Any:
        remaining = iter(tensors)
        leaves = [next(remaining) if leaf is None else leaf[0] for leaf in self.leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        if not self.inplace:
            result = self.function(first, *args, **kwargs)
            # torch.export cannot save the named tuples of operators (torch.return_types.sort).
            named = isinstance(result, tuple) and type(result) is not tuple
            return tuple(result) if named else result
        # Inputs stay as they are: a copy is written, then read back.
        target = first.clone() if isinstance(first, torch.Tensor) else [t.clone() for t in first]
        self.function(target, *args, **kwargs)
        return target


def prepare(case: Case, sample: Any) -> tuple[OperatorCall, list[torch.Tensor]]:
    info = op_info(case.op)
    function = {
        "function": info.op,
        "method": info.method_variant,
        "inplace": info.inplace_variant,
    }[case.variant]
    leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return OperatorCall(function, case.variant, leaves, spec), tensors


def capture(case: Case, sample: Any) -> Captured:
    module, tensors = prepare(case, sample)
    if any(t.layout is not torch.strided or t.is_nested for t in tensors):
        return Captured("unfit", "sparse or nested tensors")
    return capture_module(module, tensors, case.dynamic, vary=not is_random(case.op))


def capture_module(
    module: torch.nn.Module, tensors: list[torch.Tensor], dynamic: bool, vary: bool = True
) -> Captured:
    """`vary`: also ask eager for its answer at other sizes, where sizes are dynamic."""
    try:
        trial = run_eager(module, tensors)
    except Exception as error:
        return Captured("unfit", _headline(error))
    if not trial.expected:
        return Captured("unfit", "no tensor in the result")
    if dynamic and not can_vary(tensors):
        return Captured("unfit", "no dimension that can be dynamic")
    try:
        program = export_program(module, tensors, dynamic)
    except Exception as error:
        return Captured("uncapturable", _headline(error))
    live = LiveCall(module, tuple(tensors), dynamic)
    captured = Captured("captured", trials=[trial], program=program, live=live)
    captured.targets = call_targets(program)
    if dynamic and vary:
        other = _other_sizes(module, program, tensors)
        if other is not None:
            captured.trials.append(other)
    return captured


def export_program(
    module: torch.nn.Module, tensors: list[torch.Tensor], dynamic: bool
) -> ExportedProgram:
    shapes = {"tensors": tuple(_dynamic_dims(t) for t in tensors)} if dynamic else None
    # Its cache of shapes pays where a layer repeats; here it costs a quarter of the time.
    with (
        torch._dynamo.config.patch(fake_tensor_cache_enabled=False),
        _ranges_solved_once(),
        _shapes_said_at_once(),
    ):
        return torch.export.export(module, tuple(tensors), dynamic_shapes=shapes)


_reduce_inequalities = sympy.solvers.inequalities.reduce_inequalities


@functools.cache
def _reduced(conditions: tuple[Any, ...], symbol: Any) -> Any:
    return _reduce_inequalities(list(conditions), symbol)


def _ranges_solved_once() -> Any:
    """torch.export solves for the range of each dynamic dimension, though most are alike. That is
    a quarter of the time of a capture with dynamic dimensions."""
    solver = "sympy.solvers.inequalities.reduce_inequalities"
    return mock.patch(solver, lambda conditions, symbol: _reduced(tuple(conditions), symbol))


def _shapes_said_at_once() -> Any:
    """torch.export decomposes grid_sampler to find the shape of its result, symbol by symbol. That
    takes up to 20 s for one call with three dynamic dimensions."""

    def sampled(mode: Any, _: Any, image: torch.Tensor, grid: torch.Tensor, *__: Any) -> Any:
        with mode:
            return image.new_empty([*image.shape[:2], *grid.shape[1:-1]])

    aten = torch.ops.aten
    operators = (aten.grid_sampler_2d.default, aten.grid_sampler_3d.default)
    return mock.patch.dict(fake_impls.op_implementations_dict, dict.fromkeys(operators, sampled))


def run_eager(module: torch.nn.Module, tensors: list[torch.Tensor]) -> Trial:
    copies = [t.clone() for t in tensors]
    with torch.no_grad():
        result = module(*copies)
    expected, scalars = [], []
    for leaf in pytree.tree_leaves(result):
        if isinstance(leaf, torch.Tensor):
            expected.append(leaf.detach().clone().contiguous())
        elif isinstance(leaf, (bool, int, float)):
            scalars.append(len(expected))
            expected.append(torch.tensor(leaf))
    return Trial([t.detach().clone() for t in tensors], expected, tuple(scalars))


def answers_in_float32(program: ExportedProgram, trial: Trial) -> list[torch.Tensor]:
    halves = (torch.float16, torch.bfloat16)
    wide = [t.float() if t.dtype in halves else t for t in trial.inputs]
    answers = run_eager(program.module(), wide).expected
    return [a.to(e.dtype) for a, e in zip(answers, trial.expected, strict=True)]


def call_targets(program: ExportedProgram) -> list[str]:
    """Every call of the captured program, also inside of the bodies of control flow."""
    found = []
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            found += [str(n.target) for n in module.graph.nodes if n.op == "call_function"]
    return found


def _dynamic_dims(tensor: torch.Tensor) -> dict[int, Any]:
    return {d: Dim.AUTO for d, size in enumerate(tensor.shape) if size > 1}


def can_vary(tensors: Iterable[torch.Tensor]) -> bool:
    return any(_dynamic_dims(t) for t in tensors)


def _other_sizes(
    module: torch.nn.Module, program: ExportedProgram, tensors: list[torch.Tensor]
) -> Trial | None:
    """Every dynamic size one larger; None where eager or the captured program refuse that."""
    try:
        shapes = grown_shapes(program, tensors)
        larger = grown(tensors, shapes)
        if larger is None:
            return None
        trial = run_eager(module, larger)
        again = run_eager(program.module(), larger)
    except Exception:
        return None
    return trial if same_answers(again.expected, trial.expected) else None


def same_answers(captured: list[torch.Tensor], eager: list[torch.Tensor]) -> bool:
    """Whether the captured program still says what eager does, at other sizes."""
    return len(captured) == len(eager) and all(
        torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
        for a, b in zip(captured, eager, strict=True)
        if a.numel() and not a.dtype.is_complex
    )


def grown(
    tensors: Iterable[torch.Tensor], shapes: Iterable[list[int]]
) -> list[torch.Tensor] | None:
    """The tensors in these shapes; None where that changes nothing."""
    generator = torch.Generator().manual_seed(7)
    pairs = list(zip(tensors, shapes, strict=True))
    if all(list(tensor.shape) == shape for tensor, shape in pairs):
        return None
    return [_grow(tensor, shape, generator) for tensor, shape in pairs]


def grown_shapes(program: ExportedProgram, tensors: Iterable[torch.Tensor]) -> list[list[int]]:
    """The shapes of the program's inputs where every dynamic dimension is one larger."""
    names = program.graph_signature.user_inputs
    values = {n.name: n.meta.get("val") for n in program.graph.nodes if n.op == "placeholder"}
    sizes: dict[Any, int] = {}
    shapes: list[list[Any]] = []
    for name, tensor in zip(names, tensors, strict=True):
        shape: list[Any] = []
        for dim, real in zip(values[str(name)].shape, tensor.shape, strict=True):
            expression = dim.node.expr if isinstance(dim, torch.SymInt) else int(dim)
            shape.append(expression)
            if getattr(expression, "is_Symbol", False):
                upper = program.range_constraints[expression].upper
                sizes[expression] = real + 1 if real + 1 <= upper else real
        shapes.append(shape)

    def grown_size(size: Any) -> int:
        if isinstance(size, int):
            return size
        return sizes[size] if size in sizes else int(size.subs(sizes))

    return [[grown_size(size) for size in shape] for shape in shapes]


def free_dims(program: ExportedProgram) -> tuple[dict[int, str], ...]:
    """Dynamic dimensions of each input in torch.export's program: equal sizes have one name."""
    names = set(map(str, program.graph_signature.user_inputs))
    found = []
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in names:
            sizes = enumerate(node.meta["val"].shape)
            found.append({dim: _name_of(size) for dim, size in sizes if _is_free(size)})
    return tuple(found)


def _is_free(size: int | torch.SymInt) -> bool:
    return isinstance(size, torch.SymInt) and bool(size.node.expr.free_symbols)


def _name_of(size: torch.SymInt) -> str:
    """A sum of another size has a name, too: not every capture knows that it is one."""
    expression = size.node.expr
    text = re.sub(r"\W+", "_", str(expression))
    return text if expression.is_Symbol else f"size_{text}"


def _grow(tensor: torch.Tensor, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    """Repeats the data; numbers get noise, lest rows become equal and matrices singular. Integers
    that go up, as the offsets of bags must, go up still. It lies in memory in the same order of
    dimensions, which as_strided can see."""
    strides = tensor.stride()
    order = sorted(range(tensor.dim()), key=lambda d: -strides[d])
    goes_up = tensor.dim() == 1 and tensor.dtype in (torch.int32, torch.int64)
    goes_up = goes_up and torch.equal(tensor, tensor.sort().values)
    for dim, size in enumerate(shape):
        if size != tensor.shape[dim]:
            tensor = tensor.index_select(dim, torch.arange(size) % tensor.shape[dim])
    if goes_up:
        tensor = tensor.sort().values
    if tensor.is_floating_point() or tensor.is_complex():
        noise = torch.rand(tensor.shape, generator=generator) * 0.2 + 0.9
        tensor = (tensor * noise).to(tensor.dtype)
    in_order = tensor.permute(order).clone(memory_format=torch.contiguous_format)
    return in_order.permute([order.index(dim) for dim in range(tensor.dim())])


def _archive(program: ExportedProgram) -> bytes | None:
    buffer = io.BytesIO()
    try:
        torch.export.save(program, buffer)
    except Exception:
        return None
    return zlib.compress(buffer.getvalue(), 1)


def _headline(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


def _store(tensor: torch.Tensor) -> Stored:
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    # A single element may keep a stride of 0, which a view as bytes refuses.
    flat = flat.as_strided(flat.shape, (1,))
    raw = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), raw


def _restore(stored: Stored) -> torch.Tensor:
    name, shape, raw = stored
    dtype = getattr(torch, name)
    if not raw:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(dtype).reshape(shape)
