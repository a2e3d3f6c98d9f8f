// The functions that are followed, with their variables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "frontends/torchscript/syntax/liveness.h"
#include "frontends/torchscript/syntax/syntax.h"
#include "frontends/torchscript/values/abstract_value.h"

namespace sardonyx::torchscript {

using Variables = std::map<std::string, AbstractValue>;

class CallStack {
 public:
  // What a function's code knows.
  struct Frame {
    const Function* function = nullptr;
    Variables variables;
    std::optional<AbstractValue> result;
    Frame* caller = nullptr;
  };

  // The innermost function, while it lives; SX1211 where too many call each other.
  class Entered {
   public:
    Entered(CallStack& stack, const Function& function);
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    Frame frame;

   private:
    CallStack& stack_;
  };

  // Of the innermost function.
  Frame& top() { return *top_; }
  const Frame& top() const { return *top_; }
  Variables& variables() { return top_->variables; }

  // What a body changes in the variables of this function and of those it calls is taken back.
  Frame* exchange_body_frame(Frame* frame);
  // Whether the frame's function, or one that it calls, contains the innermost body.
  bool is_body_frame(const Frame& frame) const { return &frame == body_frame_; }

 private:
  Frame* top_ = nullptr;
  Frame* body_frame_ = nullptr;
  int depth_ = 0;
  // From then on every call is rejected: a function that calls itself twice comes to an end.
  bool is_too_deep_ = false;
};

}  // namespace sardonyx::torchscript
