// ONNX models: conversion, optimization, writing.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/convert.h"
#include "base/dtype.h"
#include "bindings.h"
#include "onnx/graph/ir.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"
#include "sizes.h"
#include "translators.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Inputs and outputs as (name, dtype, shape); the shape's entries are numbers or text, None where
// the rank is unknown.
nb::list interface(const std::vector<onnx::ValueInfo*>& values) {
  nb::list result;
  for (const onnx::ValueInfo* value : values) {
    nb::object shape = nb::none();
    if (value->has_rank) shape = sizes_of(value->shape);
    const std::string_view dtype = base::dtype_name(value->dtype);
    result.append(nb::make_tuple(value->name, nb::str(dtype.data(), dtype.size()), shape));
  }
  return result;
}

// What Python calls the values of an enumeration.
template <typename Value>
struct Named {
  const char* name;
  Value value;
};

constexpr std::array kFallThrough{Named{"no", UnsupportedOps::kNo},
                                  Named{"as-is", UnsupportedOps::kAsIs},
                                  Named{"aten", UnsupportedOps::kATen}};

template <typename Value, std::size_t size>
std::vector<std::string> names_of(const std::array<Named<Value>, size>& values) {
  std::vector<std::string> names;
  for (const Named<Value>& each : values) names.emplace_back(each.name);
  return names;
}

template <typename Value, std::size_t size>
Value value_of(const std::array<Named<Value>, size>& values, std::string_view name) {
  for (const Named<Value>& each : values) {
    if (each.name == name) return each.value;
  }
  throw nb::value_error("no such name");
}

template <typename Value, std::size_t size>
const char* name_of(const std::array<Named<Value>, size>& values, Value value) {
  return std::ranges::find(values, value, &Named<Value>::value)->name;
}

Model convert(Program& program, ConvertOptions options, const nb::dict& translators,
              const nb::dict& complex_translators, nb::handle on_notes) {
  std::vector<Diagnostic> notes;
  options.on_note = [&notes](const Diagnostic& note) { notes.push_back(note); };
  const PythonTranslators own(translators, complex_translators);
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return sardonyx::convert(std::move(program), options,
                             [&](const program::Call& call) { return own.find(call); });
  };
  Model model = run();
  const std::string json = to_json(notes);
  if (!notes.empty()) on_notes(nb::bytes(json.data(), json.size()));
  return model;
}

nb::tuple simplify(Model& model, std::optional<std::int64_t> opset, const std::string& runtime,
                   const std::string& stop_after, const std::vector<std::string>& disable,
                   const PrecisionOptions& precision, bool functions, bool inline_functions,
                   std::optional<bool> freeze_initializers, bool is_as_read, const DimOptions& dims,
                   bool record_rules) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return sardonyx::simplify(
        model, {opset, runtime, stop_after, disable, precision, functions, inline_functions,
                freeze_initializers, is_as_read, dims, record_rules});
  };
  const OptimizationReport done = run();
  nb::list applied;
  for (const OptimizationReport::Applied& each : done.applied)
    applied.append(nb::make_tuple(each.name, each.count));
  nb::list declined;
  for (const OptimizationReport::Declined& each : done.declined)
    declined.append(nb::make_tuple(each.rule, each.node, each.reason));
  nb::list weights;
  for (const WeightPrecision& each : done.weights) weights.append(nb::cast(each));
  const std::string notes = to_json(done.notes);
  return nb::make_tuple(applied, declined, weights, done.nodes_before, done.nodes_after,
                        nb::bytes(notes.data(), notes.size()));
}

using Locations = std::map<std::string, std::string>;

WriteOptions write_options(std::optional<bool> external_data, bool include_initializers,
                           bool keep_initializers_as_inputs, bool strip_paths,
                           Locations in_place = {}) {
  WriteOptions options;
  if (external_data) {
    options.external_data = *external_data ? ExternalData::kAlways : ExternalData::kNever;
  }
  options.include_initializers = include_initializers;
  options.keep_initializers_as_inputs = keep_initializers_as_inputs;
  options.strip_paths = strip_paths;
  options.in_place = std::move(in_place);
  return options;
}

void write(const Model& model, const std::string& path, std::optional<bool> external_data,
           bool include_initializers, bool keep_initializers_as_inputs, bool strip_paths,
           Locations in_place, const nb::object& progress) {
  WriteOptions options =
      write_options(external_data, include_initializers, keep_initializers_as_inputs, strip_paths,
                    std::move(in_place));
  // An interrupt ends the writing, too, and leaves what was there before.
  options.progress = [&progress](std::int64_t done, std::int64_t total) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!progress.is_none()) progress(done, total);
  };
  sardonyx::write(model, path, options);
}

nb::bytes serialize(const Model& model, bool include_initializers, bool keep_initializers_as_inputs,
                    bool strip_paths) {
  std::string bytes;
  {
    const nb::gil_scoped_release released;
    bytes = sardonyx::serialize(model, write_options(false, include_initializers,
                                                     keep_initializers_as_inputs, strip_paths));
  }
  return nb::bytes(bytes.data(), bytes.size());
}

void bind_precision(nb::module_& module) {
  using Options = PrecisionOptions;
  nb::class_<Options>(module, "PrecisionOptions")
      .def(nb::init<>())
      .def_rw("to", &Options::to)
      .def_rw("keep", &Options::keep)
      .def_rw("io", &Options::io)
      .def_rw("block_size", &Options::block_size)
      .def_rw("symmetric", &Options::symmetric)
      .def_rw("method", &Options::method)
      .def_rw("accuracy_level", &Options::accuracy_level)
      .def("mix", [](Options& self, std::string pattern, std::string to) {
        self.mixed.push_back({std::move(pattern), std::move(to)});
      });
  nb::class_<WeightPrecision>(module, "WeightPrecision")
      .def_ro("name", &WeightPrecision::weight)
      .def_ro("type", &WeightPrecision::type)
      .def_ro("bytes_before", &WeightPrecision::bytes_before)
      .def_ro("bytes", &WeightPrecision::bytes_after)
      .def(
          "error",
          [](const WeightPrecision& self) {
            const WeightError error = self.error();
            return std::pair(error.relative, error.largest);
          },
          nb::call_guard<nb::gil_scoped_release>())
      .def_ro("made_of", &WeightPrecision::made_of)
      .def_ro("is_table", &WeightPrecision::is_table)
      .def_prop_ro("shape",
                   [](const WeightPrecision& self) { return std::pair(self.rows, self.columns); })
      .def(
          "values",
          [](const WeightPrecision& self) {
            const std::vector<float> values = self.values ? self.values() : std::vector<float>();
            return nb::bytes(values.data(), values.size() * sizeof(float));
          },
          "What it stands for, float32, row by row; empty of no weight in blocks.");
}

void bind_options(nb::module_& module) {
  nb::class_<DimOptions>(module, "DimOptions")
      .def(nb::init<>())
      .def_rw("fixed", &DimOptions::fixed)
      .def_rw("max", &DimOptions::max);
  using Options = ConvertOptions;
  nb::class_<Options>(module, "ConvertOptions", "As sardonyx/sardonyx.h describes them.")
      .def(nb::init<>())
      .def_rw("opset", &Options::opset, nb::for_setter("value"_a.none()))
      .def_rw("input_names", &Options::input_names)
      .def_rw("output_names", &Options::output_names)
      .def_rw("optimize", &Options::optimize)
      .def_rw("fold_weights", &Options::fold_weights)
      .def_rw("mutations_as_outputs", &Options::mutations_as_outputs)
      .def_rw("assertions_as_outputs", &Options::assertions_as_outputs)
      .def_rw("values_as_outputs", &Options::values_as_outputs)
      .def_rw("modules_as_functions", &Options::modules_as_functions)
      .def_rw("all_modules_as_functions", &Options::all_modules_as_functions)
      .def_rw("plugins", &Options::plugins)
      .def_rw("domain_versions", &Options::domain_versions)
      .def_rw("stop_after", &Options::stop_after)
      .def_rw("disable", &Options::disable)
      .def_rw("precision", &Options::precision)
      .def_rw("dims", &Options::dims)
      .def_rw("record_rules", &Options::record_rules)
      .def_prop_rw(
          "target_runtime", [](const Options& self) { return self.runtime; },
          [](Options& self, std::string name) { self.runtime = std::move(name); })
      .def_prop_rw(
          "fall_through",
          [](const Options& self) { return name_of(kFallThrough, self.fall_through); },
          [](Options& self, const std::string& name) {
            self.fall_through = value_of(kFallThrough, name);
          });
  module.def("target_opset", &sardonyx::target_opset, "name"_a,
             "The opset that serves a target best.");
  module.def("target_accuracy_level", &sardonyx::target_accuracy_level, "name"_a,
             "The accuracy_level of quantized weights for a target by default.");
  module.def(
      "target_names", [] { return sardonyx::target_names(); }, "What target_runtime may be.");
  module.def(
      "fall_through_names", [] { return names_of(kFallThrough); }, "What fall_through may be.");
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def("__str__", &Model::str)
      .def_prop_ro("node_count", &Model::node_count)
      .def_prop_ro("inputs",
                   [](const Model& self) { return interface(self.internal().graph->inputs); })
      .def_prop_ro("outputs",
                   [](const Model& self) { return interface(self.internal().graph->outputs); })
      .def_prop_rw("has_data_file", &Model::has_data_file, &Model::set_has_data_file)
      .def_prop_ro("opsets", [](const Model& self) {
        nb::dict opsets;
        for (const auto& [domain, version] : self.internal().opsets) {
          opsets[domain.c_str()] = version;
        }
        return opsets;
      });
  bind_options(module);
  bind_precision(module);
  module.def("convert", &convert, "program"_a, "options"_a, nb::kw_only(), "translators"_a,
             "complex_translators"_a, "on_notes"_a,
             "The ONNX model of a program, which is used up. on_notes: called with notes as JSON, "
             "where there are any.");
  module.def(
      "translates", [](const std::string& op) { return sardonyx::translates(op); }, "op"_a,
      "Whether the library has a translator.");
  module.def(
      "read_model", [](const std::string& path) { return sardonyx::read_model(path); }, "path"_a,
      nb::call_guard<nb::gil_scoped_release>(), "Reads an ONNX file.");
  module.def(
      "optimize",
      [](Model& model, const std::string& stop_after) {
        OptimizeOptions options;
        options.stop_after = stop_after;
        return sardonyx::optimize(model, options);
      },
      "model"_a, nb::kw_only(), "stop_after"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Simplifies in place; the names of the passes that changed something.");
  module.def("simplify", &simplify, "model"_a, nb::kw_only(), "opset"_a.none(), "runtime"_a,
             "stop_after"_a, "disable"_a, "precision"_a, "functions"_a, "inline_functions"_a,
             "freeze_initializers"_a, "is_as_read"_a, "dims"_a, "record_rules"_a,
             "Simplifies in place: what was applied, (name, count) each; what was declined, (rule, "
             "node, reason) each; the weights of another type; the nodes before and after.");
  module.def("set_threads", &sardonyx::set_threads, "count"_a,
             "Threads that work on weights at most; 0 for as many as there are processors.");
  module.def("rule_names", [] { return sardonyx::rule_names(); });
  module.def("write", &write, "model"_a, "path"_a, nb::kw_only(), "external_data"_a = nb::none(),
             "include_initializers"_a = true, "keep_initializers_as_inputs"_a = false,
             "strip_paths"_a = false, "in_place"_a = Locations(), "progress"_a.none() = nb::none(),
             nb::call_guard<nb::gil_scoped_release>(),
             "Writes atomically; weights in the files `in_place` (path to where they are from the "
             "model's folder) stay there. progress: called now and then with the bytes written and "
             "the bytes in all.");
  module.def("serialize", &serialize, "model"_a, nb::kw_only(), "include_initializers"_a,
             "keep_initializers_as_inputs"_a, "strip_paths"_a = false,
             "The model as bytes; SX1603 above 2 GB.");
}

}  // namespace sardonyx::bindings
