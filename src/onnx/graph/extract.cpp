#include "onnx/graph/extract.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx/operators/traits.h"

namespace sardonyx::onnx {
namespace {

void set_type_of(ValueInfo& made, const ValueInfo& value) {
  made.type_kind = value.type_kind;
  made.dtype = value.dtype;
  made.has_rank = value.has_rank;
  made.shape = value.shape;
  made.is_complex = value.is_complex;
}

class Extraction {
 public:
  // `of_constants`: nodes that come along where they are read.
  explicit Extraction(const Model& from,
                      const std::unordered_set<const Node*>* of_constants = nullptr)
      : from_(from), made_(std::make_unique<Model>(from.pool)), of_constants_(of_constants) {
    made_->opsets = from.opsets;
    made_->target = from.target;
    made_->ir_version = from.ir_version;
    made_->producer_name = from.producer_name;
    made_->producer_version = from.producer_version;
    for (const Function& function : from.functions) copy(function);
  }

  std::unique_ptr<Model> run(std::vector<const Node*> nodes, std::span<const std::string> wanted,
                             std::span<ValueInfo* const> further = {}) {
    taken_ = std::move(nodes);
    for (const Node* node : taken_) note(*node);
    for (const Node* node : taken_) copy(*node, made_->graph);
    add_outputs(wanted, further);
    return std::move(made_);
  }

 private:
  void note(const Node& node) {
    inside_.insert(&node);
    for (const Graph* body : bodies(&node)) {
      inside_bodies_.insert(body);
      for (const Node* inner = body->first; inner != nullptr; inner = inner->next) note(*inner);
    }
  }

  // Values of the new model bear the same names: they come from scopes in which those were unique.
  ValueInfo* like(const ValueInfo& value, const Graph* graph) {
    ValueInfo* made = made_->declare_value(value.name, graph);
    set_type_of(*made, value);
    made->graph = made_->graph;
    copies_[&value] = made;
    return made;
  }

  // A value as it is read: what was not made here is an input or a constant.
  ValueInfo* read(const ValueInfo* value) {
    if (value == nullptr) return nullptr;
    if (const auto found = copies_.find(value); found != copies_.end()) return found->second;
    if (of_constants_ != nullptr && of_constants_->contains(value->producer)) {
      copy(*value->producer, made_->graph);
      return copies_.at(value);
    }
    ValueInfo* made = like(*value, made_->graph);
    if (value->constant != nullptr && value->producer == nullptr) {
      made->constant = value->constant;
      made->is_weight = value->is_weight;
      made_->initializers.push_back(made);
    } else {
      made->initial = value->initial;
      made_->graph->inputs.push_back(made);
    }
    return made;
  }

  void copy(const Node& node, Graph* to) {
    Node* made = made_->add_node(node.op_type, node.domain);
    made->overload = node.overload;
    made->name = node.name;
    made->metadata = node.metadata;
    if (node.origin != nullptr) made->origin = made_->add_origin(*node.origin);
    for (const ValueInfo* input : node.inputs) add_input(made, read(input));
    for (const Attribute& attribute : node.attributes) {
      made->attributes.push_back({attribute.name, data(attribute, to), attribute.reference});
    }
    for (const ValueInfo* output : node.outputs)
      add_output(made, output == nullptr ? nullptr : like(*output, to));
    append(to, made);
  }

  Attribute::Data data(const Attribute& attribute, Graph* parent) {
    if (Graph* const* body = std::get_if<Graph*>(&attribute.data)) return copy(**body, parent);
    if (const auto* many = std::get_if<std::vector<Graph*>>(&attribute.data)) {
      std::vector<Graph*> made;
      for (const Graph* body : *many) made.push_back(copy(*body, parent));
      return made;
    }
    return attribute.data;
  }

  Graph* copy(const Graph& graph, Graph* parent) {
    Graph* made = made_->add_graph(graph.name, parent);
    fill(graph, made);
    return made;
  }

  void fill(const Graph& graph, Graph* made) {
    for (const ValueInfo* input : graph.inputs) {
      made->inputs.push_back(like(*input, made));
      made->inputs.back()->graph = made;
    }
    for (const Node* node = graph.first; node != nullptr; node = node->next) copy(*node, made);
    std::vector<ValueInfo*> outputs;
    for (const ValueInfo* output : graph.outputs) outputs.push_back(read(output));
    set_outputs(made, std::move(outputs));
  }

  void copy(const Function& function) {
    Function made = function;
    made.body = copy(*function.body, nullptr);
    made_->functions.push_back(std::move(made));
  }

  bool is_read_after(const ValueInfo& value) const {
    return std::ranges::any_of(
               value.returns,
               [this](const Return& use) { return !inside_bodies_.contains(use.graph); }) ||
           std::ranges::any_of(value.uses,
                               [this](const Use& use) { return !inside_.contains(use.node); });
  }

  void add_outputs(std::span<const std::string> wanted, std::span<ValueInfo* const> further) {
    std::vector<ValueInfo*> outputs;
    for (const ValueInfo* value : further) outputs.push_back(read(value));
    for (const Node* node : taken_) {
      for (const ValueInfo* output : node->outputs) {
        if (output == nullptr) continue;
        if (is_read_after(*output) || std::ranges::find(wanted, output->name) != wanted.end())
          outputs.push_back(copies_.at(output));
      }
    }
    set_outputs(made_->graph, std::move(outputs));
  }

  const Model& from_;
  std::unique_ptr<Model> made_;
  const std::unordered_set<const Node*>* of_constants_;
  std::unordered_map<const ValueInfo*, ValueInfo*> copies_;
  std::unordered_set<const Node*> inside_;
  std::unordered_set<const Graph*> inside_bodies_;
  std::vector<const Node*> taken_;
};

// Calls `see` with each value that the node or one of its bodies reads.
template <class See>
void for_each_read(const Node& node, const See& see) {
  for (const ValueInfo* input : node.inputs)
    if (input != nullptr) see(*input);
  for (const Graph* body : bodies(&node)) {
    for (const Node* inner = body->first; inner != nullptr; inner = inner->next)
      for_each_read(*inner, see);
    for (const ValueInfo* output : body->outputs) see(*output);
  }
}

bool is_repeatable(const Node& node) {
  return node.is("DequantizeLinear") || node.is("Cast") || node.is("Reshape") ||
         has_trait(node.op, Trait::kBroadcasts) || has_trait(node.op, Trait::kPointwise) ||
         has_trait(node.op, Trait::kRearranges);
}

// The nodes that compute something of constants alone.
std::unordered_set<const Node*> nodes_of_constants(const Graph& graph) {
  std::unordered_set<const Node*> found;
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    if (!is_repeatable(*node)) continue;
    const bool of_constants = std::ranges::all_of(node->inputs, [&](const ValueInfo* input) {
      return input == nullptr || (input->producer == nullptr && input->constant != nullptr) ||
             found.contains(input->producer);
    });
    if (of_constants) found.insert(node);
  }
  return found;
}

// Puts the values that `first` has before the others, in its order.
void put_first(std::vector<ValueInfo*>& values, const std::vector<ValueInfo*>& first) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (const ValueInfo* value : first) places.emplace(value->name, places.size());
  const auto place = [&](const ValueInfo* value) {
    const auto found = places.find(value->name);
    return found == places.end() ? places.size() : found->second;
  };
  std::ranges::stable_sort(values, {}, place);
}

// Gives each input that no node reads to the first stage that has the input before it: runtimes ask
// for both states of a layer, also where one of them is empty.
void add_unread_inputs(const Model& model, std::span<const std::unique_ptr<Model>> stages) {
  std::unordered_map<std::string_view, Model*> first;
  for (const std::unique_ptr<Model>& stage : stages)
    for (const ValueInfo* input : stage->graph->inputs) first.emplace(input->name, stage.get());
  Model* stage = stages.front().get();
  for (const ValueInfo* input : model.graph->inputs) {
    if (const auto found = first.find(input->name); found != first.end()) {
      stage = found->second;
      continue;
    }
    ValueInfo* made = stage->declare_value(input->name, stage->graph);
    set_type_of(*made, *input);
    made->graph = stage->graph;
    made->initial = input->initial;
    stage->graph->inputs.push_back(made);
  }
}

// Which layer of those in `path` the node comes from.
std::optional<std::size_t> layer_of(const Node& node, const std::string& path) {
  if (node.origin == nullptr) return std::nullopt;
  for (const std::string& scope : node.origin->scopes) {
    if (!scope.starts_with(path)) continue;
    std::size_t layer = 0;
    const char* const end = scope.data() + scope.size();
    const auto [rest, error] = std::from_chars(scope.data() + path.size(), end, layer);
    if (error == std::errc() && (rest == end || *rest == '.')) return layer;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Model> extract(const Model& model, std::size_t begin, std::size_t end,
                               std::span<const std::string> wanted) {
  std::vector<const Node*> nodes;
  const Node* node = model.graph->first;
  for (std::size_t i = 0; i < end && node != nullptr; ++i, node = node->next)
    if (i >= begin) nodes.push_back(node);
  return Extraction(model).run(std::move(nodes), wanted);
}

std::vector<std::unique_ptr<Model>> split(const Model& model, std::span<const std::size_t> stage_of,
                                          std::size_t stages) {
  const std::unordered_set<const Node*> of_constants = nodes_of_constants(*model.graph);
  std::vector<std::vector<const Node*>> nodes(stages);
  std::size_t number = 0;
  for (const Node* node = model.graph->first; node != nullptr; node = node->next, ++number)
    if (!of_constants.contains(node)) nodes[stage_of[number]].push_back(node);
  // The last stage hands out what no stage computes.
  std::vector<ValueInfo*> handed_out;
  for (ValueInfo* output : model.graph->outputs)
    if (output->producer == nullptr || of_constants.contains(output->producer))
      handed_out.push_back(output);
  std::vector<std::unique_ptr<Model>> made;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const bool is_last = stage + 1 == stages;
    const std::span<ValueInfo* const> further =
        is_last ? std::span<ValueInfo* const>(handed_out) : std::span<ValueInfo* const>();
    made.push_back(Extraction(model, &of_constants).run(std::move(nodes[stage]), {}, further));
  }
  add_unread_inputs(model, made);
  for (const std::unique_ptr<Model>& each : made) {
    Graph& graph = *each->graph;
    put_first(graph.inputs, model.graph->inputs);
    std::vector<ValueInfo*> outputs = graph.outputs;
    put_first(outputs, model.graph->outputs);
    set_outputs(&graph, std::move(outputs));
  }
  return made;
}

std::vector<std::size_t> stages_by_layer(const Model& model, const std::string& path,
                                         std::size_t layers, std::size_t count) {
  const std::string prefix = path + '.';
  const std::size_t head = count + 1;
  std::vector<const Node*> nodes;
  std::unordered_map<const Node*, std::size_t> numbers;
  for (const Node* node = model.graph->first; node != nullptr; node = node->next) {
    numbers.emplace(node, nodes.size());
    nodes.push_back(node);
  }
  const auto for_each_producer = [&](const Node& node, const auto& see) {
    for_each_read(node, [&](const ValueInfo& value) {
      if (const auto found = numbers.find(value.producer); found != numbers.end())
        see(found->second);
    });
  };
  // Of what is in no layer: whether a layer comes into it, and the first stage that reads it.
  std::vector<std::optional<std::size_t>> own(nodes.size());
  std::vector<bool> follows(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const auto layer = layer_of(*nodes[i], prefix); layer && *layer < layers) {
      own[i] = 1 + *layer * count / layers;
      follows[i] = true;
    }
    for_each_producer(*nodes[i], [&](std::size_t from) {
      if (follows[from]) follows[i] = true;
    });
  }
  std::vector<std::size_t> read_in(nodes.size(), head);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::size_t stage = own[i].value_or(read_in[i]);
    for_each_producer(*nodes[i],
                      [&](std::size_t from) { read_in[from] = std::min(read_in[from], stage); });
  }
  std::vector<std::size_t> stages(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    stages[i] = own[i].value_or(follows[i] ? read_in[i] : 0);
    for_each_producer(*nodes[i],
                      [&](std::size_t from) { stages[i] = std::max(stages[i], stages[from]); });
  }
  return stages;
}

}  // namespace sardonyx::onnx
