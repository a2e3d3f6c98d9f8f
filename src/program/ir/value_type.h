// What a value is: a tensor, a number, or one of the containers that TorchScript computes with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "symbolic/expr.h"

namespace sardonyx::program {

enum class ValueKind : std::uint8_t {
  kTensor,
  kInt,
  kFloat,
  kBool,
  kObject,  // what ONNX has no value for: a torchbind object, a token
  // TorchScript's alone:
  kString,
  kNone,
  kOptional,
  kList,
  kTuple,
  kDict,
};

// torch.export knows dtype and rank of every tensor; TorchScript may know neither.
struct ValueType {
  ValueKind kind = ValueKind::kTensor;
  // Of tensors:
  base::DType dtype = base::DType::kUndefined;  // kUndefined: not known
  bool has_rank = true;                         // false: not known, and the shape is empty
  std::vector<symbolic::Expr> shape;
  // What an optional or a list holds, a dict's keys and values, each member of a tuple.
  std::vector<ValueType> items;

  std::size_t rank() const { return shape.size(); }
};

// A tensor of known dtype and rank, a number or an object: what a program of torch.export holds.
bool is_settled(const ValueType& type);

// "float32[batch, 3]", "?[...]" (neither dtype nor rank is known), "List[int]", "Dict[str, int]"
std::string type_text(const ValueType& type);

}  // namespace sardonyx::program
