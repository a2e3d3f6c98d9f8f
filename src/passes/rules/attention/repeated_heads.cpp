#include "passes/rules/attention/repeated_heads.h"

#include <cstddef>
#include <cstdint>

#include "onnx/gen/op.h"
#include "passes/rules/attention/heads.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using rewriting::made_by;

// What a Gather of heads repeats, as below.
ValueInfo* before_gathering(const ValueInfo* value) {
  const Node* gather = made_by(value, Op::kGather);
  if (gather == nullptr || gather->int_or("axis", 0) != 1 || !is_known(value, 4)) return nullptr;
  ValueInfo *const x = gather->input(0), *const places = gather->input(1);
  if (!is_known(x, 4) || !x->shape[1].is_constant() || places->constant == nullptr) return nullptr;
  const auto heads = places->constant->ints();
  const auto count = static_cast<std::size_t>(x->shape[1].value());
  if (!heads || count == 0 || heads->size() % count != 0) return nullptr;
  const std::size_t group = heads->size() / count;
  for (std::size_t i = 0; i < heads->size(); ++i)
    if ((*heads)[i] != static_cast<std::int64_t>(i / group)) return nullptr;
  return x;
}

// What an Expand repeats, as below.
ValueInfo* before_expanding(const ValueInfo* value) {
  const Node* expand = made_by(value, Op::kExpand);
  if (expand == nullptr || !is_known(value, 4) || !is_known(expand->input(0), 4)) return nullptr;
  const Shape &x = expand->input(0)->shape, &wide = value->shape;
  return wide == Shape{x[0], wide[1], x[2], x[3]} && x[1].is(1) ? expand->input(0) : nullptr;
}

}  // namespace

ValueInfo* before_repetition(const ValueInfo* value) {
  if (ValueInfo* const x = before_gathering(value)) return x;
  if (ValueInfo* const x = before_expanding(value)) return x;
  const Node* reshape = made_by(value, Op::kReshape);
  const Node* expand = reshape == nullptr ? nullptr : made_by(reshape->input(0), Op::kExpand);
  if (expand == nullptr || !is_known(expand->output(), 5) || !is_known(value, 4)) return nullptr;
  // What it expands differs from [batch, heads, length, size] in a 1.
  const Node* unsqueeze = made_by(expand->input(0), Op::kUnsqueeze);
  if (unsqueeze == nullptr) unsqueeze = made_by(expand->input(0), Op::kReshape);
  if (unsqueeze == nullptr || !is_known(unsqueeze->input(0), 4) ||
      !is_known(unsqueeze->output(), 5))
    return nullptr;
  const Shape &x = unsqueeze->input(0)->shape, &apart = unsqueeze->output()->shape,
              &wide = expand->output()->shape, &joined = value->shape;
  if (!(apart == Shape{x[0], x[1], 1, x[2], x[3]})) return nullptr;
  if (!(wide == Shape{x[0], x[1], wide[2], x[2], x[3]})) return nullptr;
  if (!(joined == Shape{x[0], x[1] * wide[2], x[2], x[3]})) return nullptr;
  return unsqueeze->input(0);
}

}  // namespace sardonyx::passes
