#include "functionalize/writes/counted_loops.h"

#include <algorithm>
#include <set>
#include <utility>

#include "functionalize/writes/loop_inputs.h"

namespace sardonyx::functionalize {

using program::Graph;
using program::List;

CountedLoop::CountedLoop(FunctionalGraph& outer, Call& call, const program::Region& region,
                         FunctionalGraph& body, const List& outputs)
    : outer_(outer), call_(call), region_(region), body_(body), operands_(region.operands()) {
  const std::vector<Value*>& inputs = body.graph().inputs;
  before_.resize(inputs.size());
  after_.resize(inputs.size());
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const bool is_given = i > region.carried->size();
    Value* const left = is_given ? inputs[i] : program::tensor_of(outputs[i]);
    if (!inputs[i] || !left) continue;
    before_[i] = body.aliases().of(inputs[i])->memory;
    after_[i] = body.aliases().of(left)->memory;
  }
}

// Whether what the operand of a loop shares its memory with is read behind it, or seen from
// outside.
bool CountedLoop::is_read_after(Value* operand) {
  const Memory* const memory = outer_.aliases().of(operand)->memory;
  const auto shares = [&](Value* value) {
    return value && outer_.aliases().of(value)->memory == memory;
  };
  if (operand->weight || std::ranges::any_of(outer_.graph().inputs, shares)) return true;
  bool found = false;
  const auto look_at = [&](Argument& argument) {
    argument.each_value([&](Value* value) { found = found || shares(value); });
  };
  auto next = std::ranges::find(outer_.graph().calls, &call_);
  for (next += next == outer_.graph().calls.end() ? 0 : 1; next != outer_.graph().calls.end();
       ++next)
    for (Argument& argument : (*next)->arguments) look_at(argument);
  for (Argument& output : outer_.graph().outputs) look_at(output);
  return found;
}

// After a loop, what it carries may be any tensor that a run put in its place. A run may have
// written to what may be what it was given: where the next runs are given that as well, they would
// have to see it.
void CountedLoop::learn(PossibleEffects& effects) {
  const std::size_t carried = region_.carried->size();
  std::vector<std::set<std::size_t>> may_be(before_.size());
  for (std::size_t i = 1; i < may_be.size(); ++i) may_be[i].insert(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i <= carried; ++i) {
      for (std::size_t j = 1; after_[i] && j < may_be.size(); ++j) {
        if (!before_[j] || !may_be_one(after_[i], before_[j])) continue;
        const std::size_t known = may_be[i].size();
        may_be[i].insert(may_be[j].begin(), may_be[j].end());
        changed = changed || may_be[i].size() > known;
      }
    }
  }
  for (std::size_t i = 1; i <= carried; ++i) {
    Value* const output = call_.outputs[i - 1];
    for (const std::size_t j : may_be[i])
      if (output && after_[i] && operands_[j]) effects.shared.push_back({output, operands_[j]});
  }
  for (std::size_t i = 1; i < before_.size(); ++i) {
    const Call* write =
        before_[i] ? body_.aliases().possible_write_to(body_.graph().inputs[i]) : nullptr;
    if (!write || !operands_[i]) continue;
    for (std::size_t j = 1; j < after_.size(); ++j) {
      const bool is_own = j == i && i <= carried;
      if (!is_own && after_[j] && may_be_one(after_[j], before_[i]))
        return refuse_body_write(outer_.session().diagnostics, call_, body_.graph(),
                                 {i, operands_[i], write});
    }
    effects.writes.push_back({operands_[i], write});
  }
}

// What it carries in
// several places is one tensor from the second run on, as is what it is given and carries: it may
// not be written to. What it carries and writes to is the operand in the first run alone, unless a
// run leaves that in some place.
CountedLoop::Reach CountedLoop::reach_of(const BodyWrite& written) {
  const std::size_t carried = region_.carried->size();
  const std::size_t own = written.position;
  const auto may_be = [](const Memory* memory) {
    return [memory](const Memory* other) { return may_be_one(memory, other); };
  };
  if (std::ranges::count_if(after_, may_be(after_[own])) > 1) return Reach::kUnknown;
  const auto stays = [&](std::size_t i) {  // in a place of what is carried
    const auto end = after_.begin() + 1 + static_cast<std::ptrdiff_t>(carried);
    return std::any_of(after_.begin() + 1, end, may_be(before_[i]));
  };
  const bool takes_other = std::ranges::any_of(before_, may_be(after_[own]));
  if (own > carried || (!stays(own) && !takes_other)) return Reach::kOperand;
  for (std::size_t i = 1; i <= carried; ++i) {
    const bool takes_part = before_[i] && (i == own || stays(i));
    if (takes_part && is_read_after(operands_[i])) return Reach::kUnknown;
  }
  return Reach::kNowhere;
}

static Value* is_first_run(FunctionalGraph& step, const Cause& cause) {
  const symbolic::Expr number = step.graph().inputs.front()->expr;
  return step.builder().add(
      "aten::scalar_tensor",
      {{"s", symbolic::apply(symbolic::Kind::kEq, {number, 0})}, {"dtype", base::DType::kBool}},
      contiguous(base::DType::kBool, {}), cause, "is_first");
}

// Of what is given to the body, what that writes to is carried. What it carries anyway is its own
// from the second run on: only what run 0 writes reaches the operand.
void carry_counted(FunctionalGraph& outer, Call& call, const program::RegionKind& kind,
                   FunctionalGraph& step, std::vector<BodyWrite>& writes) {
  List& carried = list_argument(call, kind.carried);
  List& further = list_argument(call, kind.given);
  const std::size_t first = 1 + carried.size(), captured = first + further.size();
  std::vector<std::size_t> moved;
  for (BodyWrite& written : writes) {
    Value* input = step.graph().inputs[written.position];
    Value* content = step.aliases().current(step.aliases().of(input));
    if (written.position >= first) {
      moved.push_back(written.position);
    } else {
      const Type type = type_of(*written.operand);
      const Cause cause{written.write->source, written.write->name};
      moved.push_back(step.graph().inputs.size());
      content = step.builder().add("aten::where.self",
                                   {{"condition", is_first_run(step, cause)},
                                    {"self", content},
                                    {"other", step.add_input(written.operand->name, type)}},
                                   type, cause, input->name);
    }
    // Behind what is carried already, before what is stacked.
    const auto at = static_cast<std::ptrdiff_t>(carried.size());
    carried.emplace_back(written.operand);
    step.graph().outputs.insert(step.graph().outputs.begin() + 1 + at, content);
    written.content =
        outer.builder().output(call, type_of(*written.operand), written.operand->name);
    std::rotate(call.outputs.begin() + at, call.outputs.end() - 1, call.outputs.end());
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    call.outputs[i]->index = static_cast<std::uint32_t>(i);
  List rest;
  for (std::size_t i = 0; i < further.size(); ++i) {
    if (std::find(moved.begin(), moved.end(), first + i) == moved.end()) rest.push_back(further[i]);
  }
  further = std::move(rest);
  order_inputs(step.graph(), first, captured, moved);
}

}  // namespace sardonyx::functionalize
