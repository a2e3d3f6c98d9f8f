#include "viewer/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/dtype.h"
#include "kernels/element.h"

namespace sardonyx::viewer {
namespace {

using onnx::Tensor;

constexpr std::int64_t kMaxComputed = std::int64_t{1} << 20;  // elements of what is not in memory
constexpr std::int64_t kMaxSample = std::int64_t{1} << 18;
constexpr std::int64_t kPiece = 4096;  // neighbors: pages of a mapped file are read whole
constexpr std::int64_t kMaxValues = 16;

std::vector<double> sample_of_memory(const Tensor& tensor, std::int64_t count) {
  std::vector<double> sample;
  const std::int64_t width = tensor.byte_count() / count;
  const std::int64_t pieces = count <= kMaxSample ? 1 : kMaxSample / kPiece;
  const std::int64_t length = count <= kMaxSample ? count : kPiece;
  sample.reserve(static_cast<std::size_t>(pieces * length));
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t begin = pieces == 1 ? 0 : piece * ((count - length) / (pieces - 1));
    for (std::int64_t i = begin; i < begin + length; ++i)
      sample.push_back(kernels::load_real(tensor.dtype, tensor.data + i * width));
  }
  return sample;
}

std::optional<std::vector<double>> elements(const Tensor& tensor) {
  const std::int64_t count = tensor.element_count();
  if (tensor.is_materialized() && tensor.contiguous() && tensor.data != nullptr &&
      base::bit_width(tensor.dtype) >= 8 && !base::is_complex(tensor.dtype))
    return sample_of_memory(tensor, count);
  return count > kMaxComputed ? std::nullopt : tensor.reals();
}

std::vector<std::string> texts(const Tensor& tensor, const std::vector<double>& reals) {
  std::vector<std::string> values;
  if (const auto ints = tensor.ints()) {
    for (const std::int64_t each : *ints) values.push_back(std::to_string(each));
  } else {
    for (const double each : reals) values.push_back(fmt::format("{:.6g}", each));
  }
  return values;
}

void count_kinds(const std::vector<double>& sample, Statistics& found) {
  double sum = 0;
  std::int64_t finite = 0;
  for (const double each : sample) {
    found.zeros += each == 0 ? 1 : 0;
    found.nans += std::isnan(each) ? 1 : 0;
    found.infinities += std::isinf(each) ? 1 : 0;
    if (!std::isfinite(each)) continue;
    found.min = finite == 0 ? each : std::min(found.min, each);
    found.max = finite == 0 ? each : std::max(found.max, each);
    sum += each;
    ++finite;
  }
  found.mean = finite == 0 ? 0 : sum / static_cast<double>(finite);
}

void add_histogram(const std::vector<double>& sample, Statistics& found) {
  double squares = 0;
  std::int64_t finite = 0;
  const double range = found.max - found.min;
  for (const double each : sample) {
    if (!std::isfinite(each)) continue;
    squares += (each - found.mean) * (each - found.mean);
    ++finite;
    // The range of large numbers may be no number.
    const double place = range > 0 && std::isfinite(range) ? (each - found.min) / range : 0;
    const auto bin = static_cast<std::size_t>(place * Statistics::kBins);
    ++found.histogram[std::min(bin, Statistics::kBins - 1)];
  }
  found.deviation = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
}

}  // namespace

std::optional<Statistics> statistics_of(const Tensor& tensor) {
  const std::int64_t count = tensor.element_count();
  if (count == 0 || tensor.missing || tensor.dtype == base::DType::kString) return std::nullopt;
  const auto sample = elements(tensor);
  if (!sample || sample->empty()) return std::nullopt;
  Statistics found;
  found.elements = count;
  found.looked_at = static_cast<std::int64_t>(sample->size());
  if (count <= kMaxValues) found.values = texts(tensor, *sample);
  count_kinds(*sample, found);
  add_histogram(*sample, found);
  return found;
}

}  // namespace sardonyx::viewer
