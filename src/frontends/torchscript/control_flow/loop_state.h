// What is known of a loop with a dynamic count while its body is interpreted repeatedly. What it
// changes is found in loop_fixpoint.cpp; the call is made in loop_call.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/torchscript/interpreter/body.h"
#include "frontends/torchscript/interpreter/homogeneous_lists.h"

namespace sardonyx::torchscript {

// The body is followed until what it changes is known: first with everything as it is before the
// loop, then with what came out different as inputs of the body.
class DynamicLoop {
 public:
  DynamicLoop(AbstractInterpreter& interpreter, const Statement& statement,
              std::optional<AbstractValue> count, AbstractValue condition);
  void run();

 private:
  using ObjectRef = std::shared_ptr<Container>;

  // What is known of something that the loop may change.
  struct Slot {
    bool carried = false;
    std::vector<bool> varies;  // which of a tensor's sizes change from run to run
    // Of a list that is carried as its elements: what they are, and those before the loop.
    std::optional<Element> element;
    program::Value* initial = nullptr;
    std::vector<Slot> items;  // of a tuple, list or dictionary

    bool any() const;
  };

  // A list that others hold, carried as a stack of its elements.
  struct Stack {
    program::Value* initial = nullptr;
    Element element;
    Slot slot;
    program::Value* input = nullptr;  // of the body
  };

  // Containers in the order in which they were made, which every run has them in.
  struct Earlier {
    bool operator()(const ObjectRef& left, const ObjectRef& right) const {
      return left->serial < right->serial;
    }
  };

  // While it lives, calls are written where the loop stands.
  struct Outside {
    explicit Outside(DynamicLoop& loop);
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;
    AbstractInterpreter& interpreter;
    program::Graph* inner;
  };

  void reach(const AbstractValue& datum);

  // loop_on_data.cpp: one run of the body
  void enter(Body& body);
  program::Value* add_input(Body& body, const std::string& name);
  AbstractValue integer_input(Body& body, const std::string& name, bool may_be_negative);
  AbstractValue entered(Body& body, Slot& slot, const AbstractValue& initial,
                        const std::string& name);
  AbstractValue carried_input(Body& body, Slot& slot, const AbstractValue& initial,
                              const std::string& name);
  program::Value* initial_value(const Slot& slot, const AbstractValue& initial);
  bool try_follow(Body& body);

  // loop_fixpoint.cpp: what it changes. Each returns whether that is more than was known.
  bool learn(Body& body);
  bool learn_content(Body& body, const ObjectRef& held, Container& result);
  bool learn_items(Body& body, const ObjectRef& held, Container& result);
  bool learn(Body& body, Slot& slot, const AbstractValue& initial, const AbstractValue& input,
             const AbstractValue& result, const std::string& name);
  bool learn_list(Body& body, Slot& slot, const Container& initial, const Container& result);
  bool learn_sizes(Slot& slot, const AbstractValue& initial, const AbstractValue& result,
                   const std::string& name);
  bool align(Body& body, AbstractValue& initial, AbstractValue& result);
  void carry_as_stack(const ObjectRef& held, const Element& element);
  Element element_after(Body& body, const Container& result);
  Element element_of_all(Body& body, const Container& held, const Container& result);

  // loop_call.cpp: the call
  void finish(Body& body);
  void leave(Body& body, const Slot& slot, const AbstractValue& result);
  program::Value* add_output(const std::string& name);
  AbstractValue result_of(const Slot& slot, const AbstractValue& initial, const std::string& name);
  void check_elements(Body& body);
  void read_floats(AbstractValue& datum);
  std::vector<std::string> lists_held_elsewhere(Body& body);
  program::Value* filled(Body& body, const ObjectRef& held);
  void prepend_earlier(const Container& held, Container& content);
  ObjectRef shared_of(const Container& held) const;

  AbstractInterpreter& interpreter_;
  const Statement& statement_;
  std::optional<AbstractValue> count_;
  AbstractValue condition_;
  AbstractValue again_;
  AbstractValue iteration_;
  std::map<std::string, AbstractValue> before_;
  std::map<std::string, AbstractValue> inputs_;
  program::Graph* outer_;
  std::size_t first_write_ = 0;  // of the run of the body, among those of the program
  program::Call* call_ = nullptr;
  program::List carried_;
  std::map<std::string, Slot> slots_;
  std::map<ObjectRef, Slot, Earlier> held_slots_;
  std::vector<std::pair<ObjectRef, Container>> entered_contents_;
  std::unordered_set<ObjectRef> filled_;
  std::map<ObjectRef, Element, Earlier> elements_;  // of those that were filled
  std::map<ObjectRef, Stack, Earlier> stacks_;
  std::unordered_set<const Container*> reachable_;
  std::unordered_set<const program::Value*> floats_;
};

// A truth that a tensor of data holds.
AbstractValue of_truth(program::Value* value);

}  // namespace sardonyx::torchscript
