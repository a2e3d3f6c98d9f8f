// How the elements of a tensor are distributed, from data that arrive in parts. Parts in any order,
// and in any number of processes, give the same histogram, to the last bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sardonyx::quantization {

// Bins are [i * 2^exponent, (i + 1) * 2^exponent). The exponent is the least one that covers all
// elements with kMaxBins bins, so it depends on the extremes alone; two neighboring bins become one
// where it grows.
class Histogram {
 public:
  static constexpr std::int64_t kMaxBins = 2048;

  void add(std::span<const float> elements);
  void merge(const Histogram& other);

  // Of finite elements; 0 where there are none.
  float min() const { return count_ == 0 ? 0 : min_; }
  float max() const { return count_ == 0 ? 0 : max_; }
  std::uint64_t count() const { return count_; }
  std::uint64_t zeros() const { return zeros_; }            // elements that are exactly zero
  std::uint64_t not_finite() const { return not_finite_; }  // NaN and infinities, which no bin has
  int exponent() const { return exponent_; }
  std::int64_t first() const { return first_; }  // the number of the first bin
  const std::vector<std::uint64_t>& counts() const { return counts_; }

  // What a file has of it. Throws SX1832 where the fields contradict each other.
  struct Fields {
    float min = 0, max = 0;
    std::uint64_t zeros = 0, not_finite = 0;
    std::vector<std::uint64_t> counts;
  };
  static Histogram of(Fields fields);

 private:
  void cover(float low, float high);

  float min_ = 0, max_ = 0;
  std::uint64_t count_ = 0, zeros_ = 0, not_finite_ = 0;
  int exponent_ = 0;
  std::int64_t first_ = 0;
  std::vector<std::uint64_t> counts_;
};

}  // namespace sardonyx::quantization
