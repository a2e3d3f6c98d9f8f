#include "quantization/statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::quantization {
namespace {

constexpr int kFixedBits = 40;
// Larger sums are not told apart from this one; nothing overflows.
constexpr double kMaxSum = 0x1p80;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result;
}

// In lanes, which do not wait for one another.
double sum_of(std::span<const float> elements) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= elements.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += elements[i + lane];
  for (; i < elements.size(); ++i) sums[0] += elements[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

void ChannelSums::add(std::span<const float> elements, std::int64_t channels, std::int64_t inner) {
  const auto count = static_cast<std::size_t>(channels);
  if (sums_.empty()) sums_.resize(count);
  if (sums_.size() != count || count == 0 || inner == 0) return;
  std::vector<double> sums(count);
  const std::size_t length = static_cast<std::size_t>(inner);
  for (std::size_t at = 0; at < elements.size(); at += count * length) {
    if (length == 1) {
      for (std::size_t channel = 0; channel < count; ++channel)
        sums[channel] += elements[at + channel];
      continue;
    }
    for (std::size_t channel = 0; channel < count; ++channel)
      sums[channel] += sum_of(elements.subspan(at + channel * length, length));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double sum = std::isfinite(sums[i]) ? std::clamp(sums[i], -kMaxSum, kMaxSum) : 0;
    sums_[i] += static_cast<Fixed>(std::nearbyint(std::ldexp(sum, kFixedBits)));
  }
  count_ += elements.size() / count;
}

void ChannelSums::merge(const ChannelSums& other) {
  if (other.sums_.empty()) return;
  if (sums_.empty()) {
    *this = other;
    return;
  }
  if (sums_.size() != other.sums_.size())
    base::fail("SX1832", "files of statistics have other numbers of channels",
               "calibrate the same model for all of them");
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  count_ += other.count_;
}

std::vector<double> ChannelSums::means() const {
  std::vector<double> means;
  for (const Fixed sum : sums_)
    means.push_back(std::ldexp(static_cast<double>(sum), -kFixedBits) /
                    static_cast<double>(std::max<std::uint64_t>(count_, 1)));
  return means;
}

std::string ChannelSums::to_json() const {
  std::string sums;
  for (const Fixed sum : sums_) {
    const auto bits = static_cast<unsigned __int128>(sum);
    sums += fmt::format("{}\"{:016x}{:016x}\"", sums.empty() ? "" : ",",
                        static_cast<std::uint64_t>(bits >> 64U), static_cast<std::uint64_t>(bits));
  }
  return fmt::format("{{\"count\":{},\"sums\":[{}]}}", count_, sums);
}

ChannelSums ChannelSums::of(std::uint64_t count, std::span<const std::string_view> sums) {
  ChannelSums result;
  for (const std::string_view text : sums) {
    unsigned __int128 bits = 0;
    for (const char c : text) {
      const int digit = c >= 'a' ? c - 'a' + 10 : c - '0';
      bits = (bits << 4U) | static_cast<unsigned>(digit & 15);
    }
    result.sums_.push_back(static_cast<Fixed>(bits));
  }
  result.count_ = count;
  return result;
}

void Statistics::add(const std::string& name, std::span<const float> elements,
                     std::span<const std::int64_t> dims, std::int64_t axis) {
  ValueStatistics& value = values_[name];
  value.histogram.add(elements);
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size())) return;
  std::int64_t inner = 1;
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
  value.channels.add(elements, dims[static_cast<std::size_t>(axis)], inner);
}

void Statistics::merge(const Statistics& other) {
  const bool same_names = std::ranges::equal(
      values_, other.values_, {}, [](const auto& each) { return each.first; },
      [](const auto& each) { return each.first; });
  if (!same_names)
    base::fail("SX1832", "files of statistics are of other models, or for other targets",
               "calibrate the same model, with the same options, for all of them");
  for (auto& [name, value] : values_) {
    const ValueStatistics& more = other.values_.at(name);
    value.histogram.merge(more.histogram);
    value.channels.merge(more.channels);
  }
  samples_ += other.samples_;
}

const ValueStatistics* Statistics::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Statistics::to_json() const {
  std::string text = fmt::format(
      "{{\"sardonyx\":\"statistics\",\"version\":1,\"samples\":{},\"values\":{{", samples_);
  bool is_first = true;
  for (const auto& [name, value] : values_) {
    const Histogram& histogram = value.histogram;
    text += fmt::format(
        "{}\n\"{}\":{{\"min\":{},\"max\":{},\"zeros\":{},\"not_finite\":{},\"counts\":[{}]",
        is_first ? "" : ",", escaped(name), histogram.min(), histogram.max(), histogram.zeros(),
        histogram.not_finite(), fmt::join(histogram.counts(), ","));
    if (value.channels.channels() != 0) text += ",\"channels\":" + value.channels.to_json();
    text += "}";
    is_first = false;
  }
  return text + "\n}}\n";
}

}  // namespace sardonyx::quantization
