// An argument of a captured call, already of the type its schema asks for.
#pragma once

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "symbolic/expr.h"

namespace sardonyx::program {

struct Value;
struct Graph;
struct Argument;

struct None {
  friend bool operator==(None, None) { return true; }
};

// A memory format, layout or device, by PyTorch's name: "contiguous_format", "strided", "cpu".
struct Enumerator {
  std::string name;
};

// Something ONNX has no value for (a torchbind object, an operator as an argument).
struct Opaque {
  std::string description;
};

using List = std::vector<Argument>;

// - integers and SymInts, SymFloats and SymBools that are expressions: symbolic::Expr
// - tensors, and symbolic scalars that no expression describes: Value*; where a schema asks for a
//   tensor, a program may also hold a number, which PyTorch wraps
// - bodies of control flow: Graph*
struct Argument {
  std::variant<None, bool, symbolic::Expr, double, std::complex<double>, std::string, base::DType,
               Enumerator, Value*, Graph*, List, Opaque>
      data;

  Argument() = default;
  template <class T>
  Argument(T value) : data(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get() {
    return std::get_if<T>(&data);
  }
  bool is_none() const { return std::holds_alternative<None>(data); }

  // Every Value* in it, lists included, is passed to `visit` by reference so that it can be
  // replaced.
  template <class Visit>
  void each_value(const Visit& visit) {
    if (Value** value = get<Value*>()) visit(*value);
    if (List* list = get<List>()) {
      for (Argument& item : *list) item.each_value(visit);
    }
  }
  template <class Visit>
  void each_value(const Visit& visit) const {
    if (Value* const* value = get<Value*>()) visit(*value);
    if (const List* list = get<List>()) {
      for (const Argument& item : *list) item.each_value(visit);
    }
  }
};

}  // namespace sardonyx::program
