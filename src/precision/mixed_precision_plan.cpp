#include "precision/mixed_precision_plan.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <variant>

#include "onnx/gen/op.h"
#include "onnx/operators/operator.h"
#include "onnx/operators/traits.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Graph;
using onnx::Node;
using onnx::Op;
using onnx::Trait;
using onnx::ValueInfo;

bool is_single(const ValueInfo* value) {
  return value != nullptr && value->dtype == DType::kFloat32 &&
         value->type_kind == onnx::TypeKind::kTensor;
}

bool is_constant(const ValueInfo* value) {
  return value->constant != nullptr && value->producer == nullptr;
}

enum class Kind : std::uint8_t {
  kOther,
  kArithmetic,  // what follows of integers is as exact as they
  kMovement,    // elements are where they were, or elsewhere
};

Kind kind_of(Op op) {
  if (onnx::has_trait(op, Trait::kArithmetic)) return Kind::kArithmetic;
  const bool moves = onnx::has_trait(op, Trait::kRearranges) || op == Op::kCast ||
                     op == Op::kConcat || op == Op::kPad || op == Op::kTrilu;
  return moves ? Kind::kMovement : Kind::kOther;
}

const onnx::OperatorVersion* version_of(const Node* node) {
  return node->op == onnx::kUnknownOp ? nullptr
                                      : onnx::operator_of(node->op).at(onnx::newest_opset());
}

// Constants of more elements are weights, and what they are multiplied with is data.
constexpr std::int64_t kFewElements = 4096;

// Whether it repeats a finite number of greater magnitude.
bool is_filled_beyond(const Node* node, double largest) {
  if (!node->is(Op::kConstantOfShape) || !is_single(node->outputs[0])) return false;
  const double number = filling_of(node);
  return std::isfinite(number) && std::abs(number) > largest;
}

bool is_filled(const ValueInfo* value) {
  return value->producer != nullptr && value->producer->is(Op::kConstantOfShape);
}

// Whether a product of integers gives it, perhaps moved or with a bias.
bool is_sum_of_integers(const ValueInfo* value) {
  while (value != nullptr && value->producer != nullptr) {
    const Node* node = value->producer;
    if (node->is(Op::kMatMulInteger) || node->is(Op::kConvInteger)) return true;
    if (kind_of(node->op) != Kind::kMovement && !node->is(Op::kAdd)) return false;
    value = node->input(0);
  }
  return false;
}

bool is_sum_of_integers(const Node* node) {
  return node->is(Op::kCast) && node->input(0) != nullptr &&
         base::is_integer(node->input(0)->dtype) && is_sum_of_integers(node->input(0));
}

// Whether it adds up elements by their place.
bool adds_by_place(const Node* node) {
  return (node->is(Op::kScatterElements) || node->is(Op::kScatterND)) &&
         node->string_or("reduction", "none") == "add";
}

bool is_small(const ValueInfo* value) { return value->constant->element_count() <= kFewElements; }

}  // namespace

double filling_of(const Node* constant_of_shape) {
  const onnx::Attribute* value = constant_of_shape->find("value");
  const auto* tensor =
      value == nullptr ? nullptr : std::get_if<std::shared_ptr<const onnx::Tensor>>(&value->data);
  return tensor == nullptr ? 0 : (*tensor)->reals().value().at(0);
}

bool takes_half(const Node* node, std::size_t input, DType half) {
  const onnx::OperatorVersion* version = version_of(node);
  const onnx::Formal* formal = version == nullptr ? nullptr : version->input(input);
  return formal != nullptr && (formal->dtypes & onnx::dtype_bit(half)) != 0;
}

bool gives_half(const Node* node, std::size_t output, DType half) {
  const onnx::OperatorVersion* version = version_of(node);
  const onnx::Formal* formal = version->output(output);
  if (node->is(Op::kConstantOfShape) || node->is(Op::kCast)) return true;
  if (formal == nullptr || formal->type_parameter.empty()) return false;
  for (std::size_t i = 0; i < node->inputs.size(); ++i)
    if (is_single(node->inputs[i]) && takes_half(node, i, half) &&
        version->input(i)->type_parameter == formal->type_parameter)
      return true;
  return false;
}

bool takes_either(const Node* node) {
  return node->is(Op::kShape) || node->is(Op::kSize) ||
         (node->is(Op::kCast) && !is_single(node->outputs[0]));
}

MixedPrecisionPlan::MixedPrecisionPlan(onnx::Model& model, const HalfOptions& options)
    : options_(options),
      keep_(patterns(options.keep)),
      half_(model.node_count(), false),
      exact_(model.value_count(), false),
      fixed_(model.value_count(), false),
      limited_(model.value_count(), false),
      wide_(model.value_count(), false),
      sums_(model.value_count(), false),
      repeated_(model.value_count(), false) {
  visit(model.graph);
  for (const onnx::Function& function : model.functions)
    if (function.body != nullptr) visit(function.body);
  check_used(keep_);
  fill_islands(model.graph);
}

const HalfValues& MixedPrecisionPlan::values_of(const ValueInfo* constant) {
  const auto [found, is_new] = values_.try_emplace(constant->constant.get());
  if (!is_new) return found->second;
  found->second = in_half(*constant->constant, options_.dtype);
  if (found->second.fits == Fits::kNo)
    stayed_.push_back({constant->name, found->second.beyond
                                           ? "it has numbers beyond those of the type"
                                           : "its numbers are too small for the type"});
  return found->second;
}

void MixedPrecisionPlan::visit(const Graph* graph) {
  for (const Node* node = graph->first; node != nullptr; node = node->next) {
    for (const Graph* body : onnx::bodies(node)) visit(body);
    visit(node);
  }
}

void MixedPrecisionPlan::visit(const Node* node) {
  const bool is_kept = this->is_kept(node);
  if (is_filled_beyond(node, largest_of(options_.dtype))) {
    exact_[node->outputs[0]->id] = true;
    limited_[node->outputs[0]->id] = true;
    return;
  }
  const bool is_fixed = is_of_constants(node);
  if (is_fixed)
    for (const ValueInfo* output : node->outputs)
      if (output != nullptr) fixed_[output->id] = true;
  if (repeats_constant(node)) repeated_[node->outputs[0]->id] = true;
  if (is_of_integers(node) || counts(node) || (is_fixed && computes(node))) return keep_exact(node);
  if (decides_by_integers(node)) return;
  const bool unfit = reads_unfit(node);
  half_[node->id] = !is_kept && !unfit && !reads_sums(node) && !stays(node);
  mark_sums(node);
  if (!unfit || kind_of(node->op) == Kind::kOther) return;
  for (const ValueInfo* output : node->outputs)
    if (is_single(output)) wide_[output->id] = true;
}

void MixedPrecisionPlan::keep_exact(const Node* node) {
  bool limited = false, wide = false;
  for (const ValueInfo* input : node->inputs) {
    if (!is_single(input)) continue;
    limited = limited || limited_[input->id];
    wide = wide || wide_[input->id];
    if (!is_constant(input)) continue;
    const HalfValues& values = values_of(input);
    limited = limited || values.fits == Fits::kAsLimit;
    wide = wide || (values.fits == Fits::kNo && values.beyond);
  }
  for (const ValueInfo* output : node->outputs) {
    if (!is_single(output)) continue;
    exact_[output->id] = true;
    limited_[output->id] = limited;
    wide_[output->id] = wide;
  }
  mark_sums(node);
}

// Sums of a product of integers are beyond half until their scale is multiplied in.
void MixedPrecisionPlan::mark_sums(const Node* node) {
  const bool scales = node->is(Op::kMul) || node->is(Op::kDiv);
  const bool carries = kind_of(node->op) != Kind::kOther && !scales && reads_sums(node);
  if (!carries && !is_sum_of_integers(node)) return;
  for (const ValueInfo* output : node->outputs)
    if (is_single(output)) sums_[output->id] = true;
}

bool MixedPrecisionPlan::reads_sums(const Node* node) const {
  return std::ranges::any_of(
      node->inputs, [&](const ValueInfo* input) { return is_single(input) && sums_[input->id]; });
}

bool MixedPrecisionPlan::is_kept(const Node* node) {
  bool kept = false;
  for (Pattern& pattern : keep_) {
    kept = pattern.matches(node) || kept;
    for (const ValueInfo* input : node->inputs)
      if (input != nullptr && is_constant(input)) kept = pattern.matches(input) || kept;
  }
  return kept;
}

bool MixedPrecisionPlan::stays(const Node* node) {
  if (version_of(node) == nullptr || onnx::has_trait(node->op, Trait::kSensitive)) return true;
  const auto odd = [](const ValueInfo* value) {
    return value != nullptr && (value->type_kind != onnx::TypeKind::kTensor ||
                                value->dtype == DType::kUndefined || value->is_disputed);
  };
  if (std::ranges::any_of(node->inputs, odd) || std::ranges::any_of(node->outputs, odd))
    return true;
  for (const onnx::Attribute& attribute : node->attributes)
    if (!attribute.reference.empty()) return true;
  // The square of what overflows long before.
  if (node->is(Op::kMul) && node->inputs[0] == node->inputs[1]) return true;
  const onnx::OperatorVersion* version = version_of(node);
  for (std::size_t i = 0; i < node->inputs.size(); ++i) {
    if (!is_single(node->inputs[i]) || takes_half(node, i, options_.dtype)) continue;
    const std::string_view parameter = version->input(i)->type_parameter;
    if (parameter.empty()) continue;  // float32 whatever the rest is
    return true;
  }
  return false;
}

// Where numbers that stand for "none" are added or chosen, the limit stands for them.
bool MixedPrecisionPlan::reads_unfit(const Node* node) {
  const bool takes_limit = node->is(Op::kWhere) || node->is(Op::kAdd) || node->is(Op::kAttention);
  bool unfit = false;
  for (const ValueInfo* input : node->inputs) {
    if (!is_single(input)) continue;
    if (wide_[input->id]) unfit = true;
    if (!is_constant(input)) continue;
    const Fits fits = values_of(input).fits;
    unfit = unfit || fits == Fits::kNo || (fits == Fits::kAsLimit && !takes_limit);
  }
  return unfit;
}

// Of constants alone, and the same at each run.
bool MixedPrecisionPlan::is_of_constants(const Node* node) const {
  if (version_of(node) == nullptr || onnx::operator_of(node->op).random || node->inputs.empty() ||
      !onnx::bodies(node).empty())
    return false;
  return std::ranges::all_of(node->inputs, [&](const ValueInfo* input) {
    return input == nullptr || is_constant(input) || fixed_[input->id];
  });
}

bool MixedPrecisionPlan::repeats_constant(const Node* node) const {
  if (!node->is(Op::kExpand) && !node->is(Op::kTile)) return false;
  const ValueInfo* input = node->inputs[0];
  return is_single(input) && (is_constant(input) || repeated_[input->id]);
}

// Halves count to 2048 or 256 and no further.
bool MixedPrecisionPlan::counts(const Node* node) const {
  if (!adds_by_place(node)) return false;
  return std::ranges::all_of(node->inputs, [&](const ValueInfo* input) {
    return !is_single(input) || is_constant(input) || exact_[input->id] || repeated_[input->id] ||
           is_filled(input);
  });
}

// Whether all real numbers that it reads are exact, and it gives none: a comparison.
bool MixedPrecisionPlan::decides_by_integers(const Node* node) const {
  if (version_of(node) == nullptr || std::ranges::any_of(node->outputs, is_single)) return false;
  bool any = false;
  for (const ValueInfo* input : node->inputs) {
    if (!is_single(input) || is_constant(input)) continue;
    if (!exact_[input->id]) return false;
    any = true;
  }
  return any;
}

// Whether numbers are rounded on the way, here or before: what only moves them may move halves.
bool MixedPrecisionPlan::computes(const Node* node) const {
  return kind_of(node->op) != Kind::kMovement ||
         std::ranges::any_of(node->inputs, [&](const ValueInfo* input) {
           return is_single(input) && exact_[input->id];
         });
}

bool MixedPrecisionPlan::is_of_integers(const Node* node) const {
  if (version_of(node) == nullptr) return false;
  if (node->is(Op::kRange)) return true;
  if (node->is(Op::kCast)) {
    const ValueInfo* input = node->inputs[0];
    if (!is_single(node->outputs[0]) || input == nullptr) return false;
    return base::is_integer(input->dtype) || input->dtype == DType::kBool ||
           (is_single(input) && exact_[input->id]);
  }
  const bool is_product = node->is(Op::kMatMul) || node->is(Op::kEinsum);
  if (!is_product && kind_of(node->op) == Kind::kOther) return false;
  bool any = false;
  for (const ValueInfo* input : node->inputs) {
    if (!is_single(input)) continue;
    if (is_constant(input)) {
      if (!is_small(input)) return false;
    } else if (!exact_[input->id]) {
      return false;
    } else {
      any = true;
    }
  }
  // A choice between two numbers, by what is no number itself: a mask.
  return any || (node->is(Op::kWhere) && is_constant(node->inputs[1]) &&
                 is_constant(node->inputs[2]) && is_single(node->inputs[1]));
}

// A node between such that stay has casts before and behind it for nothing.
void MixedPrecisionPlan::fill_islands(const Graph* graph) {
  for (const Node* node = graph->first; node != nullptr; node = node->next) {
    for (const Graph* body : onnx::bodies(node)) fill_islands(body);
    if (!half_[node->id] || kind_of(node->op) == Kind::kOther) continue;
    const auto from_half = [&](const ValueInfo* input) {
      return is_single(input) && !is_constant(input) &&
             (input->producer == nullptr || half_[input->producer->id] || exact_[input->id]);
    };
    if (std::ranges::any_of(node->inputs, from_half)) continue;
    const auto read_by_half = [&](const ValueInfo* output) {
      return output != nullptr && (!output->returns.empty() ||
                                   std::ranges::any_of(output->uses, [&](const onnx::Use& use) {
                                     return half_[use.node->id];
                                   }));
    };
    if (std::ranges::any_of(node->outputs, read_by_half)) continue;
    const auto single = [](const ValueInfo* value) { return is_single(value); };
    if (std::ranges::any_of(node->inputs, single)) half_[node->id] = false;
  }
}

}  // namespace sardonyx::precision
