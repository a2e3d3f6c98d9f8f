#include "kernels/block_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block_vectors.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Weights are looked at sixteen at a time, whatever a vector holds: sums are the same everywhere.
constexpr std::size_t kLanes = 16;
using Floats = hn::CappedTag<float, kLanes>;
using Words = hn::RebindToUnsigned<Floats>;
using Signed = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;
using Shorts = hn::Rebind<std::int16_t, Floats>;
using FloatVector = hn::Vec<Floats>;

constexpr Floats kFloats;
constexpr Words kWords;
constexpr Signed kSigned;
constexpr Shorts kShorts;
constexpr std::size_t kAtOnce = hn::MaxLanes(kFloats);
constexpr std::size_t kVectors = kLanes / kAtOnce;

// To the nearest whole number, ties to even: adding this leaves no bits for a fraction. Of numbers
// below 2^22 only.
constexpr float kWhole = 12582912.0F;

struct Extremes {
  float low = 0, high = 0;  // zero is among them
  bool is_finite = true;
};

HWY_INLINE Extremes extremes(const float* x, std::size_t n) {
  FloatVector low = hn::Zero(kFloats), high = hn::Zero(kFloats), rest = hn::Zero(kFloats);
  for (std::size_t i = 0; i < n; i += kAtOnce) {
    const FloatVector value = hn::LoadU(kFloats, x + i);
    low = hn::Min(low, value);
    high = hn::Max(high, value);
    // Zero, and NaN where there is no number.
    rest = hn::Or(rest, hn::Sub(value, value));
  }
  // Zeros have one sign, whichever of two the processor took.
  Extremes found;
  found.low = hn::GetLane(hn::MinOfLanes(kFloats, low)) + 0.0F;
  found.high = hn::GetLane(hn::MaxOfLanes(kFloats, high)) + 0.0F;
  found.is_finite = hn::AllTrue(kWords, hn::Eq(hn::BitCast(kWords, rest), hn::Zero(kWords)));
  return found;
}

// Where a code stands for zero, and the step between codes.
struct Choice {
  float scale = 0;
  int zero_point = 0;
};

HWY_INLINE Choice by_extremes(const Extremes& found, const BlockForm& form) {
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
constexpr std::size_t kTries = 8;
using Tries = std::array<float, kTries>;
constexpr Tries kParts4 = {1.0F, 0.96F, 0.92F, 0.88F, 0.84F, 0.8F, 0.75F, 1.06F};
constexpr Tries kParts8 = {1.0F, 0.995F, 0.99F, 0.985F, 0.98F, 0.97F, 0.96F, 1.01F};

// Weights times their codes by the step of each lane, summed, and the squares of these codes.
template <typename Tag>
struct TrySums {
  hn::Vec<Tag> products, squares;
};

// Every other weight has sums of its own, since each sum waits for the one before.
template <typename Tag>
HWY_INLINE TrySums<Tag> sum_tries(Tag tag, const float* x, std::size_t n, hn::Vec<Tag> inverse,
                                  float lowest, float highest) {
  using Vector = hn::Vec<Tag>;
  const Vector low = hn::Set(tag, lowest), high = hn::Set(tag, highest);
  const Vector whole = hn::Set(tag, kWhole);
  const auto code_of = [&](Vector weight) HWY_ATTR {
    const Vector code = hn::Min(hn::Max(hn::Mul(weight, inverse), low), high);
    return hn::Sub(hn::Add(code, whole), whole);
  };
  TrySums<Tag> even{hn::Zero(tag), hn::Zero(tag)}, odd = even;
  for (std::size_t i = 0; i < n; i += 2) {
    const Vector weight = hn::Set(tag, x[i]), other = hn::Set(tag, x[i + 1]);
    const Vector code = code_of(weight), other_code = code_of(other);
    even.products = hn::Add(even.products, hn::Mul(weight, code));
    even.squares = hn::Add(even.squares, hn::Mul(code, code));
    odd.products = hn::Add(odd.products, hn::Mul(other, other_code));
    odd.squares = hn::Add(odd.squares, hn::Mul(other_code, other_code));
  }
  return {hn::Add(even.products, odd.products), hn::Add(even.squares, odd.squares)};
}

// Weights as whole numbers, the largest at the ends of 16 bits, for a search in 16 bits: twice the
// lanes of float32, and no sum depends on an order.
struct WholeWeights {
  alignas(64) std::array<std::int16_t, kLargestBlock> values;
  float unit = 0;  // what 1 stands for
};

// Codes are looked for with so many bits behind the point.
constexpr int kFraction = 10;

// Nothing where the weights are too small for a unit.
HWY_INLINE bool to_whole(const float* x, std::size_t n, const Extremes& found,
                         WholeWeights& weights) {
  const float by = 32767.0F / std::max(-found.low, found.high);
  if (!std::isfinite(by)) return false;
  weights.unit = 1.0F / by;
  const FloatVector factor = hn::Set(kFloats, by), whole = hn::Set(kFloats, kWhole);
  for (std::size_t i = 0; i < n; i += kAtOnce) {
    const FloatVector value =
        hn::Sub(hn::Add(hn::Mul(hn::LoadU(kFloats, x + i), factor), whole), whole);
    hn::StoreU(hn::DemoteTo(kShorts, hn::ConvertTo(kSigned, value)), kShorts, &weights.values[i]);
  }
  return std::isnormal(weights.unit);
}

// As sum_tries. `by` is what a weight is multiplied by for its code with `kFraction` bits behind
// the point, in parts of 2^15.
template <typename Tag>
HWY_INLINE TrySums<Tag> sum_whole(Tag tag, const WholeWeights& weights, std::size_t n,
                                  hn::Vec<Tag> by, int lowest, int highest) {
  constexpr int kHalf = 1 << (kFraction - 1);
#if HWY_TARGET == HWY_SCALAR
  const int factor = hn::GetLane(hn::NearestInt(by));
  int products = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const int weight = weights.values[i], fine = (weight * factor + (1 << 14)) >> 15;
    const int code = std::clamp((fine + kHalf) >> kFraction, lowest, highest);
    products += weight * code;
    squares += code * code;
  }
  return {hn::Set(tag, static_cast<float>(products)), hn::Set(tag, static_cast<float>(squares))};
#else
  // Each lane of 32 bits has a step, and two weights at once.
  constexpr hn::RebindToSigned<Tag> kSums;
  constexpr hn::RepartitionToNarrow<decltype(kSums)> kPairs;
  using Sum = hn::Vec<decltype(kSums)>;
  using Pairs = hn::Vec<decltype(kPairs)>;
  const Pairs low = hn::Set(kPairs, static_cast<std::int16_t>(lowest));
  const Pairs high = hn::Set(kPairs, static_cast<std::int16_t>(highest));
  const Pairs half = hn::Set(kPairs, static_cast<std::int16_t>(kHalf));
  const Sum word = hn::And(hn::NearestInt(by), hn::Set(kSums, 0xFFFF));
  const Pairs factor = hn::BitCast(kPairs, hn::Or(word, hn::ShiftLeft<16>(word)));
  // Some processors put sums of the second of a pair into vectors of their own.
  Sum products = hn::Zero(kSums), squares = products;
  Sum more_products = products, more_squares = products;
  for (std::size_t i = 0; i < n; i += 2) {
    std::int32_t two;
    std::memcpy(&two, &weights.values[i], sizeof two);
    const Pairs weight = hn::BitCast(kPairs, hn::Set(kSums, two));
    const Pairs fine = hn::Add(hn::MulFixedPoint15(weight, factor), half);
    const Pairs code = hn::Min(hn::Max(hn::ShiftRight<kFraction>(fine), low), high);
    products = hn::ReorderWidenMulAccumulate(kSums, weight, code, products, more_products);
    squares = hn::ReorderWidenMulAccumulate(kSums, code, code, squares, more_squares);
  }
  return {hn::ConvertTo(tag, hn::RearrangeToOddPlusEven(products, more_products)),
          hn::ConvertTo(tag, hn::RearrangeToOddPlusEven(squares, more_squares))};
#endif
}

// The step that leaves the least error of those that are tried and of what each makes better: codes
// by a step, and then the step that does best with them. `gain` is how much of the squares of the
// weights have no error, and `unit` what weights of 1 stand for in `sums_by`.
template <std::size_t kScales, typename SumsBy>
HWY_INLINE void try_parts(const std::array<float, kScales>& scales, int zero, const Tries& parts,
                          float unit, const SumsBy& sums_by, float& gain, Choice& best) {
  constexpr hn::CappedTag<float, kScales * kTries> kTag;
  using Vector = hn::Vec<decltype(kTag)>;
  alignas(64) std::array<float, kScales * kTries> steps;
  for (std::size_t at = 0; at < steps.size(); ++at)
    steps[at] = scales[at / kTries] * parts[at % kTries];
  for (std::size_t at = 0; at < steps.size(); at += hn::MaxLanes(kTag)) {
    const auto sums = sums_by(kTag, hn::LoadU(kTag, &steps[at]), zero);
    const Vector better = hn::Div(sums.products, sums.squares);
    const Vector gains =
        hn::IfThenElseZero(hn::Gt(sums.squares, hn::Zero(kTag)), hn::Mul(better, sums.products));
    const float most = hn::GetLane(hn::MaxOfLanes(kTag, gains));
    if (!(most > gain)) continue;
    gain = most;
    const std::size_t first = hn::FindKnownFirstTrue(kTag, hn::Eq(gains, hn::Set(kTag, most)));
    best = {hn::ExtractLane(better, first) * unit, zero};
  }
}

// `sums_by` gives the sums of tries by their steps and code of zero.
template <typename SumsBy>
HWY_INLINE Choice searched(const Choice& first, const BlockForm& form, const Tries& parts,
                           float unit, const SumsBy& sums_by) {
  Choice best = first;
  float gain = 0;
  if (form.symmetric) {
    // The other way round the extreme gets the highest code.
    const float other =
        -first.scale * static_cast<float>(form.middle()) / static_cast<float>(form.middle() - 1);
    try_parts<2>({first.scale, other}, first.zero_point, parts, unit, sums_by, gain, best);
    return best;
  }
  try_parts<1>({first.scale}, first.zero_point, parts, unit, sums_by, gain, best);
  if (form.bits == 8) return best;
  for (const int zero : {first.zero_point - 1, first.zero_point + 1})
    if (zero >= 0 && zero <= form.highest())
      try_parts<1>({first.scale}, zero, parts, unit, sums_by, gain, best);
  return best;
}

HWY_INLINE Choice searched(const float* x, std::size_t n, const Extremes& found,
                           const Choice& first, const BlockForm& form) {
  WholeWeights weights;
  if (form.bits == 4 && to_whole(x, n, found, weights)) {
    const auto sums_by = [&](auto tag, auto steps, int zero) HWY_ATTR {
      const auto one = hn::Set(tag, weights.unit * 32768.0F * (1 << kFraction));
      return sum_whole(tag, weights, n, hn::Div(one, steps), -zero, form.highest() - zero);
    };
    return searched(first, form, kParts4, weights.unit, sums_by);
  }
  const auto sums_by = [&](auto tag, auto steps, int zero) HWY_ATTR {
    return sum_tries(tag, x, n, hn::Div(hn::Set(tag, 1.0F), steps), static_cast<float>(-zero),
                     static_cast<float>(form.highest() - zero));
  };
  return searched(first, form, form.bits == 8 ? kParts8 : kParts4, 1.0F, sums_by);
}

// Of the weights that are not zero; infinity where all are.
HWY_INLINE float least_size(const float* x, std::size_t n) {
  const FloatVector infinity = hn::Set(kFloats, std::numeric_limits<float>::infinity());
  FloatVector least = infinity;
  for (std::size_t i = 0; i < n; i += kAtOnce) {
    const FloatVector size = hn::Abs(hn::LoadU(kFloats, x + i));
    least = hn::Min(least, hn::IfThenElse(hn::Gt(size, hn::Zero(kFloats)), size, infinity));
  }
  return hn::GetLane(hn::MinOfLanes(kFloats, least));
}

HWY_INLINE bool are_multiples(const float* x, std::size_t n, float step) {
  for (std::size_t i = 0; i < n; ++i)
    if (std::nearbyint(x[i] / step) * step != x[i]) return false;
  return true;
}

// The step that divides all weights of a block. There is one where the block was quantized before
// (GPTQ, AWQ), and its codes lose nothing. The smallest weight is a few steps, and
// each count of them is tried; what stands on no grid is seen at the first weights.
HWY_INLINE bool on_grid(const float* x, std::size_t n, const Extremes& found, const BlockForm& form,
                        Choice& choice) {
  const float least = least_size(x, n);
  const auto highest = static_cast<float>(form.highest());
  for (int count = 1; count <= form.highest(); ++count) {
    const float step = least / static_cast<float>(count);
    if (!(found.high - found.low <= step * highest)) return false;
    if (!are_multiples(x, n, step)) continue;
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

HWY_INLINE Choice choose(const float* x, std::size_t n, const BlockForm& form) {
  const Extremes found = extremes(x, n);
  if (!found.is_finite) return {std::numeric_limits<float>::quiet_NaN(), form.middle() - 1};
  Choice choice = by_extremes(found, form);
  if (form.search && choice.scale != 0 && !(form.bits == 4 && on_grid(x, n, found, form, choice)))
    choice = searched(x, n, found, choice, form);
  return choice;
}

void choose_all(const float* weights, std::int64_t blocks, const BlockForm& form, float* scales,
                std::uint8_t* zero_points) {
  const auto size = static_cast<std::size_t>(form.size);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Choice choice = choose(weights + block * form.size, size, form);
    scales[block] = choice.scale;
    zero_points[block] = static_cast<std::uint8_t>(choice.zero_point);
  }
}

struct Sums {
  // Vectors may have no size that the compiler knows, so that std::array cannot hold them.
  FloatVector differences[kVectors], weights[kVectors];  // NOLINT(modernize-avoid-c-arrays)
  FloatVector largest;
};

HWY_INLINE void clear(Sums& sums) {
  for (FloatVector& each : sums.differences) each = hn::Zero(kFloats);
  for (FloatVector& each : sums.weights) each = hn::Zero(kFloats);
  sums.largest = hn::Zero(kFloats);
}

HWY_INLINE void code_block(const float* x, std::size_t n, float by, std::uint8_t zero_point,
                           const BlockForm& form, std::uint8_t* codes, Sums& sums) {
  const FloatVector scale = hn::Set(kFloats, by);
  const FloatVector inverse = hn::Set(kFloats, by == 0 ? 0.0F : 1.0F / by);
  const auto zero = static_cast<float>(zero_point);
  const FloatVector lowest = hn::Set(kFloats, -zero), zeros = hn::Set(kFloats, zero);
  const FloatVector highest = hn::Set(kFloats, static_cast<float>(form.highest()) - zero);
  const FloatVector whole = hn::Set(kFloats, kWhole);
  for (std::size_t i = 0; i < n; i += kLanes)
    for (std::size_t at = 0; at < kVectors; ++at) {
      const FloatVector weight = hn::LoadU(kFloats, x + i + at * kAtOnce);
      const FloatVector bound = hn::Min(hn::Max(hn::Mul(weight, inverse), lowest), highest);
      const FloatVector code = hn::Sub(hn::Add(bound, whole), whole);
      hn::StoreU(hn::DemoteTo(Bytes(), hn::ConvertTo(kSigned, hn::Add(code, zeros))), Bytes(),
                 codes + i + at * kAtOnce);
      const FloatVector difference = hn::Abs(hn::Sub(weight, hn::Mul(code, scale)));
      sums.differences[at] = hn::Add(sums.differences[at], hn::Mul(difference, difference));
      sums.weights[at] = hn::Add(sums.weights[at], hn::Mul(weight, weight));
      sums.largest = hn::IfThenElse(hn::Gt(difference, sums.largest), difference, sums.largest);
    }
}

// Lanes of float64, since a float32 that has grown large takes no more of what is small.
struct Totals {
  std::array<double, kLanes> differences{}, weights{};
  double largest = 0;
};

HWY_INLINE void add(const Sums& sums, Totals& totals) {
  alignas(64) std::array<float, kLanes> differences, weights;
  for (std::size_t at = 0; at < kVectors; ++at) {
    hn::StoreU(sums.differences[at], kFloats, &differences[at * kAtOnce]);
    hn::StoreU(sums.weights[at], kFloats, &weights[at * kAtOnce]);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    totals.differences[lane] += static_cast<double>(differences[lane]);
    totals.weights[lane] += static_cast<double>(weights[lane]);
  }
  totals.largest = std::max(
      totals.largest, static_cast<double>(hn::GetLane(hn::MaxOfLanes(kFloats, sums.largest))));
}

CodingError code_all(const float* weights, std::int64_t blocks, const BlockForm& form,
                     const float* scales, const std::uint8_t* zero_points, std::uint8_t* codes) {
  // Blocks whose sums are float32: of 512 weights together.
  const std::int64_t together = std::max(std::int64_t{1}, 512 / form.size);
  Totals totals;
  bool is_number = true;
  for (std::int64_t first = 0; first < blocks; first += together) {
    Sums sums;
    clear(sums);
    for (std::int64_t block = first; block < std::min(blocks, first + together); ++block) {
      const std::int64_t at = block * form.size;
      if (!std::isnan(scales[block])) {
        code_block(weights + at, static_cast<std::size_t>(form.size), scales[block],
                   zero_points[block], form, codes + at, sums);
        continue;
      }
      std::fill_n(codes + at, form.size, static_cast<std::uint8_t>(form.middle()));
      is_number = false;
    }
    add(sums, totals);
  }
  if (!is_number) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    return {unknown, unknown, unknown};
  }
  CodingError error{0, 0, totals.largest};
  for (const double each : totals.differences) error.squares += each;
  for (const double each : totals.weights) error.weights += each;
  return error;
}

// Plain loops: the compiler vectorizes them.
void flip_all(std::span<const std::uint8_t> codes, std::uint8_t flip, std::byte* to) {
  for (std::size_t i = 0; i < codes.size(); ++i) to[i] = static_cast<std::byte>(codes[i] ^ flip);
}

void pack_all(std::span<const std::uint8_t> codes, std::uint8_t flip, std::byte* to) {
  const auto flips = static_cast<std::uint8_t>(flip | flip << 4);
  const std::uint8_t* const from = codes.data();
  for (std::size_t i = 0; i < codes.size() / 2; ++i) {
    std::uint16_t pair;
    std::memcpy(&pair, from + 2 * i, sizeof pair);  // the first in the low byte
    to[i] = static_cast<std::byte>((pair | pair >> 4) ^ flips);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
namespace {

HWY_EXPORT(choose_all);
HWY_EXPORT(code_all);
HWY_EXPORT(flip_all);
HWY_EXPORT(pack_all);

}  // namespace

void choose_scales(const float* weights, std::int64_t blocks, const BlockForm& form, float* scales,
                   std::uint8_t* zero_points) {
  HWY_DYNAMIC_DISPATCH(choose_all)(weights, blocks, form, scales, zero_points);
}
CodingError code_weights(const float* weights, std::int64_t blocks, const BlockForm& form,
                         const float* scales, const std::uint8_t* zero_points,
                         std::uint8_t* codes) {
  return HWY_DYNAMIC_DISPATCH(code_all)(weights, blocks, form, scales, zero_points, codes);
}
void flip_bytes(std::span<const std::uint8_t> codes, std::uint8_t flip, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(flip_all)(codes, flip, to);
}
void pack_pairs(std::span<const std::uint8_t> codes, std::uint8_t flip, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(pack_all)(codes, flip, to);
}

}  // namespace sardonyx::kernels
#endif  // HWY_ONCE
