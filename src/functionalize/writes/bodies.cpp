#include "functionalize/writes/bodies.h"

#include <algorithm>
#include <optional>

#include "functionalize/views/refusal.h"
#include "functionalize/writes/counted_loops.h"
#include "functionalize/writes/while_loops.h"

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

void refuse_body_write(std::vector<base::Diagnostic>& diagnostics, const Call& call,
                       const Graph& body, const BodyWrite& written) {
  diagnostics.push_back(
      diagnostic_at(*written.write, "SX1704",
                    "the body '" + body.name + "' of " + call.schema->qualified() + " (" +
                        place_of(call.source, call.name) + ") writes to '" +
                        body.inputs[written.position]->name + "', which it is given from outside",
                    "return the new value from the body instead"));
}

BodyRewriter::BodyRewriter(FunctionalGraph& outer, Call& call, const program::Region& region)
    : outer_(outer), call_(call), region_(region), operands_(region.operands()) {}

void BodyRewriter::run(const Rewrite& rewrite) {
  for (Graph* graph : distinct(region_.bodies)) {
    FunctionalGraph& body =
        *bodies_.emplace_back(std::make_unique<FunctionalGraph>(outer_.session(), *graph));
    bind_operands(body);
    const List outputs = graph->outputs;  // before the writes in the body are gone
    rewrite(body);
    add_writes_of(body, outputs);
  }
  if (!writes_.empty()) return_writes();
  for (const auto& body : bodies_) body->finish();
  for (Argument& argument : call_.arguments) outer_.read_in(argument);
  outer_.append(call_);
  note_effects();
}

// Those that show in operands after the call.
void BodyRewriter::add_writes_of(FunctionalGraph& body, const List& outputs) {
  std::optional<CountedLoop> loop;
  if (region_.kind->runs == Runs::kOneOf) learn_of_branch(body, outputs);
  if (region_.kind->runs == Runs::kCounted) {
    loop.emplace(outer_, call_, region_, body, outputs);
    loop->learn(effects_);
  }
  const auto refuse = [&](const BodyWrite& written) {
    refuse_body_write(outer_.session().diagnostics, call_, body.graph(), written);
  };
  for (const BodyWrite& written : written_operands(body)) {
    if (!can_return_writes(region_, &body.graph(), written.position) || !written.operand ||
        seen_elsewhere(written)) {
      refuse(written);
      continue;
    }
    if (loop) {
      const CountedLoop::Reach reach = loop->reach_of(written);
      if (reach == CountedLoop::Reach::kUnknown) refuse(written);
      if (reach != CountedLoop::Reach::kOperand) continue;
    }
    const Alias* alias = outer_.aliases().of(written.operand);
    const bool is_known = std::ranges::any_of(writes_, [&](const BodyWrite& other) {
      return outer_.aliases().of(other.operand) == alias;
    });
    if (!is_known) writes_.push_back(written);
  }
}

// The call gets an output for each write.
void BodyRewriter::return_writes() {
  if (region_.kind->runs == Runs::kCounted)
    return carry_counted(outer_, call_, *region_.kind, *bodies_.front(), writes_);
  if (region_.kind->runs != Runs::kOneOf) {
    return carry_contents(outer_, call_, *region_.kind, *bodies_.front(), *bodies_.back(), writes_);
  }
  // A branch gives what its inputs hold in the end.
  for (const auto& body : bodies_) {
    for (const BodyWrite& written : writes_) {
      Value* input = body->graph().inputs[written.position];
      body->graph().outputs.push_back(body->aliases().current(body->aliases().of(input)));
    }
  }
  for (BodyWrite& written : writes_) {
    written.content =
        outer_.builder().output(call_, type_of(*written.operand), written.operand->name);
  }
}

void BodyRewriter::note_effects() {
  for (const BodyWrite& written : writes_)
    outer_.store(written.operand, written.content, nullptr, *written.write);
  for (const auto& each : effects_.shared) outer_.aliases().may_share(each.output, each.operand);
  for (const auto& each : effects_.writes)
    outer_.aliases().note_possible_write(each.operand, *each.write);
}

// Operands that are the same tensor are one in the body, too; those that may be, or that see parts
// of one, may be.
void BodyRewriter::bind_operands(FunctionalGraph& body) {
  for (std::size_t i = 0; i < operands_.size() && i < body.graph().inputs.size(); ++i) {
    Value* input = body.graph().inputs[i];
    if (!input || !operands_[i]) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (!operands_[j] || !body.graph().inputs[j]) continue;
      Value* const earlier = body.graph().inputs[j];
      if (outer_.aliases().of(operands_[i]) == outer_.aliases().of(operands_[j])) {
        body.aliases().bind(input, body.aliases().of(earlier));
        break;
      }
      if (may_be_one(outer_.aliases().of(operands_[i])->memory,
                     outer_.aliases().of(operands_[j])->memory))
        body.aliases().may_share(input, earlier);
    }
  }
}

std::vector<BodyWrite> BodyRewriter::written_operands(FunctionalGraph& body) const {
  std::vector<BodyWrite> found;
  const std::vector<Value*>& inputs = body.graph().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Call* write = inputs[i] ? body.aliases().write_to(inputs[i]) : nullptr;
    if (write) found.push_back({i, i < operands_.size() ? operands_[i] : nullptr, write});
  }
  return found;
}

// Another operand sees a part of what the body writes to, and would have to show it in the body. So
// does the same one, where the body is given it once more and carries it: they part in the first
// run.
bool BodyRewriter::seen_elsewhere(const BodyWrite& written) {
  const Alias* own = outer_.aliases().of(written.operand);
  const bool is_carried =
      region_.kind->runs == Runs::kCounted && written.position <= region_.carried->size();
  const auto is_own = [&](Value* other) { return other && outer_.aliases().of(other) == own; };
  if (is_carried && std::ranges::count_if(operands_, is_own) > 1) return true;
  return std::any_of(operands_.begin(), operands_.end(), [&](Value* other) {
    if (!other) return false;
    const Alias* alias = outer_.aliases().of(other);
    return alias != own && alias->memory == own->memory;
  });
}

// After a branch, what it gave may be what it was given.
void BodyRewriter::learn_of_branch(FunctionalGraph& body, const List& outputs) {
  for (std::size_t i = 0; i < body.graph().inputs.size() && i < operands_.size(); ++i) {
    Value* const input = body.graph().inputs[i];
    if (!input || !operands_[i]) continue;
    if (const Call* write = body.aliases().possible_write_to(input))
      effects_.writes.push_back({operands_[i], write});
    const Memory* const memory = body.aliases().of(input)->memory;
    for (std::size_t j = 0; j < call_.outputs.size() && j < outputs.size(); ++j) {
      Value* const left = program::tensor_of(outputs[j]);
      if (left && call_.outputs[j] && may_be_one(body.aliases().of(left)->memory, memory))
        effects_.shared.push_back({call_.outputs[j], operands_[i]});
    }
  }
}

}  // namespace sardonyx::functionalize
