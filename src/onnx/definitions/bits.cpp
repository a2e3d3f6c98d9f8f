#include "onnx/definitions/bits.h"

#include <array>
#include <vector>

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kBase = 16;

std::int64_t combined(Op op, std::int64_t a, std::int64_t b) {
  if (op == Op::kBitwiseAnd) return a & b;
  return op == Op::kBitwiseOr ? a | b : a ^ b;
}

// What two digits become, at kBase * a + b.
Value table_of(Emit& onnx, Op op) {
  std::vector<std::int64_t> table;
  for (std::int64_t a = 0; a < kBase; ++a)
    for (std::int64_t b = 0; b < kBase; ++b) table.push_back(combined(op, a, b));
  return onnx.ints(table);
}

}  // namespace

// Digits of base 16 from the lowest, looked up in a table. Mod has the divisor's sign, so that
// the digits of a negative number are those of its two's complement; that of the greatest place
// wraps round into the sign. Casts to fewer bits drop the others.
std::optional<Values> bitwise_by_digits(const Composite& call, Op op) {
  Emit& onnx = call.onnx;
  if (!call.input(1) || !call.input(0).has_rank() || !call.input(1).has_rank()) return std::nullopt;
  const DType dtype = call.input(0).dtype();
  const Value base = onnx.int_scalar(kBase), table = table_of(onnx, op);
  const Value a = onnx.cast(call.input(0), DType::kInt64);
  const Value b = onnx.cast(call.input(1), DType::kInt64);
  const Value none = onnx.mul(onnx.mul(a, b), onnx.int_scalar(0));  // in the shape of both
  const std::array initial = {a, b, none, onnx.int_scalar(1)};

  Graph* body = onnx.begin_body("digits");
  onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Value left = onnx.body_input("left", DType::kInt64, a.shape());
  const Value right = onnx.body_input("right", DType::kInt64, b.shape());
  const Value sum = onnx.body_input("sum", DType::kInt64, none.shape());
  const Value place = onnx.body_input("place", DType::kInt64, {});
  const Value x = onnx.mod(left, base), y = onnx.mod(right, base);
  const Value digit = onnx.gather(table, onnx.add(onnx.mul(x, base), y));
  const std::array results = {onnx.identity(condition), onnx.div(onnx.sub(left, x), base),
                              onnx.div(onnx.sub(right, y), base),
                              onnx.add(sum, onnx.mul(digit, place)), onnx.mul(place, base)};
  onnx.end_body(results);
  const Value digits = onnx.int_scalar(base::bit_width(dtype) / 4);
  const Values found = onnx.loop(digits, onnx.bool_scalar(true), initial, body);
  return Values{onnx.cast(found[2], dtype)};
}

// -1 - x, of which unsigned types keep the lower bits.
Value bitwise_not_by_difference(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const Value wide = onnx.cast(x, DType::kInt64);
  return onnx.cast(onnx.sub(onnx.int_scalar(-1), wide), x.dtype());
}

}  // namespace sardonyx::onnx
