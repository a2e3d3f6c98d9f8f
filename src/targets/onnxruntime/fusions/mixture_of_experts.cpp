// Before: scores, experts = TopK(logits, k), and the Softmax of those scores;
//         rows of x, sorted by their experts, in groups: MatMul by the matrix of each expert, +
//         bias; SwiGLU(every other column, at most the limit; the columns between, within it, +
//         beta); MatMul by the second matrix of each expert, + bias, · score; y = ReduceSum of the
//         k rows of each token, in the tokens' order
// After:  y = com.microsoft.MoE(x, logits, W1, b1, W2, b2)
//
// As transformers has gpt-oss. Where gates and what they multiply are the halves of the columns
// (Mixtral, Qwen), the columns of the weights are put into turns: gates of halves
// (swiglu_fusion = 2), and those with a matrix of their own (fc3), are something that ONNX
// Runtime's CPU provider has no kernel for.
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/graph/interleaved.h"
#include "onnx/graph/recipe.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/expert_routing.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::made_by;
using rewriting::number_of;

// Rows that are multiplied by the matrix of their expert.
struct Products {
  ValueInfo *rows = nullptr, *weights = nullptr, *bias = nullptr;
};

// Takes the bias of each row's expert off; null where something else is added.
ValueInfo* without_bias(ValueInfo* value, const SortedRows& sorted, ValueInfo*& bias) {
  const Node* sum = made_by(value, Op::kAdd);
  if (sum == nullptr) return value;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* gather = made_by(sum->input(side), Op::kGather);
    if (gather == nullptr || gather->int_or("axis", 0) != 0 || gather->input(1) != sorted.experts ||
        gather->input(0)->constant == nullptr)
      continue;
    bias = gather->input(0);
    return without_casts(sum->input(1 - side));
  }
  return nullptr;
}

// The group of a number, times the matrix of that number; false where it is something else.
bool takes_group(const ValueInfo* product_value, std::size_t number, const Node*& split,
                 ValueInfo*& weights) {
  const Node* product = made_by(product_value, Op::kMatMul);
  const Node* matrix = product == nullptr ? nullptr : made_by(product->input(1), Op::kGather);
  const Node* group = product == nullptr ? nullptr : made_by(product->input(0), Op::kSplit);
  if (matrix == nullptr || group == nullptr || matrix->int_or("axis", 0) != 0 ||
      number_of(matrix->input(1)) != static_cast<double>(number))
    return false;
  if (number == 0) {
    split = group;
    weights = matrix->input(0);
  }
  return group == split && matrix->input(0) == weights &&
         split->output(number) == product->input(0);
}

std::optional<Products> products_of(ValueInfo* value, const SortedRows& sorted) {
  Products found;
  const ValueInfo* joined = without_bias(without_casts(value), sorted, found.bias);
  const Node* concat = joined == nullptr ? nullptr : made_by(joined, Op::kConcat);
  if (concat == nullptr || concat->int_or("axis", 0) != 0) return std::nullopt;
  const std::size_t experts = concat->inputs.size() - 1;
  const Node* split = nullptr;
  for (std::size_t i = 0; i < experts; ++i)
    if (!takes_group(concat->input(i), i, split, found.weights)) return std::nullopt;
  const Node* behind = made_by(concat->input(experts), Op::kExpand);
  const onnx::Tensor* stack = found.weights == nullptr ? nullptr : found.weights->constant.get();
  if (behind == nullptr || number_of(behind->input(0)) != 0.0 || stack == nullptr ||
      stack->dims.size() != 3 || std::cmp_not_equal(stack->dims[0], experts) ||
      split->outputs.size() != experts + 1 || split->int_or("axis", 0) != 0 ||
      !counts_rows(split->input(1), sorted, static_cast<std::int64_t>(experts)))
    return std::nullopt;
  found.rows = split->input(0);
  return found;
}

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct Limited {
  ValueInfo* value;
  double lowest = -kUnlimited, highest = kUnlimited;
};

// What Clip, Min or Max by numbers limits, and its limits; the value without any otherwise.
Limited limited(ValueInfo* value) {
  const Limited all{value};
  const Node* node = value->producer;
  if (node == nullptr) return all;
  const auto limit = [&](std::size_t place, double otherwise) -> std::optional<double> {
    const ValueInfo* given = place < node->inputs.size() ? node->input(place) : nullptr;
    return given == nullptr ? otherwise : number_of(given);
  };
  std::optional<double> lowest = -kUnlimited, highest = kUnlimited;
  if (node->is(Op::kClip)) {
    lowest = limit(1, -kUnlimited);
    highest = limit(2, kUnlimited);
  } else if (node->is(Op::kMin) && node->inputs.size() == 2) {
    highest = limit(1, kUnlimited);
  } else if (node->is(Op::kMax) && node->inputs.size() == 2) {
    lowest = limit(1, -kUnlimited);
  } else {
    return all;
  }
  return lowest && highest ? Limited{node->input(0), *lowest, *highest} : all;
}

// Every other column, from `first` on; null where it is something else.
ValueInfo* columns_of(const ValueInfo* value, std::int64_t first) {
  const Node* slice = made_by(value, Op::kSlice);
  if (slice == nullptr || !holds(slice->input(1), {first}) || !holds(slice->input(4), {2}) ||
      !(holds(slice->input(3), {1}) || holds(slice->input(3), {-1})))
    return nullptr;
  const auto end = number_of(slice->input(2));
  const symbolic::Expr width = slice->input(0)->shape.back();
  const bool to_the_end = end && width.is_constant() && *end >= static_cast<double>(width.value());
  return to_the_end ? slice->input(0) : nullptr;
}

// The first or the second half of the columns; null where it is something else.
ValueInfo* half_of(const ValueInfo* value, std::size_t number) {
  const Node* split = made_by(value, Op::kSplit);
  if (split == nullptr || split->outputs.size() != 2 || split->output(number) != value)
    return nullptr;
  ValueInfo* const whole = split->input(0);
  const std::int64_t axis = split->int_or("axis", 0);
  if (!whole->has_rank || whole->shape.size() != 2 || (axis != 1 && axis != -1)) return nullptr;
  return value->shape.back() * symbolic::Expr(2) == whole->shape.back() ? whole : nullptr;
}

struct Gates {
  ValueInfo* hidden = nullptr;
  double alpha = 1, beta = 0, limit = kUnlimited;
  bool are_halves = false;  // otherwise every other column is one
};

std::optional<Gates> gates_of(ValueInfo* value) {
  const Node* gated = made_by(without_casts(value), Op::kSwiGLU);
  if (gated == nullptr) return std::nullopt;
  Gates found;
  found.alpha = gated->float_or("alpha", 1.0F);
  const Limited gate = limited(gated->input(0));
  ValueInfo* linear = gated->input(1);
  if (const Node* sum = made_by(linear, Op::kAdd)) {
    const auto beta = number_of(sum->input(1));
    if (!beta) return std::nullopt;
    found.beta = *beta;
    linear = sum->input(0);
  }
  const Limited between = limited(linear);
  if (gate.lowest != -kUnlimited || gate.highest != between.highest ||
      between.lowest != -between.highest)
    return std::nullopt;
  found.limit = gate.highest;
  found.hidden = half_of(gate.value, 0);
  found.are_halves = found.hidden != nullptr;
  if (!found.are_halves) found.hidden = columns_of(gate.value, 0);
  const ValueInfo* other =
      found.are_halves ? half_of(between.value, 1) : columns_of(between.value, 1);
  if (found.hidden == nullptr || other != found.hidden) return std::nullopt;
  return found;
}

// The matrices of each expert, their rows the outputs.
onnx::Tensor turned(const ValueInfo* weights) {
  return onnx::permuted(*weights->constant, {0, 2, 1});
}

// The weight after a change of its axes or rows; null, and the patch has failed, where it has none.
ValueInfo* changed(rewriting::Patch& patch, const ValueInfo* weight, const char* suffix,
                   std::optional<onnx::Tensor> tensor) {
  if (!tensor) patch.fail("the weights are not there yet, or not in one form");
  if (patch.failed()) return nullptr;
  patch.fold_in(weight);
  return patch.weight(weight->name + suffix, *std::move(tensor));
}

struct Weights {
  ValueInfo *first = nullptr, *first_bias = nullptr, *second = nullptr, *second_bias = nullptr;
};

// As the kernels take them.
Weights weights_of(rewriting::Patch& patch, const Products& first, const Products& second,
                   bool are_halves) {
  const onnx::Tensor rows = turned(first.weights);
  Weights made = {.first_bias = first.bias, .second_bias = second.bias};
  if (are_halves) {
    made.first = changed(patch, first.weights, "_by_turns", onnx::interleaved(rows));
    if (first.bias != nullptr)
      made.first_bias =
          changed(patch, first.bias, "_by_turns", onnx::interleaved(*first.bias->constant));
  } else {
    made.first = changed(patch, first.weights, "_turned", rows);
  }
  made.second = changed(patch, second.weights, "_turned", turned(second.weights));
  return made;
}

// Those of the CUDA provider's kernels.
constexpr std::int64_t kMultiple = 64;

bool is_multiple(const Products& products) {
  const std::vector<std::int64_t>& dims = products.weights->constant->dims;
  return dims[1] % kMultiple == 0 && dims[2] % kMultiple == 0;
}

// Whether the kernel takes them in blocks. Weights that are not there yet are not turned either.
bool is_quantizable(const Products& products, const rewriting::RuleContext& context) {
  const onnx::Tensor& stack = *products.weights->constant;
  const std::int64_t block_size = context.quantized_block_size();
  return stack.dtype == base::DType::kFloat16 && stack.data != nullptr &&
         onnx::is_cast_alone(stack) && block_size >= 32 && block_size <= 128 &&
         stack.dims[1] % block_size == 0;
}

// The rows of each token side by side, in the order before they were sorted; null for other sums.
ValueInfo* sorted_parts(const Node* sum) {
  if (sum->int_or("keepdims", 1) != 0 || !holds(sum->input(1), {1})) return nullptr;
  const Node* shaped = made_by(without_casts(sum->input(0)), Op::kReshape);
  const ValueInfo* parts = shaped == nullptr ? nullptr : shaped->output();
  if (parts == nullptr || !parts->has_rank || parts->shape.size() != 3) return nullptr;
  return shaped->input(0);
}

// The sum, or what casts it to the experts' type where nothing else reads it: a sum of float32 in a
// model of half precision.
ValueInfo* result_in(base::DType dtype, const Node* sum) {
  ValueInfo* const value = sum->output();
  if (value->dtype == dtype || value->uses.size() != 1 || !value->returns.empty()) return value;
  const Node* reader = value->uses[0].node;
  return reader->is(Op::kCast) && reader->output()->dtype == dtype ? reader->output() : value;
}

bool fuse(Node* sum, rewriting::RuleContext& context) {
  ValueInfo* const parts = sorted_parts(sum);
  const auto routed = parts == nullptr ? std::nullopt : routed_rows(without_casts(parts));
  if (!routed) return false;
  const auto second = products_of(routed->rows, routed->sorted);
  const auto gates = second ? gates_of(second->rows) : std::nullopt;
  const auto first = gates ? products_of(gates->hidden, routed->sorted) : std::nullopt;
  ValueInfo* const x = first ? unsorted_rows(first->rows, routed->sorted) : nullptr;
  if (x == nullptr)
    return context.decline(
        sum, "the experts are not gated by halves of the columns, or every other one");
  if (!context.may_change_weights())
    return context.decline(sum, "its weights stay as the program has them");
  if (context.quantized_block_size() != 0 &&
      !(is_quantizable(*first, context) && is_quantizable(*second, context)))
    return context.decline(
        sum,
        "its weights are quantized, which the kernel takes in float16 and whole blocks of 32, "
        "64 or 128");
  if (first->weights->dtype != x->dtype || second->weights->dtype != x->dtype ||
      routed->logits->dtype != x->dtype)
    return context.decline(sum, "weights and scores are of several types");
  if (!is_multiple(*first) || !is_multiple(*second))
    return context.decline(sum, "the kernel takes widths that are multiples of 64");
  rewriting::Patch patch(context, sum);
  std::vector<onnx::Attribute> attributes = {
      {"k", routed->sorted.each, {}},
      {"activation_type", std::string("swiglu"), {}},
      {"swiglu_fusion", std::int64_t{1}, {}},
      {"activation_alpha", static_cast<float>(gates->alpha), {}},
      {"activation_beta", static_cast<float>(gates->beta), {}},
      {"normalize_routing_weights", std::int64_t{routed->normalizes ? 1 : 0}, {}}};
  if (gates->limit != kUnlimited)
    attributes.push_back({"swiglu_limit", static_cast<float>(gates->limit), {}});
  const std::string name = sum->output()->name + "_experts";
  const Weights weights = weights_of(patch, *first, *second, gates->are_halves);
  if (patch.failed()) return patch.apply();
  ValueInfo* made = patch.node(
      microsoft::kExperts,
      {x, routed->logits, weights.first, weights.first_bias, weights.second, weights.second_bias},
      std::move(attributes), name);
  if (made == nullptr) return patch.apply();
  ValueInfo* const result = result_in(made->dtype, sum);
  patch.replace(result, made->dtype == result->dtype ? made : patch.cast(made, result->dtype));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReduceSum};

}  // namespace

const rewriting::Rule kMixtureOfExperts = {"mixture-of-experts", kRoots, fuse};

}  // namespace sardonyx::targets
