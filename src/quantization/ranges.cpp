#include "quantization/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quantization/ir_names.h"

namespace sardonyx::quantization {
namespace {

constexpr double kLargestFloat8 = 448;  // of float8e4m3fn

double levels_of(const Form& form) {
  return static_cast<double>(base::integer_max(form.dtype) - base::integer_min(form.dtype));
}

// Sums over bins up to each bin: what lies beyond a bound is a difference of two of them.
class Sums {
 public:
  explicit Sums(const Histogram& histogram)
      : width_(std::ldexp(1.0, histogram.exponent())), first_(histogram.first()) {
    double count = 0, sum = 0, squares = 0;
    for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
      auto in_bin = static_cast<double>(histogram.counts()[i]);
      if (first_ + static_cast<std::int64_t>(i) == 0)
        in_bin -= static_cast<double>(histogram.zeros());  // these are exact in every range
      const double x = center(i);
      counts_.push_back(count += in_bin);
      sums_.push_back(sum += in_bin * x);
      squares_.push_back(squares += in_bin * x * x);
    }
  }

  // Of bins above, or not above, the number of a bin: the sum of (x - bound)^2, and how many.
  struct Beyond {
    double error = 0, count = 0;
  };
  Beyond above(double bound) const {
    const std::int64_t bin = bin_of(bound);
    return beyond(part(counts_, bin, true), part(sums_, bin, true), part(squares_, bin, true),
                  bound);
  }
  Beyond below(double bound) const {
    const std::int64_t bin = bin_of(bound);
    return beyond(part(counts_, bin, false), part(sums_, bin, false), part(squares_, bin, false),
                  bound);
  }
  double count() const { return counts_.empty() ? 0 : counts_.back(); }

 private:
  double center(std::size_t i) const {
    return (static_cast<double>(first_ + static_cast<std::int64_t>(i)) + 0.5) * width_;
  }
  // The last bin whose center is not above the bound; may be out of the range on both sides.
  std::int64_t bin_of(double bound) const {
    return static_cast<std::int64_t>(std::floor(bound / width_ - 0.5)) - first_;
  }
  double part(const std::vector<double>& sums, std::int64_t bin, bool is_above) const {
    const auto size = static_cast<std::int64_t>(sums.size());
    const double up_to =
        bin < 0 || size == 0 ? 0 : sums[static_cast<std::size_t>(std::min(bin, size - 1))];
    return is_above ? (size == 0 ? 0 : sums.back() - up_to) : up_to;
  }
  static Beyond beyond(double count, double sum, double squares, double bound) {
    return {std::max(squares - 2 * bound * sum + bound * bound * count, 0.0), count};
  }

  double width_;
  std::int64_t first_;
  std::vector<double> counts_, sums_, squares_;
};

// The squared error of all elements: rounding is uniform within a step.
double error_of(const Sums& sums, Range range, double levels) {
  const double step = (range.high - range.low) / levels;
  const Sums::Beyond above = sums.above(range.high);
  const Sums::Beyond below = range.low < 0 ? sums.below(range.low) : Sums::Beyond{};
  const double inside = std::max(sums.count() - above.count - below.count, 0.0);
  return inside * step * step / 12 + above.error + below.error;
}

// Each bound in its turn, on ever finer grids around the best one.
Range least_error(const Histogram& histogram, Range widest, const Form& form) {
  const Sums sums(histogram);
  const double levels = levels_of(form);
  Range best = widest;
  double least = error_of(sums, best, levels);
  const auto attempt = [&](Range range) {
    const double error = error_of(sums, range, levels);
    if (error < least) {
      least = error;
      best = range;
    }
  };
  constexpr int kSteps = 200;
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 1; i < kSteps; ++i) {
      const double part = static_cast<double>(i) / kSteps;
      if (form.symmetric) {
        attempt({widest.low * part, widest.high * part});
        continue;
      }
      attempt({best.low, widest.high * part});
      if (widest.low < 0) attempt({widest.low * part, best.high});
    }
    if (form.symmetric) break;
  }
  return best;
}

// The bound that leaves no more than a part of the elements of one sign beyond it.
double quantile(const Histogram& histogram, bool positive, double part) {
  const double width = std::ldexp(1.0, histogram.exponent());
  const auto size = static_cast<std::int64_t>(histogram.counts().size());
  std::uint64_t all = 0;
  const auto is_of_side = [&](std::int64_t i) { return (histogram.first() + i >= 0) == positive; };
  for (std::int64_t i = 0; i < size; ++i)
    if (is_of_side(i)) all += histogram.counts()[static_cast<std::size_t>(i)];
  const double most = static_cast<double>(all) * (1 - part);
  double beyond = 0;
  for (std::int64_t n = 0; n < size; ++n) {
    const std::int64_t i = positive ? size - 1 - n : n;
    if (!is_of_side(i)) break;
    beyond += static_cast<double>(histogram.counts()[static_cast<std::size_t>(i)]);
    if (beyond > most)
      return static_cast<double>(histogram.first() + i + (positive ? 1 : 0)) * width;
  }
  return 0;
}

// Magnitudes, in bins of the histogram's width.
std::vector<double> magnitudes(const Histogram& histogram) {
  std::vector<double> counts;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    const std::int64_t bin = histogram.first() + static_cast<std::int64_t>(i);
    const auto at = static_cast<std::size_t>(bin >= 0 ? bin : -bin - 1);
    if (counts.size() <= at) counts.resize(at + 1);
    counts[at] += static_cast<double>(histogram.counts()[i]);
  }
  // Zeros are exact, and would be most of what there is.
  if (!counts.empty()) counts[0] -= static_cast<double>(histogram.zeros());
  return counts;
}

// The divergence of the first `size` bins, with what is beyond them added to the last one, from the
// same after they were joined to `levels` bins.
double divergence(const std::vector<double>& counts, std::size_t size, std::size_t levels,
                  double beyond, double all) {
  double result = 0;
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * size / levels, end = (level + 1) * size / levels;
    double sum = 0, used = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += counts[i];
      used += counts[i] > 0 || (i + 1 == size && beyond > 0) ? 1 : 0;
    }
    if (used == 0) continue;
    const double after = std::max(sum / used, 1e-4);
    for (std::size_t i = begin; i < end; ++i) {
      const double before = counts[i] + (i + 1 == size ? beyond : 0);
      if (before > 0) result += before / all * std::log(before / after);
    }
  }
  return result;
}

double least_divergence(const Histogram& histogram, std::size_t levels) {
  const std::vector<double> counts = magnitudes(histogram);
  double all = 0;
  for (const double count : counts) all += count;
  std::size_t best = counts.size();
  double least = std::numeric_limits<double>::infinity();
  double beyond = 0;
  constexpr std::size_t kStride = 8;
  for (std::size_t size = counts.size(); size >= levels && all > 0; --size) {
    if (size < counts.size()) beyond += counts[size];
    if ((counts.size() - size) % kStride != 0) continue;
    // The elements within are rounded by a step that shrinks with the range.
    const double found = divergence(counts, size, levels, beyond, all);
    if (found < least) {
      least = found;
      best = size;
    }
  }
  return static_cast<double>(best) * std::ldexp(1.0, histogram.exponent());
}

}  // namespace

Range range_of(const Histogram& histogram, const Form& form, const RangeOptions& options) {
  Range widest{std::min(0.0, double{histogram.min()}), std::max(0.0, double{histogram.max()})};
  if (form.symmetric) {
    widest.high = std::max(-widest.low, widest.high);
    widest.low = -widest.high;
  }
  if (widest.high == widest.low || base::is_floating(form.dtype)) return widest;
  Range range = widest;
  switch (options.method) {
    case Method::kMinMax:
      break;
    case Method::kPercentile:
      range = {quantile(histogram, false, options.percentile / 100),
               quantile(histogram, true, options.percentile / 100)};
      if (form.symmetric) range.high = std::max(-range.low, range.high);
      break;
    case Method::kMse:
      return least_error(histogram, widest, form);
    case Method::kEntropy: {
      // Of one sign, all levels are on its side.
      const bool both = widest.low < 0 && widest.high > 0;
      const double bound = least_divergence(histogram, both ? 128 : 256);
      range = {-bound, bound};
      break;
    }
  }
  range = {std::max(range.low, widest.low), std::min(range.high, widest.high)};
  if (form.symmetric) range.low = -range.high;
  return range.high > range.low ? range : widest;
}

Parameters parameters_of(Range range, const Form& form) {
  Parameters result;
  result.dtype = form.dtype;
  if (base::is_floating(form.dtype)) {
    result.scale = static_cast<float>(std::max(-range.low, range.high) / kLargestFloat8);
    if (!(result.scale > 0)) result.scale = 1;
    return result;
  }
  const std::int64_t lowest = base::integer_min(form.dtype),
                     highest = base::integer_max(form.dtype);
  const bool is_signed = lowest < 0;
  double scale = (range.high - range.low) / static_cast<double>(highest - lowest);
  if (form.symmetric && is_signed) scale = range.high / static_cast<double>(highest);
  if (!(scale > std::numeric_limits<float>::min())) scale = 1;
  if (form.power_of_two) scale = std::exp2(std::ceil(std::log2(scale)));
  result.scale = static_cast<float>(scale);
  if (form.symmetric) {
    result.zero_point = is_signed ? 0 : highest / 2 + 1;
  } else {
    const double zero = std::nearbyint(static_cast<double>(lowest) - range.low / scale);
    result.zero_point = static_cast<std::int64_t>(
        std::clamp(zero, static_cast<double>(lowest), static_cast<double>(highest)));
  }
  return result;
}

}  // namespace sardonyx::quantization
