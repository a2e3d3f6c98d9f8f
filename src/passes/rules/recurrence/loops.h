// What a Loop or Scan over the steps of a sequence carries, reads and stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// The values of a sequence one after the other, along an axis of it.
struct Steps {
  onnx::ValueInfo* sequence;
  std::int64_t axis;
  bool backwards;
  friend bool operator==(const Steps&, const Steps&) = default;
};

class StepLoop {
 public:
  struct State {
    onnx::ValueInfo* initial;
    const onnx::ValueInfo *before, *after;  // in the body
    onnx::ValueInfo* result;                // null where nothing has it
  };
  // What one step gives of each, put together as `steps` says.
  struct Stack {
    const onnx::ValueInfo* each;
    Steps steps;
  };

  // Nothing where the loop may end early, or gives something else.
  static std::optional<StepLoop> of(const onnx::Node* node);

  const std::vector<State>& states() const { return states_; }
  const std::vector<Stack>& stacks() const { return stacks_; }

  // The sequence whose elements the value in the body is, once for each run of it.
  std::optional<Steps> steps_of(const onnx::ValueInfo* value) const;
  // Whether it is made outside of the body.
  bool is_outside(const onnx::ValueInfo* value) const { return onnx::is_visible(value, node_); }

 private:
  explicit StepLoop(const onnx::Node* node);
  bool read_scan();
  bool read_loop();
  bool read_list(std::size_t index);

  const onnx::Node* node_;
  const onnx::Graph* body_;
  std::vector<State> states_;
  std::vector<Stack> stacks_;
};

// What an Identity is given.
const onnx::ValueInfo* without_identity(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
