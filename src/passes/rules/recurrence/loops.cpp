#include "passes/rules/recurrence/loops.h"

#include "onnx/gen/op.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_used(const ValueInfo* value) { return value != nullptr && onnx::has_uses(value); }

std::int64_t entry(const Node* node, const char* attribute, std::size_t at) {
  const auto* values = node->ints(attribute);
  return values != nullptr && at < values->size() ? (*values)[at] : 0;
}

bool is_true(const ValueInfo* value) {
  const auto number = rewriting::number_of(value);
  return number && *number != 0;
}

}  // namespace

const ValueInfo* without_identity(const ValueInfo* value) {
  while (value->producer != nullptr && value->producer->is(Op::kIdentity))
    value = value->producer->input(0);
  return value;
}

StepLoop::StepLoop(const Node* node) : node_(node), body_(onnx::bodies(node).front()) {}

std::optional<StepLoop> StepLoop::of(const Node* node) {
  if (onnx::bodies(node).size() != 1) return std::nullopt;
  StepLoop loop(node);
  return (node->is(Op::kScan) ? loop.read_scan() : loop.read_loop()) ? std::optional(loop)
                                                                     : std::nullopt;
}

bool StepLoop::read_scan() {
  const std::int64_t scanned = node_->int_or("num_scan_inputs", 0);
  if (scanned < 1 || std::cmp_less(node_->inputs.size(), scanned)) return false;
  const std::size_t carried = node_->inputs.size() - static_cast<std::size_t>(scanned);
  if (body_->inputs.size() != node_->inputs.size() || body_->outputs.size() < carried) return false;
  for (std::size_t i = 0; i < carried; ++i)
    states_.push_back(
        {node_->input(i), body_->inputs[i], without_identity(body_->outputs[i]), node_->output(i)});
  for (std::size_t i = carried; i < body_->outputs.size(); ++i)
    if (is_used(node_->output(i)))
      stacks_.push_back({without_identity(body_->outputs[i]),
                         {node_->output(i), entry(node_, "scan_output_axes", i - carried),
                          entry(node_, "scan_output_directions", i - carried) == 1}});
  return true;
}

bool StepLoop::read_loop() {
  // (count, condition, states...); of the body (iteration, condition, states...), and what it
  // gives (condition, states..., stacked...).
  if (node_->input(0) == nullptr || node_->inputs.size() != body_->inputs.size() ||
      body_->outputs.size() + 1 < body_->inputs.size())
    return false;
  if (node_->input(1) != nullptr && !is_true(node_->input(1))) return false;
  const ValueInfo* goes_on = without_identity(body_->outputs.front());
  if (goes_on != body_->inputs[1] && !is_true(goes_on)) return false;
  const std::size_t carried = node_->inputs.size() - 2;
  for (std::size_t i = 0; i < carried; ++i) {
    if (read_list(i)) continue;
    if (node_->input(i + 2) == nullptr) return false;
    states_.push_back({node_->input(i + 2), body_->inputs[i + 2],
                       without_identity(body_->outputs[i + 1]), node_->output(i)});
  }
  for (std::size_t i = carried; i + 1 < body_->outputs.size(); ++i)
    if (is_used(node_->output(i)))
      stacks_.push_back(
          {without_identity(body_->outputs[i + 1]), {node_->output(i), 0, /*backwards=*/false}});
  return true;
}

// A list that gets one element in each run and becomes one tensor behind the loop.
bool StepLoop::read_list(std::size_t index) {
  const ValueInfo* list = body_->inputs[index + 2];
  if (rewriting::made_by(node_->input(index + 2), Op::kSequenceEmpty) == nullptr) return false;
  const Node* insert =
      rewriting::made_by(without_identity(body_->outputs[index + 1]), Op::kSequenceInsert);
  ValueInfo* const whole = node_->output(index);
  if (insert == nullptr || insert->input(0) != list || insert->input(2) != nullptr ||
      whole == nullptr || !rewriting::used_once(whole) || list->uses.size() != 1)
    return false;
  const Node* join = whole->uses.front().node;
  if (!join->is(Op::kConcatFromSequence) || join->int_or("new_axis", 0) != 1 ||
      join->graph != node_->graph)
    return false;
  const auto axis = join->int_or("axis", 0);
  stacks_.push_back({without_identity(insert->input(1)), {join->output(), axis, false}});
  return true;
}

std::optional<Steps> StepLoop::steps_of(const ValueInfo* value) const {
  value = without_identity(value);
  if (node_->is(Op::kScan)) {
    const std::size_t carried = states_.size();
    for (std::size_t i = carried; i < body_->inputs.size(); ++i)
      if (body_->inputs[i] == value)
        return Steps{node_->input(i), entry(node_, "scan_input_axes", i - carried),
                     entry(node_, "scan_input_directions", i - carried) == 1};
    return std::nullopt;
  }
  const Node* gather = rewriting::made_by(value, Op::kGather);
  if (gather == nullptr || without_identity(gather->input(1)) != body_->inputs[0] ||
      !is_outside(gather->input(0)) || !gather->input(0)->has_rank)
    return std::nullopt;
  const auto rank = static_cast<std::int64_t>(gather->input(0)->shape.size());
  const std::int64_t given = gather->int_or("axis", 0), axis = given < 0 ? given + rank : given;
  const ValueInfo* count = node_->input(0);
  const symbolic::Expr size = gather->input(0)->shape[static_cast<std::size_t>(axis)];
  const bool all_of_it = count->contents.size() == 1
                             ? count->contents.front() == size
                             : size.known() && rewriting::number_of(count) == size.constant();
  if (!all_of_it) return std::nullopt;
  return Steps{gather->input(0), axis, /*backwards=*/false};
}

}  // namespace sardonyx::passes
