// What a loop changes, learned from what a run of its body leaves.
#pragma once

#include <string>
#include <vector>

#include "frontends/torchscript/control_flow/loop_state.h"
#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

class LoopFixpoint {
 public:
  // `body`: as a run has left it.
  LoopFixpoint(Interpretation& state, LoopState& loop, Body& body)
      : state_(state), recorder_(state.recorder), loop_(loop), body_(body) {}

  // Whether the loop changes more than was known.
  bool learn();

 private:
  using ObjectRef = LoopState::ObjectRef;
  using Slot = LoopState::Slot;

  // Each returns whether that is more than was known.
  bool learn_variable(const std::string& name, AbstractValue& initial, AbstractValue& result);
  bool learn_content(const ObjectRef& held, Container& result);
  bool learn_items(const ObjectRef& held, Container& result);
  bool learn_slot(Slot& slot, const AbstractValue& initial, const AbstractValue& input,
                  const AbstractValue& result, const std::string& name);
  bool learn_list(Slot& slot, const Container& initial, const Container& result);
  static bool learn_sizes(Slot& slot, const AbstractValue& initial, const AbstractValue& result,
                          const std::string& name);
  bool align(AbstractValue& initial, AbstractValue& result);
  Element element_after(const Container& result);
  Element element_of_all(const Container& held, const Container& result);

  Interpretation& state_;
  GraphRecorder& recorder_;
  LoopState& loop_;
  Body& body_;
};

}  // namespace sardonyx::torchscript
