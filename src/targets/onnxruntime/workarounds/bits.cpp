// Bits of integers where there is arithmetic and no bitwise operator: masks that are constants, or
// one bit of each element.
#include <bit>
#include <cstdint>
#include <optional>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

constexpr DTypeSet kIntegers = onnx::dtype_bit(kInt8) | onnx::dtype_bit(kInt16) |
                               onnx::dtype_bit(kInt32) | onnx::dtype_bit(kInt64) |
                               onnx::dtype_bit(kUInt8);
constexpr std::string_view kSince = "1.31, read in the list of its kernels";
constexpr const char* kWhy =
    "the CUDA provider has no kernel, and the CPU would run it between "
    "copies; of a mask that is neither a constant nor of booleans it does";
// Runs of ones; each takes up to two remainders. Beyond that, copies cost less.
constexpr int kMostRuns = 2;

std::optional<std::int64_t> single_number(Value value) {
  if (!value.is_constant() || value.constant()->element_count() != 1) return std::nullopt;
  return value.ints()->front();
}

// The remainder of 2^count, which of numbers below zero is their lowest bits, too.
Value lowest_bits(Lowering& onnx, Value x, int count) {
  if (count == 0) return onnx.int_scalar(0, x.dtype());
  return onnx.mod(x, onnx.int_scalar(std::int64_t{1} << count, x.dtype()));
}

// x & mask as a sum of runs of bits; nothing where there are many, or one ends below the sign.
std::optional<Value> bits_of_runs(Lowering& onnx, Value x, std::uint64_t mask) {
  const int width = base::bit_width(x.dtype());
  const int most = base::is_signed(x.dtype()) ? width - 2 : width - 1;
  std::optional<Value> sum;
  for (int runs = 0; mask != 0; ++runs) {
    const int first = std::countr_zero(mask), end = first + std::countr_one(mask >> first);
    if (runs == kMostRuns || end > most) return std::nullopt;
    Value run = lowest_bits(onnx, x, end);
    if (first > 0) run = onnx.sub(run, lowest_bits(onnx, x, first));
    sum = sum ? onnx.add(*sum, run) : run;
    mask &= ~std::uint64_t{0} << end;
  }
  return sum ? *sum : onnx.mul(x, onnx.int_scalar(0, x.dtype()));
}

// Before: BitwiseAnd(x, 0x0f)
// After:  Mod(x, 16); of a mask with the highest bit, x without what the others leave
std::optional<Value> bits_under(Lowering& onnx, Value x, std::int64_t mask) {
  const int width = base::bit_width(x.dtype());
  const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t bits = static_cast<std::uint64_t>(mask) & all;
  if (bits >> (width - 1) == 0) return bits_of_runs(onnx, x, bits);
  const std::optional<Value> others = bits_of_runs(onnx, x, ~bits & all);
  if (!others) return std::nullopt;
  return onnx.sub(x, *others);
}

// Whether each element is 0 or 1, by how it is made.
bool is_of_single_bits(const onnx::ValueInfo* value) {
  const onnx::Node* made = value->producer;
  if (made == nullptr) {
    if (value->constant == nullptr || value->constant->element_count() != 1) return false;
    const auto numbers = value->constant->ints();
    return numbers && (numbers->front() == 0 || numbers->front() == 1);
  }
  switch (made->op) {
    case Op::kCast:
      return made->input(0)->dtype == kBool;
    case Op::kExpand:
    case Op::kReshape:
    case Op::kSqueeze:
    case Op::kTranspose:
    case Op::kUnsqueeze:
      return is_of_single_bits(made->input(0));
    case Op::kMul:
      return is_of_single_bits(made->input(0)) && is_of_single_bits(made->input(1));
    default:
      return false;
  }
}

// A value, a mask, and the bits of both.
struct Masked {
  Value x;
  Value mask;
  Value both;
};

// Before: BitwiseAnd(x, Cast(booleans))
// After:  Mul(Mod(x, 2), Cast(booleans))
std::optional<Masked> masked_by_booleans(const Use& use) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    const Value x = use.input(1 - i), mask = use.input(i);
    if (!is_of_single_bits(mask.info())) continue;
    const Value lowest = is_of_single_bits(x.info()) ? x : lowest_bits(use.onnx, x, 1);
    return Masked{x, mask, use.onnx.mul(lowest, mask)};
  }
  return std::nullopt;
}

// A constant has the value's rank at most: the result has its shape.
std::optional<Masked> masked(const Use& use) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    const Value x = use.input(1 - i), mask = use.input(i);
    const auto number = single_number(mask);
    if (!number || !x.has_rank() || mask.rank() > x.rank()) continue;
    const auto both = bits_under(use.onnx, x, *number);
    if (!both) return std::nullopt;
    return Masked{x, use.onnx.int_scalar(*number, x.dtype()), *both};
  }
  return masked_by_booleans(use);
}

std::optional<Values> remainder(const Use& use, const Rule&) {
  const auto found = masked(use);
  if (!found) return std::nullopt;
  return Values{found->both};
}

// Before: BitwiseOr(x, mask)
// After:  x - (x & mask) + mask, which stays inside the type
std::optional<Values> with_bits(const Use& use, const Rule&) {
  const auto found = masked(use);
  if (!found) return std::nullopt;
  Lowering& onnx = use.onnx;
  return Values{onnx.add(onnx.sub(found->x, found->both), found->mask)};
}

// Before: BitwiseXor(x, mask)
// After:  x - (x & mask) + (mask - (x & mask))
std::optional<Values> turned_bits(const Use& use, const Rule&) {
  const auto found = masked(use);
  if (!found) return std::nullopt;
  Lowering& onnx = use.onnx;
  return Values{onnx.add(onnx.sub(found->x, found->both), onnx.sub(found->mask, found->both))};
}

// Before: BitwiseNot(x)
// After:  Sub(-1, x); of unsigned numbers Sub(255, x)
std::optional<Values> all_turned(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const Value x = use.input(0);
  const std::int64_t ones =
      base::is_signed(x.dtype()) ? -1 : (std::int64_t{1} << base::bit_width(x.dtype())) - 1;
  return Values{onnx.sub(onnx.int_scalar(ones, x.dtype()), x)};
}

constexpr Rule kRows[] = {
    {.name = "bits-under-a-mask",
     .op = Op::kBitwiseAnd,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = remainder,
     .why = kWhy,
     .since = kSince},
    {.name = "bits-added-by-a-mask",
     .op = Op::kBitwiseOr,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = with_bits,
     .why = kWhy,
     .since = kSince},
    {.name = "bits-turned-by-a-mask",
     .op = Op::kBitwiseXor,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = turned_bits,
     .why = kWhy,
     .since = kSince},
    {.name = "all-bits-turned",
     .op = Op::kBitwiseNot,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = all_turned,
     .why = "the CUDA provider has no kernel, and the CPU would run it between copies",
     .since = kSince},
};

}  // namespace

Rules bit_rules() { return kRows; }

}  // namespace sardonyx::targets
