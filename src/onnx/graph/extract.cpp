#include "onnx/graph/extract.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sardonyx::onnx {
namespace {

class Extraction {
 public:
  explicit Extraction(const Model& from) : from_(from), made_(std::make_unique<Model>(from.pool)) {
    made_->opsets = from.opsets;
    made_->ir_version = from.ir_version;
    made_->producer_name = from.producer_name;
    made_->producer_version = from.producer_version;
    for (const Function& function : from.functions) copy(function);
  }

  std::unique_ptr<Model> run(std::size_t begin, std::size_t end,
                             std::span<const std::string> wanted) {
    const Node* node = from_.graph->first;
    for (std::size_t i = 0; i < begin && node != nullptr; ++i) node = node->next;
    for (std::size_t i = begin; i < end && node != nullptr; ++i, node = node->next) {
      note(*node);
      taken_.push_back(node);
    }
    for (const Node* each : taken_) copy(*each, made_->graph);
    add_outputs(wanted);
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
    made->type_kind = value.type_kind;
    made->dtype = value.dtype;
    made->has_rank = value.has_rank;
    made->shape = value.shape;
    made->is_complex = value.is_complex;
    made->graph = made_->graph;
    copies_[&value] = made;
    return made;
  }

  // A value as it is read: what was not made here is an input or a constant.
  ValueInfo* read(const ValueInfo* value) {
    if (value == nullptr) return nullptr;
    if (const auto found = copies_.find(value); found != copies_.end()) return found->second;
    ValueInfo* made = like(*value, made_->graph);
    if (value->constant != nullptr && value->producer == nullptr) {
      made->constant = value->constant;
      made->is_weight = value->is_weight;
      made_->initializers.push_back(made);
    } else {
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

  void add_outputs(std::span<const std::string> wanted) {
    std::vector<ValueInfo*> outputs;
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
  std::unordered_map<const ValueInfo*, ValueInfo*> copies_;
  std::unordered_set<const Node*> inside_;
  std::unordered_set<const Graph*> inside_bodies_;
  std::vector<const Node*> taken_;
};

}  // namespace

std::unique_ptr<Model> extract(const Model& model, std::size_t begin, std::size_t end,
                               std::span<const std::string> wanted) {
  return Extraction(model).run(begin, end, wanted);
}

}  // namespace sardonyx::onnx
