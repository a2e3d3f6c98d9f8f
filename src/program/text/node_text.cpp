#include "program/text/node_text.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

namespace sardonyx::program {
namespace {

using Readers = std::unordered_map<const Value*, std::size_t>;

std::string argument_text(const Argument& argument) {
  struct Visitor {
    std::string operator()(None) const { return "None"; }
    std::string operator()(bool flag) const { return flag ? "True" : "False"; }
    std::string operator()(const symbolic::Expr& e) const { return e.known() ? e.str() : "?"; }
    std::string operator()(double real) const { return fmt::format("{}", real); }
    std::string operator()(const std::complex<double>& value) const {
      return fmt::format("({}+{}j)", value.real(), value.imag());
    }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(base::DType dtype) const {
      return fmt::format("torch.{}", base::dtype_name(dtype));
    }
    std::string operator()(const Enumerator& enumerator) const { return enumerator.name; }
    std::string operator()(const Opaque& opaque) const { return opaque.description; }
    std::string operator()(const Value* value) const {
      return value == nullptr ? std::string("None") : fmt::format("%{}", value->name);
    }
    std::string operator()(const Graph* graph) const { return fmt::format("%{}", graph->name); }
    std::string operator()(const List& list) const {
      std::string text = "[";
      for (const Argument& item : list) {
        if (text.size() > 1) text += ", ";
        text += argument_text(item);
      }
      return text + "]";
    }
  };
  return std::visit(Visitor(), argument.data);
}

bool is_default(const Parameter& parameter, const Argument& argument) {
  if (!parameter.default_value) return false;
  return parameter.default_value->data.index() == argument.data.index() &&
         argument_text(*parameter.default_value) == argument_text(argument);
}

// "aten::linear" is torch.ops.aten.linear.default.
std::string target_text(const Schema& schema) {
  return fmt::format("torch.ops.{}.{}.{}", schema.space(), schema.base_name(),
                     schema.overload.empty() ? "default" : schema.overload);
}

// Defaults at the end are left out, as they are in what users write.
std::string call_text(const Call& call, std::size_t users) {
  std::string positional, named;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Parameter& parameter = call.schema->parameters[i];
    if (!parameter.keyword_only && !is_default(parameter, call.arguments[i])) shown = i + 1;
  }
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Parameter& parameter = call.schema->parameters[i];
    const std::string text = argument_text(call.arguments[i]);
    if (parameter.keyword_only) {
      if (is_default(parameter, call.arguments[i])) continue;
      named += fmt::format("{}{}: {}", named.empty() ? "" : ", ", parameter.name, text);
    } else if (i < shown) {
      positional += fmt::format("{}{}", positional.empty() ? "" : ", ", text);
    }
  }
  return fmt::format(
      "%{} : [num_users={}] = call_function[target={}](args = ({}{}), kwargs = {{{}}})", call.name,
      users, target_text(*call.schema), positional, shown == 1 ? "," : "", named);
}

void count(const Graph& graph, Readers& readers) {
  const auto read = [&readers](const Value* value) { ++readers[value]; };
  for (const Call* call : graph.calls) {
    for (const Argument& argument : call->arguments) {
      argument.each_value(read);
      if (Graph* const* body = argument.get<Graph*>()) count(**body, readers);
    }
  }
  for (const Argument& output : graph.outputs) output.each_value(read);
}

// A call of several results is read by the getitem of each.
std::size_t users(const Call& call, const Readers& readers) {
  std::size_t found = 0;
  for (const Value* output : call.outputs) {
    const auto count = readers.find(output);
    if (output == nullptr || count == readers.end()) continue;
    found += call.outputs.size() > 1 ? 1 : count->second;
  }
  return found;
}

void record(const Graph& graph, const Readers& readers, Program& program) {
  for (const Call* call : graph.calls) {
    program.node_texts.emplace(call->name, call_text(*call, users(*call, readers)));
    for (const Argument& argument : call->arguments) {
      if (Graph* const* body = argument.get<Graph*>()) record(**body, readers, program);
    }
  }
}

}  // namespace

void record_node_texts(Program& program) {
  if (program.graph == nullptr) return;
  Readers readers;
  count(*program.graph, readers);
  record(*program.graph, readers, program);
}

}  // namespace sardonyx::program
