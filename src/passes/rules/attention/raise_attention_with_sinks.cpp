// Before: p = Softmax(Concat<axis = -1>(Add(Mul(MatMul(q, Transpose(k)), scale), mask),
//                                       Expand(sinks)))
//         y = MatMul(Slice(p, [0], [-1], [-1]), v)
// After:  y = Attention<scale>(q, Pad(k), Pad(v), Add(Pad(mask), Pad(sinks)))
// A logit of each head that takes its share of the softmax and gives nothing is one more key: of
// zeros, whose score the mask has. Keys and values that are repeated for groups of queries are not
// any more, which is more than these copies of them cost; of others the scores stay as they are.
#include <optional>
#include <vector>

#include "passes/constant_ints.h"
#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/repeated_heads.h"
#include "passes/rules/attention/rules.h"
#include "passes/rules/indexing/slice_ranges.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

Node* only_for(const ValueInfo* value, Op op) {
  return value != nullptr && used_once(value) ? made_by(value, op) : nullptr;
}

bool is_last_axis(const Node* node, std::int64_t otherwise) {
  const std::int64_t axis = node->int_or("axis", otherwise);
  return axis == -1 || axis == 3;
}

// Of [.., n] all columns but the last one.
bool drops_last_column(const Node* slice) {
  const auto ranges = slice_ranges_of(slice);
  if (!ranges || ranges->size() != 1) return false;
  const SliceRange& range = ranges->front();
  const symbolic::Expr width = slice->input(0)->shape[3];
  return (range.axis == 3 || range.axis == -1) && range.start == 0 && range.step == 1 &&
         (range.end == -1 || (width.is_constant() && range.end == width.value() - 1));
}

struct Scores {
  ValueInfo *query, *key, *mask = nullptr;
  double scale = 1;
};

std::optional<Scores> scores_of(const ValueInfo* value) {
  Scores found{};
  if (const Node* sum = only_for(value, Op::kAdd)) {
    for (const std::size_t i : {0U, 1U}) {
      const ValueInfo* scores = sum->input(i);
      if (made_by(scores, Op::kMul) == nullptr && made_by(scores, Op::kMatMul) == nullptr) continue;
      value = scores;
      found.mask = sum->input(1 - i);
      break;
    }
    if (found.mask == nullptr) return std::nullopt;
  }
  if (const Node* product = only_for(value, Op::kMul)) {
    std::optional<double> factor;
    for (const std::size_t i : {0U, 1U})
      if (const auto number = number_of(product->input(i)); number && !factor) {
        factor = number;
        value = product->input(1 - i);
      }
    if (!factor) return std::nullopt;
    found.scale = *factor;
  }
  const Node* product = only_for(value, Op::kMatMul);
  const Node* turned = product == nullptr ? nullptr : made_by(product->input(1), Op::kTranspose);
  const auto* order = turned == nullptr ? nullptr : turned->ints("perm");
  if (order == nullptr || *order != std::vector<std::int64_t>{0, 1, 3, 2}) return std::nullopt;
  found.query = product->input(0);
  found.key = turned->input(0);
  return found;
}

// [1, heads, 1, 1] of what is expanded to a column for each head.
ValueInfo* sinks_of(const ValueInfo* column, symbolic::Expr heads) {
  const Node* expand = made_by(column, Op::kExpand);
  ValueInfo* const sinks = expand == nullptr ? nullptr : expand->input(0);
  if (!is_known(sinks, 4) || !(sinks->shape == onnx::Shape{1, heads, 1, 1})) return nullptr;
  return sinks;
}

// Numbers for each key, alike for all heads.
bool is_row_of_numbers(const ValueInfo* mask, symbolic::Expr keys) {
  return is_known(mask, 4) && base::is_floating(mask->dtype) && mask->shape[1].is(1) &&
         mask->shape[3] == keys;
}

bool raise(Node* product, RuleContext& context) {
  const Node* slice = only_for(product->input(0), Op::kSlice);
  if (slice == nullptr || !is_known(slice->input(0), 4) || !drops_last_column(slice)) return false;
  const Node* softmax = only_for(slice->input(0), Op::kSoftmax);
  if (softmax == nullptr || !is_last_axis(softmax, -1)) return false;
  const Node* join = only_for(softmax->input(0), Op::kConcat);
  if (join == nullptr || join->inputs.size() != 2 || !is_last_axis(join, 0)) return false;
  const auto scores = scores_of(join->input(0));
  if (!scores || !is_known(scores->query, 4)) return false;
  ValueInfo* const sinks = sinks_of(join->input(1), scores->query->shape[1]);
  if (sinks == nullptr) return false;
  ValueInfo *const key = before_repetition(scores->key), *const value =
                                                             before_repetition(product->input(1));
  if (key == nullptr || value == nullptr || !(key->shape[1] == value->shape[1]))
    return context.decline(product, "its keys are not shared by groups of queries");
  if (scores->mask != nullptr && !is_row_of_numbers(scores->mask, key->shape[2]))
    return context.decline(product, "its mask is not one of numbers for all heads alike");

  Patch patch(context, product);
  const auto padded = [&](ValueInfo* x, std::vector<std::int64_t> pads) {
    return patch.node(Op::kPad, {x, patch.ints(std::move(pads))}, {}, x->name + "_Pad");
  };
  ValueInfo* count =
      patch.node(Op::kShape, {key}, {{"start", std::int64_t{2}, {}}, {"end", std::int64_t{3}, {}}},
                 key->name + "_Shape");
  ValueInfo* places =
      patch.node(Op::kConcat, {patch.ints({0, 0, 0}), count, patch.ints({0, 0, 0, 0})},
                 {{"axis", std::int64_t{0}, {}}}, key->name + "_Concat");
  ValueInfo* mask = patch.node(Op::kPad, {sinks, places}, {}, sinks->name + "_Pad");
  if (scores->mask != nullptr)
    mask = patch.node(Op::kAdd, {padded(scores->mask, {0, 0, 0, 0, 0, 0, 0, 1}), mask}, {},
                      scores->mask->name + "_Add");
  const std::vector<std::int64_t> row = {0, 0, 0, 0, 0, 0, 1, 0};
  patch.replace(
      product->output(),
      patch.node(Op::kAttention, {scores->query, padded(key, row), padded(value, row), mask},
                 {{"scale", static_cast<float>(scores->scale), {}}}, product->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMatMul};

}  // namespace

const Rule kRaiseAttentionWithSinks = {"raise-attention-with-sinks", kRoots, raise, 23};

}  // namespace sardonyx::passes
