"""What symbolic functions are written with. Names with an underscore in front are those that
torch.onnx.symbolic_helper has, and that symbolic functions everywhere use."""

# What is imported here is used by others.
# ruff: noqa: F401
from ._base.packages import needing_torch
from ._translate.scalar_types import JitScalarType
from ._translate.symbolic_arguments import parse_args
from ._translate.symbolic_forms import applied_to as _apply_params
from ._translate.symbolic_forms import maximum as _max_helper
from ._translate.symbolic_forms import minimum as _min_helper
from ._translate.symbolic_forms import number_as_constant as _generate_wrapped_number
from ._translate.symbolic_forms import number_of_type as _if_scalar_type_as
from ._translate.symbolic_forms import op_as_float as _op_with_optional_float_cast
from ._translate.symbolic_forms import overload_by_arg_count as _overload_by_arg_count
from ._translate.symbolic_forms import place_of_extreme as _argmin_argmax_helper
from ._translate.symbolic_forms import range_of_type as _arange_cast_helper
from ._translate.symbolic_forms import reduced_over_all as _handle_reduce_dim_none
from ._translate.symbolic_forms import with_summable_type as _maybe_cast_reduce_op_input
from ._translate.symbolic_layers import absent as _optional_input_placeholder_tensor
from ._translate.symbolic_layers import arange as _arange_helper
from ._translate.symbolic_layers import attribute as _node_get
from ._translate.symbolic_layers import batch_norm_parameters as _batchnorm_helper
from ._translate.symbolic_layers import embedding_bags as _embedding_bag_helper
from ._translate.symbolic_layers import list_type as _as_list_type
from ._translate.symbolic_layers import places_to_fill as _index_fill_reshape_helper
from ._translate.symbolic_layers import pool_padding as _avgpool_helper
from ._translate.symbolic_layers import repeated as _repeat_interleave_single_value_repeat_helper
from ._translate.symbolic_layers import repeated_parts as _repeat_interleave_split_helper
from ._translate.symbolic_layers import unpacked_quantized as _unpack_quantized_tensor
from ._translate.symbolic_nodes import count_of_elements as _numel_helper
from ._translate.symbolic_nodes import flatten as _flatten_helper
from ._translate.symbolic_nodes import less as _lt_helper
from ._translate.symbolic_nodes import maybe_cast_to_type as _maybe_cast_to_type
from ._translate.symbolic_nodes import reduce_sum as _reducesum_helper
from ._translate.symbolic_nodes import reshape as _reshape_helper
from ._translate.symbolic_nodes import scatter as _scatter_helper
from ._translate.symbolic_nodes import select as _select_helper
from ._translate.symbolic_nodes import size as _size_helper
from ._translate.symbolic_nodes import slice_ as _slice_helper
from ._translate.symbolic_nodes import sort as _sort_helper
from ._translate.symbolic_nodes import squeeze as _squeeze_helper
from ._translate.symbolic_nodes import topk as _topk_helper
from ._translate.symbolic_nodes import unbind as _unbind_helper
from ._translate.symbolic_nodes import unsqueeze as _unsqueeze_helper
from ._translate.symbolic_quantized import dequantize as dequantize_helper
from ._translate.symbolic_quantized import quantize as quantize_helper
from ._translate.symbolic_quantized import requantize_bias as requantize_bias_helper
from ._translate.symbolic_queries import args_have_same_dtype, check_training_mode, quantized_args
from ._translate.symbolic_queries import axis_for_cross as _get_dim_for_cross
from ._translate.symbolic_queries import block_list_in_opset as _block_list_in_opset
from ._translate.symbolic_queries import get_const as _get_const
from ._translate.symbolic_queries import get_tensor_dim_size as _get_tensor_dim_size
from ._translate.symbolic_queries import get_tensor_rank as _get_tensor_rank
from ._translate.symbolic_queries import get_tensor_sizes as _get_tensor_sizes
from ._translate.symbolic_queries import is_bool as _is_bool
from ._translate.symbolic_queries import is_complex as is_complex_value
from ._translate.symbolic_queries import is_constant as _is_constant
from ._translate.symbolic_queries import is_constant as _is_onnx_constant
from ._translate.symbolic_queries import is_fp as _is_fp
from ._translate.symbolic_queries import is_none as _is_none
from ._translate.symbolic_queries import is_packed_list as _is_list
from ._translate.symbolic_queries import is_packed_list as _is_packed_list
from ._translate.symbolic_queries import is_packed_list as _is_tuple_construct
from ._translate.symbolic_queries import is_scalar_list as _is_scalar_list
from ._translate.symbolic_queries import is_split_known as _is_split_static
from ._translate.symbolic_queries import is_tensor as _is_tensor
from ._translate.symbolic_queries import is_tensor_list as _is_tensor_list
from ._translate.symbolic_queries import is_value as _is_value
from ._translate.symbolic_queries import maybe_get_const as _maybe_get_const
from ._translate.symbolic_queries import maybe_get_scalar as _maybe_get_scalar
from ._translate.symbolic_queries import onnx_opset_unsupported as _onnx_opset_unsupported
from ._translate.symbolic_queries import (
    onnx_opset_unsupported_detailed as _onnx_opset_unsupported_detailed,
)
from ._translate.symbolic_queries import onnx_unsupported as _onnx_unsupported
from ._translate.symbolic_queries import parse_arg as _parse_arg
from ._translate.symbolic_queries import promoted_type as _type_promote_from_values
from ._translate.symbolic_queries import scalar as _scalar
from ._translate.symbolic_queries import try_get_scalar_type as _try_get_scalar_type
from ._translate.symbolic_queries import unimplemented as _unimplemented
from ._translate.symbolic_queries import unpack_list as _unpack_list
from ._translate.symbolic_queries import unpack_tuple as _unpack_tuple
from ._translate.symbolic_reductions import reduction as _reduce_op_symbolic_helper
from ._translate.symbolic_reductions import reduction_of_type as _reduce_with_dtype_helper
from ._translate.symbolic_reductions import variance_and_mean as _var_mean_helper
from ._translate.symbolic_reductions import vector_norm as _linalg_vector_norm_helper
from ._translate.symbolic_resizing import given_scales as _interpolate_get_scales_if_available
from ._translate.symbolic_resizing import interpolate_warning as _interpolate_warning
from ._translate.symbolic_resizing import resizing as _interpolate_helper
from ._translate.symbolic_resizing import resizing_attributes as _get_interpolate_attributes
from ._translate.symbolic_resizing import scales_and_mode as _interpolate_get_scales_and_mode
from ._translate.symbolic_resizing import scales_of_factor as _interpolate_get_scales
from ._translate.symbolic_resizing import scales_of_sizes as _interpolate_size_to_scales

try:
    from ._translate.scalar_tables import (
        cast_pytorch_to_onnx,
        pytorch_name_to_type,
        scalar_name_to_pytorch,
        scalar_type_to_onnx,
        scalar_type_to_pytorch_type,
    )
except ModuleNotFoundError as error:
    __getattr__ = needing_torch(__name__, error)

__all__ = [
    "JitScalarType",
    "args_have_same_dtype",
    "cast_pytorch_to_onnx",
    "check_training_mode",
    "dequantize_helper",
    "is_complex_value",
    "parse_args",
    "pytorch_name_to_type",
    "quantize_helper",
    "quantized_args",
    "requantize_bias_helper",
    "scalar_name_to_pytorch",
    "scalar_type_to_onnx",
    "scalar_type_to_pytorch_type",
]
