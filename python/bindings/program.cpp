// Captured programs.
#include "program/ir/program.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "frontends/live/walk.h"
#include "frontends/live/weights.h"
#include "frontends/torchscript/torchscript.h"
#include "operator_source.h"
#include "program/ir/dim_names.h"
#include "program/ir/naming.h"
#include "program/ir/target.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

Program walk(nb::handle exported_program, const std::map<std::string, std::string>& dim_names,
             const std::map<std::string, std::int64_t>& least_sizes,
             std::vector<std::string> recorded_guards) {
  std::unique_ptr<program::Program> walked =
      live::walk(exported_program, {least_sizes.begin(), least_sizes.end()});
  walked->recorded_guards = std::move(recorded_guards);
  program::name_dims(*walked, {dim_names.begin(), dim_names.end()});
  return Program(std::move(walked));
}

// The names of the user's outputs that are not None, which a decomposed program is to keep.
std::vector<std::string> user_output_names(const Program& program,
                                           const std::vector<std::string>& inputs,
                                           const std::vector<std::string>& outputs) {
  const program::Program& held = program.internal();
  const std::vector<std::string> names =
      program::output_names(held, program::input_names(held, inputs), outputs);
  std::vector<std::string> result;
  std::size_t next = 0;
  for (const program::OutputSpec& output : held.outputs) {
    if (output.kind == program::OutputKind::kToken) continue;
    const std::string& name = names.at(next++);
    const bool is_mutation = output.kind == program::OutputKind::kBufferMutation ||
                             output.kind == program::OutputKind::kInputMutation;
    if (!is_mutation && !output.value.is_none()) {
      result.push_back(name);
    }
  }
  return result;
}

// The Program of an archive in memory, whose weights are the tensors of these names, which are
// borrowed.
Program read_script(const nb::bytes& archive, std::string method, std::vector<std::string> names,
                    std::vector<std::string> inputs, const nb::dict& tensors,
                    const nb::object& operators, bool sizes_were_numbers, bool ranks_may_differ,
                    bool zero_point_after_rounding, bool arange_counts_in_double) {
  const auto owner = std::make_shared<const std::string>(archive.c_str(), archive.size());
  std::optional<live::Weights> weights;
  torchscript::ReadOptions options;
  options.method = std::move(method);
  options.names = std::move(names);
  options.inputs = std::move(inputs);
  options.sizes_were_numbers = sizes_were_numbers;
  options.ranks_may_differ = ranks_may_differ;
  options.zero_point_after_rounding = zero_point_after_rounding;
  options.arange_counts_in_double = arange_counts_in_double;
  options.weight = [&](program::Program& program,
                       const std::string& name) -> const program::Weight* {
    const nb::str key(name.c_str(), name.size());
    if (!tensors.contains(key)) return nullptr;
    if (!weights) weights.emplace(program);
    return weights->add(name, tensors[key]);
  };
  if (!operators.is_none()) options.operators = operator_source(operators);
  const archive::Bytes bytes{std::as_bytes(std::span(*owner)), owner};
  return Program(torchscript::read_torchscript(bytes, options));
}

}  // namespace

void bind_program(nb::module_& module) {
  nb::class_<Program>(module, "Program")
      .def("__str__", &Program::str)
      .def("user_output_names", &user_output_names, "inputs"_a, "outputs"_a)
      .def_prop_ro("notes", [](const Program& self) { return to_json(self.internal().notes); });
  module.def(
      "resolve_target", [](const std::string& target) { return program::resolve_target(target); },
      "target"_a, "\"mylib::foo.bar\" of what captured programs call an operator.");
  module.def(
      "walk", &walk, "exported_program"_a, "dim_names"_a,
      "least_sizes"_a = std::map<std::string, std::int64_t>(),
      "recorded_guards"_a = std::vector<std::string>(),
      "The Program of a torch.export.ExportedProgram; dim_names: symbol or input:axis -> name; "
      "least_sizes: symbol -> what the user declared it to be at least; recorded_guards: the "
      "conditions on sizes under which torch.export captured it.");
  module.def(
      "read_script", &read_script, "archive"_a, "method"_a, "names"_a, "inputs"_a, "tensors"_a,
      "operators"_a.none() = nb::none(), "sizes_were_numbers"_a = false,
      "ranks_may_differ"_a = false, "zero_point_after_rounding"_a = false,
      "arange_counts_in_double"_a = false,
      "The Program of what torch.jit.save() wrote, whose weights `tensors` holds by name; "
      "`operators` (schemas(op), results(op, arguments)) knows those that this build does "
      "not; sizes_were_numbers: in Python, where the archive makes tensors of them; "
      "ranks_may_differ: outputs may declare no rank; zero_point_after_rounding: how "
      "quantize_per_tensor decides ties; arange_counts_in_double: arange() to int64 does not "
      "cut its end.");
  module.def(
      "read",
      [](const std::string& path, std::vector<std::string> inputs, std::vector<std::string> dynamic,
         std::vector<std::string> dim_names) {
        return sardonyx::read(path, {std::move(inputs), std::move(dynamic), std::move(dim_names)});
      },
      "path"_a, "inputs"_a, "dynamic"_a, "dim_names"_a, nb::call_guard<nb::gil_scoped_release>(),
      "The Program of a .pt2 or TorchScript file.");
}

}  // namespace sardonyx::bindings
