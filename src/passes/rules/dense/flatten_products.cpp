// Before: y = Reshape(Add(MatMul(Reshape(x, [windows, tokens, k]), weight), bias), heads)
// After:  y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), heads)
// Windows of images are merged for one MatMul after the other, and split again; what is between
// them needs no axes. Gemm adds the bias as it multiplies, which saves a node and a walk
// over what was computed. All products that read the windows have to go this way, or these would be
// put together twice. Behind lowering, since rules look for sums.
#include <cstdint>
#include <vector>

#include "onnx/gen/op.h"
#include "passes/rules/dense/dense_layers.h"
#include "passes/rules/dense/rules.h"
#include "passes/rules/reshape/reshaped_dims.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

struct Product {
  Dense dense;
  Node* last = nullptr;
  std::vector<std::int64_t> dims;  // of `last`, for Reshape
};

// The product that a use of the windows begins; without `last` where it has another form.
Product product_of(const onnx::Use& use) {
  if (use.index != 0) return {};
  const Dense dense = dense_of(use.node);
  if (dense.sum == nullptr || !dense.sum->is(Op::kAdd)) return {};
  Node* const last = only_reader(dense.sum);
  if (last == nullptr || !last->is(Op::kReshape) || dense.sum->output()->uses.front().index != 0)
    return {};
  Product found{dense, nullptr, dims_for_reshape(last->output())};
  if (!found.dims.empty()) found.last = last;
  return found;
}

bool flatten(Node* windows, RuleContext& context) {
  ValueInfo* const x = windows->output();
  if (x == nullptr || x->dtype != onnx::DType::kFloat32 || !x->has_rank || x->shape.size() < 3 ||
      x->uses.empty() || !x->shape.back().is_constant() || x->shape.back().value() <= 0)
    return false;
  std::vector<Product> products;
  for (const onnx::Use& use : x->uses) {
    products.push_back(product_of(use));
    if (products.back().last == nullptr || products.back().dense.product->graph != windows->graph)
      return false;
  }
  const std::int64_t width = x->shape.back().value();
  Patch patch(context, windows);
  ValueInfo* const rows =
      patch.node(Op::kReshape, {windows->input(0), patch.ints({-1, width})}, {}, x->name + "_rows");
  for (const Product& product : products) {
    ValueInfo* const y = product.last->output();
    const Dense& dense = product.dense;
    ValueInfo* const gemm =
        patch.node(Op::kGemm, {rows, dense.weight, dense.bias}, {}, dense.sum->output()->name);
    ValueInfo* const result =
        patch.node(Op::kReshape, {gemm, patch.ints(product.dims)}, {}, y->name);
    if (patch.failed()) break;
    // They stay what their modules are made of.
    gemm->producer->origin = dense.product->origin;
    gemm->producer->metadata = dense.product->metadata;
    result->producer->origin = product.last->origin;
    result->producer->metadata = product.last->metadata;
    patch.replace(y, result);
  }
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kFlattenProducts = {"flatten-products", kRoots, flatten, 13};

}  // namespace sardonyx::passes
