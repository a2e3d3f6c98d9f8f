#include "quantization/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "base/diagnostic.h"
#include "precision/selection.h"
#include "quantization/insertion.h"
#include "quantization/ir_names.h"
#include "quantization/weights.h"

namespace sardonyx::quantization {
namespace {

// A bias is at most a quarter of what int32 holds, so that sums with it do not overflow.
constexpr double kMaxBiasCode = 0x1p29;

// What patterns can name it by.
const std::string& name_of(const Node* node) {
  return node->name.empty() ? node->outputs[0]->name : node->name;
}

class Quantizing {
 public:
  Quantizing(onnx::Model& model, const Statistics& statistics, const SampledInputs* inputs,
             const Options& options, RoundedWeights& rounded)
      : model_(model),
        statistics_(statistics),
        inputs_(inputs),
        options_(options),
        rounded_(rounded),
        insertion_(model),
        form_{options.scheme->activations, options.target->symmetric,
              options.target->power_of_two} {}

  Report run() {
    check_is_float(model_);
    placement_ = place(model_, *options_.target, options_.keep);
    if (placement_.layers.empty()) fail_empty();
    find_mixed();
    find_parameters();
    std::vector<Addition> additions = quantize_weights();
    for (const Layer& layer : placement_.layers) report(layer);
    for (Addition& each : additions) apply(each);
    for (ValueInfo* value : placement_.values)
      insertion_.quantize_activation(value, parameters_of_value(value));
    for (const Kept& each : placement_.kept)
      report_.kept.push_back({name_of(each.node), each.node->op_type, each.reason});
    report_.values = static_cast<std::int64_t>(placement_.values.size());
    return std::move(report_);
  }

 private:
  // What a layer has once it is quantized.
  struct Addition {
    const Layer* layer = nullptr;
    QuantizedWeight weight;
    std::vector<double> bias;     // in float; empty where it stays without one
    ValueInfo* addend = nullptr;  // the constant that an Add after the layer adds
  };

  [[noreturn]] void fail_empty() const {
    std::string reasons;
    for (const Kept& each : placement_.kept)
      reasons +=
          fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name_of(each.node), each.reason);
    base::fail("SX1833",
               fmt::format("nothing in the model can be quantized for {}{}{}",
                           options_.target->title, reasons.empty() ? "" : ": ", reasons),
               "static quantization is of products of float32 activations with constant weights");
  }

  // The types of activations that `mixed` names. Throws SX1812 for a pattern that matches nothing.
  void find_mixed() {
    std::vector<precision::Pattern> patterns;
    for (const Mixed& each : options_.mixed) patterns.emplace_back(each.pattern);
    for (const Layer& layer : placement_.layers) {
      bool is_found = false;
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        const bool matches = patterns[i].matches_either(layer.node, layer.weight);
        if (!matches || is_found) continue;
        is_found = true;
        types_[placement_.root_of(layer.input)] = options_.mixed[i].activations;
      }
    }
    precision::check_used(patterns);
  }

  Form form_of(ValueInfo* root) const {
    Form form = form_;
    const auto found = types_.find(root);
    if (found != types_.end()) form.dtype = found->second;
    return form;
  }

  // Of all values that share a scale: the range of what they have together.
  void find_parameters() {
    std::map<ValueInfo*, Histogram> histograms;
    const auto is_observed = observed_values(placement_);
    std::set<std::string> names;
    for (const Observed& each : is_observed) names.insert(each.name);
    for (ValueInfo* value : placement_.values) {
      ValueInfo* const root = placement_.root_of(value);
      Histogram& histogram = histograms[root];
      if (!names.contains(value->name)) continue;
      const ValueStatistics* found = statistics_.find(value->name);
      if (found == nullptr)
        base::fail("SX1832",
                   fmt::format("the statistics lack '{}', a value of the model", value->name),
                   "calibrate this model, with the same options");
      histogram.merge(found->histogram);
    }
    for (const auto& [root, histogram] : histograms) {
      const Form form = form_of(root);
      parameters_.emplace(root, parameters_of(range_of(histogram, form, options_.ranges), form));
    }
  }

  const Parameters& parameters_of_value(ValueInfo* value) const {
    return parameters_.at(placement_.root_of(value));
  }

  // What the only reader of a product adds to each channel, where this is a constant.
  static ValueInfo* addend_of(const Layer& layer) {
    const ValueInfo* product = layer.node->outputs[0];
    if (!layer.node->is(Op::kMatMul) || product->uses.size() != 1 || !product->returns.empty())
      return nullptr;
    const Node* sum = product->uses[0].node;
    if (!sum->is(Op::kAdd) && !sum->is(Op::kSum)) return nullptr;
    for (ValueInfo* other : sum->inputs) {
      const bool fits = other != nullptr && other->constant != nullptr &&
                        other->producer == nullptr && other->constant->dims.size() == 1 &&
                        other->constant->dims[0] == layer.weight->constant->dims[1] &&
                        !other->is_pinned && !other->constant->missing;
      if (fits) return other;
    }
    return nullptr;
  }

  std::vector<Addition> quantize_weights() {
    const WeightForm form = weight_form();
    std::vector<Addition> result(placement_.layers.size());
    // Small ones first: what is gained does not depend on the size, and the time does.
    for (const std::size_t i : by_size()) {
      const Layer& layer = placement_.layers[i];
      Addition each{&layer, {}, {}, addend_of(layer)};
      const ValueInfo* constant = layer.bias != nullptr ? layer.bias : each.addend;
      if (constant != nullptr) each.bias = constant->constant->reals().value_or(each.bias);
      each.weight = quantize_weight(layer, form, least_scales(layer, each.bias));
      if (options_.correct_bias) correct(each);
      result[i] = std::move(each);
    }
    return result;
  }

  WeightForm weight_form() const {
    WeightForm form;
    form.dtype = options_.scheme->weights;
    form.bits = options_.target->weight_bits;
    form.per_channel = options_.per_channel && options_.target->per_channel;
    form.power_of_two = options_.target->power_of_two;
    form.search = options_.ranges.method == Method::kMse;
    return form;
  }

  // With scales that are no less, a bias fits its integers.
  std::vector<float> least_scales(const Layer& layer, std::span<const double> biases) const {
    std::vector<float> least;
    if (layer.bias == nullptr || !has_integer_bias()) return least;
    const float scale = parameters_of_value(layer.input).scale;
    for (const double bias : biases)
      least.push_back(static_cast<float>(std::abs(bias) / (scale * kMaxBiasCode)));
    return least;
  }

  QuantizedWeight quantize_weight(const Layer& layer, WeightForm form, std::vector<float> least) {
    const std::string& output = layer.node->outputs[0]->name;
    if (const QuantizedWeight* before = rounded_.find(output, least)) return *before;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const LayerInputs* samples = samples_of(layer);
    const double products = samples == nullptr ? 0 : products_of(layer, *samples);
    form.adaptive = rounded_.time().is_enough_for(products, options_.rounding_seconds);
    QuantizedWeight weight =
        quantization::quantize_weight(layer, form, least, samples, means_of(layer));
    if (weight.is_adaptive)
      rounded_.time().add(products, std::chrono::duration<double>(Clock::now() - begin).count());
    rounded_.add(output, std::move(least), weight);
    return weight;
  }

  static double products_of(const Layer& layer, const LayerInputs& samples) {
    return static_cast<double>(layer.weight->constant->element_count()) *
           static_cast<double>(samples.rows());
  }

  std::vector<std::size_t> by_size() const {
    std::vector<std::size_t> order(placement_.layers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      return placement_.layers[i].weight->constant->element_count();
    });
    return order;
  }

  bool has_integer_bias() const {
    return options_.target->integer_bias && base::is_integer(options_.scheme->weights);
  }

  const LayerInputs* samples_of(const Layer& layer) const {
    if (inputs_ == nullptr) return nullptr;
    const auto found = inputs_->find(layer.node->outputs[0]->name);
    return found == inputs_->end() ? nullptr : &found->second;
  }

  std::vector<double> means_of(const Layer& layer) const {
    const ValueStatistics* found = statistics_.find(layer.input->name);
    if (found == nullptr || found->channels.channels() == 0) return {};
    const std::vector<std::int64_t>& dims = layer.weight->constant->dims;
    const std::int64_t group = std::max<std::int64_t>(layer.node->int_or("group", 1), 1);
    // Groups of a ConvTranspose share the first axis.
    const bool is_transposed = layer.node->is(Op::kConvTranspose);
    const std::int64_t inputs =
        layer.node->is(Op::kConv) ? dims[1] * group : dims[is_transposed ? 0 : 1 - layer.axis];
    if (found->channels.channels() != inputs)
      base::fail("SX1832",
                 fmt::format("the statistics have {} channels of '{}', and the model {}",
                             found->channels.channels(), layer.input->name, inputs),
                 "calibrate this model, with the same options");
    return found->channels.means();
  }

  static void correct(Addition& each) {
    const std::vector<double>& changes = each.weight.mean_changes;
    if (changes.empty()) return;
    const Node* node = each.layer->node;
    const bool can_have_one = node->is(Op::kConv) || node->is(Op::kGemm);
    if (each.bias.empty() && (!can_have_one || node->input(2) != nullptr)) return;
    if (each.bias.empty()) each.bias.resize(changes.size());
    if (each.bias.size() != changes.size()) return;
    for (std::size_t i = 0; i < changes.size(); ++i) each.bias[i] -= changes[i];
  }

  void report(const Layer& layer) {
    QuantizedLayer each;
    each.name = name_of(layer.node);
    each.op = layer.node->op_type;
    each.weight = layer.weight->name;
    each.output = layer.node->outputs[0]->name;
    each.bytes_before = layer.weight->constant->byte_count();
    report_.layers.push_back(std::move(each));
  }

  void apply(Addition& each) {
    const Layer& layer = *each.layer;
    for (QuantizedLayer& reported : report_.layers) {
      if (reported.output != layer.node->outputs[0]->name) continue;
      reported.weight_error = each.weight.relative_error;
      reported.is_adaptive = each.weight.is_adaptive;
      reported.bytes_after = each.weight.codes.byte_count() +
                             static_cast<std::int64_t>(each.weight.scales.size() * sizeof(float));
    }
    if (!each.bias.empty()) put_bias(each);
    insertion_.replace_constant(layer.node, 1, std::move(each.weight.codes), each.weight.scales,
                                layer.axis);
  }

  void put_bias(const Addition& each) {
    Node* const node = each.layer->node;
    const auto count = static_cast<std::int64_t>(each.bias.size());
    std::vector<float> floats(each.bias.begin(), each.bias.end());
    Tensor bias = Tensor::of_bytes(DType::kFloat32, {count}, std::as_bytes(std::span(floats)));
    if (each.addend != nullptr) {
      if (!options_.correct_bias) return;
      Node* const sum = node->outputs[0]->uses[0].node;
      const auto at = std::ranges::find(sum->inputs, each.addend);
      onnx::set_input(sum, static_cast<std::size_t>(at - sum->inputs.begin()),
                      model_.add_weight(each.addend->name + "_corrected", std::move(bias)));
      return;
    }
    const std::string name =
        each.layer->bias != nullptr ? each.layer->bias->name : each.layer->weight->name + "_bias";
    ValueInfo* const constant = model_.add_weight(name + "_corrected", std::move(bias));
    if (node->inputs.size() > 2) {
      onnx::set_input(node, 2, constant);
    } else {
      onnx::add_input(node, constant);
    }
    if (has_integer_bias()) put_integers(each, node);
  }

  void put_integers(const Addition& each, Node* node) {
    const float input = parameters_of_value(each.layer->input).scale;
    std::vector<float> scales;
    std::vector<std::int32_t> codes;
    for (std::size_t i = 0; i < each.bias.size(); ++i) {
      const std::vector<float>& of_weight = each.weight.scales;
      const float scale = input * of_weight[of_weight.size() == 1 ? 0 : i];
      const double code = std::nearbyint(each.bias[i] / scale);
      codes.push_back(static_cast<std::int32_t>(
          std::clamp(code, double{std::numeric_limits<std::int32_t>::min()},
                     double{std::numeric_limits<std::int32_t>::max()})));
      scales.push_back(scale);
    }
    insertion_.replace_constant(
        node, 2,
        Tensor::of_bytes(DType::kInt32, {static_cast<std::int64_t>(codes.size())},
                         std::as_bytes(std::span(codes))),
        scales, 0);
  }

  onnx::Model& model_;
  const Statistics& statistics_;
  const SampledInputs* inputs_;
  const Options& options_;
  RoundedWeights& rounded_;
  Insertion insertion_;
  Form form_;
  Placement placement_;
  std::map<ValueInfo*, base::DType> types_;  // by root, those that `mixed` names
  std::map<ValueInfo*, Parameters> parameters_;
  Report report_;
};

}  // namespace

Report quantize(onnx::Model& model, const Statistics& statistics, const SampledInputs* inputs,
                const Options& options, RoundedWeights* rounded) {
  RoundedWeights alone(false);
  return Quantizing(model, statistics, inputs, options, rounded == nullptr ? alone : *rounded)
      .run();
}

}  // namespace sardonyx::quantization
