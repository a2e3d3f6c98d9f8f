#include "quantization/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/diagnostic.h"
#include "kernels/binning.h"

namespace sardonyx::quantization {
namespace {

// A bin is no narrower than what float32 tells apart at the largest magnitude.
constexpr int kFloatBits = 24;
constexpr int kLeastExponent = -149;

std::int64_t bin_of(double element, int exponent) {
  return static_cast<std::int64_t>(std::floor(std::ldexp(element, -exponent)));
}

int exponent_for(float low, float high) {
  const double largest = std::max(std::abs(static_cast<double>(low)), std::abs(double{high}));
  int exponent = kLeastExponent;
  if (largest > 0) exponent = std::max(exponent, std::ilogb(largest) - kFloatBits);
  while (bin_of(high, exponent) - bin_of(low, exponent) >= Histogram::kMaxBins) ++exponent;
  return exponent;
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
  const kernels::Extremes found = kernels::extremes(elements);
  not_finite_ += elements.size() - found.finite;
  if (found.finite == 0) return;
  cover(found.low, found.high);
  count_ += found.finite;
  zeros_ += found.zeros;
  // Equal elements follow each other, and each addition would wait for the one before.
  constexpr std::size_t kMaxTables = 4;
  constexpr std::size_t kPart = 1024;
  const std::size_t tables = elements.size() > kPart ? kMaxTables : 1;
  // The last one of each table is of elements that are not finite.
  const std::size_t length = counts_.size() + 1;
  const std::size_t apart = tables == 1 ? 0 : length;
  std::vector<std::uint32_t> counts(tables * length);
  std::array<std::int32_t, kPart> bins;
  const kernels::Binning binning{exponent_, static_cast<std::int32_t>(first_)};
  for (std::size_t begin = 0; begin < elements.size(); begin += kPart) {
    const auto part = elements.subspan(begin, std::min(kPart, elements.size() - begin));
    kernels::bins_of(part, binning, static_cast<std::int32_t>(counts_.size()), bins);
    const std::size_t in_turns = part.size() / kMaxTables * kMaxTables;
    for (std::size_t i = 0; i < in_turns; i += kMaxTables)
      for (std::size_t table = 0; table < kMaxTables; ++table)
        ++counts[table * apart + static_cast<std::size_t>(bins[i + table])];
    for (std::size_t i = in_turns; i < part.size(); ++i)
      ++counts[static_cast<std::size_t>(bins[i])];
  }
  for (std::size_t table = 0; table < tables; ++table)
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += counts[table * length + i];
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
