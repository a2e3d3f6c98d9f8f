// What an expression gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/torchscript/archive/archive.h"
#include "frontends/torchscript/recording/call_stack.h"
#include "frontends/torchscript/recording/graph_recorder.h"
#include "frontends/torchscript/syntax/syntax.h"

namespace sardonyx::torchscript {

// Follows the code of functions.
class Invoker {
 public:
  virtual ~Invoker() = default;
  virtual AbstractValue invoke(const Function& function, std::vector<AbstractValue> positional,
                               std::vector<NamedValue> named) = 0;
  virtual AbstractValue invoke_method(const AbstractValue& object, const std::string& name,
                                      std::vector<AbstractValue> positional,
                                      std::vector<NamedValue> named) = 0;
  virtual AbstractValue construct(const std::string& type, std::vector<AbstractValue> positional,
                                  std::vector<NamedValue> named) = 0;
};

class ExpressionEvaluator {
 public:
  ExpressionEvaluator(Archive& archive, CallStack& stack, GraphRecorder& recorder,
                      Invoker& functions)
      : archive_(archive), stack_(stack), recorder_(recorder), functions_(functions) {}

  AbstractValue evaluate(const Expression& expression);

 private:
  AbstractValue evaluate_name(const Expression& expression);
  AbstractValue evaluate_call(const Expression& expression);
  AbstractValue evaluate_named_call(const std::string& name, const Expression& expression);
  AbstractValue evaluate_subscript(const Expression& expression);
  AbstractValue evaluate_attribute(const Expression& expression);
  AbstractValue constant(const std::string& name);
  std::optional<AbstractValue> enumerator(const std::string& name);
  AbstractValue name_of_enumerator(const AbstractValue& member, const Class& type);
  AbstractValue attribute_of(const AbstractValue& object, const std::string& name);
  AbstractValue attribute_of_class(const AbstractValue& object, const std::string& name);
  AbstractValue stored_attribute(const AbstractValue& object, const std::string& name,
                                 const StoredTensor& stored);
  std::vector<AbstractValue> arguments_of(const Expression& call, std::vector<NamedValue>& named);
  std::optional<AbstractValue> special(const std::string& name, const Expression& expression);

  Archive& archive_;
  CallStack& stack_;
  GraphRecorder& recorder_;
  Invoker& functions_;
};

}  // namespace sardonyx::torchscript
