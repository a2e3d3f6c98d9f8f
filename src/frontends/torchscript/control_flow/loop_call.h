// The call that a loop becomes: what its body gives, and what stands for that behind the loop.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/torchscript/control_flow/loop_state.h"
#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

class LoopCall {
 public:
  // `body`: as the last run has left it.
  LoopCall(Interpretation& state, LoopState& loop, Body& body)
      : state_(state), recorder_(state.recorder), loop_(loop), body_(body) {}

  void record();

 private:
  using ObjectRef = LoopState::ObjectRef;
  using Slot = LoopState::Slot;
  // What containers hold after the loop.
  using Contents = std::vector<std::pair<ObjectRef, Container>>;

  void add_body_outputs();
  Variables variables_after();
  Contents contents_after();
  void leave(const Slot& slot, const AbstractValue& result);
  program::Value* add_output(const std::string& name);
  AbstractValue result_of(const Slot& slot, const AbstractValue& initial, const std::string& name);
  AbstractValue carried_result(const Slot& slot, const AbstractValue& initial,
                               const std::string& name);
  void check_elements();
  void read_floats(AbstractValue& datum);
  std::vector<std::string> lists_held_elsewhere();
  program::Value* filled(const ObjectRef& held);
  void prepend_earlier(const Container& held, Container& content);
  ObjectRef shared_of(const Container& held) const;

  Interpretation& state_;
  GraphRecorder& recorder_;
  LoopState& loop_;
  Body& body_;
  program::Call* call_ = nullptr;
  std::unordered_set<const program::Value*> floats_;
};

}  // namespace sardonyx::torchscript
