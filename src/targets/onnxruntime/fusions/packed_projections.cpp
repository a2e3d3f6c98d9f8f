// Before: y = Attention(Add(MatMul(x, Wq), bq), Add(MatMul(x, Wk), bk), Add(MatMul(x, Wv), bv))
// After:  q, k, v = Split<axis = -1>(Add(MatMul(x, [Wq Wk Wv]), [bq bk bv]))
//         y = Attention(q, k, v)
// So, too, without biases, and with a RotaryEmbedding of queries and keys.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/fusions/packed_products.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// Of so many rows on, three products are quicker than one and the Split.
constexpr std::int64_t kMaxRows = 1024;

// Queries, keys or values before their embedding.
ValueInfo* projected(ValueInfo* value) {
  const Node* rotation = rewriting::made_by(value, Op::kRotaryEmbedding);
  return rotation == nullptr ? value : rotation->input(0);
}

bool has_many_rows(const ValueInfo* x) {
  if (!x->has_rank || x->shape.empty()) return false;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < x->shape.size(); ++i) {
    if (!x->shape[i].is_constant()) return false;
    rows *= std::max<std::int64_t>(x->shape[i].value(), 1);
    if (rows > kMaxRows) return true;
  }
  return false;
}

// The first node of the product: its MatMul.
Node* first_node(const ValueInfo* value) {
  Node* node = value->producer;
  if (node->is(Op::kMatMul)) return node;
  Node* const left = node->input(0)->producer;
  return left != nullptr && left->is(Op::kMatMul) ? left : node->input(1)->producer;
}

bool fuse(Node* attention, rewriting::RuleContext& context) {
  std::array<ValueInfo*, 3> parts{};
  std::vector<AddedProduct> products;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (attention->input(i) == nullptr) return false;
    parts[i] = projected(attention->input(i));
    const auto product = added_product(parts[i], /*is_shared=*/true);
    if (!product || parts[i]->producer->graph != attention->graph) return false;
    products.push_back(*product);
  }
  if (!can_pack(products)) return false;
  if (has_many_rows(products.front().x))
    return context.decline(attention, "three products of this many rows are quicker than one");
  std::vector<std::int64_t> widths;
  for (const AddedProduct& each : products) widths.push_back(each.weight->shape[1].value());
  // In front of the first product: all read nothing else than x.
  Node* position = first_node(parts[0]);
  for (const ValueInfo* part : parts)
    if (Node* other = first_node(part); onnx::precedes(other, position)) position = other;
  rewriting::Patch patch(context, position);
  const std::string name = attention->output()->name + "_packed";
  ValueInfo* sum = patch.node(
      Op::kMatMul, {products[0].x, packed(products, &AddedProduct::weight, patch)}, {}, name);
  if (products[0].bias != nullptr)
    sum = patch.node(Op::kAdd, {sum, packed(products, &AddedProduct::bias, patch)}, {},
                     name + "_biased");
  const std::vector<ValueInfo*> made = patch.nodes(
      Op::kSplit, {sum, patch.ints(widths)}, {{"axis", std::int64_t{-1}, {}}}, name + "_parts", 3);
  for (std::size_t i = 0; i < made.size(); ++i) patch.replace(parts[i], made[i]);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const rewriting::Rule kPackedProjections = {"packed-projections", kRoots, fuse, 23,
                                            /*changes_weights=*/true};

}  // namespace sardonyx::targets
