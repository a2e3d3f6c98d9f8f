#include "functionalize/calls/inline_wrappers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "functionalize/calls/autocast.h"
#include "functionalize/calls/plain_calls.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {
namespace {

using program::Argument;
using program::Call;
using program::Graph;
using program::List;
using program::Program;
using program::Region;
using program::Value;

// Where capture could not put what runs under autocast into a body of its own.
constexpr std::string_view kEnterAutocast = "python::_enter_autocast";
constexpr std::string_view kLeaveAutocast = "python::_exit_autocast";

// The region of a call that does no more than run its body.
std::optional<Region> wrapper_in(const Call& call) {
  std::optional<Region> region = program::region_of(call);
  if (region && region->kind->runs != program::Runs::kOnce) region.reset();
  return region;
}

bool holds_wrapper(const Graph& graph) {
  for (const Call* call : graph.calls) {
    if (call->schema->name == kEnterAutocast) return true;
    if (call->schema->space() != "higher_order") continue;
    if (wrapper_in(*call) || runs_operator(*call)) return true;
    for (const Argument& argument : call->arguments) {
      Graph* const* body = argument.get<Graph*>();
      if (body && *body && holds_wrapper(**body)) return true;
    }
  }
  return false;
}

// Rebuilds one graph with the wrappers in it inlined.
class Inliner {
 public:
  Inliner(Program& program, Graph& graph) : program_(program), graph_(graph) {}

  // `around` is the autocast that the graph runs under.
  void run(const Autocast& around) {
    for (const Value* input : graph_.inputs) {
      if (input) names_.insert(input->name);
    }
    const std::vector<Call*> calls = std::move(graph_.calls);
    for (const Call* call : calls) take_names(*call);
    count_runs(calls);
    place_all(calls, around, [](Call& call) { return &call; });
    graph_.calls = std::move(calls_);
    for (Argument& output : graph_.outputs) substitute(output);
  }

  void substitute(Argument& argument) const {
    if (replaced_.empty()) return;
    if (Value* const* value = argument.get<Value*>()) {
      const auto found = replaced_.find(*value);
      if (found != replaced_.end()) argument = Argument(found->second);
    } else if (List* list = argument.get<List>()) {
      for (Argument& item : *list) substitute(item);
    }
  }

 private:
  void take_names(const Call& call) {
    for (const Value* output : call.outputs) {
      if (output) names_.insert(output->name);
    }
  }

  void count_runs(const std::vector<Call*>& calls) {
    for (const Call* call : calls) {
      const std::optional<Region> wrapper = wrapper_in(*call);
      if (!wrapper) continue;
      const Graph* body = wrapper->bodies.front();
      ++runs_[body];
      count_runs(body->calls);
    }
  }

  template <class Placed>
  void place_all(const std::vector<Call*>& calls, const Autocast& around, const Placed& placed) {
    std::vector<Autocast> autocasts{around};
    for (Call* call : calls) {
      if (call->schema->name == kEnterAutocast) {
        autocasts.push_back(autocast_entered(*call));
      } else if (call->schema->name != kLeaveAutocast) {
        place(*placed(*call), autocasts.back());
      } else if (autocasts.size() > 1) {
        autocasts.pop_back();
      }
    }
  }

  void place(Call& call, const Autocast& autocast) {
    for (Argument& argument : call.arguments) substitute(argument);
    if (const auto wrapper = wrapper_in(call)) return unwrap(call, *wrapper, autocast);
    if (runs_operator(call)) {
      const PlainCalls plain = plain_calls(program_, call);
      for (Call* each : plain.calls) {
        for (Value* output : each->outputs) {
          const auto& own = call.outputs;
          if (output && std::find(own.begin(), own.end(), output) == own.end())
            output->name = fresh(output->name);
        }
        calls_.push_back(each);
      }
      for (const auto& [value, result] : plain.results) replaced_[value] = result;
      return;
    }
    for (const Argument& argument : call.arguments) {
      Graph* const* body = argument.get<Graph*>();
      if (!body || !*body || !(autocast.enabled || holds_wrapper(**body))) continue;
      // One body may stand in two places.
      if (done_.insert(*body).second) Inliner(program_, **body).run(autocast);
    }
    const std::size_t before = calls_.size();
    insert_casts(program_, call, autocast, retyped_, calls_);
    for (std::size_t i = before; i < calls_.size(); ++i) renamed(*calls_[i]);
    calls_.push_back(&call);
  }

  void unwrap(const Call& call, const Region& wrapper, const Autocast& around) {
    const Graph& body = *wrapper.bodies.front();
    const Autocast autocast = autocast_of(call, around);
    const List* operands = wrapper.given;
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      if (body.inputs[i] && operands && i < operands->size())
        replaced_[body.inputs[i]] = (*operands)[i];
    }
    const bool copies = runs_.at(&body) > 1;
    place_all(body.calls, autocast,
              [&](Call& inner) { return copies ? copy_of(inner) : renamed(inner); });
    for (std::size_t i = 0; i < call.outputs.size() && i < body.outputs.size(); ++i) {
      if (!call.outputs[i]) continue;
      Argument result = body.outputs[i];
      substitute(result);
      replaced_[call.outputs[i]] = std::move(result);
    }
  }

  std::string fresh(const std::string& stem) {
    std::string name = stem;
    for (std::size_t i = 1; !names_.insert(name).second; ++i) name = stem + "_" + std::to_string(i);
    return name;
  }

  Call* renamed(Call& call) {
    for (Value* output : call.outputs) {
      if (output) output->name = fresh(output->name);
    }
    return &call;
  }

  // A body that is run more than once, each time with values of its own.
  Call* copy_of(const Call& call) {
    Call* copy = program_.add_call();
    *copy = call;
    for (Value*& output : copy->outputs) {
      if (!output) continue;
      Value* value = program_.add_value();
      *value = *output;
      value->name = fresh(output->name);
      value->producer = copy;
      replaced_[output] = value;
      output = value;
    }
    return copy;
  }

  Program& program_;
  Graph& graph_;
  std::vector<Call*> calls_;
  std::unordered_map<const Value*, Argument> replaced_;
  std::unordered_map<const Graph*, std::size_t> runs_;
  std::unordered_set<std::string> names_;
  std::unordered_set<const Graph*> done_;
  Retyped retyped_;
};

}  // namespace

void inline_wrappers(Program& program, Graph& graph) {
  if (!holds_wrapper(graph)) return;
  Inliner inliner(program, graph);
  inliner.run(Autocast());
  if (&graph != program.graph) return;
  for (program::OutputSpec& output : program.outputs) inliner.substitute(output.value);
}

}  // namespace sardonyx::functionalize
