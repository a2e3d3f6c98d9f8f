// The signature of an exported program: what its inputs and outputs are.
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "frontends/live/python.h"
#include "frontends/live/walker.h"
#include "program/ir/captured_symbols.h"

namespace sardonyx::live {

using program::Argument;
using program::InputKind;
using program::OutputKind;

namespace {

InputKind input_kind(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, InputKind>, 6> kKinds = {{
      {"USER_INPUT", InputKind::kUser},
      {"PARAMETER", InputKind::kParameter},
      {"BUFFER", InputKind::kBuffer},
      {"CONSTANT_TENSOR", InputKind::kConstant},
      {"CUSTOM_OBJ", InputKind::kObject},
      {"TOKEN", InputKind::kToken},
  }};
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  base::fail("SX1224", "the program has an input of kind " + std::string(name));
}

OutputKind output_kind(std::string_view name) {
  // A parameter that the program writes to is no different from a buffer.
  constexpr std::array<std::pair<std::string_view, OutputKind>, 6> kKinds = {{
      {"USER_OUTPUT", OutputKind::kUser},
      {"BUFFER_MUTATION", OutputKind::kBufferMutation},
      {"PARAMETER_MUTATION", OutputKind::kBufferMutation},
      {"USER_INPUT_MUTATION", OutputKind::kInputMutation},
      {"TOKEN", OutputKind::kToken},
      {"LOSS_OUTPUT", OutputKind::kLoss},
  }};
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  base::fail("SX1224", "the program has an output of kind " + std::string(name),
             "export the model in eval mode, without its backward pass");
}

// An integer bound; infinities are no bound.
std::int64_t bound(nb::handle value, std::int64_t otherwise) {
  if (!flag_of(value, "is_Integer")) return otherwise;
  const nb::object number = nb::steal(PyNumber_Long(value.ptr()));
  if (!number.is_valid()) nb::raise_python_error();
  int overflow = 0;
  const long long result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow != 0 ? otherwise : result;
}

}  // namespace

void Walker::walk(nb::handle exported_program) {
  const nb::object torch_version = nb::module_::import_("torch").attr("__version__");
  program_.torch_version = str_of(torch_version);
  ranges(get(exported_program, names().range_constraints));
  const nb::object graph_module = get(exported_program, names().graph_module);
  graph(graph_module, "main");
  const nb::object signature = get(exported_program, names().graph_signature);
  inputs(exported_program, get(signature, names().input_specs), placeholders_);
  outputs(get(signature, names().output_specs));
  program::mark_unbacked_symbols(*program_.pool);
  call_spec(exported_program);
}

namespace {

void check_dense(nb::handle placeholder) {
  const nb::handle value = entry(get(placeholder, names().meta), names().val);
  if (!value.is_valid() || !nb::hasattr(value, names().layout)) return;
  const std::string layout = str_of(get(value, names().layout));
  if (layout == "torch.strided") return;
  base::fail("SX1221",
             "the input '" + str_of(get(placeholder, names().name)) + "' is a tensor of layout " +
                 layout + ", and ONNX Runtime's inputs are dense",
             "give a dense one, to_dense(), and let the model make it sparse no more");
}

}  // namespace

void Walker::inputs(nb::handle exported_program, nb::handle specs,
                    const std::vector<nb::object>& placeholders) {
  std::size_t position = 0;
  each(specs, [&](const nb::object& spec) {
    if (position >= placeholders.size()) {
      base::fail("SX1224", "the signature has more inputs than the graph");
    }
    const nb::handle placeholder = placeholders[position++];
    const Argument& held = nodes_[placeholder.ptr()];
    program::InputSpec& made = program_.inputs.emplace_back();
    const nb::object kind = get(get(spec, names().kind), names().name);
    made.kind = input_kind(text(kind));
    if (made.kind == InputKind::kUser) check_dense(placeholder);
    if (program::Value* const* value = held.get<program::Value*>()) made.value = *value;
    const nb::object target = get(spec, names().target);
    if (target.is_none()) return;
    made.target = text(target);
    made.persistent = !get(spec, names().persistent).is(Py_False);
    const bool is_weight = made.kind == InputKind::kParameter || made.kind == InputKind::kBuffer ||
                           made.kind == InputKind::kConstant;
    if (!is_weight || !made.value) return;
    made.value->weight = weights_.add(made.target, weight_of(exported_program, target));
  });
  for (program::Value* constant : lifted_) {
    constant->index = static_cast<std::uint32_t>(program_.graph->inputs.size());
    program_.graph->inputs.push_back(constant);
    program_.inputs.push_back({InputKind::kConstant, constant, constant->weight->name, false});
  }
}

nb::object Walker::weight_of(nb::handle exported_program, nb::handle target) {
  for (PyObject* holder : {names().state_dict, names().constants}) {
    const nb::object held = get(exported_program, holder);
    PyObject* found = PyObject_GetItem(held.ptr(), target.ptr());
    if (found) return nb::steal(found);
    if (!PyErr_ExceptionMatches(PyExc_KeyError)) nb::raise_python_error();
    PyErr_Clear();
  }
  base::fail("SX1225", "the program has no tensor for '" + str_of(target) + "'");
}

void Walker::outputs(nb::handle specs) {
  std::size_t position = 0;
  each(specs, [&](const nb::object& spec) {
    if (position >= program_.graph->outputs.size()) {
      base::fail("SX1224", "the signature has more outputs than the graph");
    }
    program::OutputSpec& made = program_.outputs.emplace_back();
    const nb::object kind = get(get(spec, names().kind), names().name);
    made.kind = output_kind(text(kind));
    made.value = program_.graph->outputs[position++];
    const nb::object target = get(spec, names().target);
    if (!target.is_none()) made.target = text(target);
  });
}

void Walker::ranges(nb::handle constraints) {
  PyObject *symbol = nullptr, *range = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(constraints.ptr(), &position, &symbol, &range)) {
    symbolic::Range bounds;
    bounds.low = bound(get(range, names().lower), bounds.low);
    bounds.high = bound(get(range, names().upper), bounds.high);
    const std::string name = str_of(symbol);
    const auto least = least_sizes_.find(name);
    program_.pool->constrain(
        program_.pool->symbol(name),
        program::range_at_run_time(name, bounds, least == least_sizes_.end() ? 0 : least->second));
  }
}

namespace {

// Empty for a spec that has no JSON form: with a class, a named tuple say, that nobody registered
// for serialization, or with a dict whose keys are tensors. Inputs and outputs then keep their
// captured names.
std::string spec_text(const nb::object& spec) {
  const nb::object dumps = nb::module_::import_("torch.utils._pytree").attr("treespec_dumps");
  try {
    return str_of(dumps(spec));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_NotImplementedError) && !error.matches(PyExc_TypeError)) throw;
    return {};
  }
}

}  // namespace

// The pytree specs of the inputs and outputs, and the names of forward()'s parameters.
void Walker::call_spec(nb::handle exported_program) {
  const nb::object calls = get(exported_program, names().module_call_graph);
  if (nb::len(calls) == 0) return;
  const nb::object signature = get(calls[0], names().signature);
  if (signature.is_none()) return;
  program_.input_spec = spec_text(get(signature, names().in_spec));
  program_.output_spec = spec_text(get(signature, names().out_spec));
  const nb::object parameters = nb::getattr(signature, names().forward_arg_names, nb::none());
  if (parameters.is_none()) return;
  each(parameters,
       [&](const nb::object& name) { program_.parameter_names.emplace_back(text(name)); });
}

}  // namespace sardonyx::live
