// Before: y = Concat<axis = -1>(RotaryEmbedding(first, cos, sin), rest)
//         first, rest = Split<axis = -1>(x, [turned, size - turned])
// After:  y = RotaryEmbedding<rotary_embedding_dim = turned>(x, cos, sin)
// x is [batch, heads, length, size], or [batch, length, heads, size], whose heads are put side by
// side for the embedding: Reshapes stand round it then.
#include <cstdint>
#include <vector>

#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_last_of_four(const Node* node) {
  const std::int64_t axis = node->int_or("axis", 0);
  return axis == 3 || axis == -1;
}

// Whether `rest` is what a Split of the last axis leaves beside `first`.
bool lie_side_by_side(const ValueInfo* first, const ValueInfo* rest) {
  const Node* split = made_by(first, Op::kSplit);
  return split != nullptr && rest->producer == split && split->outputs.size() == 2 &&
         first->index == 0 && is_last_of_four(split);
}

struct Turned {
  const Node* rotation = nullptr;
  const ValueInfo* first = nullptr;  // of four axes
  bool side_by_side = false;
};

// What makes a value of four axes by turning another.
Turned turned(const ValueInfo* value) {
  if (const Node* rotation = made_by(value, Op::kRotaryEmbedding))
    return {rotation, rotation->input(0), false};
  const Node* apart = made_by(value, Op::kReshape);
  const Node* rotation =
      apart == nullptr ? nullptr : made_by(apart->input(0), Op::kRotaryEmbedding);
  const Node* joined = rotation == nullptr ? nullptr : made_by(rotation->input(0), Op::kReshape);
  if (joined == nullptr || !used_once(rotation->output()) || !used_once(joined->output()))
    return {};
  const ValueInfo* first = joined->input(0);
  const bool same = is_known(first, 4) && is_known(value, 4) && first->shape == value->shape &&
                    first->shape[2].is(rotation->int_or("num_heads", 0));
  return same ? Turned{rotation, first, true} : Turned{};
}

bool widen(Node* concat, RuleContext& context) {
  if (concat->inputs.size() != 2 || !is_last_of_four(concat)) return false;
  const auto [rotation, first, side_by_side] = turned(concat->input(0));
  if (rotation == nullptr || !is_known(first, 4) || !first->shape[3].is_constant() ||
      !lie_side_by_side(first, concat->input(1)))
    return false;
  if (rotation->int_or("rotary_embedding_dim", 0) != 0)
    return context.decline(concat, "what is turned is turned in part itself");
  if (!used_once(concat->input(0)) || !used_once(first) || !used_once(concat->input(1)))
    return context.decline(concat, "something else reads what is turned, or the rest");
  ValueInfo *const x = first->producer->input(0), *const y = concat->output();
  if (!is_known(x, 4) || !x->shape[3].is_constant()) return false;

  std::vector<onnx::Attribute> attributes = rotation->attributes;
  std::erase_if(attributes,
                [](const onnx::Attribute& each) { return each.name == "rotary_embedding_dim"; });
  attributes.push_back({"rotary_embedding_dim", first->shape[3].value(), {}});
  const std::int64_t heads = rotation->int_or("num_heads", 0), size = x->shape[3].value();
  Patch patch(context, concat);
  const auto shaped = [&](ValueInfo* value, std::vector<std::int64_t> shape) {
    return side_by_side ? patch.node(Op::kReshape, {value, patch.ints(shape)}, {}, y->name) : value;
  };
  std::vector<ValueInfo*> inputs = rotation->inputs;
  inputs[0] = shaped(x, {0, 0, heads * size});
  ValueInfo* const made = patch.node(Op::kRotaryEmbedding, inputs, attributes, y->name);
  patch.replace(y, shaped(made, {0, 0, heads, size}));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kConcat};

}  // namespace

const Rule kRotateInPart = {"rotate-in-part", kRoots, widen, 23};

}  // namespace sardonyx::passes
