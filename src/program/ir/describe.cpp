// Arguments in words, for messages. What a value is called is known here, and not with schemas.
#include <complex>
#include <string>

#include "program/ir/program.h"
#include "program/schema/coerce.h"

namespace sardonyx::program {

using base::DType;
using symbolic::Expr;

std::string describe(const Argument& argument) {
  if (argument.is_none()) return "None";
  if (const bool* flag = argument.get<bool>()) return *flag ? "True" : "False";
  if (const Expr* number = argument.get<Expr>()) {
    return (number->is_constant() ? "the integer " : "the size ") + number->str();
  }
  if (argument.get<double>()) return "a float";
  if (argument.get<std::complex<double>>()) return "a complex number";
  if (const std::string* text = argument.get<std::string>()) return "the string '" + *text + "'";
  if (argument.get<DType>()) return "a dtype";
  if (const Enumerator* enumerator = argument.get<Enumerator>()) return enumerator->name;
  if (Value* const* value = argument.get<Value*>())
    return *value ? "the value '" + (*value)->name + "'" : "no value";
  if (argument.get<Graph*>()) return "a graph";
  if (const List* list = argument.get<List>()) {
    std::string text = "a list of " + std::to_string(list->size());
    return list->empty() ? text : text + " that starts with " + describe(list->front());
  }
  return argument.get<Opaque>()->description;
}

}  // namespace sardonyx::program
