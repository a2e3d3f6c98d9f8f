// Static quantization: calibration and the quantized model.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "bindings.h"
#include "quantization/calibration.h"
#include "quantization/equalization.h"
#include "quantization/options.h"
#include "quantization/quantize.h"
#include "quantization/removal.h"
#include "refresh/record.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

using quantization::Calibration;
using quantization::Options;
using quantization::Statistics;
using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

Options options_of(const std::string& target, const std::string& scheme, const std::string& method,
                   double percentile, bool per_channel, bool correct_bias, double rounding_seconds,
                   std::vector<std::string> keep,
                   std::vector<std::pair<std::string, std::string>> mixed) {
  return quantization::options_of({target, scheme, method, percentile, per_channel, correct_bias,
                                   rounding_seconds, std::move(keep), std::move(mixed)});
}

nb::list observed(const Calibration& calibration) {
  nb::list result;
  for (const auto& each : calibration.observed()) result.append(each.name);
  return result;
}

void add(Calibration& calibration, const std::string& name, const Floats& values) {
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < values.ndim(); ++i)
    dims.push_back(static_cast<std::int64_t>(values.shape(i)));
  const nb::gil_scoped_release released;
  calibration.add(name, std::span(values.data(), values.size()), dims);
}

nb::dict report_of(const quantization::Report& report) {
  nb::list layers, kept;
  for (const quantization::QuantizedLayer& each : report.layers)
    layers.append(nb::make_tuple(each.name, each.op, each.weight, each.output, each.weight_error,
                                 each.is_adaptive, each.bytes_before, each.bytes_after));
  for (const quantization::Report::Kept& each : report.kept)
    kept.append(nb::make_tuple(each.name, each.op, each.reason));
  nb::dict result;
  result["layers"] = layers;
  result["kept"] = kept;
  result["values"] = report.values;
  return result;
}

nb::dict quantize(Model& model, const Statistics& statistics, const Calibration* calibration,
                  const Options& options, quantization::RoundedWeights& rounded) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return quantization::quantize(model.internal(), statistics,
                                  calibration == nullptr ? nullptr : &calibration->inputs(),
                                  options, &rounded);
  };
  const quantization::Report report = run();
  // Weights of another checkpoint would need other statistics.
  model.set_origins(nullptr);
  refresh::erase_record(model.internal());
  return report_of(report);
}

nb::list equalize(Model& model, const Calibration& calibration, const Options& options,
                  bool between_products, bool after_normalizations, double least_gain) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return quantization::equalize(model.internal(), calibration.inputs(), options,
                                  {between_products, after_normalizations, least_gain});
  };
  nb::list result;
  for (const quantization::Equalized& each : run())
    result.append(nb::make_tuple(each.value, each.layers, each.from_normalization, each.gain));
  return result;
}

nb::list targets_of() {
  nb::list result;
  for (const targets::QuantizationTarget& target : targets::quantization_targets()) {
    nb::list schemes;
    for (const targets::QuantizationScheme& scheme : target.schemes)
      schemes.append(nb::str(scheme.name.data(), scheme.name.size()));
    result.append(nb::make_tuple(nb::str(target.name.data(), target.name.size()),
                                 nb::str(target.title.data(), target.title.size()), schemes,
                                 target.is_run,
                                 nb::str(target.source.data(), target.source.size())));
  }
  return result;
}

nb::bytes json_of(const Statistics& statistics) {
  const std::string text = statistics.to_json();
  return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_quantization(nb::module_& module) {
  nb::class_<Options>(module, "QuantizationOptions")
      .def_prop_ro("opset", [](const Options& self) { return self.opset; })
      .def_prop_ro("more_bits",
                   [](const Options& self) {
                     const base::DType more = self.target->more_bits;
                     const bool fits = base::bit_width(self.scheme->activations) == 8 &&
                                       base::is_integer(self.scheme->activations) &&
                                       more != base::DType::kUndefined;
                     return fits ? fmt::format("a{}", base::bit_width(more)) : std::string();
                   })
      .def_prop_ro("has_cpu_kernels",
                   [](const Options& self) { return self.target->has_cpu_kernels; })
      .def_prop_ro("scheme", [](const Options& self) { return std::string(self.scheme->name); });
  module.def("quantization_options", &options_of, "target"_a, "scheme"_a, "method"_a,
             "percentile"_a, "per_channel"_a, "correct_bias"_a, "rounding_seconds"_a, "keep"_a,
             "mixed"_a);
  module.def("quantization_targets", &targets_of,
             "(name, title, schemes, whether it was run, source) of each.");
  nb::class_<Statistics>(module, "Statistics")
      .def_static(
          "from_json",
          [](const nb::bytes& json) { return Statistics::of_json({json.c_str(), json.size()}); },
          "json"_a)
      .def("to_json", &json_of)
      .def("merge", &Statistics::merge, "other"_a)
      .def_prop_ro("samples", &Statistics::samples)
      .def_prop_ro("is_empty",
                   [](const Statistics& self) {
                     return !self.values().empty() &&
                            std::ranges::all_of(self.values(), [](const auto& each) {
                              return each.second.histogram.count() == 0 &&
                                     each.second.histogram.not_finite() == 0;
                            });
                   })
      .def_prop_ro("not_finite", [](const Statistics& self) {
        nb::list names;
        for (const auto& [name, value] : self.values())
          if (value.histogram.not_finite() != 0) names.append(name);
        return names;
      });
  nb::class_<Calibration>(module, "Calibration")
      .def(
          "__init__",
          [](Calibration* self, Model& model, const Options& options, std::size_t rows) {
            quantization::check_is_float(model.internal());
            const auto placement =
                quantization::place(model.internal(), *options.target, options.keep);
            new (self) Calibration(placement, rows);
          },
          "model"_a, "options"_a, "rows"_a)
      .def_prop_ro("observed", &observed, "Names of the values to observe.")
      .def(
          "bytes",
          [](const Calibration& self, Model& model,
             const std::map<std::string, std::vector<std::int64_t>>& dims) {
            return quantization::observed_bytes(model.internal(), self.observed(), dims);
          },
          "model"_a, "dims"_a, "Of each observed value, for inputs of these dims; -1: unknown.")
      .def("add", &add, "name"_a, "values"_a)
      .def("count_sample", &Calibration::count_sample)
      .def_prop_ro(
          "statistics", [](Calibration& self) -> Statistics& { return self.statistics(); },
          nb::rv_policy::reference_internal);
  nb::class_<quantization::RoundedWeights>(module, "RoundedWeights")
      .def(nb::init<bool>(), "keeps"_a)
      .def("clear", &quantization::RoundedWeights::clear);
  module.def(
      "add_outputs",
      [](Model& model, const std::vector<std::string>& names) {
        quantization::add_outputs(model.internal(), names);
      },
      "model"_a, "names"_a, "Adds values to the model's outputs.");
  module.def(
      "remove_quantization",
      [](Model& model) { quantization::remove_quantization(model.internal()); }, "model"_a,
      "Makes a model in QDQ form one in float, in place.");
  module.def("equalize_model", &equalize, "model"_a, "calibration"_a, "options"_a,
             "between_products"_a, "after_normalizations"_a, "least_gain"_a,
             "Moves factors of channels into weights, in place; (value, layers, whether from a "
             "normalization, decibels) of each.");
  module.def("quantize_model", &quantize, "model"_a, "statistics"_a, "calibration"_a.none(),
             "options"_a, "rounded"_a,
             "Quantizes in place; layers, what stays in float, and activations.");
}

}  // namespace sardonyx::bindings
