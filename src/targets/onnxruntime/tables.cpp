#include "targets/onnxruntime/tables.h"

#include <array>
#include <vector>

namespace sardonyx::targets {

std::span<const Rules> onnxruntime_tables() {
  static const std::array kTables = {
      quantized_product_rules(),
      padded_pooling_rules(),
      quotient_rules(),
      range_rules(),
      scale_rules(),
      repeated_cast_rules(),
      group_normalization_rules(),
  };
  return kTables;
}

std::span<const Rules> onnxruntime_cpu_tables() {
  static const std::array kTables = {
      quantized_product_rules(),
      half_product_rules(),
      padded_pooling_rules(),
      quotient_rules(),
      range_rules(),
      scale_rules(),
      repeated_cast_rules(),
      convolution_rules(),
      pooling_rules(),
      resizing_rules(),
      sampling_rules(),
      cast_rules(),
      emptiness_rules(),
      half_scatter_rules(),
      long_integer_rules(),
      network_rules(),
      attention_mask_rules(),
      residual_rules(),
      group_normalization_rules(),
  };
  return kTables;
}

namespace {

std::vector<Rules> with(std::vector<Rules> tables, std::span<const Rules> others) {
  tables.insert(tables.end(), others.begin(), others.end());
  return tables;
}

}  // namespace

std::span<const Rules> onnxruntime_cuda_tables() {
  static const std::vector<Rules> kTables =
      with({attention_mask_rules(), bit_rules(), cuda_integer_rules(), cuda_padding_rules(),
            cuda_pooling_rules(), instance_normalization_rules()},
           onnxruntime_tables());
  return kTables;
}

std::span<const Rules> onnxruntime_webgpu_tables() {
  static const std::vector<Rules> kTables =
      with({position_rules(), log_softmax_rules()}, onnxruntime_tables());
  return kTables;
}

std::span<const Rules> onnxruntime_avx2_tables() {
  static const std::vector<Rules> kTables = with({rules_without_vnni()}, onnxruntime_cpu_tables());
  return kTables;
}

}  // namespace sardonyx::targets
