"""Calls that compare fake-tensor tracing's rules with PyTorch: rows of operators, with every
type of element, mixed types, numbers, sizes and layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import elementwise, in_place, layout, products
from .said import Calls

_ = torch.ops.aten
ROWS: dict[Any, Callable[[], Calls]] = {
    **dict.fromkeys(
        (
            _.cos.default, _.sin.default, _.tanh.default, _.gelu.default, _.silu.default,
            _.sigmoid.default, _.exp.default, _.rsqrt.default, _.sqrt.default, _.erf.default,
            _.neg.default, _.relu.default, _.abs.default, _.bitwise_not.default,
            _.logical_not.default, _.log.default, _.reciprocal.default, _.round.default,
            _.floor.default, _.ceil.default, _.leaky_relu.default,
            _.hardtanh.default, _.relu6.default, _.hardswish.default, _.hardsigmoid.default,
            _.softplus.default, _.elu.default,
        ),
        elementwise.unary,
    ),
    _.clamp.default: elementwise.clamped_twice,
    _.clamp_min.default: elementwise.clamped,
    _.floor_divide.default: elementwise.binary,
    _.remainder.Tensor: elementwise.of_tensors,
    _.remainder.Scalar: elementwise.with_numbers,
    **dict.fromkeys((_.add.Tensor, _.sub.Tensor), elementwise.sums),
    **dict.fromkeys((_.mul.Tensor, _.multiply.Tensor, _.div.Tensor), elementwise.binary),
    **dict.fromkeys(
        (_.maximum.default, _.minimum.default, _.max.other, _.min.other), elementwise.of_tensors
    ),
    **dict.fromkeys(
        (
            _.pow.Tensor_Tensor, _.eq.Tensor, _.ne.Tensor, _.lt.Tensor, _.le.Tensor, _.gt.Tensor,
            _.ge.Tensor, _.logical_and.default, _.logical_or.default, _.bitwise_and.Tensor,
            _.bitwise_or.Tensor, _.__and__.Tensor, _.__or__.Tensor,
        ),
        elementwise.of_tensors,
    ),
    **dict.fromkeys(
        (
            _.pow.Tensor_Scalar, _.eq.Scalar, _.ne.Scalar, _.lt.Scalar, _.le.Scalar, _.gt.Scalar,
            _.ge.Scalar, _.rsub.Scalar,
        ),
        elementwise.with_numbers,
    ),
    _.where.self: elementwise.chosen,
    _.where.ScalarOther: elementwise.chosen_number,
    _.where.ScalarSelf: elementwise.number_chosen,
    _.masked_fill.Scalar: elementwise.filled_where,
    **dict.fromkeys((_.grid_sampler.default, _.grid_sampler_2d.default), layout.sampled),
    _.transpose.int: layout.axes,
    _.permute.default: layout.permuted,
    _.t.default: layout.alone,
    _.unsqueeze.default: layout.one_axis,
    _.expand.default: layout.expanded,
    _.view.default: layout.viewed,
    _.reshape.default: layout.viewed,
    _.contiguous.default: layout.contiguous,
    _.slice.Tensor: layout.sliced,
    _.select.int: layout.selected,
    _.as_strided.default: layout.strided,
    _.clone.default: layout.contiguous,
    _.copy_.default: in_place.copied,
    **dict.fromkeys((_.add_.Tensor, _.sub_.Tensor), in_place.sums),
    **dict.fromkeys((_.mul_.Tensor, _.div_.Tensor), elementwise.binary),
    _.masked_fill_.Scalar: elementwise.filled_where,
    _.index_copy_.default: in_place.rows_copied,
    _.pad.default: layout.padded,
    _.repeat.default: layout.repeated,
    _.repeat_interleave.self_int: layout.repeated_in_a_row,
    _.split_with_sizes.default: layout.parted,
    **dict.fromkeys((_.cat.default, _.stack.default), layout.joined),
    _.split.Tensor: layout.split,
    _.chunk.default: layout.chunked,
    _.tensor_split.sections: layout.chunked,
    _.pixel_unshuffle.default: layout.unshuffled,
    _.to.dtype: elementwise.to_dtype,
    _.to.dtype_layout: elementwise.to_layout,
    _.to.device: elementwise.to_device,
    _.type_as.default: elementwise.type_as,
    **dict.fromkeys((_.new_ones.default, _.new_zeros.default), elementwise.new),
    _.new_full.default: elementwise.new_full,
    _.arange.default: elementwise.ranges,
    _.arange.start: elementwise.ranges_from,
    **dict.fromkeys((_.zeros.default, _.ones.default), elementwise.filled),
    _.full.default: elementwise.full,
    _.linear.default: products.linear,
    _.addmm.default: products.addmm,
    _.bmm.default: products.stacks_multiplied,
    _.matmul.default: products.multiplied,
    _.cdist.default: products.compared,
    _.einsum.default: products.contracted,
    **dict.fromkeys((_.conv1d.default, _.conv2d.default, _.conv3d.default), products.convolved),
    **dict.fromkeys(
        (_.max_pool1d.default, _.max_pool2d.default, _.max_pool3d.default), products.maxima
    ),
    **dict.fromkeys(
        (_.avg_pool1d.default, _.avg_pool2d.default, _.avg_pool3d.default), products.pooled
    ),
    _.batch_norm.default: products.normalized_in_batches,
    **dict.fromkeys(
        (
            _.upsample_nearest1d.vec, _.upsample_nearest2d.vec, _.upsample_nearest3d.vec,
            _._upsample_nearest_exact1d.vec, _._upsample_nearest_exact2d.vec,
            _._upsample_nearest_exact3d.vec,
        ),
        products.resized,
    ),
    **dict.fromkeys(
        (
            _.upsample_linear1d.vec, _.upsample_bilinear2d.vec, _.upsample_trilinear3d.vec,
            _.upsample_bicubic2d.vec,
        ),
        products.interpolated,
    ),
    _.im2col.default: products.unfolded,
    _.col2im.default: products.folded,
    _.embedding.default: products.embedded,
    _.diff.default: products.differences,
    _.index.Tensor: products.indexed,
    _.cumsum.default: elementwise.running,
    _.flatten.using_ints: layout.flattened,
    **dict.fromkeys((_.ones_like.default, _.zeros_like.default), elementwise.like),
    _.full_like.default: elementwise.full_like,
    _.gather.default: products.gathered,
    _.scaled_dot_product_attention.default: products.attended,
    **dict.fromkeys((_.mean.dim, _.sum.dim_IntList), products.meant),
    _.topk.default: products.largest,
    _.softmax.int: products.softmax,
    _.layer_norm.default: products.normalized,
    _.group_norm.default: products.normalized_in_groups,
    _.dropout.default: products.dropped,
    _.affine_grid_generator.default: products.grids,
}  # fmt: skip
