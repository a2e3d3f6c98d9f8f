// What is known of a loop with a dynamic count while its body is interpreted repeatedly.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/torchscript/recording/homogeneous_lists.h"
#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

struct LoopState {
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

  LoopState(Interpretation& state, const Statement& of, std::optional<AbstractValue> runs,
            AbstractValue starts);

  // The list is carried as its elements from the next round on.
  void carry_as_stack(GraphRecorder& recorder, const ObjectRef& held, const Element& element);

  const Statement& statement;
  std::optional<AbstractValue> count;  // how often it runs at most, where it counts
  AbstractValue condition;             // whether it runs at all
  AbstractValue again;                 // whether it goes on after a run
  AbstractValue iteration;
  Variables before;  // the loop
  Variables inputs;  // of a run
  program::Graph* outer;
  std::size_t first_write = 0;  // of the run of the body, among those of the program
  program::List carried;
  std::map<std::string, Slot> slots;
  std::map<ObjectRef, Slot, Earlier> held_slots;
  std::vector<std::pair<ObjectRef, Container>> entered_contents;
  std::unordered_set<ObjectRef> filled;            // lists that every run adds one element to
  std::map<ObjectRef, Element, Earlier> elements;  // of those that were filled
  std::map<ObjectRef, Stack, Earlier> stacks;
  std::unordered_set<const Container*> reachable;  // before the loop
};

// A truth that a tensor of data holds.
AbstractValue of_truth(program::Value* value);

}  // namespace sardonyx::torchscript
