// What a translator sees of a captured call: its arguments by name, as ONNX values, numbers or
// sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/scalar.h"
#include "onnx/emit/emit.h"
#include "onnx/graph/value.h"
#include "program/ir/program.h"

namespace sardonyx::aten {

using base::DType;
using onnx::Emit;
using onnx::Shape;
using onnx::Value;
using symbolic::Expr;

// What a translator returns: one value an output of the call, in order (lists flattened). An output
// that the program never uses may be left absent.
using Outputs = onnx::Values;

// The ONNX values that the program's values have become.
struct Environment : std::unordered_map<const program::Value*, Value> {
  // Of the rows of packed sequences: the sequences side by side.
  std::unordered_map<const onnx::ValueInfo*, Value> side_by_side;
};

// Translates a body (of cond, scan, ...) into a new ONNX graph whose inputs it makes itself or is
// given; see control_flow.cpp.
struct BodyTranslator;

// How a call on complex tensors looks to a translator for real ones: every operand and number is
// replaced by a real one, and the complex dtypes by those of their parts.
struct RealView {
  // The operand `value` of an argument; `position` counts in a list of tensors.
  std::function<Value(std::string_view argument, std::size_t position, Value value)> tensor;
  std::function<Scalar(std::string_view argument, const Scalar& number)> number;
};

class Call {
 public:
  Call(const program::Call& call, Environment& environment, Emit& emit, BodyTranslator* bodies)
      : call_(call), environment_(environment), emit_(emit), bodies_(bodies) {}

  // The same call seen through `view`, which must outlive it.
  Call as_real(const RealView& view) const {
    Call seen = *this;
    seen.view_ = &view;
    return seen;
  }

  // "aten::addmm", "aten::max.dim"
  std::string op() const { return call_.schema->qualified(); }
  const program::Call& captured() const { return call_; }
  Environment& environment() const { return environment_; }
  BodyTranslator& bodies() const { return *bodies_; }

  // --- arguments; every accessor throws SX1302 naming the argument when it is not what is asked
  // for
  bool has(std::string_view name) const;  // the schema has it and it is not None
  Value tensor(std::string_view name) const;
  Value optional_tensor(std::string_view name) const;  // absent for None
  std::vector<Value> tensors(std::string_view name) const;
  std::vector<Value> optional_tensors(std::string_view name) const;  // Tensor?[]
  bool flag(std::string_view name) const;
  std::optional<bool> optional_flag(std::string_view name) const;
  // A number that must be known now.
  std::int64_t integer(std::string_view name) const;
  std::optional<std::int64_t> optional_integer(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;  // a single int is a list of one
  std::vector<std::int64_t> integers_or_empty(std::string_view name) const;  // None: empty
  double number(std::string_view name) const;
  std::optional<double> optional_number(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  // A number that may be symbolic.
  Expr size(std::string_view name) const;
  std::optional<Expr> optional_size(std::string_view name) const;
  std::vector<Expr> sizes(std::string_view name) const;
  Scalar scalar(std::string_view name) const;
  std::optional<Scalar> optional_scalar(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::optional<DType> dtype(std::string_view name) const;  // None: nothing
  const program::Argument& argument(std::string_view name) const;

  // Axis argument made non-negative for a tensor of this rank (0-d tensors accept -1 and 0).
  std::int64_t axis(std::string_view name, std::int64_t rank) const;
  std::vector<std::int64_t> axes(std::string_view name, std::int64_t rank) const;

  // --- what the program says of the results
  std::size_t output_count() const { return call_.outputs.size(); }
  bool uses_output(std::size_t i) const { return i < output_count() && call_.outputs[i]; }
  // dtype (complex ones too; undefined of unused outputs) and shape (SX1302 of unused outputs).
  DType result_dtype(std::size_t i = 0) const;
  const Shape& result_shape(std::size_t i = 0) const;
  std::int64_t result_rank(std::size_t i = 0) const;
  // The program's own dtype of a tensor argument (complex64 where Value says float32, is_complex).
  DType captured_dtype(std::string_view name) const;
  // The captured tensor behind a tensor argument: shape, strides.
  const program::Value& captured_tensor(std::string_view name) const;

  // Throws SX1301: this call cannot be expressed in ONNX, why, and what to do instead.
  [[noreturn]] void refuse(std::string message, std::string help = {}) const;

 private:
  Value value_of(const program::Value* value, std::string_view name) const;
  Value seen(std::string_view name, std::size_t position, Value value) const;

  const program::Call& call_;
  Environment& environment_;
  Emit& emit_;
  BodyTranslator* bodies_;
  const RealView* view_ = nullptr;
};

// --- scalars and promotion (promotion.cpp)

// The Scalar as a 0-d value of this dtype, converted as PyTorch does.
Value scalar_value(Emit& onnx, const Scalar& scalar, DType dtype);

// x cast to the call's result dtype.
Value cast_to_result(Emit& onnx, const Call& call, Value x);

// The dtype in which PyTorch computes with these operands (torch.result_type): 0-d tensors and
// numbers only count where they are of a higher category (bool < integer < floating < complex).
class ResultType {
 public:
  ResultType& add(Value tensor);
  ResultType& add(const Scalar& number);
  DType dtype() const;  // complex types included

 private:
  DType dimensioned_ = DType::kUndefined;
  DType zero_dim_ = DType::kUndefined;
  DType number_ = DType::kUndefined;
};

// Two tensor arguments in the type PyTorch computes with.
struct Pair {
  Value left, right;
};
Pair promoted(Emit& onnx, Value left, Value right);
Pair promoted(Emit& onnx, Value left, const Scalar& right);

}  // namespace sardonyx::aten
