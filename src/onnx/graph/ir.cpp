#include "onnx/graph/ir.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <unordered_map>

#include "onnx/graph/names.h"
#include "onnx/operators/operator.h"

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

bool is_shared_by_content(const Tensor& tensor) {
  return tensor.strings.empty() && tensor.contiguous() && tensor.is_materialized() &&
         !tensor.missing && tensor.byte_count() <= kSharedConstantBytes;
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

void add_use(Node* node, std::size_t index) {
  node->slots.resize(node->inputs.size());
  ValueInfo* const value = node->inputs[index];
  if (value == nullptr) return;
  node->slots[index] = static_cast<std::uint32_t>(value->uses.size());
  value->uses.push_back({node, static_cast<std::uint32_t>(index)});
}

// The last use takes the place of the one that goes.
void drop_use(Node* node, std::size_t index) {
  ValueInfo* const value = node->inputs[index];
  if (value == nullptr) return;
  const std::uint32_t slot = node->slots[index];
  assert(slot < value->uses.size() && value->uses[slot].node == node);
  const Use last = value->uses.back();
  value->uses[slot] = last;
  last.node->slots[last.index] = slot;
  value->uses.pop_back();
}

void drop_uses(Node* node) {
  for (std::size_t i = 0; i < node->inputs.size(); ++i) drop_use(node, i);
  node->inputs.clear();
  node->slots.clear();
}

void add_return(Graph* graph, std::size_t index) {
  ValueInfo* const value = graph->outputs[index];
  graph->slots[index] = static_cast<std::uint32_t>(value->returns.size());
  value->returns.push_back({graph, static_cast<std::uint32_t>(index)});
}

void drop_return(Graph* graph, std::size_t index) {
  ValueInfo* const value = graph->outputs[index];
  const std::uint32_t slot = graph->slots[index];
  assert(slot < value->returns.size() && value->returns[slot].graph == graph);
  const Return last = value->returns.back();
  value->returns[slot] = last;
  last.graph->slots[last.index] = slot;
  value->returns.pop_back();
}

void move_name(ValueInfo* value, NameScope* to) {
  if (value->names == to) return;
  if (value->names != nullptr) value->names->release(value->name);
  value->name = to->unique(value->name);
  value->names = to;
}

void release_name(ValueInfo* value) {
  if (value->names != nullptr) value->names->release(value->name);
  value->names = nullptr;
}

void release_name(Node* node) {
  if (node->names != nullptr) node->names->release(node->name);
  node->names = nullptr;
}

// What belongs to a node that comes into a graph.
void take_in(Graph* graph, Node* node);

void take_in(Node* owner, Graph* body) {
  const bool moved = body->names != owner->graph->names;
  body->owner = owner;
  body->parent = owner->graph;
  body->names = owner->graph->names;
  if (!moved) return;
  for (ValueInfo* input : body->inputs) move_name(input, body->names);
  for (Node* node = body->first; node != nullptr; node = node->next) take_in(body, node);
}

void take_in(Graph* graph, Node* node) {
  node->graph = graph;
  for (ValueInfo* output : node->outputs) {
    if (output == nullptr) continue;
    output->graph = graph;
    move_name(output, graph->names);
  }
  if (node->names != nullptr && node->names != graph->names) {
    node->names->release(node->name);
    node->names = graph->names;
    node->name = node->names->unique(node->name);
  }
  for (Graph* body : bodies(node)) take_in(node, body);
}

constexpr std::uint64_t kOrderGap = std::uint64_t{1} << 20;

// A key between those of its neighbors; where there is none, the graph is numbered anew when
// somebody asks.
void give_order(Graph* graph, Node* node, const Node* previous, const Node* next) {
  const std::uint64_t low = previous != nullptr ? previous->order : 0;
  if (next == nullptr) {
    node->order = low + kOrderGap;
    return;
  }
  node->order = low + (next->order - low) / 2;
  if (node->order == low) graph->ordered = false;
}

void link(Graph* graph, Node* node, Node* previous, Node* next) {
  node->previous = previous;
  node->next = next;
  (previous != nullptr ? previous->next : graph->first) = node;
  (next != nullptr ? next->previous : graph->last) = node;
  give_order(graph, node, previous, next);
  take_in(graph, node);
}

void number(Graph* graph) {
  std::uint64_t order = 0;
  for (Node* node = graph->first; node != nullptr; node = node->next)
    node->order = (order += kOrderGap);
  graph->ordered = true;
}

}  // namespace

// Small constants by content; the names of the main graph and of each function.
struct Model::Tables {
  std::deque<NameScope> scopes;
  std::unordered_map<std::string, ValueInfo*> constants;
  std::size_t known = 0;  // initializers that have been entered, or looked at
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
  added.names = parent != nullptr ? parent->names : &tables_->scopes.emplace_back();
  return &added;
}

ValueInfo* Model::add_value(std::string_view name, const Graph* in) {
  const Graph* const where = in != nullptr ? in : graph;
  ValueInfo& value = values_.emplace_back();
  value.id = value_count() - 1;
  value.names = where->names;
  value.name = value.names->unique(name);
  return &value;
}

ValueInfo* Model::declare_value(std::string name, const Graph* in) {
  ValueInfo& value = values_.emplace_back();
  value.id = value_count() - 1;
  value.names = in->names;
  value.names->take(name);
  value.name = std::move(name);
  return &value;
}

ValueInfo* Model::add_input(Graph* to, std::string name) {
  ValueInfo* value = add_value(name, to);
  value->graph = to;
  to->inputs.push_back(value);
  return value;
}

ValueInfo* Model::add_weight(std::string name, Tensor tensor) {
  ValueInfo* value = add_value(name);
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
  const bool shared = is_shared_by_content(tensor);
  std::string key = shared ? content_key(tensor) : std::string();
  if (shared) {
    // Those of a file that was read are as good as our own, and have names already.
    for (; tables_->known < initializers.size(); ++tables_->known) {
      ValueInfo* const value = initializers[tables_->known];
      if (value->constant != nullptr && !value->is_weight && !value->is_pinned &&
          value->names != nullptr && value->carried == nullptr &&
          is_shared_by_content(*value->constant))
        tables_->constants.try_emplace(content_key(*value->constant), value);
    }
    const auto found = tables_->constants.find(key);
    // A constant that a pass has since given other data is not this one any more.
    if (found != tables_->constants.end() && found->second->constant != nullptr &&
        found->second->names != nullptr && is_shared_by_content(*found->second->constant) &&
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
  set_operator(&node, std::move(op_type), std::move(node_domain));
  node.id = node_count() - 1;
  return &node;
}

const Origin* Model::add_origin(Origin origin) { return &origins_.emplace_back(std::move(origin)); }

std::string Model::unique_name(std::string_view wanted) { return graph->names->unique(wanted); }

void Model::rename(ValueInfo* value, std::string_view wanted) {
  if (value->name == wanted) return;
  NameScope* const scope = value->names != nullptr ? value->names : graph->names;
  release_name(value);
  value->names = scope;
  value->name = scope->unique(wanted);
}

void Model::move_to_main(ValueInfo* value) {
  release_name(value);
  value->graph = graph;
  value->names = graph->names;
  value->name = value->names->unique(value->name);
}

void Model::name_node(Node* node, std::string_view wanted) {
  release_name(node);
  node->names = node->graph != nullptr ? node->graph->names : graph->names;
  node->name = node->names->unique(wanted);
}

void set_operator(Node* node, std::string op_type, std::string domain) {
  const Operator* known = domain.empty() ? find_operator(op_type) : nullptr;
  node->op = known != nullptr ? known->id : kUnknownOp;
  node->op_type = std::move(op_type);
  node->domain = std::move(domain);
}

namespace {

void unlink(Node* node) {
  Graph* graph = node->graph;
  (node->previous != nullptr ? node->previous->next : graph->first) = node->next;
  (node->next != nullptr ? node->next->previous : graph->last) = node->previous;
}

}  // namespace

void enter_uses(Node* node) {
  for (std::size_t i = 0; i < node->inputs.size(); ++i) add_use(node, i);
}

void discard(Node* node) {
  for (ValueInfo* output : node->outputs)
    if (output != nullptr) release_name(output);
  release_name(node);
}

void move_to_end(Graph* graph, Node* node) {
  unlink(node);
  append(graph, node);
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

void release_body(Graph* body);

// The node lets go of what it reads, outer values of its bodies among it, and of names.
void release(Node* node) {
  drop_uses(node);
  for (Graph* inner : bodies(node)) release_body(inner);
  for (ValueInfo* output : node->outputs)
    if (output != nullptr && output->producer == node) release_name(output);
  release_name(node);
  node->graph = nullptr;
}

void release_body(Graph* body) {
  for (Node* node = body->first; node != nullptr; node = node->next) release(node);
  for (ValueInfo* input : body->inputs) release_name(input);
  set_outputs(body, {});
  body->first = body->last = nullptr;
}

}  // namespace

void erase(Node* node) {
  assert(std::ranges::none_of(node->outputs,
                              [](const ValueInfo* v) { return v != nullptr && has_uses(v); }));
  unlink(node);
  // `next` stays, so that a loop standing on this node can go on.
  release(node);
}

void set_input(Node* node, std::size_t index, ValueInfo* value) {
  while (node->inputs.size() <= index) add_input(node, nullptr);
  drop_use(node, index);
  node->inputs[index] = value;
  add_use(node, index);
}

void add_input(Node* node, ValueInfo* value) {
  node->inputs.push_back(value);
  add_use(node, node->inputs.size() - 1);
}

void add_output(Node* node, ValueInfo* value) {
  node->outputs.push_back(value);
  if (value == nullptr) return;
  value->producer = node;
  value->index = static_cast<std::uint32_t>(node->outputs.size() - 1);
  value->graph = node->graph;
  if (node->graph != nullptr) move_name(value, node->graph->names);
}

void set_outputs(Graph* graph, std::vector<ValueInfo*> outputs) {
  for (std::size_t i = 0; i < graph->outputs.size(); ++i) drop_return(graph, i);
  graph->outputs = std::move(outputs);
  graph->slots.resize(graph->outputs.size());
  for (std::size_t i = 0; i < graph->outputs.size(); ++i) add_return(graph, i);
}

void replace_all_uses(ValueInfo* from, ValueInfo* to) {
  if (from == to) return;
  for (const Use& use : from->uses) {
    use.node->inputs[use.index] = to;
    use.node->slots[use.index] = static_cast<std::uint32_t>(to->uses.size());
    to->uses.push_back(use);
  }
  from->uses.clear();
  for (const Return& use : from->returns) {
    use.graph->outputs[use.index] = to;
    use.graph->slots[use.index] = static_cast<std::uint32_t>(to->returns.size());
    to->returns.push_back(use);
  }
  from->returns.clear();
}

bool same_text(const Shape& a, const Shape& b) {
  return std::ranges::equal(a, b, [](symbolic::Expr x, symbolic::Expr y) {
    return x == y || (!x.known() && !y.known());
  });
}

bool has_uses(const ValueInfo* value) {
  return !value->uses.empty() || !value->returns.empty() || value->is_pinned;
}

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

bool precedes(const Node* a, const Node* b) {
  assert(a->graph != nullptr && a->graph == b->graph);
  if (!a->graph->ordered) number(a->graph);
  return a->order < b->order;
}

const Node* ancestor_in(const Graph* graph, const Node* node) {
  while (node != nullptr && node->graph != graph)
    node = node->graph != nullptr ? node->graph->owner : nullptr;
  return node;
}

bool is_visible(const ValueInfo* value, const Node* node) {
  const Node* maker = value->producer;
  if (maker == nullptr) {
    return value->constant != nullptr || ancestor_in(value->graph, node) != nullptr;
  }
  const Node* const reader = ancestor_in(maker->graph, node);
  return reader != nullptr && precedes(maker, reader);
}

std::int64_t opset_of(const Graph* graph) {
  while (graph->parent != nullptr) graph = graph->parent;
  const Model& model = *graph->model;
  const std::map<std::string, std::int64_t>* opsets = &model.opsets;
  for (const Function& function : model.functions)
    if (function.body == graph) opsets = &function.opsets;
  const auto found = opsets->find("");
  return found == opsets->end() ? 0 : found->second;
}

}  // namespace sardonyx::onnx
