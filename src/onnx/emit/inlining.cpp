#include "onnx/emit/inlining.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/diagnostic.h"
#include "onnx/gen/op.h"
#include "onnx/graph/attribute_data.h"

namespace sardonyx::onnx {
namespace {

constexpr std::size_t kDeepest = 200;
// A file of a few lines can call functions that call functions until no memory is left.
constexpr std::size_t kMaxNodes = 5'000'000;

const Attribute* attribute_of(std::span<const Attribute> attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

// Sets the opset that nodes are named in, and sets it back.
class Named {
 public:
  Named(Emit& onnx, std::int64_t opset) : onnx_(onnx), before_(onnx.named_opset()) {
    onnx.name_in_opset(opset);
  }
  ~Named() { onnx_.name_in_opset(before_); }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;

 private:
  Emit& onnx_;
  std::int64_t before_;
};

}  // namespace

// One call's copy of a function's body.
class Inlining::Body {
 public:
  Body(Inlining& inlining, Emit& onnx, const Function& function, const Node* call)
      : inlining_(inlining), onnx_(onnx), function_(function), call_(call) {}

  Values run(std::span<const Value> inputs) {
    const Named named(onnx_, opset_of(function_.body));
    for (std::size_t i = 0; i < function_.body->inputs.size(); ++i)
      values_[function_.body->inputs[i]] = i < inputs.size() ? inputs[i] : Value();
    nodes(function_.body);
    return all(function_.body->outputs);
  }

 private:
  Value of(ValueInfo* value) {
    if (value == nullptr) return {};
    const auto found = values_.find(value);
    if (found != values_.end()) return found->second;
    if (value->constant == nullptr)
      base::fail("SX1502", fmt::format("'{}' of the function {} comes from nowhere", value->name,
                                       function_.name));
    return values_[value] = onnx_.constant(*value->constant);
  }
  Values all(std::span<ValueInfo* const> values) {
    Values found;
    for (ValueInfo* value : values) found.push_back(of(value));
    return found;
  }

  void nodes(const Graph* graph) {
    for (const Node* node = graph->first; node != nullptr; node = node->next) {
      if (++inlining_.nodes_ > kMaxNodes)
        base::fail("SX1151", fmt::format("its functions have more than {} nodes", kMaxNodes));
      const Values made = this->node(node);
      for (std::size_t i = 0; i < node->outputs.size(); ++i)
        if (node->outputs[i] != nullptr)
          values_[node->outputs[i]] = i < made.size() ? made[i] : Value();
    }
  }

  Values node(const Node* node) {
    Values inputs = all(node->inputs);
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    if (node->is(Op::kIf))
      if (const Graph* branch = taken(node, inputs)) {
        nodes(branch);
        return all(branch->outputs);
      }
    std::vector<Attribute> given = attributes(node);
    if (inlining_.called(node) != nullptr) {
      // What it is called with is given by attributes that are no references any more.
      Node inner = *node;
      inner.attributes = std::move(given);
      return inlining_.emitted(onnx_, &inner, inputs);
    }
    if (node->is(Op::kConstant) && given.size() == 1)
      if (auto tensor = tensor_of(given.front().data)) return {onnx_.constant(*std::move(tensor))};
    if (node->domain.empty() && node->op == kUnknownOp)
      base::fail("SX1503", fmt::format("{} in the function {} is no operator of ONNX, or lacks "
                                       "what its operator needs",
                                       node->op_type, function_.name));
    Values made =
        onnx_.node(node->domain, node->op_type, inputs, std::move(given), node->outputs.size());
    if (!node->overload.empty() && !made.empty()) made[0]->producer->overload = node->overload;
    return made;
  }

  // The branch of an If whose condition this call makes constant.
  const Graph* taken(const Node* node, const Values& inputs) const {
    if (inputs.empty() || !inputs[0].is_constant()) return nullptr;
    const auto flag = inputs[0].constant()->ints();
    if (!flag || flag->size() != 1) return nullptr;
    const Attribute* branch = node->find(flag->front() != 0 ? "then_branch" : "else_branch");
    const auto* graph = branch == nullptr ? nullptr : std::get_if<Graph*>(&branch->data);
    return graph == nullptr ? nullptr : *graph;
  }

  // With those of the call in the place of references to them; what neither the call nor the
  // function says is left out.
  std::vector<Attribute> attributes(const Node* node) {
    std::vector<Attribute> made;
    for (const Attribute& attribute : node->attributes) {
      if (attribute.reference.empty()) {
        made.push_back({attribute.name, data(attribute), {}, attribute.carried});
        continue;
      }
      const Attribute* value = attribute_of(call_->attributes, attribute.reference);
      if (value == nullptr) value = attribute_of(function_.attribute_defaults, attribute.reference);
      if (value != nullptr) made.push_back({attribute.name, value->data, {}, value->carried});
    }
    return made;
  }

  Attribute::Data data(const Attribute& attribute) {
    if (Graph* const* graph = std::get_if<Graph*>(&attribute.data)) return copy(*graph);
    if (const auto* many = std::get_if<std::vector<Graph*>>(&attribute.data)) {
      std::vector<Graph*> made;
      for (const Graph* graph : *many) made.push_back(copy(graph));
      return made;
    }
    return attribute.data;
  }

  // Sizes of what a body is given may be others at each call.
  Graph* copy(const Graph* graph) {
    Graph* const made = onnx_.begin_body(graph->name.empty() ? "body" : graph->name);
    for (ValueInfo* input : graph->inputs) {
      const Value value =
          onnx_.body_input(onnx_.model().unique_name(input->name), input->dtype,
                           Shape(input->has_rank ? input->shape.size() : 0, Expr()));
      value->has_rank = input->has_rank;
      value->type_kind = input->type_kind;
      values_[input] = value;
    }
    nodes(graph);
    onnx_.end_body(all(graph->outputs));
    return made;
  }

  Inlining& inlining_;
  Emit& onnx_;
  const Function& function_;
  const Node* call_;
  std::unordered_map<const ValueInfo*, Value> values_;
};

Inlining::Inlining(const Model& model) {
  for (const Function& function : model.functions)
    if (function.body != nullptr)
      functions_.emplace(std::tuple(function.domain, function.name, function.overload), &function);
}

const Function* Inlining::called(const Node* node) const {
  if (node->op != kUnknownOp) return nullptr;
  const auto found = functions_.find(std::tuple(node->domain, node->op_type, node->overload));
  return found == functions_.end() ? nullptr : found->second;
}

Values Inlining::emitted(Emit& onnx, const Node* call, std::span<const Value> inputs) {
  const Function& function = *called(call);
  if (depth_ >= kDeepest)
    base::fail("SX1151", fmt::format("the function {} calls itself", function.name));
  for (const auto& [domain, version] : function.opsets) onnx.use_domain(domain, version);
  ++depth_;
  Values values = Body(*this, onnx, function, call).run(inputs);
  --depth_;
  return values;
}

namespace {

bool has_other_operators(const Graph* graph, std::int64_t own, std::int64_t opset) {
  for (const Node* node = graph->first; node != nullptr; node = node->next) {
    const Operator* op = node->domain.empty() ? find_operator(node->op_type) : nullptr;
    if (op != nullptr && op->at(own) != op->at(opset)) return true;
    for (const Graph* body : bodies(node))
      if (has_other_operators(body, own, opset)) return true;
  }
  return false;
}

}  // namespace

bool has_functions_of_other_operators(const Model& model, std::int64_t opset) {
  return std::ranges::any_of(model.functions, [opset](const Function& function) {
    return function.body != nullptr &&
           has_other_operators(function.body, opset_of(function.body), opset);
  });
}

}  // namespace sardonyx::onnx
