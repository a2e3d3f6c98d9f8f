// Operators that work element by element, with numpy's broadcasting.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void unary(Inference& node) { node.same_as(0, 0); }

void broadcast_all(Inference& node, std::size_t first, std::size_t last) {
  Shape result;
  for (std::size_t i = first; i < last; ++i) {
    if (!node.has(i)) continue;
    if (!node.has_rank(i)) return;
    auto shape = broadcast(result, node.shape(i));
    if (!shape) node.fail("the shapes do not broadcast");
    result = std::move(*shape);
  }
  node.set_shape(0, std::move(result));
}

void variadic(Inference& node) {
  for (std::size_t i = 0; i < node.inputs(); ++i)
    if (!node.has(i)) node.fail("an input is absent");
  broadcast_all(node, 0, node.inputs());
}

using Arithmetic = Expr (*)(Expr, Expr);

Expr add(Expr a, Expr b) { return a + b; }
Expr subtract(Expr a, Expr b) { return a - b; }
Expr multiply(Expr a, Expr b) { return a * b; }
// ONNX's integer Div rounds to zero; floor_div is the same where nothing is negative.
Expr divide(Expr a, Expr b) {
  if (!symbolic::certainly_nonnegative(a) || !symbolic::certainly_positive(b)) return {};
  return symbolic::floor_div(a, b);
}
Expr smaller(Expr a, Expr b) { return symbolic::min(a, b); }
Expr larger(Expr a, Expr b) { return symbolic::max(a, b); }

// The elements of shape arithmetic on int64 tensors of at most one axis.
void combine_contents(Inference& node, Arithmetic combine) {
  const bool integers = node.dtype(0) == DType::kInt64 || node.dtype(0) == DType::kInt32;
  if (!integers || node.inputs() != 2) return;
  const auto a = node.contents(0), b = node.contents(1);
  if (!a || !b || a->empty() || b->empty()) return;
  const std::size_t count = std::max(a->size(), b->size());
  if ((a->size() != count && a->size() != 1) || (b->size() != count && b->size() != 1)) return;
  std::vector<Expr> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Expr x = (*a)[a->size() == 1 ? 0 : i], y = (*b)[b->size() == 1 ? 0 : i];
    if (x.known() && y.known()) result[i] = combine(x, y);
  }
  node.set_contents(0, std::move(result));
}

template <Arithmetic combine>
void arithmetic(Inference& node) {
  broadcast_all(node, 0, node.inputs());
  combine_contents(node, combine);
}

void modulo(Inference& node) {
  broadcast_all(node, 0, 2);
  if (node.integer("fmod", 0) == 0)
    combine_contents(node, [](Expr a, Expr b) {
      return symbolic::certainly_positive(b) ? symbolic::mod(a, b) : Expr();
    });
}

// Truths are 0 and 1, where all values of the symbols agree on them.
void equal(Inference& node) {
  broadcast_all(node, 0, 2);
  combine_contents(node, [](Expr a, Expr b) {
    if (a == b) return Expr(1);
    return symbolic::certainly_differ(a, b) ? Expr(0) : Expr();
  });
}

// Sizes of which each is one of two, as Expand is given them where -1 keeps a dim.
void where(Inference& node) {
  broadcast_all(node, 0, 3);
  const ValueInfo* y = node.node().output();
  if (node.dtype(1) != DType::kInt64 || !y->has_rank || y->shape.size() > 1) return;
  const auto chosen = node.contents(0), a = node.contents(1), b = node.contents(2);
  if (!chosen || !a || !b) return;
  const std::size_t count = std::max({chosen->size(), a->size(), b->size()});
  std::vector<Expr> result(count);
  for (const auto* each : {&*chosen, &*a, &*b})
    if (each->size() != count && each->size() != 1) return;
  const auto at = [](const std::vector<Expr>& of, std::size_t i) {
    return of[of.size() == 1 ? 0 : i];
  };
  for (std::size_t i = 0; i < count; ++i)
    if (const Expr choice = at(*chosen, i); choice.is_constant())
      result[i] = at(choice.is(0) ? *b : *a, i);
  node.set_contents(0, std::move(result));
}

// The slope broadcasts to the data, in this direction only.
void prelu(Inference& node) { node.same_as(0, 0); }

bool has_digits_of_sizes(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

// Of sizes that were cast to real numbers, multiplied and rounded, as older exporters scale images:
// Floor(Cast(n) * 2.0), perhaps with further casts between. Products with whole numbers are whole,
// and halves are rounded down as integers are; nothing where something else is done.
std::optional<std::vector<Expr>> scaled_sizes(const ValueInfo* real) {
  const Node* node = real->producer;
  bool floors = false, ceils = false;
  const auto skip = [&] {
    while (node != nullptr && has_digits_of_sizes(node->output()->dtype) &&
           (node->is("Floor") || node->is("Ceil") ||
            (node->is("Cast") && has_digits_of_sizes(node->input(0)->dtype)))) {
      floors = floors || node->is("Floor");
      ceils = ceils || node->is("Ceil");
      node = node->input(0)->producer;
    }
  };
  skip();
  double factor = 1;
  if (node != nullptr && node->is("Mul") && has_digits_of_sizes(node->output()->dtype)) {
    const std::size_t side = node->input(1)->constant != nullptr ? 1 : 0;
    const Tensor* by = node->input(side)->constant.get();
    const auto numbers = by == nullptr || by->element_count() != 1 ? std::nullopt : by->reals();
    if (!numbers || by->dims.size() > 1) return std::nullopt;
    factor = numbers->front();
    node = node->input(1 - side)->producer;
    skip();
  }
  if (node == nullptr || !node->is("Cast") || !base::is_integer(node->input(0)->dtype) ||
      !has_digits_of_sizes(node->output()->dtype))
    return std::nullopt;
  auto sizes = contents_of(node->input(0));
  const bool grows = factor >= 1 && factor <= 4096 && std::trunc(factor) == factor;
  const bool halves = factor == 0.5 || factor == 0.25 || factor == 0.125;
  if (!sizes || !(grows || (halves && floors && !ceils))) return std::nullopt;
  for (Expr& size : *sizes) {
    if (!size.known()) continue;
    size = grows ? size * static_cast<std::int64_t>(factor)
                 : symbolic::floor_div(size, Expr(static_cast<std::int64_t>(1 / factor)));
  }
  return sizes;
}

void cast(Inference& node) {
  node.set_dtype(0, static_cast<DType>(node.integer("to", 0)));
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
  const ValueInfo* input = node.node().input(0);
  const DType to = static_cast<DType>(node.integer("to", 0));
  if ((to == DType::kInt64 || to == DType::kInt32) && !input->contents.empty())
    node.set_contents(0, input->contents);
  else if (to == DType::kInt64 || to == DType::kInt32)
    if (auto sizes = scaled_sizes(input)) node.set_contents(0, *std::move(sizes));
}

void cast_like(Inference& node) {
  node.set_dtype(0, node.dtype(1));
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
}

void bit_cast(Inference& node) {
  node.set_dtype(0, static_cast<DType>(node.integer("to", 0)));
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
}

void identity(Inference& node) {
  if (ValueInfo* output = node.node().output(0))
    output->type_kind = node.node().input(0)->type_kind;
  node.same_as(0, 0);
  if (!node.node().input(0)->contents.empty()) node.set_contents(0, node.node().input(0)->contents);
}

void same_shape(Inference& node) {
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
}

void dropout(Inference& node) {
  node.same_as(0, 0);
  if (node.has_rank(0)) node.set_shape(1, node.shape(0));
}

constexpr InferenceRule kRules[] = {
    {Op::kAbs, unary},
    {Op::kAcos, unary},
    {Op::kAcosh, unary},
    {Op::kAsin, unary},
    {Op::kAsinh, unary},
    {Op::kAtan, unary},
    {Op::kAtanh, unary},
    {Op::kBitwiseNot, unary},
    {Op::kCeil, unary},
    {Op::kCelu, unary},
    {Op::kClip, unary},
    {Op::kCos, unary},
    {Op::kCosh, unary},
    {Op::kElu, unary},
    {Op::kErf, unary},
    {Op::kExp, unary},
    {Op::kFloor, unary},
    {Op::kGelu, unary},
    {Op::kHardSigmoid, unary},
    {Op::kHardSwish, unary},
    {Op::kIsInf, same_shape},
    {Op::kIsNaN, same_shape},
    {Op::kLeakyRelu, unary},
    {Op::kLog, unary},
    {Op::kMish, unary},
    {Op::kNeg, unary},
    {Op::kNot, unary},
    {Op::kPRelu, prelu},
    {Op::kReciprocal, unary},
    {Op::kRelu, unary},
    {Op::kRound, unary},
    {Op::kSelu, unary},
    {Op::kShrink, unary},
    {Op::kSigmoid, unary},
    {Op::kSign, unary},
    {Op::kSin, unary},
    {Op::kSinh, unary},
    {Op::kSoftplus, unary},
    {Op::kSoftsign, unary},
    {Op::kSqrt, unary},
    {Op::kSwish, unary},
    {Op::kTan, unary},
    {Op::kTanh, unary},
    {Op::kThresholdedRelu, unary},
    {Op::kAdd, arithmetic<add>},
    {Op::kSub, arithmetic<subtract>},
    {Op::kMul, arithmetic<multiply>},
    {Op::kDiv, arithmetic<divide>},
    {Op::kMin, arithmetic<smaller>},
    {Op::kMax, arithmetic<larger>},
    {Op::kMod, modulo},
    {Op::kAnd, variadic},
    {Op::kBitShift, variadic},
    {Op::kBitwiseAnd, variadic},
    {Op::kBitwiseOr, variadic},
    {Op::kBitwiseXor, variadic},
    {Op::kEqual, equal},
    {Op::kGreater, variadic},
    {Op::kGreaterOrEqual, variadic},
    {Op::kLess, variadic},
    {Op::kLessOrEqual, variadic},
    {Op::kMean, variadic},
    {Op::kOr, variadic},
    {Op::kPow, variadic},
    {Op::kStringConcat, variadic},
    {Op::kSum, variadic},
    {Op::kXor, variadic},
    {Op::kWhere, where},
    {Op::kCast, cast},
    {Op::kCastLike, cast_like},
    {Op::kBitCast, bit_cast},
    {Op::kIdentity, identity},
    {Op::kDropout, dropout},
    {Op::kRegexFullMatch, same_shape},
};

}  // namespace

std::span<const InferenceRule> elementwise_rules() { return kRules; }

}  // namespace sardonyx::onnx
