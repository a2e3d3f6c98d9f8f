#include "program/program.h"

#include <utility>

namespace sardonyx::program {

const Argument& Call::argument(std::string_view parameter) const {
  const auto position = schema->find(parameter);
  if (!position || *position >= arguments.size()) {
    base::Diagnostic diagnostic;
    diagnostic.code = "SX1204";
    diagnostic.message = schema->qualified() + ": has no argument '" + std::string(parameter) + "'";
    diagnostic.op = schema->qualified();
    diagnostic.node = name;
    throw base::Error(std::move(diagnostic));
  }
  return arguments[*position];
}

bool Call::has(std::string_view parameter) const {
  const auto position = schema->find(parameter);
  return position && *position < arguments.size() && !arguments[*position].is_none();
}

Program::Program() : pool(std::make_shared<symbolic::Pool>()) {}

Value* Program::add_value() { return &values_.emplace_back(); }
Call* Program::add_call() { return &calls_.emplace_back(); }
Graph* Program::add_graph() { return &graphs_.emplace_back(); }
Weight* Program::add_weight() { return &weights_.emplace_back(); }
Storage* Program::add_storage() { return &storages_.emplace_back(); }

const Schema* Program::add_schema(Schema schema) {
  return &schemas_.emplace_back(std::move(schema));
}

const Source* Program::intern_source(Source source) {
  // Neighbouring calls mostly come from the same line.
  if (!sources_.empty()) {
    const Source& last = sources_.back();
    const auto same = [](const ModuleFrame& a, const ModuleFrame& b) {
      return a.path == b.path && a.type == b.type;
    };
    const bool equal =
        last.stack_trace == source.stack_trace && last.modules.size() == source.modules.size() &&
        std::equal(last.modules.begin(), last.modules.end(), source.modules.begin(), same);
    if (equal) return &last;
  }
  return &sources_.emplace_back(std::move(source));
}

}  // namespace sardonyx::program
