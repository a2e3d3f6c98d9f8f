#include "rewriting/index_conditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "onnx/gen/op.h"
#include "onnx/infer/inference.h"

namespace sardonyx::rewriting {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using symbolic::Expr;

bool is_constant(const ValueInfo* value, double wanted) {
  if (value == nullptr || value->constant == nullptr || value->constant->element_count() != 1)
    return false;
  if (const auto ints = value->constant->ints())
    return static_cast<double>(ints->front()) == wanted;
  const auto reals = value->constant->reals();
  return reals && reals->front() == wanted;
}

class MaskReader {
 public:
  explicit MaskReader(const Feeds& feeds) : feeds_(feeds) {}

  std::optional<Condition> read(const ValueInfo* mask) const {
    if (mask == nullptr || !mask->has_rank || mask->is_disputed) return std::nullopt;
    if (auto tokens = tokens_of(mask)) return Condition{{}, {*std::move(tokens)}};
    if (mask->constant != nullptr) return constant(mask);
    const Node* node = mask->producer;
    if (node == nullptr || !node->domain.empty()) return std::nullopt;
    switch (node->op) {
      case Op::kAnd:
        return both(read(node->input(0)), read(node->input(1)), node);
      case Op::kLessOrEqual:
        return difference(node, 1, 0, 0);
      case Op::kLess:
        return difference(node, 1, 0, -1);
      case Op::kGreaterOrEqual:
        return difference(node, 0, 1, 0);
      case Op::kGreater:
        return difference(node, 0, 1, -1);
      case Op::kNot:
        return rewriting::opposite(read(node->input(0)));
      case Op::kWhere:
        if (is_constant(node->input(2), 0))
          return both(read(node->input(0)), read(node->input(1)), node);
        return std::nullopt;
      default:
        return view(node);
    }
  }

 private:
  // Of [batch, tokens], or a view of it.
  std::optional<AffineIndex> tokens_of(const ValueInfo* value) const {
    if (value == nullptr || feeds_.attention_mask == nullptr) return std::nullopt;
    if (value == feeds_.attention_mask) return AffineIndex{{1, 2}, 0};
    const Node* node = value->producer;
    if (node == nullptr || !node->domain.empty()) return std::nullopt;
    switch (node->op) {
      case Op::kCast:
        return tokens_of(node->input(0));
      case Op::kGreater:
        return is_constant(node->input(1), 0) ? tokens_of(node->input(0)) : std::nullopt;
      case Op::kEqual:
        return is_constant(node->input(1), 1) ? tokens_of(node->input(0)) : std::nullopt;
      case Op::kSlice:
        return begins_first(node) ? tokens_of(node->input(0)) : std::nullopt;
      case Op::kUnsqueeze:
      case Op::kExpand:
      case Op::kReshape: {
        const auto inner = tokens_of(node->input(0));
        return inner ? viewed(node, *inner) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  // From 0 on, one by one.
  static bool begins_first(const Node* slice) {
    const auto starts = onnx::contents_of(slice->input(1));
    if (!starts || !std::ranges::all_of(*starts, [](Expr e) { return e.is(0); })) return false;
    if (slice->input(4) == nullptr) return true;
    const auto steps = onnx::contents_of(slice->input(4));
    return steps && std::ranges::all_of(*steps, [](Expr e) { return e.is(1); });
  }

  static std::optional<Condition> constant(const ValueInfo* mask) {
    const auto elements = mask->dtype == base::DType::kBool && mask->constant->element_count() == 1
                              ? mask->constant->ints()
                              : std::nullopt;
    if (!elements || elements->front() == 0) return std::nullopt;
    return Condition{};
  }

  static std::optional<Condition> both(std::optional<Condition> a, std::optional<Condition> b,
                                       const Node* node) {
    if (!a || !b || !node->output()->has_rank) return std::nullopt;
    const std::size_t rank = node->output()->shape.size();
    a->indices.insert(a->indices.end(), b->indices.begin(), b->indices.end());
    a->padding.insert(a->padding.end(), b->padding.begin(), b->padding.end());
    for (AffineIndex& each : a->indices) each = each.with_rank(rank);
    for (AffineIndex& each : a->padding) each = each.with_rank(rank);
    return a;
  }

  // One input less the other, and so much more.
  std::optional<Condition> difference(const Node* node, std::size_t from, std::size_t less,
                                      std::int64_t more) const {
    const auto a = affine_index_of(node->input(from), feeds_),
               b = affine_index_of(node->input(less), feeds_);
    if (!a || !b) return std::nullopt;
    const std::size_t rank = std::max(a->steps.size(), b->steps.size());
    AffineIndex index = a->with_rank(rank);
    const AffineIndex other = b->with_rank(rank);
    for (std::size_t i = 0; i < rank; ++i) index.steps[i] -= other.steps[i];
    index.start = index.start - other.start + Expr(more);
    return Condition{{std::move(index)}, {}};
  }

  std::optional<Condition> view(const Node* node) const {
    if (node->inputs.empty() || node->output() == nullptr) return std::nullopt;
    auto inner = read(node->input(0));
    if (!inner) return std::nullopt;
    for (std::vector<AffineIndex>* list : {&inner->indices, &inner->padding})
      for (AffineIndex& each : *list) {
        auto seen = viewed(node, each);
        if (!seen) return std::nullopt;
        each = *std::move(seen);
      }
    return inner;
  }

  const Feeds& feeds_;
};

}  // namespace

std::optional<Condition> opposite(std::optional<Condition> condition) {
  if (!condition || condition->indices.size() != 1 || !condition->padding.empty())
    return std::nullopt;
  AffineIndex& index = condition->indices.front();
  for (std::int64_t& step : index.steps) step = -step;
  index.start = Expr(-1) - index.start;
  return condition;
}

std::optional<Condition> condition_of(const ValueInfo* mask, const Feeds& feeds) {
  return MaskReader(feeds).read(mask);
}

}  // namespace sardonyx::rewriting
