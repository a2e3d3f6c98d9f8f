#include "frontends/torchscript/loop_on_data.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/torchscript/body.h"
#include "frontends/torchscript/sequences.h"

namespace sardonyx::torchscript {

using Kind = Datum::Kind;
using base::DType;
using program::Argument;
using program::List;
using program::Value;
using program::ValueKind;
using symbolic::Expr;

namespace {

constexpr int kMostRounds = 50;

// What is known of something that the loop may change.
struct Slot {
  bool carried = false;
  std::vector<bool> varies;  // which of a tensor's sizes change from run to run
  std::vector<Slot> items;   // of a tuple, list or dictionary

  bool any() const {
    return carried || std::ranges::any_of(items, [](const Slot& item) { return item.any(); });
  }
};

// Containers in the order in which they were made, which every run has them in.
struct Earlier {
  bool operator()(const std::shared_ptr<Container>& left,
                  const std::shared_ptr<Container>& right) const {
    return left->serial < right->serial;
  }
};

Datum of_truth(Value* value) {
  Datum truth;
  truth.kind = Kind::kBool;
  truth.value = value;
  return truth;
}

}  // namespace

// The body is followed until what it changes is known: first with everything as it is before the
// loop, then with what came out different as inputs of the body.
class LoopOnData {
 public:
  LoopOnData(Follower& follower, const Statement& statement, std::optional<Datum> count,
             Datum condition)
      : follower_(follower),
        statement_(statement),
        count_(std::move(count)),
        condition_(std::move(condition)),
        before_(follower.frame_->variables) {
    for (const auto& [name, datum] : before_) reach(datum);
    reach(follower.archive_.root());
  }

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      Body body(follower_, "loop");
      enter(body);
      try {
        if (!try_follow(body)) return finish(body);
      } catch (const FillingRead& read) {
        if (!filled_.contains(read.held)) throw;
        carry_as_stack(read.held, elements_.at(read.held));
      }
    }
    follower_.refuse("what the loop changes changes in its type with every run");
  }

 private:
  void reach(const Datum& datum) {
    if (!datum.held || !reachable_.insert(datum.held.get()).second) return;
    for (const Datum& item : datum.held->items) reach(item);
  }

  Value* add_input(Body& body, const std::string& name) {
    Value* value = follower_.program().add_value();
    value->name = name;
    value->index = static_cast<std::uint32_t>(body.graph->inputs.size());
    body.graph->inputs.push_back(value);
    return value;
  }

  // A number that the body is given.
  Datum integer_input(Body& body, const std::string& name, bool may_be_negative) {
    Value* value = add_input(body, name);
    value->kind = ValueKind::kInt;
    value->expr = follower_.pool().fresh("u");
    if (may_be_negative) follower_.pool().constrain(value->expr, symbolic::Range());
    follower_.pool().mark_unbacked(value->expr);
    return Datum::of_int(value->expr);
  }

  void enter(Body& body) {
    const auto inside = body.inside();
    carried_.clear();
    iteration_ = integer_input(body, follower_.new_name("iteration"), false);
    inputs_ = before_;
    for (auto& [name, slot] : slots_) inputs_[name] = entered(body, slot, before_[name], name);
    entered_contents_.clear();
    for (auto& [held, slot] : held_slots_) {
      Container content = *held;
      for (std::size_t i = 0; i < slot.items.size(); ++i)
        content.items[i] = entered(body, slot.items[i], held->items[i], "item");
      entered_contents_.emplace_back(held, std::move(content));
    }
    for (auto& [held, stack] : stacks_) {
      Container content = *held;
      stack.input = carried_input(body, stack.slot, Datum::of_tensor(stack.initial), "list").value;
      become(content, stack.input, stack.element.kind);
      entered_contents_.emplace_back(held, std::move(content));
    }
  }

  // --- lists that are carried as a stack of their elements

  struct Stack {
    Value* initial = nullptr;
    Element element;
    Slot slot;
    Value* input = nullptr;  // of the body
  };

  void carry_as_stack(const std::shared_ptr<Container>& held, const Element& element) {
    filled_.erase(held);
    held_slots_.erase(held);
    Stack& stack = stacks_[held];
    stack.initial = stacked(follower_, *held, element);
    stack.element = element;
    stack.slot.carried = true;
    stack.slot.varies.assign(element.shape.size() + 1, false);
    stack.slot.varies[0] = true;
  }

  // Of a list as a run leaves it.
  Element element_after(Body& body, const Container& result) {
    const auto inside = body.inside();
    if (!result.stack && result.items.empty())
      follower_.refuse("a loop whose count only a run tells empties a list");
    return without_local_sizes(body, element_of(follower_, result));
  }

  // Of what the list holds before the loop, too.
  Element element_of_all(Body& body, const Container& held, const Container& result) {
    const Element after = element_after(body, result);
    if (!held.stack && held.items.empty()) return after;
    return common_element(follower_, after, element_of(follower_, held));
  }

  static void type_as(Value& value, const Value& other) {
    static_cast<program::ValueType&>(value) = other;
  }

  Datum entered(Body& body, const Slot& slot, const Datum& initial, const std::string& name) {
    if (slot.carried) return carried_input(body, slot, initial, name);
    if (!slot.any()) return initial;
    Datum made = Datum::of_items(initial.kind, {});
    made.held->type = initial.held->type;
    made.held->names = initial.held->names;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      made.held->items.push_back(entered(body, slot.items[i], initial.held->items[i], name));
    return made;
  }

  Datum carried_input(Body& body, const Slot& slot, const Datum& initial, const std::string& name) {
    if (initial.kind == Kind::kInt) {
      carried_.emplace_back(initial.expr);
      return integer_input(body, follower_.new_name(name), true);
    }
    Value* outer = nullptr;
    {
      const Outside outside(*this);
      outer = follower_.tensor(initial);
    }
    carried_.emplace_back(outer);
    Value* value = add_input(body, follower_.new_name(name));
    if (is_sequence(outer)) {
      type_as(*value, *outer);
      return Datum::of_tensor(value);
    }
    value->dtype = outer->dtype;
    for (std::size_t i = 0; i < outer->rank(); ++i)
      value->shape.push_back(slot.varies.at(i) ? fresh_size(follower_.pool()) : outer->shape[i]);
    if (initial.kind == Kind::kBool) return of_truth(value);
    return initial.kind == Kind::kFloat ? follower_.item(Datum::of_tensor(value))
                                        : Datum::of_tensor(value);
  }

  // While it lives, calls are written where the loop stands.
  struct Outside {
    explicit Outside(LoopOnData& loop)
        : follower(loop.follower_), inner(std::exchange(loop.follower_.graph_, loop.outer_)) {}
    ~Outside() { follower.graph_ = inner; }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;
    Follower& follower;
    program::Graph* inner;
  };

  // Whether it found more that the loop changes.
  bool try_follow(Body& body) {
    std::vector<std::pair<std::shared_ptr<Container>, Container>> saved;
    for (auto& [held, content] : entered_contents_) {
      saved.emplace_back(held, *held);
      *held = content;
      if (filled_.contains(held)) {
        held->items.clear();
        held->filling = true;
      }
    }
    follower_.frame_->variables = inputs_;
    if (statement_.kind == Statement::Kind::kFor)
      follower_.assign(*statement_.targets.front(), iteration_);
    const auto restore = [&] {
      for (auto& [held, content] : saved) *held = content;
      follower_.frame_->variables = before_;
    };
    try {
      body.follow(statement_.body, [&] {
        if (statement_.kind == Statement::Kind::kWhile)
          again_ = follower_.evaluate(*statement_.value);
      });
    } catch (...) {
      restore();
      throw;
    }
    restore();
    if (body.raised) throw Raised{body.message};
    return learn(body);
  }

  bool learn(Body& body) {
    bool changed = false;
    for (const auto& [name, result] : body.variables) {
      const auto initial = before_.find(name);
      if (initial == before_.end() || is_same(inputs_[name], result)) continue;
      if (initial->second.kind == Kind::kUninitialized) {
        initial->second = stand_in(follower_, result);
        follower_.frame_->variables[name] = initial->second;
        changed = true;
      }
      changed = learn(slots_[name], initial->second, inputs_[name], result, name) || changed;
    }
    for (const auto& [held, result] : body.contents) {
      if (reachable_.contains(held.get())) changed = learn_content(body, held, result) || changed;
    }
    return changed;
  }

  bool learn_content(Body& body, const std::shared_ptr<Container>& held, const Container& result) {
    if (stacks_.contains(held)) {
      const Element before = stacks_.at(held).element;
      const Element common = common_element(follower_, before, element_after(body, result));
      if (!result.stack) follower_.refuse("a loop whose count only a run tells empties a list");
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
    if (same_length && result.stack == held->stack) return learn_items(held, result);
    if (!held->names.empty() || held->is_dictionary)
      follower_.refuse("a dictionary changes its size in a loop whose count only a run tells");
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

  static bool same_sizes(const Element& one, const Element& other) {
    return std::ranges::equal(one.shape, other.shape, [](Expr a, Expr b) {
      return a.known() == b.known() && (!a.known() || a == b);
    });
  }

  bool learn_items(const std::shared_ptr<Container>& held, const Container& result) {
    Slot& slot = held_slots_[held];
    slot.items.resize(held->items.size());
    bool changed = false;
    const Container* entered = &*held;
    for (const auto& [each, content] : entered_contents_)
      if (each == held) entered = &content;
    for (std::size_t i = 0; i < result.items.size(); ++i)
      changed = learn(slot.items[i], held->items[i], entered->items[i], result.items[i], "item") ||
                changed;
    return changed;
  }

  bool learn(Slot& slot, const Datum& initial, const Datum& input, const Datum& result,
             const std::string& name) {
    if (is_same(input, result) && !slot.carried) return false;
    if (result.held && (result.held == initial.held || result.held == input.held)) return false;
    const bool both_tensors = initial.is_tensor() && result.is_tensor();
    if (both_tensors || (initial.is_number() && initial.kind == result.kind)) {
      bool changed = !std::exchange(slot.carried, true);
      if (both_tensors) changed = learn_sizes(slot, initial, result, name) || changed;
      return changed;
    }
    const bool alike = initial.held && result.held && initial.kind == result.kind &&
                       initial.kind != Kind::kObject && initial.kind != Kind::kStack &&
                       initial.held->items.size() == result.held->items.size();
    if (!alike) {
      follower_.refuse("'" + name + "' is " + description(initial) + " before the loop and " +
                           description(result) +
                           " after a run, and only data tell how often it runs",
                       "give it the same type before the loop");
    }

    slot.items.resize(initial.held->items.size());
    bool changed = false;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      changed = learn(slot.items[i], initial.held->items[i], input.held->items[i],
                      result.held->items[i], name) ||
                changed;
    return changed;
  }

  bool learn_sizes(Slot& slot, const Datum& initial, const Datum& result, const std::string& name) {
    const DType dtype = initial.value ? initial.value->dtype : DType::kInt64;
    const DType own = result.value ? result.value->dtype : DType::kInt64;
    const std::vector<Expr> shape = initial.value ? initial.value->shape : std::vector<Expr>();
    const std::vector<Expr> after = result.value ? result.value->shape : std::vector<Expr>();
    if (dtype != own || shape.size() != after.size()) {
      follower_.refuse("'" + name + "' is of " + std::string(base::dtype_name(dtype)) +
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

  // --- the call

  void finish(Body& body) {
    call_ = follower_.program().add_call();
    call_->schema = program::find_schema("higher_order::loop");
    call_->name = follower_.new_name("loop");
    call_->source = follower_.source();
    body.graph->outputs.push_back(
        truth_of(statement_.kind == Statement::Kind::kWhile ? again_ : Datum::of_bool(true)));
    for (auto& [name, slot] : slots_) leave(body, slot, body.variables.at(name));
    for (auto& [held, slot] : held_slots_) {
      const Container& content = body.content(held);
      for (std::size_t i = 0; i < slot.items.size(); ++i)
        leave(body, slot.items[i], content.items.at(i));
    }
    for (auto& [held, stack] : stacks_) {
      Value* const after = body.content(held).stack;
      body.graph->outputs.emplace_back(body.wrote(held) ? after : stack.input);
    }
    Follower::Variables after = before_;
    for (auto& [name, slot] : slots_) after[name] = result_of(slot, before_[name], name);
    std::vector<std::pair<std::shared_ptr<Container>, Container>> contents;
    for (auto& [held, slot] : held_slots_) {
      Container content = *held;
      for (std::size_t i = 0; i < slot.items.size(); ++i)
        content.items[i] = result_of(slot.items[i], held->items[i], "item");
      contents.emplace_back(held, std::move(content));
    }
    for (auto& [held, stack] : stacks_) {
      Container content = *held;
      const Datum initial = Datum::of_tensor(stack.initial);
      become(content, result_of(stack.slot, initial, "list").value, stack.element.kind);
      contents.emplace_back(held, std::move(content));
    }
    for (auto& [held, content] : contents) {
      if (!filled_.contains(held)) continue;
      content.stack = filled(body, held);
      content.element = elements_.at(held).kind;
    }
    List given = close({body.graph}, follower_.program());
    const Argument count = count_ ? Argument(count_->expr) : Argument(program::None{});
    call_->arguments = {body.graph, count, truth_of(condition_), carried_, std::move(given)};
    follower_.graph_->calls.push_back(call_);
    for (auto& [held, content] : contents) {
      follower_.before_write(held);
      prepend_earlier(*held, content);
      *held = std::move(content);
      for (Datum& item : held->items) read_floats(item);
    }
    for (auto& [name, datum] : after) read_floats(datum);
    follower_.frame_->variables = std::move(after);
  }

  static Argument truth_of(const Datum& truth) {
    if (truth.value) return truth.value;
    if (truth.expr.is_constant()) return truth.expr.value() != 0;
    return truth.expr;
  }

  void leave(Body& body, const Slot& slot, const Datum& result) {
    if (slot.carried) {
      if (result.kind == Kind::kInt) {
        body.graph->outputs.emplace_back(result.expr);
      } else {
        body.graph->outputs.emplace_back(body.tensor(result));
      }
      return;
    }
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      leave(body, slot.items[i], result.held->items[i]);
  }

  Value* add_output(const std::string& name) {
    Value* value = follower_.program().add_value();
    value->name = follower_.new_name(name);
    value->producer = call_;
    value->index = static_cast<std::uint32_t>(call_->outputs.size());
    call_->outputs.push_back(value);
    return value;
  }

  Datum result_of(const Slot& slot, const Datum& initial, const std::string& name) {
    if (!slot.any()) return initial;
    if (!slot.carried) {
      Datum made = Datum::of_items(initial.kind, {});
      made.held->type = initial.held->type;
      made.held->names = initial.held->names;
      for (std::size_t i = 0; i < slot.items.size(); ++i)
        made.held->items.push_back(result_of(slot.items[i], initial.held->items[i], name));
      return made;
    }
    Value* value = add_output(name);
    if (initial.kind == Kind::kInt) {
      value->kind = ValueKind::kInt;
      value->expr = follower_.pool().fresh("u");
      follower_.pool().constrain(value->expr, symbolic::Range());
      follower_.pool().mark_unbacked(value->expr);
      return Datum::of_int(value->expr);
    }
    const Value* input = initial.value;
    if (is_sequence(input)) {
      type_as(*value, *input);
      return Datum::of_tensor(value);
    }
    value->dtype = initial.kind == Kind::kBool    ? DType::kBool
                   : initial.kind == Kind::kFloat ? DType::kFloat64
                   : input                        ? input->dtype
                                                  : DType::kInt64;
    for (std::size_t i = 0; i < slot.varies.size(); ++i)
      value->shape.push_back(slot.varies[i] ? fresh_size(follower_.pool()) : input->shape[i]);
    follower_.aliasing_.insert(value);
    if (initial.kind == Kind::kBool) return of_truth(value);
    if (initial.kind == Kind::kFloat) floats_.insert(value);
    return Datum::of_tensor(value);
  }

  void read_floats(Datum& datum) {
    if (datum.is_tensor() && floats_.contains(datum.value)) {
      datum = follower_.item(datum);
    } else if (datum.held && datum.kind == Kind::kTuple) {
      for (Datum& item : datum.held->items) read_floats(item);
    }
  }

  // The elements of all runs, one behind the other.
  Value* filled(Body& body, const std::shared_ptr<Container>& held) {
    const Datum& element = body.content(held).items.front();
    Value* const inner = body.tensor(element);
    body.graph->outputs.emplace_back(inner);
    Value* value = add_output("stack");
    value->dtype = inner->dtype;
    const bool counts = count_ && condition_.expr.is(1) && !condition_.value;
    value->shape.push_back(counts ? symbolic::max(count_->expr, 0) : fresh_size(follower_.pool()));
    for (const Expr size : inner->shape) {
      if (body.is_local(size))
        follower_.refuse("a loop fills a list with tensors whose sizes differ from run to run");
      value->shape.push_back(size);
    }
    return value;
  }

  // What the list held before the loop stands in front.
  void prepend_earlier(const Container& held, Container& content) {
    if (!content.stack || !filled_.contains(shared_of(held))) return;
    if (held.items.empty() && !held.stack) return;
    const Datum stack = Datum::of_tensor(content.stack);
    const Element& element = elements_.at(shared_of(held));
    const Datum earlier = Datum::of_tensor(stacked(follower_, held, element));
    content.stack =
        follower_.call("aten::cat", {Datum::of_items(Kind::kList, {earlier, stack})}).value;
    content.items.clear();
  }

  std::shared_ptr<Container> shared_of(const Container& held) const {
    for (const auto& [each, slot] : held_slots_)
      if (each.get() == &held) return each;
    return nullptr;
  }

  Follower& follower_;
  const Statement& statement_;
  std::optional<Datum> count_;
  Datum condition_;
  Datum again_;
  Datum iteration_;
  Follower::Variables before_;
  Follower::Variables inputs_;
  program::Graph* outer_ = follower_.graph_;
  program::Call* call_ = nullptr;
  List carried_;
  std::map<std::string, Slot> slots_;
  std::map<std::shared_ptr<Container>, Slot, Earlier> held_slots_;
  std::vector<std::pair<std::shared_ptr<Container>, Container>> entered_contents_;
  std::unordered_set<std::shared_ptr<Container>> filled_;
  std::map<std::shared_ptr<Container>, Element, Earlier> elements_;  // of those that were filled
  std::map<std::shared_ptr<Container>, Stack, Earlier> stacks_;
  std::unordered_set<const Container*> reachable_;
  std::unordered_set<const Value*> floats_;
};

void run_on_data(Follower& follower, const Statement& statement, std::optional<Datum> count,
                 const Datum& condition) {
  LoopOnData(follower, statement, std::move(count), condition).run();
}

}  // namespace sardonyx::torchscript
