#include "frontends/torchscript/control_flow/merge.h"

#include <algorithm>
#include <optional>

#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/optionals.h"
#include "frontends/torchscript/recording/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Value;
using symbolic::Expr;

Merge::Merge(GraphRecorder& recorder, program::Call& call, Body& first, Body& second,
             std::uint64_t first_serial, bool ranks_may_differ)
    : recorder_(recorder),
      call_(call),
      first_(first),
      second_(second),
      first_serial_(first_serial),
      ranks_may_differ_(ranks_may_differ) {}

AbstractValue Merge::merge(const AbstractValue& left, const AbstractValue& right,
                           const std::string& name) {
  if (left.kind == Kind::kUninitialized && right.kind == Kind::kUninitialized) return left;
  if (left.kind == Kind::kFailed || right.kind == Kind::kFailed) throw Failed();
  if (is_same(left, right)) return left;
  if (left.held && left.held == right.held) return left;
  if (left.kind == Kind::kUninitialized) return with_nothing(right, second_, first_, name, false);
  if (right.kind == Kind::kUninitialized) return with_nothing(left, first_, second_, name, true);
  if (needs_optional(left, right)) return optionals(left, right, name);
  if (left.is_tensor() && right.is_tensor()) return tensors(left, right, name);
  if (left.is_number() && right.is_number()) return numbers(left, right, name);
  return containers(left, right, name);
}

void Merge::lists(const Container& left, const Container& right, Container& made) {
  const Element element = element_of_both(left, right);
  Value* const first = stack_in(first_, left, element);
  Value* const second = stack_in(second_, right, element);
  become(made,
         tensors(AbstractValue::of_tensor(first), AbstractValue::of_tensor(second), "list").value,
         element.kind);
}

Element Merge::element_of_both(const Container& left, const Container& right) {
  std::optional<Element> common;
  for (Body* body : {&first_, &second_}) {
    const Container& list = body == &first_ ? left : right;
    if (!list.stack && list.items.empty()) continue;
    const auto inside = body->inside();
    const Element element = without_local_sizes(*body, element_of(recorder_, list));
    common = common ? common_element(*common, element) : element;
  }
  if (!common) torchscript::refuse("a data-dependent branch leaves different lists");
  return *common;
}

Value* Merge::stack_in(Body& body, const Container& list, const Element& element) {
  const auto inside = body.inside();
  return stacked(recorder_, list, element);
}

void Merge::refuse(const AbstractValue& left, const AbstractValue& right, const std::string& name) {
  torchscript::refuse("'" + name + "' is " + description(left) + " after one branch and " +
                          description(right) + " after the other, and the branch is data-dependent",
                      "give both branches values of one type");
}

AbstractValue Merge::with_nothing(const AbstractValue& given, const Body& from, Body& body,
                                  const std::string& name, bool is_left) {
  const bool is_earlier = is_list(given) || given.kind == Kind::kDict;
  if (is_earlier && given.held->serial < first_serial_) return given;
  if ((given.is_tensor() || given.is_number()) && !from.is_local(given)) return given;
  const AbstractValue other = stand_in(given, from, body);
  return is_left ? merge(given, other, name) : merge(other, given, name);
}

bool Merge::is_list(const AbstractValue& datum) {
  return datum.kind == Kind::kList || datum.kind == Kind::kStack;
}

AbstractValue Merge::stand_in(const AbstractValue& other, const Body& from, Body& body) {
  const auto inside = body.inside();
  return torchscript::stand_in(recorder_, other, from);
}

AbstractValue Merge::optionals(const AbstractValue& left, const AbstractValue& right,
                               const std::string& name) {
  const AbstractValue one = as_optional(recorder_, left, right, second_, first_),
                      other = as_optional(recorder_, right, left, first_, second_);
  const AbstractValue present = merge(presence(one), presence(other), name);
  return of_optional(present, merge(content(one), content(other), name));
}

Value* Merge::output(Value* left, Value* right, const std::string& name) {
  first_.graph->outputs.emplace_back(left);
  second_.graph->outputs.emplace_back(right);
  Value* made = recorder_.program().add_value();
  made->name = recorder_.new_name(name == kResult ? "result" : name);
  made->dtype = left->dtype;
  made->producer = &call_;
  made->index = static_cast<std::uint32_t>(call_.outputs.size());
  call_.outputs.push_back(made);
  return made;
}

Value* Merge::without_rank(const AbstractValue& datum) {
  return datum.value && !datum.value->has_rank ? datum.value : nullptr;
}

AbstractValue Merge::tensors(const AbstractValue& left, const AbstractValue& right,
                             const std::string& name) {
  Value *first = without_rank(left), *second = without_rank(right);
  const bool has_ranks = !first && !second;
  if (!first) first = first_.tensor(left);
  if (!second) second = second_.tensor(right);
  if (is_sequence(first)) {
    Value* made = output(first, second, name);
    static_cast<program::ValueType&>(*made) = *first;
    return AbstractValue::of_tensor(made);
  }
  const bool same_rank = has_ranks && first->rank() == second->rank();
  if (first->dtype == second->dtype && !same_rank && ranks_may_differ_) {
    Value* made = output(first, second, name);
    made->has_rank = false;
    return AbstractValue::of_tensor(made);
  }
  if (first->dtype != second->dtype || !same_rank) {
    if (first->dtype == second->dtype) throw RanksDiffer{};
    torchscript::refuse("'" + name + "' is " + program::type_text(*first) +
                            " after one branch and " + program::type_text(*second) +
                            " after the other, and the branch is data-dependent",
                        "give both branches tensors of one element type and rank");
  }
  Value* made = output(first, second, name);
  for (std::size_t i = 0; i < first->rank(); ++i) {
    const Expr size = first->shape[i];
    const bool same = size == second->shape[i] && !first_.is_local(size);
    made->shape.push_back(same ? size : fresh_size(recorder_.pool()));
  }
  return AbstractValue::of_tensor(made);
}

AbstractValue Merge::numbers(const AbstractValue& left, const AbstractValue& right,
                             const std::string& name) {
  if (left.kind != right.kind) refuse(left, right, name);
  // In this order whatever the compiler: it decides names.
  Value* const first = first_.tensor(left);
  Value* const second = second_.tensor(right);
  Value* made = output(first, second, name);
  AbstractValue tensor = AbstractValue::of_tensor(made);
  pending.push_back(made);
  return tensor;
}

AbstractValue Merge::containers(const AbstractValue& left, const AbstractValue& right,
                                const std::string& name) {
  const auto known = std::ranges::find_if(pairs, [&](const Pair& pair) {
    return pair.left == left.held && pair.right == right.held && left.held && right.held;
  });
  if (known != pairs.end()) return known->made;
  AbstractValue made = new_container(left, right, name);
  pairs.push_back({left.held, right.held, made});
  return made;
}

AbstractValue Merge::new_container(const AbstractValue& left, const AbstractValue& right,
                                   const std::string& name) {
  if (!left.held || !right.held) refuse(left, right, name);
  const Container &one = first_.content(left.held), &other = second_.content(right.held);
  const bool alike = left.kind == right.kind && one.items.size() == other.items.size() &&
                     one.type == other.type && one.stack == other.stack &&
                     left.kind != Kind::kStack;
  if (!alike && is_list(left) && is_list(right)) {
    AbstractValue made = AbstractValue::of_items(Kind::kStack, {});
    lists(one, other, *made.held);
    made.value = made.held->stack;
    return made;
  }
  if (!alike || left.kind == Kind::kObject) refuse(left, right, name);
  AbstractValue made = AbstractValue::of_items(left.kind, {});
  made.held->type = one.type;
  made.held->names = one.names;
  for (std::size_t i = 0; i < one.items.size(); ++i)
    made.held->items.push_back(merge(one.items[i], other.items[i], name));
  return made;
}

}  // namespace sardonyx::torchscript
