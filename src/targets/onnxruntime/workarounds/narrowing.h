// int64 in types that the WebGPU provider computes in: int32, and float32 where it has no other
// kernel. Both hold the integers exactly, whose size is known.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"

namespace sardonyx::targets {

// No tensor that fits a GPU has more rows.
inline constexpr double kMostRows = 1 << 22;

// Whether the value is a size of a tensor, or a sum of such, 0-d.
bool is_size(Value value);

// The integers as int32, or as float32 without fractions; none is further from 0 than `most`.
struct Narrow {
  Value value;
  double most = 0;
  // Integers below -2^24 may be others that are so far below 0: as indices both are refused.
  bool is_cut = false;
};

class Narrowing {
 public:
  explicit Narrowing(Lowering& onnx) : onnx_(onnx) {}

  // Nothing for integers without a bound, and for sizes, which the runtime has on the CPU.
  std::optional<Narrow> of(Value integers);
  // The same of the integers less a size, or more, which goes into the Range that they start from;
  // nothing where there is none.
  std::optional<Narrow> shifted(Value integers, Value offset);
  // The same but for what is cut.
  std::optional<Narrow> whole(Value integers);
  // The same, or a size as an element on the accelerator, without a copy.
  std::optional<Narrow> operand(Value integers);
  Value difference(Value a, Value b);  // of sizes; `a` may be null: 0

  Value as_int32(const Narrow& narrow);
  // Of one type.
  std::pair<Value, Value> alike(const Narrow& a, const Narrow& b);

 private:
  Value sum(Value a, Value b);
  Narrow element(Value size);
  // Nothing where float32 does not hold all of them.
  std::optional<Narrow> as_float(const std::optional<Narrow>& narrow);
  std::optional<Narrow> computed(const onnx::Node* node);
  std::optional<Narrow> constant(Value integers);
  std::optional<Narrow> converted(Value original);
  std::optional<Narrow> counted(const onnx::Node* range, Value offset);
  std::optional<Narrow> in_shape(const onnx::Node* node, const std::optional<Narrow>& data);
  std::optional<Narrow> looked_up(const onnx::Node* node);
  std::optional<Narrow> moved(const onnx::Node* node);
  std::optional<Narrow> filled(const onnx::Node* node);
  std::optional<Narrow> joined(const onnx::Node* node);
  std::optional<Narrow> chosen(const onnx::Node* node);
  std::optional<Narrow> extreme(const onnx::Node* node);
  std::optional<Narrow> bounded_above(Value real);
  std::optional<Narrow> calculated(const onnx::Node* node);
  std::optional<Narrow> summed(const onnx::Node* node);

  Lowering& onnx_;
  std::map<const onnx::ValueInfo*, std::optional<Narrow>> found_;
};

}  // namespace sardonyx::targets
