#include "frontends/torchscript/interpreter/expressions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/optionals.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::string_view kTorch = "torch.";
constexpr std::string_view kOps = "ops.";
constexpr std::string_view kConstants = "CONSTANTS.c";

// "torch.add" -> "aten::add", "ops.prim.NumToTensor" -> "prim::NumToTensor"; empty for others.
std::string operator_name(const std::string& name) {
  if (name.starts_with(kTorch)) return "aten::" + name.substr(kTorch.size());
  if (!name.starts_with(kOps)) return {};
  const std::size_t dot = name.find('.', kOps.size());
  if (dot == name.npos) return {};
  return name.substr(kOps.size(), dot - kOps.size()) + "::" + name.substr(dot + 1);
}

// Whether a value is of a type that the code names: List[int] is a list, whatever it holds.
bool is_instance(const AbstractValue& value, const Expression& type) {
  if (type.kind == Expression::Kind::kTuple || type.kind == Expression::Kind::kList)
    return std::ranges::any_of(type.items,
                               [&](const Expression* each) { return is_instance(value, *each); });
  if (type.kind == Expression::Kind::kSubscript) {
    const std::string& name = type.items.front()->text;
    if (name == "Optional" && value.is_none()) return true;
    if (name == "Optional" || name == "Union" || name == "Final") {
      return std::any_of(type.items.begin() + 1, type.items.end(),
                         [&](const Expression* each) { return is_instance(value, *each); });
    }
    return is_instance(value, *type.items.front());
  }
  switch (value.kind) {
    case Kind::kNone:
      return type.kind == Expression::Kind::kNone || type.text == "NoneType";
    case Kind::kTensor:
    case Kind::kStored:
      return type.text == "Tensor";
    case Kind::kInt:
      return type.text == "int" || type.text == "number";
    case Kind::kFloat:
      return type.text == "float" || type.text == "number";
    case Kind::kComplex:
      return type.text == "complex" || type.text == "number";
    case Kind::kBool:
      return type.text == "bool";
    case Kind::kString:
      return type.text == "str";
    case Kind::kList:
    case Kind::kStack:
      return type.text == "List" || type.text == "list";
    case Kind::kTuple:
      if (!value.held->type.empty() && type.dotted() == value.held->type) return true;
      return type.text == "Tuple" || type.text == "tuple";
    case Kind::kDict:
      return type.text == "Dict" || type.text == "dict";
    case Kind::kObject:
      return type.dotted() == value.held->type;
    default:
      return false;
  }
}

AbstractValue of_kind(Kind kind) {
  AbstractValue datum;
  datum.kind = kind;
  return datum;
}

}  // namespace

AbstractValue ExpressionEvaluator::evaluate(const Expression& expression) {
  using E = Expression::Kind;
  switch (expression.kind) {
    case E::kInteger:
      return AbstractValue::of_int(expression.integer);
    case E::kReal:
      return AbstractValue::of_real(expression.real);
    case E::kString:
      return AbstractValue::of_text(expression.text);
    case E::kTrue:
    case E::kFalse:
      return AbstractValue::of_bool(expression.kind == E::kTrue);
    case E::kNone:
      return {};
    case E::kTuple:
    case E::kList:
    case E::kDict: {
      std::vector<AbstractValue> items;
      for (const Expression* item : expression.items) items.push_back(evaluate(*item));
      return AbstractValue::of_items(expression.kind == E::kTuple  ? Kind::kTuple
                                     : expression.kind == E::kList ? Kind::kList
                                                                   : Kind::kDict,
                                     std::move(items));
    }
    case E::kComplex:
      return AbstractValue::of_complex(
          {evaluate(*expression.items[0]).real, evaluate(*expression.items[1]).real});
    case E::kNegative: {
      const AbstractValue value = evaluate(*expression.items.front());
      if (value.kind == Kind::kInt) return AbstractValue::of_int(-value.expr);
      if (value.kind == Kind::kFloat && !value.expr.known())
        return AbstractValue::of_real(-value.real);
      refuse("the negative of " + description(value));
    }
    case E::kName:
      return evaluate_name(expression);
    case E::kAttribute:
      return evaluate_attribute(expression);
    case E::kSubscript:
      return evaluate_subscript(expression);
    case E::kCall:
      return evaluate_call(expression);
    default:
      refuse("an ellipsis");
  }
}

AbstractValue ExpressionEvaluator::evaluate_name(const Expression& expression) {
  const auto found = stack_.variables().find(expression.text);
  if (found != stack_.variables().end()) {
    if (found->second.kind == Kind::kFailed) throw Failed();
    return as_read(found->second);
  }
  if (expression.text == "inf")
    return AbstractValue::of_real(std::numeric_limits<double>::infinity());
  if (expression.text == "nan") return AbstractValue::of_real(std::nan(""));
  refuse("'" + expression.text + "' is read before it is set");
}

AbstractValue ExpressionEvaluator::evaluate_attribute(const Expression& expression) {
  const std::string name = expression.dotted();
  if (name.starts_with("__torch__.")) {
    if (std::optional<AbstractValue> member = enumerator(name)) return *member;
    AbstractValue function = of_kind(Kind::kFunction);
    function.text = name;
    return function;
  }
  if (name.starts_with(kConstants)) return constant(name);
  return attribute_of(evaluate(*expression.items.front()), expression.text);
}

// "CONSTANTS.c0"
AbstractValue ExpressionEvaluator::constant(const std::string& name) {
  const auto number =
      static_cast<std::size_t>(std::strtoull(name.c_str() + kConstants.size(), nullptr, 10));
  if (number >= archive_.constants().size()) refuse("the archive has no constant " + name);
  const AbstractValue& constant = archive_.constants()[number];
  Weights& weights = recorder_.weights();
  if (constant.kind == Kind::kQuantized) weights.read_held(constant);
  if (!constant.stored) return constant;
  if (const auto integer = weights.constant_integer(*constant.stored)) {
    AbstractValue known = of_kind(Kind::kTensor);
    known.expr = *integer;
    return known;
  }
  return weights.read(*constant.stored, program::InputKind::kConstant);
}

// "__torch__.Mode.ADD"
std::optional<AbstractValue> ExpressionEvaluator::enumerator(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const Class* type = archive_.class_of(name.substr(0, dot));
  if (!type || type->base != "Enum") return std::nullopt;
  for (const Statement& field : type->fields) {
    if (!field.value || field.targets.front()->text != name.substr(dot + 1)) continue;
    AbstractValue member = AbstractValue::of_items(
        Kind::kObject,
        {AbstractValue::of_text(field.targets.front()->text), evaluate(*field.value)});
    member.held->names = {"name", "value"};
    member.held->type = name.substr(0, dot);
    return member;
  }
  return std::nullopt;
}

// Of one that a module holds, of which the archive has the value.
AbstractValue ExpressionEvaluator::name_of_enumerator(const AbstractValue& member,
                                                      const Class& type) {
  for (const Statement& field : type.fields) {
    if (!field.value) continue;
    const AbstractValue is_same =
        recorder_.call("aten::eq", {*member.held->attribute("value"), evaluate(*field.value)});
    if (known_truth(is_same).value_or(false))
      return AbstractValue::of_text(field.targets.front()->text);
  }
  refuse(type.name + " has no member of this value");
}

AbstractValue ExpressionEvaluator::attribute_of(const AbstractValue& object,
                                                const std::string& name) {
  if (!object.held || (object.held->type.empty() && object.held->names.empty()))
    refuse("'" + name + "' of " + description(object));
  AbstractValue* const found = object.held->attribute(name);
  if (!found) return attribute_of_class(object, name);
  if (found->kind == Kind::kFailed) throw Failed();
  if (found->held && found->kind != Kind::kObject) recorder_.weights().read_held(*found);
  if (found->kind != Kind::kStored) return as_read(*found);
  *found = stored_attribute(object, name, *found->stored);
  return *found;
}

// Final fields of a class have their values in its code.
AbstractValue ExpressionEvaluator::attribute_of_class(const AbstractValue& object,
                                                      const std::string& name) {
  if (const Class* type = archive_.class_of(object.held->type)) {
    for (const Statement& field : type->fields) {
      if (field.targets.size() == 1 && field.targets.front()->text == name && field.value)
        return evaluate(*field.value);
    }
    if (type->base == "Enum" && name == "name") return name_of_enumerator(object, *type);
  }
  refuse(object.held->type + " has no attribute '" + name + "'");
}

AbstractValue ExpressionEvaluator::stored_attribute(const AbstractValue& object,
                                                    const std::string& name,
                                                    const StoredTensor& stored) {
  bool is_parameter = false;
  if (const Class* type = archive_.class_of(object.held->type)) {
    for (const Statement& field : type->fields) {
      if (field.kind != Statement::Kind::kAssign || !field.value) continue;
      if (field.targets.front()->text != "__parameters__") continue;
      is_parameter = std::ranges::any_of(
          field.value->items, [&](const Expression* item) { return item->text == name; });
    }
  }
  return recorder_.weights().read(
      stored, is_parameter ? program::InputKind::kParameter : program::InputKind::kBuffer);
}

AbstractValue ExpressionEvaluator::evaluate_subscript(const Expression& expression) {
  if (expression.items.size() != 2) refuse("a subscript with several indices");
  const AbstractValue value = evaluate(*expression.items[0]);
  const AbstractValue index = evaluate(*expression.items[1]);
  return recorder_.call("aten::__getitem__", {value, index});
}

std::vector<AbstractValue> ExpressionEvaluator::arguments_of(const Expression& expression,
                                                             std::vector<NamedValue>& named) {
  std::vector<AbstractValue> positional;
  for (std::size_t i = 1; i < expression.items.size(); ++i)
    positional.push_back(evaluate(*expression.items[i]));
  for (const auto& [name, value] : expression.keywords) named.emplace_back(name, evaluate(*value));
  return positional;
}

AbstractValue ExpressionEvaluator::evaluate_call(const Expression& expression) {
  const Expression& callee = *expression.items.front();
  const std::string name = callee.dotted();
  const std::string root = name.substr(0, name.find('.'));
  const bool is_variable = stack_.variables().contains(root);
  if (!name.empty() && !is_variable) return evaluate_named_call(name, expression);

  std::vector<NamedValue> named;
  if (callee.kind == Expression::Kind::kAttribute) {
    const AbstractValue object = evaluate(*callee.items.front());
    if (object.is_tensor() && callee.text == "tolist") return recorder_.list_of_tensor(object);
    std::vector<AbstractValue> positional = arguments_of(expression, named);
    return functions_.invoke_method(object, callee.text, std::move(positional), std::move(named));
  }
  const AbstractValue function = evaluate(callee);
  std::vector<AbstractValue> positional = arguments_of(expression, named);
  if (function.kind != Kind::kFunction) refuse(description(function) + " is called");
  if (const Function* found = archive_.function(function.text))
    return functions_.invoke(*found, std::move(positional), std::move(named));
  return functions_.construct(function.text, std::move(positional), std::move(named));
}

AbstractValue ExpressionEvaluator::evaluate_named_call(const std::string& name,
                                                       const Expression& expression) {
  if (std::optional<AbstractValue> made = special(name, expression)) return *made;
  std::vector<NamedValue> named;
  std::vector<AbstractValue> positional = arguments_of(expression, named);
  if (name.starts_with("__torch__.")) {
    if (const Function* found = archive_.function(name))
      return functions_.invoke(*found, std::move(positional), std::move(named));
    constexpr std::string_view kNew = ".__new__";
    if (name.ends_with(kNew)) {
      AbstractValue object = AbstractValue::of_items(Kind::kObject, {});
      object.held->type = name.substr(0, name.size() - kNew.size());
      return object;
    }
    return functions_.construct(name, std::move(positional), std::move(named));
  }
  std::string op = operator_name(name);
  if (name == "int") op = "aten::Int";
  if (name == "float") op = "aten::Float";
  if (name == "bool") op = "aten::Bool";
  if (name == "str") op = "aten::str";
  if (name == "sorted") op = "aten::sorted";
  if (name == "print") op = "prim::Print";
  if (op.empty()) refuse("`" + name + "` is not known here");
  return recorder_.call(op, std::move(positional), std::move(named));
}

// Calls whose arguments are types or names.
std::optional<AbstractValue> ExpressionEvaluator::special(const std::string& name,
                                                          const Expression& expression) {
  const std::vector<const Expression*>& items = expression.items;
  if ((name == "annotate" || name == "unchecked_cast") && items.size() == 3) {
    const AbstractValue value = evaluate(*items[2]);
    if (value.kind == Kind::kOptional && !is_instance(AbstractValue(), *items[1]))
      return content(value);
    // Scripts give tensors of one element where they declare numbers, and traces sizes as tensors.
    const std::string& type = items[1]->text;
    const bool is_number = type == "number" || type == "int" || type == "float" || type == "bool";
    return value.is_tensor() && is_number ? recorder_.item(value) : value;
  }
  if (name == "uninitialized") return of_kind(Kind::kUninitialized);
  if (name == "isinstance" && items.size() == 3) {
    const AbstractValue value = evaluate(*items[1]);
    if (value.kind != Kind::kOptional) return AbstractValue::of_bool(is_instance(value, *items[2]));
    const bool takes_none = is_instance(AbstractValue(), *items[2]);
    if (is_instance(content(value), *items[2]) == takes_none)
      return AbstractValue::of_bool(takes_none);
    return takes_none ? recorder_.call("aten::__not__", {presence(value)}) : presence(value);
  }
  if (name == "getattr" && items.size() == 3)
    return attribute_of(evaluate(*items[1]), items[2]->text);
  if (name == "torch.device" && items.size() == 2) {
    AbstractValue device = of_kind(Kind::kDevice);
    device.text = evaluate(*items[1]).text;
    return device;
  }
  return std::nullopt;
}

}  // namespace sardonyx::torchscript
