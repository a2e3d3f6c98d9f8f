#include "kernels/binning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/binning.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

#ifndef SARDONYX_BINNING_LANES
#define SARDONYX_BINNING_LANES
namespace sardonyx::kernels {
namespace {

constexpr std::size_t kLanes = 16;

// Of each lane of a vector.
struct LaneExtremes {
  std::array<float, kLanes> low, high;
  std::array<std::uint32_t, kLanes> finite{}, zeros{};

  LaneExtremes() {
    low.fill(Extremes{}.low);
    high.fill(Extremes{}.high);
  }
};

}  // namespace
}  // namespace sardonyx::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kLanes>;
using Ints = hn::RebindToSigned<Floats>;
using Counts = hn::RebindToUnsigned<Floats>;
constexpr Floats kFloats;
constexpr Ints kInts;
constexpr Counts kCounts;

std::size_t lanes() { return hn::Lanes(kFloats); }

// `count` is a multiple of the lanes.
void add_extremes(const float* elements, std::size_t count, LaneExtremes& result) {
  const std::size_t at_once = hn::Lanes(kFloats);
  auto low = hn::LoadU(kFloats, result.low.data()), high = hn::LoadU(kFloats, result.high.data());
  auto finite = hn::LoadU(kCounts, result.finite.data()),
       zeros = hn::LoadU(kCounts, result.zeros.data());
  const auto one = hn::Set(kCounts, 1);
  const auto one_where = [&](auto mask) {
    return hn::IfThenElseZero(hn::RebindMask(kCounts, mask), one);
  };
  for (std::size_t i = 0; i < count; i += at_once) {
    const auto element = hn::LoadU(kFloats, elements + i);
    const auto is_finite = hn::IsFinite(element);
    low = hn::IfThenElse(is_finite, hn::Min(low, element), low);
    high = hn::IfThenElse(is_finite, hn::Max(high, element), high);
    finite = hn::Add(finite, one_where(is_finite));
    zeros = hn::Add(zeros, one_where(hn::Eq(element, hn::Zero(kFloats))));
  }
  hn::StoreU(low, kFloats, result.low.data());
  hn::StoreU(high, kFloats, result.high.data());
  hn::StoreU(finite, kCounts, result.finite.data());
  hn::StoreU(zeros, kCounts, result.zeros.data());
}

// `count` is a multiple of the lanes. Powers of two change no bit of an element but its exponent.
// One power may be too large for a float, so there are two factors.
void find_bins(const float* elements, std::size_t count, const Binning& binning,
               std::int32_t not_finite, std::int32_t* bins) {
  const std::size_t at_once = hn::Lanes(kFloats);
  const int half = -binning.exponent / 2;
  const auto factor = hn::Set(kFloats, std::ldexp(1.0F, half)),
             rest = hn::Set(kFloats, std::ldexp(1.0F, -binning.exponent - half));
  const auto first = hn::Set(kInts, binning.first), other = hn::Set(kInts, not_finite),
             one = hn::Set(kInts, 1);
  const auto zero = hn::Zero(kFloats);
  for (std::size_t i = 0; i < count; i += at_once) {
    const auto element = hn::LoadU(kFloats, elements + i);
    const auto whole = hn::Floor(hn::Mul(hn::Mul(element, factor), rest));
    // What is too small for a float became zero.
    const auto is_lost = hn::And(hn::Lt(element, zero), hn::Eq(whole, zero));
    const auto bin = hn::Sub(hn::Sub(hn::ConvertTo(kInts, whole), first),
                             hn::IfThenElseZero(hn::RebindMask(kInts, is_lost), one));
    const auto is_finite = hn::RebindMask(kInts, hn::IsFinite(element));
    hn::StoreU(hn::IfThenElse(is_finite, bin, other), kInts, bins + i);
  }
}

}  // namespace
// The check compares with what the macro expands to.
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {

HWY_EXPORT(lanes);
HWY_EXPORT(add_extremes);
HWY_EXPORT(find_bins);

namespace {

// Lanes count in 32 bits.
constexpr std::size_t kMaxPart = std::size_t{1} << 30;

void add_part(std::span<const float> elements, Extremes& result) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lanes)();
  const std::size_t whole = elements.size() / lanes * lanes;
  LaneExtremes found;
  HWY_DYNAMIC_DISPATCH(add_extremes)(elements.data(), whole, found);
  std::array<float, kLanes> last;
  last.fill(std::numeric_limits<float>::infinity());  // which counts as nothing
  std::copy(elements.begin() + static_cast<std::ptrdiff_t>(whole), elements.end(), last.begin());
  HWY_DYNAMIC_DISPATCH(add_extremes)(last.data(), lanes, found);
  result.low = std::min(result.low, *std::ranges::min_element(found.low));
  result.high = std::max(result.high, *std::ranges::max_element(found.high));
  result.finite = std::accumulate(found.finite.begin(), found.finite.end(), result.finite);
  result.zeros = std::accumulate(found.zeros.begin(), found.zeros.end(), result.zeros);
}

}  // namespace

Extremes extremes(std::span<const float> elements) {
  Extremes result;
  for (std::size_t begin = 0; begin < elements.size(); begin += kMaxPart)
    add_part(elements.subspan(begin, std::min(kMaxPart, elements.size() - begin)), result);
  return result;
}

void bins_of(std::span<const float> elements, const Binning& binning, std::int32_t not_finite,
             std::span<std::int32_t> bins) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lanes)();
  const std::size_t whole = elements.size() / lanes * lanes;
  HWY_DYNAMIC_DISPATCH(find_bins)(elements.data(), whole, binning, not_finite, bins.data());
  if (whole == elements.size()) return;
  std::array<float, kLanes> last{};
  std::array<std::int32_t, kLanes> last_bins{};
  std::copy(elements.begin() + static_cast<std::ptrdiff_t>(whole), elements.end(), last.begin());
  HWY_DYNAMIC_DISPATCH(find_bins)(last.data(), lanes, binning, not_finite, last_bins.data());
  std::copy_n(last_bins.begin(), elements.size() - whole,
              bins.begin() + static_cast<std::ptrdiff_t>(whole));
}

}  // namespace sardonyx::kernels
#endif
