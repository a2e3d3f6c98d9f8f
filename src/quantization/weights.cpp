#include "quantization/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel_for.h"
#include "kernels/error_diffusion.h"
#include "kernels/scale_error.h"
#include "kernels/small_float.h"
#include "quantization/ir_names.h"
#include "quantization/weight_layout.h"

namespace sardonyx::quantization {
namespace {

float largest_of(std::span<const float> weights) {
  float largest = 0;
  for (const float weight : weights) largest = std::max(largest, std::abs(weight));
  return largest;
}

// In lanes, which do not wait for one another.
template <typename T>
double dot(std::span<const float> left, std::span<const T> right) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= left.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += double{left[i + lane]} * right[i + lane];
  for (; i < left.size(); ++i) sums[0] += double{left[i]} * right[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

float best_scale(std::span<const float> weights, float highest, const WeightForm& form) {
  const float widest = largest_of(weights) / highest;
  if (!(widest > std::numeric_limits<float>::min())) return 1;
  if (!form.search) return widest;
  float best = widest;
  double least = kernels::scale_error(weights, widest, highest);
  for (int percent = 96; percent >= 68; percent -= 4) {
    const float scale = widest * static_cast<float>(percent) / 100;
    const double error = kernels::scale_error(weights, scale, highest);
    if (error >= least) continue;
    least = error;
    best = scale;
  }
  return best;
}

// Samples of a group of inputs, less their means.
struct CenteredSamples {
  std::vector<float> values, norms;
  kernels::Samples view;

  CenteredSamples(const LayerInputs& inputs, std::size_t begin, std::size_t count,
                  std::span<const double> means) {
    values.reserve(count * inputs.rows());
    norms.resize(count);
    for (std::size_t row = 0; row < inputs.rows(); ++row) {
      const std::span<const float> elements = inputs.row(row).subspan(begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        const float value = elements[i] - static_cast<float>(means[begin + i]);
        values.push_back(value);
        norms[i] += value * value;
      }
    }
    damp(count, inputs.rows());
    view = {values.data(), inputs.rows(), count, norms.data()};
  }

 private:
  // Few samples do not tell what all inputs have in common: without this, an input that was hardly
  // ever there would make up for the others.
  void damp(std::size_t count, std::size_t rows) {
    constexpr double kDamping = 0.1;
    const double mean =
        std::accumulate(norms.begin(), norms.end(), 0.0) / static_cast<double>(count);
    const double rank = 1 + static_cast<double>(count) / static_cast<double>(rows);
    for (float& norm : norms) norm += static_cast<float>(kDamping * mean * rank);
  }
};

class Quantizing {
 public:
  Quantizing(const Layer& layer, const WeightForm& form, const LayerInputs* inputs)
      : layer_(layer),
        form_(form),
        inputs_(inputs != nullptr && inputs->rows() != 0 ? inputs : nullptr),
        layout_(layer.weight->constant->dims, layer.axis) {
    weights_ = layout_.by_channel(floats_of(*layer.weight->constant));
    highest_ = base::is_floating(form.dtype) ? 448 : static_cast<float>((1 << (form.bits - 1)) - 1);
  }

  QuantizedWeight run(const std::vector<float>& least_scales, const std::vector<double>& means) {
    find_scales(least_scales);
    find_means(means);
    const bool is_float8 = base::is_floating(form_.dtype);
    codes_.resize(weights_.size());
    result_.is_adaptive = !is_float8 && form_.adaptive && inputs_ != nullptr && fits_samples();
    if (result_.is_adaptive) {
      diffuse();
    } else {
      round();
    }
    return finish();
  }

 private:
  std::span<const float> channel(std::size_t c) const {
    return std::span(weights_).subspan(c * layout_.row(), layout_.row());
  }

  void find_scales(const std::vector<float>& least) {
    if (!form_.per_channel) {
      result_.scales = {best_scale(weights_, highest_, form_)};
    } else {
      result_.scales.resize(layout_.channels);
      in_blocks([&](std::size_t begin, std::size_t end) {
        for (std::size_t c = begin; c < end; ++c)
          result_.scales[c] = best_scale(channel(c), highest_, form_);
      });
    }
    for (std::size_t c = 0; c < result_.scales.size(); ++c) {
      float& scale = result_.scales[c];
      if (form_.per_channel && c < least.size()) scale = std::max(scale, least[c]);
      if (!form_.per_channel && !least.empty())
        scale = std::max(scale, *std::ranges::max_element(least));
      if (form_.power_of_two) scale = std::exp2(std::ceil(std::log2(scale)));
    }
  }
  float scale_of(std::size_t c) const { return result_.scales[form_.per_channel ? c : 0]; }

  std::size_t groups() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(layer_.node->int_or("group", 1), 1));
  }
  bool fits_samples() const {
    return inputs_->columns() == layout_.row() * groups() && layout_.channels % groups() == 0;
  }

  // The mean of each input of a product: of the samples, or else of its channel.
  void find_means(const std::vector<double>& channels) {
    if (inputs_ != nullptr) {
      means_.resize(inputs_->columns());
      for (std::size_t row = 0; row < inputs_->rows(); ++row)
        for (std::size_t i = 0; i < means_.size(); ++i) means_[i] += inputs_->row(row)[i];
      for (double& mean : means_) mean /= static_cast<double>(inputs_->rows());
      return;
    }
    if (channels.empty() || layer_.node->is(onnx::Op::kConvTranspose)) return;
    const std::size_t inputs = layout_.row() * groups(), taps = inputs / channels.size();
    if (taps * channels.size() != inputs) return;
    means_.resize(inputs);
    for (std::size_t i = 0; i < inputs; ++i) means_[i] = channels[i / taps];
  }

  template <typename Work>
  void in_blocks(const Work& work) const {
    const std::size_t threads = std::min(base::processors(), layout_.channels);
    base::run_on_threads(threads, [&](std::size_t thread) {
      work(layout_.channels * thread / threads, layout_.channels * (thread + 1) / threads);
    });
  }

  void diffuse() {
    const std::size_t of_group = layout_.channels / groups();
    std::vector<float> scales(layout_.channels);
    for (std::size_t c = 0; c < scales.size(); ++c) scales[c] = scale_of(c);
    for (std::size_t group = 0; group < groups(); ++group) {
      const CenteredSamples samples(*inputs_, group * layout_.row(), layout_.row(), means_);
      const std::size_t threads = std::min(base::processors(), of_group);
      base::run_on_threads(threads, [&](std::size_t thread) {
        const std::size_t begin = group * of_group + of_group * thread / threads,
                          end = group * of_group + of_group * (thread + 1) / threads;
        const std::size_t first = begin * layout_.row(), count = (end - begin) * layout_.row();
        kernels::diffuse_errors(std::span(weights_).subspan(first, count),
                                std::span(scales).subspan(begin, end - begin), samples.view,
                                -static_cast<int>(highest_), static_cast<int>(highest_),
                                std::span(codes_).subspan(first, count));
      });
    }
  }

  void round() {
    // To the nearest whole number: adding this leaves no bits for a fraction.
    constexpr float kWhole = 12582912.0F;
    const bool is_float8 = base::is_floating(form_.dtype);
    in_blocks([&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        const std::span<const float> weights = channel(c);
        std::int8_t* const codes = &codes_[c * layout_.row()];
        const float scale = scale_of(c);
        for (std::size_t i = 0; i < weights.size(); ++i) {
          const float code = std::clamp(weights[i] / scale, -highest_, highest_);
          codes[i] = static_cast<std::int8_t>(
              is_float8 ? static_cast<int>(kernels::encode_small_float(form_.dtype, code))
                        : static_cast<int>(code + kWhole - kWhole));
        }
      }
    });
  }

  // The weights of a channel as the codes have them.
  void restore(std::size_t c, std::span<float> restored) const {
    const std::int8_t* const codes = &codes_[c * layout_.row()];
    const float scale = scale_of(c);
    const bool is_float8 = base::is_floating(form_.dtype);
    for (std::size_t i = 0; i < restored.size(); ++i)
      restored[i] = scale * (is_float8 ? kernels::decode_small_float(
                                             form_.dtype, static_cast<std::uint8_t>(codes[i]))
                                       : static_cast<float>(codes[i]));
  }

  QuantizedWeight finish() {
    std::vector<double> errors(layout_.channels), squares(layout_.channels);
    if (!means_.empty()) result_.mean_changes.resize(layout_.channels);
    in_blocks([&](std::size_t begin, std::size_t end) {
      std::vector<float> restored(layout_.row());
      for (std::size_t c = begin; c < end; ++c) {
        restore(c, restored);
        const std::span<const float> weights = channel(c);
        const std::size_t first = c / (layout_.channels / groups()) * layout_.row();
        for (std::size_t i = 0; i < weights.size(); ++i) restored[i] -= weights[i];
        const std::span<const float> differences = restored;
        errors[c] = dot(differences, differences);
        squares[c] = dot(weights, weights);
        if (!means_.empty())
          result_.mean_changes[c] =
              dot(differences, std::span<const double>(means_).subspan(first, weights.size()));
      }
    });
    const double of_weights = std::accumulate(squares.begin(), squares.end(), 0.0);
    const double of_errors = std::accumulate(errors.begin(), errors.end(), 0.0);
    result_.relative_error = of_weights > 0 ? std::sqrt(of_errors / of_weights) : 0;
    const std::vector<std::int8_t> codes = layout_.as_it_was(std::move(codes_));
    result_.codes = onnx::Tensor::of_bytes(form_.dtype, layer_.weight->constant->dims,
                                           std::as_bytes(std::span(codes)));
    return std::move(result_);
  }

  const Layer& layer_;
  const WeightForm& form_;
  const LayerInputs* inputs_;
  WeightLayout layout_;
  float highest_;
  std::vector<float> weights_;
  std::vector<std::int8_t> codes_;
  std::vector<double> means_;
  QuantizedWeight result_;
};

}  // namespace

QuantizedWeight quantize_weight(const Layer& layer, const WeightForm& form,
                                const std::vector<float>& least_scales, const LayerInputs* inputs,
                                const std::vector<double>& means) {
  return Quantizing(layer, form, inputs).run(least_scales, means);
}

}  // namespace sardonyx::quantization
