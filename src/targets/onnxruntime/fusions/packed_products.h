// Products of one factor by several weights, as one product by the weights side by side.
#pragma once

#include <optional>
#include <span>

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::targets {

// x * weight, perhaps + bias: x of rows, the others constant.
struct AddedProduct {
  onnx::ValueInfo* x = nullptr;
  onnx::ValueInfo* weight = nullptr;
  onnx::ValueInfo* bias = nullptr;  // null where nothing is added
};

// That of a value which nothing else reads, or which others may read.
std::optional<AddedProduct> added_product(const onnx::ValueInfo* value, bool is_shared = false);

// The weights, or biases, side by side in one, which is put together as it is written. The patch
// fails where something else reads one, or where they are not there yet.
onnx::ValueInfo* packed(std::span<const AddedProduct> products,
                        onnx::ValueInfo* AddedProduct::* part, rewriting::Patch& patch);

// Whether packed() would give weights and biases of these products of one factor.
bool can_pack(std::span<const AddedProduct> products);

}  // namespace sardonyx::targets
