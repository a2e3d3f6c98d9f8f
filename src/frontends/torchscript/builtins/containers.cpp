// Lists, tuples and dictionaries.
#include <algorithm>

#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/homogeneous_lists.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

// A program that doubles a list forty times would take all memory.
void check_length(std::uint64_t length) {
  constexpr std::uint64_t kMax = 1'000'000;
  if (length > kMax) refuse("a list of more than a million elements");
}

bool is_sequence(const AbstractValue& datum) {
  return datum.kind == Kind::kList || datum.kind == Kind::kTuple;
}

const AbstractValue* first(const Operands& operands) {
  return operands.positional.empty() ? nullptr : &operands.positional[0];
}

AbstractValue no_value() { return {}; }

std::optional<AbstractValue> number(GraphRecorder& recorder, const Operands& operands,
                                    std::string_view name);
void set_key(GraphRecorder& recorder, const AbstractValue& dictionary, const AbstractValue& key,
             const AbstractValue& value);

}  // namespace

std::int64_t known_integer(const AbstractValue& datum, const char* what) {
  if (datum.kind != Kind::kInt || !datum.expr.is_constant())
    refuse(std::string(what) + " of a list is " + description(datum) +
           ", which is known only at run time");
  return datum.expr.value();
}

namespace {

std::size_t position(GraphRecorder&, const AbstractValue& index, std::size_t size) {
  std::int64_t number = known_integer(index, "the position");
  if (number < 0) number += static_cast<std::int64_t>(size);
  if (number < 0 || number >= static_cast<std::int64_t>(size))
    refuse("there is no element " + std::to_string(number) + " in a list of " +
           std::to_string(size));
  return static_cast<std::size_t>(number);
}

// The place of a key's value; the size where there is none.
std::size_t find_key(GraphRecorder& recorder, const AbstractValue& dictionary,
                     const AbstractValue& key) {
  const std::vector<AbstractValue>& items = dictionary.held->items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const auto same = equality(recorder, items[i], key);
    if (!same) continue;
    if (same->value || !same->expr.is_constant())
      refuse("a key of a dictionary is " + description(key) + ", which is known only at run time");
    if (same->expr.value() != 0) return i + 1;
  }
  return items.size();
}

AbstractValue letter(GraphRecorder& recorder, const AbstractValue& text,
                     const AbstractValue& index) {
  if (text.is_message) refuse("a letter of a data-dependent string");
  return AbstractValue::of_text(text.text.substr(position(recorder, index, text.text.size()), 1));
}

// A module of nn.ModuleList, nn.Sequential (by its position) or nn.ModuleDict (by its key).
std::optional<AbstractValue> module_of(GraphRecorder& recorder, const AbstractValue& held,
                                       const AbstractValue& index) {
  if (held.held->type.find("torch.nn.modules.container.") == std::string::npos) return std::nullopt;
  std::string name = index.text;
  if (index.kind != Kind::kString) {
    std::size_t count = 0;
    while (held.held->attribute(std::to_string(count))) ++count;
    name = std::to_string(position(recorder, index, count));
  }
  const AbstractValue* found = held.held->attribute(name);
  if (!found || index.is_message) return std::nullopt;
  return as_read(*found);
}

std::optional<AbstractValue> get_item(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& held = operands.at(0);
  const AbstractValue& index = operands.at(1);
  if (held.kind == Kind::kString) return letter(recorder, held, index);
  const bool is_known = index.kind == Kind::kInt && index.expr.is_constant();
  if (held.kind == Kind::kList && !is_known && !held.held->items.empty()) {
    const Element element = element_of(recorder, *held.held);
    return read_stack(recorder, of_stack(stacked(recorder, *held.held, element), element.kind),
                      index);
  }
  if (held.kind == Kind::kObject) return module_of(recorder, held, index);
  if (is_sequence(held))
    return as_read(held.held->items[position(recorder, index, held.held->items.size())]);
  if (held.kind == Kind::kDict) {
    const std::size_t found = find_key(recorder, held, index);
    if (found == held.held->items.size()) refuse("the dictionary has no key " + description(index));
    return as_read(held.held->items[found]);
  }
  return std::nullopt;
}

std::optional<AbstractValue> length(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& held = operands.at(0);
  if (is_sequence(held))
    return AbstractValue::of_int(static_cast<std::int64_t>(held.held->items.size()));
  if (held.kind == Kind::kDict)
    return AbstractValue::of_int(static_cast<std::int64_t>(held.held->items.size() / 2));
  if (held.kind == Kind::kString && held.is_message) return length_of_message(recorder, held);
  if (held.kind == Kind::kString)
    return AbstractValue::of_int(static_cast<std::int64_t>(held.text.size()));
  if (held.is_tensor() && held.value) {
    if (held.value->shape.empty()) refuse("the length of a 0-d tensor");
    return AbstractValue::of_int(held.value->shape[0]);
  }
  return std::nullopt;
}

std::optional<AbstractValue> append(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  const bool filling = list && list->kind == Kind::kStack && list->held->filling;
  if (!list || (list->kind != Kind::kList && !filling)) return std::nullopt;
  recorder.writes().before_write(list->held);
  list->held->items.push_back(operands.at(1));
  return *list;
}

std::optional<AbstractValue> extend(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (!list || list->kind != Kind::kList || !is_sequence(operands.at(1))) return std::nullopt;
  check_length(list->held->items.size() + operands.positional[1].held->items.size());
  recorder.writes().before_write(list->held);
  const std::vector<AbstractValue> added = operands.positional[1].held->items;
  list->held->items.insert(list->held->items.end(), added.begin(), added.end());
  return *list;
}

std::optional<AbstractValue> insert(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (!list || list->kind != Kind::kList) return std::nullopt;
  recorder.writes().before_write(list->held);
  const auto size = static_cast<std::int64_t>(list->held->items.size());
  std::int64_t at = known_integer(operands.at(1), "the position");
  if (at < 0) at += size;
  at = std::clamp<std::int64_t>(at, 0, size);
  list->held->items.insert(list->held->items.begin() + at, operands.at(2));
  return no_value();
}

// The value of a key, which goes with it; the default where there is none.
AbstractValue take_key(GraphRecorder& recorder, const AbstractValue& dictionary,
                       const AbstractValue& key, const AbstractValue* otherwise) {
  std::vector<AbstractValue>& items = dictionary.held->items;
  const std::size_t found = find_key(recorder, dictionary, key);
  if (found == items.size()) {
    if (otherwise) return *otherwise;
    refuse("the dictionary has no key " + description(key));
  }
  recorder.writes().before_write(dictionary.held);
  const AbstractValue taken = items[found];
  const auto at = items.begin() + static_cast<std::ptrdiff_t>(found);
  items.erase(at - 1, at + 1);
  return taken;
}

std::optional<AbstractValue> delete_item(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held) return std::nullopt;
  const AbstractValue& key = operands.at(1);
  if (held->kind == Kind::kDict) {
    take_key(recorder, *held, key, nullptr);
    return no_value();
  }
  if (held->kind != Kind::kList) return std::nullopt;
  const std::size_t at = position(recorder, key, held->held->items.size());
  recorder.writes().before_write(held->held);
  held->held->items.erase(held->held->items.begin() + static_cast<std::ptrdiff_t>(at));
  return no_value();
}

std::optional<AbstractValue> pop(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (list && list->kind == Kind::kDict)
    return take_key(recorder, *list, operands.at(1),
                    operands.positional.size() > 2 ? &operands.positional[2] : nullptr);
  if (!list || list->kind != Kind::kList) return std::nullopt;
  const AbstractValue* index = operands.find(1, "idx");
  const std::size_t at =
      position(recorder, index ? *index : AbstractValue::of_int(-1), list->held->items.size());
  recorder.writes().before_write(list->held);
  AbstractValue taken = list->held->items[at];
  list->held->items.erase(list->held->items.begin() + static_cast<std::ptrdiff_t>(at));
  return taken;
}

std::optional<AbstractValue> clear(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held || (held->kind != Kind::kList && held->kind != Kind::kDict)) return std::nullopt;
  recorder.writes().before_write(held->held);
  held->held->items.clear();
  return no_value();
}

std::optional<AbstractValue> reverse(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (!list || list->kind != Kind::kList) return std::nullopt;
  recorder.writes().before_write(list->held);
  std::ranges::reverse(list->held->items);
  return no_value();
}

void set_key(GraphRecorder& recorder, const AbstractValue& dictionary, const AbstractValue& key,
             const AbstractValue& value) {
  std::vector<AbstractValue>& items = dictionary.held->items;
  const std::size_t found = find_key(recorder, dictionary, key);
  if (found < items.size()) {
    items[found] = value;
  } else {
    items.push_back(key);
    items.push_back(value);
  }
}

std::optional<AbstractValue> set_item(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held || (held->kind != Kind::kList && held->kind != Kind::kDict)) return std::nullopt;
  const AbstractValue &key = operands.at(1), &value = operands.at(2);
  recorder.writes().before_write(held->held);
  std::vector<AbstractValue>& items = held->held->items;
  if (held->kind == Kind::kList && key.kind == Kind::kInt && !key.expr.is_constant() &&
      !items.empty()) {
    const Element element = element_of(recorder, *held->held);
    become(*held->held, stacked(recorder, *held->held, element), element.kind);
    return recorder.call(operands.op, {as_read(*held), key, value});
  }
  if (held->kind == Kind::kList) {
    items[position(recorder, key, items.size())] = value;
    return *held;
  }
  set_key(recorder, *held, key, value);
  return no_value();
}

AbstractValue dict_of_pairs(GraphRecorder& recorder, const AbstractValue& pairs) {
  AbstractValue made = AbstractValue::of_items(Kind::kDict, {});
  for (const AbstractValue& pair : pairs.held->items) {
    if (!pair.held || pair.held->items.size() != 2)
      refuse("a dictionary of " + description(pair) + " in place of a pair");
    set_key(recorder, made, pair.held->items[0], pair.held->items[1]);
  }
  return made;
}

std::optional<AbstractValue> copy(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held) return AbstractValue::of_items(Kind::kDict, {});
  if (operands.op == "aten::dict" && is_sequence(*held)) return dict_of_pairs(recorder, *held);
  if (held->kind == Kind::kDict) return AbstractValue::of_items(Kind::kDict, held->held->items);
  if (!is_sequence(*held)) return std::nullopt;
  return AbstractValue::of_items(Kind::kList, held->held->items);
}

// list[start:end:step], of texts too
std::optional<AbstractValue> slice(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (list && list->kind == Kind::kString && !list->is_message) {
    std::vector<AbstractValue> letters;
    for (const char each : list->text)
      letters.push_back(AbstractValue::of_text(std::string(1, each)));
    Operands own = operands;
    own.positional[0] = AbstractValue::of_items(Kind::kList, std::move(letters));
    AbstractValue joined = AbstractValue::of_text("");
    for (const AbstractValue& each : slice(recorder, own)->held->items) joined.text += each.text;
    return joined;
  }
  if (!list || !is_sequence(*list)) return std::nullopt;
  const auto size = static_cast<std::int64_t>(list->held->items.size());
  const auto bound = [&](std::size_t i, const char* name, std::int64_t otherwise) {
    const AbstractValue* given = operands.find(i, name);
    if (!given || given->is_none()) return otherwise;
    return known_integer(*given, "a bound");
  };
  const std::int64_t step = bound(3, "step", 1);
  if (step == 0) refuse("a slice of a list with a step of 0");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto clamped = [&](std::int64_t at) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  constexpr std::int64_t kMissing = INT64_MIN;
  const std::int64_t given_start = bound(1, "start", kMissing),
                     given_end = bound(2, "end", kMissing);
  const std::int64_t start =
      given_start == kMissing ? (step > 0 ? low : high) : clamped(given_start);
  const std::int64_t end = given_end == kMissing ? (step > 0 ? high : low) : clamped(given_end);
  std::vector<AbstractValue> items;
  for (std::int64_t i = start; step > 0 ? i < end : i > end; i += step)
    items.push_back(list->held->items[static_cast<std::size_t>(i)]);
  return AbstractValue::of_items(list->kind, std::move(items));
}

std::optional<AbstractValue> contains(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *held = first(operands), *wanted = operands.find(1, "item");
  if (!held || !wanted) return std::nullopt;
  if (held->kind == Kind::kDict)
    return AbstractValue::of_bool(find_key(recorder, *held, *wanted) < held->held->items.size());
  if (held->kind == Kind::kString && (held->is_message || wanted->is_message))
    refuse("a data-dependent string is searched");
  if (held->kind == Kind::kString)
    return AbstractValue::of_bool(held->text.find(wanted->text) != std::string::npos);
  if (!is_sequence(*held)) return std::nullopt;
  AbstractValue found = AbstractValue::of_bool(false);
  for (const AbstractValue& item : held->held->items) {
    const auto same = equality(recorder, item, *wanted);
    if (!same) return std::nullopt;
    found = *number(recorder, {"aten::__or__", {found, *same}, {}}, "aten::__or__");
  }
  return found;
}

template <int offset>
std::optional<AbstractValue> keys_or_values(GraphRecorder&, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held || held->kind != Kind::kDict) return std::nullopt;
  std::vector<AbstractValue> items;
  for (std::size_t i = offset; i < held->held->items.size(); i += 2)
    items.push_back(held->held->items[i]);
  return AbstractValue::of_items(Kind::kList, std::move(items));
}

std::optional<AbstractValue> items_of(GraphRecorder&, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held || held->kind != Kind::kDict) return std::nullopt;
  std::vector<AbstractValue> items;
  for (std::size_t i = 0; i + 1 < held->held->items.size(); i += 2)
    items.push_back(
        AbstractValue::of_items(Kind::kTuple, {held->held->items[i], held->held->items[i + 1]}));
  return AbstractValue::of_items(Kind::kList, std::move(items));
}

std::optional<AbstractValue> get(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held || held->kind != Kind::kDict) return std::nullopt;
  const std::size_t found = find_key(recorder, *held, operands.at(1));
  if (found < held->held->items.size()) return as_read(held->held->items[found]);
  const AbstractValue* otherwise = operands.find(2, "default_value");
  return otherwise ? *otherwise : AbstractValue();
}

std::optional<AbstractValue> set_default(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* held = first(operands);
  if (!held || held->kind != Kind::kDict) return std::nullopt;
  const AbstractValue& key = operands.at(1);
  const std::size_t found = find_key(recorder, *held, key);
  if (found < held->held->items.size()) return as_read(held->held->items[found]);
  recorder.writes().before_write(held->held);
  set_key(recorder, *held, key, operands.at(2));
  return operands.positional[2];
}

std::optional<AbstractValue> update(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *held = first(operands), *other = operands.find(1, "to_add");
  if (!held || held->kind != Kind::kDict || !other || other->kind != Kind::kDict)
    return std::nullopt;
  recorder.writes().before_write(held->held);
  for (std::size_t i = 0; i + 1 < other->held->items.size(); i += 2)
    set_key(recorder, *held, other->held->items[i], other->held->items[i + 1]);
  return no_value();
}

bool holds_numbers(const AbstractValue* list) {
  return list && list->kind == Kind::kList &&
         std::ranges::all_of(list->held->items, &AbstractValue::is_number);
}

std::optional<AbstractValue> sum(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (!holds_numbers(list)) return std::nullopt;
  AbstractValue total = AbstractValue::of_int(0);
  for (const AbstractValue& item : list->held->items)
    total = *number(recorder, {"aten::add", {total, item}, {}}, "number::add");
  return total;
}

// all() and any() of truths.
template <bool conjunction>
std::optional<AbstractValue> all_or_any(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* list = first(operands);
  if (!holds_numbers(list)) return std::nullopt;
  AbstractValue found = AbstractValue::of_bool(conjunction);
  for (const AbstractValue& item : list->held->items) {
    const AbstractValue truth = *number(recorder, {"aten::Bool", {item}, {}}, "aten::Bool");
    const char* op = conjunction ? "aten::__and__" : "aten::__or__";
    found = *number(recorder, {op, {found, truth}, {}}, op);
  }
  return found;
}

std::optional<AbstractValue> add(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *left = first(operands), *right = operands.find(1, "b");
  if (!left || !right || !is_sequence(*left) || !is_sequence(*right))
    return number(recorder, operands, "number::add");
  check_length(left->held->items.size() + right->held->items.size());
  std::vector<AbstractValue> items = left->held->items;
  items.insert(items.end(), right->held->items.begin(), right->held->items.end());
  return AbstractValue::of_items(left->kind, std::move(items));
}

// A dynamic number of times.
AbstractValue repeated(GraphRecorder& recorder, const AbstractValue& list, symbolic::Expr times) {
  const Element element = element_of(recorder, *list.held);
  if (element.uneven)
    refuse("tensors of several sizes are repeated a data-dependent number of times");
  program::Value* const once = stacked(recorder, *list.held, element);
  std::vector<AbstractValue> counts(once->shape.size(), AbstractValue::of_int(1));
  counts.front() = AbstractValue::of_int(symbolic::max(times, 0));
  const AbstractValue all = recorder.call(
      "aten::repeat",
      {AbstractValue::of_tensor(once), AbstractValue::of_items(Kind::kList, std::move(counts))});
  return of_stack(all.value, element.kind);
}

std::optional<AbstractValue> multiply(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *left = first(operands), *right = operands.find(1, "b");
  if (!left || !right) return std::nullopt;
  if (is_sequence(*right)) std::swap(left, right);
  if (!is_sequence(*left)) return number(recorder, operands, "number::mul");
  if (right->kind == Kind::kInt && !right->expr.is_constant() && !left->held->items.empty())
    return repeated(recorder, *left, right->expr);
  const std::int64_t times = known_integer(*right, "the multiple");
  std::vector<AbstractValue> items;
  if (times > 0 && !left->held->items.empty()) {
    check_length(static_cast<std::uint64_t>(times));
    check_length(static_cast<std::uint64_t>(times) * left->held->items.size());
  }
  for (std::int64_t i = 0; i < times; ++i)
    items.insert(items.end(), left->held->items.begin(), left->held->items.end());
  return AbstractValue::of_items(left->kind, std::move(items));
}

std::optional<AbstractValue> number(GraphRecorder& recorder, const Operands& operands,
                                    std::string_view name) {
  static const BuiltinTable kNumbers = [] {
    BuiltinTable table;
    add_number_builtins(table);
    add_logic_builtins(table);
    return table;
  }();
  return kNumbers.at(name)(recorder, operands);
}

// What torch.jit.fork() gives is there at once.
std::optional<AbstractValue> waited(GraphRecorder&, const Operands& operands) {
  if (operands.positional.size() != 1) return std::nullopt;
  return operands.positional.front();
}

}  // namespace

void add_container_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::add", add},
      {"aten::add_", extend},
      {"aten::mul", multiply},
      {"aten::__getitem__", get_item},
      {"aten::len", length},
      {"aten::append", append},
      {"aten::extend", extend},
      {"aten::insert", insert},
      {"aten::pop", pop},
      {"aten::clear", clear},
      {"aten::reverse", reverse},
      {"aten::_set_item", set_item},
      {"aten::list", copy},
      {"aten::copy", copy},
      {"aten::dict", copy},
      {"aten::slice", slice},
      {"aten::__contains__", contains},
      {"aten::keys", keys_or_values<0>},
      {"aten::values", keys_or_values<1>},
      {"aten::items", items_of},
      {"aten::wait", waited},
      {"aten::get", get},
      {"aten::setdefault", set_default},
      {"aten::update", update},
      {"aten::Delete", delete_item},
      {"aten::sum", sum},
      {"aten::all", all_or_any<true>},
      {"aten::any", all_or_any<false>},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript
