"""Which leaves of nested arguments and results are inputs and outputs of the model.

Tensors are, in the order in which PyTorch flattens them; keyword arguments follow the signature.
None is neither. A number is an input only where the program treats it as a symbolic size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree

_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float32}


def model_inputs(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[torch.Tensor]:
    flatten: Any = program._get_flat_args_with_check
    leaves = flatten(args, dict(kwargs))[0]
    specs = [s for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT]
    assert len(leaves) == len(specs), f"{len(leaves)} arguments for {len(specs)} inputs"
    pairs = zip(leaves, specs, strict=True)
    return [as_tensor(leaf) for leaf, spec in pairs if not isinstance(spec.arg, ConstantArgument)]


def model_outputs(program: ExportedProgram, results: object) -> list[torch.Tensor]:
    leaves = _pytree.tree_leaves(results)
    specs = [s for s in program.graph_signature.output_specs if s.kind == OutputKind.USER_OUTPUT]
    assert len(leaves) == len(specs), f"{len(leaves)} results for {len(specs)} outputs"
    return [as_tensor(leaf) for leaf in leaves if leaf is not None]


def as_tensor(leaf: object) -> torch.Tensor:
    if isinstance(leaf, torch.Tensor):
        return leaf.detach()
    assert isinstance(leaf, (bool, int, float)), f"{leaf!r} cannot enter or leave a model"
    return torch.tensor(leaf, dtype=_NUMBERS[type(leaf)])
