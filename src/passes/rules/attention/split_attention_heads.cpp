// Before: y = Reshape(Transpose<[1, 0, 2]>(Attention<q_num_heads = 1>(r(q), r(k), r(v))), ...)
//         r(x) = Transpose<[1, 0, 2]>(Reshape(x, [length, batch * heads, size]))
// After:  y = Reshape(Transpose<[2, 0, 1, 3]>(Attention(p(q), p(k), p(v))), ...)
//         p(x) = Transpose<[1, 2, 0, 3]>(Reshape(x, [length, batch, heads, size]))
// with x: [length, batch, heads * size]. Heads that were counted as batches, as torch's
// MultiheadAttention does where it hands its weights out, are heads again.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/rules.h"
#include "passes/rules/reshape/reshaping.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using symbolic::Expr;

// [length, batch, heads, size] as [batch, heads, length, size], and back.
const std::vector<std::int64_t> kApart = {1, 2, 0, 3}, kTogether = {2, 0, 1, 3};

// What the heads, as batches, were made of; null where they were not.
ValueInfo* before_parting(const ValueInfo* value) {
  const Node* transpose = made_by(value, Op::kTranspose);
  if (transpose == nullptr || !swaps_first_two(transpose, 3)) return nullptr;
  const Node* reshape = made_by(transpose->input(0), Op::kReshape);
  if (reshape == nullptr || !is_known(reshape->output(), 3)) return nullptr;
  ValueInfo* const x = reshape->input(0);
  if (!is_known(x, 3) || !x->shape[2].is_constant()) return nullptr;
  const Expr size = reshape->output()->shape[2];
  const bool parts =
      size.is_constant() && size.value() > 0 && x->shape[2].value() % size.value() == 0 &&
      x->shape[0] == reshape->output()->shape[0] &&
      reshape->output()->shape[1] == x->shape[1] * Expr(x->shape[2].value() / size.value());
  return parts ? x : nullptr;
}

// What puts the heads side by side again, behind the length; null where nothing does.
Node* joining(const ValueInfo* result) {
  if (!used_once(result)) return nullptr;
  const Node* transpose = result->uses.front().node;
  if (!transpose->is(Op::kTranspose) || !swaps_first_two(transpose, 3) ||
      !used_once(transpose->output()))
    return nullptr;
  Node* const reshape = transpose->output()->uses.front().node;
  return reshape->is(Op::kReshape) ? reshape : nullptr;
}

bool part(Node* attention, RuleContext& context) {
  if (attention->inputs.size() < 3 || attention->inputs.size() > 4 ||
      attention->outputs.size() != 1 || attention->int_or("q_num_heads", 0) != 1 ||
      attention->int_or("kv_num_heads", 0) != 1)
    return false;
  ValueInfo *const q = before_parting(attention->input(0)),
                   *const k = before_parting(attention->input(1)),
                   *const v = before_parting(attention->input(2));
  if (q == nullptr || k == nullptr || v == nullptr) return false;
  Node* const last = joining(attention->output());
  if (last == nullptr)
    return context.decline(attention, "its result is read with the batches first");
  if (!is_alike_for_all(attention->input(3)))
    return context.decline(attention, "its mask is another one for each head");
  const Expr size = attention->input(0)->shape[2], value_size = attention->input(2)->shape[2];
  const std::int64_t heads = q->shape[2].value() / size.value();
  if (k->shape[2].value() / size.value() != heads ||
      v->shape[2].value() / value_size.value() != heads || !(q->shape[1] == k->shape[1]) ||
      !(q->shape[1] == v->shape[1]))
    return context.decline(attention, "queries, keys and values are not of as many heads");

  Patch patch(context, last);
  std::vector<ValueInfo*> inputs = attention->inputs;
  for (const auto& [index, x] : {std::pair(0U, q), std::pair(1U, k), std::pair(2U, v)}) {
    const std::string& name = inputs[index]->name;
    const Shape to = {x->shape[0], x->shape[1], Expr(heads), inputs[index]->shape[2]};
    ValueInfo* const apart = reshaped(patch, x, to, name + "_heads");
    if (apart == nullptr) return context.decline(attention, "a size would have to be computed");
    inputs[index] = patch.node(Op::kTranspose, {apart}, {{"perm", kApart, {}}}, name);
  }
  std::vector<onnx::Attribute> attributes = attention->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) {
    return each.name == "q_num_heads" || each.name == "kv_num_heads";
  });
  ValueInfo* const result =
      patch.node(Op::kAttention, inputs, std::move(attributes), attention->output()->name);
  ValueInfo* const together =
      patch.node(Op::kTranspose, {result}, {{"perm", kTogether, {}}}, last->output()->name);
  if (patch.failed()) return patch.apply();
  ValueInfo* const y = reshaped(patch, together, last->output()->shape, last->output()->name);
  if (y == nullptr) return context.decline(attention, "a size would have to be computed");
  patch.replace(last->output(), y);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const Rule kSplitAttentionHeads = {"split-attention-heads", kRoots, part, 23};

}  // namespace sardonyx::passes
