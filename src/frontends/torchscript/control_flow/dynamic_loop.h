// A loop with a data-dependent count or condition: its body is interpreted with what it changes as
// inputs.
#pragma once

#include <optional>
#include <string>

#include "frontends/torchscript/control_flow/loop_state.h"
#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

// The body is followed until what it changes is known: first with everything as it is before the
// loop, then with what came out different as inputs of the body.
class DynamicLoop {
 public:
  // `count` is how often it runs at most, where it counts; `condition` whether it runs at all.
  DynamicLoop(Interpretation& state, const Statement& statement, std::optional<AbstractValue> count,
              AbstractValue condition);
  // Records the loop as one call.
  void run();

 private:
  using Slot = LoopState::Slot;

  void enter(Body& body);
  program::Value* add_input(Body& body, const std::string& name);
  AbstractValue integer_input(Body& body, const std::string& name, bool may_be_negative);
  AbstractValue entered(Body& body, Slot& slot, const AbstractValue& initial,
                        const std::string& name);
  AbstractValue carried_input(Body& body, Slot& slot, const AbstractValue& initial,
                              const std::string& name);
  program::Value* initial_value(const Slot& slot, const AbstractValue& initial);
  bool try_follow(Body& body);

  Interpretation& state_;
  GraphRecorder& recorder_;
  LoopState loop_;
};

}  // namespace sardonyx::torchscript
