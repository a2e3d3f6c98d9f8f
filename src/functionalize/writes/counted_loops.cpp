// Loops that count: what their bodies write to of what they are given, and of what they carry.
#include <algorithm>
#include <set>
#include <utility>

#include "functionalize/writes/loop_inputs.h"
#include "functionalize/writes/rewriter.h"

namespace sardonyx::functionalize {

using program::Graph;
using program::List;

List& list_argument(Call& call, std::string_view parameter) {
  return *call.arguments[*call.schema->find(parameter)].get<List>();
}

void order_inputs(Graph& graph, std::size_t carried, std::size_t captured,
                  const std::vector<std::size_t>& moved) {
  const std::vector<Value*> before = std::move(graph.inputs);
  graph.inputs.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(carried));
  for (const std::size_t i : moved) graph.inputs.push_back(before[i]);
  const auto add_others = [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      if (std::find(moved.begin(), moved.end(), i) == moved.end())
        graph.inputs.push_back(before[i]);
    }
  };
  add_others(captured, before.size());
  add_others(carried, captured);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i]) graph.inputs[i]->index = static_cast<std::uint32_t>(i);
  }
}

// Whether what the operand of a loop shares its memory with is read behind it, or seen from
// outside.
bool Rewriter::is_read_after(const Call& call, Value* operand) {
  const Memory* const memory = aliases_.of(operand)->memory;
  const auto shares = [&](Value* value) { return value && aliases_.of(value)->memory == memory; };
  if (operand->weight || std::ranges::any_of(graph_.inputs, shares)) return true;
  bool found = false;
  const auto look_at = [&](Argument& argument) {
    argument.each_value([&](Value* value) { found = found || shares(value); });
  };
  auto next = std::ranges::find(graph_.calls, &call);
  for (next += next == graph_.calls.end() ? 0 : 1; next != graph_.calls.end(); ++next)
    for (Argument& argument : (*next)->arguments) look_at(argument);
  for (Argument& output : graph_.outputs) look_at(output);
  return found;
}

Rewriter::Places Rewriter::places_of(const program::Region& region, Rewriter& body,
                                     const List& outputs) {
  const std::vector<Value*>& inputs = body.graph_.inputs;
  Places places{std::vector<const Memory*>(inputs.size()),
                std::vector<const Memory*>(inputs.size())};
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const bool is_given = i > region.carried->size();
    Value* const left = is_given ? inputs[i] : program::tensor_of(outputs[i]);
    if (!inputs[i] || !left) continue;
    places.before[i] = body.aliases_.of(inputs[i])->memory;
    places.after[i] = body.aliases_.of(left)->memory;
  }
  return places;
}

// Behind a loop, what it carries may be any tensor that a run put in its place. A run may have
// written to what may be what it was given: where the next runs are given that as well, they would
// have to see it.
void Rewriter::learn_of_loop(const Call& call, const program::Region& region, Rewriter& body,
                             const List& outputs) {
  const std::vector<Value*> operands = region.operands();
  const std::size_t carried = region.carried->size();
  const Places places = places_of(region, body, outputs);
  std::vector<std::set<std::size_t>> may_be(places.before.size());
  for (std::size_t i = 1; i < may_be.size(); ++i) may_be[i].insert(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i <= carried; ++i) {
      for (std::size_t j = 1; places.after[i] && j < may_be.size(); ++j) {
        if (!places.before[j] || !may_be_one(places.after[i], places.before[j])) continue;
        const std::size_t known = may_be[i].size();
        may_be[i].insert(may_be[j].begin(), may_be[j].end());
        changed = changed || may_be[i].size() > known;
      }
    }
  }
  for (std::size_t i = 1; i <= carried; ++i) {
    Value* const output = call.outputs[i - 1];
    for (const std::size_t j : may_be[i])
      if (output && places.after[i] && operands[j]) shared_.push_back({output, operands[j]});
  }
  for (std::size_t i = 1; i < places.before.size(); ++i) {
    const Call* write =
        places.before[i] ? body.aliases_.possible_write_to(body.graph_.inputs[i]) : nullptr;
    if (!write || !operands[i]) continue;
    for (std::size_t j = 1; j < places.after.size(); ++j) {
      const bool is_own = j == i && i <= carried;
      if (!is_own && places.after[j] && may_be_one(places.after[j], places.before[i]))
        return refuse_body_write(call, body.graph_, {i, operands[i], write});
    }
    possible_writes_.push_back({operands[i], write});
  }
}

// `outputs` are those that the body had before its writes were taken out. What it carries in
// several places is one tensor from the second run on, as is what it is given and carries: it may
// not be written to. What it carries and writes to is the operand in the first run alone, unless a
// run leaves that in some place.
Rewriter::Reach Rewriter::reach_of(const Call& call, const program::Region& region, Rewriter& body,
                                   const List& outputs, const BodyWrite& written) {
  const std::vector<Value*> operands = region.operands();
  const std::size_t carried = region.carried->size();
  const auto [before, after] = places_of(region, body, outputs);
  const std::size_t own = written.position;
  const auto may_be = [](const Memory* memory) {
    return [memory](const Memory* other) { return may_be_one(memory, other); };
  };
  if (std::ranges::count_if(after, may_be(after[own])) > 1) return Reach::kUnknown;
  const auto stays = [&](std::size_t i) {  // in a place of what is carried
    const auto end = after.begin() + 1 + static_cast<std::ptrdiff_t>(carried);
    return std::any_of(after.begin() + 1, end, may_be(before[i]));
  };
  const bool takes_other = std::ranges::any_of(before, may_be(after[own]));
  if (own > carried || (!stays(own) && !takes_other)) return Reach::kOperand;
  for (std::size_t i = 1; i <= carried; ++i) {
    const bool takes_part = before[i] && (i == own || stays(i));
    if (takes_part && is_read_after(call, operands[i])) return Reach::kUnknown;
  }
  return Reach::kNowhere;
}

// Of what is given to the body, what that writes to is carried. What it carries anyway is its own
// from the second run on: only what run 0 writes reaches the operand.
void Rewriter::carry_counted(Call& call, const program::RegionKind& kind, Rewriter& step,
                             std::vector<BodyWrite>& writes) {
  List& carried = list_argument(call, kind.carried);
  List& further = list_argument(call, kind.given);
  const std::size_t first = 1 + carried.size(), captured = first + further.size();
  std::vector<std::size_t> moved;
  for (BodyWrite& written : writes) {
    Value* input = step.graph_.inputs[written.position];
    Value* content = step.aliases_.current(step.aliases_.of(input));
    if (written.position >= first) {
      moved.push_back(written.position);
    } else {
      const Type type = type_of(*written.operand);
      const Cause cause{written.write->source, written.write->name};
      moved.push_back(step.graph_.inputs.size());
      content = step.builder_.add("aten::where.self",
                                  {{"condition", is_first_run(step, cause)},
                                   {"self", content},
                                   {"other", step.new_input(written.operand->name, type)}},
                                  type, cause, input->name);
    }
    // Behind what is carried already, before what is stacked.
    const auto at = static_cast<std::ptrdiff_t>(carried.size());
    carried.emplace_back(written.operand);
    step.graph_.outputs.insert(step.graph_.outputs.begin() + 1 + at, content);
    written.content = builder_.output(call, type_of(*written.operand), written.operand->name);
    std::rotate(call.outputs.begin() + at, call.outputs.end() - 1, call.outputs.end());
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    call.outputs[i]->index = static_cast<std::uint32_t>(i);
  List rest;
  for (std::size_t i = 0; i < further.size(); ++i) {
    if (std::find(moved.begin(), moved.end(), first + i) == moved.end()) rest.push_back(further[i]);
  }
  further = std::move(rest);
  order_inputs(step.graph_, first, captured, moved);
}

Value* Rewriter::is_first_run(Rewriter& step, const Cause& cause) {
  const symbolic::Expr number = step.graph_.inputs.front()->expr;
  return step.builder_.add(
      "aten::scalar_tensor",
      {{"s", symbolic::apply(symbolic::Kind::kEq, {number, 0})}, {"dtype", base::DType::kBool}},
      contiguous(base::DType::kBool, {}), cause, "is_first");
}

}  // namespace sardonyx::functionalize
