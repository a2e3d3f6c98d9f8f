#include "aten/translation/fall_through.h"

#include <utility>

namespace sardonyx::aten {
namespace {

using onnx::Attribute;
using program::Argument;
using program::List;

// What one argument adds to the node.
class NodeArguments {
 public:
  explicit NodeArguments(const Call& call, Emit& onnx) : call_(call), onnx_(onnx) {}

  void add(const program::Parameter& parameter) {
    const Argument& argument = call_.argument(parameter.name);
    if (parameter.type.kind == program::TypeKind::kTensor) return add_tensors(parameter);
    if (argument.is_none()) return;
    if (const List* list = argument.get<List>()) return add_list(parameter.name, *list);
    if (const Expr* expr = argument.get<Expr>(); expr && !is_number(argument)) {
      values.push_back(expr->is_boolean() ? onnx_.condition(*expr) : onnx_.size(*expr));
      return;
    }
    put(parameter.name, single(parameter.name, argument));
  }

  void put(const std::string& name, Attribute::Data data) {
    attributes.push_back({name, std::move(data), {}});
  }

  onnx::Values values;
  std::vector<Attribute> attributes;

 private:
  void add_tensors(const program::Parameter& parameter) {
    if (parameter.type.list_depth == 0) {
      values.push_back(call_.optional_tensor(parameter.name));
      return;
    }
    const std::vector<Value> all = call_.optional_tensors(parameter.name);
    values.insert(values.end(), all.begin(), all.end());
  }

  void add_list(const std::string& name, const List& list) {
    bool real = false, text = false;
    for (const Argument& item : list) {
      real = real || item.get<double>();
      text = text || item.get<std::string>();
      if (!is_number(item) && !item.get<std::string>()) {
        call_.refuse("argument '" + name + "' holds what no attribute of a node can");
      }
    }
    if (text) return put(name, call_.texts(name));
    if (!real) return put(name, call_.integers(name));
    const std::vector<double> numbers = call_.numbers(name);
    put(name, std::vector<float>(numbers.begin(), numbers.end()));
  }

  static bool is_number(const Argument& argument) {
    const Expr* expr = argument.get<Expr>();
    return argument.get<bool>() || argument.get<double>() || (expr && expr->is_constant());
  }

  Attribute::Data single(const std::string& name, const Argument& argument) const {
    if (const bool* flag = argument.get<bool>()) return std::int64_t{*flag ? 1 : 0};
    if (const double* real = argument.get<double>()) return static_cast<float>(*real);
    if (const Expr* expr = argument.get<Expr>()) return expr->value();
    if (const std::string* text = argument.get<std::string>()) return *text;
    if (const DType* dtype = argument.get<DType>()) return *dtype;
    if (const auto* enumerator = argument.get<program::Enumerator>()) return enumerator->name;
    call_.refuse("argument '" + name + "' is nothing that a node can hold");
  }

  const Call& call_;
  Emit& onnx_;
};

}  // namespace

Outputs fall_through(const Call& call, Emit& onnx, UnsupportedOps how) {
  const program::Schema& schema = *call.captured().schema;
  NodeArguments arguments(call, onnx);
  for (const program::Parameter& parameter : schema.parameters) arguments.add(parameter);
  std::string domain(schema.space()), op_type(schema.base_name());
  if (how == UnsupportedOps::kATen && domain == "aten") {
    arguments.put("operator", op_type);
    arguments.put("overload_name", schema.overload);
    domain = "org.pytorch.aten";
    op_type = "ATen";
  } else if (!schema.overload.empty()) {
    arguments.put("overload_name", schema.overload);
  }
  return onnx.node(domain, op_type, arguments.values, std::move(arguments.attributes),
                   call.output_count());
}

}  // namespace sardonyx::aten
