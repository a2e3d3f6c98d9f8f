// Each kind of write as calls that return what it writes.
#pragma once

#include <string_view>
#include <vector>

#include "functionalize/writes/functional_graph.h"

namespace sardonyx::functionalize {

class WriteRewriter {
 public:
  explicit WriteRewriter(FunctionalGraph& graph)
      : graph_(graph), builder_(graph.builder()), aliases_(graph.aliases()) {}

  // SX1701 where the operator has no form that returns what it writes.
  void rewrite(Call& call, const WriteRule& rule);

 private:
  void in_place(Call& call, const WriteRule& rule);
  void fill(Call& call);
  void fill_diagonal(Call& call);
  void copy(Call& call);
  void nothing(Call& call);
  void resize(Call& call);
  // The other tensor is meant by every later use of the name. Of an input that is a warning: only
  // the caller could make his tensor the other one.
  void replace(Call& call);
  bool is_user_input(const Value* value) const;
  // Of what the model leaves undone to the caller's tensor.
  void warn_of_input(const Call& call, const std::string& message, const std::string& help);
  void metadata(Call& call, const WriteRule& rule);
  void out(Call& call, const WriteRule& rule);
  void contents_of_out(Call& call, Call& pure, Value* target, Value* result, const Type& type,
                       base::DType computed);
  void foreach (Call& call, const WriteRule& rule);
  void functional(Call& call, const WriteRule& rule);

  std::vector<Argument> arguments_for(const program::Schema& form, const Call& call);
  // A call that stands where the captured `call` stood; its output is `result` where that is given.
  Value* add(std::string_view op, std::vector<NamedArgument> arguments, const Type& type,
             const Call& call, Value* result);
  Value* made(Call& made_call, Value* result, const Type& type, const Call& call);
  Value* cast(Value* value, const Type& type, const Call& call, Value* result);
  Value* full(Value& like, const Argument& number, const Call& call, Value* result);
  Value* converted(const Argument& source, Value& target, const Call& call, Value* result);

  FunctionalGraph& graph_;
  Builder& builder_;
  Aliases& aliases_;
};

}  // namespace sardonyx::functionalize
