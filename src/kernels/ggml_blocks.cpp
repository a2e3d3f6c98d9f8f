#include "kernels/ggml_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

// All types of blocks that are supported: ggml's number and name, the elements and bytes of a
// block, and the function that dequantizes one.
#ifndef SARDONYX_GGML_BLOCKS
#define SARDONYX_GGML_BLOCKS(ROW)   \
  ROW(2, "Q4_0", 32, 18, q4_0)      \
  ROW(3, "Q4_1", 32, 20, q4_1)      \
  ROW(6, "Q5_0", 32, 22, q5_0)      \
  ROW(7, "Q5_1", 32, 24, q5_1)      \
  ROW(8, "Q8_0", 32, 34, q8_0)      \
  ROW(10, "Q2_K", 256, 84, q2_k)    \
  ROW(11, "Q3_K", 256, 110, q3_k)   \
  ROW(12, "Q4_K", 256, 144, q4_k)   \
  ROW(13, "Q5_K", 256, 176, q5_k)   \
  ROW(14, "Q6_K", 256, 210, q6_k)   \
  ROW(20, "IQ4_NL", 32, 18, iq4_nl) \
  ROW(39, "MXFP4", 32, 17, mxfp4)
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ggml_blocks.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

// The loops have constant sizes, so that the compiler vectorizes them.
HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

using Byte = std::uint8_t;

constexpr int kSmall = 32;   // elements of a block of the first kinds
constexpr int kSuper = 256;  // and of a block of blocks

// The float16 at a place.
HWY_INLINE float half(const Byte* at) {
  const auto bits = static_cast<std::uint32_t>(at[0] | at[1] << 8);
  const std::uint32_t sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31U;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// Of `count` bytes the lower four bits, then the upper ones.
template <int kCount>
HWY_INLINE void nibbles(const Byte* packed, Byte* codes) {
  for (int i = 0; i < kCount; ++i) codes[i] = packed[i] & 15;
  for (int i = 0; i < kCount; ++i) codes[kCount + i] = static_cast<Byte>(packed[i] >> 4);
}

// Two bits each: of every 32 bytes first the lowest of all, then the next.
template <int kCount>
HWY_INLINE void pairs_of_bits(const Byte* packed, Byte* codes) {
  for (int group = 0; group < kCount / 32; ++group)
    for (int shift = 0; shift < 8; shift += 2)
      for (int i = 0; i < 32; ++i)
        *codes++ = static_cast<Byte>(packed[group * 32 + i] >> shift & 3);
}

// Bit j of byte i of 32 is added to code 32 * j + i, as the bit number `place`.
HWY_INLINE void add_high_bits(const Byte* bits, int place, Byte* codes) {
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 32; ++i)
      codes[32 * j + i] = static_cast<Byte>(codes[32 * j + i] | (bits[i] >> j & 1) << place);
}

// The fifth bits of 32 codes, one after the other in four bytes.
HWY_INLINE void add_fifth_bits(const Byte* bits, Byte* codes) {
  for (int i = 0; i < 32; ++i)
    codes[i] = static_cast<Byte>(codes[i] | (bits[i / 8] >> (i % 8) & 1) << 4);
}

// scale * (code - middle)
HWY_INLINE void scale_codes(const Byte* codes, int middle, float scale, float* values) {
  for (int i = 0; i < kSmall; ++i) values[i] = static_cast<float>(codes[i] - middle) * scale;
}

// scale * code + least
HWY_INLINE void scale_codes_from(const Byte* codes, float scale, float least, float* values) {
  for (int i = 0; i < kSmall; ++i) values[i] = static_cast<float>(codes[i]) * scale + least;
}

HWY_INLINE void q4_0(const Byte* block, float* values) {
  std::array<Byte, kSmall> codes;
  nibbles<16>(block + 2, codes.data());
  scale_codes(codes.data(), 8, half(block), values);
}

HWY_INLINE void q4_1(const Byte* block, float* values) {
  std::array<Byte, kSmall> codes;
  nibbles<16>(block + 4, codes.data());
  scale_codes_from(codes.data(), half(block), half(block + 2), values);
}

HWY_INLINE void q5_0(const Byte* block, float* values) {
  std::array<Byte, kSmall> codes;
  nibbles<16>(block + 6, codes.data());
  add_fifth_bits(block + 2, codes.data());
  scale_codes(codes.data(), 16, half(block), values);
}

HWY_INLINE void q5_1(const Byte* block, float* values) {
  std::array<Byte, kSmall> codes;
  nibbles<16>(block + 8, codes.data());
  add_fifth_bits(block + 4, codes.data());
  scale_codes_from(codes.data(), half(block), half(block + 2), values);
}

HWY_INLINE void q8_0(const Byte* block, float* values) {
  std::array<std::int8_t, kSmall> codes;
  std::memcpy(codes.data(), block + 2, codes.size());
  const float scale = half(block);
  for (int i = 0; i < kSmall; ++i)
    values[i] = static_cast<float>(codes[static_cast<std::size_t>(i)]) * scale;
}

HWY_INLINE void iq4_nl(const Byte* block, float* values) {
  constexpr std::array<float, 16> kTable = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};
  std::array<Byte, kSmall> codes;
  nibbles<16>(block + 2, codes.data());
  const float scale = half(block);
  for (int i = 0; i < kSmall; ++i) values[i] = kTable[codes[static_cast<std::size_t>(i)]] * scale;
}

// 2 to the power of the byte less 127; 255 stands for no number.
HWY_INLINE float power_of_two(Byte exponent) {
  if (exponent == 255) return std::numeric_limits<float>::quiet_NaN();
  return exponent == 0 ? 0x1p-127F
                       : std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23);
}

HWY_INLINE void mxfp4(const Byte* block, float* values) {
  constexpr std::array<float, 16> kTable = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                            -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
  std::array<Byte, kSmall> codes;
  nibbles<16>(block + 1, codes.data());
  const float scale = power_of_two(block[0]);
  for (int i = 0; i < kSmall; ++i) values[i] = kTable[codes[static_cast<std::size_t>(i)]] * scale;
}

HWY_INLINE void q2_k(const Byte* block, float* values) {
  std::array<Byte, kSuper> codes;
  pairs_of_bits<64>(block + 16, codes.data());
  const float scale = half(block + 80), least = half(block + 82);
  for (int part = 0; part < 16; ++part) {
    const float own = scale * static_cast<float>(block[part] & 15);
    const float taken = least * static_cast<float>(block[part] >> 4);
    for (int i = 16 * part; i < 16 * part + 16; ++i)
      values[i] = own * static_cast<float>(codes[static_cast<std::size_t>(i)]) - taken;
  }
}

HWY_INLINE void q3_k(const Byte* block, float* values) {
  std::array<Byte, kSuper> codes;
  pairs_of_bits<64>(block + 32, codes.data());
  add_high_bits(block, 2, codes.data());
  const Byte* const packed = block + 96;
  const float scale = half(block + 108);
  for (int part = 0; part < 16; ++part) {
    const int low = packed[part % 8] >> (part / 8 * 4) & 15;
    const int high = packed[8 + part % 4] >> (part / 4 * 2) & 3;
    const float own = scale * static_cast<float>((low | high << 4) - 32);
    for (int i = 16 * part; i < 16 * part + 16; ++i)
      values[i] = own * static_cast<float>(codes[static_cast<std::size_t>(i)] - 4);
  }
}

// Eight scales and eight least values of six bits each in the twelve bytes behind two float16, of
// 32 codes each.
HWY_INLINE void scale_by_parts(const Byte* block, const Byte* codes, float* values) {
  const Byte* const packed = block + 4;
  const float scale = half(block), least = half(block + 2);
  for (int part = 0; part < 8; ++part) {
    const int i = part % 4;
    const int own = part < 4 ? packed[i] & 63 : (packed[8 + i] & 15) | packed[i] >> 6 << 4;
    const int taken = part < 4 ? packed[4 + i] & 63 : packed[8 + i] >> 4 | packed[4 + i] >> 6 << 4;
    const float factor = scale * static_cast<float>(own);
    const float offset = least * static_cast<float>(taken);
    for (int e = 32 * part; e < 32 * part + 32; ++e)
      values[e] = factor * static_cast<float>(codes[e]) - offset;
  }
}

HWY_INLINE void q4_k(const Byte* block, float* values) {
  std::array<Byte, kSuper> codes;
  for (int group = 0; group < 4; ++group)
    nibbles<32>(block + 16 + 32 * group, codes.data() + 64 * group);
  scale_by_parts(block, codes.data(), values);
}

HWY_INLINE void q5_k(const Byte* block, float* values) {
  std::array<Byte, kSuper> codes;
  for (int group = 0; group < 4; ++group)
    nibbles<32>(block + 48 + 32 * group, codes.data() + 64 * group);
  add_high_bits(block + 16, 4, codes.data());
  scale_by_parts(block, codes.data(), values);
}

HWY_INLINE void q6_k(const Byte* block, float* values) {
  std::array<Byte, kSuper> codes, high;
  for (int group = 0; group < 2; ++group)
    nibbles<64>(block + 64 * group, codes.data() + 128 * group);
  pairs_of_bits<64>(block + 128, high.data());
  const float scale = half(block + 208);
  for (int part = 0; part < 16; ++part) {
    std::int8_t own;
    std::memcpy(&own, block + 192 + part, 1);
    const float factor = scale * static_cast<float>(own);
    for (int i = 16 * part; i < 16 * part + 16; ++i) {
      const auto at = static_cast<std::size_t>(i);
      values[i] = factor * static_cast<float>((codes[at] | high[at] << 4) - 32);
    }
  }
}

template <typename One>
HWY_INLINE void each(const Byte* blocks, std::int64_t count, int bytes, int elements, float* values,
                     const One& one) {
  for (std::int64_t i = 0; i < count; ++i) one(blocks + i * bytes, values + i * elements);
}

void dequantize(std::uint32_t type, const Byte* blocks, std::int64_t count, int bytes, int elements,
                float* values) {
  switch (type) {
#define SARDONYX_DEQUANTIZE(number, name, block_elements, block_bytes, function) \
  case number:                                                                   \
    return each(blocks, count, bytes, elements, values, function);
    SARDONYX_GGML_BLOCKS(SARDONYX_DEQUANTIZE)
#undef SARDONYX_DEQUANTIZE
    default:
      HWY_ABORT("no type of blocks: %u", type);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
namespace {

HWY_EXPORT(dequantize);

#define SARDONYX_BLOCK(number, name, elements, bytes, function) \
  GgmlBlock{number, name, elements, bytes},
constexpr std::array kBlocks = {SARDONYX_GGML_BLOCKS(SARDONYX_BLOCK)};
#undef SARDONYX_BLOCK

}  // namespace

std::span<const GgmlBlock> ggml_blocks() { return kBlocks; }

const GgmlBlock* ggml_block(std::uint32_t type) {
  const auto* const found = std::ranges::find(kBlocks, type, &GgmlBlock::type);
  return found == kBlocks.end() ? nullptr : found;
}

const GgmlBlock* ggml_block(std::string_view name) {
  const auto* const found = std::ranges::find(kBlocks, name, &GgmlBlock::name);
  return found == kBlocks.end() ? nullptr : found;
}

void dequantize_blocks(const GgmlBlock& block, const std::byte* blocks, std::int64_t count,
                       float* values) {
  HWY_DYNAMIC_DISPATCH(dequantize)
  (block.type, reinterpret_cast<const std::uint8_t*>(blocks), count, block.bytes, block.elements,
   values);
}

}  // namespace sardonyx::kernels
#endif  // HWY_ONCE
