// Before: y = Attention(Add(MatMul(x, Wq), bq), Add(MatMul(x, Wk), bk), Add(MatMul(x, Wv), bv))
// After:  y = com.microsoft.Attention(x, [Wq Wk Wv], [bq bk bv])
// With a mask of truth values, whose rows may be all false: those give 0, where the operator would
// give the mean of all values.
//   y = Mul(com.microsoft.Attention(x, W, b, , , Where(mask, 0, lowest)), any(mask))
//   any(mask) = Squeeze<[1]>(ReduceMax<axes = [1, 3]>(Cast(mask)))
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/fusions/joined_weights.h"
#include "targets/onnxruntime/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::Patch;

// x * weight + bias.
struct Product {
  ValueInfo *x, *weight, *bias;
};

bool is_weight(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->is_weight && value->constant != nullptr &&
         value->shape.size() == rank;
}

std::optional<Product> product_of(const ValueInfo* value) {
  const Node* sum = rewriting::made_by(value, Op::kAdd);
  if (sum == nullptr || !rewriting::used_once(value)) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* product = rewriting::made_by(sum->input(side), Op::kMatMul);
    ValueInfo* const bias = sum->input(1 - side);
    if (product == nullptr || !rewriting::used_once(product->output()) || !is_weight(bias, 1) ||
        !is_weight(product->input(1), 2))
      continue;
    return Product{product->input(0), product->input(1), bias};
  }
  return std::nullopt;
}

using Products = std::array<Product, 3>;

std::optional<Products> products_of(const Node* attention) {
  std::array<std::optional<Product>, 3> found;
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueInfo* read = attention->input(i);
    if (read == nullptr || !(found[i] = product_of(read))) return std::nullopt;
  }
  if (found[0]->x != found[1]->x || found[0]->x != found[2]->x) return std::nullopt;
  return Products{*found[0], *found[1], *found[2]};
}

// Whether rows of the mask are those of the scores, for all heads alike.
bool is_mask(const ValueInfo* mask, const ValueInfo* x) {
  return mask->dtype == base::DType::kBool && mask->has_rank && mask->shape.size() == 4 &&
         (mask->shape[0].is(1) || mask->shape[0] == x->shape[0]) && mask->shape[1].is(1) &&
         mask->shape[2] == x->shape[1] && mask->shape[3] == x->shape[1];
}

// Why the operator does not say what the node does; empty where it does.
std::string_view hindrance(const Node* attention, const Products& products) {
  const ValueInfo *x = products[0].x, *mask = attention->input(3);
  if (x->dtype != base::DType::kFloat32) return "there is a kernel for float32 alone";
  if (!x->has_rank || x->shape.size() != 3 || !x->shape[1].known()) return "x has no three axes";
  if (attention->inputs.size() > 4 || attention->outputs.size() > 1) return "it has a cache";
  if (attention->float_or("softcap", 0) != 0) return "its scores are capped";
  if (attention->int_or("q_num_heads", 0) != attention->int_or("kv_num_heads", 0) ||
      attention->int_or("q_num_heads", 0) == 0)
    return "heads share keys and values";
  const symbolic::Expr width = products[0].weight->shape[1];
  if (!(products[1].weight->shape[1] == width) || !(products[2].weight->shape[1] == width))
    return "values are not as wide as keys";
  if (mask != nullptr && !is_mask(mask, x))
    return "the mask is not one of truth values, a row for each query and the same for all heads";
  return {};
}

// The node of this operator that reads the mask first, and has been made for another layer.
ValueInfo* made_before(const ValueInfo* mask, Op op, const Node* position) {
  for (const onnx::Use& use : mask->uses)
    if (use.index == 0 && use.node->is(op) && use.node->graph == position->graph &&
        onnx::precedes(use.node, position))
      return use.node->output();
  return nullptr;
}

class Fusing {
 public:
  Fusing(rewriting::RuleContext& context, Node* attention)
      : model_(context.model()), patch_(context, attention), attention_(attention) {}

  bool run(const Products& products) {
    ValueInfo *const weight = side_by_side(products, &Product::weight), *const bias = side_by_side(
                                                                            products,
                                                                            &Product::bias);
    if (weight == nullptr || bias == nullptr) return patch_.apply();
    ValueInfo* const mask = attention_->input(3);
    std::vector<ValueInfo*> inputs = {products[0].x, weight, bias};
    if (mask != nullptr) inputs.insert(inputs.end(), {nullptr, nullptr, additive(mask)});
    ValueInfo* result =
        patch_.node(microsoft::kPackedAttention, inputs, attributes(), attention_->output()->name);
    if (mask != nullptr)
      result = patch_.node(Op::kMul, {result, any(mask)}, {}, attention_->output()->name);
    patch_.replace(attention_->output(), result);
    return patch_.apply();
  }

 private:
  ValueInfo* side_by_side(const Products& products, ValueInfo* Product::* part) {
    std::vector<const onnx::Tensor*> tensors;
    for (const Product& each : products) {
      if (!rewriting::used_once(each.*part)) patch_.fail("a weight is read elsewhere, too");
      tensors.push_back((each.*part)->constant.get());
    }
    std::optional<onnx::Tensor> joined = targets::joined(tensors);
    if (!joined) patch_.fail("the weights are not there yet, or not in one form");
    if (patch_.failed()) return nullptr;
    for (const Product& each : products) patch_.fold_in(each.*part);
    return patch_.weight((products[0].*part)->name + "_packed", *std::move(joined));
  }

  std::vector<onnx::Attribute> attributes() const {
    std::vector<onnx::Attribute> made = {{"num_heads", attention_->int_or("q_num_heads", 0), {}}};
    if (const onnx::Attribute* scale = attention_->find("scale")) made.push_back(*scale);
    if (attention_->int_or("is_causal", 0) != 0)
      made.push_back({"unidirectional", std::int64_t{1}, {}});
    return made;
  }

  ValueInfo* real(float value) {
    return model_.add_constant(onnx::Tensor::filled(base::DType::kFloat32, {}, value));
  }

  ValueInfo* additive(ValueInfo* mask) {
    if (ValueInfo* before = made_before(mask, Op::kWhere, attention_);
        before != nullptr && before->producer->input(1) == real(0) &&
        before->producer->input(2) == real(std::numeric_limits<float>::lowest()))
      return before;
    return patch_.node(Op::kWhere, {mask, real(0), real(std::numeric_limits<float>::lowest())}, {},
                       mask->name + "_additive");
  }

  // 1 for a row that has something to look at, 0 for one that has nothing.
  ValueInfo* any(ValueInfo* mask) {
    const std::string name = mask->name + "_any";
    ValueInfo* cast = made_before(mask, Op::kCast, attention_);
    if (cast != nullptr && cast->dtype == base::DType::kFloat32)
      if (const ValueInfo* most = made_before(cast, Op::kReduceMax, attention_))
        if (ValueInfo* before = made_before(most, Op::kSqueeze, attention_)) return before;
    if (patch_.failed()) return nullptr;
    cast = patch_.cast(mask, base::DType::kFloat32);
    ValueInfo* const most =
        patch_.node(Op::kReduceMax, {cast, patch_.ints({1, 3})}, {}, name + "_ReduceMax");
    return patch_.node(Op::kSqueeze, {most, patch_.ints({1})}, {}, name);
  }

  onnx::Model& model_;
  Patch patch_;
  Node* attention_;
};

bool fuse(Node* attention, rewriting::RuleContext& context) {
  const auto products = products_of(attention);
  if (!products) return false;
  if (const std::string_view why = hindrance(attention, *products); !why.empty())
    return context.decline(attention, std::string(why));
  return Fusing(context, attention).run(*products);
}

constexpr Op kRoots[] = {Op::kAttention};

}  // namespace

const rewriting::Rule kPackedAttention = {"packed-attention", kRoots, fuse, 23,
                                          /*changes_weights=*/true};

}  // namespace sardonyx::targets
