// The recurrent cells that ONNX has operators for, as loops compute them.
#pragma once

#include <optional>
#include <vector>

#include "onnx/gen/op.h"
#include "passes/rules/recurrence/gates.h"
#include "passes/rules/recurrence/loops.h"

namespace sardonyx::passes {

struct Cell {
  onnx::Op op;
  std::size_t hidden = 0, cells = 0;  // among the loop's states
  std::int64_t size = 0;              // of the hidden state
  Steps input{};
  std::vector<Gate> gates{};          // in ONNX's order
  const char* activation = "Tanh";    // of a plain cell
  bool turned = false;                // the update gate is one minus ONNX's
  const onnx::Node* whole = nullptr;  // the operator, where it stands in the loop for one step
};

// The cell whose hidden state is this one of the loop's.
std::optional<Cell> cell_of(const StepLoop& loop, std::size_t hidden);

}  // namespace sardonyx::passes
