"""Which leaves of a call's arguments are inputs of the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import OnnxExporterError
from sardonyx._base.quantized_parts import with_parts
from sardonyx._torch_private.pytree import children_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def feed_of(
    program: ExportedProgram | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """The leaves of the arguments that the model takes, in the order of its inputs.

    Constants of the program (None, numbers, strings in the example) are no inputs, whether they are
    passed again or left out. OnnxExporterError for another value of one.
    """
    from sardonyx._torch_private import pytree

    if program is None:
        leaves = with_parts(pytree.tree_leaves((args, dict(kwargs))))
        return [leaf for leaf in leaves if leaf is not None]
    in_order = _as_captured(program, args, kwargs)
    wide = getattr(program, "is_older", False)
    leaves = with_parts(pytree.tree_leaves(in_order), wide=wide)
    user_inputs = [
        spec.arg for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"
    ]
    if len(leaves) != len(user_inputs):
        return [leaf for leaf in leaves if _is_tensor(leaf)]
    feed = []
    for leaf, argument in zip(leaves, user_inputs, strict=True):
        if type(argument).__name__ != "ConstantArgument":
            feed.append(leaf)
        elif not _is_same(leaf, argument.value):
            raise OnnxExporterError(
                f"the model was exported for {argument.name}={argument.value!r} and computes "
                f"nothing else; it was called with {leaf!r}"
            )
    return feed


def _is_same(leaf: Any, constant: Any) -> bool:
    if _is_tensor(leaf) or constant is None:
        return leaf is constant
    nan = isinstance(leaf, float) and math.isnan(leaf)
    return nan or bool(leaf == constant)


def _as_captured(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The keyword arguments in the order of capture; positional ones stay what they are."""
    keyword_spec = children_of(program.call_spec.in_spec)[1]
    captured = list(keyword_spec.context or ())
    given = dict(kwargs)
    ordered = {name: given.pop(name) for name in captured if name in given}
    return args, {**ordered, **given}


def _is_tensor(leaf: Any) -> bool:
    import torch

    return isinstance(leaf, torch.Tensor)


def values_in(results: Any) -> list[Any]:
    """What of a module's outputs the model has values for, flat: all but None and strings."""
    from sardonyx._torch_private import pytree

    leaves = with_parts(pytree.tree_leaves(results))
    return [leaf for leaf in leaves if leaf is not None and type(leaf) is not str]
