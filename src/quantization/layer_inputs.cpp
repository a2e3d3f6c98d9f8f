#include "quantization/layer_inputs.h"

#include <algorithm>

#include "quantization/ir_names.h"

namespace sardonyx::quantization {
namespace {

constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // of 2^64

std::vector<std::int64_t> ints_or(const onnx::Node* node, const char* name, std::size_t size,
                                  std::int64_t value) {
  const std::vector<std::int64_t>* ints = node->ints(name);
  return ints != nullptr && ints->size() == size ? *ints : std::vector<std::int64_t>(size, value);
}

}  // namespace

LayerInputs::LayerInputs(const Layer& layer) : is_convolution_(layer.node->is(Op::kConv)) {
  const onnx::Node* node = layer.node;
  is_sampled_ = !node->is(Op::kConvTranspose);
  if (!is_convolution_) return;
  const std::vector<std::int64_t>& dims = layer.weight->constant->dims;
  kernel_.assign(dims.begin() + 2, dims.end());
  strides_ = ints_or(node, "strides", kernel_.size(), 1);
  dilations_ = ints_or(node, "dilations", kernel_.size(), 1);
  pads_ = ints_or(node, "pads", kernel_.size() * 2, 0);
  const std::string padding = node->string_or("auto_pad", "NOTSET");
  is_sampled_ = padding == "NOTSET" || padding == "VALID";
}

void LayerInputs::add(std::span<const float> elements, std::span<const std::int64_t> dims,
                      std::size_t count) {
  if (!is_sampled_ || elements.empty() || dims.empty()) return;
  count = places_of_next(count);
  if (!is_convolution_) {
    columns_ = static_cast<std::size_t>(dims.back());
    const std::size_t places = elements.size() / columns_;
    const std::size_t taken = std::min(count, places);
    for (std::size_t i = 0; i < taken; ++i) {
      const auto row = elements.subspan(place(i, taken, places) * columns_, columns_);
      rows_.insert(rows_.end(), row.begin(), row.end());
    }
    thin_out();
    return;
  }
  if (dims.size() != kernel_.size() + 2) return;
  std::vector<std::int64_t> results;
  std::int64_t places = dims[0];
  for (std::size_t i = 0; i < kernel_.size(); ++i) {
    const std::int64_t extent = (kernel_[i] - 1) * dilations_[i] + 1;
    const std::int64_t free = dims[i + 2] + pads_[i] + pads_[i + kernel_.size()] - extent;
    if (free < 0) return;
    results.push_back(free / strides_[i] + 1);
    places *= results.back();
  }
  const std::size_t taken = std::min(count, static_cast<std::size_t>(places));
  for (std::size_t i = 0; i < taken; ++i) {
    const std::size_t at = place(i, taken, static_cast<std::size_t>(places));
    add_patch(elements, dims, static_cast<std::int64_t>(at), results);
  }
  thin_out();
}

std::size_t LayerInputs::places_of_next(std::size_t count) {
  const std::size_t tensors = std::max<std::size_t>(step_ / std::max<std::size_t>(count, 1), 1);
  return tensors_++ % tensors == 0 ? (count + step_ - 1) / step_ : 0;
}

// Which one of two rows: neighbors are of different parts of a tensor, so that always the first one
// would be of the same part.
void LayerInputs::thin_out() {
  while (rows() > std::clamp(kMaxElements / columns_, kMinRows, kMaxRows)) {
    const std::size_t count = (rows() + 1) / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t second = (i * kGoldenRatio) >> 63U;
      const std::size_t row = std::min(2 * i + second, rows() - 1);
      std::copy_n(&rows_[row * columns_], columns_, &rows_[i * columns_]);
    }
    rows_.resize(count * columns_);
    step_ *= 2;
  }
}

// One of so many parts of the places, and somewhere within it: the same places of each tensor would
// be on an edge of the pictures, or at the beginning of the texts.
std::size_t LayerInputs::place(std::size_t part, std::size_t parts, std::size_t places) {
  const std::size_t begin = part * places / parts, end = (part + 1) * places / parts;
  const std::uint64_t within = (taken_++ * kGoldenRatio >> 32) * (end - begin) >> 32;
  return begin + static_cast<std::size_t>(within);
}

void LayerInputs::add_patch(std::span<const float> elements, std::span<const std::int64_t> dims,
                            std::int64_t place, std::span<const std::int64_t> results) {
  const std::size_t axes = kernel_.size();
  std::vector<std::int64_t> begin(axes), at(axes);
  for (std::size_t i = axes; i-- > 0; place /= results[i])
    begin[i] = place % results[i] * strides_[i] - pads_[i];
  std::int64_t size = 1, taps = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    size *= dims[i + 2];
    taps *= kernel_[i];
  }
  const std::int64_t channels = dims[1];
  const std::size_t first = rows_.size();
  columns_ = static_cast<std::size_t>(channels * taps);
  rows_.resize(first + columns_);
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    std::int64_t rest = tap, offset = 0, stride = 1;
    bool is_inside = true;
    for (std::size_t i = axes; i-- > 0; rest /= kernel_[i]) {
      at[i] = begin[i] + rest % kernel_[i] * dilations_[i];
      is_inside &= at[i] >= 0 && at[i] < dims[i + 2];
      offset += at[i] * stride;
      stride *= dims[i + 2];
    }
    if (!is_inside) continue;
    for (std::int64_t channel = 0; channel < channels; ++channel)
      rows_[first + static_cast<std::size_t>(channel * taps + tap)] =
          elements[static_cast<std::size_t>((place * channels + channel) * size + offset)];
  }
}

}  // namespace sardonyx::quantization
