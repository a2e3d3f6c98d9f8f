#include "onnx/graph/branches.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "onnx/graph/names.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  base::fail("SX1001", "the two models are no branches of one: " + reason);
}

bool same_step(const Step& a, const Step& b) {
  if (a.index() != b.index()) return false;
  struct Compare {
    const Step& other;
    bool operator()(const Permuted& step) const {
      return step.axes == std::get<Permuted>(other).axes;
    }
    bool operator()(const Shaped& step) const { return step.dims == std::get<Shaped>(other).dims; }
    bool operator()(const CastWithOffset& step) const {
      const auto& moved = std::get<CastWithOffset>(other);
      return step.dtype == moved.dtype && step.by == moved.by;
    }
    bool operator()(const Scaled& step) const {
      const ChannelScale &x = *step.scale, &y = *std::get<Scaled>(other).scale;
      return x.factors == y.factors && x.inner == y.inner && x.period == y.period &&
             x.rows == y.rows;
    }
    bool operator()(const Derived& step) const {
      const auto& derived = std::get<Derived>(other);
      return step.how == derived.how && step.part == derived.part;
    }
    bool operator()(const Named& step) const {
      return step.weight == std::get<Named>(other).weight;
    }
    bool operator()(const Computed& step) const {
      return step.formula == std::get<Computed>(other).formula;
    }
    bool operator()(const Shared& step) const {
      return step.other == std::get<Shared>(other).other;
    }
  };
  return std::visit(Compare{b}, a);
}

// Whether two tensors are made of the same bytes in the same way.
bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.data == nullptr || a.data != b.data || a.dtype != b.dtype || a.dims != b.dims ||
      a.strides != b.strides || (a.recipe == nullptr) != (b.recipe == nullptr))
    return false;
  return a.recipe == nullptr || std::ranges::equal(a.recipe->steps, b.recipe->steps, same_step);
}

// What the free sizes of kept inputs are called.
constexpr const char* kKeptLength = "kept_sequence_length";

class Merging {
 public:
  Merging(const Model& then, const Model& otherwise)
      : then_(then), otherwise_(otherwise), made_(std::make_unique<Model>(then.pool)) {
    made_->opsets = then.opsets;
    made_->ir_version = std::max(then.ir_version, otherwise.ir_version);
    made_->producer_name = then.producer_name;
    made_->producer_version = then.producer_version;
    made_->target = then.target;
    for (const auto& [domain, version] : otherwise.opsets) {
      const auto [same, added] = made_->opsets.emplace(domain, version);
      if (same->second != version) refuse("they are of different opsets");
    }
    if (!then.functions.empty() || !otherwise.functions.empty()) refuse("they have functions");
  }

  std::unique_ptr<Model> run(const std::string& condition,
                             const std::map<std::string, std::string>& kept,
                             std::optional<std::size_t> grown) {
    for (const ValueInfo* input : then_.graph->inputs)
      for (const symbolic::Expr& dim : input->shape) sizes_.try_emplace(dim.str(), dim);
    for (const Model* model : {&otherwise_, &then_})
      for (const ValueInfo* input : model->graph->inputs) add_input(*input);
    if (grown) free_axis(kept, *grown);
    ValueInfo* const decides = made_->add_input(made_->graph, condition);
    decides->dtype = DType::kBool;
    decides->has_rank = true;
    decides->shape = {1};
    std::vector<ValueInfo*> outputs;
    for (const ValueInfo* output : otherwise_.graph->outputs) {
      ValueInfo* const made = made_->add_value(output->name);
      set_type(made, *output);
      made->shape = of_both(made->shape, *in_then(output->name, kept));
      outputs.push_back(made);
    }
    Node* const node = made_->add_node("If", "");
    onnx::add_input(node, decides);
    node->attributes.push_back({"then_branch", branch(then_, "then", kept), {}});
    node->attributes.push_back({"else_branch", branch(otherwise_, "otherwise", {}), {}});
    for (ValueInfo* output : outputs) onnx::add_output(node, output);
    append(made_->graph, node);
    made_->name_node(node, "branches");
    set_outputs(made_->graph, outputs);
    return std::move(made_);
  }

 private:
  using Copies = std::unordered_map<const ValueInfo*, ValueInfo*>;

  // Sizes of the other pool, by their text; those that nothing is known of stay unknown.
  Shape translated(const Shape& shape) {
    Shape result;
    for (const symbolic::Expr& dim : shape) {
      if (dim.is_constant() || !dim.known()) {
        result.push_back(dim);
        continue;
      }
      const auto found = sizes_.find(dim.str());
      result.push_back(found == sizes_.end() ? symbolic::Expr() : found->second);
    }
    return result;
  }

  void set_type(ValueInfo* made, const ValueInfo& like) {
    made->type_kind = like.type_kind;
    made->dtype = like.dtype;
    made->has_rank = like.has_rank;
    made->shape = translated(like.shape);
    made->is_complex = like.is_complex;
  }

  // One input for both models; what one of them takes of any size is of any.
  void add_input(const ValueInfo& input) {
    for (const symbolic::Expr& dim : input.shape) {
      if (!dim.is_symbol() || sizes_.contains(dim.str())) continue;
      const symbolic::Expr size = made_->pool->fresh("size");
      made_->pool->rename(size, dim.str());
      sizes_.emplace(dim.str(), size);
    }
    const auto found = inputs_.find(input.name);
    if (found == inputs_.end()) {
      ValueInfo* const made = made_->add_input(made_->graph, input.name);
      set_type(made, input);
      inputs_.emplace(input.name, made);
      return;
    }
    ValueInfo* const made = found->second;
    if (made->dtype != input.dtype || made->shape.size() != input.shape.size())
      refuse("'" + input.name + "' is of another type or rank");
    const Shape other = translated(input.shape);
    for (std::size_t i = 0; i < other.size(); ++i)
      if (made->shape[i].is_constant() && !other[i].is_constant()) made->shape[i] = other[i];
  }

  void free_axis(const std::map<std::string, std::string>& kept, std::size_t axis) {
    symbolic::Expr size;
    for (const auto& [output, name] : kept) {
      const auto found = inputs_.find(name);
      if (found == inputs_.end() || found->second->shape.size() <= axis) continue;
      symbolic::Expr& dim = found->second->shape[axis];
      if (!dim.is_constant()) continue;
      if (!size.known()) {
        size = made_->pool->fresh("size");
        made_->pool->rename(size, kKeptLength);
      }
      dim = size;
    }
  }

  // What `then` hands out under the name.
  const ValueInfo* in_then(const std::string& name,
                           const std::map<std::string, std::string>& kept) const {
    for (const ValueInfo* output : then_.graph->outputs)
      if (output->name == name) return output;
    if (const auto found = kept.find(name); found != kept.end())
      for (const ValueInfo* input : then_.graph->inputs)
        if (input->name == found->second) return input;
    refuse("one of them has no output '" + name + "'");
  }

  // Sizes that hold in either; one that is fixed in `then` alone is that of an input of any size.
  static Shape of_both(Shape shape, const ValueInfo& then) {
    if (shape.size() != then.shape.size()) refuse("'" + then.name + "' is of another rank");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const bool fixed = then.shape[i].is_constant() && !shape[i].is_constant();
      if (!(shape[i] == then.shape[i]) && !fixed) shape[i] = symbolic::Expr();
    }
    return shape;
  }

  Graph* branch(const Model& from, std::string_view name,
                const std::map<std::string, std::string>& kept) {
    Graph* const body = made_->add_graph(std::string(name), made_->graph);
    Copies copies;
    for (const ValueInfo* input : from.graph->inputs)
      copies.emplace(input, inputs_.at(input->name));
    for (const Node* node = from.graph->first; node != nullptr; node = node->next)
      copy(*node, body, copies);
    std::vector<ValueInfo*> outputs;
    for (const ValueInfo* wanted : otherwise_.graph->outputs)
      outputs.push_back(handed_out(from, *wanted, body, copies, kept));
    set_outputs(body, std::move(outputs));
    return body;
  }

  // What a body hands out it has to make itself.
  ValueInfo* handed_out(const Model& from, const ValueInfo& wanted, Graph* body, Copies& copies,
                        const std::map<std::string, std::string>& kept) {
    ValueInfo* value = nullptr;
    for (const ValueInfo* output : from.graph->outputs)
      if (output->name == wanted.name) value = read(output, copies);
    if (value == nullptr) value = inputs_.at(kept.at(wanted.name));
    if (value->dtype != wanted.dtype) refuse("'" + wanted.name + "' is of another type");
    if (value->producer != nullptr && value->returns.empty() && value->graph == body) return value;
    Node* const node = made_->add_node("Identity", "");
    onnx::add_input(node, value);
    ValueInfo* const made = made_->add_value(wanted.name, body);
    set_type(made, *value);
    add_output(node, made);
    append(body, node);
    made_->name_node(node, made->name);
    return made;
  }

  ValueInfo* read(const ValueInfo* value, Copies& copies) {
    if (value == nullptr) return nullptr;
    if (const auto found = copies.find(value); found != copies.end()) return found->second;
    ValueInfo* const made = constant(*value);
    copies.emplace(value, made);
    return made;
  }

  ValueInfo* constant(const ValueInfo& value) {
    if (value.constant == nullptr) refuse("'" + value.name + "' comes from nowhere");
    // Its name here may be another one.
    const bool is_unnamed =
        value.is_weight && value.made_of.empty() && !has_origin(*value.constant);
    const auto tensor = is_unnamed
                            ? std::make_shared<const Tensor>(named(*value.constant, value.name))
                            : value.constant;
    for (ValueInfo* other : constants_[value.name])
      if (same_tensor(*other->constant, *tensor)) return other;
    ValueInfo* const made = made_->add_weight(value.name, *tensor);
    made->constant = tensor;
    made->is_weight = value.is_weight;
    constants_[value.name].push_back(made);
    for (const ValueInfo* each : value.made_of) made->made_of.push_back(constant(*each));
    return made;
  }

  void copy(const Node& node, Graph* to, Copies& copies) {
    Node* const made = made_->add_node(node.op_type, node.domain);
    made->overload = node.overload;
    made->metadata = node.metadata;
    if (node.origin != nullptr) made->origin = origin(node.origin);
    for (const ValueInfo* input : node.inputs) onnx::add_input(made, read(input, copies));
    for (const Attribute& attribute : node.attributes)
      made->attributes.push_back(
          {attribute.name, data(attribute, to, copies), attribute.reference});
    for (const ValueInfo* output : node.outputs) {
      ValueInfo* const value = output == nullptr ? nullptr : made_->add_value(output->name, to);
      if (value != nullptr) {
        set_type(value, *output);
        copies.emplace(output, value);
      }
      add_output(made, value);
    }
    append(to, made);
    made_->name_node(made, node.name);
  }

  Attribute::Data data(const Attribute& attribute, Graph* parent, Copies& copies) {
    if (Graph* const* body = std::get_if<Graph*>(&attribute.data))
      return copy(**body, parent, copies);
    if (const auto* many = std::get_if<std::vector<Graph*>>(&attribute.data)) {
      std::vector<Graph*> made;
      for (const Graph* body : *many) made.push_back(copy(*body, parent, copies));
      return made;
    }
    return attribute.data;
  }

  Graph* copy(const Graph& graph, Graph* parent, Copies& copies) {
    Graph* const made = made_->add_graph(graph.name, parent);
    for (const ValueInfo* input : graph.inputs) {
      ValueInfo* const value = made_->add_input(made, made_->unique_name(input->name));
      set_type(value, *input);
      copies.emplace(input, value);
    }
    for (const Node* node = graph.first; node != nullptr; node = node->next)
      copy(*node, made, copies);
    std::vector<ValueInfo*> outputs;
    for (const ValueInfo* output : graph.outputs) outputs.push_back(read(output, copies));
    set_outputs(made, std::move(outputs));
    return made;
  }

  const Origin* origin(const Origin* from) {
    const auto [found, added] = origins_.try_emplace(from, nullptr);
    if (added) found->second = made_->add_origin(*from);
    return found->second;
  }

  const Model& then_;
  const Model& otherwise_;
  std::unique_ptr<Model> made_;
  std::unordered_map<std::string, symbolic::Expr> sizes_;
  std::unordered_map<std::string, ValueInfo*> inputs_;
  std::unordered_map<std::string, std::vector<ValueInfo*>> constants_;
  std::unordered_map<const Origin*, const Origin*> origins_;
};

}  // namespace

std::unique_ptr<Model> in_branches(const Model& then, const Model& otherwise,
                                   const std::string& condition,
                                   const std::map<std::string, std::string>& kept,
                                   std::optional<std::size_t> grown) {
  return Merging(then, otherwise).run(condition, kept, grown);
}

}  // namespace sardonyx::onnx
