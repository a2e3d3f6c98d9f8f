#include "onnx/definitions/bits.h"

#include <array>
#include <vector>

#include "onnx/definitions/parts.h"

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
// wraps round into the sign. Casts to narrower types drop the other bits.
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

namespace {

// Unsigned integers of as many bits; undefined for other types.
DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return DType::kUInt8;
    case DType::kInt16:
      return DType::kUInt16;
    case DType::kInt32:
      return DType::kUInt32;
    case DType::kInt64:
      return DType::kUInt64;
    default:
      return DType::kUndefined;
  }
}

}  // namespace

// BitShift of signed integers, opset 28. To the right the vacated bits are those of the sign: -1 -
// x has none where x is negative. By as many bits as there are, or a negative number, all of x is
// shifted out.
std::optional<Values> bit_shift(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), y = call.input(1);
  const DType plain = x ? unsigned_of(x.dtype()) : DType::kUndefined;
  if (!y || plain == DType::kUndefined) return std::nullopt;
  const DType dtype = x.dtype();
  const auto number = [&](std::int64_t value) { return onnx.int_scalar(value, dtype); };
  const std::int64_t bits = base::bit_width(dtype);
  const Value is_out = onnx.or_(onnx.less(y, number(0)), onnx.greater_or_equal(y, number(bits)));
  const Value most = number(bits - 1);
  const Value by = onnx.cast(onnx.where(is_out, most, y), plain);
  if (call.text("direction") == "LEFT") {
    const Value moved = onnx.bit_shift(onnx.cast(x, plain), by, {.direction = "LEFT"});
    return Values{onnx.where(is_out, number(0), onnx.cast(moved, dtype))};
  }
  const Value negative = onnx.less(x, number(0));
  const auto turned = [&](Value value) {
    return onnx.where(negative, onnx.sub(number(-1), value), value);
  };
  const Value moved = onnx.bit_shift(onnx.cast(turned(x), plain), by, {.direction = "RIGHT"});
  return Values{turned(onnx.cast(moved, dtype))};
}

}  // namespace sardonyx::onnx
