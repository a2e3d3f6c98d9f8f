// What a loop changes, learned from what a run of its body leaves.
#include <algorithm>
#include <utility>

#include "frontends/torchscript/control_flow/loop_state.h"
#include "frontends/torchscript/interpreter/optionals.h"
#include "frontends/torchscript/interpreter/sequences.h"

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

bool DynamicLoop::learn(Body& body) {
  bool changed = false;
  for (auto& [name, result] : body.variables) {
    const auto initial = before_.find(name);
    if (initial == before_.end() || is_same(inputs_[name], result)) continue;
    if (initial->second.kind == Kind::kUninitialized) {
      // What it holds is not there in this run's inputs: the next run has it.
      const bool is_earlier = result.is_tensor() || result.is_number()
                                  ? !body.is_local(result)
                                  : (is_list(result) || result.kind == Kind::kDict) &&
                                        reachable_.contains(result.held.get());
      initial->second = is_earlier ? result : stand_in(interpreter_, result, body);
      interpreter_.frame_->variables[name] = initial->second;
      changed = true;
      continue;
    } else if (result.kind == Kind::kUninitialized) {
      const auto inside = body.inside();
      result = stand_in(interpreter_, initial->second, body);
    }
    const bool may_be_none = align(body, initial->second, result);
    interpreter_.frame_->variables[name] = initial->second;
    changed = may_be_none ||
              learn(body, slots_[name], initial->second, inputs_[name], result, name) || changed;
  }
  for (auto& [held, result] : body.contents) {
    if (reachable_.contains(held.get())) changed = learn_content(body, held, result) || changed;
  }
  return changed;
}

// Makes a value that is None before the loop or after a run one that may be, in both places.
// Whether that changes what it is before the loop.
bool DynamicLoop::align(Body& body, AbstractValue& initial, AbstractValue& result) {
  bool changed = false;
  if (needs_optional(initial, result)) {
    changed = initial.kind != Kind::kOptional;
    if (changed) initial = as_optional(interpreter_, initial, result, body);
    result = as_optional(interpreter_, result, initial, body, body);
  }
  const bool is_open = initial.kind == result.kind &&
                       (initial.kind == Kind::kTuple || initial.kind == Kind::kOptional) &&
                       initial.held != result.held &&
                       initial.held->items.size() == result.held->items.size();
  if (!is_open) return changed;
  std::vector<AbstractValue> before = initial.held->items, after = result.held->items;
  bool inner = false;
  for (std::size_t i = 0; i < before.size(); ++i) inner = align(body, before[i], after[i]) || inner;
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

// --- lists and dictionaries that others hold

void DynamicLoop::carry_as_stack(const ObjectRef& held, const Element& element) {
  filled_.erase(held);
  held_slots_.erase(held);
  Stack& stack = stacks_[held];
  stack.initial = stacked(interpreter_, *held, element);
  stack.element = element;
  stack.slot.carried = true;
  stack.slot.varies.assign(element.shape.size() + 1, false);
  stack.slot.varies[0] = true;
}

// Of a list as a run leaves it.
Element DynamicLoop::element_after(Body& body, const Container& result) {
  const auto inside = body.inside();
  if (!result.stack && result.items.empty())
    interpreter_.refuse("a loop with a data-dependent count empties a list");
  return without_local_sizes(body, element_of(interpreter_, result));
}

// Of what the list holds before the loop, too.
Element DynamicLoop::element_of_all(Body& body, const Container& held, const Container& result) {
  const Element after = element_after(body, result);
  if (!held.stack && held.items.empty()) return after;
  return common_element(interpreter_, after, element_of(interpreter_, held));
}

bool DynamicLoop::learn_content(Body& body, const ObjectRef& held, Container& result) {
  if (stacks_.contains(held)) {
    const Element before = stacks_.at(held).element;
    const Element common = common_element(interpreter_, before, element_after(body, result));
    if (!result.stack) interpreter_.refuse("a loop with a data-dependent count empties a list");
    if (common.uneven == before.uneven && same_sizes(common, before)) return false;
    carry_as_stack(held, common);
    return true;
  }
  const bool adds_one = !result.stack && result.items.size() == 1;
  if (filled_.contains(held)) {
    const Element element = element_of_all(body, *held, result);
    const bool stays = adds_one && !element.uneven;
    if (!stays) carry_as_stack(held, element);
    return !stays;
  }
  const bool same_length = result.items.size() == held->items.size();
  if (same_length && result.stack == held->stack) return learn_items(body, held, result);
  if (!held->names.empty() || held->is_dictionary)
    interpreter_.refuse("a dictionary changes its size in a loop with a data-dependent count");
  const Element element = element_of_all(body, *held, result);
  if (!element.uneven && !result.stack && !held->stack &&
      result.items.size() == held->items.size() + 1) {
    filled_.insert(held);
    elements_[held] = element;
    held_slots_[held];
  } else {
    carry_as_stack(held, element);
  }
  return true;
}

bool DynamicLoop::learn_items(Body& body, const ObjectRef& held, Container& result) {
  Slot& slot = held_slots_[held];
  slot.items.resize(held->items.size());
  bool changed = false;
  const Container* entered = &*held;
  for (const auto& [each, content] : entered_contents_)
    if (each == held) entered = &content;
  for (std::size_t i = 0; i < result.items.size(); ++i) {
    AbstractValue initial = held->items[i];
    if (align(body, initial, result.items[i])) {
      interpreter_.before_write(held);
      held->items[i] = std::move(initial);
      changed = true;
      continue;
    }
    changed =
        learn(body, slot.items[i], held->items[i], entered->items[i], result.items[i], "item") ||
        changed;
  }
  return changed;
}

// --- values

bool DynamicLoop::learn(Body& body, Slot& slot, const AbstractValue& initial,
                        const AbstractValue& input, const AbstractValue& result,
                        const std::string& name) {
  if (is_same(input, result) && !slot.carried) return false;
  if (result.held && (result.held == initial.held || result.held == input.held)) return false;
  const bool both_tensors = initial.is_tensor() && result.is_tensor();
  if (both_tensors || (initial.is_number() && initial.kind == result.kind)) {
    bool changed = !std::exchange(slot.carried, true);
    if (both_tensors && result.value) interpreter_.check_rank(*result.value);
    if (both_tensors) changed = learn_sizes(slot, initial, result, name) || changed;
    return changed;
  }
  const bool alike = initial.held && result.held && initial.kind == result.kind &&
                     initial.kind != Kind::kObject && !initial.held->stack && !result.held->stack &&
                     initial.held->items.size() == result.held->items.size() && !slot.element;
  if (!alike && is_list(initial) && is_list(result))
    return learn_list(body, slot, *initial.held, *result.held);
  if (!alike) {
    interpreter_.refuse("'" + name + "' is " + description(initial) + " before the loop and " +
                            description(result) +
                            " after an iteration, and their number is data-dependent",
                        "give it the same type before the loop");
  }

  slot.items.resize(initial.held->items.size());
  const bool is_given = input.held && input.held->items.size() == slot.items.size();
  if (!is_given) return true;  // the next run is
  bool changed = false;
  for (std::size_t i = 0; i < slot.items.size(); ++i)
    changed = learn(body, slot.items[i], initial.held->items[i], input.held->items[i],
                    result.held->items[i], name) ||
              changed;
  return changed;
}

// Another list each time, of lengths that differ: it is carried as its elements.
bool DynamicLoop::learn_list(Body& body, Slot& slot, const Container& initial,
                             const Container& result) {
  std::optional<Element> common = slot.element;
  const auto join = [&](const Element& element) {
    common = common ? common_element(interpreter_, *common, element) : element;
  };
  if (initial.stack || !initial.items.empty()) join(element_of(interpreter_, initial));
  if (result.stack || !result.items.empty()) join(element_after(body, result));
  const bool is_known =
      slot.element && slot.element->uneven == common->uneven && same_sizes(*slot.element, *common);
  slot.carried = true;
  slot.items.clear();
  slot.element = common;
  slot.varies.assign(common->shape.size() + 1, false);
  slot.varies[0] = true;
  return !is_known;
}

bool DynamicLoop::learn_sizes(Slot& slot, const AbstractValue& initial, const AbstractValue& result,
                              const std::string& name) {
  const DType dtype = initial.value ? initial.value->dtype : DType::kInt64;
  const DType own = result.value ? result.value->dtype : DType::kInt64;
  const std::vector<Expr> shape = initial.value ? initial.value->shape : std::vector<Expr>();
  const std::vector<Expr> after = result.value ? result.value->shape : std::vector<Expr>();
  if (dtype != own || shape.size() != after.size()) {
    interpreter_.refuse("'" + name + "' is of " + std::string(base::dtype_name(dtype)) +
                            " and rank " + std::to_string(shape.size()) +
                            " before the loop and of " + std::string(base::dtype_name(own)) +
                            " and rank " + std::to_string(after.size()) + " after a run",
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
