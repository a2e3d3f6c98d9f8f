#include "targets/opsets/sequence_map.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"

namespace sardonyx::targets {
namespace {

using onnx::Emit;
using onnx::Graph;
using onnx::TypeKind;
using onnx::ValueInfo;

Graph* body_of(const onnx::Node* map) {
  const Attribute* body = map->find("body");
  Graph* const* graph = body == nullptr ? nullptr : std::get_if<Graph*>(&body->data);
  return graph == nullptr ? nullptr : *graph;
}

// A sequence of tensors of any shape.
Value sequence_input(Emit& onnx, Value initial) {
  const Value input = onnx.body_input("mapped", initial.dtype(), {});
  input->type_kind = TypeKind::kSequence;
  input->has_rank = false;
  return input;
}

// What the body reads of an input in this step: an element of a sequence, or the same tensor.
Value read_in_step(Emit& onnx, Value input, Value step, const ValueInfo* declared) {
  if (input->type_kind != TypeKind::kSequence) return input;
  const Value element = onnx.sequence_at(input, step);
  if (!element.has_rank() && declared->has_rank)
    Emit::set_type(element, element.dtype(), declared->shape);
  return element;
}

}  // namespace

std::optional<Values> loop_over_sequences(Lowering& onnx, const onnx::Node* map,
                                          std::span<const Value> inputs) {
  Graph* const inner = body_of(map);
  if (inner == nullptr || inner->inputs.size() != inputs.size() || inputs.empty() ||
      std::ranges::any_of(inner->outputs, [](const ValueInfo* output) {
        return output->dtype == DType::kUndefined;
      }))
    return std::nullopt;
  const Value length = onnx.sequence_length(inputs[0]);
  Values initial;
  for (const ValueInfo* output : inner->outputs)
    initial.push_back(onnx.sequence_empty({.dtype = output->dtype}));

  Graph* const body = onnx.begin_body("sequence_map");
  const Value step = onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  Values mapped;
  for (const Value sequence : initial) mapped.push_back(sequence_input(onnx, sequence));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value read = read_in_step(onnx, inputs[i], step, inner->inputs[i]);
    onnx::replace_all_uses(inner->inputs[i], read.info());
  }
  const std::vector<ValueInfo*> results = inner->outputs;
  onnx::set_outputs(inner, {});
  while (inner->first != nullptr) {
    onnx::Node* const node = inner->first;
    onnx::move_to_end(body, node);
    onnx.adopt(node);
  }
  Values carried = {onnx.identity(condition)};
  for (std::size_t i = 0; i < results.size(); ++i)
    carried.push_back(onnx.sequence_insert(mapped[i], results[i]));
  onnx.end_body(carried);
  return onnx.loop(length, onnx.bool_scalar(true), initial, body);
}

}  // namespace sardonyx::targets
