"""What operators give: dtype, sizes and strides of their results, by the operator's overload.

A rule takes what PyTorch's operator takes. It gives the result, or the input itself where PyTorch
gives that back, and declines what it is not sure of.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._torch_private.operators import schema_of

from . import (
    contractions,
    convolutions,
    elementwise,
    in_place,
    layout,
    matrix_products,
    reductions,
)
from .fake_kernels import FakeKernels
from .results import ResultFactory
from .tensor import QuickTensor

_aten = torch.ops.aten


class MetaRules:
    """Result types of operators in a capture: by a rule, or by fake tensors if no rule is sure."""

    def __init__(self, fake_kernels: FakeKernels) -> None:
        self.results = ResultFactory()
        self._fake_kernels = fake_kernels

    def result(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an operator gives."""
        # Under autocast, PyTorch's kernels convert what they are given.
        is_plain = not torch.is_autocast_enabled("cpu")
        rule = TABLE.get(func, WITHOUT_META_FUNCTION.get(func)) if is_plain else None
        if rule is not None:
            try:
                made = rule(self.results, *args, **kwargs)
            except DeclinedError as reason:
                reason.answered()
            else:
                if func in _WRITING:
                    self._fake_kernels.forget_elements()
                return made
        made = self._fake_kernels.result(func, args, kwargs)
        if func in _VIEWS and type(made) is QuickTensor and made is not args[0]:
            return layout.with_asked_sizes(self.results, args[0], made, args[1])
        return made


_VIEWS = frozenset({_aten.view.default, _aten.reshape.default})

TABLE: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys(
        (
            _aten.cos.default, _aten.sin.default, _aten.tanh.default, _aten.gelu.default,
            _aten.silu.default, _aten.sigmoid.default, _aten.exp.default, _aten.rsqrt.default,
            _aten.sqrt.default, _aten.erf.default, _aten.log.default, _aten.reciprocal.default,
            _aten.round.default, _aten.floor.default, _aten.ceil.default,
            _aten.leaky_relu.default, _aten.hardtanh.default, _aten.relu6.default,
            _aten.hardswish.default, _aten.hardsigmoid.default, _aten.softplus.default,
            _aten.elu.default,
        ),
        elementwise.unary,
    ),
    **dict.fromkeys((_aten.clamp.default, _aten.clamp_min.default), elementwise.clamp),
    **dict.fromkeys(
        (_aten.neg.default, _aten.relu.default, _aten.abs.default), elementwise.unary_any
    ),
    **dict.fromkeys(
        (_aten.add.Tensor, _aten.sub.Tensor, _aten.rsub.Scalar), elementwise.scaled_sum
    ),
    **dict.fromkeys((_aten.mul.Tensor, _aten.multiply.Tensor), elementwise.binary),
    **dict.fromkeys(
        (_aten.floor_divide.default, _aten.remainder.Tensor, _aten.remainder.Scalar),
        elementwise.rounded_division,
    ),
    _aten.div.Tensor: elementwise.division,
    **dict.fromkeys(
        (_aten.maximum.default, _aten.minimum.default, _aten.max.other, _aten.min.other),
        elementwise.extreme,
    ),
    **dict.fromkeys((_aten.pow.Tensor_Scalar, _aten.pow.Tensor_Tensor), elementwise.power),
    **dict.fromkeys(
        (
            _aten.eq.Tensor, _aten.ne.Tensor, _aten.lt.Tensor, _aten.le.Tensor, _aten.gt.Tensor,
            _aten.ge.Tensor, _aten.eq.Scalar, _aten.ne.Scalar, _aten.lt.Scalar, _aten.le.Scalar,
            _aten.gt.Scalar, _aten.ge.Scalar,
        ),
        elementwise.comparison,
    ),
    **dict.fromkeys(
        (_aten.where.self, _aten.where.ScalarOther, _aten.where.ScalarSelf), elementwise.where
    ),
    _aten.masked_fill.Scalar: elementwise.masked_fill,
    _aten.grid_sampler.default: layout.grid_sampled,
    _aten.grid_sampler_2d.default: layout.grid_sampled,
    _aten.transpose.int: layout.transpose,
    _aten.permute.default: layout.permute,
    _aten.t.default: layout.t,
    _aten.unsqueeze.default: layout.unsqueeze,
    _aten.expand.default: layout.expand,
    _aten.view.default: layout.view,
    _aten.reshape.default: layout.reshape,
    _aten.contiguous.default: layout.contiguous,
    _aten.slice.Tensor: layout.slice_,
    _aten.select.int: layout.select,
    _aten.as_strided.default: layout.as_strided,
    _aten.clone.default: layout.clone,
    _aten.copy_.default: in_place.copy,
    **dict.fromkeys((_aten.add_.Tensor, _aten.sub_.Tensor), in_place.scaled_sum),
    _aten.mul_.Tensor: in_place.binary,
    _aten.div_.Tensor: in_place.division,
    _aten.masked_fill_.Scalar: in_place.masked_fill,
    _aten.index_copy_.default: in_place.index_copy,
    _aten.pad.default: layout.padded,
    _aten.repeat.default: layout.repeat,
    _aten.repeat_interleave.self_int: layout.repeat_interleave,
    _aten.split_with_sizes.default: layout.split_with_sizes,
    _aten.cat.default: layout.cat,
    _aten.stack.default: layout.stack,
    _aten.split.Tensor: layout.split,
    _aten.chunk.default: layout.chunk,
    _aten.tensor_split.sections: layout.tensor_split,
    _aten.pixel_unshuffle.default: layout.pixel_unshuffle,
    _aten.to.dtype: elementwise.to_dtype,
    _aten.to.dtype_layout: elementwise.to_layout,
    _aten.to.device: elementwise.to_device,
    _aten.type_as.default: elementwise.type_as,
    **dict.fromkeys(
        (_aten.new_ones.default, _aten.new_zeros.default, _aten.new_full.default),
        elementwise.new_filled,
    ),
    _aten.arange.default: elementwise.arange,
    _aten.arange.start: elementwise.arange_from,
    **dict.fromkeys(
        (_aten.zeros.default, _aten.ones.default, _aten.full.default), elementwise.filled
    ),
    _aten.linear.default: matrix_products.linear,
    _aten.addmm.default: matrix_products.addmm,
    _aten.bmm.default: matrix_products.bmm,
    _aten.matmul.default: matrix_products.matmul,
    _aten.cdist.default: matrix_products.distances,
    _aten.einsum.default: contractions.einsum,
    _aten.conv1d.default: partial(convolutions.convolution, axes=1),
    _aten.conv2d.default: partial(convolutions.convolution, axes=2),
    _aten.conv3d.default: partial(convolutions.convolution, axes=3),
    _aten.max_pool1d.default: partial(convolutions.max_pool, axes=1),
    _aten.max_pool2d.default: partial(convolutions.max_pool, axes=2),
    _aten.max_pool3d.default: partial(convolutions.max_pool, axes=3),
    _aten.avg_pool1d.default: partial(convolutions.avg_pool, axes=1),
    _aten.avg_pool2d.default: partial(convolutions.avg_pool, axes=2),
    _aten.avg_pool3d.default: partial(convolutions.avg_pool, axes=3),
    _aten.batch_norm.default: convolutions.batch_norm,
    **dict.fromkeys(
        (
            _aten.upsample_nearest1d.vec, _aten._upsample_nearest_exact1d.vec,
            _aten.upsample_linear1d.vec,
        ),
        partial(convolutions.resized, axes=1),
    ),
    **dict.fromkeys(
        (
            _aten.upsample_nearest2d.vec, _aten._upsample_nearest_exact2d.vec,
            _aten.upsample_bilinear2d.vec, _aten.upsample_bicubic2d.vec,
        ),
        partial(convolutions.resized, axes=2),
    ),
    **dict.fromkeys(
        (
            _aten.upsample_nearest3d.vec, _aten._upsample_nearest_exact3d.vec,
            _aten.upsample_trilinear3d.vec,
        ),
        partial(convolutions.resized, axes=3),
    ),
    _aten.im2col.default: convolutions.im2col,
    _aten.col2im.default: convolutions.col2im,
    _aten.embedding.default: matrix_products.embedding,
    _aten.diff.default: matrix_products.diff,
    _aten.index.Tensor: matrix_products.index,
    _aten.cumsum.default: elementwise.running,
    _aten.flatten.using_ints: matrix_products.flatten,
    **dict.fromkeys(
        (_aten.ones_like.default, _aten.zeros_like.default, _aten.full_like.default),
        elementwise.like,
    ),
    **dict.fromkeys(
        (_aten.logical_and.default, _aten.logical_or.default, _aten.logical_not.default),
        elementwise.logical,
    ),
    **dict.fromkeys(
        (
            _aten.bitwise_and.Tensor, _aten.bitwise_or.Tensor, _aten.__and__.Tensor,
            _aten.__or__.Tensor,
        ),
        elementwise.bitwise,
    ),
    _aten.bitwise_not.default: elementwise.inverted,
    _aten.gather.default: matrix_products.gather,
    _aten.scaled_dot_product_attention.default: matrix_products.attention,
    _aten.mean.dim: reductions.averaged,
    _aten.sum.dim_IntList: reductions.summed,
    _aten.topk.default: reductions.largest,
    _aten.softmax.int: matrix_products.softmax,
    _aten.layer_norm.default: matrix_products.layer_norm,
    _aten.group_norm.default: matrix_products.group_norm,
    _aten.dropout.default: matrix_products.dropout,
    _aten.affine_grid_generator.default: matrix_products.affine_grid,
}  # fmt: skip

# Of operators whose kernels read data, which PyTorch has no meta functions for.
WITHOUT_META_FUNCTION: dict[Any, Callable[..., Any]] = dict.fromkeys(
    (_aten.cov.default, _aten.corrcoef.default), reductions.covariance
)

_WRITING = frozenset(func for func in TABLE if schema_of(func).is_mutable)
