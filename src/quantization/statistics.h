// What calibration keeps of the values of a model: a file that several of them merge into.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quantization/histogram.h"

namespace sardonyx::quantization {

// Sums over channels that do not depend on the order of the samples: multiples of 2^-40.
class ChannelSums {
 public:
  // A tensor as [outer, channels, inner].
  void add(std::span<const float> elements, std::int64_t channels, std::int64_t inner);
  // Throws SX1832 for another number of channels.
  void merge(const ChannelSums& other);

  std::int64_t channels() const { return static_cast<std::int64_t>(sums_.size()); }
  std::vector<double> means() const;

  std::string to_json() const;
  static ChannelSums of(std::uint64_t count, std::span<const std::string_view> sums);

 private:
  __extension__ using Fixed = __int128;

  std::vector<Fixed> sums_;
  std::uint64_t count_ = 0;  // elements of each channel
};

struct ValueStatistics {
  Histogram histogram;
  ChannelSums channels;  // empty where nobody asks for them
};

class Statistics {
 public:
  // `axis` is that of the channels, if there is one; negative: none.
  void add(const std::string& name, std::span<const float> elements,
           std::span<const std::int64_t> dims, std::int64_t axis);
  void count_sample() { ++samples_; }
  std::uint64_t samples() const { return samples_; }
  // Throws SX1832 where the other ones are of other values.
  void merge(const Statistics& other);
  const ValueStatistics* find(const std::string& name) const;
  const std::map<std::string, ValueStatistics>& values() const { return values_; }

  // Sorted by name; numbers that are read back are the same.
  std::string to_json() const;
  // Throws SX1832 for what is no such file.
  static Statistics of_json(std::string_view json);

 private:
  std::uint64_t samples_ = 0;
  std::map<std::string, ValueStatistics> values_;
};

}  // namespace sardonyx::quantization
