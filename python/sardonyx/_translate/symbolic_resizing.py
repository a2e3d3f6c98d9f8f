"""Interpolation as symbolic functions write it: from sizes or factors to Resize."""

# Arguments have the names that torch.onnx.symbolic_helper's have, since callers give them by name.
# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .symbolic_graph import GraphContext
from .symbolic_nodes import slice_, unsqueeze
from .symbolic_queries import (
    get_tensor_rank,
    get_tensor_sizes,
    is_packed_list,
    is_value,
    maybe_get_const,
    maybe_get_scalar,
    unimplemented,
)

_END = 2**63 - 1
_FLOAT = 1  # TensorProto.FLOAT
_INT64 = 7  # TensorProto.INT64


def interpolate_warning(interpolate_mode: str) -> None:
    """Nothing: Resize computes as PyTorch does from opset 11 on, and no older one is written."""
    del interpolate_mode


def scales_of_sizes(g: GraphContext, input: Any, output_size: Any, dim: int) -> Any:
    """The factors of all `dim` axes, 1 for the first two, that make `output_size` of the others."""
    import torch

    wanted = maybe_get_const(output_size, "is")
    sizes: Any = get_tensor_sizes(input, allow_nonstatic=False)
    if not is_value(wanted) and sizes is not None:
        factors = [
            float(w) / float(s) for w, s in zip(wanted[2 - dim :], sizes[2 - dim :], strict=True)
        ]
        return g.op("Constant", value_t=torch.tensor([1.0, 1.0, *factors]))
    if not is_value(wanted):
        wanted = g.op("Constant", value_t=torch.tensor(wanted[2 - dim :]))
    own = slice_(g, g.op("Shape", input), [0], [2], [_END])
    quotient = g.op("Div", g.op("Cast", wanted, to_i=_FLOAT), g.op("Cast", own, to_i=_FLOAT))
    return g.op("Concat", _ones(g), quotient, axis_i=0)


def given_scales(g: GraphContext, scales: Sequence[Any]) -> Any:
    """The factors of all axes where the program gives factors: one for each axis behind the second,
    or a list of them; None where it does not."""
    import torch

    listed = scales[0] if scales and is_packed_list(scales[0]) else scales
    known = [maybe_get_scalar(each) for each in listed if each is not None]
    if not known or any(is_value(each) or each == -1 for each in known):
        return None
    return g.op("Constant", value_t=torch.tensor([1.0, 1.0, *map(float, known)]))


def resizing_attributes(g: GraphContext, mode: str, args: Sequence[Any]) -> tuple[Any, Any]:
    """The factors, and `align_corners`, which `nearest` does not have, of the arguments behind the
    output's size."""
    corners, scales = (None, args) if mode == "nearest" else (args[0], args[1:])
    return given_scales(g, scales), corners


def scales_of_factor(g: GraphContext, scale_factor: Any, dim: int) -> Any:
    """The factors of all axes: 1 for the first two, for the others one, or one for each."""
    import torch

    if not is_value(scale_factor):
        listed = list(scale_factor) if is_packed_list(scale_factor) else [scale_factor] * (dim - 2)
        return g.op("Constant", value_t=torch.tensor([1.0, 1.0, *map(float, listed)]))
    if (get_tensor_rank(scale_factor) or 0) > 0:
        return g.op("Concat", _ones(g), scale_factor, axis_i=0)
    factor = g.op("Cast", unsqueeze(g, scale_factor, [0]), to_i=_FLOAT)
    return g.op("Concat", _ones(g), *[factor] * (dim - 2), axis_i=0)


def scales_and_mode(  # noqa: PLR0917 (as it is called)
    g: GraphContext, input: Any, size: Any, scale_factor: Any, mode: Any, align_corners: Any
) -> tuple[Any, str]:
    """The factors of all axes, and ONNX's name of the mode. Raises OnnxExporterError where corners
    are aligned, where the rank is not known, and where neither sizes nor factors are given."""
    named = str(maybe_get_const(mode, "s"))
    named = next((kind for kind in ("linear", "cubic") if kind in named), named)
    rank = get_tensor_rank(input)
    if maybe_get_const(align_corners, "b") is True:
        unimplemented("interpolate", "align_corners == True", input)
    if not rank:
        unimplemented("interpolate", "missing input shape", input)
    if scale_factor is not None:
        return scales_of_factor(g, scale_factor, rank), named
    if size is None:
        unimplemented("interpolate", "both size and scales are None", input)
    if is_value(size) and get_tensor_rank(size) == 0:
        size = g.op("Concat", *[unsqueeze(g, size, [0])] * (rank - 2), axis_i=0)
    elif not is_value(size) and not is_packed_list(size):
        size = [size] * (rank - 2)
    return scales_of_sizes(g, input, size, rank), named


def resizing(name: str, dim: int, interpolate_mode: str) -> Callable[..., Any]:
    """The symbolic function of aten::upsample_...: of `input`, the size of the output, and what
    follows these two."""
    del name, dim

    def symbolic_fn(g: GraphContext, input: Any, output_size: Any, *args: Any) -> Any:
        import torch

        scales, corners = resizing_attributes(g, interpolate_mode, args)
        transformation = "half_pixel"
        if interpolate_mode == "nearest":
            transformation = "asymmetric"
        elif maybe_get_scalar(corners):
            transformation = "align_corners"
        attributes: dict[str, Any] = {
            "coordinate_transformation_mode_s": transformation,
            "cubic_coeff_a_f": -0.75,
            "mode_s": interpolate_mode,
            "nearest_mode_s": "floor",
        }
        if scales is not None:
            return g.op("Resize", input, None, scales, **attributes)
        if not is_value(output_size):
            output_size = g.op("Constant", value_t=torch.tensor(list(output_size)))
        kept = slice_(g, g.op("Shape", input), [0], [0], [2])
        sizes = g.op("Concat", kept, g.op("Cast", output_size, to_i=_INT64), axis_i=0)
        return g.op("Resize", input, None, None, sizes, **attributes)

    return symbolic_fn


def _ones(g: GraphContext) -> Any:
    import torch

    return g.op("Constant", value_t=torch.ones(2))
