#include "proto/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "proto/attribute_reader.h"
#include "proto/decoder.h"
#include "proto/fields.h"
#include "proto/type_reader.h"

namespace sardonyx::proto {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

// Protobuf's own readers end at 100 messages, which is 33 graphs.
constexpr std::size_t kDeepestGraph = 64;

[[noreturn]] void contradict(std::string message) { base::fail("SX1152", std::move(message)); }

std::string_view name_of_value_info(std::string_view message) {
  std::string_view name;
  for (Decoder in(message); in.next();) {
    if (in.field() == field::value_info::kName) name = in.text();
  }
  return name;
}

std::string_view name_of_tensor(std::string_view message) {
  std::string_view name;
  for (Decoder in(message); in.next();) {
    if (in.field() == field::tensor::kName) name = in.text();
  }
  return name;
}

// ONNX's own domain has two spellings.
std::string_view domain_of(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace

// A graph's, or a function's, fields sorted by what they are.
struct GraphReader::Parts {
  Messages nodes, initializers, inputs, outputs, value_infos;
  std::string_view name;
};

void GraphReader::main_graph(std::string_view message) { read_into(model_.graph, message); }

Graph* GraphReader::body(std::string_view message, Graph* parent) {
  Graph* const result = model_.add_graph({}, parent);
  read_into(result, message);
  return result;
}

void GraphReader::read_into(Graph* graph, std::string_view message) {
  namespace f = field::graph;
  if (scopes_.size() >= kDeepestGraph)
    base::fail("SX1151", fmt::format("graphs are nested more than {} deep", kDeepestGraph));
  Parts parts;
  for (Decoder in(message); in.next();) {
    switch (in.field()) {
      case f::kNode:
        parts.nodes.push_back(in.text());
        break;
      case f::kName:
        parts.name = in.text();
        break;
      case f::kInitializer:
        parts.initializers.push_back(in.text());
        break;
      case f::kInput:
        parts.inputs.push_back(in.text());
        break;
      case f::kOutput:
        parts.outputs.push_back(in.text());
        break;
      case f::kValueInfo:
        parts.value_infos.push_back(in.text());
        break;
      case f::kSparseInitializer:
        base::fail("SX1153", "sparse initializers are not supported");
      default:
        break;
    }
  }
  graph->name = parts.name;
  scopes_.emplace_back();
  fill(graph, parts);
  scopes_.pop_back();
}

void GraphReader::fill(Graph* graph, const Parts& parts) {
  declare(graph, parts);
  for (const std::string_view message : parts.nodes) node(graph, message);
  std::vector<ValueInfo*> outputs;
  for (const std::string_view message : parts.outputs) {
    const std::string_view name = name_of_value_info(message);
    outputs.push_back(find_defined(name));
    describe(message);
  }
  onnx::set_outputs(graph, std::move(outputs));
  for (const std::string_view message : parts.value_infos) describe(message);
}

// All names of the graph come before its nodes, so that a body's name never takes the place of one
// that the graph around it uses later.
void GraphReader::declare(Graph* graph, const Parts& parts) {
  for (const std::string_view message : parts.initializers) declare_initializer(message);
  for (const std::string_view message : parts.inputs) {
    const std::string_view name = name_of_value_info(message);
    if (const auto known = scopes_.back().find(name);
        known != scopes_.back().end() && known->second->constant != nullptr)
      continue;
    ValueInfo* const input = model_.add_input(graph, std::string(name));
    declare_name(name, input);
    define(input);
    describe(message);
  }
  for (const std::string_view message : parts.nodes) {
    for (Decoder in(message); in.next();) {
      if (in.field() != field::node::kOutput) continue;
      const std::string_view name = in.text();
      if (!name.empty()) declare_name(name, model_.add_value(std::string(name)));
    }
  }
}

void GraphReader::declare_initializer(std::string_view message) {
  NamedTensor read = read_tensor(message, source_);
  ValueInfo* const value = model_.add_weight(std::move(read.name), std::move(read.tensor));
  declare_name(name_of_tensor(message), value);
  define(value);
}

void GraphReader::declare_name(std::string_view name, ValueInfo* value) {
  if (name.empty()) contradict("an input or initializer has no name");
  if (!scopes_.back().try_emplace(name, value).second)
    contradict(fmt::format("the value '{}' is defined twice", name));
}

// The type in a ValueInfoProto, where it tells something of a value of this graph.
void GraphReader::describe(std::string_view message) {
  const auto known = scopes_.back().find(name_of_value_info(message));
  if (known == scopes_.back().end() || known->second->constant != nullptr) return;
  try {
    for (Decoder in(message); in.next();) {
      if (in.field() == field::value_info::kType)
        read_type(in.text(), *known->second, *model_.pool);
    }
  } catch (base::Error& error) {
    error.within(fmt::format("in the type of '{}'", known->first));
    throw;
  }
}

void GraphReader::node(Graph* graph, std::string_view message) {
  namespace f = field::node;
  std::string_view name, op_type, domain, overload;
  Messages inputs, outputs, attributes;
  std::vector<std::pair<std::string, std::string>> metadata;
  for (Decoder in(message); in.next();) {
    switch (in.field()) {
      case f::kInput:
        inputs.push_back(in.text());
        break;
      case f::kOutput:
        outputs.push_back(in.text());
        break;
      case f::kName:
        name = in.text();
        break;
      case f::kOpType:
        op_type = in.text();
        break;
      case f::kAttribute:
        attributes.push_back(in.text());
        break;
      case f::kDomain:
        domain = domain_of(in.text());
        break;
      case f::kOverload:
        overload = in.text();
        break;
      case f::kMetadataProps:
        metadata.push_back(read_entry(in.text()));
        break;
      default:
        break;
    }
  }
  try {
    if (op_type.empty()) contradict("a node has no operator");
    Node* const made = model_.add_node(std::string(op_type), std::string(domain));
    made->name = name;
    made->overload = overload;
    made->metadata = std::move(metadata);
    for (const std::string_view each : attributes)
      made->attributes.push_back(attribute(graph, each));
    connect(made, inputs, outputs);
    onnx::append(graph, made);
  } catch (base::Error& error) {
    error.within(fmt::format("in the node '{}' ({})", name, op_type));
    throw;
  }
}

void GraphReader::connect(Node* node, const Messages& inputs, const Messages& outputs) {
  for (const std::string_view name : inputs)
    onnx::add_input(node, name.empty() ? nullptr : find_defined(name));
  for (const std::string_view name : outputs) {
    ValueInfo* const output = name.empty() ? nullptr : scopes_.back().at(name);
    onnx::add_output(node, output);
    if (output != nullptr) define(output);
  }
}

onnx::Attribute GraphReader::attribute(Graph* graph, std::string_view message) {
  ReadAttribute read = read_attribute(message, source_);
  onnx::Attribute& result = read.attribute;
  const bool graphs = read.type == AttributeType::kGraph || read.type == AttributeType::kGraphs;
  if (graphs && !result.reference.empty())
    base::fail("SX1153", fmt::format("the attribute '{}' refers to a graph", result.name));
  if (read.type == AttributeType::kGraph) {
    if (read.graphs.empty())
      contradict(fmt::format("the attribute '{}' has no graph", result.name));
    result.data = body(read.graphs.front(), graph);
  } else if (read.type == AttributeType::kGraphs) {
    std::vector<Graph*> bodies;
    for (const std::string_view each : read.graphs) bodies.push_back(body(each, graph));
    result.data = std::move(bodies);
  }
  return std::move(result);
}

ValueInfo* GraphReader::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto known = scope->find(name); known != scope->end()) return known->second;
  }
  return nullptr;
}

ValueInfo* GraphReader::find_defined(std::string_view name) const {
  ValueInfo* const value = find(name);
  if (value == nullptr) contradict(fmt::format("the value '{}' is not defined", name));
  if (value->id >= defined_.size() || !defined_[value->id])
    contradict(fmt::format("the value '{}' is used before it is defined", name));
  return value;
}

void GraphReader::define(const ValueInfo* value) {
  if (value->id >= defined_.size()) defined_.resize(value->id + std::size_t{1}, false);
  defined_[value->id] = true;
}

onnx::Function GraphReader::function(std::string_view message) {
  namespace f = field::function;
  onnx::Function result;
  Parts parts;
  Messages inputs, outputs, defaults;
  for (Decoder in(message); in.next();) {
    switch (in.field()) {
      case f::kName:
        result.name = in.text();
        break;
      case f::kInput:
        inputs.push_back(in.text());
        break;
      case f::kOutput:
        outputs.push_back(in.text());
        break;
      case f::kAttribute:
        result.attributes.emplace_back(in.text());
        break;
      case f::kNode:
        parts.nodes.push_back(in.text());
        break;
      case f::kOpsetImport:
        read_opset(in.text(), result.opsets);
        break;
      case f::kDomain:
        result.domain = domain_of(in.text());
        break;
      case f::kAttributeProto:
        defaults.push_back(in.text());
        break;
      case f::kValueInfo:
        parts.value_infos.push_back(in.text());
        break;
      case f::kOverload:
        result.overload = in.text();
        break;
      default:
        break;
    }
  }
  result.body = model_.add_graph(result.name, nullptr);
  for (const std::string_view each : defaults)
    result.attribute_defaults.push_back(attribute(result.body, each));
  scopes_.assign(1, {});
  for (const std::string_view name : inputs) {
    ValueInfo* const input = model_.add_input(result.body, std::string(name));
    declare_name(name, input);
    define(input);
  }
  fill(result.body, parts);
  std::vector<ValueInfo*> values;
  for (const std::string_view name : outputs) values.push_back(find_defined(name));
  onnx::set_outputs(result.body, std::move(values));
  scopes_.clear();
  return result;
}

std::pair<std::string, std::string> read_entry(std::string_view message) {
  std::pair<std::string, std::string> entry;
  for (Decoder in(message); in.next();) {
    if (in.field() == field::entry::kKey) entry.first = in.text();
    if (in.field() == field::entry::kValue) entry.second = in.text();
  }
  return entry;
}

void read_opset(std::string_view message, std::map<std::string, std::int64_t>& opsets) {
  std::string domain;
  std::int64_t version = 0;
  for (Decoder in(message); in.next();) {
    if (in.field() == field::opset::kDomain) domain = domain_of(in.text());
    if (in.field() == field::opset::kVersion) version = in.integer();
  }
  opsets[domain] = version;
}

}  // namespace sardonyx::proto
