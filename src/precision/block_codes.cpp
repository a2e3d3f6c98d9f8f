#include "precision/block_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "onnx/graph/tensor.h"

// The loops below are plain so that compilers make vector instructions of them; where these can be
// chosen as the program starts, they are.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SARDONYX_VECTORS __attribute__((target_clones("avx2,fma", "default")))
#else
#define SARDONYX_VECTORS
#endif

namespace sardonyx::precision {
namespace {

constexpr std::int64_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

// Blocks are multiples of as many; what is missing of the last is zero, which adds nothing.
inline float sum(const Lanes& lanes) {
  float total = 0;
  for (const float lane : lanes) total += lane;
  return total;
}

// To the nearest whole number, ties to even: adding this leaves no bits for a fraction. Of numbers
// below 2^22 only.
constexpr float kWhole = 12582912.0F;

struct Extremes {
  float low = 0, high = 0;
};

inline __attribute__((always_inline)) Extremes extremes(const float* x, std::int64_t n) {
  Lanes low{}, high{};
  for (std::int64_t i = 0; i < n; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const float value = x[i + lane];
      const auto at = static_cast<std::size_t>(lane);
      low[at] = value < low[at] ? value : low[at];
      high[at] = value > high[at] ? value : high[at];
    }
  return {*std::ranges::min_element(low), *std::ranges::max_element(high)};
}

inline __attribute__((always_inline)) bool finite(const float* x, std::int64_t n) {
  Lanes zeros{};
  for (std::int64_t i = 0; i < n; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      zeros[static_cast<std::size_t>(lane)] += x[i + lane] * 0.0F;
  return sum(zeros) == 0.0F;
}

// How much of the squares codes of this scale leave no error in, and the scale that does best with
// them.
struct Fit {
  float gain = 0, scale = 0;
};

inline __attribute__((always_inline)) Fit fit(const float* x, std::int64_t n, float scale,
                                              float lowest, float highest) {
  const float inverse = 1.0F / scale;
  Lanes products{}, squares{};
  for (std::int64_t i = 0; i < n; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      float code = x[i + lane] * inverse;
      code = code < lowest ? lowest : code;
      code = code > highest ? highest : code;
      code = (code + kWhole) - kWhole;
      products[at] += x[i + lane] * code;
      squares[at] += code * code;
    }
  const float product = sum(products), square = sum(squares);
  if (!(square > 0)) return {};
  return {product / square * product, product / square};
}

// Where a code stands for zero, and the step between codes.
struct Choice {
  float scale = 0;
  int zero_point = 0;
};

Choice by_extremes(const Extremes& found, const BlockForm& form) {
  if (form.symmetric) {
    // The extreme gets the lowest code, which reaches one step further than the highest.
    const float extreme = -found.low > found.high ? found.low : found.high;
    return {extreme / static_cast<float>(-form.middle()), form.middle()};
  }
  const float step = (found.high - found.low) / static_cast<float>(form.highest());
  if (!(step > 0)) return {0, form.middle()};
  const auto zero = static_cast<int>(std::lround(-found.low / step));
  return {step, std::clamp(zero, 0, form.highest())};
}

// Steps that are tried, as parts of what the extremes give. Codes of 8 bits are fine enough for
// few.
constexpr std::array kParts4 = {1.0F, 0.96F, 0.92F, 0.88F, 0.84F, 0.8F, 0.75F, 1.06F};
constexpr std::array kParts8 = {1.0F, 0.98F};

template <std::size_t count>
inline __attribute__((always_inline)) void try_parts(const float* x, std::int64_t n, float scale,
                                                     int zero, const BlockForm& form,
                                                     const std::array<float, count>& parts,
                                                     float& gain, Choice& best) {
  const auto lowest = static_cast<float>(-zero);
  const auto highest = static_cast<float>(form.highest() - zero);
  for (const float part : parts) {
    const Fit found = fit(x, n, scale * part, lowest, highest);
    if (!(found.gain > gain)) continue;
    gain = found.gain;
    best = {found.scale, zero};
  }
}

inline __attribute__((always_inline)) Choice searched(const float* x, std::int64_t n,
                                                      const Choice& first, const BlockForm& form) {
  Choice best = first;
  float gain = 0;
  const auto with = [&](float scale, int zero) __attribute__((always_inline)) {
    if (form.bits == 8) {
      try_parts(x, n, scale, zero, form, kParts8, gain, best);
    } else {
      try_parts(x, n, scale, zero, form, kParts4, gain, best);
    }
  };
  with(first.scale, first.zero_point);
  if (form.symmetric) {
    // The other way round the extreme gets the highest code.
    with(-first.scale * static_cast<float>(form.middle()) / static_cast<float>(form.middle() - 1),
         first.zero_point);
  } else if (form.bits == 4) {
    if (first.zero_point > 0) with(first.scale, first.zero_point - 1);
    if (first.zero_point < form.highest()) with(first.scale, first.zero_point + 1);
  }
  return best;
}

// The step of which all weights of a block are multiples, as they are where they were coded in
// fewer bits before (GPTQ, AWQ): its codes lose nothing. The smallest weight is a few steps, and
// each count of them is tried; what stands on no grid is seen at the first weights.
bool on_grid(const float* x, std::int64_t n, const Extremes& found, const BlockForm& form,
             Choice& choice) {
  float least = std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < n; ++i)
    if (const float size = std::abs(x[i]); size > 0 && size < least) least = size;
  const auto highest = static_cast<float>(form.highest());
  for (int count = 1; count <= form.highest(); ++count) {
    const float step = least / static_cast<float>(count);
    if (!(found.high - found.low <= step * highest)) return false;
    const auto is_multiple = [step](float weight) {
      return std::nearbyint(weight / step) * step == weight;
    };
    if (!std::all_of(x, x + n, is_multiple)) continue;
    const auto low = static_cast<int>(std::lround(found.low / step));
    const auto high = static_cast<int>(std::lround(found.high / step));
    const int zero = form.symmetric ? form.middle() : std::clamp(-low, 0, form.highest());
    if (low >= -zero && high <= form.highest() - zero) {
      choice = {step, zero};
      return true;
    }
    if (form.symmetric && high <= zero && -low <= form.highest() - zero) {
      choice = {-step, zero};
      return true;
    }
  }
  return false;
}

float stored(float scale, base::DType dtype) {
  if (dtype == base::DType::kFloat32) return scale;
  std::array<std::byte, 8> bytes{};
  onnx::store_real(dtype, scale, bytes.data());
  return static_cast<float>(onnx::load_real(dtype, bytes.data()));
}

inline __attribute__((always_inline)) CodingError code(const float* x, std::int64_t n,
                                                       const BlockScale& by, const BlockForm& form,
                                                       std::uint8_t* codes) {
  const float inverse = by.scale == 0 ? 0.0F : 1.0F / by.scale;
  const auto zero = static_cast<float>(by.zero_point);
  const float lowest = -zero, highest = static_cast<float>(form.highest()) - zero;
  Lanes differences{}, weights{}, largest{};
  for (std::int64_t i = 0; i < n; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      const float weight = x[i + lane];
      float code = weight * inverse;
      code = code < lowest ? lowest : code;
      code = code > highest ? highest : code;
      code = (code + kWhole) - kWhole;
      codes[i + lane] = static_cast<std::uint8_t>(static_cast<std::int32_t>(code + zero));
      const float difference = std::abs(weight - code * by.scale);
      differences[at] += difference * difference;
      weights[at] += weight * weight;
      largest[at] = difference > largest[at] ? difference : largest[at];
    }
  return {sum(differences), sum(weights), *std::ranges::max_element(largest)};
}

inline __attribute__((always_inline)) CodingError code_block(const float* x, std::int64_t n,
                                                             const BlockForm& form,
                                                             std::uint8_t* codes,
                                                             BlockScale& scale) {
  if (!finite(x, n)) {
    std::fill_n(codes, n, static_cast<std::uint8_t>(form.middle()));
    scale = {std::numeric_limits<float>::quiet_NaN(), static_cast<std::uint8_t>(form.middle() - 1)};
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    return {unknown, unknown, unknown};
  }
  const Extremes found = extremes(x, n);
  Choice choice = by_extremes(found, form);
  if (form.search && choice.scale != 0 && !(form.bits == 4 && on_grid(x, n, found, form, choice)))
    choice = searched(x, n, choice, form);
  scale = {stored(choice.scale, form.scale), static_cast<std::uint8_t>(choice.zero_point)};
  return code(x, n, scale, form, codes);
}

}  // namespace

double CodingError::relative() const {
  return weights == 0 && squares == 0 ? 0 : std::sqrt(squares / weights);
}

void CodingError::add(const CodingError& other) {
  squares += other.squares;
  weights += other.weights;
  largest = std::isnan(other.largest) ? other.largest : std::max(largest, other.largest);
}

SARDONYX_VECTORS
CodingError code_blocks(const float* weights, std::int64_t rows, std::int64_t columns,
                        const BlockForm& form, std::uint8_t* codes, BlockScale* scales) {
  constexpr std::int64_t kLongest = 256;
  alignas(64) std::array<float, kLongest> padded;
  alignas(64) std::array<std::uint8_t, kLongest> padded_codes;
  CodingError error;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t from = 0; from < columns; from += form.size) {
      const std::int64_t at = row * columns + from;
      const std::int64_t n = std::min(form.size, columns - from);
      if (n == form.size) {
        error.add(code_block(weights + at, n, form, codes + at, *scales++));
        continue;
      }
      padded.fill(0);
      std::copy_n(weights + at, n, padded.begin());
      error.add(code_block(padded.data(), form.size, form, padded_codes.data(), *scales++));
      std::copy_n(padded_codes.begin(), n, codes + at);
    }
  }
  return error;
}

}  // namespace sardonyx::precision
