// Captured values as further outputs of the model, for comparing them one by one.
#include <string>
#include <utility>

#include "aten/translation/translation.h"
#include "program/ir/regions.h"

namespace sardonyx::aten {
namespace {

void name_values(const program::Graph& graph, const std::string& prefix, NamedValues& names) {
  for (const program::Call* call : graph.calls) {
    const auto region = program::region_of(*call);
    if (region && region->kind->runs == program::Runs::kOnce) {
      // What a wrapper gives are its body's values.
      const program::Graph& body = *region->bodies.front();
      name_values(body, prefix + body.name + "/", names);
      continue;
    }
    for (const program::Value* value : call->outputs) {
      if (value && value->kind == program::ValueKind::kTensor)
        names.emplace(value, prefix + value->name);
    }
  }
}

}  // namespace

NamedValues name_values(const program::Program& program) {
  NamedValues names;
  name_values(*program.graph, "value::", names);
  return names;
}

Value Translation::shown(const program::Value& captured, Value value) {
  if (options_.shown == nullptr || bodies_open_ > 0) return value;
  const auto found = options_.shown->find(&captured);
  if (found == options_.shown->end()) return value;
  const Value copy = emit_.identity(value);
  shown_.emplace_back(copy.info(), found->second);
  const bool may_be_chosen = captured.dtype == DType::kInt64 && value->producer != nullptr;
  return may_be_chosen ? copy : value;
}

void Translation::add_shown(std::vector<onnx::ValueInfo*>& outputs,
                            std::vector<std::string>& names) const {
  for (const auto& [value, name] : shown_) {
    outputs.push_back(value);
    names.push_back(name);
  }
}

}  // namespace sardonyx::aten
