// Before: y = MatMul(DequantizeLinear(a), DequantizeLinear(w, scale, zero_point)), a uint8, w int8
// After:  y = MatMul(DequantizeLinear(a), DequantizeLinear(w + 128, scale, zero_point + 128)), both
//         uint8
// For Gemm and Conv likewise. PyTorch's fixed scales leave room for 16 bits in the first factor;
// those of pt2e and of dynamic quantisation need not.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/passes.h"
#include "passes/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Tensor;
using onnx::Use;
using onnx::ValueInfo;

// ONNX Runtime moves DequantizeLinear past these.
constexpr std::array<std::string_view, 6> kMoves = {"Flatten", "MaxPool",   "Reshape",
                                                    "Squeeze", "Transpose", "Unsqueeze"};

bool is_dequantized(const ValueInfo* value, DType dtype) {
  while (value != nullptr && value->producer != nullptr) {
    const Node* node = value->producer;
    if (node->is("DequantizeLinear")) return node->input(0)->dtype == dtype;
    if (std::ranges::none_of(kMoves, [&](std::string_view op) { return node->is(op); })) break;
    value = node->input(0);
  }
  return false;
}

bool is_product(const Node* node) {
  return node->is("MatMul") || node->is("Gemm") || node->is("Conv");
}

// Whether a product takes it for its second factor beside one of uint8.
bool is_second_factor(const ValueInfo* value) {
  return std::ranges::any_of(value->uses, [](const Use& use) {
    if (use.node->is("Transpose")) {
      return use.node->output() != nullptr && is_second_factor(use.node->output());
    }
    return use.index == 1 && is_product(use.node) &&
           is_dequantized(use.node->input(0), DType::kUInt8);
  });
}

ValueInfo* moved_at_run_time(Node* position, ValueInfo* value) {
  ValueInfo* const bias =
      position->graph->model->add_constant(Tensor::filled_int(DType::kInt32, {}, 128));
  ValueInfo* const sum =
      insert_node(position, "Add", {insert_cast(position, value, DType::kInt32), bias}, {},
                  value->name + "_Add")
          ->output();
  return insert_cast(position, sum, DType::kUInt8);
}

// Small constants: zero points.
std::optional<Tensor> moved_constant(const ValueInfo* value) {
  const auto ints = value->constant != nullptr ? value->constant->ints() : std::nullopt;
  if (!ints) return std::nullopt;
  std::vector<std::byte> bytes;
  for (const std::int64_t element : *ints) bytes.push_back(static_cast<std::byte>(element + 128));
  return Tensor::of_bytes(DType::kUInt8, value->constant->dims, bytes);
}

ValueInfo* moved_weight(onnx::Model& model, ValueInfo* weight) {
  const Tensor* tensor = weight->constant.get();
  if (tensor == nullptr || tensor->missing || !tensor->as_it_lies() || !tensor->contiguous()) {
    return nullptr;
  }
  Tensor moved = *tensor;
  moved.dtype = DType::kUInt8;
  moved.biased = true;
  weight->is_folded = true;
  return model.add_weight(weight->name + "_unsigned", std::move(moved));
}

bool move(Node* node, bool keep_weights) {
  if (!node->is("DequantizeLinear") || node->input(0)->dtype != DType::kInt8) return false;
  ValueInfo* const scale = node->input(1);
  ValueInfo* const zero_point = node->input(2);
  if (node->output() == nullptr || !is_second_factor(node->output())) return false;
  if (zero_point == nullptr && scale->constant == nullptr) return false;

  onnx::Model& model = *node->graph->model;
  std::optional<Tensor> zero = zero_point != nullptr
                                   ? moved_constant(zero_point)
                                   : Tensor::filled_int(DType::kUInt8, scale->constant->dims, 128);
  ValueInfo* const new_zero =
      zero ? model.add_constant(std::move(*zero)) : moved_at_run_time(node, zero_point);
  ValueInfo* factor = keep_weights ? nullptr : moved_weight(model, node->input(0));
  if (factor == nullptr) factor = moved_at_run_time(node, node->input(0));
  onnx::set_input(node, 0, factor);
  if (node->inputs.size() > 2)
    onnx::set_input(node, 2, new_zero);
  else
    onnx::add_input(node, new_zero);
  return true;
}

}  // namespace

bool unsigned_factors(onnx::Model& model, bool keep_weights) {
  return opset_of(model) >= 13 &&
         each_node(model.graph, [&](Node* node) { return move(node, keep_weights); });
}

}  // namespace sardonyx::passes
