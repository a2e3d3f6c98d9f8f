#include "kernels/rounding_error.h"

#include <algorithm>
#include <array>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rounding_error.cpp"
#include <hwy/foreach_target.h>
// Behind the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// As many numbers at a time as there are float64 in a vector.
using Doubles = hn::ScalableTag<double>;
using Floats = hn::Rebind<float, Doubles>;
using Words = hn::RebindToUnsigned<Floats>;
using Signed = hn::RebindToSigned<Floats>;

constexpr Doubles kDoubles;
constexpr Floats kFloats;
constexpr Words kWords;
constexpr Signed kSigned;

// Sums that are added up side by side, the same whatever a vector holds.
constexpr std::size_t kLanes = 16;
constexpr std::size_t kAtOnce = hn::MaxLanes(kDoubles);

struct Sums {
  hn::Vec<Doubles> squares[kLanes / kAtOnce];  // NOLINT(modernize-avoid-c-arrays)
  hn::Vec<Doubles> weights[kLanes / kAtOnce];  // NOLINT(modernize-avoid-c-arrays)
  hn::Vec<Floats> difference, beyond;
};

HWY_INLINE hn::Vec<Words> word(std::uint32_t bits) { return hn::Set(kWords, bits); }

// Numbers in half precision, as float32. Below the normal numbers of float16 the steps are 2^-24.
template <bool kIsFloat16>
HWY_INLINE hn::Vec<Floats> rounded(hn::Vec<Floats> value) {
  constexpr int kDrop = kIsFloat16 ? 13 : 16;
  const auto bits = hn::BitCast(kWords, value);
  const auto odd = hn::And(hn::ShiftRight<kDrop>(bits), word(1));
  const auto raised = hn::Add(hn::Add(bits, word((1U << (kDrop - 1)) - 1)), odd);
  const auto normal = hn::BitCast(kFloats, hn::And(raised, word(~((1U << kDrop) - 1U))));
  if constexpr (!kIsFloat16) return normal;
  const auto shift = hn::CopySign(hn::Set(kFloats, 0.75F), value);
  const auto small = hn::Sub(hn::Add(value, shift), shift);
  return hn::IfThenElse(hn::Lt(hn::Abs(value), hn::Set(kFloats, 0x1p-14F)), small, normal);
}

HWY_INLINE void add_squares(hn::Vec<Floats> value, hn::Vec<Doubles>& sum) {
  const auto wide = hn::PromoteTo(kDoubles, value);
  sum = hn::Add(sum, hn::Mul(wide, wide));
}

template <bool kIsFloat16>
HWY_INLINE void add(const float* values, float most, Sums& sums) {
  for (std::size_t at = 0; at < kLanes / kAtOnce; ++at) {
    const auto number = hn::LoadU(kFloats, values + at * kAtOnce);
    const auto size = hn::Abs(number);
    const auto is_finite =
        hn::RebindMask(kFloats, hn::Lt(hn::BitCast(kSigned, size), hn::Set(kSigned, 0x7f800000)));
    const auto finite = hn::IfThenElseZero(is_finite, size);
    const auto is_beyond = hn::Gt(finite, hn::Set(kFloats, most));
    const auto value = hn::IfThenZeroElse(is_beyond, hn::IfThenElseZero(is_finite, number));
    const auto difference = hn::Sub(value, rounded<kIsFloat16>(value));
    add_squares(difference, sums.squares[at]);
    add_squares(value, sums.weights[at]);
    const auto infinity = hn::Set(kFloats, std::numeric_limits<float>::infinity());
    sums.difference = hn::Max(sums.difference, hn::Abs(difference));
    sums.beyond = hn::Min(sums.beyond, hn::IfThenElse(is_beyond, finite, infinity));
  }
}

template <bool kIsFloat16>
RoundingError measure(std::span<const float> values) {
  const auto most =
      static_cast<float>(largest_of(kIsFloat16 ? base::DType::kFloat16 : base::DType::kBFloat16));
  Sums sums;
  for (auto& each : sums.squares) each = hn::Zero(kDoubles);
  for (auto& each : sums.weights) each = hn::Zero(kDoubles);
  sums.difference = hn::Zero(kFloats);
  sums.beyond = hn::Set(kFloats, std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) add<kIsFloat16>(&values[i], most, sums);
  std::array<float, kLanes> rest{};
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(i), values.end(), rest.begin());
  add<kIsFloat16>(rest.data(), most, sums);

  std::array<double, kLanes> squares, weights;
  for (std::size_t at = 0; at < kLanes / kAtOnce; ++at) {
    hn::StoreU(sums.squares[at], kDoubles, &squares[at * kAtOnce]);
    hn::StoreU(sums.weights[at], kDoubles, &weights[at * kAtOnce]);
  }
  RoundingError result;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    result.squares += squares[lane];
    result.weights += weights[lane];
  }
  result.largest_difference = hn::GetLane(hn::MaxOfLanes(kFloats, sums.difference));
  // Not by MinOfLanes(), which may begin with the largest number below infinity.
  std::array<float, kAtOnce> beyond{};
  hn::StoreU(sums.beyond, kFloats, beyond.data());
  result.least_beyond = *std::ranges::min_element(beyond);
  return result;
}

RoundingError of_float16(std::span<const float> values) { return measure<true>(values); }
RoundingError of_bfloat16(std::span<const float> values) { return measure<false>(values); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
namespace {

HWY_EXPORT(of_float16);
HWY_EXPORT(of_bfloat16);

}  // namespace

void RoundingError::add(const RoundingError& other) {
  squares += other.squares;
  weights += other.weights;
  largest_difference = std::max(largest_difference, other.largest_difference);
  least_beyond = std::min(least_beyond, other.least_beyond);
}

double largest_of(base::DType half) { return half == base::DType::kFloat16 ? 65504.0 : 0x1.FEp127; }

RoundingError rounding_error(std::span<const float> values, base::DType half) {
  return half == base::DType::kFloat16 ? HWY_DYNAMIC_DISPATCH(of_float16)(values)
                                       : HWY_DYNAMIC_DISPATCH(of_bfloat16)(values);
}

}  // namespace sardonyx::kernels
#endif  // HWY_ONCE
