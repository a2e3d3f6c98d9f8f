#include "kernels/scale_error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scale_error.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums are of so many lanes, whatever a vector holds: they are the same everywhere.
constexpr std::size_t kLanes = 16;
using Floats = hn::CappedTag<float, kLanes>;
constexpr Floats kFloats;

// `count` is a multiple of the lanes.
void add_errors(const float* weights, std::size_t count, float scale, float highest, float* sums) {
  const std::size_t at_once = hn::Lanes(kFloats);
  const auto step = hn::Set(kFloats, scale), inverse = hn::Set(kFloats, 1 / scale);
  const auto most = hn::Set(kFloats, highest), least = hn::Set(kFloats, -highest);
  for (std::size_t lane = 0; lane < kLanes; lane += at_once) {
    auto sum = hn::Zero(kFloats);
    for (std::size_t i = lane; i < count; i += kLanes) {
      const auto weight = hn::LoadU(kFloats, weights + i);
      const auto code = hn::Round(hn::Min(hn::Max(hn::Mul(weight, inverse), least), most));
      const auto difference = hn::Sub(weight, hn::Mul(code, step));
      sum = hn::Add(sum, hn::Mul(difference, difference));
    }
    hn::StoreU(sum, kFloats, sums + lane);
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

HWY_EXPORT(add_errors);

double scale_error(std::span<const float> weights, float scale, float highest) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> sums{}, rest{}, last{};
  const std::size_t whole = weights.size() / kLanes * kLanes;
  HWY_DYNAMIC_DISPATCH(add_errors)(weights.data(), whole, scale, highest, sums.data());
  std::copy(weights.begin() + static_cast<std::ptrdiff_t>(whole), weights.end(), rest.begin());
  HWY_DYNAMIC_DISPATCH(add_errors)(rest.data(), kLanes, scale, highest, last.data());
  return std::accumulate(last.begin(), last.end(), std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace sardonyx::kernels
#endif
