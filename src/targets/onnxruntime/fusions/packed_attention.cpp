// Before: y = Attention(Add(MatMul(x, Wq), bq), Add(MatMul(x, Wk), bk), Add(MatMul(x, Wv), bv))
// After:  y = com.microsoft.Attention(x, [Wq Wk Wv], [bq bk bv])
// With a mask of truth values, whose rows may be all false: those give 0, where the operator would
// give the mean of all values.
//   y = Mul(com.microsoft.Attention(x, W, b, , , Where(mask, 0, lowest)), any(mask))
//   any(mask) = Squeeze<[1]>(ReduceMax<axes = [1, 3]>(Cast(mask)))
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/additive_masks.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/fusions/packed_products.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::Patch;

using Product = AddedProduct;

using Products = std::array<Product, 3>;

std::optional<Products> products_of(const Node* attention) {
  std::array<std::optional<Product>, 3> found;
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueInfo* read = attention->input(i);
    if (read == nullptr || !(found[i] = added_product(read)) || found[i]->bias == nullptr)
      return std::nullopt;
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

class Fusing {
 public:
  Fusing(rewriting::RuleContext& context, Node* attention)
      : patch_(context, attention),
        attention_(attention),
        masks_(context.model(), patch_, attention, base::DType::kFloat32) {}

  bool run(const Products& products) {
    ValueInfo *const weight = packed(products, &Product::weight, patch_), *const bias =
                                                                              packed(products,
                                                                                     &Product::bias,
                                                                                     patch_);
    if (weight == nullptr || bias == nullptr) return patch_.apply();
    ValueInfo* const mask = attention_->input(3);
    std::vector<ValueInfo*> inputs = {products[0].x, weight, bias};
    if (mask != nullptr) inputs.insert(inputs.end(), {nullptr, nullptr, masks_.additive(mask)});
    ValueInfo* result =
        patch_.node(microsoft::kPackedAttention, inputs, attributes(), attention_->output()->name);
    if (mask != nullptr)
      result = patch_.node(Op::kMul, {result, masks_.any(mask)}, {}, attention_->output()->name);
    patch_.replace(attention_->output(), result);
    return patch_.apply();
  }

 private:
  std::vector<onnx::Attribute> attributes() const {
    std::vector<onnx::Attribute> made = {{"num_heads", attention_->int_or("q_num_heads", 0), {}}};
    if (const onnx::Attribute* scale = attention_->find("scale")) made.push_back(*scale);
    if (attention_->int_or("is_causal", 0) != 0)
      made.push_back({"unidirectional", std::int64_t{1}, {}});
    return made;
  }

  Patch patch_;
  Node* attention_;
  AdditiveMasks masks_;
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
