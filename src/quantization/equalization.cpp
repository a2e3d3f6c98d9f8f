#include "quantization/equalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "quantization/channel_paths.h"
#include "quantization/ir_names.h"
#include "quantization/weight_layout.h"

namespace sardonyx::quantization {
namespace {

// Rows of samples that the error of an activation is measured on: as many as have so many elements.
constexpr std::size_t kMinRows = 8, kMaxRows = 64, kMaxElements = std::size_t{1} << 14;
// Output channels of a weight that its error is measured on, evenly spread over it.
constexpr std::size_t kMaxChannels = 64;
// Shares of the ranges that move from activations into weights; 1: all of them.
constexpr std::array kShares = {0.25, 0.5, 0.75, 1.0};
// How far a factor is from the mean of all, at most.
constexpr double kMaxFactor = 64;

using Factors = std::vector<double>;

// The weight of a product by its channels, and what they are read by.
struct Weight {
  const Layer* layer;
  WeightLayout layout;
  std::vector<float> elements;  // [output channels, row]
  std::size_t groups, taps;     // of a convolution; 1

  explicit Weight(const Layer& of)
      : layer(&of),
        layout(of.weight->constant->dims, of.axis),
        elements(layout.by_channel(floats_of(*of.weight->constant))),
        groups(static_cast<std::size_t>(std::max<std::int64_t>(of.node->int_or("group", 1), 1))),
        taps(1) {
    const std::vector<std::int64_t>& dims = of.weight->constant->dims;
    if (of.node->is(Op::kConv))
      for (std::size_t i = 2; i < dims.size(); ++i) taps *= static_cast<std::size_t>(dims[i]);
  }
  std::size_t inputs() const { return layout.row() / taps * groups; }
  // The input channel of an element of the row of an output channel.
  std::size_t input_of(std::size_t channel, std::size_t element) const {
    return channel / (layout.channels / groups) * (layout.row() / taps) + element / taps;
  }
};

// A value, the products that take it, and samples of it.
class Group {
 public:
  Group(std::vector<Weight> weights, const LayerInputs& samples, const Options& options)
      : weights_(std::move(weights)),
        samples_(samples),
        options_(options),
        per_channel_(options.per_channel && options.target->per_channel) {
    const std::size_t inputs = weights_.front().inputs();
    const std::size_t taps = samples.columns() / inputs;
    rows_ = std::clamp(kMaxElements / samples.columns(), kMinRows, kMaxRows);
    rows_ = std::min(samples.rows(), rows_);
    largest_.resize(inputs);
    squares_.resize(inputs);
    norms_.resize(inputs);
    widest_.resize(inputs);
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto elements = row_of(row);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        largest_[i / taps] = std::max(largest_[i / taps], std::abs(double{elements[i]}));
        squares_[i / taps] += double{elements[i]} * elements[i];
      }
    }
    for (double& square : squares_) square /= static_cast<double>(rows_ * taps);
    for (const Weight& weight : weights_) add_norms(weight);
  }

  // The product that gives the value takes part where all channels of its weight have one scale.
  void set_producer(const Weight& weight, const LayerInputs& samples) {
    if (per_channel_ || samples.columns() % weight.inputs() != 0) return;
    const std::size_t taps = samples.columns() / weight.inputs();
    std::vector<double> squares(weight.inputs());
    for (std::size_t row = 0; row < samples.rows(); ++row)
      for (std::size_t i = 0; i < samples.columns(); ++i)
        squares[i / taps] += double{samples.row(row)[i]} * samples.row(row)[i];
    for (std::size_t c = 0; c < weight.layout.channels; ++c) {
      double energy = 0, widest = 0;
      for (std::size_t i = 0; i < weight.layout.row(); ++i) {
        energy += squares[weight.input_of(c, i)];
        widest = std::max(widest, std::abs(double{weight.elements[c * weight.layout.row() + i]}));
      }
      produced_energy_.push_back(energy / static_cast<double>(samples.rows() * taps));
      produced_widest_.push_back(widest);
    }
  }

  // The factors with the least error, and by how many decibels it is less.
  std::pair<Factors, double> best() const {
    const double before = error(Factors(largest_.size(), 1.0));
    std::pair<Factors, double> result;
    double least = before;
    const auto consider = [&](Factors factors) {
      const double found = error(factors);
      if (!(found < least)) return;
      least = found;
      result = {std::move(factors), 10 * std::log10(before / found)};
    };
    for (const double share : kShares) {
      for (const bool counts_weights : {true, false})
        consider(attempt(largest_, share, counts_weights));
    }
    // Both weights have the same range in each channel.
    if (!produced_widest_.empty()) consider(attempt(produced_widest_, 0.5, true));
    return result;
  }

 private:
  // Evenly spread over the samples, which are in their order.
  std::span<const float> row_of(std::size_t i) const {
    return samples_.row(i * samples_.rows() / rows_);
  }

  void add_norms(const Weight& weight) {
    for (std::size_t c = 0; c < weight.layout.channels; ++c) {
      for (std::size_t i = 0; i < weight.layout.row(); ++i) {
        const double element = weight.elements[c * weight.layout.row() + i];
        const std::size_t input = weight.input_of(c, i);
        norms_[input] += element * element;
        widest_[input] = std::max(widest_[input], std::abs(element));
      }
    }
  }

  Factors attempt(const std::vector<double>& largest, double share, bool counts_weights) const {
    Factors factors(largest.size(), 1.0);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (!(largest[i] > 0) || !(widest_[i] > 0)) continue;
      factors[i] = std::pow(largest[i], share);
      if (counts_weights) factors[i] /= std::pow(widest_[i], 1 - share);
      sum += std::log(factors[i]);
      ++count;
    }
    const double mean = count == 0 ? 1 : std::exp(sum / static_cast<double>(count));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const bool is_used = largest[i] > 0 && widest_[i] > 0;
      factors[i] = is_used ? std::clamp(factors[i] / mean, 1 / kMaxFactor, kMaxFactor) : 1;
    }
    return factors;
  }

  double error(const Factors& factors) const {
    return error_of_activation(factors) + error_of_weights(factors) + error_of_producer(factors);
  }

  // The sum of the squares that rounding and clipping the activation leaves in all products.
  double error_of_activation(const Factors& factors) const {
    const Form form{options_.scheme->activations, options_.target->symmetric,
                    options_.target->power_of_two};
    const std::size_t taps = samples_.columns() / factors.size();
    std::vector<float> elements;
    elements.reserve(rows_ * samples_.columns());
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto values = row_of(row);
      for (std::size_t i = 0; i < values.size(); ++i)
        elements.push_back(static_cast<float>(values[i] / factors[i / taps]));
    }
    Histogram histogram;
    histogram.add(elements);
    const Parameters parameters = parameters_of(range_of(histogram, form, options_.ranges), form);
    const auto low = static_cast<double>(base::integer_min(form.dtype) - parameters.zero_point),
               high = static_cast<double>(base::integer_max(form.dtype) - parameters.zero_point);
    const double scale = parameters.scale;
    std::vector<double> errors(factors.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double code = std::clamp(std::nearbyint(elements[i] / scale), low, high);
      const double difference = elements[i] - code * scale;
      errors[i % samples_.columns() / taps] += difference * difference;
    }
    double sum = 0;
    for (std::size_t i = 0; i < errors.size(); ++i)
      sum += errors[i] * factors[i] * factors[i] * norms_[i];
    return sum / static_cast<double>(rows_ * taps);
  }

  // Rounding is uniform within a step.
  double error_of_weights(const Factors& factors) const {
    const double highest = highest_code();
    double sum = 0;
    for (const Weight& weight : weights_) {
      double widest_of_all = 0;
      std::vector<double> widest(weight.layout.channels), energy(weight.layout.channels);
      const std::size_t stride = (weight.layout.channels + kMaxChannels - 1) / kMaxChannels;
      for (std::size_t c = 0; c < weight.layout.channels; c += stride) {
        for (std::size_t i = 0; i < weight.layout.row(); ++i) {
          const std::size_t input = weight.input_of(c, i);
          const double element = weight.elements[c * weight.layout.row() + i];
          widest[c] = std::max(widest[c], std::abs(element) * factors[input]);
          energy[c] += squares_[input] / (factors[input] * factors[input]);
        }
        widest_of_all = std::max(widest_of_all, widest[c]);
      }
      for (std::size_t c = 0; c < widest.size(); ++c) {
        const double step = (per_channel_ ? widest[c] : widest_of_all) / highest;
        sum += static_cast<double>(stride) * step * step / 12 * energy[c];
      }
    }
    return sum;
  }

  double error_of_producer(const Factors& factors) const {
    double widest = 0, sum = 0;
    for (std::size_t c = 0; c < produced_widest_.size(); ++c)
      widest = std::max(widest, produced_widest_[c] / factors[c]);
    const double step = widest / highest_code();
    for (std::size_t c = 0; c < produced_energy_.size(); ++c)
      sum += step * step / 12 * produced_energy_[c] * factors[c] * factors[c] * norms_[c];
    return sum;
  }

  double highest_code() const { return (1 << (options_.target->weight_bits - 1)) - 1; }

  std::vector<Weight> weights_;
  const LayerInputs& samples_;
  const Options& options_;
  bool per_channel_;
  std::vector<double> produced_energy_, produced_widest_;  // empty where each channel has a scale
  std::size_t rows_ = 0;
  std::vector<double> largest_, squares_, norms_, widest_;  // of each input channel
};

class Equalizing {
 public:
  Equalizing(onnx::Model& model, const SampledInputs& inputs, const Options& options,
             const EqualizationOptions& equalization)
      : model_(model), inputs_(inputs), options_(options), equalization_(equalization) {}

  std::vector<Equalized> run() {
    if (!base::is_integer(options_.scheme->activations)) return {};
    const Placement placement = place(model_, *options_.target, options_.keep);
    const ChannelPaths paths(placement.layers);
    // Products that take the same value, in the order of the graph.
    std::vector<ValueInfo*> values;
    std::map<const ValueInfo*, std::vector<const Layer*>> readers;
    for (const Layer& layer : placement.layers) {
      auto& of_value = readers[layer.input];
      if (of_value.empty()) values.push_back(layer.input);
      of_value.push_back(&layer);
    }
    std::vector<Equalized> result;
    for (ValueInfo* value : values)
      if (auto done = equalize(value, readers.at(value), paths)) result.push_back(std::move(*done));
    return result;
  }

 private:
  std::optional<Equalized> equalize(ValueInfo* value, const std::vector<const Layer*>& layers,
                                    const ChannelPaths& paths) {
    const LayerInputs* samples = samples_of(layers);
    // Nothing else may read it.
    if (samples == nullptr || value->uses.size() != layers.size()) return std::nullopt;
    const ChannelPath path = paths.find(value, layers.front()->input_axis);
    const bool is_wanted = path.from_normalization ? equalization_.after_normalizations
                                                   : equalization_.between_products;
    if (path.constants.empty() || !is_wanted) return std::nullopt;
    std::vector<Weight> weights;
    for (const Layer* layer : layers) {
      if (layer->node->is(Op::kConvTranspose) || !is_plain_constant(layer->node->input(1)))
        return std::nullopt;
      weights.emplace_back(now(*layer));
      const Weight& weight = weights.back();
      const bool fits = weight.layout.row() % weight.taps == 0 && weight.inputs() != 0 &&
                        weight.layout.channels % weight.groups == 0 &&
                        weight.inputs() == weights.front().inputs() &&
                        samples->columns() % weight.inputs() == 0;
      if (!fits) return std::nullopt;
    }
    for (const ScaledConstant& each : path.constants)
      if (dim_of(each) != weights.front().inputs()) return std::nullopt;
    Group group(weights, *samples, options_);
    if (path.layer != nullptr)
      if (const LayerInputs* before = samples_of({path.layer}); before != nullptr)
        group.set_producer(Weight(now(*path.layer)), *before);
    auto [factors, gain] = group.best();
    if (factors.empty() || gain < equalization_.least_gain) return std::nullopt;
    for (const ScaledConstant& each : path.constants) divide(each, factors);
    for (Weight& weight : weights) multiply(weight, factors);
    Equalized result{value->name, {}, path.from_normalization, gain};
    for (const Layer* layer : layers) {
      const Node* node = layer->node;
      result.layers.push_back(node->name.empty() ? node->outputs[0]->name : node->name);
    }
    return result;
  }

  // The first product that has samples.
  const LayerInputs* samples_of(const std::vector<const Layer*>& layers) const {
    for (const Layer* layer : layers) {
      const auto found = inputs_.find(layer->node->outputs[0]->name);
      if (found != inputs_.end() && found->second.rows() != 0) return &found->second;
    }
    return nullptr;
  }

  // With the weight that it has after the values before it.
  const Layer& now(const Layer& layer) {
    Layer& copy = layers_.emplace(layer.node, layer).first->second;
    copy.weight = layer.node->inputs[1];
    return copy;
  }

  static std::size_t dim_of(const ScaledConstant& constant) {
    const Tensor& tensor = *constant.node->inputs[constant.input]->constant;
    return static_cast<std::size_t>(tensor.dims[static_cast<std::size_t>(constant.axis)]);
  }

  void divide(const ScaledConstant& constant, const Factors& factors) {
    const Tensor& tensor = *constant.node->inputs[constant.input]->constant;
    const WeightLayout layout(tensor.dims, constant.axis);
    std::vector<float> elements = layout.by_channel(floats_of(tensor));
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<float>(elements[i] / factors[i / layout.row()]);
    replace(constant.node, constant.input, layout.as_it_was(std::move(elements)));
  }

  void multiply(Weight& weight, const Factors& factors) {
    std::vector<float>& elements = weight.elements;
    const std::size_t row = weight.layout.row();
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = static_cast<float>(elements[i] * factors[weight.input_of(i / row, i % row)]);
    replace(weight.layer->node, 1, weight.layout.as_it_was(std::move(elements)));
  }

  void replace(Node* node, std::size_t input, const std::vector<float>& elements) {
    ValueInfo* const before = node->inputs[input];
    Tensor tensor = Tensor::of_bytes(DType::kFloat32, before->constant->dims,
                                     std::as_bytes(std::span(elements)));
    ValueInfo* const after = model_.add_weight(before->name, std::move(tensor));
    onnx::set_input(node, input, after);
    // A constant that others read as well stays as it is; patterns name the one that takes part.
    if (!before->uses.empty()) return;
    const std::string name = before->name;
    model_.rename(before, name + "_before");
    model_.rename(after, name);
  }

  onnx::Model& model_;
  const SampledInputs& inputs_;
  const Options& options_;
  const EqualizationOptions& equalization_;
  std::map<const Node*, Layer> layers_;
};

}  // namespace

std::vector<Equalized> equalize(onnx::Model& model, const SampledInputs& inputs,
                                const Options& options, const EqualizationOptions& equalization) {
  check_is_float(model);
  return Equalizing(model, inputs, options, equalization).run();
}

}  // namespace sardonyx::quantization
