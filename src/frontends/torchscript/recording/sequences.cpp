#include "frontends/torchscript/recording/sequences.h"

#include <utility>

#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/builtins.h"
#include "program/inference/bound_call.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Argument;
using program::Value;
using program::ValueKind;
using program::ValueType;
using symbolic::Expr;

namespace {

constexpr std::string_view kSplit = "list::split", kUnbind = "list::unbind";

ValueType type_of(const Element& element) {
  ValueType tensor;
  tensor.dtype = element.dtype;
  tensor.shape = element.shape;
  ValueType list;
  list.kind = ValueKind::kList;
  list.items = {std::move(tensor)};
  return list;
}

Value* write(GraphRecorder& recorder, std::string_view name, std::vector<Argument> arguments,
             ValueType type) {
  const program::Schema* schema = program::find_schema(name);
  return recorder
      .call(*schema, program::bind(*schema, std::move(arguments), {}), std::vector{std::move(type)})
      .front();
}

bool is_made_by(const Value* list, std::string_view name) {
  return list->producer && list->producer->schema->qualified() == name;
}

Element described(GraphRecorder& recorder, const AbstractValue& datum) {
  if (!datum.is_tensor()) refuse("a list with a data-dependent length holds " + description(datum));
  const Value* value = recorder.tensor(datum);
  return {Kind::kTensor, value->dtype, value->shape};
}

Element joined(GraphRecorder& recorder, const Value* list, const AbstractValue& item) {
  Element element = common_element(element_of_sequence(*list), described(recorder, item));
  element.uneven = true;
  return element;
}

Value* inserted(GraphRecorder& recorder, Value* list, const AbstractValue& item,
                const Argument& at) {
  const Element element = joined(recorder, list, item);
  recorder.writes().copy_into_list(recorder.tensor(item));
  return write(recorder, "list::insert", {list, recorder.tensor(item), at}, type_of(element));
}

Value* erased(GraphRecorder& recorder, Value* list, const AbstractValue& at) {
  return write(recorder, "list::erase", {list, recorder.argument(at)}, *list);
}

// Another element at a position; of those behind it, one less counts from the end.
Value* replaced(GraphRecorder& recorder, Value* list, Expr at, const AbstractValue& item) {
  const bool from_end = at.is_constant() && at.value() < 0;
  if (!from_end && !symbolic::certainly_nonnegative(at))
    refuse("from which end a position of a list counts");
  Value* const rest = erased(recorder, list, AbstractValue::of_int(at));
  if (!from_end) return inserted(recorder, rest, item, at);
  return inserted(recorder, rest, item, at.is(-1) ? Argument(program::None{}) : Argument(at + 1));
}

void set(GraphRecorder& recorder, const AbstractValue& list, Value* value) {
  recorder.writes().before_write(list.held);
  become(*list.held, value, Kind::kTensor);
}

AbstractValue length(GraphRecorder& recorder, Value* list) {
  if (is_made_by(list, kUnbind))
    return AbstractValue::of_int(program::tensor_of(list->producer->arguments[0])->shape.at(0));
  ValueType number;
  number.kind = ValueKind::kInt;
  Value* made = write(recorder, "list::length", {list}, number);
  made->expr = fresh_size(recorder.pool());
  return AbstractValue::of_int(made->expr);
}

// All of a list behind those of a sequence.
Value* extended(GraphRecorder& recorder, Value* list, const AbstractValue& other) {
  if (other.kind != Kind::kList)
    refuse("lists of tensors that differ in size are joined, and their lengths are data-dependent");
  for (const AbstractValue& item : other.held->items)
    list = inserted(recorder, list, item, program::None{});
  return list;
}

AbstractValue joined_tensors(GraphRecorder& recorder, const Operands& operands, Value* list) {
  const bool stacks = operands.op == "aten::stack";
  const ValueType& each = list->items.front();
  const AbstractValue* dim = operands.find(1, "dim");
  const auto rank = static_cast<std::int64_t>(each.rank()) + (stacks ? 1 : 0);
  std::int64_t axis = dim ? dim->expr.constant().value_or(rank) : 0;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) refuse("there is no such dimension to join along");
  ValueType type = each;
  const auto place = type.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  if (stacks) {
    type.shape.insert(place, Expr());
  } else {
    *place = Expr();
  }
  for (Expr& size : type.shape)
    if (!size.known()) size = fresh_size(recorder.pool());
  return AbstractValue::of_tensor(
      write(recorder, "list::join", {list, Expr(axis), stacks}, std::move(type)));
}

AbstractValue taken(GraphRecorder& recorder, const Operands& operands, const AbstractValue& list) {
  const AbstractValue* given = operands.find(1, "idx");
  const AbstractValue at = given ? *given : AbstractValue::of_int(-1);
  const AbstractValue element = read_sequence(recorder, list.value, at);
  set(recorder, list, erased(recorder, list.value, at));
  return element;
}

}  // namespace

bool is_sequence(const Value* value) { return value && value->kind == ValueKind::kList; }

bool is_sequence(const AbstractValue& list) {
  return list.kind == Kind::kStack && is_sequence(list.value);
}

Element common_element(const Element& one, const Element& other) {
  if (one.kind != other.kind || one.dtype != other.dtype || one.shape.size() != other.shape.size())
    refuse("a list with a data-dependent length holds elements of different types or ranks",
           "give all of them one element type and one rank");
  Element common = one;
  common.uneven = one.uneven || other.uneven;
  for (std::size_t i = 0; i < common.shape.size(); ++i) {
    Expr& size = common.shape[i];
    if (size.known() && other.shape[i].known() && size == other.shape[i]) continue;
    size = Expr();
    common.uneven = true;
  }
  return common;
}

Element element_of_sequence(const Value& list) {
  const ValueType& each = list.items.front();
  return {Kind::kTensor, each.dtype, each.shape, true};
}

Element without_local_sizes(const Body& body, Element element) {
  for (Expr& size : element.shape) {
    if (size.known() && !body.is_local(size)) continue;
    size = Expr();
    element.uneven = true;
  }
  return element;
}

Value* as_sequence(GraphRecorder& recorder, const Container& list, const Element& element) {
  if (is_sequence(list.stack)) return list.stack;
  if (list.stack) return write(recorder, kUnbind, {list.stack}, type_of(element));
  program::List items;
  for (const AbstractValue& item : list.items) {
    items.emplace_back(recorder.tensor(item));
    recorder.writes().copy_into_list(recorder.tensor(item));
  }
  return write(recorder, "list::construct", {std::move(items), element.dtype}, type_of(element));
}

AbstractValue split_evenly(GraphRecorder& recorder, Value* tensor, Expr length, std::int64_t axis) {
  Element element{Kind::kTensor, tensor->dtype, tensor->shape, true};
  element.shape.at(static_cast<std::size_t>(axis)) = Expr();
  return of_stack(write(recorder, kSplit, {tensor, length, Expr(axis)}, type_of(element)),
                  Kind::kTensor);
}

std::optional<std::vector<AbstractValue>> cut_into(GraphRecorder& recorder, const Value* list,
                                                   std::int64_t count) {
  if (!is_made_by(list, kSplit) || count < 1) return std::nullopt;
  const auto& cut = list->producer->arguments;
  const Expr length = *cut[1].get<Expr>();
  // Of parts of a length that is known there are so many for a few sizes only.
  if (length.is_constant()) return std::nullopt;
  Value* const whole = program::tensor_of(cut[0]);
  const auto axis = static_cast<std::size_t>(cut[2].get<Expr>()->value());
  std::vector<ValueType> types;
  for (std::int64_t i = 0; i < count; ++i) {
    ValueType& type = types.emplace_back();
    type.dtype = whole->dtype;
    type.shape = whole->shape;
    const bool is_last = i == count - 1;
    type.shape[axis] = is_last ? whole->shape[axis] - length * (count - 1) : length;
    if (!type.shape[axis].known()) type.shape[axis] = fresh_size(recorder.pool());
  }
  const program::Schema* schema = program::find_schema("aten::split.Tensor");
  std::vector<Argument> arguments = {whole, length, Expr(static_cast<std::int64_t>(axis))};
  std::vector<AbstractValue> parts;
  for (Value* part : recorder.call(*schema, std::move(arguments), std::move(types))) {
    if (axis > 0 || !whole->strides.empty()) part->strides = program::strides_of(*whole);
    parts.push_back(AbstractValue::of_tensor(part));
  }
  return parts;
}

AbstractValue read_sequence(GraphRecorder& recorder, Value* list, const AbstractValue& position) {
  const bool from_front = position.expr.is_constant()
                              ? position.expr.value() >= 0
                              : symbolic::certainly_nonnegative(position.expr);
  if (is_made_by(list, kSplit) && from_front) {
    const auto& cut = list->producer->arguments;
    const Expr length = *cut[1].get<Expr>();
    return recorder.call("aten::slice", {AbstractValue::of_tensor(program::tensor_of(cut[0])),
                                         AbstractValue::of_int(*cut[2].get<Expr>()),
                                         AbstractValue::of_int(position.expr * length),
                                         AbstractValue::of_int((position.expr + 1) * length)});
  }
  ValueType type = list->items.front();
  for (Expr& size : type.shape)
    if (!size.known()) size = fresh_size(recorder.pool());
  return AbstractValue::of_tensor(
      write(recorder, "list::get", {list, recorder.argument(position)}, std::move(type)));
}

AbstractValue sequence_builtin(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue list = as_read(operands.at(0));
  const std::string& op = operands.op;
  if (!is_sequence(list)) {  // a list that is joined with one
    const AbstractValue& other = operands.at(1);
    const bool joins = (op == "aten::add" || op == "aten::extend" || op == "aten::add_") &&
                       list.kind == Kind::kList;
    if (!joins) refuse(op + " of a list whose tensors differ in size");
    Value* whole = other.value;
    for (std::size_t i = list.held->items.size(); i-- > 0;)
      whole = inserted(recorder, whole, list.held->items[i], Expr(0));
    if (op == "aten::add") return of_stack(whole, Kind::kTensor);
    set(recorder, list, whole);
    return list;
  }
  const auto argument = [&](std::size_t i) { return operands.at(i); };
  if (op == "aten::len") return length(recorder, list.value);
  if (op == "aten::__getitem__") return read_sequence(recorder, list.value, argument(1));
  if (op == "aten::append") {
    set(recorder, list, inserted(recorder, list.value, argument(1), program::None{}));
    return list;
  }
  if (op == "aten::extend" || op == "aten::add_") {
    set(recorder, list, extended(recorder, list.value, argument(1)));
    return list;
  }
  if (op == "aten::add")
    return of_stack(extended(recorder, list.value, argument(1)), Kind::kTensor);
  if (op == "aten::copy" || op == "aten::list") return of_stack(list.value, Kind::kTensor);
  if (op == "aten::pop") return taken(recorder, operands, list);
  if (op == "aten::Delete") {
    set(recorder, list, erased(recorder, list.value, argument(1)));
    return AbstractValue();
  }
  if (op == "aten::insert") {
    set(recorder, list,
        inserted(recorder, list.value, argument(2), recorder.argument(argument(1))));
    return AbstractValue();
  }
  if (op == "aten::_set_item") {
    set(recorder, list, replaced(recorder, list.value, argument(1).expr, argument(2)));
    return list;
  }
  if (op == "aten::stack" || op == "aten::cat" || op == "aten::concat")
    return joined_tensors(recorder, operands, list.value);
  refuse(op + " of a list whose tensors differ in size");
}

}  // namespace sardonyx::torchscript
