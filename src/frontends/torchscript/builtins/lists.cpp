// Lists with a data-dependent length.
#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/homogeneous_lists.h"
#include "frontends/torchscript/recording/sequences.h"
#include "symbolic/positions.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Value;
using symbolic::Expr;

namespace {

AbstractValue ints(std::vector<Expr> numbers) {
  std::vector<AbstractValue> items;
  for (const Expr number : numbers) items.push_back(AbstractValue::of_int(number));
  return AbstractValue::of_items(Kind::kList, std::move(items));
}

Element describe(GraphRecorder& recorder, const AbstractValue& datum) {
  Element element;
  element.kind = datum.kind;
  if (!datum.is_tensor() && !datum.is_number())
    refuse("a list with a data-dependent length holds " + description(datum));
  const Value* value = recorder.tensor(datum);
  element.dtype = value->dtype;
  element.shape = value->shape;
  return element;
}

void check_same(const Element& one, const Element& other) {
  if (one.kind == other.kind && one.dtype == other.dtype && one.shape == other.shape) return;
  refuse("a list with a data-dependent length holds elements of different types or sizes",
         "give all of them one element type and one size");
}

const AbstractValue* list_of(const Operands& operands) {
  const AbstractValue* list = operands.positional.empty() ? nullptr : &operands.positional[0];
  if (!list || list->kind != Kind::kStack) return nullptr;
  if (!list->value) throw FillingRead{list->held};
  return list;
}

AbstractValue part(GraphRecorder& recorder, Value* stack, AbstractValue start, AbstractValue end) {
  return recorder.call("aten::slice", {AbstractValue::of_tensor(stack), AbstractValue::of_int(0),
                                       std::move(start), std::move(end)});
}

AbstractValue joined(GraphRecorder& recorder, std::vector<AbstractValue> stacks) {
  return recorder.call("aten::cat", {AbstractValue::of_items(Kind::kList, std::move(stacks))});
}

Element element_of_stack(const Container& list) {
  return {
      list.element, list.stack->dtype, {list.stack->shape.begin() + 1, list.stack->shape.end()}};
}

// Of an element that is to stand in a list: a stack of one.
AbstractValue stack_of_one(GraphRecorder& recorder, const AbstractValue& item) {
  if (item.is_tensor() && item.value) recorder.writes().copy_into_list(item.value);
  return recorder.call("aten::unsqueeze",
                       {AbstractValue::of_tensor(recorder.tensor(item)), AbstractValue::of_int(0)});
}

AbstractValue stack_of(GraphRecorder& recorder, const AbstractValue& list, const Element& element) {
  return AbstractValue::of_tensor(stacked(recorder, *list.held, element));
}

void set(GraphRecorder& recorder, const AbstractValue& list, const AbstractValue& stack) {
  recorder.writes().before_write(list.held);
  become(*list.held, recorder.tensor(stack), list.held->element);
}

// Whether the list becomes one of elements that differ in size, as this one does from those in it.
bool becomes_uneven(GraphRecorder& recorder, const AbstractValue& list, const Element& item) {
  const Element element = common_element(element_of_stack(*list.held), item);
  if (!element.uneven) return false;
  Value* const uneven = as_sequence(recorder, *list.held, element);
  recorder.writes().before_write(list.held);
  become(*list.held, uneven, element.kind);
  return true;
}

std::optional<AbstractValue> length(GraphRecorder&, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  return list ? std::optional(AbstractValue::of_int(list->value->shape[0])) : std::nullopt;
}

std::optional<AbstractValue> get_item(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  return read_stack(recorder, *list, operands.at(1));
}

std::optional<AbstractValue> append(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& list = operands.at(0);
  if (list.held->filling) return std::nullopt;
  const AbstractValue& item = operands.at(1);
  if (becomes_uneven(recorder, list, describe(recorder, item)))
    return sequence_builtin(recorder, operands);
  set(recorder, list,
      joined(recorder, {AbstractValue::of_tensor(list.value), stack_of_one(recorder, item)}));
  return list;
}

std::optional<AbstractValue> extend(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& list = operands.at(0);
  const AbstractValue& other = operands.at(1);
  if (list.kind == Kind::kList && other.kind == Kind::kStack) {
    const Element element = element_of_stack(*other.held);
    const AbstractValue whole = joined(
        recorder, {stack_of(recorder, list, element), AbstractValue::of_tensor(other.held->stack)});
    recorder.writes().before_write(list.held);
    become(*list.held, whole.value, element.kind);
    return list;
  }
  if (list.held->filling && other.kind == Kind::kList) {
    recorder.writes().before_write(list.held);
    list.held->items.insert(list.held->items.end(), other.held->items.begin(),
                            other.held->items.end());
    return list;
  }
  if (!list_of(operands)) return std::nullopt;
  const bool adds_some = other.kind == Kind::kStack || !other.held->items.empty();
  if (adds_some && becomes_uneven(recorder, list, element_of(recorder, *other.held)))
    return sequence_builtin(recorder, operands);
  const Element element = element_of_stack(*list.held);
  set(recorder, list,
      joined(recorder, {AbstractValue::of_tensor(list.value), stack_of(recorder, other, element)}));
  return list;
}

std::optional<AbstractValue> add(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue &left = operands.at(0), &right = operands.at(1);
  for (const AbstractValue* each : {&left, &right})
    if (each->kind == Kind::kStack && !each->value) throw FillingRead{each->held};
  const Element element = element_of_stack(left.kind == Kind::kStack ? *left.held : *right.held);
  const AbstractValue whole =
      joined(recorder, {stack_of(recorder, left, element), stack_of(recorder, right, element)});
  return of_stack(whole.value, element.kind);
}

// A position, from the front; as it is where it is known.
AbstractValue from_front(const AbstractValue& list, const AbstractValue& at) {
  if (!at.expr.known()) refuse("a position of a list is " + description(at));
  if (at.expr.is_constant()) return at;
  return AbstractValue::of_int(symbolic::from_front(at.expr, list.value->shape[0]));
}

// The same position counted from the other end, for a list that was turned round.
AbstractValue from_other_end(const AbstractValue& at, const Expr& length) {
  if (at.is_none()) return at;
  if (at.expr.is_constant() && at.expr.value() < 0) return AbstractValue::of_int(-at.expr - 1);
  const Expr place = length - symbolic::from_front(at.expr, length) - 1;
  return AbstractValue::of_int(symbolic::max(place, 0));
}

std::optional<AbstractValue> slice(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const auto given = [&](std::size_t position, const char* name) {
    const AbstractValue* found = operands.find(position, name);
    return found ? *found : AbstractValue();
  };
  AbstractValue whole = AbstractValue::of_tensor(list->value);
  AbstractValue start = given(1, "start"), end = given(2, "end"), step = given(3, "step");
  if (step.is_none()) step = AbstractValue::of_int(1);
  if (!step.expr.is_constant()) refuse("the step of a slice of a list is " + description(step));
  // A tensor has no slices from its end: those of a list are of the list turned round.
  if (step.expr.value() < 0) {
    const Expr length = list->value->shape[0];
    for (const AbstractValue* bound : {&start, &end})
      if (!bound->is_none() && !bound->expr.known())
        refuse("a bound of a slice of a list is " + description(*bound));
    start = from_other_end(start, length);
    end = from_other_end(end, length);
    step = AbstractValue::of_int(-step.expr);
    const AbstractValue first_axis =
        AbstractValue::of_items(Kind::kList, {AbstractValue::of_int(0)});
    whole = recorder.call("aten::flip", {whole, first_axis});
  }
  const AbstractValue made =
      recorder.call("aten::slice", {whole, AbstractValue::of_int(0), start, end, step});
  return of_stack(made.value, list->held->element);
}

std::optional<AbstractValue> copy(GraphRecorder&, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  return list ? std::optional(of_stack(list->value, list->held->element)) : std::nullopt;
}

std::optional<AbstractValue> reverse(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  set(recorder, *list,
      recorder.call("aten::flip", {AbstractValue::of_tensor(list->value), ints({0})}));
  return AbstractValue();
}

std::optional<AbstractValue> clear(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  set(recorder, *list,
      part(recorder, list->value, AbstractValue::of_int(0), AbstractValue::of_int(0)));
  return AbstractValue();
}

// What stands before a position, and behind it.
std::optional<AbstractValue> pop(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const AbstractValue* given = operands.find(1, "idx");
  const AbstractValue at = given ? from_front(*list, *given) : AbstractValue::of_int(-1);
  const AbstractValue taken = read_stack(recorder, *list, at);
  const AbstractValue head = part(recorder, list->value, AbstractValue::of_int(0), at);
  if (at.expr.is(-1)) {
    set(recorder, *list, head);
  } else {
    set(recorder, *list,
        joined(recorder, {head, part(recorder, list->value, AbstractValue::of_int(at.expr + 1),
                                     AbstractValue())}));
  }
  return taken;
}

std::optional<AbstractValue> delete_item(GraphRecorder& recorder, const Operands& operands) {
  return pop(recorder, operands) ? std::optional(AbstractValue()) : std::nullopt;
}

std::optional<AbstractValue> insert(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const AbstractValue& at = operands.at(1);
  set(recorder, *list,
      joined(recorder, {part(recorder, list->value, AbstractValue::of_int(0), at),
                        stack_of_one(recorder, operands.at(2)),
                        part(recorder, list->value, at, AbstractValue())}));
  return AbstractValue();
}

std::optional<AbstractValue> set_item(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const AbstractValue at = from_front(*list, operands.at(1));
  std::vector<AbstractValue> parts = {part(recorder, list->value, AbstractValue::of_int(0), at),
                                      stack_of_one(recorder, operands.at(2))};
  if (!at.expr.is(-1))
    parts.push_back(
        part(recorder, list->value, AbstractValue::of_int(at.expr + 1), AbstractValue()));
  set(recorder, *list, joined(recorder, std::move(parts)));
  return *list;
}

// torch.tensor(list) and the sum, the least and the greatest of numbers, whether all or any hold.
std::optional<AbstractValue> as_tensor(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const AbstractValue* dtype = operands.find(1, "dtype");
  constexpr std::int64_t kFloat = 6;
  const bool is_float = list->held->element == Kind::kFloat;
  if ((!dtype || dtype->is_none()) && !is_float) return AbstractValue::of_tensor(list->value);
  return recorder.call("aten::to",
                       {AbstractValue::of_tensor(list->value),
                        dtype && !dtype->is_none() ? *dtype : AbstractValue::of_int(kFloat)});
}

std::optional<AbstractValue> reduced(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list || operands.positional.size() != 1) return std::nullopt;
  const std::string op =
      operands.op.starts_with("prim::") ? "aten::" + operands.op.substr(6) : operands.op;
  return recorder.item(recorder.call(op, {AbstractValue::of_tensor(list->value)}));
}

std::optional<AbstractValue> contains(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list || list->held->element == Kind::kTensor) return std::nullopt;
  const AbstractValue same =
      recorder.call("aten::eq", {AbstractValue::of_tensor(list->value), operands.at(1)});
  return recorder.item(recorder.call("aten::any", {same}));
}

// Of numbers: list.sort(), sorted(list).
std::optional<AbstractValue> sort(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list || list->held->element == Kind::kTensor) return std::nullopt;
  const AbstractValue* reverse = operands.find(1, "reverse");
  const AbstractValue sorted =
      recorder.call("aten::sort", {AbstractValue::of_tensor(list->value), AbstractValue::of_int(0),
                                   reverse ? *reverse : AbstractValue::of_bool(false)});
  const AbstractValue values = sorted.held->items.at(0);
  if (operands.op == "aten::sorted") return of_stack(values.value, list->held->element);
  set(recorder, *list, values);
  return AbstractValue();
}

// Of numbers: how many are equal to one, and where the first of them stands.
std::optional<AbstractValue> find_equal(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  const AbstractValue* wanted = operands.find(1, "el");
  if (!list || !wanted || list->held->element == Kind::kTensor) return std::nullopt;
  constexpr std::int64_t kLong = 4;
  const AbstractValue same =
      recorder.call("aten::eq", {AbstractValue::of_tensor(list->value), *wanted});
  const AbstractValue each = recorder.call("aten::to", {same, AbstractValue::of_int(kLong)});
  return recorder.item(
      recorder.call(operands.op == "aten::count" ? "aten::sum" : "aten::argmax", {each}));
}

std::optional<AbstractValue> stack(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const AbstractValue* dim = operands.find(1, "dim");
  const AbstractValue stacked = AbstractValue::of_tensor(list->value);
  if (!dim || dim->expr.is(0)) return stacked;
  return recorder.call("aten::movedim", {stacked, AbstractValue::of_int(0), *dim});
}

// Of tensors of the same sizes: the stack, with its first axis moved beside the joined one.
std::optional<AbstractValue> cat(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = list_of(operands);
  if (!list) return std::nullopt;
  const AbstractValue* dim = operands.find(1, "dim");
  const auto rank = static_cast<std::int64_t>(list->value->rank()) - 1;
  std::int64_t axis = dim ? dim->expr.constant().value_or(0) : 0;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) refuse("there is no such dimension to join along");
  const AbstractValue moved =
      recorder.call("aten::movedim", {AbstractValue::of_tensor(list->value),
                                      AbstractValue::of_int(0), AbstractValue::of_int(axis)});
  return recorder.call("aten::flatten",
                       {moved, AbstractValue::of_int(axis), AbstractValue::of_int(axis + 1)});
}

}  // namespace

Element element_of(GraphRecorder& recorder, const Container& list) {
  if (list.stack)
    return is_sequence(list.stack) ? element_of_sequence(*list.stack) : element_of_stack(list);
  Element element = describe(recorder, list.items.front());
  for (const AbstractValue& item : list.items)
    element = common_element(element, describe(recorder, item));
  return element;
}

Value* stacked(GraphRecorder& recorder, const Container& list, const Element& element) {
  if (list.filling) refuse("a list is read in the loop that fills it");
  if (element.uneven) return as_sequence(recorder, list, element);
  if (list.stack) {
    check_same(element, element_of_stack(list));
    return list.stack;
  }
  if (list.items.empty()) {
    std::vector<Expr> sizes = {Expr(0)};
    sizes.insert(sizes.end(), element.shape.begin(), element.shape.end());
    const program::Schema* schema = program::find_schema("aten::zeros");
    return recorder
        .call(*schema, program::bind(*schema, {recorder.argument(ints(std::move(sizes)))},
                                     {{"dtype", program::Argument(element.dtype)}}))
        .value;
  }
  std::vector<AbstractValue> tensors;
  for (const AbstractValue& item : list.items) {
    check_same(element, describe(recorder, item));
    if (item.is_tensor() && item.value) recorder.writes().copy_into_list(item.value);
    tensors.push_back(AbstractValue::of_tensor(recorder.tensor(item)));
  }
  return recorder.call("aten::stack", {AbstractValue::of_items(Kind::kList, std::move(tensors))})
      .value;
}

AbstractValue of_stack(Value* stack, Kind element) {
  AbstractValue list = AbstractValue::of_items(Kind::kStack, {});
  become(*list.held, stack, element);
  list.value = stack;
  return list;
}

void become(Container& list, Value* stack, Kind element) {
  list.items.clear();
  list.stack = stack;
  list.element = element;
  list.filling = false;
}

AbstractValue read_stack(GraphRecorder& recorder, const AbstractValue& list,
                         const AbstractValue& position) {
  if (is_sequence(list)) return read_sequence(recorder, list.value, position);
  const AbstractValue read = recorder.call(
      "aten::select", {AbstractValue::of_tensor(list.value), AbstractValue::of_int(0), position});
  return list.held->element == Kind::kTensor ? read : recorder.item(read);
}

void add_stack_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::len", length},       {"aten::__getitem__", get_item},
      {"aten::append", append},    {"aten::extend", extend},
      {"aten::add_", extend},      {"aten::add", add},
      {"aten::slice", slice},      {"aten::copy", copy},
      {"aten::list", copy},        {"aten::reverse", reverse},
      {"aten::clear", clear},      {"aten::pop", pop},
      {"aten::insert", insert},    {"aten::_set_item", set_item},
      {"aten::tensor", as_tensor}, {"aten::as_tensor", as_tensor},
      {"aten::sum", reduced},      {"prim::max", reduced},
      {"prim::min", reduced},      {"aten::__contains__", contains},
      {"aten::stack", stack},      {"aten::cat", cat},
      {"aten::concat", cat},       {"aten::sort", sort},
      {"aten::sorted", sort},      {"aten::count", find_equal},
      {"aten::index", find_equal}, {"aten::Delete", delete_item},
      {"aten::all", reduced},      {"aten::any", reduced},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript
