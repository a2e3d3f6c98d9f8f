// What ONNX Runtime's optimizer makes of products of dequantized tensors: products of integers,
// some of which are others than the model says.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"
#include "onnx/graph/recipe.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;
using enum base::DType;

// A tensor with a scale for each entry along `axis`.
struct Scaled {
  const ValueInfo* value;
  std::int64_t axis;

  std::int64_t rank() const { return static_cast<std::int64_t>(value->shape.size()); }
};

bool read_as_meant(const Scaled& x);

bool read_transposed(const Scaled& x, const Node* transpose) {
  const ValueInfo* output = transpose->output();
  if (output == nullptr || !output->has_rank) return true;
  const std::vector<std::int64_t>* perm = transpose->ints("perm");
  std::int64_t axis = x.rank() - 1 - x.axis;
  if (perm != nullptr) axis = std::ranges::find(*perm, x.axis) - perm->begin();
  return read_as_meant({output, axis});
}

bool read_as_meant(const Scaled& x, const onnx::Use& use) {
  const Node* node = use.node;
  if (node->is("Transpose")) return read_transposed(x, node);
  if (node->is("MatMul")) return use.index == 1 && x.rank() == 2 && x.axis == 1;
  if (node->is("Gemm")) {
    const std::int64_t channels = node->int_or("transB", 0) != 0 ? 0 : 1;
    return use.index == 1 && x.axis == channels;
  }
  if (node->is("Conv")) return use.index == 1 && x.axis == 0;
  return true;  // ONNX Runtime has no product of integers for it
}

bool read_as_meant(const Scaled& x) {
  return std::ranges::all_of(x.value->uses,
                             [&](const onnx::Use& use) { return read_as_meant(x, use); });
}

// One scale, or one for each entry of an axis, and known ranks.
bool is_plain(const Use& use) {
  return use.node != nullptr && use.integer("block_size", 0) == 0 &&
         use.node->output() != nullptr && use.node->output()->has_rank && use.input(1).has_rank();
}

// The axis of a DequantizeLinear whose every entry has a scale of its own; nothing for one scale.
std::optional<Scaled> scales_of(const Use& use) {
  const Value scale = use.input(1);
  if (scale.rank() != 1 || scale.dim(0).is(1)) return std::nullopt;
  const ValueInfo* y = use.node->output();
  const std::int64_t axis = use.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(y->shape.size());
  return Scaled{y, axis < 0 ? axis + rank : axis};
}

bool scales_another_axis(const Use& use) {
  if (!is_plain(use)) return false;
  const std::optional<Scaled> scales = scales_of(use);
  return scales && !read_as_meant(*scales);
}

// Whether a product takes it for its second factor beside a first one that is not dequantized.
bool is_second_of_reals(const ValueInfo* weight) {
  return std::ranges::any_of(weight->uses, [](const onnx::Use& use) {
    if (use.node->is("Transpose"))
      return use.node->output() != nullptr && is_second_of_reals(use.node->output());
    if (!use.node->is("MatMul") || use.index != 1) return false;
    const Node* first = use.node->input(0)->producer;
    return first == nullptr || !first->is("DequantizeLinear");
  });
}

bool is_weight_of_reals(const Use& use) {
  return is_plain(use) && use.input(0).is_constant() && is_second_of_reals(use.node->output());
}

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

// Whether a product takes it for its second factor beside one of uint8.
bool is_beside_unsigned(const ValueInfo* value) {
  return std::ranges::any_of(value->uses, [](const onnx::Use& use) {
    if (use.node->is("Transpose"))
      return use.node->output() != nullptr && is_beside_unsigned(use.node->output());
    const bool product = use.node->is("MatMul") || use.node->is("Gemm") || use.node->is("Conv");
    return use.index == 1 && product && is_dequantized(use.node->input(0), kUInt8);
  });
}

bool is_signed_factor(const Use& use) {
  return use.node != nullptr && use.node->output() != nullptr &&
         (use.input(2) || use.input(1).is_constant()) && is_beside_unsigned(use.node->output());
}

Value moved_at_run_time(onnx::Emit& onnx, Value value) {
  const Value bias = onnx.constant(Tensor::filled_int(kInt32, {}, 128));
  return onnx.cast(onnx.add(onnx.cast(value, kInt32), bias), kUInt8);
}

// Small constants: zero points.
std::optional<Tensor> moved_constant(Value value) {
  const auto ints = value.is_constant() ? value.constant()->ints() : std::nullopt;
  if (!ints) return std::nullopt;
  std::vector<std::byte> bytes;
  for (const std::int64_t element : *ints) bytes.push_back(static_cast<std::byte>(element + 128));
  return Tensor::of_bytes(kUInt8, value.constant()->dims, bytes);
}

// The weight 128 higher, which costs no memory: it is changed as it is written.
Value moved_weight(Lowering& onnx, Value weight) {
  const Tensor* tensor = onnx.changes_weights() ? weight.constant() : nullptr;
  if (tensor == nullptr || tensor->missing || !tensor->is_materialized() || !tensor->contiguous())
    return {};
  ValueInfo* const made = onnx.model().add_weight(weight->name + "_unsigned",
                                                  onnx::cast_with_offset(*tensor, kUInt8, 128));
  made->made_of.push_back(weight.info());
  return made;
}

std::optional<Values> unsigned_factor(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const Value scale = use.input(1), zero_point = use.input(2);
  std::optional<Tensor> zero = zero_point ? moved_constant(zero_point)
                                          : Tensor::filled_int(kUInt8, scale.constant()->dims, 128);
  const Value new_zero =
      zero ? onnx.constant(std::move(*zero)) : moved_at_run_time(onnx, zero_point);
  Value factor = moved_weight(onnx, use.input(0));
  if (!factor) factor = moved_at_run_time(onnx, use.input(0));
  return onnx.without(rule, use, std::vector{factor, scale, new_zero},
                      {use.attributes.begin(), use.attributes.end()});
}

// Integers that a Clip keeps at half their range: two products with an int8 fit into 16 bits.
bool is_halved(const ValueInfo* integers) {
  const Node* cast = integers->producer;
  if (cast == nullptr || !cast->is("Cast") || cast->input(0) == nullptr) return false;
  const Node* clip = cast->input(0)->producer;
  if (clip == nullptr || !clip->is("Clip") || clip->input(2) == nullptr) return false;
  const std::optional<double> most = Value(clip->input(2)).real();
  return most && *most <= 128;
}

bool is_signed_product(const Use& use) {
  return use.input(0).dtype() == kUInt8 && use.input(1).dtype() == kInt8 &&
         !is_halved(use.input(0).info());
}

std::optional<Values> unsigned_product(const Use& use, const Rule& rule) {
  const Value zero_point = use.input(3);
  std::optional<Tensor> zero =
      zero_point ? moved_constant(zero_point) : Tensor::filled_int(kUInt8, {}, 128);
  const Value new_zero =
      zero ? use.onnx.constant(std::move(*zero)) : moved_at_run_time(use.onnx, zero_point);
  Value factor = moved_weight(use.onnx, use.input(1));
  if (!factor) factor = moved_at_run_time(use.onnx, use.input(1));
  return use.onnx.without(rule, use, std::vector{use.input(0), factor, use.input(2), new_zero},
                          {use.attributes.begin(), use.attributes.end()});
}

constexpr DTypeSet kSignedByte = onnx::dtype_bit(kInt8);

constexpr Rule kRewritten[] = {
    {.name = "scales-of-another-axis",
     .op = Op::kDequantizeLinear,
     .reason = Reason::kRewrites,
     .when = scales_another_axis,
     .how = by_definition,
     .why = "products of dequantized tensors become products of integers, for which every scale "
            "that is not a single number counts as one of the second factor's output channels, "
            "whatever axis it stands for",
     .since = "1.31"},
    {.name = "weights-beside-real-numbers",
     .op = Op::kDequantizeLinear,
     .reason = Reason::kRewrites,
     .when = is_weight_of_reals,
     .how = by_definition,
     .why = "real numbers times 8-bit weights become MatMulNBits, which rounds the numbers to 8 "
            "bits: half a percent off",
     .since = "1.31"},
};

// Of processors without instructions that add up products of bytes in 32 bits.
constexpr Rule kWithoutVnni[] = {
    {.name = "signed-factor-beside-unsigned",
     .op = Op::kDequantizeLinear,
     .reason = Reason::kWrong,
     .types = kSignedByte,
     .when = is_signed_factor,
     .how = unsigned_factor,
     .why =
         "on x86 without VNNI, products of uint8 and int8 are added up in 16 bits, which are too "
         "few; PyTorch's own fixed scales leave room for that, others need not",
     .since = "1.31"},
    {.name = "signed-factor-of-integers",
     .op = Op::kMatMulInteger,
     .reason = Reason::kWrong,
     .when = is_signed_product,
     .how = unsigned_product,
     .why = "on x86 without VNNI, products of uint8 and int8 are added up in 16 bits, which are "
            "too few where the first factor uses its whole range",
     .since = "1.31"},
};

}  // namespace

Rules quantized_product_rules() { return kRewritten; }
Rules rules_without_vnni() { return kWithoutVnni; }

}  // namespace sardonyx::targets
