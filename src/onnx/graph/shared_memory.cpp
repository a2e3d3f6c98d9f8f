#include "onnx/graph/shared_memory.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/operators/traits.h"

namespace sardonyx::onnx {
namespace {

// Operators that runtimes do not compute: their results are the same memory.
bool is_view(const Node& node) {
  static constexpr std::string_view kViews[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten",
                                                "Identity"};
  return std::ranges::any_of(kViews, [&node](std::string_view each) { return node.is(each); });
}

// Their kernels update a state in place.
bool updates_in_place(const Node& node) {
  return node.domain == "com.microsoft" &&
         (node.op_type == "LinearAttention" || node.op_type == "CausalConvWithState");
}

// The nodes of the graph that read the value's memory.
void add_readers(const ValueInfo& value, const Graph* graph, std::vector<const Node*>& readers) {
  for (const Use& use : value.uses) {
    const Node* reader = ancestor_in(graph, use.node);
    const bool passes_on = reader == use.node && use.index == 0 && is_view(*reader);
    if (passes_on && reader->output() != nullptr && reader->output()->returns.empty())
      add_readers(*reader->output(), graph, readers);
    else if (reader != nullptr)
      readers.push_back(reader);
  }
}

void add_read_values(const Node& node, std::vector<const ValueInfo*>& values);

void add_values_of_body(const Graph* body, std::vector<const ValueInfo*>& values) {
  for (const Node* node = body->first; node != nullptr; node = node->next)
    add_read_values(*node, values);
  values.insert(values.end(), body->outputs.begin(), body->outputs.end());
}

void add_read_values(const Node& node, std::vector<const ValueInfo*>& values) {
  for (const ValueInfo* input : node.inputs)
    if (input != nullptr) values.push_back(input);
  for (const Attribute& attribute : node.attributes) {
    if (const auto* body = std::get_if<Graph*>(&attribute.data)) add_values_of_body(*body, values);
    if (const auto* bodies = std::get_if<std::vector<Graph*>>(&attribute.data))
      for (const Graph* body : *bodies) add_values_of_body(body, values);
  }
}

// The nodes of the graph whose results `last` needs.
std::unordered_set<const Node*> ancestors(const Node* last, const Graph* graph) {
  std::unordered_set<const Node*> found;
  std::vector<const Node*> open = {last};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    std::vector<const ValueInfo*> values;
    add_read_values(*node, values);
    for (const ValueInfo* value : values)
      if (value->producer != nullptr && value->producer->graph == graph &&
          found.insert(value->producer).second)
        open.push_back(value->producer);
  }
  return found;
}

// What makes the output; null where that is only a view of an input.
const Node* maker_of(const ValueInfo& input, const ValueInfo& output) {
  const Node* last = output.producer;
  while (last != nullptr && is_view(*last) && last->input(0) != &input) {
    if (last->input(0) == nullptr || last->input(0)->producer == nullptr) break;
    last = last->input(0)->producer;
  }
  return last;
}

// What reads the input's memory, and may run when `last` has begun to write over it.
std::vector<const Node*> late_readers(const ValueInfo& input, const Node* last) {
  std::vector<const Node*> readers;
  add_readers(input, input.graph, readers);
  if (last == nullptr) return readers;
  const std::unordered_set<const Node*> earlier = ancestors(last, input.graph);
  std::erase_if(readers, [&](const Node* reader) {
    if (reader != last) return earlier.contains(reader);
    return is_view(*reader) || updates_in_place(*reader) ||
           has_trait(reader->op, Trait::kBroadcasts) || has_trait(reader->op, Trait::kPointwise);
  });
  return readers;
}

bool has_fixed_rows(const Shape& shape) {
  return std::ranges::all_of(shape.begin() + 1, shape.end(),
                             [](const symbolic::Expr& size) { return size.is_constant(); });
}

// A result of the node with as many rows; null where it has none.
ValueInfo* result_of_rows(const Node& node, const symbolic::Expr& rows) {
  for (ValueInfo* value : node.outputs)
    if (value != nullptr && value->has_rank && !value->shape.empty() && value->shape[0] == rows)
      return value;
  return nullptr;
}

// It counts as of the same call, so that it is in the same file of a model of several.
void put_after(Node*& place, Node* node) {
  node->origin = place->origin;
  enter_uses(node);
  insert_after(place, node);
  place = node;
}

ValueInfo* add_ints(Model& model, Node*& place, const char* type, std::vector<ValueInfo*> inputs,
                    std::int64_t count) {
  Node* node = model.add_node(type, "");
  node->inputs = std::move(inputs);
  ValueInfo* value = model.add_value("state_sizes");
  value->dtype = base::DType::kInt64;
  value->has_rank = true;
  value->shape = {count};
  add_output(node, value);
  put_after(place, node);
  return value;
}

// The number of rows, [1], that is known when all of these are.
ValueInfo* rows_of(Model& model, Node*& place, const std::vector<ValueInfo*>& values) {
  std::vector<ValueInfo*> counts;
  for (ValueInfo* value : values) {
    counts.push_back(add_ints(model, place, "Shape", {value}, 1));
    set_attribute(counts.back()->producer, "start", std::int64_t{0});
    set_attribute(counts.back()->producer, "end", std::int64_t{1});
  }
  return counts.size() == 1 ? counts[0] : add_ints(model, place, "Max", std::move(counts), 1);
}

// A copy of the value that is made when the sizes are known; it takes the value's name and place.
void return_copy(Model& model, Node* place, ValueInfo& value, ValueInfo* sizes) {
  Node* node = model.add_node("Expand", "");
  node->inputs = {&value, sizes};
  ValueInfo* copy = model.add_value(value.name);
  copy->dtype = value.dtype;
  copy->has_rank = true;
  copy->shape = value.shape;
  add_output(node, copy);
  put_after(place, node);
  std::vector<ValueInfo*> outputs = model.graph->outputs;
  std::ranges::replace(outputs, &value, copy);
  set_outputs(model.graph, std::move(outputs));
  const std::string name = value.name;
  model.rename(&value, name + "_unordered");
  model.rename(copy, name);
}

}  // namespace

bool may_share_memory(const ValueInfo& input, const ValueInfo& output) {
  const Node* last = maker_of(input, output);
  return (last == nullptr && &input == &output) || late_readers(input, last).empty();
}

void write_after_readers(Model& model, const ValueInfo& input, ValueInfo& output) {
  if (output.producer == nullptr || !output.has_rank || output.shape.empty()) return;
  const symbolic::Expr rows = output.shape[0];
  if (!rows.known() || rows.is_constant() || !has_fixed_rows(output.shape)) return;
  std::vector<ValueInfo*> read;
  for (const Node* reader : late_readers(input, maker_of(input, output))) {
    read.push_back(result_of_rows(*reader, rows));
    if (read.back() == nullptr) return;
  }
  if (read.empty()) return;
  Node* place = output.producer;
  for (const ValueInfo* value : read)
    if (precedes(place, value->producer)) place = value->producer;
  ValueInfo* sizes = rows_of(model, place, read);
  const auto rank = static_cast<std::int64_t>(output.shape.size());
  if (rank > 1) {
    const std::vector<std::int64_t> ones(output.shape.size() - 1, 1);
    ValueInfo* rest = model.add_constant(Tensor::of_ints(ones, {rank - 1}));
    sizes = add_ints(model, place, "Concat", {sizes, rest}, rank);
    set_attribute(sizes->producer, "axis", std::int64_t{0});
  }
  return_copy(model, place, output, sizes);
}

}  // namespace sardonyx::onnx
