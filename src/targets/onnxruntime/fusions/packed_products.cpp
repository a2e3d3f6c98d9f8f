#include "targets/onnxruntime/fusions/packed_products.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/joined.h"
#include "rewriting/rewrite.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;
using Products = std::span<const AddedProduct>;

bool is_weight(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->is_weight && value->constant != nullptr &&
         value->shape.size() == rank;
}

std::optional<AddedProduct> product(const ValueInfo* value, ValueInfo* bias, bool is_shared) {
  const Node* node = rewriting::made_by(value, Op::kMatMul);
  if (node == nullptr || !(is_shared || rewriting::used_once(value)) ||
      !is_weight(node->input(1), 2))
    return std::nullopt;
  return AddedProduct{node->input(0), node->input(1), bias};
}

std::optional<Tensor> side_by_side(Products products, ValueInfo* AddedProduct::* part) {
  std::vector<Tensor> tensors;
  for (const AddedProduct& each : products) tensors.push_back(*(each.*part)->constant);
  const std::size_t last = tensors.front().dims.size() - 1;
  return onnx::joined(std::move(tensors), last);
}

}  // namespace

std::optional<AddedProduct> added_product(const ValueInfo* value, bool is_shared) {
  const Node* sum = rewriting::made_by(value, Op::kAdd);
  if (sum == nullptr) return product(value, nullptr, is_shared);
  if (!is_shared && !rewriting::used_once(value)) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    if (is_weight(sum->input(1 - side), 1))
      if (const auto found = product(sum->input(side), sum->input(1 - side), false)) return found;
  return std::nullopt;
}

ValueInfo* packed(Products products, ValueInfo* AddedProduct::* part, rewriting::Patch& patch) {
  for (const AddedProduct& each : products)
    if (!rewriting::used_once(each.*part)) patch.fail("a weight is read elsewhere, too");
  std::optional<Tensor> joined = side_by_side(products, part);
  if (!joined) patch.fail("the weights are not there yet, or not in one form");
  if (patch.failed()) return nullptr;
  for (const AddedProduct& each : products) patch.fold_in(each.*part);
  return patch.weight((products.front().*part)->name + "_packed", *std::move(joined));
}

bool can_pack(Products products) {
  const AddedProduct& first = products.front();
  for (const AddedProduct& each : products) {
    if (each.x != first.x || (each.bias == nullptr) != (first.bias == nullptr)) return false;
    if (!rewriting::used_once(each.weight)) return false;
    if (each.bias != nullptr && !rewriting::used_once(each.bias)) return false;
  }
  return side_by_side(products, &AddedProduct::weight) &&
         (first.bias == nullptr || side_by_side(products, &AddedProduct::bias));
}

}  // namespace sardonyx::targets
