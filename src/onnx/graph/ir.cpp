#include "onnx/graph/ir.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <unordered_map>

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kSharedConstantBytes = 1024;

std::string constant_name(const Tensor& tensor) {
  const std::string dtype(base::dtype_name(tensor.dtype));
  if (tensor.element_count() > 4 || tensor.element_count() == 0) return "constant";
  std::string name = dtype;
  if (const auto ints = tensor.ints()) {
    for (const std::int64_t value : *ints) name += fmt::format("_{}", value);
    return name;
  }
  if (tensor.element_count() != 1) return "constant";
  if (const auto reals = tensor.reals()) return fmt::format("{}_{:g}", dtype, reals->front());
  return "constant";
}

std::string content_key(const Tensor& tensor) {
  std::string key(1, static_cast<char>(tensor.dtype));
  key.append(reinterpret_cast<const char*>(tensor.dims.data()),
             tensor.dims.size() * sizeof(std::int64_t));
  key += '|';
  if (tensor.data != nullptr)
    key.append(reinterpret_cast<const char*>(tensor.data),
               static_cast<std::size_t>(tensor.byte_count()));
  return key;
}

void drop_use(ValueInfo* value, const Node* node, std::size_t index) {
  if (value == nullptr) return;
  const auto found = std::ranges::find_if(
      value->uses, [&](const Use& use) { return use.node == node && use.index == index; });
  assert(found != value->uses.end());
  value->uses.erase(found);
}

void link(Graph* graph, Node* node, Node* previous, Node* next) {
  node->graph = graph;
  node->previous = previous;
  node->next = next;
  (previous != nullptr ? previous->next : graph->first) = node;
  (next != nullptr ? next->previous : graph->last) = node;
  for (ValueInfo* output : node->outputs)
    if (output != nullptr) output->graph = graph;
}

}  // namespace

// Names in use, with the number to try next after a clash; small constants by content.
struct Model::Tables {
  std::unordered_map<std::string, std::uint32_t> names;
  std::unordered_map<std::string, ValueInfo*> constants;
  std::vector<Graph*> graphs;
};

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes)
    if (a.name == attribute) return &a;
  return nullptr;
}

std::int64_t Node::int_or(std::string_view attribute, std::int64_t otherwise) const {
  const Attribute* found = find(attribute);
  if (found == nullptr) return otherwise;
  if (const auto* value = std::get_if<std::int64_t>(&found->data)) return *value;
  if (const auto* dtype = std::get_if<DType>(&found->data)) return static_cast<int>(*dtype);
  return otherwise;
}

float Node::float_or(std::string_view attribute, float otherwise) const {
  const Attribute* found = find(attribute);
  const auto* value = found == nullptr ? nullptr : std::get_if<float>(&found->data);
  return value == nullptr ? otherwise : *value;
}

std::string Node::string_or(std::string_view attribute, std::string otherwise) const {
  const Attribute* found = find(attribute);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(&found->data);
  return value == nullptr ? std::move(otherwise) : *value;
}

const std::vector<std::int64_t>* Node::ints(std::string_view attribute) const {
  const Attribute* found = find(attribute);
  return found == nullptr ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->data);
}

Model::Model(std::shared_ptr<symbolic::Pool> shared_pool)
    : pool(std::move(shared_pool)), tables_(std::make_shared<Tables>()) {
  graph = add_graph("main_graph", nullptr);
}

Graph* Model::add_graph(std::string name, Graph* parent) {
  Graph& added = graphs_.emplace_back();
  added.name = std::move(name);
  added.parent = parent;
  added.model = this;
  tables_->graphs.push_back(&added);
  return &added;
}

ValueInfo* Model::add_value(std::string name) {
  ValueInfo& value = values_.emplace_back();
  value.id = value_count() - 1;
  value.name = unique_name(name);
  return &value;
}

ValueInfo* Model::add_input(Graph* to, std::string name) {
  ValueInfo* value = add_value(std::move(name));
  value->graph = to;
  to->inputs.push_back(value);
  return value;
}

ValueInfo* Model::add_weight(std::string name, Tensor tensor) {
  ValueInfo* value = add_value(std::move(name));
  value->dtype = tensor.dtype;
  value->has_rank = true;
  value->shape.assign(tensor.dims.begin(), tensor.dims.end());
  value->graph = graph;
  value->is_weight = true;
  value->constant = std::make_shared<const Tensor>(std::move(tensor));
  initializers.push_back(value);
  return value;
}

ValueInfo* Model::add_constant(Tensor tensor, std::string_view name_hint) {
  const bool shared = tensor.strings.empty() && tensor.contiguous() && !tensor.missing &&
                      tensor.byte_count() <= kSharedConstantBytes;
  std::string key = shared ? content_key(tensor) : std::string();
  if (shared) {
    const auto found = tables_->constants.find(key);
    // A constant that a pass has since given other data is not this one any more.
    if (found != tables_->constants.end() && found->second->constant != nullptr &&
        content_key(*found->second->constant) == key)
      return found->second;
  }
  std::string name = name_hint.empty() ? constant_name(tensor) : std::string(name_hint);
  ValueInfo* value = add_weight(std::move(name), std::move(tensor));
  value->is_weight = false;
  if (shared) tables_->constants[std::move(key)] = value;
  return value;
}

Node* Model::add_node(std::string op_type, std::string node_domain) {
  Node& node = nodes_.emplace_back();
  node.op_type = std::move(op_type);
  node.domain = std::move(node_domain);
  node.id = node_count() - 1;
  return &node;
}

const Origin* Model::add_origin(Origin origin) { return &origins_.emplace_back(std::move(origin)); }

std::string Model::unique_name(std::string_view wanted) {
  std::string name(wanted);
  const auto [first, added] = tables_->names.try_emplace(name, 1);
  if (added) return name;
  std::uint32_t& next = first->second;  // references stay valid when the table grows
  while (true) {
    std::string candidate = fmt::format("{}_{}", wanted, next++);
    if (tables_->names.try_emplace(candidate, 1).second) return candidate;
  }
}

void Model::rename(ValueInfo* value, std::string_view wanted) {
  if (value->name == wanted) return;
  tables_->names.erase(value->name);
  value->name = unique_name(wanted);
}

namespace {

void unlink(Node* node) {
  Graph* graph = node->graph;
  (node->previous != nullptr ? node->previous->next : graph->first) = node->next;
  (node->next != nullptr ? node->next->previous : graph->last) = node->previous;
}

}  // namespace

void move_to_end(Graph* graph, Node* node) {
  unlink(node);
  append(graph, node);
  for (Graph* body : bodies(node)) body->parent = graph;
}

void append(Graph* graph, Node* node) { link(graph, node, graph->last, nullptr); }

void move_before(Node* position, Node* node) {
  unlink(node);
  insert_before(position, node);
}

void insert_before(Node* position, Node* node) {
  link(position->graph, node, position->previous, position);
}

void insert_after(Node* position, Node* node) {
  link(position->graph, node, position, position->next);
}

namespace {

// The nodes of a body that goes away let go of what they read, outer values among it.
void release_body(Graph* body) {
  for (Node* node = body->first; node != nullptr; node = node->next) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) drop_use(node->inputs[i], node, i);
    node->inputs.clear();
    for (Graph* inner : bodies(node)) release_body(inner);
    node->graph = nullptr;
  }
  for (ValueInfo* output : body->outputs) --output->output_uses;
  body->outputs.clear();
  body->first = body->last = nullptr;
}

}  // namespace

void erase(Node* node) {
  assert(std::ranges::none_of(node->outputs,
                              [](const ValueInfo* v) { return v != nullptr && has_uses(v); }));
  for (std::size_t i = 0; i < node->inputs.size(); ++i) drop_use(node->inputs[i], node, i);
  node->inputs.clear();
  for (Graph* body : bodies(node)) release_body(body);
  unlink(node);
  // `next` stays, so that a loop standing on this node can go on.
  node->graph = nullptr;
}

void set_input(Node* node, std::size_t index, ValueInfo* value) {
  while (node->inputs.size() <= index) node->inputs.push_back(nullptr);
  drop_use(node->inputs[index], node, index);
  node->inputs[index] = value;
  if (value != nullptr) value->uses.push_back({node, static_cast<std::uint32_t>(index)});
}

void add_input(Node* node, ValueInfo* value) {
  node->inputs.push_back(value);
  if (value != nullptr)
    value->uses.push_back({node, static_cast<std::uint32_t>(node->inputs.size() - 1)});
}

void add_output(Node* node, ValueInfo* value) {
  node->outputs.push_back(value);
  if (value == nullptr) return;
  value->producer = node;
  value->index = static_cast<std::uint32_t>(node->outputs.size() - 1);
  value->graph = node->graph;
}

void set_outputs(Graph* graph, std::vector<ValueInfo*> outputs) {
  for (ValueInfo* value : outputs) ++value->output_uses;
  for (ValueInfo* value : graph->outputs) --value->output_uses;
  graph->outputs = std::move(outputs);
}

void replace_all_uses(ValueInfo* from, ValueInfo* to) {
  if (from == to) return;
  for (const Use& use : from->uses) {
    use.node->inputs[use.index] = to;
    to->uses.push_back(use);
  }
  from->uses.clear();
  if (from->output_uses == 0) return;
  // A body may hand out a value of a graph around it, so that every graph is looked at.
  for (Graph* graph : from->graph->model->graphs()) {
    for (ValueInfo*& output : graph->outputs) {
      if (output != from) continue;
      output = to;
      --from->output_uses;
      ++to->output_uses;
    }
  }
}

std::span<Graph* const> Model::graphs() const { return tables_->graphs; }

bool has_uses(const ValueInfo* value) { return !value->uses.empty() || value->output_uses > 0; }

void set_attribute(Node* node, std::string name, Attribute::Data data) {
  for (Attribute& attribute : node->attributes) {
    if (attribute.name != name) continue;
    attribute.data = std::move(data);
    attribute.reference.clear();
    return;
  }
  node->attributes.push_back({std::move(name), std::move(data), {}});
}

std::vector<Graph*> bodies(const Node* node) {
  std::vector<Graph*> found;
  for (const Attribute& attribute : node->attributes) {
    if (const auto* one = std::get_if<Graph*>(&attribute.data)) found.push_back(*one);
    if (const auto* many = std::get_if<std::vector<Graph*>>(&attribute.data))
      found.insert(found.end(), many->begin(), many->end());
  }
  return found;
}

}  // namespace sardonyx::onnx
