#include "onnx/infer/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/diagnostic.h"
#include "onnx/infer/foreign.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kMaxContents = 256;

using Rule = void (*)(Inference&);

std::vector<Rule> table_of_rules() {
  std::vector<Rule> table(operators().size(), nullptr);
  for (const auto& family :
       {elementwise_rules(), reduction_rules(), shape_rules(), indexing_rules(),
        linear_algebra_rules(), window_rules(), normalization_rules(), recurrent_rules(),
        attention_rules(), control_flow_rules(), creation_rules(), quantization_rules(),
        signal_rules()})
    for (const InferenceRule& rule : family) table[static_cast<std::size_t>(rule.op)] = rule.infer;
  return table;
}

Rule rule_of(Op op) {
  static const std::vector<Rule> table = table_of_rules();
  return table[static_cast<std::size_t>(op)];
}

// Required inputs must be there; those that share a type parameter must share the dtype, and it
// must be one the schema has.
void check_inputs(const Inference& node) {
  struct Bound {
    std::string_view parameter;
    DType dtype;
  };
  std::array<Bound, 8> bound;
  std::size_t bound_count = 0;
  for (std::size_t i = 0; i < node.version().inputs.size(); ++i) {
    const Formal& formal = node.version().inputs[i];
    if (formal.option == FormalOption::kRequired && !node.has(i))
      node.fail(fmt::format("input `{}` is missing", formal.name));
  }
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    const Formal* formal = node.version().input(i);
    const DType dtype = node.dtype(i);
    if (formal == nullptr || dtype == DType::kUndefined) continue;
    if ((formal->dtypes & dtype_bit(dtype)) == 0)
      node.fail(fmt::format("input `{}` cannot be {}", formal->name, base::dtype_name(dtype)));
    // A variadic input whose formal is the only one of its parameter may be heterogeneous (Loop).
    if (formal->type_parameter.empty() || formal->type_parameter == "V") continue;
    std::size_t at = 0;
    while (at < bound_count && bound[at].parameter != formal->type_parameter) ++at;
    if (at == bound_count) {
      if (bound_count < bound.size()) bound[bound_count++] = {formal->type_parameter, dtype};
    } else if (bound[at].dtype != dtype) {
      node.fail(fmt::format("input `{}` is {} where another of type {} is {}", formal->name,
                            base::dtype_name(dtype), formal->type_parameter,
                            base::dtype_name(bound[at].dtype)));
    }
  }
}

// Output types that follow from the schema alone.
void set_dtypes(Inference& node) {
  for (std::size_t o = 0; o < node.outputs(); ++o) {
    const Formal* output = node.version().output(o);
    if (output == nullptr) continue;
    if (std::has_single_bit(output->dtypes)) {
      node.set_dtype(o, static_cast<DType>(std::countr_zero(output->dtypes)));
      continue;
    }
    if (output->type_parameter.empty()) continue;
    for (std::size_t i = 0; i < node.inputs(); ++i) {
      const Formal* input = node.version().input(i);
      if (input == nullptr || input->type_parameter != output->type_parameter) continue;
      if (node.dtype(i) == DType::kUndefined) continue;
      node.set_dtype(o, node.dtype(i));
      break;
    }
  }
}

}  // namespace

std::string type_text(const ValueInfo& value) {
  std::string text(base::dtype_name(value.dtype));
  if (!value.has_rank) return text;
  text += '[';
  for (std::size_t i = 0; i < value.shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += value.shape[i].known() ? value.shape[i].str() : "?";
  }
  return text + ']';
}

std::optional<std::vector<Expr>> contents_of(const ValueInfo* value) {
  if (value == nullptr) return std::nullopt;
  if (value->constant != nullptr) {
    if (value->constant->element_count() > kMaxContents) return std::nullopt;
    const auto ints = value->constant->ints();
    if (!ints) return std::nullopt;
    return std::vector<Expr>(ints->begin(), ints->end());
  }
  if (!value->contents.empty()) return value->contents;
  // Not the elements, but how many there are.
  if (!value->has_rank || value->shape.size() > 1) return std::nullopt;
  const Expr count = value->shape.empty() ? Expr(1) : value->shape[0];
  if (!count.is_constant() || count.value() > kMaxContents || count.value() < 0)
    return std::nullopt;
  return std::vector<Expr>(static_cast<std::size_t>(count.value()));
}

std::optional<std::vector<std::int64_t>> Inference::ints(std::size_t i) const {
  if (!has(i) || node_->input(i)->constant == nullptr) return std::nullopt;
  return node_->input(i)->constant->ints();
}

std::optional<std::vector<Expr>> Inference::contents(std::size_t i) const {
  return contents_of(node_->input(i));
}

std::size_t Inference::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    fail(fmt::format("axis {} is out of range for rank {}", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::vector<std::size_t> Inference::axes(std::span<const std::int64_t> axes,
                                         std::int64_t rank) const {
  std::vector<std::size_t> result;
  result.reserve(axes.size());
  for (const std::int64_t a : axes) result.push_back(axis(a, rank));
  return result;
}

void Inference::set_dtype(std::size_t i, DType dtype) {
  if (ValueInfo* output = node_->output(i)) output->dtype = dtype;
}

void Inference::set_shape(std::size_t i, Shape shape) {
  ValueInfo* output = node_->output(i);
  if (output == nullptr) return;
  output->has_rank = true;
  output->shape = std::move(shape);
}

void Inference::set_rank(std::size_t i, std::int64_t rank) {
  set_shape(i, Shape(static_cast<std::size_t>(rank)));
}

void Inference::set_contents(std::size_t i, std::vector<Expr> contents) {
  ValueInfo* output = node_->output(i);
  if (output == nullptr || static_cast<std::int64_t>(contents.size()) > kMaxContents) return;
  for (const Expr& element : contents) {
    if (!element.known()) continue;
    output->contents = std::move(contents);
    return;
  }
}

void Inference::same_as(std::size_t i, std::size_t j) {
  set_dtype(i, dtype(j));
  if (has_rank(j)) set_shape(i, shape(j));
}

void Inference::fail(std::string what) const {
  std::string inputs;
  for (const ValueInfo* input : node_->inputs) {
    if (!inputs.empty()) inputs += ", ";
    inputs += input == nullptr ? "-" : type_text(*input);
  }
  base::fail("SX1503", fmt::format("{}({}): {}", node_->op_type, inputs, what));
}

Expr common_dim(Expr a, Expr b) { return a == b ? a : Expr(); }

namespace {

// min(c, size) for a positive number c: beside `size` it is that, or either of them is 1.
bool is_least_with(Expr least, Expr size) {
  if (!least.known() || !size.known() || least.is_constant()) return false;
  return least.kind() == symbolic::Kind::kMin && least.operands().size() == 2 &&
         std::ranges::all_of(least.operands(), [size](Expr operand) {
           return operand == size || (operand.is_constant() && operand.value() > 0);
         });
}

}  // namespace

Expr broadcast_dim(Expr a, Expr b) {
  if (a.is(1) || a == b) return b;
  if (b.is(1)) return a;
  // The other one is 1 or the same, as eager PyTorch has checked.
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  if (a.known() && symbolic::range(a).low > 1) return a;
  if (b.known() && symbolic::range(b).low > 1) return b;
  if (is_least_with(b, a)) return a;
  if (is_least_with(a, b)) return b;
  return {};
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Expr x = result[offset + i], y = shorter[i];
    if (x.is_constant() && y.is_constant() && !x.is(1) && !y.is(1) && !(x == y))
      return std::nullopt;
    result[offset + i] = broadcast_dim(x, y);
  }
  return result;
}

void infer(Node* node, symbolic::Pool& pool, std::int64_t opset) {
  if (node->op == kUnknownOp) return;
  const OperatorVersion* version = operator_of(node->op).at(opset);
  if (version == nullptr) return;
  Inference inference(node, pool, opset, *version);
  check_inputs(inference);
  set_dtypes(inference);
  // Attributes that each call of a function gives are not known.
  for (const Attribute& attribute : node->attributes)
    if (!attribute.reference.empty()) return;
  if (const Rule rule = rule_of(node->op)) rule(inference);
}

namespace {

// What the verifier asks of ONNX's own operators: their names are all that it knows of others.
void check_signature(const Inference& node) {
  const OperatorVersion& schema = node.version();
  if (node.inputs() < schema.min_inputs || node.inputs() > schema.max_inputs)
    node.fail(fmt::format("it has {} inputs", node.inputs()));
  if (node.outputs() < schema.min_outputs || node.outputs() > schema.max_outputs)
    node.fail(fmt::format("it has {} outputs", node.outputs()));
  for (const Attribute& attribute : node.node().attributes)
    if (schema.attribute(attribute.name) == nullptr)
      node.fail(fmt::format("it has no attribute {}", attribute.name));
  for (const AttributeFormal& formal : schema.attributes)
    if (formal.required && node.node().find(formal.name) == nullptr)
      node.fail(fmt::format("attribute {} is missing", formal.name));
}

}  // namespace

void infer(Node* node, symbolic::Pool& pool, std::int64_t opset, const ForeignOperator& op) {
  Inference inference(node, pool, opset, *op.schema);
  check_signature(inference);
  check_inputs(inference);
  set_dtypes(inference);
  op.shapes(inference);
}

}  // namespace sardonyx::onnx
