#include "kernels/error_diffusion.h"

#include <algorithm>
#include <array>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/error_diffusion.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

#ifndef SARDONYX_ERROR_DIFFUSION_PANELS
#define SARDONYX_ERROR_DIFFUSION_PANELS
namespace sardonyx::kernels {
namespace {

// Inputs whose weights are rounded one after the other before the errors of all samples follow.
constexpr std::size_t kBlock = 8;
// Channels that are rounded at once, at most.
constexpr std::size_t kMaxChannels = 16;

// Samples as the loops read them.
struct Panels {
  std::size_t rows, inputs;
  std::vector<float> values;  // [blocks, rows, kBlock], filled up with zeros
  std::vector<float> inner;   // [inputs, kBlock]: products of an input with those of its block

  explicit Panels(const Samples& samples);
};

}  // namespace
}  // namespace sardonyx::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A lane is a channel, so that sums are the same whatever a vector holds.
using Floats = hn::CappedTag<float, kMaxChannels>;
constexpr Floats kFloats;

std::size_t lanes() { return hn::Lanes(kFloats); }

// The products of each input of a block with the errors so far.
HWY_INLINE void project(const float* panel, const float* errors, std::size_t rows,
                        float* products) {
  const std::size_t count = hn::Lanes(kFloats);
  // Vectors may have no size that the compiler knows, so that std::array cannot hold them.
  // Vectors may have no size that the compiler knows, so that std::array cannot hold them.
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  hn::Vec<Floats> sums[kBlock];
  for (auto& sum : sums) sum = hn::Zero(kFloats);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto error = hn::LoadU(kFloats, errors + row * count);
    for (std::size_t i = 0; i < kBlock; ++i)
      sums[i] = hn::Add(sums[i], hn::Mul(error, hn::Set(kFloats, panel[row * kBlock + i])));
  }
  for (std::size_t i = 0; i < kBlock; ++i) hn::StoreU(sums[i], kFloats, products + i * count);
}

// Adds what rounding the inputs of a block changes to the errors.
HWY_INLINE void add_changes(const float* panel, const float* changes, std::size_t rows,
                            float* errors) {
  const std::size_t count = hn::Lanes(kFloats);
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  hn::Vec<Floats> change[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) change[i] = hn::LoadU(kFloats, changes + i * count);
  for (std::size_t row = 0; row < rows; ++row) {
    auto error = hn::LoadU(kFloats, errors + row * count);
    for (std::size_t i = 0; i < kBlock; ++i)
      error = hn::Add(error, hn::Mul(change[i], hn::Set(kFloats, panel[row * kBlock + i])));
    hn::StoreU(error, kFloats, errors + row * count);
  }
}

// `weights` are [inputs, channels] and become codes.
void diffuse(float* weights, const float* scales, const Panels& panels, const float* norms,
             int lowest, int highest, float* errors) {
  const std::size_t count = hn::Lanes(kFloats);
  const auto scale = hn::LoadU(kFloats, scales);
  const auto least = hn::Set(kFloats, static_cast<float>(lowest)),
             most = hn::Set(kFloats, static_cast<float>(highest));
  std::array<float, kBlock * kMaxChannels> products, changes;
  for (std::size_t begin = 0; begin < panels.inputs; begin += kBlock) {
    const float* panel = panels.values.data() + begin * panels.rows;
    project(panel, errors, panels.rows, products.data());
    changes.fill(0);
    for (std::size_t i = 0; i < std::min(kBlock, panels.inputs - begin); ++i) {
      float* weight = weights + (begin + i) * count;
      const auto exact = hn::LoadU(kFloats, weight);
      auto wanted = exact;
      if (norms[begin + i] > 0) {
        auto product = hn::LoadU(kFloats, &products[i * count]);
        for (std::size_t k = 0; k < i; ++k)
          product =
              hn::Add(product, hn::Mul(hn::LoadU(kFloats, &changes[k * count]),
                                       hn::Set(kFloats, panels.inner[(begin + i) * kBlock + k])));
        wanted = hn::Add(exact, hn::Div(product, hn::Set(kFloats, norms[begin + i])));
      }
      const auto code = hn::Min(hn::Max(hn::Round(hn::Div(wanted, scale)), least), most);
      hn::StoreU(hn::Sub(exact, hn::Mul(code, scale)), kFloats, &changes[i * count]);
      hn::StoreU(code, kFloats, weight);
    }
    add_changes(panel, changes.data(), panels.rows, errors);
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
HWY_EXPORT(diffuse);

namespace {

Panels::Panels(const Samples& samples)
    : rows(samples.rows),
      inputs(samples.inputs),
      values((inputs + kBlock - 1) / kBlock * kBlock * rows),
      inner(inputs * kBlock) {
  for (std::size_t begin = 0; begin < inputs; begin += kBlock) {
    const std::size_t count = std::min(kBlock, inputs - begin);
    for (std::size_t row = 0; row < rows; ++row) {
      float* const part = &values[begin * rows + row * kBlock];
      std::copy_n(samples.values + row * inputs + begin, count, part);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < kBlock; ++k)
          inner[(begin + i) * kBlock + k] += part[i] * part[k];
    }
  }
}

}  // namespace

void diffuse_errors(std::span<const float> weights, std::span<const float> scales,
                    const Samples& samples, int lowest, int highest, std::span<std::int8_t> codes) {
  const Panels panels(samples);
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lanes)();
  std::vector<float> errors(samples.rows * lanes), rows(samples.inputs * lanes);
  for (std::size_t c = 0; c < scales.size(); c += lanes) {
    const std::size_t count = std::min(lanes, scales.size() - c);
    std::array<float, kMaxChannels> scale;
    scale.fill(1);
    std::copy_n(scales.begin() + static_cast<std::ptrdiff_t>(c), count, scale.begin());
    std::ranges::fill(errors, 0.0F);
    std::ranges::fill(rows, 0.0F);
    for (std::size_t t = 0; t < samples.inputs; ++t)
      for (std::size_t i = 0; i < count; ++i)
        rows[t * lanes + i] = weights[(c + i) * samples.inputs + t];
    HWY_DYNAMIC_DISPATCH(diffuse)
    (rows.data(), scale.data(), panels, samples.norms, lowest, highest, errors.data());
    for (std::size_t t = 0; t < samples.inputs; ++t)
      for (std::size_t i = 0; i < count; ++i)
        codes[(c + i) * samples.inputs + t] = static_cast<std::int8_t>(rows[t * lanes + i]);
  }
}

}  // namespace sardonyx::kernels
#endif
