#include "frontends/torchscript/control_flow/loop_fixpoint.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frontends/torchscript/recording/optionals.h"
#include "frontends/torchscript/recording/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using base::DType;
using symbolic::Expr;

namespace {

bool is_list(const AbstractValue& datum) {
  return datum.kind == Kind::kList || datum.kind == Kind::kStack;
}

bool same_sizes(const Element& one, const Element& other) {
  return std::ranges::equal(one.shape, other.shape, [](Expr a, Expr b) {
    return a.known() == b.known() && (!a.known() || a == b);
  });
}

}  // namespace

bool LoopFixpoint::learn() {
  bool changed = false;
  for (auto& [name, result] : body_.variables) {
    const auto initial = loop_.before.find(name);
    if (initial == loop_.before.end() || is_same(loop_.inputs[name], result)) continue;
    changed = learn_variable(name, initial->second, result) || changed;
  }
  for (auto& [held, result] : body_.contents) {
    if (loop_.reachable.contains(held.get())) changed = learn_content(held, result) || changed;
  }
  return changed;
}

bool LoopFixpoint::learn_variable(const std::string& name, AbstractValue& initial,
                                  AbstractValue& result) {
  if (initial.kind == Kind::kUninitialized) {
    // What it holds is not there in this run's inputs: the next run has it.
    const bool is_earlier = result.is_tensor() || result.is_number()
                                ? !body_.is_local(result)
                                : (is_list(result) || result.kind == Kind::kDict) &&
                                      loop_.reachable.contains(result.held.get());
    initial = is_earlier ? result : stand_in(recorder_, result, body_);
    state_.stack.variables()[name] = initial;
    return true;
  }
  if (result.kind == Kind::kUninitialized) {
    const auto inside = body_.inside();
    result = stand_in(recorder_, initial, body_);
  }
  const bool may_be_none = align(initial, result);
  state_.stack.variables()[name] = initial;
  return may_be_none || learn_slot(loop_.slots[name], initial, loop_.inputs[name], result, name);
}

// Makes a value that is None before the loop or after a run one that may be, in both places.
// Whether that changes what it is before the loop.
bool LoopFixpoint::align(AbstractValue& initial, AbstractValue& result) {
  bool changed = false;
  if (needs_optional(initial, result)) {
    changed = initial.kind != Kind::kOptional;
    if (changed) initial = as_optional(recorder_, initial, result, body_);
    result = as_optional(recorder_, result, initial, body_, body_);
  }
  const bool is_open = initial.kind == result.kind &&
                       (initial.kind == Kind::kTuple || initial.kind == Kind::kOptional) &&
                       initial.held != result.held &&
                       initial.held->items.size() == result.held->items.size();
  if (!is_open) return changed;
  std::vector<AbstractValue> before = initial.held->items, after = result.held->items;
  bool inner = false;
  for (std::size_t i = 0; i < before.size(); ++i) inner = align(before[i], after[i]) || inner;
  const auto replaced = [](const AbstractValue& datum, std::vector<AbstractValue> items) {
    AbstractValue made = AbstractValue::of_items(datum.kind, std::move(items));
    made.held->type = datum.held->type;
    made.held->names = datum.held->names;
    return made;
  };
  if (inner) initial = replaced(initial, std::move(before));
  result = replaced(result, std::move(after));
  return changed || inner;
}

// Of a list as a run leaves it.
Element LoopFixpoint::element_after(const Container& result) {
  const auto inside = body_.inside();
  if (!result.stack && result.items.empty())
    refuse("a loop with a data-dependent count empties a list");
  return without_local_sizes(body_, element_of(recorder_, result));
}

// Of what the list holds before the loop, too.
Element LoopFixpoint::element_of_all(const Container& held, const Container& result) {
  const Element after = element_after(result);
  if (!held.stack && held.items.empty()) return after;
  return common_element(after, element_of(recorder_, held));
}

bool LoopFixpoint::learn_content(const ObjectRef& held, Container& result) {
  if (loop_.stacks.contains(held)) {
    const Element before = loop_.stacks.at(held).element;
    const Element common = common_element(before, element_after(result));
    if (!result.stack) refuse("a loop with a data-dependent count empties a list");
    if (common.uneven == before.uneven && same_sizes(common, before)) return false;
    loop_.carry_as_stack(recorder_, held, common);
    return true;
  }
  const bool adds_one = !result.stack && result.items.size() == 1;
  if (loop_.filled.contains(held)) {
    const Element element = element_of_all(*held, result);
    const bool stays = adds_one && !element.uneven;
    if (!stays) loop_.carry_as_stack(recorder_, held, element);
    return !stays;
  }
  const bool same_length = result.items.size() == held->items.size();
  if (same_length && result.stack == held->stack) return learn_items(held, result);
  if (!held->names.empty() || held->is_dictionary)
    refuse("a dictionary changes its size in a loop with a data-dependent count");
  const Element element = element_of_all(*held, result);
  if (!element.uneven && !result.stack && !held->stack &&
      result.items.size() == held->items.size() + 1) {
    loop_.filled.insert(held);
    loop_.elements[held] = element;
    loop_.held_slots[held];
  } else {
    loop_.carry_as_stack(recorder_, held, element);
  }
  return true;
}

bool LoopFixpoint::learn_items(const ObjectRef& held, Container& result) {
  Slot& slot = loop_.held_slots[held];
  slot.items.resize(held->items.size());
  bool changed = false;
  const Container* entered = &*held;
  for (const auto& [each, content] : loop_.entered_contents)
    if (each == held) entered = &content;
  for (std::size_t i = 0; i < result.items.size(); ++i) {
    AbstractValue initial = held->items[i];
    if (align(initial, result.items[i])) {
      state_.writes.before_write(held);
      held->items[i] = std::move(initial);
      changed = true;
      continue;
    }
    changed =
        learn_slot(slot.items[i], held->items[i], entered->items[i], result.items[i], "item") ||
        changed;
  }
  return changed;
}

bool LoopFixpoint::learn_slot(Slot& slot, const AbstractValue& initial, const AbstractValue& input,
                              const AbstractValue& result, const std::string& name) {
  if (is_same(input, result) && !slot.carried) return false;
  if (result.held && (result.held == initial.held || result.held == input.held)) return false;
  const bool both_tensors = initial.is_tensor() && result.is_tensor();
  if (both_tensors || (initial.is_number() && initial.kind == result.kind)) {
    bool changed = !std::exchange(slot.carried, true);
    if (both_tensors && result.value) GraphRecorder::check_rank(*result.value);
    if (both_tensors) changed = learn_sizes(slot, initial, result, name) || changed;
    return changed;
  }
  const bool alike = initial.held && result.held && initial.kind == result.kind &&
                     initial.kind != Kind::kObject && !initial.held->stack && !result.held->stack &&
                     initial.held->items.size() == result.held->items.size() && !slot.element;
  if (!alike && is_list(initial) && is_list(result))
    return learn_list(slot, *initial.held, *result.held);
  if (!alike) {
    refuse("'" + name + "' is " + description(initial) + " before the loop and " +
               description(result) + " after an iteration, and their number is data-dependent",
           "give it the same type before the loop");
  }

  slot.items.resize(initial.held->items.size());
  const bool is_given = input.held && input.held->items.size() == slot.items.size();
  if (!is_given) return true;  // the next run is
  bool changed = false;
  for (std::size_t i = 0; i < slot.items.size(); ++i)
    changed = learn_slot(slot.items[i], initial.held->items[i], input.held->items[i],
                         result.held->items[i], name) ||
              changed;
  return changed;
}

// Another list each time, of lengths that differ: it is carried as its elements.
bool LoopFixpoint::learn_list(Slot& slot, const Container& initial, const Container& result) {
  std::optional<Element> common = slot.element;
  const auto join = [&](const Element& element) {
    common = common ? common_element(*common, element) : element;
  };
  if (initial.stack || !initial.items.empty()) join(element_of(recorder_, initial));
  if (result.stack || !result.items.empty()) join(element_after(result));
  const bool is_known =
      slot.element && slot.element->uneven == common->uneven && same_sizes(*slot.element, *common);
  slot.carried = true;
  slot.items.clear();
  slot.element = common;
  slot.varies.assign(common->shape.size() + 1, false);
  slot.varies[0] = true;
  return !is_known;
}

bool LoopFixpoint::learn_sizes(Slot& slot, const AbstractValue& initial,
                               const AbstractValue& result, const std::string& name) {
  const DType dtype = initial.value ? initial.value->dtype : DType::kInt64;
  const DType own = result.value ? result.value->dtype : DType::kInt64;
  const std::vector<Expr> shape = initial.value ? initial.value->shape : std::vector<Expr>();
  const std::vector<Expr> after = result.value ? result.value->shape : std::vector<Expr>();
  if (dtype != own || shape.size() != after.size()) {
    refuse("'" + name + "' is of " + std::string(base::dtype_name(dtype)) + " and rank " +
               std::to_string(shape.size()) + " before the loop and of " +
               std::string(base::dtype_name(own)) + " and rank " + std::to_string(after.size()) +
               " after a run",
           "give it the same element type and rank before the loop");
  }
  slot.varies.resize(shape.size(), false);
  bool changed = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (slot.varies[i] || shape[i] == after[i]) continue;
    slot.varies[i] = true;
    changed = true;
  }
  return changed;
}

}  // namespace sardonyx::torchscript
