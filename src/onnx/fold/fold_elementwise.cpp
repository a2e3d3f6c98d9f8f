// Elementwise operators on constants. Only what comes out the same on every machine is folded: the
// four operations, comparisons, logic and conversions; transcendental functions where a model is
// optimized, but not as it is translated.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

using base::DType;

std::int64_t wrap(DType dtype, std::int64_t value) {
  std::byte bytes[8] = {};
  store_int(dtype, value, bytes);
  return load_int(dtype, bytes);
}

bool holds_ints(DType dtype) { return base::is_integer(dtype) || dtype == DType::kBool; }

Tensor empty_like(DType dtype, const Dims& dims) { return Tensor::filled_int(dtype, dims, 0); }

// Collects elements and makes them a tensor.
class Builder {
 public:
  Builder(DType dtype, Dims dims, std::int64_t count)
      : dtype_(dtype),
        dims_(std::move(dims)),
        width_(base::bit_width(dtype) / 8),
        bytes_(static_cast<std::size_t>(count * width_)) {}

  void put_int(std::int64_t i, std::int64_t value) { store_int(dtype_, value, at(i)); }
  void put_real(std::int64_t i, double value) { store_real(dtype_, value, at(i)); }
  std::vector<Tensor> done() { return {Tensor::of_bytes(dtype_, std::move(dims_), bytes_)}; }

 private:
  std::byte* at(std::int64_t i) { return bytes_.data() + i * width_; }

  DType dtype_;
  Dims dims_;
  std::int64_t width_;
  std::vector<std::byte> bytes_;
};

const std::byte* element(const Tensor& tensor, std::int64_t i) {
  return tensor.data + i * (base::bit_width(tensor.dtype) / 8);
}

using IntFunction = std::optional<std::int64_t> (*)(std::int64_t, std::int64_t);
using RealFunction = double (*)(double, double);

// A binary operator; either function may be null where the operator has no such form. Doubles round
// once more to float32, float16 and bfloat16, which for + - * / gives what those types compute.
Result binary(const Operands& operands, IntFunction on_ints, RealFunction on_reals,
              std::optional<DType> result_dtype = {}) {
  const Tensor *a = operands.at(0), *b = operands.at(1);
  if (a == nullptr || b == nullptr || a->dtype != b->dtype) return {};
  const auto dims = broadcast(a->dims, b->dims);
  const auto count = dims ? operands.count(*dims) : std::nullopt;
  if (!count) return {};
  const bool ints = holds_ints(a->dtype);
  // uint64 does not fit the int64 that elements are looked at through.
  if (ints ? (on_ints == nullptr || a->dtype == DType::kUInt64) : on_reals == nullptr) return {};
  const DType dtype = result_dtype.value_or(a->dtype);
  const Dims sa = broadcast_strides(a->dims, *dims), sb = broadcast_strides(b->dims, *dims);
  Builder result(dtype, *dims, *count);
  bool certain = true;
  each_index(*dims, [&](std::int64_t i, const Dims& index) {
    std::int64_t ia = 0, ib = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      ia += index[axis] * sa[axis];
      ib += index[axis] * sb[axis];
    }
    if (ints) {
      const auto value =
          on_ints(load_int(a->dtype, element(*a, ia)), load_int(b->dtype, element(*b, ib)));
      certain = certain && value.has_value();
      result.put_int(i, wrap(dtype, value.value_or(0)));
      return;
    }
    const double value =
        on_reals(load_real(a->dtype, element(*a, ia)), load_real(b->dtype, element(*b, ib)));
    holds_ints(dtype) ? result.put_int(i, value != 0) : result.put_real(i, value);
  });
  if (!certain) return {};
  return result.done();
}

std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t as_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

using OptionalInt = std::optional<std::int64_t>;

Result add(const Operands& o) {
  return binary(
      o,
      [](std::int64_t x, std::int64_t y) -> OptionalInt {
        return as_signed(as_unsigned(x) + as_unsigned(y));
      },
      [](double x, double y) { return x + y; });
}

Result sub(const Operands& o) {
  return binary(
      o,
      [](std::int64_t x, std::int64_t y) -> OptionalInt {
        return as_signed(as_unsigned(x) - as_unsigned(y));
      },
      [](double x, double y) { return x - y; });
}

Result mul(const Operands& o) {
  return binary(
      o,
      [](std::int64_t x, std::int64_t y) -> OptionalInt {
        return as_signed(as_unsigned(x) * as_unsigned(y));
      },
      [](double x, double y) { return x * y; });
}

// Integers round towards zero, as the runtime's division does.
Result div(const Operands& o) {
  return binary(
      o,
      [](std::int64_t x, std::int64_t y) -> OptionalInt {
        if (y == 0 || (y == -1 && x == std::numeric_limits<std::int64_t>::min())) return {};
        return x / y;
      },
      [](double x, double y) { return x / y; });
}

// Without fmod the result has the sign of the divisor; floats are left to the runtime.
Result mod(const Operands& o) {
  if (o.node.int_or("fmod", 0) != 0) return {};
  return binary(
      o,
      [](std::int64_t x, std::int64_t y) -> OptionalInt {
        if (y == 0 || y == -1) return y == 0 ? OptionalInt{} : OptionalInt{0};
        const std::int64_t rest = x % y;
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      },
      nullptr);
}

// Of reals NaN is both the least and the greatest.
Result minimum(const Operands& o) {
  if (o.inputs.size() != 2) return {};
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x < y ? x : y; },
      [](double x, double y) {
        if (std::isnan(x) || std::isnan(y)) return x + y;
        return x < y || (x == y && std::signbit(x)) ? x : y;
      });
}

Result maximum(const Operands& o) {
  if (o.inputs.size() != 2) return {};
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x > y ? x : y; },
      [](double x, double y) {
        if (std::isnan(x) || std::isnan(y)) return x + y;
        return x > y || (x == y && !std::signbit(x)) ? x : y;
      });
}

Result equal(const Operands& o) {
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x == y; },
      [](double x, double y) { return x == y ? 1.0 : 0.0; }, DType::kBool);
}

Result less(const Operands& o) {
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x < y; },
      [](double x, double y) { return x < y ? 1.0 : 0.0; }, DType::kBool);
}

Result less_or_equal(const Operands& o) {
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x <= y; },
      [](double x, double y) { return x <= y ? 1.0 : 0.0; }, DType::kBool);
}

Result greater(const Operands& o) {
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x > y; },
      [](double x, double y) { return x > y ? 1.0 : 0.0; }, DType::kBool);
}

Result greater_or_equal(const Operands& o) {
  return binary(
      o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x >= y; },
      [](double x, double y) { return x >= y ? 1.0 : 0.0; }, DType::kBool);
}

Result logical_and(const Operands& o) {
  return binary(o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x & y; }, nullptr);
}
Result logical_or(const Operands& o) {
  return binary(o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x | y; }, nullptr);
}
Result logical_xor(const Operands& o) {
  return binary(o, [](std::int64_t x, std::int64_t y) -> OptionalInt { return x ^ y; }, nullptr);
}

// A unary operator, element by element.
Result unary(const Operands& o, OptionalInt (*on_ints)(std::int64_t), double (*on_reals)(double)) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const bool ints = holds_ints(x->dtype);
  if (ints ? on_ints == nullptr : on_reals == nullptr) return {};
  const std::int64_t count = x->element_count();
  Builder result(x->dtype, x->dims, count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (ints) {
      const OptionalInt value = on_ints(load_int(x->dtype, element(*x, i)));
      if (!value) return {};
      result.put_int(i, wrap(x->dtype, *value));
    } else {
      result.put_real(i, on_reals(load_real(x->dtype, element(*x, i))));
    }
  }
  return result.done();
}

Result neg(const Operands& o) {
  return unary(
      o, [](std::int64_t x) -> OptionalInt { return as_signed(0 - as_unsigned(x)); },
      [](double x) { return -x; });
}

Result absolute(const Operands& o) {
  return unary(
      o, [](std::int64_t x) -> OptionalInt { return x < 0 ? as_signed(0 - as_unsigned(x)) : x; },
      [](double x) { return std::fabs(x); });
}

Result square_root(const Operands& o) {
  return unary(o, nullptr, [](double x) { return std::sqrt(x); });
}
Result reciprocal(const Operands& o) {
  return unary(o, nullptr, [](double x) { return 1.0 / x; });
}
Result transcendental(const Operands& o, double (*function)(double)) {
  return rounds_off(o) ? unary(o, nullptr, function) : Result{};
}
Result exponential(const Operands& o) {
  return transcendental(o, [](double x) { return std::exp(x); });
}
Result logarithm(const Operands& o) {
  return transcendental(o, [](double x) { return std::log(x); });
}
Result sine(const Operands& o) {
  return transcendental(o, [](double x) { return std::sin(x); });
}
Result cosine(const Operands& o) {
  return transcendental(o, [](double x) { return std::cos(x); });
}
Result power(const Operands& o) {
  const Tensor *x = o.at(0), *y = o.at(1);
  if (!rounds_off(o) || y == nullptr || !base::is_floating(x->dtype)) return {};
  if (x->dtype == y->dtype)
    return binary(o, nullptr,
                  [](double base, double exponent) { return std::pow(base, exponent); });
  const auto exponent = y->reals();
  if (y->element_count() != 1 || !exponent) return {};
  if (exponent->front() == 1) return unary(o, nullptr, [](double each) { return each; });
  if (exponent->front() == 2) return unary(o, nullptr, [](double each) { return each * each; });
  return {};
}
Result round_down(const Operands& o) {
  return unary(o, nullptr, [](double x) { return std::floor(x); });
}
Result round_up(const Operands& o) {
  return unary(o, nullptr, [](double x) { return std::ceil(x); });
}
Result logical_not(const Operands& o) {
  return unary(o, [](std::int64_t x) -> OptionalInt { return x == 0; }, nullptr);
}

// A float outside the range of the integer type has no defined result; the runtime decides that.
bool fits(double value, DType dtype) {
  if (dtype == DType::kBool) return !std::isnan(value);
  return value > static_cast<double>(base::integer_min(dtype)) - 1 &&
         value < static_cast<double>(base::integer_max(dtype));
}

Result cast(const Operands& o) {
  const Tensor* x = o.at(0);
  const auto to = static_cast<DType>(o.node.int_or("to", 0));
  if (x == nullptr || base::bit_width(to) < 8) return {};
  if (!base::is_floating(to) && !holds_ints(to)) return {};
  // Conversions to 8-bit floats saturate or not by attribute.
  if (base::is_floating(to) && base::bit_width(to) == 8) return {};
  const std::int64_t count = x->element_count();
  if (count == 0) return {{empty_like(to, x->dims)}};
  Builder result(to, x->dims, count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (holds_ints(x->dtype)) {
      const std::int64_t value = load_int(x->dtype, element(*x, i));
      if (x->dtype == DType::kUInt64 && value < 0) return {};
      if (to == DType::kBool) {
        result.put_int(i, value != 0);
      } else {
        holds_ints(to) ? result.put_int(i, wrap(to, value))
                       : result.put_real(i, static_cast<double>(value));
      }
      continue;
    }
    const double value = load_real(x->dtype, element(*x, i));
    if (!holds_ints(to)) {
      result.put_real(i, value);
      continue;
    }
    if (!fits(value, to)) return {};
    result.put_int(i, to == DType::kBool ? value != 0 : static_cast<std::int64_t>(value));
  }
  return result.done();
}

Result where(const Operands& o) {
  const Tensor *condition = o.at(0), *x = o.at(1), *y = o.at(2);
  if (condition == nullptr || x == nullptr || y == nullptr || x->dtype != y->dtype) return {};
  auto dims = broadcast(condition->dims, x->dims);
  if (dims) dims = broadcast(*dims, y->dims);
  const auto count = dims ? o.count(*dims) : std::nullopt;
  if (!count) return {};
  const Dims strides[3] = {broadcast_strides(condition->dims, *dims),
                           broadcast_strides(x->dims, *dims), broadcast_strides(y->dims, *dims)};
  const std::int64_t width = base::bit_width(x->dtype) / 8;
  std::vector<std::byte> bytes(static_cast<std::size_t>(*count * width));
  each_index(*dims, [&](std::int64_t i, const Dims& index) {
    std::int64_t at[3] = {};
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      for (int k = 0; k < 3; ++k) at[k] += index[axis] * strides[k][axis];
    }
    const bool chosen = load_int(DType::kBool, condition->data + at[0]) != 0;
    const std::byte* from = chosen ? element(*x, at[1]) : element(*y, at[2]);
    std::copy_n(from, width, bytes.data() + i * width);
  });
  return {{Tensor::of_bytes(x->dtype, *dims, bytes)}};
}

// The same bytes as elements of another type of their size.
Result bit_cast(const Operands& o) {
  const Tensor* x = o.at(0);
  const auto to = static_cast<DType>(o.node.int_or("to", 0));
  // What is no truth value would become one.
  if (x == nullptr || to == DType::kUndefined || to == DType::kBool || to == DType::kString ||
      base::bit_width(to) != base::bit_width(x->dtype))
    return {};
  const auto bytes = static_cast<std::size_t>(x->byte_count());
  return {{Tensor::of_bytes(to, x->dims, std::span(x->data, bytes))}};
}

// By less than the width of the type: ONNX does not define other shifts.
Result bit_shift(const Operands& o) {
  const Tensor *x = o.at(0), *by = o.at(1);
  if (x == nullptr || by == nullptr || x->dtype != by->dtype) return {};
  const auto dims = broadcast(x->dims, by->dims);
  const auto values = x->ints(), counts = by->ints();
  if (!dims || !o.count(*dims) || !values || !counts) return {};
  const std::int64_t width = base::bit_width(x->dtype);
  if (!std::ranges::all_of(*counts, [&](std::int64_t n) { return n >= 0 && n < width; })) return {};
  const bool is_left = o.node.string_or("direction", "") == "LEFT";
  const bool is_signed = base::is_signed(x->dtype);
  const Dims at_x = broadcast_strides(x->dims, *dims), at_by = broadcast_strides(by->dims, *dims);
  std::vector<std::byte> bytes(static_cast<std::size_t>(*o.count(*dims) * width / 8));
  each_index(*dims, [&](std::int64_t i, const Dims& index) {
    std::int64_t from = 0, count = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      from += index[axis] * at_x[axis];
      count += index[axis] * at_by[axis];
    }
    const std::int64_t value = (*values)[static_cast<std::size_t>(from)];
    const std::int64_t bits = (*counts)[static_cast<std::size_t>(count)];
    const auto pattern = static_cast<std::uint64_t>(value);
    const std::int64_t right =
        is_signed ? value >> bits : static_cast<std::int64_t>(pattern >> bits);
    store_int(x->dtype, is_left ? static_cast<std::int64_t>(pattern << bits) : right,
              bytes.data() + i * width / 8);
  });
  return {{Tensor::of_bytes(x->dtype, *dims, bytes)}};
}

constexpr Entry kEntries[] = {
    {"BitCast", bit_cast}, {"BitShift", bit_shift},
    {"Abs", absolute},     {"Add", add},
    {"And", logical_and},  {"Cast", cast},
    {"Ceil", round_up},    {"Cos", cosine},
    {"Div", div},          {"Equal", equal},
    {"Exp", exponential},  {"Floor", round_down},
    {"Greater", greater},  {"GreaterOrEqual", greater_or_equal},
    {"Less", less},        {"LessOrEqual", less_or_equal},
    {"Log", logarithm},    {"Max", maximum},
    {"Min", minimum},      {"Mod", mod},
    {"Mul", mul},          {"Neg", neg},
    {"Not", logical_not},  {"Or", logical_or},
    {"Pow", power},        {"Reciprocal", reciprocal},
    {"Sin", sine},         {"Sqrt", square_root},
    {"Sub", sub},          {"Where", where},
    {"Xor", logical_xor},
};

}  // namespace

std::span<const Entry> elementwise_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding
