#include "onnx/emit/rebuild.h"

#include <algorithm>
#include <utility>

namespace sardonyx::onnx {
namespace {

// What a body calls its own: numbers that it is given, and sizes of its inputs that depend on data.
std::vector<Expr> own_symbols(const Graph* body) {
  std::vector<Expr> symbols;
  for (const ValueInfo* input : body->inputs) {
    for (const Expr number : input->contents)
      if (number.is_symbol()) symbols.push_back(number);
    for (const Expr dim : input->shape)
      if (dim.known() && dim.is_symbol() && symbolic::depends_on_data(dim)) symbols.push_back(dim);
  }
  return symbols;
}

class Walk {
 public:
  Walk(Emit& onnx, const Rebuilding& rebuilding) : onnx_(onnx), rebuilding_(rebuilding) {}

  void graph(Graph* graph) {
    for (ValueInfo* input : graph->inputs) add_sources(input);
    if (graph->first == nullptr) return;
    // Done nodes go behind the waiting ones, until none waits.
    const Node* const last = graph->last;
    for (Node* node = graph->first; node != nullptr;) {
      Node* const next = node == last ? nullptr : node->next;
      this->node(graph, node);
      node = next;
    }
  }

  bool changed() const { return changed_; }

 private:
  void add_sources(ValueInfo* input) {
    // The shape of a sequence is that of its elements.
    if (input->type_kind != TypeKind::kTensor) return;
    for (std::size_t axis = 0; axis < input->shape.size(); ++axis) {
      const Expr dim = input->shape[axis];
      if (dim.known() && !dim.is_constant() && !onnx_.can_size(dim))
        onnx_.add_size_source(input, static_cast<std::int64_t>(axis), dim);
    }
    if (input->contents.size() == 1) onnx_.add_size_source(input, input->contents[0]);
  }

  void node(Graph* graph, Node* node) {
    for (Graph* body : bodies(node)) {
      onnx_.enter(body, own_symbols(body));
      this->graph(body);
      onnx_.leave();
    }
    try {
      if (rebuilding_.keeps(node) || !replaced(graph, node)) keep(graph, node);
    } catch (const base::Error& error) {
      rebuilding_.failed(node, error);
      keep(graph, node);
    }
  }

  void keep(Graph* graph, Node* node) {
    move_to_end(graph, node);
    onnx_.adopt(node);
  }

  bool replaced(Graph* graph, Node* node) {
    const ValueInfo* first = nullptr;
    for (const ValueInfo* output : node->outputs)
      if (first == nullptr) first = output;
    onnx_.set_origin(node->origin, first == nullptr ? node->name : first->name);
    Values inputs;
    for (ValueInfo* input : node->inputs) inputs.emplace_back(input);
    const Node* const before = graph->last;
    const std::uint32_t made_before = onnx_.model().value_count();
    const Values values = rebuilding_.rebuilt(node, inputs);
    Node* heir = nullptr;
    for (Node* made = before->next; made != nullptr; made = made->next) {
      if (made->metadata.empty()) made->metadata = node->metadata;
      if (!values.empty() && values.front() && values.front().info() == made->output()) heir = made;
    }
    for (std::size_t i = 0; i < node->outputs.size(); ++i)
      if (ValueInfo* output = node->outputs[i]; output != nullptr && has_uses(output))
        replace(graph, output, i < values.size() ? values[i] : Value(), made_before);
    const std::string name = node->name;
    erase(node);
    if (heir != nullptr && heir->graph != nullptr) inherit(heir, *node, name);
    changed_ = true;
    return true;
  }

  // A node emitted anew as the same operator goes by the name that somebody gave it, and has its
  // documentation.
  void inherit(Node* heir, const Node& node, const std::string& name) {
    if (heir->carried.empty()) heir->carried = node.carried;
    if (heir->op == node.op && !name.empty()) onnx_.model().name_node(heir, name);
  }

  // `to` is a value of this rebuilding where its number is `made_before` or above.
  void replace(Graph* graph, ValueInfo* from, Value to, std::uint32_t made_before) {
    if (!to) base::fail("SX1503", "nothing takes the place of " + from->name);
    // A graph hands out what its own nodes make, each once.
    const bool own = to->producer != nullptr && to->producer->graph == graph;
    if (!from->returns.empty() && (!own || !to->returns.empty() || to->id < made_before))
      to = onnx_.identity(to);
    if (to->producer != nullptr && to->id >= made_before && !to.is_constant()) {
      take_type(from, to.info());
      const std::string name = from->name;
      onnx_.model().rename(from, name + "_replaced");
      onnx_.model().rename(to.info(), name);
    }
    replace_all_uses(from, to.info());
  }

  static void take_type(const ValueInfo* from, ValueInfo* to) {
    to->is_complex = to->is_complex || from->is_complex;
    // Nothing was inferred: a sequence or an optional keeps the type that it had.
    if (from->type_kind != TypeKind::kTensor && to->dtype == DType::kUndefined) {
      to->type_kind = from->type_kind;
      if (!to->carried) to->carried = from->carried;
    }
    if (from->dtype != DType::kUndefined) to->dtype = from->dtype;
    if (from->has_rank) {
      const bool same_rank = to->has_rank && to->shape.size() == from->shape.size();
      const Shape known = same_rank ? std::move(to->shape) : from->shape;
      to->has_rank = true;
      to->shape = from->shape;
      for (std::size_t i = 0; i < known.size(); ++i)
        if (!to->shape[i].known()) to->shape[i] = known[i];
    }
    if (to->contents.empty()) to->contents = from->contents;
  }

  Emit& onnx_;
  const Rebuilding& rebuilding_;
  bool changed_ = false;
};

}  // namespace

bool rebuild(Model& model, Emit& onnx, const Rebuilding& rebuilding) {
  Walk walk(onnx, rebuilding);
  walk.graph(model.graph);
  return walk.changed();
}

}  // namespace sardonyx::onnx
