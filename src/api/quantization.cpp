// Static quantization over samples that a callback gives.
#include "sardonyx/quantization.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/infer/infer_model.h"
#include "quantization/calibration.h"
#include "quantization/equalization.h"
#include "quantization/options.h"
#include "refresh/record.h"

namespace sardonyx {
namespace {

// Of the input of each product, so many rows of each sample round its weight.
constexpr std::size_t kRows = 16;

quantization::Options named(const QuantizationOptions& options) {
  return quantization::options_of({options.runtime, options.scheme, options.method,
                                   options.percentile, options.per_channel, options.correct_bias,
                                   options.rounding_seconds, options.keep, options.mixed});
}

quantization::Calibration calibration_of(const Model& model, const quantization::Options& options,
                                         std::size_t rows) {
  onnx::Model& graph = model.internal();
  quantization::check_is_float(graph);
  // Files of other exporters may lack the types of values within the model.
  onnx::infer_types(graph);
  const std::int64_t opset = onnx::opset_of(graph.graph);
  if (opset != 0 && opset < options.opset)
    base::fail("SX1504",
               fmt::format("the scheme needs opset {}, and the model has {}", options.opset, opset),
               "optimize the model for that opset first");
  return {quantization::place(graph, *options.target, options.keep), rows};
}

[[noreturn]] void misfit(std::string message) {
  base::fail("SX1834", std::move(message), "give each value of observed_values() for each sample");
}

// One sample; false where there is none.
bool observe(quantization::Calibration& calibration, const NextSample& next) {
  std::set<std::string> missing;
  for (const auto& each : calibration.observed()) missing.insert(each.name);
  const std::size_t wanted = missing.size();
  const bool is_sample = next([&](const std::string& name, std::span<const float> elements,
                                  std::span<const std::int64_t> dims) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims)
      if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) count = -1;
    if (count != static_cast<std::int64_t>(elements.size()))
      misfit(fmt::format("'{}' has {} elements, and other dims", name, elements.size()));
    if (missing.erase(name) == 0) misfit(fmt::format("'{}' is no value to observe now", name));
    calibration.add(name, elements, dims);
  });
  if (!is_sample && missing.size() == wanted) return false;
  if (!missing.empty()) misfit(fmt::format("a sample lacks the value '{}'", *missing.begin()));
  calibration.count_sample();
  return is_sample;
}

// Throws SX1834 for no samples, or values that are no finite numbers.
void observe_all(quantization::Calibration& calibration, const NextSample& next) {
  while (observe(calibration, next)) {
  }
  if (calibration.statistics().samples() == 0) misfit("there are no samples");
  for (const auto& [name, value] : calibration.statistics().values())
    if (value.histogram.not_finite() != 0)
      misfit(fmt::format("'{}' is NaN or infinite on these samples", name));
}

QuantizationReport report_of(quantization::Report&& report, std::uint64_t samples) {
  QuantizationReport result;
  for (auto& each : report.layers)
    result.layers.push_back({std::move(each.name), std::move(each.op), std::move(each.weight),
                             std::move(each.output), each.weight_error, each.is_adaptive,
                             each.bytes_before, each.bytes_after});
  for (auto& each : report.kept)
    result.kept.push_back({std::move(each.name), std::move(each.op), std::move(each.reason)});
  result.activations = report.values;
  result.samples = samples;
  return result;
}

}  // namespace

std::vector<std::string> observed_values(const Model& model, const QuantizationOptions& options) {
  const quantization::Calibration calibration = calibration_of(model, named(options), 0);
  std::vector<std::string> names;
  for (const auto& each : calibration.observed()) names.push_back(each.name);
  return names;
}

void add_outputs(Model& model, const std::vector<std::string>& names) {
  quantization::add_outputs(model.internal(), names);
}

std::vector<EqualizedValue> equalize(Model& model, const NextSample& next,
                                     const QuantizationOptions& options,
                                     const EqualizationOptions& equalization) {
  const quantization::Options native = named(options);
  quantization::Calibration calibration = calibration_of(model, native, kRows);
  observe_all(calibration, next);
  std::vector<EqualizedValue> result;
  for (auto& each :
       quantization::equalize(model.internal(), calibration.inputs(), native,
                              {equalization.between_products, equalization.after_normalizations,
                               equalization.least_gain}))
    result.push_back(
        {std::move(each.value), std::move(each.layers), each.from_normalization, each.gain});
  if (result.empty()) return result;
  // Weights of another checkpoint would be as they were.
  model.set_origins(nullptr);
  refresh::erase_record(model.internal());
  return result;
}

QuantizationReport quantize(Model& model, const NextSample& next,
                            const QuantizationOptions& options) {
  const quantization::Options native = named(options);
  // Rows of inputs are kept for the least error alone.
  const bool is_adaptive = options.round_adaptively && options.method == "mse";
  quantization::Calibration calibration = calibration_of(model, native, is_adaptive ? kRows : 0);
  observe_all(calibration, next);
  quantization::Report report = quantization::quantize(model.internal(), calibration.statistics(),
                                                       &calibration.inputs(), native);
  // Weights of another checkpoint would need other statistics.
  model.set_origins(nullptr);
  refresh::erase_record(model.internal());
  return report_of(std::move(report), calibration.statistics().samples());
}

}  // namespace sardonyx
