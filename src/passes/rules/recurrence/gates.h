// What stands before the activation of a recurrent cell: products with the step of a sequence and
// with the hidden state, and what is added to them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "passes/rules/recurrence/loops.h"

namespace sardonyx::passes {

struct Range {
  std::int64_t start, size;
};

// Rows and columns of a matrix that rows are multiplied with from the left; it lies the other way
// round where `transposed`.
struct Factor {
  onnx::ValueInfo* weight = nullptr;
  bool transposed = false;
  Range rows = {0, 0}, columns = {0, 0};
};

struct Summand {
  onnx::ValueInfo* value = nullptr;  // null for a number
  Range columns = {0, 0};
  double number = 0;
};

// One gate's part of each.
struct Gate {
  Factor input, hidden;
  std::vector<Summand> summands;
  // Of a GRU's candidate, the reset gate before its activation, which the hidden state is
  // multiplied with, or what comes of it and of `inner`.
  const onnx::ValueInfo* reset = nullptr;
  bool reset_after = false;
  std::vector<Summand> inner;
};

// Reads gates of one cell, whose hidden state and input are the same for all of them.
class GateReader {
 public:
  GateReader(const StepLoop& loop, const onnx::ValueInfo* hidden, std::int64_t size)
      : loop_(loop), hidden_(hidden), size_(size) {}

  // The gate that this value is before its activation; nothing where it is something else as well.
  std::optional<Gate> read(const onnx::ValueInfo* value);
  // What all gates that were read have as their input.
  const std::optional<Steps>& input() const { return input_; }

 private:
  bool add(const onnx::ValueInfo* value, Range columns, bool inner);
  bool add_outside(onnx::ValueInfo* value, Range columns, bool inner);
  bool add_product(const onnx::ValueInfo* factor, Factor weight, bool inner);
  bool add_precomputed(const Steps& steps, Range columns);
  bool add_reset(const onnx::Node* product, Range columns);
  bool take_input(const Steps& steps);

  const StepLoop& loop_;
  const onnx::ValueInfo* hidden_;
  std::int64_t size_;
  std::optional<Steps> input_;
  Gate gate_;
  bool hidden_is_inner_ = false;
};

// The last axis of a value; 0 where it is not known.
std::int64_t width_of(const onnx::ValueInfo* value);
// The value before this activation.
const onnx::ValueInfo* before(const onnx::ValueInfo* value, onnx::Op activation);

}  // namespace sardonyx::passes
