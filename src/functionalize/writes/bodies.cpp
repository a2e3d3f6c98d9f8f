// Bodies of control flow: what they write to of what they are given becomes a further result.
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "functionalize/views/refusal.h"
#include "functionalize/writes/loop_inputs.h"
#include "functionalize/writes/rewriter.h"

namespace sardonyx::functionalize {
namespace {

using program::Graph;
using program::List;
using program::Runs;

// The bodies that differ: one may stand in several places.
std::vector<Graph*> distinct(const std::vector<Graph*>& bodies) {
  std::vector<Graph*> result;
  for (Graph* body : bodies) {
    if (std::ranges::find(result, body) == result.end()) result.push_back(body);
  }
  return result;
}

// What such a body leaves in what it is given can be one more result: branches return it, a loop's
// step carries it on.
bool can_return_writes(const program::Region& region, const Graph* body, std::size_t position) {
  if (region.kind->runs == Runs::kOneOf) return true;
  // The number of the run, what is carried, what is given.
  if (region.kind->runs == Runs::kCounted) return position > 0;
  return region.kind->runs == Runs::kWhile && body == region.bodies[1] && body != region.bodies[0];
}

}  // namespace

// Operands that are the same tensor are one in the body, too; those that may be, or that see parts
// of one, may be.
void Rewriter::bind_operands(const std::vector<Value*>& operands, Rewriter& inner) {
  for (std::size_t i = 0; i < operands.size() && i < inner.graph_.inputs.size(); ++i) {
    Value* input = inner.graph_.inputs[i];
    if (!input || !operands[i]) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (!operands[j] || !inner.graph_.inputs[j]) continue;
      Value* const earlier = inner.graph_.inputs[j];
      if (aliases_.of(operands[i]) == aliases_.of(operands[j])) {
        inner.aliases_.bind(input, inner.aliases_.of(earlier));
        break;
      }
      if (may_be_one(aliases_.of(operands[i])->memory, aliases_.of(operands[j])->memory))
        inner.aliases_.may_share(input, earlier);
    }
  }
}

std::vector<Rewriter::BodyWrite> Rewriter::written_operands(const std::vector<Value*>& operands,
                                                            const Rewriter& inner) {
  std::vector<BodyWrite> found;
  for (std::size_t i = 0; i < inner.graph_.inputs.size(); ++i) {
    const Value* input = inner.graph_.inputs[i];
    const Call* write = input ? inner.aliases_.write_to(input) : nullptr;
    if (write) found.push_back({i, i < operands.size() ? operands[i] : nullptr, write});
  }
  return found;
}

// Another operand sees a part of what the body writes to, and would have to show it in the body. So
// does the same one, where the body is given it once more and carries it: they part in the first
// run.
bool Rewriter::seen_elsewhere(const program::Region& region, const BodyWrite& written,
                              const std::vector<Value*>& operands) {
  const Alias* own = aliases_.of(written.operand);
  const bool is_carried =
      region.kind->runs == Runs::kCounted && written.position <= region.carried->size();
  const auto is_own = [&](Value* other) { return other && aliases_.of(other) == own; };
  if (is_carried && std::ranges::count_if(operands, is_own) > 1) return true;
  return std::any_of(operands.begin(), operands.end(), [&](Value* other) {
    if (!other) return false;
    const Alias* alias = aliases_.of(other);
    return alias != own && alias->memory == own->memory;
  });
}

void Rewriter::refuse_body_write(const Call& call, const Graph& body, const BodyWrite& written) {
  session_.diagnostics.push_back(
      diagnostic_at(*written.write, "SX1704",
                    "the body '" + body.name + "' of " + call.schema->qualified() + " (" +
                        place_of(call.source, call.name) + ") writes to '" +
                        body.inputs[written.position]->name + "', which it is given from outside",
                    "return the new value from the body instead"));
}

void Rewriter::visit_bodies(Call& call, const program::Region& region) {
  const std::vector<Value*> operands = region.operands();
  std::vector<std::unique_ptr<Rewriter>> inner;
  std::vector<BodyWrite> writes;
  for (Graph* body : distinct(region.bodies)) {
    inner.push_back(std::make_unique<Rewriter>(session_, *body));
    bind_operands(operands, *inner.back());
    const List left = body->outputs;  // before the writes in the body are gone
    inner.back()->run();
    if (region.kind->runs == Runs::kOneOf) learn_of_branch(call, *inner.back(), left, operands);
    if (region.kind->runs == Runs::kCounted) learn_of_loop(call, region, *inner.back(), left);
    for (const BodyWrite& written : written_operands(operands, *inner.back())) {
      if (!can_return_writes(region, body, written.position) || !written.operand ||
          seen_elsewhere(region, written, operands)) {
        refuse_body_write(call, *body, written);
        continue;
      }
      if (region.kind->runs == Runs::kCounted) {
        const Reach reach = reach_of(call, region, *inner.back(), left, written);
        if (reach == Reach::kUnknown) refuse_body_write(call, *body, written);
        if (reach != Reach::kOperand) continue;
      }
      const Alias* alias = aliases_.of(written.operand);
      const bool known = std::any_of(writes.begin(), writes.end(), [&](const BodyWrite& other) {
        return aliases_.of(other.operand) == alias;
      });
      if (!known) writes.push_back(written);
    }
  }
  if (!writes.empty()) {
    if (region.kind->runs == Runs::kOneOf) {
      for (auto& each : inner) each->return_contents(writes);
      for (BodyWrite& written : writes)
        written.content = builder_.output(call, type_of(*written.operand), written.operand->name);
    } else if (region.kind->runs == Runs::kCounted) {
      carry_counted(call, *region.kind, *inner.front(), writes);
    } else {
      carry_contents(call, *region.kind, *inner.front(), *inner.back(), writes);
    }
  }
  for (auto& each : inner) each->finish();
  for (Argument& argument : call.arguments) read_in(argument);
  calls_.push_back(&call);
  for (const BodyWrite& written : writes)
    store(written.operand, written.content, nullptr, *written.write);
  for (const MayShare& each : shared_) aliases_.may_share(each.output, each.operand);
  for (const MayWrite& each : possible_writes_)
    aliases_.note_possible_write(each.operand, *each.write);
  shared_.clear();
  possible_writes_.clear();
}

// Behind a branch, what it gave may be what it was given.
void Rewriter::learn_of_branch(const Call& call, Rewriter& body, const List& outputs,
                               const std::vector<Value*>& operands) {
  for (std::size_t i = 0; i < body.graph_.inputs.size() && i < operands.size(); ++i) {
    Value* const input = body.graph_.inputs[i];
    if (!input || !operands[i]) continue;
    if (const Call* write = body.aliases_.possible_write_to(input))
      possible_writes_.push_back({operands[i], write});
    const Memory* const memory = body.aliases_.of(input)->memory;
    for (std::size_t j = 0; j < call.outputs.size() && j < outputs.size(); ++j) {
      Value* const left = program::tensor_of(outputs[j]);
      if (left && call.outputs[j] && may_be_one(body.aliases_.of(left)->memory, memory))
        shared_.push_back({call.outputs[j], operands[i]});
    }
  }
}

// A branch gives what its inputs hold in the end.
void Rewriter::return_contents(const std::vector<BodyWrite>& writes) {
  for (const BodyWrite& written : writes) {
    Value* input = graph_.inputs[written.position];
    graph_.outputs.push_back(aliases_.current(aliases_.of(input)));
  }
}

// A loop carries what its body writes to. What it carries anyway is the body's own from the second
// run on: only what the first run writes reaches the operand.
void Rewriter::carry_contents(Call& call, const program::RegionKind& kind, Rewriter& condition,
                              Rewriter& step, std::vector<BodyWrite>& writes) {
  List& carried = list_argument(call, kind.carried);
  List& further = list_argument(call, kind.given);
  const std::size_t count = carried.size();
  call.outputs.resize(count);
  std::stable_partition(writes.begin(), writes.end(),
                        [&](const BodyWrite& each) { return each.position >= count; });
  std::vector<std::size_t> moved;
  Value* is_first = nullptr;
  for (BodyWrite& written : writes) {
    Value* input = step.graph_.inputs[written.position];
    Value* content = step.aliases_.current(step.aliases_.of(input));
    if (written.position >= count) {
      moved.push_back(written.position);
    } else {
      if (!is_first) is_first = carry_flag(call, carried, condition, step);
      const Type type = type_of(*written.operand);
      condition.new_input(written.operand->name, type);
      content = step.builder_.add("aten::where.self",
                                  {{"condition", is_first},
                                   {"self", content},
                                   {"other", step.new_input(written.operand->name, type)}},
                                  type, {written.write->source, written.write->name}, input->name);
    }
    carried.emplace_back(written.operand);
    step.graph_.outputs.push_back(content);
    written.content = builder_.output(call, type_of(*written.operand), written.operand->name);
  }
  List rest;
  for (std::size_t i = 0; i < further.size(); ++i) {
    if (std::find(moved.begin(), moved.end(), count + i) == moved.end()) rest.push_back(further[i]);
  }
  const std::size_t captured = count + further.size();
  further = std::move(rest);
  for (Rewriter* each : {&condition, &step}) order_inputs(each->graph_, count, captured, moved);
}

// True in the first run.
Value* Rewriter::carry_flag(Call& call, List& carried, Rewriter& condition, Rewriter& step) {
  const Type type = contiguous(base::DType::kBool, {});
  const Cause cause{call.source, call.name};
  const auto full = [&](Builder& builder, bool value) {
    return builder.add("aten::full",
                       {{"size", List()}, {"fill_value", value}, {"dtype", type.dtype}}, type,
                       cause, "is_first");
  };
  carried.emplace_back(full(builder_, true));
  step.graph_.outputs.push_back(full(step.builder_, false));
  call.outputs.push_back(nullptr);
  condition.new_input("is_first", type);
  return step.new_input("is_first", type);
}

Value* Rewriter::new_input(std::string_view name, const Type& type) {
  Value* value = builder_.program().add_value();
  value->name = session_.names.fresh(name);
  session_.names.take(value->name);
  value->dtype = type.dtype;
  value->shape = type.shape;
  value->strides = type.strides;
  graph_.inputs.push_back(value);
  return value;
}

}  // namespace sardonyx::functionalize
