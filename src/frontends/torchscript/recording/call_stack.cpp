#include "frontends/torchscript/recording/call_stack.h"

#include <utility>

#include "frontends/torchscript/recording/operands.h"

namespace sardonyx::torchscript {

namespace {

constexpr int kDeepestCalls = 400;

}  // namespace

CallStack::Entered::Entered(CallStack& stack, const Function& function) : stack_(stack) {
  if (stack.depth_ >= kDeepestCalls) stack.is_too_deep_ = true;
  if (stack.is_too_deep_) refuse("functions call each other too deep");
  ++stack.depth_;
  frame.function = &function;
  frame.caller = std::exchange(stack.top_, &frame);
}

CallStack::Entered::~Entered() {
  stack_.top_ = frame.caller;
  --stack_.depth_;
}

CallStack::Frame* CallStack::exchange_body_frame(Frame* frame) {
  return std::exchange(body_frame_, frame);
}

}  // namespace sardonyx::torchscript
