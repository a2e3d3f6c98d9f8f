// Batches of matrices in parts, [batch, rows, columns] with one batch axis, and loops over them.
#pragma once

#include <functional>
#include <vector>

#include "aten/complex/math.h"

namespace sardonyx::aten {

// The argument in float64, which hides the order of the steps from float32 results.
Parts wide_matrix(const Call& call, Emit& onnx, std::string_view name);
// [..., m, n] -> [batch, m, n]
Parts as_batch(Emit& onnx, const Parts& x);
// In the type and the shape of a result.
Value as_result(const Call& call, Emit& onnx, const Parts& x, std::size_t output = 0);

Parts transposed(Emit& onnx, const Parts& x);
Parts adjoint(Emit& onnx, const Parts& x);
Value identity_mask(Emit& onnx, Expr rows, Expr columns);  // bool [rows, columns]
Parts identity_matrix(Emit& onnx, const Parts& like, Expr rows, Expr columns);  // of the batch
Parts diagonal_of(Emit& onnx, const Parts& x);  // [batch, min(rows, columns)]
Parts upper_triangle(Emit& onnx, const Parts& x);
Parts lower_triangle(Emit& onnx, const Parts& x, std::int64_t offset = 0);
// Rows or columns in the order that `order` [batch, n] has for each matrix.
Parts ordered_rows(Emit& onnx, const Parts& x, Value order);
Parts ordered_columns(Emit& onnx, const Parts& x, Value order);

// Values that a loop carries from one step to the next, keeping type and shape.
using State = std::vector<Parts>;
struct Looped {
  State last;
  State each;  // what the steps hand out, stacked in front
};
struct Stepped {
  State next;
  State out;
  Value again;  // absent: go on
};
// `step` is emitted once; `k` is the number of the iteration as an int64.
Looped repeat(Emit& onnx, Value count, const State& start,
              const std::function<Stepped(Value k, const State& state)>& step);

// What the steps hand out, [count, batch], as [batch, count]. Runtimes may give [0, 0] where there
// is no step.
Value by_batch(Emit& onnx, Value steps, const Shape& shape);

}  // namespace sardonyx::aten
