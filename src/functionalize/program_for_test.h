// Programs made by hand, and how tests read them.
#pragma once

#include <string>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::functionalize::testing {

using program::Argument;
using program::Value;
using Shape = std::vector<symbolic::Expr>;

// A program with a graph; calls are added in order.
class Hand {
 public:
  Hand();

  Value* input(const std::string& name, Shape shape,
               program::InputKind kind = program::InputKind::kUser,
               base::DType dtype = base::DType::kFloat32);
  // A call that makes one tensor of that name.
  Value* call(const std::string& op, std::vector<Argument> arguments, const std::string& name,
              Shape shape, base::DType dtype = base::DType::kFloat32);
  // One that makes several.
  std::vector<Value*> calls(const std::string& op, std::vector<Argument> arguments,
                            const std::vector<std::string>& names, const Shape& shape);
  void output(Value* value);
  // The line of the user's program that the calls added from now on come from.
  void at_line(int line);

  // One line a call: "y = aten::add.Tensor(x, 1)", arguments at their defaults left out; then
  // "return ..." and what is updated.
  std::string text() const;

  program::Program program;
  program::Graph* graph;  // where calls go; the main graph at first

 private:
  const program::Source* source_ = nullptr;
};

std::string text_of(const program::Graph& graph);

}  // namespace sardonyx::functionalize::testing
