// Numbers of the program that are known now, have an expression, or are data.
#pragma once

#include <optional>
#include <string>

#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// Known as a double; an integer or a truth is as well.
bool is_known_real(const AbstractValue& datum);
double real_of(const AbstractValue& datum);

// As an expression; of a truth of data there is none.
symbolic::Expr expression_of(GraphRecorder& recorder, const AbstractValue& datum);
symbolic::Expr as_float(GraphRecorder& recorder, symbolic::Expr expr);
// Refuses where the expression is none.
AbstractValue of_float(symbolic::Expr expr);

// The two operands of an operator; neither where one of them is no number or a truth of data.
struct Pair {
  const AbstractValue* left = nullptr;
  const AbstractValue* right = nullptr;

  explicit operator bool() const { return left && right; }
  bool is_real() const {
    return left->kind == AbstractValue::Kind::kFloat || right->kind == AbstractValue::Kind::kFloat;
  }
  bool is_known() const { return is_known_real(*left) && is_known_real(*right); }
};
Pair numbers(const Operands& operands);

// As 0-d tensors, where there is no formula: float64 and int64 ones, as Python computes.
AbstractValue by_tensors(GraphRecorder& recorder, const Operands& operands,
                         const std::string& op = {});
// The same, all of them float64.
AbstractValue by_real_tensors(GraphRecorder& recorder, const Operands& operands,
                              const std::string& op);

}  // namespace sardonyx::torchscript
