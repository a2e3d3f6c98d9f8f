#include "kernels/error_diffusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/error_diffusion.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums are of so many lanes, whatever a vector holds: they are the same everywhere. Several vectors
// do not wait for one another.
constexpr std::size_t kLanes = Samples::kPadding;
constexpr std::size_t kLastLanes = 16;
using Floats = hn::CappedTag<float, kLastLanes>;
constexpr Floats kFloats;
constexpr std::size_t kAtOnce = hn::MaxLanes(kFloats);
constexpr std::size_t kVectors = kLanes / kAtOnce;

HWY_INLINE float dot(const float* a, const float* b, std::size_t count) {
  // Vectors may have no size that the compiler knows, so that std::array cannot hold them.
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  hn::Vec<Floats> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(kFloats);
  for (std::size_t i = 0; i < count; i += kLanes)
    for (std::size_t v = 0; v < kVectors; ++v)
      sums[v] = hn::Add(sums[v], hn::Mul(hn::LoadU(kFloats, a + i + v * kAtOnce),
                                         hn::LoadU(kFloats, b + i + v * kAtOnce)));
  for (std::size_t half = kVectors / 2; half * kAtOnce >= kLastLanes; half /= 2)
    for (std::size_t v = 0; v < half; ++v) sums[v] = hn::Add(sums[v], sums[v + half]);
  std::array<float, kLastLanes> lanes;
  for (std::size_t v = 0; v * kAtOnce < kLastLanes; ++v)
    hn::StoreU(sums[v], kFloats, &lanes[v * kAtOnce]);
  for (std::size_t half = kLastLanes / 2; half != 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

HWY_INLINE void add_scaled(float factor, const float* x, float* to, std::size_t count) {
  const auto scale = hn::Set(kFloats, factor);
  for (std::size_t i = 0; i < count; i += kAtOnce)
    hn::StoreU(hn::Add(hn::LoadU(kFloats, to + i), hn::Mul(scale, hn::LoadU(kFloats, x + i))),
               kFloats, to + i);
}

void diffuse(const float* weights, const float* scales, std::size_t channels,
             const Samples& samples, int lowest, int highest, float* errors, std::int8_t* codes) {
  for (std::size_t t = 0; t < samples.inputs; ++t) {
    const float* x = samples.values + t * samples.padded;
    const float norm = samples.norms[t];
    for (std::size_t c = 0; c < channels; ++c) {
      float* error = errors + c * samples.padded;
      const float weight = weights[c * samples.inputs + t];
      const float wanted = norm > 0 ? weight + dot(x, error, samples.padded) / norm : weight;
      const float code = std::clamp(std::nearbyint(wanted / scales[c]), static_cast<float>(lowest),
                                    static_cast<float>(highest));
      codes[c * samples.inputs + t] = static_cast<std::int8_t>(code);
      add_scaled(weight - code * scales[c], x, error, samples.padded);
    }
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

HWY_EXPORT(diffuse);

void diffuse_errors(std::span<const float> weights, std::span<const float> scales,
                    const Samples& samples, int lowest, int highest, std::span<std::int8_t> codes) {
  // So many rows share what is read of the samples, and their errors stay in the cache.
  constexpr std::size_t kRows = 8;
  std::vector<float> errors(kRows * samples.padded);
  for (std::size_t c = 0; c < scales.size(); c += kRows) {
    const std::size_t rows = std::min(kRows, scales.size() - c);
    std::ranges::fill(errors, 0.0F);
    HWY_DYNAMIC_DISPATCH(diffuse)
    (weights.data() + c * samples.inputs, scales.data() + c, rows, samples, lowest, highest,
     errors.data(), codes.data() + c * samples.inputs);
  }
}

}  // namespace sardonyx::kernels
#endif
