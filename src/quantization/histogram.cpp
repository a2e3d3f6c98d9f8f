#include "quantization/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::quantization {
namespace {

// A bin is no narrower than what float32 tells apart at the largest magnitude.
constexpr int kFloatBits = 24;
constexpr int kLeastExponent = -149;

std::int64_t bin_of(double element, int exponent) {
  return static_cast<std::int64_t>(std::floor(std::ldexp(element, -exponent)));
}

// Rounded down, as floor() does. Bins are no narrower than what float32 tells apart, so that their
// numbers have 25 bits at most.
std::int32_t bin_of(double place) {
  const auto bin = static_cast<std::int32_t>(place);
  return bin - (static_cast<double>(bin) > place ? 1 : 0);
}

int exponent_for(float low, float high) {
  const double largest = std::max(std::abs(static_cast<double>(low)), std::abs(double{high}));
  int exponent = kLeastExponent;
  if (largest > 0) exponent = std::max(exponent, std::ilogb(largest) - kFloatBits);
  while (bin_of(high, exponent) - bin_of(low, exponent) >= Histogram::kMaxBins) ++exponent;
  return exponent;
}

struct Extremes {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  std::uint64_t finite = 0, zeros = 0;
};

// Eight at a time, which compilers make vectors of.
Extremes extremes(std::span<const float> elements) {
  constexpr std::size_t kLanes = 8;
  constexpr float kLargest = std::numeric_limits<float>::max();
  std::array<float, kLanes> low{}, high{};
  std::array<std::uint32_t, kLanes> finite{}, zeros{};
  low.fill(std::numeric_limits<float>::infinity());
  high.fill(-std::numeric_limits<float>::infinity());
  Extremes found;
  const auto look = [&](float value, std::size_t lane) {
    const bool is_finite = std::abs(value) <= kLargest;
    low[lane] = is_finite && value < low[lane] ? value : low[lane];
    high[lane] = is_finite && value > high[lane] ? value : high[lane];
    finite[lane] += is_finite ? 1U : 0U;
    zeros[lane] += value == 0 ? 1U : 0U;
  };
  std::size_t i = 0;
  for (; i + kLanes <= elements.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) look(elements[i + lane], lane);
  for (; i < elements.size(); ++i) look(elements[i], 0);
  found.low = *std::ranges::min_element(low);
  found.high = *std::ranges::max_element(high);
  found.finite = std::accumulate(finite.begin(), finite.end(), std::uint64_t{0});
  found.zeros = std::accumulate(zeros.begin(), zeros.end(), std::uint64_t{0});
  return found;
}

[[noreturn]] void refuse() {
  base::fail("SX1832", "a file of statistics has a histogram that contradicts itself",
             "write it again with `sardonyx calibrate`");
}

}  // namespace

// Bins for the range as well as for what there is.
void Histogram::cover(float low, float high) {
  if (count_ != 0) {
    low = std::min(low, min_);
    high = std::max(high, max_);
  }
  const int exponent = exponent_for(low, high);
  const std::int64_t first = bin_of(low, exponent), last = bin_of(high, exponent);
  if (count_ == 0 || exponent != exponent_ || first != first_ ||
      last - first + 1 != static_cast<std::int64_t>(counts_.size())) {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(last - first + 1));
    // An arithmetic shift rounds down, as floor() does.
    const int shift = std::min(exponent - exponent_, 63);
    for (std::size_t i = 0; count_ != 0 && i < counts_.size(); ++i) {
      const std::int64_t bin = (first_ + static_cast<std::int64_t>(i)) >> shift;
      counts[static_cast<std::size_t>(bin - first)] += counts_[i];
    }
    counts_ = std::move(counts);
    exponent_ = exponent;
    first_ = first;
  }
  min_ = low + 0.0F;
  max_ = high + 0.0F;
}

void Histogram::add(std::span<const float> elements) {
  const Extremes found = extremes(elements);
  not_finite_ += elements.size() - found.finite;
  if (found.finite == 0) return;
  cover(found.low, found.high);
  count_ += found.finite;
  zeros_ += found.zeros;
  const double per_bin = std::ldexp(1.0, -exponent_);
  // Equal elements follow each other, and each addition would wait for the one before.
  constexpr std::size_t kTables = 4;
  std::array<std::vector<std::uint32_t>, kTables> tables;
  for (auto& table : tables) table.resize(counts_.size());
  // As loops of their own, which compilers make vectors of.
  constexpr std::size_t kPart = 1024;
  std::array<std::int32_t, kPart> bins;
  const bool all_finite = found.finite == elements.size();
  const auto first = static_cast<std::int32_t>(first_);
  for (std::size_t begin = 0; begin < elements.size(); begin += kPart) {
    const std::span<const float> part =
        elements.subspan(begin, std::min(kPart, elements.size() - begin));
    std::size_t count = part.size();
    if (all_finite) {
      for (std::size_t i = 0; i < count; ++i) bins[i] = bin_of(part[i] * per_bin);
    } else {
      count = 0;
      for (const float element : part)
        if (std::isfinite(element)) bins[count++] = bin_of(element * per_bin);
    }
    for (std::size_t i = 0; i < count; ++i)
      ++tables[i % kTables][static_cast<std::size_t>(bins[i] - first)];
  }
  for (const auto& table : tables)
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += table[i];
}

void Histogram::merge(const Histogram& other) {
  not_finite_ += other.not_finite_;
  if (other.count_ == 0) return;
  cover(other.min_, other.max_);
  const int shift = std::min(exponent_ - other.exponent_, 63);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) {
    const std::int64_t bin = (other.first_ + static_cast<std::int64_t>(i)) >> shift;
    counts_[static_cast<std::size_t>(bin - first_)] += other.counts_[i];
  }
  count_ += other.count_;
  zeros_ += other.zeros_;
}

Histogram Histogram::of(Fields fields) {
  Histogram result;
  result.not_finite_ = fields.not_finite;
  if (fields.counts.empty()) return result;
  if (!std::isfinite(fields.min) || !std::isfinite(fields.max) || fields.min > fields.max) refuse();
  result.cover(fields.min, fields.max);
  if (fields.counts.size() != result.counts_.size()) refuse();
  result.counts_ = std::move(fields.counts);
  result.count_ = std::accumulate(result.counts_.begin(), result.counts_.end(), std::uint64_t{0});
  result.zeros_ = fields.zeros;
  if (result.count_ == 0 || result.zeros_ > result.count_) refuse();
  return result;
}

}  // namespace sardonyx::quantization
