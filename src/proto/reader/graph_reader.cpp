#include "proto/reader/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "proto/reader/attribute_reader.h"
#include "proto/reader/constant_reader.h"
#include "proto/reader/node_order.h"
#include "proto/reader/type_reader.h"
#include "proto/wire/decoder.h"
#include "proto/wire/fields.h"

namespace sardonyx::proto {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

// Protobuf's own readers end at 100 messages, which is 33 graphs.
constexpr std::size_t kDeepestGraph = 64;
// The version of the format in which initializers need not be inputs.
constexpr std::int64_t kFirstOverridable = 4;

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
  Messages nodes, initializers, sparse, inputs, outputs, value_infos, annotations;
  std::string_view name;
  std::string further;
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
      case f::kAnnotation:
        parts.annotations.push_back(in.text());
        break;
      case f::kSparseInitializer:
        parts.sparse.push_back(in.text());
        break;
      default:
        parts.further += in.whole();
        break;
    }
  }
  graph->name = parts.name;
  graph->carried = std::move(parts.further);
  scopes_.emplace_back();
  fill(graph, parts);
  scopes_.pop_back();
}

void GraphReader::fill(Graph* graph, const Parts& parts) {
  declare(graph, parts);
  outputs_.emplace_back();
  for (const std::string_view message : parts.outputs)
    outputs_.back().insert(name_of_value_info(message));
  if (outputs_.size() == 1)
    outputs_.back().insert(function_outputs_.begin(), function_outputs_.end());
  for (const std::string_view message : in_order(parts.nodes)) node(graph, message);
  outputs_.pop_back();
  std::vector<ValueInfo*> outputs;
  for (const std::string_view message : parts.outputs) {
    const std::string_view name = name_of_value_info(message);
    outputs.push_back(find_defined(name));
    describe(message);
  }
  onnx::set_outputs(graph, std::move(outputs));
  for (const std::string_view message : parts.value_infos) describe(message);
  annotate(graph, parts.annotations);
}

// A value of a graph under its name, which bodies side by side may share. What the graphs around it
// define keeps its own, and so do constants of other bodies, which the main graph holds.
ValueInfo* GraphReader::declare_value(const Graph* graph, std::string_view name) {
  const bool taken = find(name) != nullptr || hoisted_.contains(std::string(name));
  ValueInfo* const value =
      taken ? model_.add_value(name, graph) : model_.declare_value(std::string(name), graph);
  declare_name(name, value);
  return value;
}

// All names of the graph come before its nodes, so that a body's name never takes the place of one
// that the graph around it uses later.
void GraphReader::declare(Graph* graph, const Parts& parts) {
  // Since version 4 of the format callers may give an initializer that is an input another value.
  std::unordered_set<std::string_view> overridable;
  if (graph == model_.graph && model_.ir_version >= kFirstOverridable)
    for (const std::string_view message : parts.inputs)
      overridable.insert(name_of_value_info(message));
  for (const std::string_view message : parts.initializers)
    declare_initializer(graph, message, overridable.contains(name_of_tensor(message)));
  for (const std::string_view message : parts.sparse) declare_sparse(graph, message);
  for (const std::string_view message : parts.inputs) {
    const std::string_view name = name_of_value_info(message);
    const auto known = scopes_.back().find(name);
    if (known != scopes_.back().end() && known->second->constant != nullptr) continue;
    const bool fresh = known == scopes_.back().end() || known->second->initial == nullptr;
    ValueInfo* const input = fresh ? declare_value(graph, name) : known->second;
    input->graph = graph;
    graph->inputs.push_back(input);
    define(input);
    describe(message);
  }
  for (const std::string_view message : parts.nodes) {
    for (Decoder in(message); in.next();) {
      if (in.field() != field::node::kOutput) continue;
      const std::string_view name = in.text();
      if (!name.empty()) declare_value(graph, name);
    }
  }
}

void GraphReader::declare_initializer(Graph* graph, std::string_view message, bool overridable) {
  NamedTensor read = read_tensor(message, source_);
  const std::string_view name = name_of_tensor(message);
  ValueInfo* value = nullptr;
  if (overridable) {
    value = declare_value(graph, name);
    value->dtype = read.tensor.dtype;
    value->has_rank = true;
    value->shape.assign(read.tensor.dims.begin(), read.tensor.dims.end());
    value->initial = std::make_shared<const onnx::Tensor>(std::move(read.tensor));
  } else {
    value = model_.add_weight(std::move(read.name), std::move(read.tensor));
    value->is_weight = is_weight(*value->constant);
    if (graph != model_.graph) hoisted_.insert(value->name);
    declare_name(name, value);
    define(value);
  }
  if (read.further.empty()) return;
  value->carried = std::make_shared<const onnx::Carried>(
      onnx::Carried{.type = {}, .info = {}, .tensor = std::move(read.further), .sparse = {}});
}

// A tensor of which nothing is known but its type.
void GraphReader::declare_sparse(Graph* graph, std::string_view message) {
  std::string_view values;
  onnx::Shape shape;
  for (Decoder in(message); in.next();) {
    if (in.field() == field::sparse::kValues) {
      values = in.text();
    } else if (in.field() == field::sparse::kDims) {
      std::vector<std::int64_t> dims;
      in.integers(dims);
      shape.insert(shape.end(), dims.begin(), dims.end());
    }
  }
  const NamedTensor read = read_tensor(values, source_);
  ValueInfo* const value = declare_value(graph, name_of_tensor(values));
  value->graph = graph;
  value->dtype = read.tensor.dtype;
  value->has_rank = true;
  value->shape = std::move(shape);
  value->carried = std::make_shared<const onnx::Carried>(
      onnx::Carried{.type = {}, .info = {}, .tensor = {}, .sparse = std::string(message)});
  graph->sparse.push_back(value);
  define(value);
}

// Quantization parameters are initializers by name, which need have no other readers.
void GraphReader::annotate(Graph* graph, const Messages& messages) {
  for (const std::string_view message : messages) {
    std::string_view name;
    for (Decoder in(message); in.next();) {
      if (in.field() == field::annotation::kTensorName) name = in.text();
      if (in.field() != field::annotation::kParameters) continue;
      const std::string parameter = read_entry(in.text()).second;
      if (ValueInfo* const value = find(parameter)) value->is_pinned = value->constant != nullptr;
    }
    if (const ValueInfo* const value = find(name))
      graph->annotations.push_back({value, std::string(message)});
  }
}

void GraphReader::declare_name(std::string_view name, ValueInfo* value) {
  if (name.empty()) contradict("an input or initializer has no name");
  if (!scopes_.back().try_emplace(name, value).second)
    contradict(fmt::format("the value '{}' is defined twice", name));
}

// The type in a ValueInfoProto, where it is of a value of this graph.
void GraphReader::describe(std::string_view message) {
  const auto known = scopes_.back().find(name_of_value_info(message));
  if (known == scopes_.back().end() || known->second->constant != nullptr) return;
  ValueInfo& value = *known->second;
  onnx::Carried carried = value.carried != nullptr ? *value.carried : onnx::Carried{};
  carried.info.clear();
  try {
    for (Decoder in(message); in.next();) {
      if (in.field() == field::value_info::kType) {
        const std::string_view type = in.text();
        if (read_type(type, value, *model_.pool)) carried.type = type;
      } else if (in.field() != field::value_info::kName) {
        carried.info += in.whole();
      }
    }
  } catch (base::Error& error) {
    error.within(fmt::format("in the type of '{}'", known->first));
    throw;
  }
  if (value.carried != nullptr || !carried.type.empty() || !carried.info.empty())
    value.carried = std::make_shared<const onnx::Carried>(std::move(carried));
}

void GraphReader::node(Graph* graph, std::string_view message) {
  namespace f = field::node;
  std::string_view name, op_type, domain, overload;
  Messages inputs, outputs, attributes;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string further;
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
        further += in.whole();
        break;
    }
  }
  try {
    if (op_type.empty()) contradict("a node has no operator");
    Node* const made = model_.add_node(std::string(op_type), std::string(domain));
    made->name = name;
    made->overload = overload;
    made->metadata = std::move(metadata);
    made->carried = std::move(further);
    for (const std::string_view each : attributes)
      made->attributes.push_back(attribute(graph, each));
    connect(made, inputs, outputs);
    if (!hold(made, graph, outputs)) onnx::append(graph, made);
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

// A node Constant becomes a constant, under its name where nothing else has it. An output of its
// graph needs a node; before version 4 of the format, a constant of the model would be an input.
bool GraphReader::hold(Node* node, const Graph* graph, const Messages& names) {
  ValueInfo* const value = node->output();
  if (value == nullptr || model_.ir_version < kFirstOverridable ||
      outputs_.back().contains(names.front()))
    return false;
  std::optional<onnx::Tensor> data = constant_of(*node);
  if (!data) return false;
  value->producer = nullptr;
  value->graph = model_.graph;
  value->dtype = data->dtype;
  value->has_rank = true;
  value->shape.assign(data->dims.begin(), data->dims.end());
  value->constant = std::make_shared<const onnx::Tensor>(std::move(*data));
  value->is_weight = is_weight(*value->constant);
  model_.initializers.push_back(value);
  if (graph == model_.graph) return true;
  model_.move_to_main(value);
  hoisted_.insert(value->name);
  return true;
}

onnx::Attribute GraphReader::attribute(Graph* graph, std::string_view message) {
  ReadAttribute read = read_attribute(message, source_);
  onnx::Attribute& result = read.attribute;
  const bool graphs = read.type == AttributeType::kGraph || read.type == AttributeType::kGraphs;
  if (graphs && !result.reference.empty())
    base::fail("SX1153", fmt::format("the attribute '{}' refers to a graph", result.name));
  if (!result.reference.empty() && !in_function_)
    contradict(fmt::format("the attribute '{}' refers to one of a function, and stands in none",
                           result.name));
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
        result.carried += in.whole();
        break;
    }
  }
  result.body = model_.add_graph(result.name, nullptr);
  for (const std::string_view each : defaults)
    result.attribute_defaults.push_back(attribute(result.body, each));
  scopes_.assign(1, {});
  for (const std::string_view name : inputs) {
    ValueInfo* const input = declare_value(result.body, name);
    input->graph = result.body;
    result.body->inputs.push_back(input);
    define(input);
  }
  // Outputs come by name alone here.
  function_outputs_ = {outputs.begin(), outputs.end()};
  in_function_ = true;
  fill(result.body, parts);
  in_function_ = false;
  function_outputs_.clear();
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
