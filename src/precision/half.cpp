#include "precision/half.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "onnx/fold/formula.h"
#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"
#include "precision/mixed_precision_plan.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Graph;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// Constants up to this size are made at once, larger ones as they are written.
constexpr std::int64_t kMadeAtOnce = 1024;

bool is_single(const ValueInfo* value) {
  return value != nullptr && value->dtype == DType::kFloat32 &&
         value->type_kind == onnx::TypeKind::kTensor;
}

bool is_constant(const ValueInfo* value) {
  return value->constant != nullptr && value->producer == nullptr;
}

class Halving {
 public:
  Halving(onnx::Model& model, const HalfOptions& options)
      : model_(model),
        half_(options.dtype),
        io_(options.io),
        plan_(model, options),
        old_nodes_(model.node_count()),
        becomes_half_(model.value_count(), false) {}

  Report run() {
    if (io_) change_inputs();
    mark(model_.graph);
    for (const onnx::Function& function : model_.functions)
      if (function.body != nullptr) mark(function.body);
    rewire(model_.graph, io_);
    for (const onnx::Function& function : model_.functions)
      if (function.body != nullptr) rewire(function.body, false);
    for (ValueInfo* value : changed_) value->dtype = half_;
    drop_casts(model_.graph);
    report_.stayed.insert(report_.stayed.end(), plan_.stayed().begin(), plan_.stayed().end());
    return std::move(report_);
  }

 private:
  void change(ValueInfo* value) {
    becomes_half_[value->id] = true;
    changed_.push_back(value);
  }
  // Of values that there were; those that are made here say it by their type.
  bool becomes_half(const ValueInfo* value) const {
    return value->id < becomes_half_.size() ? becomes_half_[value->id] : value->dtype == half_;
  }

  void change_inputs() {
    for (ValueInfo* input : model_.graph->inputs) {
      if (!is_single(input)) continue;
      if (input->initial != nullptr)
        input->initial =
            std::make_shared<const Tensor>(onnx::cast_with_offset(*input->initial, half_, 0));
      change(input);
    }
  }

  void mark(const Graph* graph) {
    for (Node* node = graph->first; node != nullptr; node = node->next) {
      for (const Graph* body : onnx::bodies(node)) mark(body);
      if (!plan_.is_half(node)) continue;
      for (std::size_t i = 0; i < node->outputs.size(); ++i)
        if (is_single(node->outputs[i]) && gives_half(node, i, half_)) change(node->outputs[i]);
    }
  }

  bool wants_half(const Node* node, std::size_t input) const {
    return node->id < old_nodes_ && plan_.is_half(node) && takes_half(node, input, half_);
  }

  void rewire(Graph* graph, bool half_outputs) {
    for (Node* node = graph->first; node != nullptr; node = node->next) {
      if (node->id >= old_nodes_) continue;
      for (Graph* body : onnx::bodies(node)) rewire(body, false);
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        ValueInfo* const input = node->inputs[i];
        if (!is_single(input) || takes_either(node)) continue;
        ValueInfo* const wanted = wants_half(node, i) ? in_half(input) : in_single(input);
        if (wanted != input) onnx::set_input(node, i, wanted);
      }
      if (plan_.is_half(node)) change_attribute(node);
    }
    std::vector<ValueInfo*> outputs = graph->outputs;
    for (ValueInfo*& output : outputs)
      if (is_single(output) && becomes_half(output) != half_outputs)
        output = cast_output(graph, output, half_outputs ? half_ : DType::kFloat32);
    onnx::set_outputs(graph, std::move(outputs));
  }

  // Where an attribute says the type that the node gives.
  void change_attribute(Node* node) {
    if (!is_single(node->output())) return;
    if (node->is(Op::kCast)) onnx::set_attribute(node, "to", half_);
    if (!node->is(Op::kConstantOfShape)) return;
    onnx::set_attribute(
        node, "value",
        std::make_shared<const Tensor>(Tensor::filled(half_, {1}, filling_of(node))));
  }

  ValueInfo* in_half(ValueInfo* value) {
    if (becomes_half(value)) return value;
    if (is_constant(value)) return constant_in_half(value);
    ValueInfo*& cast = halves_[value];
    if (cast == nullptr) {
      ValueInfo* from = value;
      if (plan_.needs_limit(value)) {
        const double limit = limit_of(half_);
        from = after(value, "Clip", {value, scalar(limit), scalar(-limit)}, DType::kFloat32,
                     "_limited");
        report_.stayed.push_back(
            {value->name, fmt::format("numbers that stand for \"none\" are limited to {}", limit)});
      }
      cast = after(from, "Cast", {from}, half_, "_half");
    }
    return cast;
  }

  ValueInfo* in_single(ValueInfo* value) {
    if (!becomes_half(value) || is_constant(value)) return value;
    ValueInfo*& cast = singles_[value];
    if (cast == nullptr) cast = after(value, "Cast", {value}, DType::kFloat32, "_float");
    return cast;
  }

  ValueInfo* scalar(double number) {
    return model_.add_constant(Tensor::filled(DType::kFloat32, {}, number));
  }

  bool all_want_half(const ValueInfo* constant) const {
    if (!constant->returns.empty() || constant->is_pinned) return false;
    return std::ranges::all_of(constant->uses, [&](const onnx::Use& use) {
      return wants_half(use.node, use.index) || use.node->id >= old_nodes_;
    });
  }

  ValueInfo* constant_in_half(ValueInfo* value) {
    ValueInfo*& made = halves_[value];
    if (made != nullptr) return made;
    const HalfValues& values = plan_.values_of(value);
    Tensor tensor = values.fits == Fits::kAsLimit ? limited(value) : converted(*value);
    // What was computed here of a weight cannot be computed anew of another one.
    const bool is_of_weight = value->is_weight || !value->made_of.empty();
    if (is_of_weight && tensor.recipe == nullptr) tensor = onnx::of_unknown_origin(tensor);
    if (value->is_weight)
      report_.weights.push_back({value->name,
                                 {},
                                 std::string(base::dtype_name(half_)),
                                 value->constant->byte_count(),
                                 tensor.byte_count(),
                                 values.error,
                                 {},
                                 false,
                                 {}});
    if (all_want_half(value)) {
      value->constant = std::make_shared<const Tensor>(std::move(tensor));
      change(value);
      return made = value;
    }
    made = model_.add_weight(value->name + "_half", std::move(tensor));
    made->is_weight = false;
    if (value->is_weight) made->made_of = {value};
    return made;
  }

  Tensor converted(const ValueInfo& value) const {
    const Tensor& tensor = *value.constant;
    if (value.is_weight || tensor.missing || tensor.element_count() > kMadeAtOnce)
      return onnx::cast_with_offset(tensor, half_, 0);
    return of_reals(tensor.reals().value(), tensor.dims);
  }

  Tensor limited(const ValueInfo* value) {
    const double limit = limit_of(half_), largest = largest_of(half_);
    std::vector<double> numbers = value->constant->reals().value();
    for (double& number : numbers)
      if (std::abs(number) > largest && std::isfinite(number)) number = number < 0 ? limit : -limit;
    report_.stayed.push_back(
        {value->name, fmt::format("numbers that stand for \"none\" are limited to {}", limit)});
    return of_reals(numbers, value->constant->dims);
  }

  Tensor of_reals(const std::vector<double>& numbers, const std::vector<std::int64_t>& dims) const {
    std::vector<std::byte> bytes(numbers.size() * 2);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      onnx::store_real(half_, numbers[i], bytes.data() + i * 2);
    return Tensor::of_bytes(half_, dims, bytes);
  }

  // A node behind that which makes `value`, or at the begin of the graph that is given it.
  ValueInfo* after(const ValueInfo* value, std::string type, const std::vector<ValueInfo*>& inputs,
                   DType dtype, std::string_view suffix) {
    Graph* const graph = value->graph;
    Node* const node = model_.add_node(std::move(type), "");
    if (value->producer != nullptr) {
      node->origin = value->producer->origin;
      onnx::insert_after(value->producer, node);
    } else if (graph->first != nullptr) {
      onnx::insert_before(graph->first, node);
    } else {
      onnx::append(graph, node);
    }
    return finish(node, value, inputs, dtype, value->name + std::string(suffix));
  }

  ValueInfo* finish(Node* node, const ValueInfo* like, const std::vector<ValueInfo*>& inputs,
                    DType dtype, const std::string& name) {
    for (ValueInfo* input : inputs) onnx::add_input(node, input);
    if (node->is(Op::kCast)) onnx::set_attribute(node, "to", dtype);
    ValueInfo* const made = model_.add_value(name, node->graph);
    made->dtype = dtype;
    made->has_rank = like->has_rank;
    made->shape = like->shape;
    onnx::add_output(node, made);
    model_.name_node(node, name);
    return made;
  }

  // The cast takes the name of what it stands for: it is the model's interface.
  ValueInfo* cast_output(Graph* graph, ValueInfo* value, DType dtype) {
    Node* const node = model_.add_node("Cast", "");
    node->origin = value->producer != nullptr ? value->producer->origin : nullptr;
    onnx::append(graph, node);
    const bool names = graph == model_.graph && value->producer != nullptr;
    const std::string name = value->name;
    if (names) model_.rename(value, name + "_inner");
    return finish(node, value, {value}, dtype, names ? name : name + "_cast");
  }

  // Casts that were of the model and have become nothing.
  void drop_casts(const Graph* graph) {
    for (Node* node = graph->first; node != nullptr; node = node->next) {
      for (const Graph* body : onnx::bodies(node)) drop_casts(body);
      if (!node->is(Op::kCast) || node->inputs[0]->dtype != node->outputs[0]->dtype ||
          !node->outputs[0]->returns.empty())
        continue;
      onnx::replace_all_uses(node->outputs[0], node->inputs[0]);
      onnx::erase(node);
    }
  }

  onnx::Model& model_;
  DType half_;
  bool io_;
  MixedPrecisionPlan plan_;
  std::uint32_t old_nodes_;
  std::vector<bool> becomes_half_;  // by the value's id
  std::vector<ValueInfo*> changed_;
  std::unordered_map<const ValueInfo*, ValueInfo*> halves_, singles_;
  Report report_;
};

}  // namespace

Report to_half(onnx::Model& model, const HalfOptions& options) {
  return Halving(model, options).run();
}

}  // namespace sardonyx::precision
