#include "kernels/cast_vectors.h"

#include <array>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cast_vectors.cpp"
#include <hwy/foreach_target.h>
// Behind the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Signed = hn::RebindToSigned<Floats>;
template <typename T>
using Narrow = hn::Rebind<T, Floats>;

constexpr Floats kFloats;
constexpr Words kWords;
constexpr Signed kSigned;

using FloatVector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;

HWY_INLINE WordVector word(std::uint32_t bits) { return hn::Set(kWords, bits); }

// Of numbers below 2^31.
HWY_INLINE hn::Mask<Words> is_greater(WordVector a, std::uint32_t b) {
  const auto found =
      hn::Gt(hn::BitCast(kSigned, a), hn::Set(kSigned, static_cast<std::int32_t>(b)));
  return hn::RebindMask(kWords, found);
}

// Calls run(at) for each vector of `count` elements, and run() of what is left, in a vector that is
// filled up with zeros.
template <typename From, typename To, typename Convert>
HWY_INLINE void convert_all(const std::byte* from, std::byte* to, std::size_t count,
                            const Convert& convert) {
  const std::size_t lanes = hn::Lanes(kFloats);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    convert(reinterpret_cast<const From*>(from + i * sizeof(From)),
            reinterpret_cast<To*>(to + i * sizeof(To)));
  if (i == count) return;
  alignas(64) std::array<From, hn::MaxLanes(kFloats)> source{};
  alignas(64) std::array<To, hn::MaxLanes(kFloats)> result{};
  std::memcpy(source.data(), from + i * sizeof(From), (count - i) * sizeof(From));
  convert(source.data(), result.data());
  std::memcpy(to + i * sizeof(To), result.data(), (count - i) * sizeof(To));
}

HWY_INLINE WordVector load_halves(const std::uint16_t* from) {
  return hn::PromoteTo(kWords, hn::LoadU(Narrow<std::uint16_t>(), from));
}

HWY_INLINE void store_word(WordVector words, std::uint16_t* to) {
  hn::StoreU(hn::DemoteTo(Narrow<std::uint16_t>(), hn::BitCast(kSigned, words)),
             Narrow<std::uint16_t>(), to);
}
HWY_INLINE void store_word(WordVector words, std::uint8_t* to) {
  hn::StoreU(hn::DemoteTo(Narrow<std::uint8_t>(), hn::BitCast(kSigned, words)),
             Narrow<std::uint8_t>(), to);
}

HWY_INLINE void store_float(WordVector bits, float* to) {
  hn::StoreU(hn::BitCast(kFloats, bits), kFloats, to);
}

void from_float16(const std::byte* from, std::span<float> to) {
  convert_all<std::uint16_t, float>(
      from, reinterpret_cast<std::byte*>(to.data()), to.size(),
      [](const std::uint16_t* source, float* result) HWY_ATTR {
        const WordVector half = load_halves(source);
        const WordVector magnitude = hn::And(half, word(0x7fffU));
        const WordVector sign = hn::ShiftLeft<16>(hn::And(half, word(0x8000U)));
        const WordVector normal = hn::Add(hn::ShiftLeft<13>(magnitude), word(112U << 23));
        // Below the normal numbers of float16 the steps are 2^-24. As integers, since a processor
        // may be told to take such numbers of float32 for zero.
        const FloatVector steps = hn::ConvertTo(kFloats, hn::BitCast(kSigned, magnitude));
        const WordVector small = hn::BitCast(kWords, hn::Mul(steps, hn::Set(kFloats, 0x1p-24F)));
        WordVector bits = hn::IfThenElse(is_greater(magnitude, 0x3ffU), normal, small);
        bits = hn::IfThenElse(is_greater(magnitude, 0x7bffU), word(0x7f800000U), bits);
        bits = hn::Or(bits, sign);
        bits = hn::IfThenElse(is_greater(magnitude, 0x7c00U), word(0x7fc00000U), bits);
        store_float(bits, result);
      });
}

void from_bfloat16(const std::byte* from, std::span<float> to) {
  convert_all<std::uint16_t, float>(
      from, reinterpret_cast<std::byte*>(to.data()), to.size(),
      [](const std::uint16_t* source, float* result) HWY_ATTR {
        const WordVector bits = hn::ShiftLeft<16>(load_halves(source));
        const auto is_nan = is_greater(hn::And(bits, word(0x7fffffffU)), 0x7f800000U);
        store_float(hn::IfThenElse(is_nan, word(0x7fc00000U), bits), result);
      });
}

// A type of few bits: how many there are of either, by how much its exponent is biased, and what
// stands for what is too large, which `kNan` is for NaN. Where `kSignless`, zero and NaN have no
// sign.
template <typename Bits, int kExponent, int kMantissa, int kBias, std::uint32_t kMax,
          std::uint32_t kBeyond, std::uint32_t kNan, bool kSignless>
void to_small(std::span<const float> from, std::byte* to) {
  constexpr int kDrop = 23 - kMantissa;
  constexpr int kSign = static_cast<int>(sizeof(Bits)) * 8 - 1;
  convert_all<float, Bits>(
      reinterpret_cast<const std::byte*>(from.data()), to, from.size(),
      [](const float* source, Bits* result) HWY_ATTR {
        const FloatVector value = hn::LoadU(kFloats, source);
        const WordVector bits = hn::BitCast(kWords, value);
        const WordVector magnitude = hn::And(bits, word(0x7fffffffU));
        // Rounding adds half of what is cut off, less one where that leaves an even number; it may
        // carry into the exponent.
        const WordVector odd = hn::And(hn::ShiftRight<kDrop>(magnitude), word(1));
        const WordVector rebased =
            hn::Sub(magnitude, word((127U - static_cast<std::uint32_t>(kBias)) << 23));
        const WordVector normal =
            hn::ShiftRight<kDrop>(hn::Add(hn::Add(rebased, word((1U << (kDrop - 1)) - 1U)), odd));
        // The steps of numbers from this one on are those below the normal numbers of the type.
        constexpr std::uint32_t kSteps = static_cast<std::uint32_t>(127 + 1 - kBias + kDrop) << 23;
        const FloatVector steps = hn::BitCast(kFloats, word(kSteps));
        const FloatVector size = hn::BitCast(kFloats, magnitude);
        const WordVector small = hn::Sub(hn::BitCast(kWords, hn::Add(size, steps)), word(kSteps));
        constexpr std::uint32_t kLeastNormal = static_cast<std::uint32_t>(127 + 1 - kBias) << 23;
        WordVector coded = hn::IfThenElse(is_greater(magnitude, kLeastNormal - 1), normal, small);
        coded = hn::IfThenElse(is_greater(coded, kMax), word(kBeyond), coded);
        coded = hn::IfThenElse(is_greater(magnitude, 0x7f800000U), word(kNan), coded);
        WordVector sign = hn::And(hn::ShiftRight<31 - kSign>(bits), word(1U << kSign));
        if constexpr (kSignless)
          sign = hn::IfThenElseZero(is_greater(coded, 0), hn::AndNot(coded, sign));
        store_word(hn::Or(coded, sign), result);
      });
}

void to_bfloat16(std::span<const float> from, std::byte* to) {
  convert_all<float, std::uint16_t>(
      reinterpret_cast<const std::byte*>(from.data()), to, from.size(),
      [](const float* source, std::uint16_t* result) HWY_ATTR {
        const WordVector bits = hn::BitCast(kWords, hn::LoadU(kFloats, source));
        const WordVector odd = hn::And(hn::ShiftRight<16>(bits), word(1));
        const WordVector rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, word(0x7fffU)), odd));
        const auto is_nan = is_greater(hn::And(bits, word(0x7fffffffU)), 0x7f800000U);
        const WordVector nan =
            hn::Or(hn::And(hn::ShiftRight<16>(bits), word(0x8000U)), word(0x7fc0U));
        store_word(hn::IfThenElse(is_nan, nan, rounded), result);
      });
}

void to_float16(std::span<const float> from, std::byte* to) {
  to_small<std::uint16_t, 5, 10, 15, 0x7bffU, 0x7c00U, 0x7e00U, false>(from, to);
}
void to_e4m3fn(std::span<const float> from, std::byte* to) {
  to_small<std::uint8_t, 4, 3, 7, 0x7eU, 0x7fU, 0x7fU, false>(from, to);
}
void to_e4m3fnuz(std::span<const float> from, std::byte* to) {
  to_small<std::uint8_t, 4, 3, 8, 0x7fU, 0x80U, 0x80U, true>(from, to);
}
void to_e5m2(std::span<const float> from, std::byte* to) {
  to_small<std::uint8_t, 5, 2, 15, 0x7bU, 0x7cU, 0x7eU, false>(from, to);
}
void to_e5m2fnuz(std::span<const float> from, std::byte* to) {
  to_small<std::uint8_t, 5, 2, 16, 0x7fU, 0x80U, 0x80U, true>(from, to);
}

// Plain loops: the compiler vectorizes them.
void widen(std::span<const float> from, double* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<double>(from[i]);
}
void narrow(std::span<const double> from, float* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
namespace {

HWY_EXPORT(from_float16);
HWY_EXPORT(from_bfloat16);
HWY_EXPORT(to_float16);
HWY_EXPORT(to_bfloat16);
HWY_EXPORT(to_e4m3fn);
HWY_EXPORT(to_e4m3fnuz);
HWY_EXPORT(to_e5m2);
HWY_EXPORT(to_e5m2fnuz);
HWY_EXPORT(widen);
HWY_EXPORT(narrow);

}  // namespace

void float16_to_floats(const std::byte* data, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(from_float16)(data, values);
}
void bfloat16_to_floats(const std::byte* data, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(from_bfloat16)(data, values);
}
void floats_to_float16(std::span<const float> values, std::byte* data) {
  HWY_DYNAMIC_DISPATCH(to_float16)(values, data);
}
void floats_to_bfloat16(std::span<const float> values, std::byte* data) {
  HWY_DYNAMIC_DISPATCH(to_bfloat16)(values, data);
}
void floats_to_float8_e4m3fn(std::span<const float> values, std::byte* data) {
  HWY_DYNAMIC_DISPATCH(to_e4m3fn)(values, data);
}
void floats_to_float8_e4m3fnuz(std::span<const float> values, std::byte* data) {
  HWY_DYNAMIC_DISPATCH(to_e4m3fnuz)(values, data);
}
void floats_to_float8_e5m2(std::span<const float> values, std::byte* data) {
  HWY_DYNAMIC_DISPATCH(to_e5m2)(values, data);
}
void floats_to_float8_e5m2fnuz(std::span<const float> values, std::byte* data) {
  HWY_DYNAMIC_DISPATCH(to_e5m2fnuz)(values, data);
}
void floats_to_doubles(std::span<const float> values, double* result) {
  HWY_DYNAMIC_DISPATCH(widen)(values, result);
}
void doubles_to_floats(std::span<const double> values, float* result) {
  HWY_DYNAMIC_DISPATCH(narrow)(values, result);
}

}  // namespace sardonyx::kernels
#endif  // HWY_ONCE
