#include "precision/block_quantizer.h"

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
// small changes.
constexpr int kTries = 8;
using Tries [[gnu::vector_size(kTries * sizeof(float))]] = float;
constexpr Tries kParts4 = {1.0F, 0.96F, 0.92F, 0.88F, 0.84F, 0.8F, 0.75F, 1.06F};
constexpr Tries kParts8 = {1.0F, 0.995F, 0.99F, 0.985F, 0.98F, 0.97F, 0.96F, 1.01F};

// The step that leaves the least error of those that are tried and of what each makes better: codes
// by a step, and then the step that does best with them. `gain` is how much of the squares of the
// weights have no error.
//
// All steps are tried together, a lane each, so that nothing is added across lanes; every other
// weight has sums of its own, since each sum waits for the one before.
inline __attribute__((always_inline)) void try_parts(const float* x, std::int64_t n, float scale,
                                                     int zero, const BlockForm& form, float& gain,
                                                     Choice& best) {
  const auto lowest = static_cast<float>(-zero);
  const auto highest = static_cast<float>(form.highest() - zero);
  const Tries& parts = form.bits == 8 ? kParts8 : kParts4;
  const Tries inverse = 1.0F / (scale * parts);
  Tries products{}, squares{}, other_products{}, other_squares{};
  const auto add = [&](float weight, Tries& product, Tries& square) __attribute__((always_inline)) {
    Tries code = weight * inverse;
    code = code < lowest ? Tries{} + lowest : code;
    code = code > highest ? Tries{} + highest : code;
    code = (code + kWhole) - kWhole;
    product += weight * code;
    square += code * code;
  };
  for (std::int64_t i = 0; i < n; i += 2) {
    add(x[i], products, squares);
    add(x[i + 1], other_products, other_squares);
  }
  products += other_products;
  squares += other_squares;
  for (int at = 0; at < kTries; ++at) {
    const float product = products[at], square = squares[at];
    if (!(square > 0) || !(product / square * product > gain)) continue;
    gain = product / square * product;
    best = {product / square, zero};
  }
}

inline __attribute__((always_inline)) Choice searched(const float* x, std::int64_t n,
                                                      const Choice& first, const BlockForm& form) {
  Choice best = first;
  float gain = 0;
  const auto with = [&](float scale, int zero) __attribute__((always_inline)) {
    try_parts(x, n, scale, zero, form, gain, best);
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

// Of the weights that are not zero; infinity where all are.
inline __attribute__((always_inline)) float least_size(const float* x, std::int64_t n) {
  Lanes least;
  least.fill(std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < n; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      float size = std::abs(x[i + lane]);
      size = size > 0 ? size : std::numeric_limits<float>::infinity();
      least[at] = size < least[at] ? size : least[at];
    }
  return *std::ranges::min_element(least);
}

// The step of which all weights of a block are multiples, as they are where they were coded in
// fewer bits before (GPTQ, AWQ): its codes lose nothing. The smallest weight is a few steps, and
// each count of them is tried; what stands on no grid is seen at the first weights.
inline __attribute__((always_inline)) bool on_grid(const float* x, std::int64_t n,
                                                   const Extremes& found, const BlockForm& form,
                                                   Choice& choice) {
  const float least = least_size(x, n);
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
