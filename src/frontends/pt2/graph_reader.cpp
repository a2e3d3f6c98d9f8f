#include "frontends/pt2/graph_reader.h"

#include "program/ir/compared_sizes.h"
#include "program/ir/target.h"

namespace sardonyx::pt2 {

using program::Argument;
using program::Value;
using program::ValueKind;

struct GraphReader::Node {
  explicit Node(JsonObject json) {
    for (const auto field : json) {
      if (field.key == "target") {
        target = as_text(field.value, field.key);
      } else if (field.key == "inputs") {
        inputs = as_array(field.value, field.key);
        has_inputs = true;
      } else if (field.key == "outputs") {
        outputs = as_array(field.value, field.key);
        has_outputs = true;
      } else if (field.key == "name" && !field.value.is_null()) {
        name = as_text(field.value, field.key);
      } else if (field.key == "is_hop_single_tensor_return" && !field.value.is_null()) {
        is_tuple_of_one = !as_flag(field.value, field.key);
      } else if (field.key == "metadata" && !field.value.is_null()) {
        metadata = as_object(field.value, field.key);
        has_metadata = true;
      }
    }
    if (target.empty() || !has_inputs || !has_outputs)
      wrong_shape("a node", "complete: it has no target, inputs or outputs");
  }

  std::string_view target;
  std::string_view name;
  JsonArray inputs;
  JsonArray outputs;
  JsonObject metadata;
  bool has_inputs = false;
  bool has_outputs = false;
  bool has_metadata = false;
  bool is_tuple_of_one = false;  // of higher-order operators: returns a tuple, whatever its length
};

namespace {

std::optional<std::string_view> input_name(const Tagged& input) {
  JsonObject object;
  if (input.value.get(object) != simdjson::SUCCESS) return std::nullopt;
  std::optional<Json> name = find_member(object, "name");
  if (!name) name = find_member(object, "as_name");
  return name ? std::optional(as_text(*name, "name")) : std::nullopt;
}

}  // namespace

program::Graph* GraphReader::read_main(JsonObject graph) { return read(graph, "main", main_); }

Argument GraphReader::main_argument(Json json) { return argument(json, main_); }

Value* GraphReader::main_value(std::string_view name) {
  const Argument found = value(name, main_);
  Value* const* held = found.get<Value*>();
  // A symbolic number stands for its expression; the signature wants the value itself.
  return held ? *held : main_.at(name);
}

program::Graph* GraphReader::read(JsonObject json, std::string name, Scope& scope) {
  std::vector<program::Element> outer = std::exchange(elements_, {});
  program::Graph* graph = program_.add_graph();
  graph->name = std::move(name);
  add_values(json, scope);
  read_inputs(array_member(json, "inputs"), *graph, scope);
  read_nodes(array_member(json, "nodes"), *graph, scope);
  for (const Json output : array_member(json, "outputs"))
    graph->outputs.push_back(argument(output, scope));
  program::drop_unread(*graph, std::exchange(elements_, std::move(outer)));
  return graph;
}

Value* GraphReader::add_value(std::string_view name, ValueKind kind, Scope& scope) {
  Value* value = program_.add_value();
  value->name = name;
  value->kind = kind;
  scope[name] = value;
  return value;
}

void GraphReader::add_values(JsonObject graph, Scope& scope) {
  const JsonObject tensors = object_member(graph, "tensor_values");
  scope.reserve(tensors.size());
  for (const auto field : tensors)
    metadata_.tensor(field.value, *add_value(field.key, ValueKind::kTensor, scope));
  constexpr std::pair<const char*, ValueKind> kNumbers[] = {
      {"sym_int_values", ValueKind::kInt},
      {"sym_bool_values", ValueKind::kBool},
      {"sym_float_values", ValueKind::kFloat}};
  for (const auto& [key, kind] : kNumbers) {
    const std::optional<Json> values = find_member(graph, key);
    if (!values) continue;
    for (const auto field : as_object(*values, key))
      add_value(field.key, kind, scope)->expr = metadata_.number(field.value);
  }
  if (const std::optional<Json> objects = find_member(graph, "custom_obj_values")) {
    for (const auto field : as_object(*objects, "custom_obj_values"))
      add_value(field.key, ValueKind::kObject, scope);
  }
}

// Constants among the inputs have no name. Of the main graph they are in the signature; in a body
// their positions count.
void GraphReader::read_inputs(JsonArray inputs, program::Graph& graph, Scope& scope) {
  for (const Json input : inputs) {
    const std::optional<std::string_view> name = input_name(as_tagged(input, "an input"));
    if (!name) {
      if (&scope != &main_) graph.inputs.push_back(nullptr);
      continue;
    }
    value(*name, scope);
    Value* held = scope.at(*name);
    held->index = static_cast<std::uint32_t>(graph.inputs.size());
    graph.inputs.push_back(held);
  }
}

void GraphReader::read_nodes(JsonArray nodes, program::Graph& graph, Scope& scope) {
  graph.calls.reserve(nodes.size());
  std::size_t position = 0;
  for (const Json json : nodes) {
    try {
      graph.calls.push_back(read_node(as_object(json, "a node"), scope));
    } catch (base::Error& error) {
      std::string name = "in node " + std::to_string(position);
      std::string_view text;
      if (json["name"].get(text) == simdjson::SUCCESS) name += " '" + std::string(text) + "'";
      if (json["target"].get(text) == simdjson::SUCCESS) name += " (" + std::string(text) + ")";
      error.within(name + " of graph '" + graph.name + "'");
      throw;
    }
    ++position;
  }
}

program::Call* GraphReader::read_node(JsonObject json, Scope& scope) {
  const Node node(json);
  program::Call* call = program_.add_call();
  call->name = node.name;
  if (node.has_metadata) call->source = metadata_.source(node.metadata);
  bind(node, *call, scope);
  read_outputs(node, *call, scope);
  // Nodes are nameless before PyTorch 2.7.
  if (call->name.empty() && !call->outputs.empty() && call->outputs[0])
    call->name = call->outputs[0]->name;
  return call;
}

const GraphReader::Target& GraphReader::target(std::string_view text) {
  const auto [found, is_new] = targets_.try_emplace(text);
  Target& known = found->second;
  if (is_new) {
    known.name = program::resolve_target(text);
    known.schema = program::find_schema(known.name);
    const std::string_view space = known.schema ? known.schema->space() : std::string_view();
    known.is_operator = known.schema && space != "sym" && space != "higher_order";
  }
  return known;
}

void GraphReader::bind(const Node& node, program::Call& call, Scope& scope) {
  const Target& known = target(node.target);
  std::vector<Argument> positional;
  std::vector<program::NamedArgument> named;
  bool fits = known.is_operator;
  for (const Json input : node.inputs) {
    std::string_view name;
    std::optional<Json> value;
    for (const auto field : as_object(input, "an argument")) {
      if (field.key == "name") name = as_text(field.value, field.key);
      if (field.key == "arg") value = field.value;
    }
    if (!value) wrong_shape("an argument", "complete: it has no value");
    if (name.empty()) {
      positional.push_back(argument(*value, scope));
    } else {
      fits = fits && known.schema->find(name);
      named.push_back({std::string(name), argument(*value, scope)});
    }
  }
  if (fits && positional.size() <= known.schema->parameters.size()) {
    call.schema = known.schema;
    call.arguments = program::bind(*known.schema, std::move(positional), std::move(named));
    return;
  }
  program::BoundCall bound =
      program::bind_target(program_, known.name, std::move(positional), std::move(named));
  call.schema = bound.schema;
  call.arguments = std::move(bound.arguments);
}

void GraphReader::read_outputs(const Node& node, program::Call& call, Scope& scope) {
  const bool is_element = node.outputs.size() > 1 || node.is_tuple_of_one;
  for (const Json output : node.outputs) read_output(output, is_element, call, scope);
}

void GraphReader::read_output(Json output, bool is_element, program::Call& call, Scope& scope) {
  const Tagged tagged = as_tagged(output, "an output");
  if (tagged.tag == "as_tensors") {
    for (const Json item : as_array(tagged.value, tagged.tag))
      add_output(text_member(as_object(item, tagged.tag), "name"), true, call, scope);
    return;
  }
  if (tagged.tag == "as_none") {
    if (is_element) call.outputs.push_back(nullptr);
    return;
  }
  const JsonObject object = as_object(tagged.value, tagged.tag);
  const bool is_number = tagged.tag.starts_with("as_sym_");
  const std::string_view name = text_member(object, is_number ? "as_name" : "name");
  if (tagged.tag == "as_custom_obj" && !scope.contains(name))
    add_value(name, ValueKind::kObject, scope);
  add_output(name, is_element && !is_number, call, scope);
}

void GraphReader::add_output(std::string_view name, bool is_element, program::Call& call,
                             Scope& scope) {
  const auto found = scope.find(name);
  if (found == scope.end())
    base::fail("SX1206", "the program says nothing of its value '" + std::string(name) + "'");
  Value* value = found->second;
  if (value->producer)
    base::fail("SX1205", "the value '" + std::string(name) + "' is computed twice");
  program::restore_comparison(call, *program_.pool, *value);
  program::restore_extremum(call, *program_.pool, *value);
  program::check_quotient(call, *program_.pool, *value);
  value->producer = &call;
  value->index = static_cast<std::uint32_t>(call.outputs.size());
  if (is_element) elements_.push_back({&call, call.outputs.size()});
  call.outputs.push_back(value);
}

}  // namespace sardonyx::pt2
