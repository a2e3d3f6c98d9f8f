// What a variable of the program holds while its code is followed: a tensor that a call will give,
// or something that is known now.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "program/ir/program.h"

namespace sardonyx::torchscript {

struct Container;

// A tensor as the archive describes it, until something reads it.
struct StoredTensor {
  std::string name;  // "encoder.layers.0.weight"
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;  // in elements
  std::string storage;      // the entry that holds the bytes
};

struct AbstractValue {
  enum class Kind : std::uint8_t {
    kNone,
    kTensor,         // value; or none yet, and `expr` is the number that it will hold
    kStored,         // stored: a weight that nothing has read yet
    kInt,            // expr
    kFloat,          // real; or expr where it is symbolic
    kComplex,        // real, imaginary
    kBool,           // expr: 0, 1 or symbolic; or value, a 0-d tensor of data
    kString,         // text
    kDevice,         // text
    kList,           // held
    kTuple,          // held
    kDict,           // held: key, value, key, value, ...
    kObject,         // held: attributes
    kQuantized,      // held: integers, scale, zero point, and the axis of these or None
    kOptional,       // held: whether there is something, and what; else it is None
    kStack,          // held: a list that a loop filled; `stack` of it holds its tensors
    kFunction,       // text: its qualified name, or that of a class
    kUninitialized,  // nothing reads it
    kFailed,         // what gave it is reported
  };

  Kind kind = Kind::kNone;
  program::Value* value = nullptr;
  symbolic::Expr expr;
  double real = 0;
  double imaginary = 0;
  std::string text;
  // Of tensors without a value: where the program ran, there was a number of Python, of which
  // tracing made a tensor.
  bool is_python_number = false;
  bool is_message = false;  // of strings: a placeholder for a data-dependent string
  std::shared_ptr<Container> held;
  std::shared_ptr<StoredTensor> stored;

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_none() const { return kind == Kind::kNone; }
  bool is_number() const {
    return kind == Kind::kInt || kind == Kind::kFloat || kind == Kind::kBool;
  }

  std::complex<double> complex() const { return {real, imaginary}; }

  static AbstractValue of_tensor(program::Value* value);
  static AbstractValue of_int(symbolic::Expr expr);
  static AbstractValue of_real(double real);
  static AbstractValue of_complex(std::complex<double> number);
  static AbstractValue of_bool(bool truth);
  static AbstractValue of_text(std::string text);
  static AbstractValue of_message(std::string text);
  static AbstractValue of_items(Kind kind, std::vector<AbstractValue> items);
};

// What several variables may hold together, so that a write to it shows in all of them.
struct Container {
  std::vector<AbstractValue> items;
  // Of objects and named tuples:
  std::string type;                // "__torch__.torch.nn.modules.linear.Linear"
  std::vector<std::string> names;  // of the attributes, in the order of items
  std::string path;                // of modules: "encoder.layers.0"
  bool outlives_call = false;      // it is part of the model
  bool is_dictionary = false;

  // Of a list with a data-dependent length: its elements, stacked, and what they are; or a loop
  // fills it, with one element in each iteration.
  program::Value* stack = nullptr;
  AbstractValue::Kind element = AbstractValue::Kind::kTensor;
  bool filling = false;
  std::uint64_t serial = next_serial();  // those made later have greater ones

  static std::uint64_t next_serial();

  AbstractValue* attribute(const std::string& name);
};

// A list of which a loop that fills it asks more than that: it has to be carried from run to run.
struct FillingRead {
  std::shared_ptr<Container> held;
};

// A list that a loop has filled is a stack from then on, whoever holds it.
AbstractValue as_read(AbstractValue datum);

// "a tensor", "the integer 3", "a list of 2": for messages.
std::string description(const AbstractValue& datum);

// Whether the condition holds; nothing where that is not known.
std::optional<bool> known_truth(const AbstractValue& condition);

}  // namespace sardonyx::torchscript
