// Code that is followed into a graph of its own: a branch, or one run of a loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

// What the code changes is taken back afterwards, and kept here.
class Body {
 public:
  Body(Interpretation& state, const std::string& name);

  // Follows the code with the variables as they are, then does what is asked with them as the code
  // leaves them.
  void follow(const std::vector<Statement>& block, const std::function<void()>& then = {});

  // While it lives, calls are written into this body.
  class Inside {
   public:
    explicit Inside(Body& body);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    GraphRecorder& recorder;
    program::Graph* outer;
  };
  Inside inside() { return Inside(*this); }

  program::Value* tensor(const AbstractValue& datum);
  bool is_local(symbolic::Expr size) const;         // it names what was made in a body since
  bool is_local(const AbstractValue& datum) const;  // the same of a tensor or a number
  // It writes to tensors from outside.
  bool writes_outside() const;
  // What the container holds after the code.
  bool wrote(const std::shared_ptr<Container>& held) const;
  const Container& content(const std::shared_ptr<Container>& held) const;

  program::Graph* graph = nullptr;
  // After the code.
  std::map<std::string, AbstractValue> variables;
  std::vector<std::pair<std::shared_ptr<Container>, Container>> contents;
  bool raised = false;
  std::string message;

 private:
  Interpretation& state_;
  std::unordered_set<std::string> known_symbols_;
};

// The containers that either wrote to, in order.
std::vector<std::shared_ptr<Container>> written_in(const Body& first, const Body& second);

// Gives bodies what they read of the graphs around them as inputs, behind those that they have;
// the same for all of them. Returns what it is.
program::List close(const std::vector<program::Graph*>& bodies, program::Program& program);

// Of the type of `other`, which `from` made, for a place that nothing reads. It has the sizes of
// the other where they are known around the body, too.
AbstractValue stand_in(GraphRecorder& recorder, const AbstractValue& other, const Body& from);

bool is_same(const AbstractValue& left, const AbstractValue& right);

symbolic::Expr fresh_size(symbolic::Pool& pool);

}  // namespace sardonyx::torchscript
