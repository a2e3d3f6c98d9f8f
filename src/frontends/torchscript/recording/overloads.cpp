// Which overload of an operator a call means: archives leave that, and trailing defaults, out.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/diagnostic.h"
#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/graph_recorder.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "program/schema/schema.h"

namespace sardonyx::torchscript {
namespace {

using program::Schema;
using program::TypeKind;
using program::TypeSpec;
using Kind = AbstractValue::Kind;

// By the name without the overload, in the order of the table.
const std::vector<std::string>& overloads_of(const std::string& op) {
  static const auto kIndex = [] {
    std::unordered_map<std::string, std::vector<std::string>> index;
    for (const std::string_view text : program::known_schemas()) {
      const std::string_view qualified = text.substr(0, text.find('('));
      index[std::string(qualified.substr(0, qualified.find('.')))].emplace_back(qualified);
    }
    return index;
  }();
  static const std::vector<std::string> kNone;
  const auto found = kIndex.find(op);
  return found == kIndex.end() ? kNone : found->second;
}

constexpr int kNo = -1;
constexpr int kExact = 3;
constexpr int kConverted = 1;

bool is_scalar(const AbstractValue& datum) {
  return datum.is_number() || datum.kind == Kind::kComplex;
}

// A tensor that tracing made of a number.
bool is_number_tensor(const AbstractValue& datum) { return datum.is_tensor() && !datum.value; }

int item_score(const TypeSpec& type, const AbstractValue& datum) {
  switch (type.kind) {
    case TypeKind::kTensor:
      return datum.is_tensor() ? kExact : is_scalar(datum) ? 0 : kNo;
    case TypeKind::kNumber:
      return is_scalar(datum) ? kExact : is_number_tensor(datum) ? kConverted : kNo;
    case TypeKind::kInt:
      return datum.kind == Kind::kInt ? kExact : datum.is_tensor() ? 0 : kNo;
    case TypeKind::kFloat:
      return datum.kind == Kind::kFloat ? kExact
             : datum.kind == Kind::kInt ? kConverted
             : datum.is_tensor()        ? 0
                                        : kNo;
    case TypeKind::kBool:
      return datum.kind == Kind::kBool ? kExact : kNo;
    case TypeKind::kString:
      return datum.kind == Kind::kString ? kExact : kNo;
    case TypeKind::kDType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
      return datum.kind == Kind::kInt ? kExact : kNo;
    case TypeKind::kDevice:
      return datum.kind == Kind::kDevice || datum.kind == Kind::kString ? kExact : kNo;
    case TypeKind::kComplex:
      return datum.kind == Kind::kComplex ? kExact : is_scalar(datum) ? kConverted : kNo;
    default:
      return kNo;
  }
}

int score(const TypeSpec& type, const AbstractValue& datum) {
  if (datum.is_none()) return type.optional ? kExact : kNo;
  if (type.list_depth == 0) return item_score(type, datum);
  if (datum.kind != Kind::kList && datum.kind != Kind::kTuple) {
    TypeSpec item = type;
    item.list_depth = 0;
    return type.fixed_size > 0 && is_scalar(datum) ? item_score(item, datum) : kNo;
  }
  int worst = kExact;
  TypeSpec item = type;
  item.list_depth = type.list_depth - 1;
  item.optional = type.optional_items;
  for (const AbstractValue& each : datum.held->items) worst = std::min(worst, score(item, each));
  return worst;
}

// How well the arguments fit; kNo where they do not.
int fit(const Schema& schema, const Operands& operands) {
  const auto& parameters = schema.parameters;
  if (operands.positional.size() > parameters.size()) return kNo;
  std::vector<bool> given(parameters.size(), false);
  int total = 0;
  const auto match = [&](std::size_t i, const AbstractValue& datum) {
    const int each = score(parameters[i].type, datum);
    given[i] = true;
    total = each == kNo || total == kNo ? kNo : total + (each - kExact);
  };
  total = 1000;
  for (std::size_t i = 0; i < operands.positional.size() && total != kNo; ++i) {
    if (parameters[i].keyword_only) return kNo;
    match(i, operands.positional[i]);
  }
  for (const auto& [name, datum] : operands.named) {
    const auto position = schema.find(name);
    if (!position || given[*position]) return kNo;
    match(*position, datum);
  }
  if (total == kNo) return kNo;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (given[i] || parameters[i].default_value || parameters[i].type.optional) continue;
    if (parameters[i].type.kind != TypeKind::kGenerator) return kNo;
  }
  return total;
}

std::string described(const Operands& operands) {
  std::string text;
  for (const AbstractValue& datum : operands.positional)
    text += (text.empty() ? "" : ", ") + description(datum);
  for (const auto& [name, datum] : operands.named)
    text += (text.empty() ? "" : ", ") + name + "=" + description(datum);
  return text;
}

// What a Python number that tracing made a tensor would have been cast to: the type of another
// tensor operand of the same category. A tensor of its own type would promote 0-d tensors, which a
// number does not, and be less exact than float64.
std::int64_t dtype_beside(const Operands& operands, const AbstractValue& number) {
  constexpr std::int64_t kInt64 = 4, kFloat32 = 6, kFloat64 = 7;
  const bool is_float = number.kind == Kind::kFloat;
  std::int64_t found = is_float ? kFloat32 : kInt64;
  for (const AbstractValue& other : operands.positional) {
    const program::Value* tensor = other.is_tensor() ? other.value : nullptr;
    if (!tensor || !tensor->has_rank) continue;
    const bool same = is_float ? base::is_floating(tensor->dtype) : base::is_integer(tensor->dtype);
    if (same && tensor->rank() == 0) return number_of(tensor->dtype);
    if (same && tensor->dtype == base::DType::kFloat64) found = kFloat64;
  }
  return found;
}

AbstractValue tensor_of_python(GraphRecorder& recorder, const Operands& operands,
                               const AbstractValue& datum) {
  const AbstractValue number = recorder.item(datum);
  return recorder.call("aten::scalar_tensor", {number},
                       {{"dtype", AbstractValue::of_int(dtype_beside(operands, number))}});
}

// Tensors where numbers are wanted are read.
AbstractValue adapted(GraphRecorder& recorder, const Operands& operands, const TypeSpec& type,
                      const AbstractValue& datum) {
  const bool wants_number = type.kind == TypeKind::kInt || type.kind == TypeKind::kFloat ||
                            type.kind == TypeKind::kNumber;
  if (wants_number && datum.is_tensor()) return recorder.item(datum);
  if (type.kind == TypeKind::kTensor && datum.is_python_number)
    return tensor_of_python(recorder, operands, datum);
  if (type.kind == TypeKind::kTensor && is_scalar(datum) && type.list_depth == 0)
    return AbstractValue::of_tensor(recorder.tensor(datum));
  const bool is_list = datum.kind == Kind::kList || datum.kind == Kind::kTuple;
  if (!is_list || type.list_depth == 0) return datum;
  TypeSpec item = type;
  item.list_depth = type.list_depth - 1;
  std::vector<AbstractValue> items;
  for (const AbstractValue& each : datum.held->items)
    items.push_back(adapted(recorder, operands, item, each));
  return AbstractValue::of_items(Kind::kList, std::move(items));
}

std::vector<const Schema*> overloads(GraphRecorder& recorder, const std::string& op) {
  std::vector<const Schema*> schemas;
  for (const std::string& name : overloads_of(op))
    if (const Schema* schema = program::find_schema(name)) schemas.push_back(schema);
  return schemas.empty() ? recorder.overloads_elsewhere(op) : schemas;
}

}  // namespace

Resolved resolve(GraphRecorder& recorder, const Operands& operands) {
  const Schema* best = nullptr;
  int best_fit = kNo;
  for (const auto* list : {&operands.positional}) {
    for (const AbstractValue& datum : *list)
      if (datum.kind == Kind::kFailed) throw Failed();
  }
  const std::vector<const Schema*> schemas = overloads(recorder, operands.op);
  for (const Schema* schema : schemas) {
    const int own = fit(*schema, operands);
    if (own > best_fit) {
      best = schema;
      best_fit = own;
    }
  }
  if (!best) {
    base::fail("SX1212",
               schemas.empty() ? "there is no operator " + operands.op
                               : "no overload of " + operands.op + " takes " + described(operands),
               schemas.empty() ? "an operator of your own needs its schema: export the model with "
                                 "torch.export"
                               : "");
  }
  std::vector<program::Argument> positional;
  for (std::size_t i = 0; i < operands.positional.size(); ++i)
    positional.push_back(recorder.argument(
        adapted(recorder, operands, best->parameters[i].type, operands.positional[i])));
  std::vector<program::NamedArgument> named;
  for (const auto& [name, datum] : operands.named)
    named.push_back(
        {name, recorder.argument(
                   adapted(recorder, operands, best->parameters[*best->find(name)].type, datum))});
  return {best, program::bind(*best, std::move(positional), std::move(named))};
}

}  // namespace sardonyx::torchscript
