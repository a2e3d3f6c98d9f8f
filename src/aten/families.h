// The families of operators. A new family is one file, one line here and one line in library.cpp.
#pragma once

#include <span>
#include <string_view>

#include "aten/library.h"

namespace sardonyx::aten {

std::span<const Row> activation_gradient_rows();
std::span<const Row> activation_rows();
std::span<const Row> adaptive_pooling_rows();
std::span<const Row> affine_blocks_rows();
std::span<const Row> arithmetic_rows();
std::span<const Row> assertion_rows();
std::span<const Row> attention_rows();
std::span<const Row> axis_gradient_rows();
std::span<const Row> axis_order_rows();
std::span<const Row> bessel_rows();
std::span<const Row> bit_views_rows();
std::span<const Row> bits_rows();
std::span<const Row> blending_rows();
std::span<const Row> casting_rows();
std::span<const Row> class_losses_rows();
std::span<const Row> classification_rows();
std::span<const Row> comparison_rows();
std::span<const Row> complex_arithmetic_rows();
std::span<const Row> complex_function_rows();
std::span<const Row> complex_parts_rows();
std::span<const Row> complex_product_rows();
std::span<const Row> complex_random_rows();
std::span<const Row> complex_reduction_rows();
std::span<const Row> complex_shape_rows();
std::span<const Row> control_flow_rows();
std::span<const Row> convolution_gradient_rows();
std::span<const Row> convolution_rows();
std::span<const Row> counting_rows();
std::span<const Row> creation_rows();
std::span<const Row> data_dependent_rows();
std::span<const Row> decomposed_quantization_rows();
std::span<const Row> dynamic_layer_rows();
std::span<const Row> deformable_rows();
std::span<const Row> detection_rows();
std::span<const Row> diagonals_rows();
std::span<const Row> difference_rows();
std::span<const Row> distance_rows();
std::span<const Row> division_rows();
std::span<const Row> dropout_rows();
std::span<const Row> einsum_rows();
std::span<const Row> elementary_rows();
std::span<const Row> embedding_bag_rows();
std::span<const Row> embedding_rows();
std::span<const Row> enumeration_rows();
std::span<const Row> error_function_rows();
std::span<const Row> expert_rows();
std::span<const Row> fake_quantization_rows();
std::span<const Row> flat_indexing_rows();
std::span<const Row> fractional_pooling_rows();
std::span<const Row> gamma_rows();
std::span<const Row> grid_sampling_rows();
std::span<const Row> histogram_rows();
std::span<const Row> index_update_rows();
std::span<const Row> indexing_rows();
std::span<const Row> integration_rows();
std::span<const Row> joining_rows();
std::span<const Row> linear_rows();
std::span<const Row> linear_system_rows();
std::span<const Row> logical_rows();
std::span<const Row> losses_rows();
std::span<const Row> margin_losses_rows();
std::span<const Row> matrix_function_rows();
std::span<const Row> matrix_norm_rows();
std::span<const Row> membership_rows();
std::span<const Row> native_normalization_rows();
std::span<const Row> normalization_rows();
std::span<const Row> onnx_node_rows();
std::span<const Row> order_statistics_rows();
std::span<const Row> orthogonal_polynomials_rows();
std::span<const Row> orthogonal_rows();
std::span<const Row> padding_rows();
std::span<const Row> patches_rows();
std::span<const Row> place_gradient_rows();
std::span<const Row> pooling_offset_rows();
std::span<const Row> pooling_rows();
std::span<const Row> positive_definite_rows();
std::span<const Row> power_rows();
std::span<const Row> prims_rows();
std::span<const Row> products_rows();
std::span<const Row> quantization_parameters_rows();
std::span<const Row> quantized_products_rows();
std::span<const Row> random_rows();
std::span<const Row> recurrent_cell_rows();
std::span<const Row> list_rows();
std::span<const Row> packed_sequence_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> reduction_rows();
std::span<const Row> rejection_sampling_rows();
std::span<const Row> repetition_rows();
std::span<const Row> resampling_rows();
std::span<const Row> scan_rows();
std::span<const Row> scatter_reduction_rows();
std::span<const Row> scatter_rows();
std::span<const Row> search_rows();
std::span<const Row> segments_rows();
std::span<const Row> selection_rows();
std::span<const Row> sequence_loops_rows();
std::span<const Row> shape_rows();
std::span<const Row> short_time_spectrum_rows();
std::span<const Row> shrinkage_rows();
std::span<const Row> slicing_rows();
std::span<const Row> softmax_rows();
std::span<const Row> spacing_rows();
std::span<const Row> spectral_rows();
std::span<const Row> spectrum_rows();
std::span<const Row> statistics_rows();
std::span<const Row> strided_view_rows();
std::span<const Row> symbolic_scalar_rows();
std::span<const Row> unary_rows();
std::span<const Row> unique_rows();
std::span<const Row> unpooling_rows();
std::span<const Row> window_functions_rows();

// The translator for complex tensors of an operator that is a real one's work on parts; null for
// any other.
Translator find_translator_by_parts(std::string_view qualified_name);

}  // namespace sardonyx::aten
