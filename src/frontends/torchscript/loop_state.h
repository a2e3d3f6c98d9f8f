// What is known of a loop whose count only a run tells, while its body is followed again and again.
// What it changes is learned in loop_learning.cpp; the call is made in loop_call.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/torchscript/body.h"
#include "frontends/torchscript/stacks.h"

namespace sardonyx::torchscript {

// The body is followed until what it changes is known: first with everything as it is before the
// loop, then with what came out different as inputs of the body.
class LoopOnData {
 public:
  LoopOnData(Follower& follower, const Statement& statement, std::optional<Datum> count,
             Datum condition);
  void run();

 private:
  using Held = std::shared_ptr<Container>;

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
    bool operator()(const Held& left, const Held& right) const {
      return left->serial < right->serial;
    }
  };

  // While it lives, calls are written where the loop stands.
  struct Outside {
    explicit Outside(LoopOnData& loop);
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;
    Follower& follower;
    program::Graph* inner;
  };

  void reach(const Datum& datum);

  // loop_on_data.cpp: one run of the body
  void enter(Body& body);
  program::Value* add_input(Body& body, const std::string& name);
  Datum integer_input(Body& body, const std::string& name, bool may_be_negative);
  Datum entered(Body& body, Slot& slot, const Datum& initial, const std::string& name);
  Datum carried_input(Body& body, Slot& slot, const Datum& initial, const std::string& name);
  program::Value* initial_value(const Slot& slot, const Datum& initial);
  bool try_follow(Body& body);

  // loop_learning.cpp: what it changes. Each tells whether that is more than was known.
  bool learn(Body& body);
  bool learn_content(Body& body, const Held& held, Container& result);
  bool learn_items(Body& body, const Held& held, Container& result);
  bool learn(Body& body, Slot& slot, const Datum& initial, const Datum& input, const Datum& result,
             const std::string& name);
  bool learn_list(Body& body, Slot& slot, const Container& initial, const Container& result);
  bool learn_sizes(Slot& slot, const Datum& initial, const Datum& result, const std::string& name);
  bool align(Body& body, Datum& initial, Datum& result);
  void carry_as_stack(const Held& held, const Element& element);
  Element element_after(Body& body, const Container& result);
  Element element_of_all(Body& body, const Container& held, const Container& result);

  // loop_call.cpp: the call
  void finish(Body& body);
  void leave(Body& body, const Slot& slot, const Datum& result);
  program::Value* add_output(const std::string& name);
  Datum result_of(const Slot& slot, const Datum& initial, const std::string& name);
  void check_elements(Body& body);
  void read_floats(Datum& datum);
  std::vector<std::string> lists_held_elsewhere(Body& body);
  program::Value* filled(Body& body, const Held& held);
  void prepend_earlier(const Container& held, Container& content);
  Held shared_of(const Container& held) const;

  Follower& follower_;
  const Statement& statement_;
  std::optional<Datum> count_;
  Datum condition_;
  Datum again_;
  Datum iteration_;
  std::map<std::string, Datum> before_;
  std::map<std::string, Datum> inputs_;
  program::Graph* outer_;
  std::size_t first_write_ = 0;  // of the run of the body, among those of the program
  program::Call* call_ = nullptr;
  program::List carried_;
  std::map<std::string, Slot> slots_;
  std::map<Held, Slot, Earlier> held_slots_;
  std::vector<std::pair<Held, Container>> entered_contents_;
  std::unordered_set<Held> filled_;
  std::map<Held, Element, Earlier> elements_;  // of those that were filled
  std::map<Held, Stack, Earlier> stacks_;
  std::unordered_set<const Container*> reachable_;
  std::unordered_set<const program::Value*> floats_;
};

// A truth that a tensor of data holds.
Datum of_truth(program::Value* value);

}  // namespace sardonyx::torchscript
