// Emitting the nodes of a model anew where they stand: how a model goes from one dialect to
// another.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "base/diagnostic.h"
#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

struct Rebuilding {
  // Whether the node stays as it is.
  std::function<bool(const Node* node)> keeps;
  // The values that stand for the node's outputs from here on; absent ones are not read.
  std::function<Values(Node* node, std::span<const Value> inputs)> rebuilt;
  // Told of what could not be emitted; the node stays as it is.
  std::function<void(const Node* node, const base::Error& error)> failed;
};

// Walks the main graph once in order, bodies before the nodes that they belong to. What takes a
// node's place bears its name, comes from where it came from, and has its type where that says
// more. `onnx` must be fresh. True when anything changed.
bool rebuild(Model& model, Emit& onnx, const Rebuilding& rebuilding);

}  // namespace sardonyx::onnx
