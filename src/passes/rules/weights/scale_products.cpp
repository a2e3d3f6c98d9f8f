// Before: y = Mul(Transpose(Reshape(Add(MatMul(x, weight), bias), heads)), 0.125)
// After:  y = Transpose(Reshape(Add(MatMul(x, weight * 0.125), bias * 0.125), heads))
// Before: y = MatMul(Mul(x, 0.125), weight)
// After:  y = MatMul(x, weight * 0.125)
// Before: y = Mul(Add(MatMul(x, weight), bias), scale), a number for each column
// After:  y = Add(MatMul(x, weight * scale), bias * scale)
// So, too, Div by a number, Gemm, and one part of what a Split makes of a product: its columns
// alone are scaled. Queries are scaled so in every decomposed attention layer, and what a layer
// adds to its input in ConvNeXt and CaiT. In third-party models alone: the weights of a
// program keep what they hold.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/fold/formula.h"
#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::ChannelScale;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// Beyond these, products that were numbers might be infinite, or 0.
constexpr double kLeast = 0x1p-20, kMax = 0x1p20;

// Of a row, columns may be as good as dead; what they hold stays far from where floats end.
constexpr double kLeastOfRow = 0x1p-60;

// What a number scales: all columns of a product, or some. A row has a number for each column.
struct Scaling {
  ValueInfo* x = nullptr;
  double factor = 1;
  std::vector<double> row;
  // Of what weights the numbers were computed; null where they are the code's.
  std::shared_ptr<const Tensor> origin = nullptr;
};

struct Columns {
  std::int64_t begin = 0;
  std::optional<std::int64_t> size;  // all there are
};

// A weight of this many axes that nothing else reads.
bool is_own_weight(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->constant != nullptr && value->producer == nullptr &&
         used_once(value) && !value->is_pinned && value->constant->data != nullptr &&
         (value->constant->dtype == onnx::DType::kFloat32 ||
          value->constant->dtype == onnx::DType::kFloat64) &&
         value->constant->dims.size() == rank;
}

// The numbers of [columns], or [1, 1, columns]; nothing where one would leave no number.
std::vector<double> row_of(const ValueInfo* value, const ValueInfo* x, bool divides) {
  if (value->constant == nullptr || value->producer != nullptr || value->is_pinned ||
      value->constant->data == nullptr || !x->has_rank || value->constant->dims.empty() ||
      value->constant->dims.size() > x->shape.size() ||
      value->constant->element_count() != value->constant->dims.back())
    return {};
  std::vector<double> row = value->constant->reals().value_or(std::vector<double>());
  for (double& factor : row) {
    if (divides) factor = 1 / factor;
    const double size = std::abs(factor);
    if (!(size <= kMax) || (size != 0 && size < kLeastOfRow)) return {};
  }
  return row;
}

bool is_of_weights(const ValueInfo* value) { return value->is_weight || !value->made_of.empty(); }

// How row_of() is computed; null where it is a constant of the code.
std::shared_ptr<const Tensor> origin_of_row(const ValueInfo* value, bool divides) {
  if (!is_of_weights(value)) return nullptr;
  const Tensor flat = onnx::computed(
      "Reshape", {onnx::recorded(*value), Tensor::of_ints(std::vector<std::int64_t>{-1}, {1})});
  Tensor row = onnx::computed("Cast", {flat}, {{"to", onnx::DType::kFloat64, {}}});
  if (divides) row = onnx::computed("Reciprocal", {row});
  return std::make_shared<const Tensor>(onnx::without_data(std::move(row)));
}

// A number that may be any column's, and so is not said how to compute.
std::shared_ptr<const Tensor> origin_of_number(const ValueInfo* value) {
  if (!is_of_weights(value)) return nullptr;
  return std::make_shared<const Tensor>(
      onnx::without_data(onnx::of_unknown_origin(*value->constant)));
}

std::optional<Scaling> scaling_of(const Node* node) {
  const bool divides = node->is(Op::kDiv);
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    ValueInfo *const number = node->input(side), *const x = node->input(1 - side);
    if (number == nullptr || x == nullptr || (divides && side == 0)) continue;
    const auto value = number_of(number);
    if (!value || !x->has_rank || !number->has_rank || number->shape.size() > x->shape.size())
      continue;
    return Scaling{x, divides ? 1 / *value : *value, {}, origin_of_number(number)};
  }
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    const ValueInfo* const row = node->input(side);
    ValueInfo* const x = node->input(1 - side);
    if (row == nullptr || x == nullptr || (divides && side == 0)) continue;
    if (auto factors = row_of(row, x, divides); factors.size() > 1)
      return Scaling{x, 1, std::move(factors), origin_of_row(row, divides)};
  }
  return std::nullopt;
}

bool is_plain_product(const Node* node) {
  return node->is(Op::kMatMul) ||
         (node->is(Op::kGemm) && node->float_or("alpha", 1) == 1 && node->float_or("beta", 1) == 1);
}

bool only_moves(const Node* node) {
  return node->is(Op::kReshape) || node->is(Op::kTranspose) || node->is(Op::kUnsqueeze) ||
         node->is(Op::kSqueeze) || node->is(Op::kIdentity);
}

// Which columns of what it splits the value has; nothing where it is split along another axis.
std::optional<Columns> columns_of(const ValueInfo* part, const Node* split) {
  const ValueInfo* whole = split->input(0);
  if (!whole->has_rank || whole->shape.empty()) return std::nullopt;
  const auto last = static_cast<std::int64_t>(whole->shape.size()) - 1;
  const std::int64_t axis = split->int_or("axis", 0);
  if (axis != last && axis != -1) return std::nullopt;
  Columns columns;
  for (const ValueInfo* output : split->outputs) {
    if (output == nullptr || !output->has_rank || output->shape.empty() ||
        !output->shape.back().is_constant())
      return std::nullopt;
    if (output == part) {
      columns.size = output->shape.back().value();
      return columns;
    }
    columns.begin += output->shape.back().value();
  }
  return std::nullopt;
}

std::vector<double> factors_of(std::int64_t count, const Columns& columns, double factor) {
  std::vector<double> factors(static_cast<std::size_t>(count), 1.0);
  const std::int64_t end = columns.size ? columns.begin + *columns.size : count;
  for (std::int64_t i = columns.begin; i < end; ++i) factors[static_cast<std::size_t>(i)] = factor;
  return factors;
}

// Replaces input `index` by a weight whose columns are scaled; they are the last axis, or the
// first.
void scale(Patch& patch, Node* node, std::size_t index, std::vector<double> factors,
           const Scaling& scaling, bool columns_first = false) {
  const ValueInfo* const weight = node->input(index);
  const Tensor& data = *weight->constant;
  const auto count = static_cast<std::int64_t>(factors.size());
  ChannelScale by{std::move(factors), 1, count, 1, scaling.origin};
  const std::int64_t rows = count == 0 ? 0 : data.element_count() / count;
  (columns_first ? by.inner : by.rows) = rows;
  if (rows == 0) return patch.fail("the weight has no elements");
  patch.set_input(node, index,
                  patch.weight(weight->name + "_scaled", onnx::scaled(data, std::move(by))));
  patch.fold_in(weight);
}

// The product that gives x, with what is added to it, whose weights can be scaled.
struct Found {
  Node* product = nullptr;
  Node* bias = nullptr;  // Add, or the product itself
  std::size_t bias_index = 0;
  Columns columns;
};

std::optional<Found> product_behind(const ValueInfo* value) {
  Found found;
  for (bool is_part = false;; value = value->producer->input(0)) {
    const Node* node = value->producer;
    // A Split hands out several parts, and what they are parts of nobody else reads.
    if (node == nullptr || !used_once(value)) return std::nullopt;
    if (node->is(Op::kSplit) && !is_part) {
      const auto columns = columns_of(value, node);
      if (!columns) return std::nullopt;
      found.columns = *columns;
      is_part = true;
    } else if (is_part || !only_moves(node)) {
      break;
    }
  }
  Node* node = value->producer;
  if (node->is(Op::kAdd)) {
    const std::size_t index = node->input(0)->constant != nullptr ? 0 : 1;
    if (!is_own_weight(node->input(index), 1) || !used_once(node->input(1 - index)))
      return std::nullopt;
    found.bias = node;
    found.bias_index = index;
    node = node->input(1 - index)->producer;
  }
  if (node == nullptr || !is_plain_product(node) || !is_own_weight(node->input(1), 2))
    return std::nullopt;
  found.product = node;
  if (const ValueInfo* addend = node->is(Op::kGemm) ? node->input(2) : nullptr) {
    if (!is_own_weight(addend, 1) || found.bias != nullptr) return std::nullopt;
    found.bias = node;
    found.bias_index = 2;
  }
  return found;
}

bool has_columns_first(const Node* product) {
  return product->is(Op::kGemm) && product->int_or("transB", 0) != 0;
}

std::int64_t column_count(const Node* product) {
  return product->input(1)->constant->dims[has_columns_first(product) ? 0 : 1];
}

bool scale_behind(Node* node, const Scaling& scaling, RuleContext& context) {
  const auto found = product_behind(scaling.x);
  if (!found) return false;
  const std::int64_t count = column_count(found->product);
  const bool by_row = !scaling.row.empty();
  // What moves columns would have to move the row back.
  if (by_row && scaling.x->producer != found->product && scaling.x->producer != found->bias)
    return context.decline(node, "what is scaled by columns was moved");
  if (by_row && std::ssize(scaling.row) != count)
    return context.decline(node, "it has not one factor for each column");
  const ValueInfo* bias = found->bias == nullptr ? nullptr : found->bias->input(found->bias_index);
  if (bias != nullptr && bias->constant->dims[0] != count)
    return context.decline(node, "what is added is not an entry a column");
  if (found->columns.begin + found->columns.size.value_or(0) > count)
    return context.decline(node, "its part is none of the product's columns");
  Patch patch(context, node);
  const std::vector<double> factors =
      by_row ? scaling.row : factors_of(count, found->columns, scaling.factor);
  scale(patch, found->product, 1, factors, scaling, has_columns_first(found->product));
  if (bias != nullptr) scale(patch, found->bias, found->bias_index, factors, scaling);
  patch.replace(node->output(), scaling.x);
  return patch.apply();
}

bool scale_before(Node* node, const Scaling& scaling, RuleContext& context) {
  if (!used_once(node->output())) return false;
  const onnx::Use use = node->output()->uses.front();
  Node* const product = use.node;
  if (use.index != 0 || product->graph != node->graph || !is_plain_product(product) ||
      !is_own_weight(product->input(1), 2))
    return false;
  Patch patch(context, node);
  scale(patch, product, 1, factors_of(column_count(product), {}, scaling.factor), scaling,
        has_columns_first(product));
  patch.replace(node->output(), scaling.x);
  return patch.apply();
}

bool fold(Node* node, RuleContext& context) {
  if (!context.is_foreign() || node->output() == nullptr) return false;
  const auto scaling = scaling_of(node);
  if (!scaling) return false;
  if (!scaling->row.empty()) return scale_behind(node, *scaling, context);
  const double size = std::abs(scaling->factor);
  if (!(size >= kLeast && size <= kMax)) return false;
  return scale_behind(node, *scaling, context) || scale_before(node, *scaling, context);
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

// Since opset 13 Split and its like take axes and sizes as inputs.
const Rule kScaleProducts = {"scale-products", kRoots, fold, 13, /*changes_weights=*/true};

}  // namespace sardonyx::passes
