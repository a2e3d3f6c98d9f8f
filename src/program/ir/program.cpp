#include "program/ir/program.h"

#include <charconv>
#include <system_error>
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

Value* tensor_of(const Argument& argument) {
  Value* const* value = argument.get<Value*>();
  return value && *value && (*value)->kind == ValueKind::kTensor ? *value : nullptr;
}

bool any_complex(const Call& call) {
  bool found = false;
  const auto look = [&found](const Value* value) {
    found = found || (value && base::is_complex(value->dtype));
  };
  for (const Argument& argument : call.arguments) {
    argument.each_value(look);
    // A comparison of real tensors with a complex number has no complex tensor.
    found = found || argument.get<std::complex<double>>();
  }
  for (const Value* output : call.outputs) look(output);
  return found;
}

std::uint32_t call_number(std::string_view key) {
  std::uint32_t number = 0;
  const std::size_t at = key.rfind('@');
  if (at == std::string_view::npos) return 0;
  const char* const end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(key.data() + at + 1, end, number);
  return error == std::errc() && stop == end ? number : 0;
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
  // Neighboring calls mostly come from the same line.
  if (!sources_.empty()) {
    const Source& last = sources_.back();
    if (last.stack_trace == source.stack_trace && last.modules == source.modules) return &last;
  }
  return &sources_.emplace_back(std::move(source));
}

}  // namespace sardonyx::program
