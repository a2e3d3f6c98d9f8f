#include "aten/library.h"

#include <array>
#include <unordered_map>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// clang-format off: one family a line
constexpr std::array kFamilies = {
    Family{activation_gradient_rows},
    Family{activation_rows},
    Family{adaptive_pooling_rows},
    Family{affine_blocks_rows},
    Family{arithmetic_rows},
    Family{assertion_rows},
    Family{attention_rows},
    Family{axis_gradient_rows},
    Family{axis_order_rows},
    Family{bessel_rows},
    Family{bit_views_rows},
    Family{bits_rows},
    Family{blending_rows},
    Family{casting_rows},
    Family{class_losses_rows},
    Family{classification_rows},
    Family{comparison_rows},
    Family{control_flow_rows},
    Family{convolution_gradient_rows},
    Family{convolution_rows},
    Family{counting_rows},
    Family{creation_rows},
    Family{data_dependent_rows},
    Family{decomposed_quantization_rows},
    Family{dynamic_layer_rows},
    Family{deformable_rows},
    Family{detection_rows},
    Family{diagonals_rows},
    Family{difference_rows},
    Family{distance_rows},
    Family{division_rows},
    Family{dropout_rows},
    Family{einsum_rows},
    Family{elementary_rows},
    Family{embedding_bag_rows},
    Family{embedding_rows},
    Family{enumeration_rows},
    Family{error_function_rows},
    Family{expert_rows},
    Family{fake_quantization_rows},
    Family{flat_indexing_rows},
    Family{fractional_pooling_rows},
    Family{gamma_rows},
    Family{grid_sampling_rows},
    Family{histogram_rows},
    Family{index_update_rows},
    Family{indexing_rows},
    Family{integration_rows},
    Family{joining_rows},
    Family{linear_rows},
    Family{linear_system_rows},
    Family{logical_rows},
    Family{losses_rows},
    Family{margin_losses_rows},
    Family{matrix_function_rows},
    Family{matrix_norm_rows},
    Family{membership_rows},
    Family{native_normalization_rows},
    Family{normalization_rows},
    Family{onnx_node_rows},
    Family{order_statistics_rows},
    Family{orthogonal_polynomials_rows},
    Family{orthogonal_rows},
    Family{padding_rows},
    Family{patches_rows},
    Family{place_gradient_rows},
    Family{pooling_offset_rows},
    Family{pooling_rows},
    Family{positive_definite_rows},
    Family{power_rows},
    Family{prims_rows},
    Family{products_rows},
    Family{quantization_parameters_rows},
    Family{quantized_products_rows},
    Family{random_rows},
    Family{recurrent_cell_rows},
    Family{list_rows},
    Family{packed_sequence_rows},
    Family{recurrent_rows},
    Family{reduction_rows},
    Family{rejection_sampling_rows},
    Family{repetition_rows},
    Family{resampling_rows},
    Family{scan_rows},
    Family{scatter_reduction_rows},
    Family{scatter_rows},
    Family{search_rows},
    Family{segments_rows},
    Family{selection_rows},
    Family{sequence_loops_rows},
    Family{shape_rows},
    Family{short_time_spectrum_rows},
    Family{shrinkage_rows},
    Family{slicing_rows},
    Family{softmax_rows},
    Family{spacing_rows},
    Family{spectral_rows},
    Family{spectrum_rows},
    Family{statistics_rows},
    Family{strided_view_rows},
    Family{symbolic_scalar_rows},
    Family{unary_rows},
    Family{unique_rows},
    Family{unpooling_rows},
    Family{window_functions_rows},
};
// clang-format on

// Translators for calls that take or give complex tensors.
// clang-format off: one family a line
constexpr std::array kComplexFamilies = {
    Family{complex_arithmetic_rows},
    Family{complex_function_rows},
    Family{complex_parts_rows},
    Family{complex_product_rows},
    Family{complex_random_rows},
    Family{complex_reduction_rows},
    Family{complex_shape_rows},
};
// clang-format on

// "aten::add.Tensor(Tensor self, ...) -> Tensor" -> "aten::add.Tensor"
std::string_view name_of(std::string_view schema) { return schema.substr(0, schema.find('(')); }

using Index = std::unordered_map<std::string_view, Translator>;

template <class Families>
Index make_index(const Families& families) {
  Index index;
  for (Family family : families) {
    for (const Row& row : family()) index.emplace(name_of(row.schema), row.translate);
  }
  return index;
}

// A complex call that the translator for real tensors serves, if there is one.
Translator translator_by_parts(std::string_view qualified_name) {
  return find_translator(qualified_name, false) ? find_translator_by_parts(qualified_name)
                                                : nullptr;
}

}  // namespace

Translator find_translator(std::string_view qualified_name, bool complex) {
  static const Index real_rows = make_index(kFamilies);
  static const Index complex_rows = make_index(kComplexFamilies);
  const Index& index = complex ? complex_rows : real_rows;
  if (const auto found = index.find(qualified_name); found != index.end()) return found->second;
  return complex ? translator_by_parts(qualified_name) : nullptr;
}

std::vector<Row> all_rows(bool complex) {
  const auto families =
      complex ? std::span<const Family>(kComplexFamilies) : std::span<const Family>(kFamilies);
  std::vector<Row> rows;
  for (Family family : families) rows.insert(rows.end(), family().begin(), family().end());
  return rows;
}

}  // namespace sardonyx::aten
