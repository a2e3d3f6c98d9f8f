// Before: y = Reshape(Add(MatMul(Reshape(x, [windows, tokens, k]), weight), bias), heads)
// After:  y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), heads)
// Windows of images are put together for one product after the other, and taken apart again; what
// stands between needs no axes. Gemm adds the bias as it multiplies, which saves a node and a walk
// over what was computed. All products that read the windows have to go this way, or these would be
// put together twice. Behind lowering, since rules look for sums.
#include <cstdint>
#include <vector>

#include "onnx/gen/op.h"
#include "passes/rules/shapes/reshaped_dims.h"
#include "passes/rules/shapes/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

struct Product {
  Node *matmul = nullptr, *sum = nullptr, *last = nullptr;
  ValueInfo* bias = nullptr;
  std::vector<std::int64_t> dims;  // of `last`, for Reshape
};

bool is_weight(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->constant != nullptr && value->producer == nullptr &&
         value->constant->dims.size() == rank;
}

// The product that a use of the windows begins; without `last` where it has another form.
Product product_of(const onnx::Use& use) {
  Product found;
  Node* const matmul = use.node;
  if (matmul == nullptr || use.index != 0 || !matmul->is(Op::kMatMul) ||
      !is_weight(matmul->input(1), 2) || !used_once(matmul->output()))
    return found;
  Node* const sum = matmul->output()->uses.front().node;
  if (!sum->is(Op::kAdd) || sum->graph != matmul->graph || !used_once(sum->output())) return found;
  ValueInfo* const bias = sum->input(sum->input(0) == matmul->output() ? 1 : 0);
  if (!is_weight(bias, 1) || bias->constant->dims[0] != matmul->input(1)->constant->dims[1])
    return found;
  const onnx::Use read = sum->output()->uses.front();
  if (!read.node->is(Op::kReshape) || read.index != 0 || read.node->graph != matmul->graph)
    return found;
  found = {matmul, sum, nullptr, bias, dims_for_reshape(read.node->output())};
  if (!found.dims.empty()) found.last = read.node;
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
    if (products.back().last == nullptr || products.back().matmul->graph != windows->graph)
      return false;
  }
  const std::int64_t width = x->shape.back().value();
  Patch patch(context, windows);
  ValueInfo* const rows =
      patch.node(Op::kReshape, {windows->input(0), patch.ints({-1, width})}, {}, x->name + "_rows");
  for (const Product& product : products) {
    ValueInfo* const y = product.last->output();
    ValueInfo* const gemm = patch.node(Op::kGemm, {rows, product.matmul->input(1), product.bias},
                                       {}, product.sum->output()->name);
    ValueInfo* const result =
        patch.node(Op::kReshape, {gemm, patch.ints(product.dims)}, {}, y->name);
    if (patch.failed()) break;
    // They stay what their modules are made of.
    gemm->producer->origin = product.matmul->origin;
    gemm->producer->metadata = product.matmul->metadata;
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
