// ONNX models: conversion, optimisation, writing.
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/convert.h"
#include "base/dtype.h"
#include "bindings.h"
#include "onnx/graph/ir.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"
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
    if (value->has_rank) {
      nb::list dims;
      for (const symbolic::Expr dim : value->shape) {
        if (!dim.known()) {
          dims.append(nb::none());
        } else if (dim.is_constant()) {
          dims.append(dim.value());
        } else {
          dims.append(dim.str());
        }
      }
      shape = std::move(dims);
    }
    const std::string_view dtype = base::dtype_name(value->dtype);
    result.append(nb::make_tuple(value->name, nb::str(dtype.data(), dtype.size()), shape));
  }
  return result;
}

FallThrough fall_through_of(std::string_view name) {
  if (name == "as-is") return FallThrough::kAsIs;
  return name == "aten" ? FallThrough::kATen : FallThrough::kNo;
}

Model convert(Program& program, std::optional<std::int64_t> opset,
              std::vector<std::string> input_names, std::vector<std::string> output_names,
              bool optimize, bool fold_weights, std::string runtime, bool mutations_as_outputs,
              bool assertions_as_outputs, std::string stop_after,
              std::optional<std::vector<std::string>> modules_as_functions,
              const nb::dict& translators, const nb::dict& complex_translators,
              std::map<std::string, std::int64_t> domain_versions,
              const std::vector<std::string>& plugins, const std::string& fall_through,
              nb::handle on_notes) {
  ConvertOptions options;
  options.opset = opset;
  options.runtime = std::move(runtime);
  options.input_names = std::move(input_names);
  options.output_names = std::move(output_names);
  options.optimize = optimize;
  options.fold_weights = fold_weights;
  options.mutations_as_outputs = mutations_as_outputs;
  options.assertions_as_outputs = assertions_as_outputs;
  options.stop_after = std::move(stop_after);
  if (modules_as_functions) {
    options.all_modules_as_functions = modules_as_functions->empty();
    options.modules_as_functions = std::move(*modules_as_functions);
  }
  options.domain_versions = std::move(domain_versions);
  options.plugins.assign(plugins.begin(), plugins.end());
  options.fall_through = fall_through_of(fall_through);
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

WriteOptions write_options(std::optional<bool> external_data, bool include_initializers,
                           bool keep_initializers_as_inputs) {
  WriteOptions options;
  if (external_data) {
    options.external_data = *external_data ? ExternalData::kAlways : ExternalData::kNever;
  }
  options.include_initializers = include_initializers;
  options.keep_initializers_as_inputs = keep_initializers_as_inputs;
  return options;
}

void write(const Model& model, const std::string& path, std::optional<bool> external_data,
           bool include_initializers, bool keep_initializers_as_inputs) {
  sardonyx::write(model, path,
                  write_options(external_data, include_initializers, keep_initializers_as_inputs));
}

nb::bytes serialize(const Model& model, bool include_initializers,
                    bool keep_initializers_as_inputs) {
  std::string bytes;
  {
    const nb::gil_scoped_release released;
    bytes = sardonyx::serialize(
        model, write_options(false, include_initializers, keep_initializers_as_inputs));
  }
  return nb::bytes(bytes.data(), bytes.size());
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
      .def_prop_ro("opsets", [](const Model& self) {
        nb::dict opsets;
        for (const auto& [domain, version] : self.internal().opsets) {
          opsets[domain.c_str()] = version;
        }
        return opsets;
      });
  module.def("convert", &convert, "program"_a, nb::kw_only(), "opset"_a, "input_names"_a,
             "output_names"_a, "optimize"_a, "fold_weights"_a, "runtime"_a,
             "mutations_as_outputs"_a, "assertions_as_outputs"_a, "stop_after"_a,
             "modules_as_functions"_a.none(), "translators"_a, "complex_translators"_a,
             "domain_versions"_a, "plugins"_a, "fall_through"_a, "on_notes"_a,
             "The ONNX model of a program, which is used up. on_notes: called with notes as JSON, "
             "where there are any. modules_as_functions: the classes of "
             "modules that become model-local functions; an empty list stands for all.");
  module.def(
      "translates", [](const std::string& op) { return sardonyx::translates(op); }, "op"_a,
      "Whether the library has a translator.");
  module.def(
      "read_model", [](const std::string& path) { return sardonyx::read_model(path); }, "path"_a,
      nb::call_guard<nb::gil_scoped_release>(), "Reads an ONNX file.");
  module.def(
      "optimize",
      [](Model& model, const std::string& stop_after) {
        return sardonyx::optimize(model, stop_after);
      },
      "model"_a, nb::kw_only(), "stop_after"_a, nb::call_guard<nb::gil_scoped_release>(),
      "Simplifies in place; the names of the passes that changed something.");
  module.def("write", &write, "model"_a, "path"_a, nb::kw_only(), "external_data"_a,
             "include_initializers"_a, "keep_initializers_as_inputs"_a,
             nb::call_guard<nb::gil_scoped_release>(), "Writes atomically.");
  module.def("serialize", &serialize, "model"_a, nb::kw_only(), "include_initializers"_a,
             "keep_initializers_as_inputs"_a, "The model as bytes; SX1603 above 2 GB.");
}

}  // namespace sardonyx::bindings
