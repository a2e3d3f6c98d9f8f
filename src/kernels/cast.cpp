#include "kernels/cast.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cast_vectors.h"
#include "kernels/element.h"
#include "kernels/small_float.h"

namespace sardonyx::kernels {
namespace {

using base::DType;

// Elements that are worked on at a time: what they are in between stays in the nearest cache.
constexpr std::size_t kRun = 2048;

template <typename T, typename Real>
void from_type(const std::byte* data, std::span<Real> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    values[i] = static_cast<Real>(value);
  }
}

// What a cast to a wider type and back leaves: NaNs of the half types lose sign and payload, those
// of float32 become quiet.
struct Float16Bits {
  using Word = std::uint16_t;
  static constexpr Word kMagnitude = 0x7FFF, kInfinity = 0x7C00;
  static Word nan(Word /*word*/) { return 0x7E00; }
};
struct BFloat16Bits {
  using Word = std::uint16_t;
  static constexpr Word kMagnitude = 0x7FFF, kInfinity = 0x7F80;
  static Word nan(Word /*word*/) { return 0x7FC0; }
};
struct Float32Bits {
  using Word = std::uint32_t;
  static constexpr Word kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000;
  static Word nan(Word word) { return word | 0x00400000; }
};

template <typename Bits>
void copy_with_plain_nans(const std::byte* data, std::byte* result, std::size_t count) {
  using Word = Bits::Word;
  for (std::size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof(Word), sizeof(Word));
    const bool is_nan = (word & Bits::kMagnitude) > Bits::kInfinity;
    word = is_nan ? Bits::nan(word) : word;
    std::memcpy(result + i * sizeof(Word), &word, sizeof(Word));
  }
}

// What each byte of a float8 stands for.
const std::array<float, 256>& table_of(DType float8) {
  static const auto make = [](DType dtype) {
    std::array<float, 256> table;
    for (std::uint32_t bits = 0; bits < table.size(); ++bits)
      table[bits] = decode_small_float(dtype, bits);
    return table;
  };
  static const std::array tables = {make(DType::kFloat8E4M3FN), make(DType::kFloat8E4M3FNUZ),
                                    make(DType::kFloat8E5M2), make(DType::kFloat8E5M2FNUZ)};
  static const std::array<float, 256> powers = make(DType::kFloat8E8M0);
  if (float8 == DType::kFloat8E8M0) return powers;
  return tables.at(static_cast<std::size_t>(float8) -
                   static_cast<std::size_t>(DType::kFloat8E4M3FN));
}

template <typename Real>
void from_float8(DType float8, const std::byte* data, std::span<Real> values) {
  const std::array<float, 256>& table = table_of(float8);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<Real>(table[std::to_integer<std::size_t>(data[i])]);
}

// Integers, a bool being 0 or 1.
template <typename Real>
void from_integers(DType from, const std::byte* data, std::span<Real> values) {
  switch (from) {
    case DType::kInt8:
      return from_type<std::int8_t>(data, values);
    case DType::kUInt8:
      return from_type<std::uint8_t>(data, values);
    case DType::kInt16:
      return from_type<std::int16_t>(data, values);
    case DType::kUInt16:
      return from_type<std::uint16_t>(data, values);
    case DType::kInt32:
      return from_type<std::int32_t>(data, values);
    case DType::kUInt32:
      return from_type<std::uint32_t>(data, values);
    case DType::kInt64:
      return from_type<std::int64_t>(data, values);
    case DType::kUInt64:
      return from_type<std::uint64_t>(data, values);
    default: {
      const std::size_t width = static_cast<std::size_t>(base::bit_width(from)) / 8;
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<Real>(load_real(from, data + i * width));
    }
  }
}

void to_others(DType to, std::span<const double> values, std::byte* data) {
  const std::size_t width = static_cast<std::size_t>(base::bit_width(to)) / 8;
  for (std::size_t i = 0; i < values.size(); ++i) store_real(to, values[i], data + i * width);
}

// By way of the other type of numbers, a run at a time.
template <typename Between, typename From, typename First, typename Second>
void by_way_of(std::span<From> values, std::byte* data, std::size_t width, const First& first,
               const Second& second) {
  std::array<Between, kRun> between;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), between.size());
    first(values.first(count), between.data());
    second(std::span<const Between>(between.data(), count), data);
    values = values.subspan(count);
    data += count * width;
  }
}

std::size_t width_of(DType dtype) { return static_cast<std::size_t>(base::bit_width(dtype)) / 8; }

}  // namespace

bool is_exact_in_float(DType dtype) {
  return dtype != DType::kFloat64 && base::bit_width(dtype) >= 8 && !base::is_complex(dtype) &&
         (base::is_floating(dtype) || base::bit_width(dtype) <= 16);
}

void to_floats(DType from, const std::byte* data, std::span<float> values) {
  if (values.empty()) return;
  switch (from) {
    case DType::kFloat32:
      std::memcpy(values.data(), data, values.size_bytes());
      return;
    case DType::kFloat16:
      return float16_to_floats(data, values);
    case DType::kBFloat16:
      return bfloat16_to_floats(data, values);
    default:
      if (is_float8(from)) return from_float8(from, data, values);
      if (is_exact_in_float(from)) return from_integers(from, data, values);
      std::array<double, kRun> wide;
      for (std::size_t at = 0; at < values.size(); at += wide.size()) {
        const std::size_t count = std::min(values.size() - at, wide.size());
        to_doubles(from, data + at * width_of(from), std::span(wide).first(count));
        doubles_to_floats(std::span(wide).first(count), &values[at]);
      }
  }
}

void to_doubles(DType from, const std::byte* data, std::span<double> values) {
  if (values.empty()) return;
  if (from == DType::kFloat64) {
    std::memcpy(values.data(), data, values.size_bytes());
  } else if (is_float8(from)) {
    from_float8(from, data, values);
  } else if (!base::is_floating(from)) {
    from_integers(from, data, values);
  } else {
    std::array<float, kRun> narrow;
    for (std::size_t at = 0; at < values.size(); at += narrow.size()) {
      const std::size_t count = std::min(values.size() - at, narrow.size());
      to_floats(from, data + at * width_of(from), std::span(narrow).first(count));
      floats_to_doubles(std::span(narrow).first(count), &values[at]);
    }
  }
}

void from_floats(DType to, std::span<const float> values, std::byte* data) {
  if (values.empty()) return;
  switch (to) {
    case DType::kFloat32:
      std::memcpy(data, values.data(), values.size_bytes());
      return;
    case DType::kFloat16:
      return floats_to_float16(values, data);
    case DType::kBFloat16:
      return floats_to_bfloat16(values, data);
    case DType::kFloat8E4M3FN:
      return floats_to_float8_e4m3fn(values, data);
    case DType::kFloat8E4M3FNUZ:
      return floats_to_float8_e4m3fnuz(values, data);
    case DType::kFloat8E5M2:
      return floats_to_float8_e5m2(values, data);
    case DType::kFloat8E5M2FNUZ:
      return floats_to_float8_e5m2fnuz(values, data);
    default:
      by_way_of<double>(
          values, data, width_of(to),
          [](std::span<const float> part, double* wide) { floats_to_doubles(part, wide); },
          [to](std::span<const double> wide, std::byte* at) { from_doubles(to, wide, at); });
  }
}

void from_doubles(DType to, std::span<const double> values, std::byte* data) {
  if (values.empty()) return;
  if (to == DType::kFloat64) {
    std::memcpy(data, values.data(), values.size_bytes());
  } else if (base::is_floating(to) && to != DType::kFloat8E8M0) {
    by_way_of<float>(
        values, data, width_of(to),
        [](std::span<const double> part, float* narrow) { doubles_to_floats(part, narrow); },
        [to](std::span<const float> narrow, std::byte* at) { from_floats(to, narrow, at); });
  } else {
    to_others(to, values, data);
  }
}

void cast(DType from, const std::byte* data, DType to, std::byte* result, std::size_t count) {
  if (from == to && base::is_integer(from)) {
    if (count > 0) std::memcpy(result, data, count * width_of(from));
    return;
  }
  if (from == to && from == DType::kFloat16)
    return copy_with_plain_nans<Float16Bits>(data, result, count);
  if (from == to && from == DType::kBFloat16)
    return copy_with_plain_nans<BFloat16Bits>(data, result, count);
  if (from == to && from == DType::kFloat32)
    return copy_with_plain_nans<Float32Bits>(data, result, count);
  const auto by_runs = [&]<typename Real>(const auto& load, const auto& store, Real /*type*/) {
    std::array<Real, kRun> values;
    for (std::size_t at = 0; at < count; at += values.size()) {
      const std::span<Real> run = std::span(values).first(std::min(values.size(), count - at));
      load(from, data + at * width_of(from), run);
      store(to, run, result + at * width_of(to));
    }
  };
  // No stop between where one side is float32 already; spans want it aligned.
  const auto is_aligned = [](const std::byte* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
  };
  if (to == DType::kFloat32 && from != to && is_exact_in_float(from) && is_aligned(result))
    return to_floats(from, data, {reinterpret_cast<float*>(result), count});
  if (from == DType::kFloat32 && from != to && is_aligned(data))
    return from_floats(to, {reinterpret_cast<const float*>(data), count}, result);
  if (is_exact_in_float(from) && from != to) {
    by_runs(to_floats, from_floats, float());
  } else {
    by_runs(to_doubles, from_doubles, double());
  }
}

}  // namespace sardonyx::kernels
