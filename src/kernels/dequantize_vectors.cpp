#include "kernels/dequantize_vectors.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dequantize_vectors.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

void from_words(const std::byte* words, int shift, int bits, std::size_t count,
                float* HWY_RESTRICT values) {
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word;
    std::memcpy(&word, words + 4 * i, sizeof word);
    values[i] = static_cast<float>(static_cast<std::int32_t>(word >> shift & mask));
  }
}

void from_bytes(const std::byte* bytes, std::size_t count, float* HWY_RESTRICT values) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    values[2 * i] = static_cast<float>(byte & 15);
    values[2 * i + 1] = static_cast<float>(byte >> 4);
  }
}

void scale(float* HWY_RESTRICT values, const float* HWY_RESTRICT scales,
           const float* HWY_RESTRICT zeros, const float* HWY_RESTRICT offsets, std::size_t count) {
  if (zeros != nullptr)
    for (std::size_t i = 0; i < count; ++i) values[i] = (values[i] - zeros[i]) * scales[i];
  else
    for (std::size_t i = 0; i < count; ++i) values[i] = values[i] * scales[i];
  if (offsets != nullptr)
    for (std::size_t i = 0; i < count; ++i) values[i] = values[i] + offsets[i];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
namespace {

HWY_EXPORT(from_words);
HWY_EXPORT(from_bytes);
HWY_EXPORT(scale);

}  // namespace

void codes_of_words(const std::byte* words, int shift, int bits, std::size_t count, float* values) {
  HWY_DYNAMIC_DISPATCH(from_words)(words, shift, bits, count, values);
}
void codes_of_bytes(const std::byte* bytes, std::size_t count, float* values) {
  HWY_DYNAMIC_DISPATCH(from_bytes)(bytes, count, values);
}
void apply_scales(float* values, const float* scales, const float* zeros, const float* offsets,
                  std::size_t count) {
  HWY_DYNAMIC_DISPATCH(scale)(values, scales, zeros, offsets, count);
}

}  // namespace sardonyx::kernels
#endif  // HWY_ONCE
